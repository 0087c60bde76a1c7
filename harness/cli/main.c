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
#define COMMAND(name, arguments, does) {#name, arguments, does, command_##name},
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

static const char OPTIONS_OF_RUN[] =
    "\noptions of run:\n"
    "  --case NAME              only this case\n"
    "  --seed N                 the data of an earlier judging; without it every judging has its "
    "own\n"
    "  --format text|json       what to print (text)\n"
    "  --output FILE            write that into FILE, and the text to stdout\n"
    "  --device auto|cpu|gpu    where to run (auto)\n"
    "  --check bounds|default|all  how much the CPU device looks for (default)\n"
    "  --verbose                every case with its counters, and the compiler's warnings\n"
    "options of exec: --device auto|cpu|gpu, before PROGRAM.cu\n"
    "options of list, show, hint: --lang en|zh\n"
    "options of verify: --seed N\n"
    "\nexit status: 0 accepted; 1 judged and not accepted; 2 the call or a problem spec is wrong;\n"
    "3 the judge or its environment failed.\n";

int command_help(struct cli *cli, int argc, char **argv)
{
    if (argc > 1 && !find_command(argv[1])) {
        const char *names[COMMAND_COUNT];
        for (int i = 0; i < COMMAND_COUNT; i++)
            names[i] = COMMANDS[i].name;
        return cli_usage(cli, "there is no command '%s'.%s", argv[1],
                         cli_nearest(cli, argv[1], names, COMMAND_COUNT));
    }
    struct text out;
    text_init(&out);
    text_addf(&out, "usage: %s COMMAND [ARGUMENT...]\n\n", cli->command);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], COMMANDS[i].name) != 0)
            continue;
        const char *call =
            arena_printf(&cli->arena, "%s %s", COMMANDS[i].name, COMMANDS[i].arguments);
        text_addf(&out, "  %-32s %s\n", call, COMMANDS[i].does);
    }
    /* judge.sh has one more command of its own. */
    if (argc <= 1)
        text_addf(&out, "  %-32s %s\n", "test [LABEL]", "build and run the test suite (judge.sh)");
    text_add(&out, OPTIONS_OF_RUN);
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
        char *unknown[] = {"help", argv[1], NULL};
        return command_help(cli, 2, unknown);
    }
    cli->subcommand = command->name;
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
