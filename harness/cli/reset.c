/* judge reset [PROBLEM...]: forgets what was done: verdicts, hints, the case that failed, and where
 * the file is. The file itself is the student's, and stays; the starter is to be had under another
 * name. */
#include "cli/cli.h"

#include "base/text.h"

static int reset_one(struct cli *cli, const char *id, bool tell_nothing, struct text *out)
{
    struct cli_memory m;
    struct err e;
    cli_recall(cli, id, &m);
    int forgotten = cli_forget(cli, id, &e);
    if (forgotten < 0)
        return cli_failed(cli, "%s", e.text);
    if (!forgotten) {
        if (!tell_nothing)
            text_addf(out, "%s: there was nothing to forget\n", id);
        return STATUS_DONE;
    }
    text_addf(out, "%s: forgotten\n", id);
    if (!m.file)
        return STATUS_DONE;
    text_addf(out, "  your file stays: ");
    report_add_escaped(out, m.file);
    text_addf(out, "\n  from the starter again: %s new %s ", cli->command, id);
    report_add_escaped(out, cli_quoted(cli, cli_free_name(cli, m.file)));
    text_addc(out, '\n');
    return STATUS_DONE;
}

int command_reset(struct cli *cli, int argc, char **argv)
{
    bool all = false;
    int option;
    while ((option = cli_option(cli, argc, argv, false)) != OPTION_END) {
        if (option != OPTION_reset_all)
            return STATUS_USAGE;
        all = true;
    }
    if (all ? optind != argc : optind == argc)
        return cli_usage(cli, "reset wants problems, or --all and none.");
    const char **ids;
    struct err e;
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    for (int i = optind; i < argc; i++)
        if (!cli_known_problem(cli, argv[i]))
            return STATUS_USAGE;
    struct text out;
    text_init(&out);
    int status = STATUS_DONE;
    for (int i = 0; status == STATUS_DONE && (all ? ids[i] != NULL : i < argc - optind); i++)
        status = reset_one(cli, all ? ids[i] : argv[optind + i], all, &out);
    if (all && status == STATUS_DONE && out.length == 0)
        text_add(&out, "there was nothing to forget\n");
    int printed = cli_print(cli, text_str(&out));
    text_release(&out);
    return status ? status : printed;
}
