/* judge completion bash|zsh: a script for the shell, which asks the judge itself what may come
 * next: `judge completion at N WORD...` prints what word number N may become, one a line. So there
 * is no second list of commands, options, problems, cases or formats. A line that begins with ':'
 * asks the shell for names of files. */
#include "cli/cli.h"

#include "base/text.h"
#include "judge/problem/target.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* %s: the judge that printed it, which is asked when there is none beside the judge.sh in use. */
static const char BASH_SCRIPT[] =
    "# scanjudge for bash:  source <(./judge.sh completion bash)\n"
    "_scanjudge() {\n"
    "    local judge=%s i word rest=$COMP_LINE typed=() line breaks= count\n"
    "    [[ -x ${1%%/*}/build/bin/judge ]] && judge=${1%%/*}/build/bin/judge\n"
    "    # bash takes words apart at = and : too; pieces with no blank between are one word.\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then\n"
    "            typed[${#typed[@]}-1]+=$word\n"
    "        else\n"
    "            typed+=(\"$word\")\n"
    "        fi\n"
    "        rest=${rest#\"${rest%%%%[![:space:]]*}\"}\n"
    "        rest=${rest#\"$word\"}\n"
    "    done\n"
    "    word=${typed[${#typed[@]}-1]}\n"
    "    # Of such a word it replaces only what follows the last of them.\n"
    "    count=0\n"
    "    [[ $COMP_WORDBREAKS == *=* && $word != [\\'\\\"]* ]] && breaks=${word//[^=:]/} && "
    "count=${#breaks}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :cu)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(\n"
    "                compgen -f -X '!*.cu' -- \"$word\"; compgen -d -- \"$word\") ;;\n"
    "        :files)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(\n"
    "                compgen -f -- \"$word\") ;;\n"
    "        *)\n"
    "            [[ $word == [\\'\\\"]* ]] || printf -v line %%q \"$line\"\n"
    "            for ((i = 0; i < count; i++)); do line=${line#*[=:]}; done\n"
    "            COMPREPLY+=(\"$line\") ;;\n"
    "        esac\n"
    "    done < <(\"$judge\" completion at $((${#typed[@]} - 1)) \"${typed[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _scanjudge judge.sh\n";

static const char ZSH_SCRIPT[] =
    "#compdef judge.sh\n"
    "# scanjudge for zsh:  source <(./judge.sh completion zsh)   after compinit\n"
    "_scanjudge() {\n"
    "    local judge=%s\n"
    "    local -a lines\n"
    "    [[ -x ${words[1]%%/*}/build/bin/judge ]] && judge=${words[1]%%/*}/build/bin/judge\n"
    "    lines=(\"${(@f)$(\"$judge\" completion at $((CURRENT - 1)) \"${words[@]}\" "
    "2>/dev/null)}\")\n"
    "    case ${lines[1]} in\n"
    "    :cu) _files -g '*.cu' ;;\n"
    "    :files) _files ;;\n"
    "    *) compadd -- \"${(@)lines:#}\" ;;\n"
    "    esac\n"
    "}\n"
    "compdef _scanjudge judge.sh\n";

/* What was typed so far. */
struct typing {
    struct cli *cli;
    char **words; /* without quotes; 0 is judge.sh, 1 the command */
    int at;       /* the one to complete */
    const char *prefix;
    struct text *out;
};

/* ---- candidates ---- */

static void offer(const struct typing *t, const char *before, const char *name)
{
    const char *whole = arena_printf(&t->cli->arena, "%s%s", before, name);
    if (strncmp(whole, t->prefix, strlen(t->prefix)) == 0)
        text_addf(t->out, "%s\n", whole);
}

/* Each part of "a, b, c" or "a|b|c". */
static void offer_list(const struct typing *t, const char *before, const char *list)
{
    char *rest = arena_strdup(&t->cli->arena, list);
    for (char *part; (part = strsep(&rest, ",|")) != NULL;)
        if (part[0])
            offer(t, before, part + strspn(part, " "));
}

