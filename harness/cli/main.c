/* Finds the subcommand in commands.def and runs it. */
#include "cli/cli.h"

#include "base/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command_row {
    const char *name, *arguments, *does;
    command_function *run;
} COMMANDS[] = {
#define COMMAND(id, name, arguments, does) {name, arguments, does, command_##id},
#include "cli/commands.def"
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static const struct command_row *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(COMMANDS[i].name, name) == 0)
            return &COMMANDS[i];
    return NULL;
}

#define ISOLATION_HELP                                                                             \
    "  --isolation HOW          auto (default; or $SCANJUDGE_ISOLATION), namespaces, landlock\n"   \
    "  --require-isolation      fail if anything is missing that './judge.sh doctor' wants for "   \
    "it\n"                                                                                         \
    "  --allow-unsandboxed      go on where neither is to be had: for programs that you trust\n"

/* What follows the line of a command in its help. */
static const struct options_row {
    const char *command, *text;
} OPTIONS[] = {
    {"run",
     "  --case NAME              only this case\n"
     "  --first-failure          no case is begun after one that failed\n"
     "  --all-cases              every case, however long they take together and however many run "
     "out of time\n"
     "  --seed N                 the data of an earlier judging; without it every judging has its "
     "own\n"
     "  --format NAME            what to print (text); the names are below\n"
     "  --output FILE            write that into FILE, and the text to stdout\n"
     "  --device auto|cpu|gpu    where to run (auto: a card if there is one; or "
     "$SCANJUDGE_DEVICE)\n"
     "  --gpu 0,1                on the first of these cards that is free; numbers of nvidia-smi, "
     "or UUIDs\n"
     "  --share-card             others may use the card meanwhile; nothing is timed\n"
     "  --sanitize               on a card: the case of --case, or a small one, also under "
     "compute-sanitizer's\n"
     "                           memcheck, racecheck, initcheck and synccheck\n"
     "  --no-timing              on a card, judge only\n"
     "  --check NAME,NAME...     what the CPU device looks for, bounds always (default)\n"
     "  --schedules N            small cases also under N random schedules, until one fails\n"
     "  --schedule NAME[:SEED]   this one pass instead of all, to see a failure again:\n"
     "                           in-order, reversed, random, last-first, interleaved\n"
     "  --profile                what each line costs in the case of --case, or in a small one\n"
     "  --trace FILE             what each thread of that case reads and writes, as JSON lines\n"
     "  --verbose                every case with its counters, and the compiler's "
     "warnings\n" ISOLATION_HELP},
    {"exec",
     "before PROGRAM.cu:\n"
     "  --device auto|cpu|gpu    where to run (auto: a card if there is one; or "
     "$SCANJUDGE_DEVICE)\n"
     "  --gpu 0,1                it sees these cards; numbers of nvidia-smi, or UUIDs\n"
     "  --target N               the compute capability to compile for: 75, 80, 90, ... (75, or "
     "the "
     "card's)\n"
     "the rest is for the CPU device:\n"
     "  --check NAME,NAME...     what it looks for, bounds always (default)\n"
     "  --schedule NAME[:SEED]   in-order (default), reversed, random, last-first, interleaved\n"
     "  --delay-stores           plain stores reach other threads as late as they may\n"
     "  --resident N             at first N blocks are resident, not as many as fit\n"
     "  --stream-order NAME      when the work of streams is done: eager (default), late, random\n"
     "  --threads N              host threads that run blocks side by side (all processors)\n"
     "  --profile                at the end, what each line costs, on stderr\n"
     "  --trace FILE             what each thread reads and writes, as JSON lines\n"},
    {"bench",
     "  --with FILE              one more opponent that the exercise's rules do not hold "
     "for; may be "
     "repeated\n"
     "  --all-rungs              also the references that are slow by design (serial.cu)\n"
     "  --gpu 0,1                on the first of these cards that is free\n"
     "  --seed N                 the data of an earlier bench\n"
     "  --format text|json       what to print (text)\n"
     "  --output FILE            write that into FILE, and the text to stdout\n"
     "  --plot FILE.svg|.png     draw the curves over n (needs gnuplot)\n"
     "  --compare A.json B.json  two earlier benches instead of a new one\n" ISOLATION_HELP},
    {"doctor", ISOLATION_HELP},
    {"list",
     "  --lang en|zh             in which language; else the environment decides\n"
     "\nIn the order in which problems build on each other. What `run` judged as a whole is "
     "remembered in\n$SCANJUDGE_STATE, else $XDG_STATE_HOME/scanjudge, else "
     "~/.local/state/scanjudge: one line per problem.\n"},
    {"show", "  --lang en|zh             in which language; else the environment decides\n"},
    {"hint", "  --lang en|zh             in which language; else the environment decides\n"},
    {"new-problem",
     "  --title TEXT             in English; without any option, questions are asked\n"
     "  --title-zh TEXT          in Chinese\n"
     "  --difficulty WORD        easy, medium or hard (medium)\n"
     "  --entry NAME             the function that a submission defines (from ID)\n"
     "  --input NAME:TYPE:SHAPE  such as in:int32:n or a:float32:rows,columns; may be repeated\n"
     "  --output NAME:TYPE:SHAPE the same; each name in a shape becomes an int parameter\n"
     "  --after ID               a problem to solve first; may be repeated\n"
     "\nNothing that is there is overwritten. What is in the files, and what comes next: "
     "problems/README.md\n"},
    {"verify",
     "  --seed N                 the data of an earlier verification\n"
     "  --mutants N|all          how many small faults in accepted submissions are tried (15); 0: "
     "none\n"
     "  --mutant-seed N          other ones of them (1)\n"
     "  --jobs N                 judgings side by side (one per processor, at most "
     "4)\n" ISOLATION_HELP
     "\nEach line says what was looked at, after 'ok' or 'FAIL'; 'lives' is a fault that no case "
     "noticed: add a\ncase that does, or, where the program is still right, a row in "
     "problems/ID/mutants.tsv.\n"},
};

