/* The options of every command that runs what is not trusted; the environment says the same for
 * good. */
#include "cli/cli.h"

#include "sandbox/sandbox.h"

#include <stdlib.h>
#include <string.h>

static struct sandbox_choice choice;

static int choose(const struct cli *cli, const char *where)
{
    struct err e;
    return sandbox_choose(&choice, &e) == 0 ? STATUS_DONE
                                            : cli_usage(cli, "%s: %s.", where, e.text);
}

int cli_isolation_from_environment(const struct cli *cli)
{
    const char *tier = getenv("SCANJUDGE_ISOLATION"),
               *allow = getenv("SCANJUDGE_ALLOW_UNSANDBOXED");
    if (tier && tier[0])
        choice.tier = tier;
    choice.allow_none = allow && strcmp(allow, "1") == 0;
    return choose(cli, "SCANJUDGE_ISOLATION");
}

int cli_check_isolation(const struct cli *cli)
{
    struct err e;
    return sandbox_check_choice(&e) == 0 ? STATUS_DONE : cli_usage(cli, "%s.", e.text);
}

int cli_take_isolation(const struct cli *cli, int option, const char *value)
{
    if (option == OPTION_isolation_require)
        choice.require = true;
    else if (option == OPTION_isolation_allow_none)
        choice.allow_none = true;
    else
        choice.tier = value;
    return choose(cli, "--isolation");
}

unsigned cli_isolation_words(const char *words[CLI_ISOLATION_WORDS])
{
    unsigned n = 0;
    if (choice.tier) {
        words[n++] = "--isolation";
        words[n++] = choice.tier;
    }
    if (choice.require)
        words[n++] = "--require-isolation";
    if (choice.allow_none)
        words[n++] = "--allow-unsandboxed";
    return n;
}