static void offer_commands(const struct typing *t)
{
    for (int i = 0; i < OWNER_COMMANDS; i++)
        offer(t, "", COMMAND_ROWS[i].name);
    offer(t, "", "test");
}

static void offer_problems(const struct typing *t, const char *before)
{
    const char **ids;
    struct err e;
    if (problem_list(t->cli->paths.root, &t->cli->arena, &ids, &e) == 0)
        for (size_t i = 0; ids[i]; i++)
            offer(t, before, ids[i]);
}

static const struct option_row *find_option(enum option_owner command, const char *word,
                                            size_t length)
{
    for (int i = 1; i < OPTION_COUNT; i++)
        if (option_belongs(command, &OPTION_ROWS[i]) && length > 2 && strncmp(word, "--", 2) == 0 &&
            strlen(OPTION_ROWS[i].name) == length - 2 &&
            strncmp(OPTION_ROWS[i].name, word + 2, length - 2) == 0)
            return &OPTION_ROWS[i];
    return NULL;
}

/* The words before the one to complete that are neither options nor values of options: how many,
 * and the first. */
static int count_operands(const struct typing *t, enum option_owner command, const char **first)
{
    int count = 0;
    *first = NULL;
    for (int i = 2; i < t->at; i++) {
        const struct option_row *option = find_option(command, t->words[i], strlen(t->words[i]));
        if (option && option->value[0])
            i++;
        if (t->words[i][0] == '-' || option)
            continue;
        if (count++ == 0)
            *first = t->words[i];
    }
    return count;
}

static void offer_cases(const struct typing *t, const char *before, const char *id)
{
    struct problem p;
    struct err e;
    if (!id || problem_load(t->cli->paths.root, id, &t->cli->arena, &p, &e) != 0)
        return;
    for (unsigned i = 0; i < p.case_count; i++)
        if (!strchr(p.cases[i].name, '\n'))
            offer(t, before, p.cases[i].name);
}

/* "bounds,races,un" -> what may follow the last comma. */
static void offer_checks(const struct typing *t, const char *before)
{
    const char *comma = strrchr(t->prefix, ',');
    size_t length = strlen(before);
    if (comma)
        length = (size_t)(comma - t->prefix) + 1;
    offer_list(t, comma ? arena_strndup(&t->cli->arena, t->prefix, length) : before,
               wire_checks_allowed());
}

static void offer_values(const struct typing *t, enum option_owner command,
                         const struct option_row *option, const char *before)
{
    static const struct {
        const char *value;
        const char *(*list)(void);
    } LISTS[] = {
        {"FORMAT", report_formats},
        {"SCHEDULE[:SEED]", wire_schedules_allowed},
        {"STREAM_ORDER", wire_stream_orders_allowed},
        {"TARGET", targets_allowed},
    };
    const char *value = option->value, *first;
    for (size_t i = 0; i < sizeof LISTS / sizeof LISTS[0]; i++)
        if (strcmp(value, LISTS[i].value) == 0)
            offer_list(t, before, LISTS[i].list());
    if (strcmp(value, "CHECKS") == 0)
        offer_checks(t, before);
    else if (strcmp(value, "PROBLEM") == 0)
        offer_problems(t, before);
    else if (strcmp(value, "FILE.cu") == 0 && !before[0])
        text_add(t->out, ":cu\n");
    else if (strncmp(value, "FILE", 4) == 0 && !before[0])
        text_add(t->out, ":files\n");
    else if (strchr(value, '|') && !strchr(value, '.'))
        offer_list(t, before, value);
    if (strcmp(value, "CASE") != 0)
        return;
    count_operands(t, command, &first);
    offer_cases(t, before, first);
}

/* What stands in commands.def for this operand: "PROBLEM", "FILE.cu"; the last one may be repeated.
 */
static const char *operand_word(struct cli *cli, enum option_owner command, int number)
{
    char *rest = arena_strdup(&cli->arena, COMMAND_ROWS[command].arguments), *last = NULL;
    for (char *word; (word = strsep(&rest, " ")) != NULL; number--) {
        word += word[0] == '[';
        word[strcspn(word, "]")] = '\0';
        last = word;
        if (number == 0)
            break;
    }
    char *dots = last ? strstr(last, "...") : NULL;
    if (dots)
        *dots = '\0';
    return number <= 0 || dots ? last : NULL;
}