static const char STATUSES[] =
    "\nexit status: 0 accepted; 1 judged and not accepted; 2 the call or a problem spec is wrong;\n"
    "3 the judge or its environment failed.\n";

/* judge.sh has one more command of its own. */
static const char TEST_CALL[] = "test [LABEL]";
static const char TEST_DOES[] = "build and run the test suite (judge.sh)";

static int help_test(const struct cli *cli)
{
    struct text out;
    text_init(&out);
    text_addf(&out, "usage: %s %s\n\n", cli->command, TEST_CALL);
    text_add(&out,
             "Builds everything and runs the test suite, in less than ten minutes. judge.sh does "
             "this by\nitself: the program build/bin/judge has no such command.\n"
             "LABEL: only these tests, one of unit, ptx, vm, e2e, attack, golden, lint, fuzz; "
             "verify\n(what verify says of each problem); and slow, bench and gpu (needs a card), "
             "which run\nonly when they are asked for;\nall: what CI runs, also under "
             "sanitizers.\n"
             "\nexit status: 0 all passed; 1 some failed.\n");
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}

static void add_options(struct text *out, const char *command)
{
    bool has_checks = false, has_formats = false;
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        if (command && strcmp(OPTIONS[i].command, command) != 0)
            continue;
        if (command)
            text_addf(out, "\noptions:\n%s", OPTIONS[i].text);
        else
            text_addf(out, "\noptions of %s:\n%s", OPTIONS[i].command, OPTIONS[i].text);
        has_checks |= strstr(OPTIONS[i].text, "--check") != NULL;
        has_formats |= strstr(OPTIONS[i].text, "--format NAME") != NULL;
    }
    if (has_formats)
        text_add(out, "\nNAMEs for --format:\n");
    for (unsigned i = 0; has_formats && report_format_at(i); i++)
        text_addf(out, "  %-24s for %s\n", report_format_at(i)->name, report_format_at(i)->reader);
    if (!has_checks)
        return;
    text_add(out, "\nNAMEs for --check:\n");
#define CHECK(name, bits, text) text_addf(out, "  %-24s %s\n", name, text);
#include "wire/checks.def"
#undef CHECK
}

int command_help(struct cli *cli, int argc, char **argv)
{
    if (argc > 2)
        return cli_usage(cli, "help takes at most one command.");
    if (argc > 1 && strcmp(argv[1], "test") == 0)
        return help_test(cli);
    if (argc > 1 && !find_command(argv[1])) {
        const char *names[COMMAND_COUNT];
        for (int i = 0; i < COMMAND_COUNT; i++)
            names[i] = COMMANDS[i].name;
        return cli_usage(cli, "there is no command '%s'.%s", argv[1],
                         cli_nearest(cli, argv[1], names, COMMAND_COUNT));
    }
    struct text out;
    text_init(&out);
    if (argc <= 1)
        text_addf(&out, "usage: %s COMMAND [ARGUMENT...]\n\n", cli->command);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], COMMANDS[i].name) != 0)
            continue;
        const char *call =
            arena_printf(&cli->arena, "%s %s", COMMANDS[i].name, COMMANDS[i].arguments);
        if (argc > 1)
            text_addf(&out, "usage: %s %s\n\n%s\n", cli->command, call, COMMANDS[i].does);
        else
            text_addf(&out, "  %-32s %s\n", call, COMMANDS[i].does);
    }
    if (argc <= 1)
        text_addf(&out, "  %-32s %s\n", TEST_CALL, TEST_DOES);
    add_options(&out, argc > 1 ? argv[1] : NULL);
    text_add(&out, STATUSES);
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}

int command_version(struct cli *cli, int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return cli_usage(cli, "version takes no arguments.");
    return cli_print(cli, "scanjudge " SJ_VERSION "\n");
}

/* `judge run --help`. After a program's name the words of exec are the program's. */
static bool asks_for_help(const struct command_row *command, int argc, char **argv)
{
    int last = command->run == command_exec && argc > 3 ? 3 : argc;
    for (int i = 2; i < last && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int dispatch(struct cli *cli, int argc, char **argv)
{
    struct err e;
    if (cli_find_paths(cli, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    char *help[] = {"help", NULL};
    if (argc < 2) {
        command_help(cli, 1, help);
        return STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return command_help(cli, 1, help);
    if (strcmp(name, "--version") == 0)
        return command_version(cli, 1, help);
    const struct command_row *command = find_command(name);
    if (!command) {
        if (strcmp(name, "test") == 0)
            return cli_wrong(cli, "test is a command of judge.sh: ./judge.sh test [LABEL]");
        char *unknown[] = {"help", argv[1], NULL};
        return command_help(cli, 2, unknown);
    }
    if (asks_for_help(command, argc, argv)) {
        char *of_command[] = {"help", argv[1], NULL};
        return command_help(cli, 2, of_command);
    }
    cli->subcommand = command->name;
    int status = cli_isolation_from_environment(cli);
    if (status != STATUS_DONE)
        return status;
    cli_watch_interrupts();
    return command->run(cli, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    /* A reader that goes away is an error of writing, with our exit status, not a signal. */
    signal(SIGPIPE, SIG_IGN);
    struct cli cli = {.command = getenv("SCANJUDGE_COMMAND")};
    arena_init(&cli.arena);
    if (!cli.command || !cli.command[0])
        cli.command = "./judge.sh";
    int status = dispatch(&cli, argc, argv);
    arena_release(&cli.arena);
    return status;
}
