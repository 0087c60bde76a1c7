/* getopt_long does the reading; the message about a word that it refuses is ours. */
#include "cli/options.h"

#include "cli/cli.h"
#include "judge/problem/suggest.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { ONCE = false, MANY = true };

const struct option_row OPTION_ROWS[] = {
    {"", "", "", OWNER_COUNT, false},
#define OPTION(owner, id, name, value, times, does) {name, value, does, OWNER_##owner, times},
#include "cli/options.def"
};

const struct group_row GROUP_ROWS[] = {
#define GROUP(id, about) {#id, about},
#include "cli/options.def"
};

static const struct {
    enum option_owner command, group;
} TAKEN[] = {
#define TAKES(command, group) {OWNER_##command, OWNER_##group},
#include "cli/options.def"
};

bool option_takes(enum option_owner command, enum option_owner group)
{
    for (size_t i = 0; i < sizeof TAKEN / sizeof TAKEN[0]; i++)
        if (TAKEN[i].command == command && TAKEN[i].group == group)
            return true;
    return false;
}

bool option_belongs(enum option_owner command, const struct option_row *row)
{
    return row->owner == command || option_takes(command, row->owner);
}

/* The word that getopt_long just refused. It moves operands behind options, and stays on a word of
 * short options until that is taken apart. */
static const char *refused_word(int argc, char **argv)
{
    const char *word = optind < argc ? argv[optind] : NULL;
    bool is_short = optopt > ' ';
    if (is_short && word && word[0] == '-' && word[1] == optopt && word[2])
        return word;
    return argv[optind - 1];
}

/* A file whose name looks like an option? */
static bool ends_in_cu(const char *word)
{
    size_t length = strlen(word);
    return length > 3 && strcmp(word + length - 3, ".cu") == 0;
}

static void refuse(const struct cli *cli, const char *word, const struct option *options)
{
    if (ends_in_cu(word)) {
        cli_usage(cli, "%s looks like an option; for a file of that name write ./%s.", word, word);
        return;
    }
    const char *names[OPTION_COUNT];
    size_t count = 0;
    for (; options[count].name; count++)
        names[count] = options[count].name;
    char name[64];
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(start, "="), start);
    const char *near = suggest(name, names, count);
    cli_usage(cli, "%s has no option %s.%s%s%s", cli->subcommand, word,
              near ? " Did you mean --" : "", near ? near : "", near ? "?" : "");
}

/* The table of a command for getopt_long. optopt is a letter or a row's number, so those start
 * where no letter is. */
enum { FIRST_VAL = 256 };

static void fill_table(enum option_owner command, struct option table[OPTION_COUNT])
{
    size_t count = 0;
    for (int i = 1; i < OPTION_COUNT; i++)
        if (option_belongs(command, &OPTION_ROWS[i]))
            table[count++] = (struct option){
                OPTION_ROWS[i].name, OPTION_ROWS[i].value[0] ? required_argument : no_argument,
                NULL, FIRST_VAL + i};
    table[count] = (struct option){0};
}

enum option_id cli_option(const struct cli *cli, int argc, char **argv, bool in_order)
{
    static bool seen[OPTION_COUNT];
    struct option table[OPTION_COUNT];
    fill_table(cli->owner, table);
    opterr = 0;
    for (;;) {
        int got = getopt_long(argc, argv, in_order ? "+:" : ":", table, NULL);
        if (got == -1) {
            bool shuts_in = option_takes(cli->owner, OWNER_isolation);
            return shuts_in && cli_check_isolation(cli) != STATUS_DONE ? OPTION_WRONG : OPTION_END;
        }
        if (got == ':') {
            cli_usage(cli, "%s wants a value.", refused_word(argc, argv));
            return OPTION_WRONG;
        }
        if (got < FIRST_VAL) {
            refuse(cli, refused_word(argc, argv), table);
            return OPTION_WRONG;
        }
        enum option_id id = (enum option_id)(got - FIRST_VAL);
        const struct option_row *row = &OPTION_ROWS[id];
        if (seen[id] && !row->many && row->value[0]) {
            cli_usage(cli, "--%s is given twice.", row->name);
            return OPTION_WRONG;
        }
        seen[id] = true;
        if (row->owner != OWNER_isolation)
            return id;
        if (cli_take_isolation(cli, id, optarg) != STATUS_DONE)
            return OPTION_WRONG;
    }
}
