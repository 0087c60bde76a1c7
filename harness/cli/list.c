/* judge list: the problems, easiest to tell apart by difficulty and title. */
#include "cli/cli.h"

#include "base/text.h"

#include <string.h>

static const char *const DIFFICULTIES[] = {"easy", "medium", "hard"};

enum { OPTION_LANG = 1 };

static const struct option OPTIONS[] = {
    {"lang", required_argument, NULL, OPTION_LANG},
    {0},
};

int cli_parse_language(const struct cli *cli, int argc, char **argv, bool *chinese)
{
    int option;
    *chinese = cli_prefers_chinese();
    while ((option = cli_option(cli, argc, argv, OPTIONS, false)) != -1) {
        if (option != OPTION_LANG)
            return STATUS_USAGE;
        *chinese = strcmp(optarg, "zh") == 0;
        if (!*chinese && strcmp(optarg, "en") != 0)
            return cli_usage(cli, "--lang takes en or zh, not '%s'.", optarg);
    }
    return STATUS_DONE;
}

int command_list(struct cli *cli, int argc, char **argv)
{
    bool chinese;
    int status = cli_parse_language(cli, argc, argv, &chinese);
    if (status != STATUS_DONE)
        return status;
    if (optind != argc)
        return cli_usage(cli, "list takes no arguments.");
    const char **ids;
    struct err e;
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    struct text out;
    text_init(&out);
    for (size_t i = 0; ids[i]; i++) {
        struct problem p;
        if (problem_load(cli->paths.root, ids[i], &cli->arena, &p, &e) != 0) {
            status = cli_wrong(cli, "%s", e.text); /* the others are still worth listing */
            continue;
        }
        text_addf(&out, "%-24s %-8s %s\n", p.id, DIFFICULTIES[p.difficulty],
                  chinese && p.title.zh ? p.title.zh : p.title.en);
    }
    int printed = cli_print(cli, text_str(&out));
    text_release(&out);
    return status ? status : printed;
}
