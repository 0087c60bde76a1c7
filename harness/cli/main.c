/* Finds the subcommand in commands.def and runs it. */
#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

const struct command_row COMMAND_ROWS[] = {
#define COMMAND(id, name, arguments, does) {name, arguments, does, command_##id},
#include "cli/commands.def"
#undef COMMAND
};

enum option_owner command_find(const char *name)
{
    int i = 0;
    while (i < OWNER_COMMANDS && strcmp(COMMAND_ROWS[i].name, name) != 0)
        i++;
    return (enum option_owner)i;
}

int command_version(struct cli *cli, int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return cli_usage(cli, "version takes no arguments.");
    return cli_print(cli, "scanjudge " SJ_VERSION "\n");
}

/* `judge run --help`. After a program's name the words of exec are the program's; those that are
 * completed ask nothing. */
static bool asks_for_help(enum option_owner command, int argc, char **argv)
{
    int last = (command == OWNER_exec || command == OWNER_completion) && argc > 3 ? 3 : argc;
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
    /* Nothing was judged: whoever lost the arguments of a script must not read that as accepted. */
    if (argc < 2)
        return cli_say_next(cli, NULL) == STATUS_DONE ? STATUS_USAGE : STATUS_JUDGE;
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return command_help(cli, 1, help);
    if (strcmp(name, "--version") == 0)
        return command_version(cli, 1, help);
    enum option_owner command = command_find(name);
    if (command == OWNER_COMMANDS) {
        if (strcmp(name, "test") == 0)
            return cli_wrong(cli, "test is a command of judge.sh: ./judge.sh test [LABEL]");
        char *unknown[] = {"help", argv[1], NULL};
        return command_help(cli, 2, unknown);
    }
    if (asks_for_help(command, argc, argv)) {
        char *of_command[] = {"help", argv[1], NULL};
        return command_help(cli, 2, of_command);
    }
    cli->subcommand = COMMAND_ROWS[command].name;
    cli->owner = command;
    int status = cli_isolation_from_environment(cli);
    if (status != STATUS_DONE)
        return status;
    cli_watch_interrupts();
    return COMMAND_ROWS[command].run(cli, argc - 1, argv + 1);
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