static void offer_operands(const struct typing *t, enum option_owner command)
{
    const char *first;
    int number = count_operands(t, command, &first);
    const char *word = operand_word(t->cli, command, number);
    if (!word)
        return;
    if (strcmp(word, "PROBLEM") == 0)
        offer_problems(t, "");
    else if (strstr(word, ".cu"))
        text_add(t->out, ":cu\n");
    else if (strcmp(word, "PATH") == 0 || strcmp(word, "RESULT.json") == 0)
        text_add(t->out, ":files\n");
    else if (strcmp(word, "COMMAND") == 0)
        offer_commands(t);
    else if (strchr(word, '|'))
        offer_list(t, "", word);
}

static void offer_for(const struct typing *t)
{
    if (t->at <= 1) {
        offer_commands(t);
        return;
    }
    enum option_owner command = command_find(t->words[1]);
    if (command == OWNER_COMMANDS)
        return;
    const char *previous = t->words[t->at - 1], *equals = strchr(t->prefix, '=');
    const struct option_row *option = find_option(command, previous, strlen(previous));
    if (t->at > 2 && option && option->value[0]) {
        offer_values(t, command, option, "");
        return;
    }
    option = equals ? find_option(command, t->prefix, (size_t)(equals - t->prefix)) : NULL;
    if (option) {
        offer_values(t, command, option,
                     arena_strndup(&t->cli->arena, t->prefix, (size_t)(equals - t->prefix) + 1));
        return;
    }
    if (t->prefix[0] != '-') {
        offer_operands(t, command);
        return;
    }
    for (int i = 1; i < OPTION_COUNT; i++)
        if (option_belongs(command, &OPTION_ROWS[i]))
            offer(t, "--", OPTION_ROWS[i].name);
    offer(t, "--", "help");
}

/* ---- words as a shell has them ---- */

/* In place: quotes and backslashes away; the last quote may be open. */
static void unquote(char *word)
{
    char *to = word, quote = '\0';
    for (const char *from = word; *from; from++) {
        if (quote != '\'' && *from == '\\' && from[1])
            *to++ = *++from;
        else if (quote ? *from == quote : *from == '\'' || *from == '"')
            quote = quote ? '\0' : *from;
        else
            *to++ = *from;
    }
    *to = '\0';
}

static int complete_at(struct cli *cli, int argc, char **argv)
{
    char *end;
    long at = argc > 0 ? strtol(argv[0], &end, 10) : -1;
    if (argc < 2 || *end || at < 0 || at > argc - 2)
        return cli_usage(cli, "completion at wants the number of a word, and the words.");
    for (int i = 1; i < argc; i++)
        unquote(argv[i]);
    struct text out;
    text_init(&out);
    struct typing typing = {.cli = cli, .words = argv + 1, .at = (int)at, .out = &out};
    typing.prefix = typing.words[at];
    offer_for(&typing);
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}

int command_completion(struct cli *cli, int argc, char **argv)
{
    if (cli_option(cli, argc, argv, true) != OPTION_END)
        return STATUS_USAGE;
    const char *shell = optind < argc ? argv[optind] : "";
    if (strcmp(shell, "at") == 0)
        return complete_at(cli, argc - optind - 1, argv + optind + 1);
    bool bash = strcmp(shell, "bash") == 0;
    if (argc - optind != 1 || (!bash && strcmp(shell, "zsh") != 0))
        return cli_usage(cli, "completion wants the name of a shell: bash or zsh.");
    char exe[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (length <= 0)
        return cli_failed(cli, "cannot find out where the judge itself is");
    exe[length] = '\0';
    const char *word = cli_quoted(cli, exe);
    return cli_print(cli, bash ? arena_printf(&cli->arena, BASH_SCRIPT, word)
                               : arena_printf(&cli->arena, ZSH_SCRIPT, word));
}
