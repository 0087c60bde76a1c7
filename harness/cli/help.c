/* judge help [COMMAND or topic]: each fits a terminal of 24 lines and 80 columns
 * (tests/cli/help.c). Made of commands.def, options.def and the tables that a topic is about. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char STATUSES[] =
    "\nexit status: 0 accepted, 1 not accepted, 2 wrong call or spec, 3 judge failed\n";

/* judge.sh has one more command of its own. */
static const char TEST_CALL[] = "test [LABEL]";
static const char TEST_DOES[] = "build and run the test suite (judge.sh)";

static const struct note_row {
    enum option_owner owner;
    const char *line;
} NOTES[] = {
#define NOTE(command, line) {OWNER_##command, line},
#include "cli/options.def"
};

/* ---- options ---- */

/* "--case CASE" */
static const char *call_of(struct cli *cli, const struct option_row *row)
{
    return arena_printf(&cli->arena, "--%s%s%s", row->name, row->value[0] ? " " : "", row->value);
}

static void add_options(struct cli *cli, enum option_owner owner, struct text *out)
{
    size_t columns = 0;
    for (int i = 1; i < OPTION_COUNT; i++) {
        size_t length = strlen(call_of(cli, &OPTION_ROWS[i]));
        if (OPTION_ROWS[i].owner == owner && length > columns)
            columns = length;
    }
    if (columns)
        text_addc(out, '\n');
    for (int i = 1; i < OPTION_COUNT; i++)
        if (OPTION_ROWS[i].owner == owner)
            text_addf(out, "  %-*s  %s\n", (int)columns, call_of(cli, &OPTION_ROWS[i]),
                      OPTION_ROWS[i].does);
}

static void add_notes(enum option_owner owner, struct text *out)
{
    bool any = false;
    for (size_t i = 0; i < sizeof NOTES / sizeof NOTES[0]; i++) {
        if (NOTES[i].owner != owner)
            continue;
        text_addf(out, "%s%s\n", any ? "" : "\n", NOTES[i].line);
        any = true;
    }
}

/* ---- topics ---- */

static void add_row(struct text *out, const char *name, const char *does)
{
    text_addf(out, "  %-14s  %s\n", name, does);
}

static void add_checks(struct text *out)
{
    text_add(out, "What --check takes, with commas between; bounds are always among them:\n\n");
#define CHECK(name, bits, does) add_row(out, name, does);
#include "wire/checks.def"
#undef CHECK
}

static void add_formats(struct text *out)
{
    text_add(out, "What --format takes, and who reads it:\n\n");
    for (unsigned i = 0; report_format_at(i); i++)
        add_row(out, report_format_at(i)->name, report_format_at(i)->reader);
}

static void add_schedules(struct text *out)
{
    text_add(out, "What --schedule takes: the order in which blocks and warps run. A seed may\n"
                  "follow, as in interleaved:17.\n\n");
#define SCHEDULE(id, name, does) add_row(out, name, does);
#include "wire/schedules.def"
#undef SCHEDULE
    text_addf(out, "\nWhat --stream-order takes: %s.\n", wire_stream_orders_allowed());
}

static const struct topic {
    const char *name;
    void (*add)(struct text *out);
} TOPICS[] = {
    {"checks", add_checks},
    {"formats", add_formats},
    {"schedules", add_schedules},
};
enum { TOPIC_COUNT = sizeof TOPICS / sizeof TOPICS[0] };

/* ---- */

static void add_all(struct cli *cli, struct text *out)
{
    text_addf(out, "usage: %s COMMAND [ARGUMENT...]\n\n", cli->command);
    for (int i = 0; i < OWNER_COMMANDS; i++) {
        const struct command_row *c = &COMMAND_ROWS[i];
        text_addf(
            out, "  %-30s %s\n",
            arena_printf(&cli->arena, "%s%s%s", c->name, c->arguments[0] ? " " : "", c->arguments),
            c->does);
    }
    text_addf(out, "  %-30s %s\n\nmore: %s help COMMAND", TEST_CALL, TEST_DOES, cli->command);
    for (int i = OWNER_COMMANDS; i < OWNER_COUNT; i++)
        text_addf(out, ", help %s", GROUP_ROWS[i - OWNER_COMMANDS].name);
    for (int i = 0; i < TOPIC_COUNT; i++)
        text_addf(out, ", %s", TOPICS[i].name);
}

static void add_command(struct cli *cli, enum option_owner command, struct text *out)
{
    const struct command_row *c = &COMMAND_ROWS[command];
    text_addf(out, "usage: %s %s%s%s\n%s\n", cli->command, c->name, c->arguments[0] ? " " : "",
              c->arguments, c->does);
    add_options(cli, command, out);
    for (int i = OWNER_COMMANDS; i < OWNER_COUNT; i++)
        if (option_takes(command, (enum option_owner)i))
            text_addf(out, "  and options of how it is shut in: %s help %s\n", cli->command,
                      GROUP_ROWS[i - OWNER_COMMANDS].name);
    add_notes(command, out);
}

static void add_test(const struct cli *cli, struct text *out)
{
    text_addf(out, "usage: %s %s\n\n", cli->command, TEST_CALL);
    text_add(out,
             "Builds everything and runs the test suite, in less than ten minutes. judge.sh\n"
             "does this by itself: the program build/bin/judge has no such command.\n"
             "LABEL: only these tests, one of unit, ptx, vm, e2e, attack, golden, lint, fuzz;\n"
             "verify (what verify says of each problem); slow, bench and gpu (needs a card),\n"
             "which run only when they are asked for; all: what CI runs, also under\n"
             "sanitizers.\n"
             "\nexit status: 0 all passed; 1 some failed.\n");
}

/* false: there is neither a command nor a topic of that name. */
static bool add_about(struct cli *cli, const char *name, struct text *out)
{
    enum option_owner command = command_find(name);
    if (command != OWNER_COMMANDS) {
        add_command(cli, command, out);
        text_add(out, STATUSES);
        return true;
    }
    for (int i = OWNER_COMMANDS; i < OWNER_COUNT; i++)
        if (strcmp(GROUP_ROWS[i - OWNER_COMMANDS].name, name) == 0) {
            text_addf(out, "%s: %s\n", name, GROUP_ROWS[i - OWNER_COMMANDS].about);
            add_options(cli, (enum option_owner)i, out);
            return true;
        }
    for (int i = 0; i < TOPIC_COUNT; i++)
        if (strcmp(TOPICS[i].name, name) == 0) {
            TOPICS[i].add(out);
            return true;
        }
    if (strcmp(name, "test") != 0)
        return false;
    add_test(cli, out);
    return true;
}

static int refuse(struct cli *cli, const char *name)
{
    const char *names[OWNER_COMMANDS + 1];
    for (int i = 0; i < OWNER_COMMANDS; i++)
        names[i] = COMMAND_ROWS[i].name;
    names[OWNER_COMMANDS] = "test";
    return cli_usage(cli, "there is no command '%s'.%s '%s help' lists them.", name,
                     cli_nearest(cli, name, names, OWNER_COMMANDS + 1), cli->command);
}

int command_help(struct cli *cli, int argc, char **argv)
{
    if (argc > 2)
        return cli_usage(cli, "help takes at most one command.");
    struct text out;
    text_init(&out);
    if (argc <= 1) {
        add_all(cli, &out);
        text_addf(&out, "\n%s", STATUSES + 1);
    } else if (!add_about(cli, argv[1], &out)) {
        text_release(&out);
        return refuse(cli, argv[1]);
    }
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}
