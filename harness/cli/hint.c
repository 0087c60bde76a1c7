/* judge hint PROBLEM [NUMBER]: one hint, and how to get the next. A hint that is not asked for is
 * not shown: the first one is often enough. Which ones were seen is remembered. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdlib.h>

static void add_hint(const struct cli *cli, const struct problem *p, unsigned number, bool chinese,
                     struct text *out)
{
    const struct localized *hint = &p->hints[number - 1].text;
    text_addf(out, "%u/%u  %s\n", number, p->hint_count, chinese && hint->zh ? hint->zh : hint->en);
    if (number < p->hint_count)
        text_addf(out, chinese ? "下一条: %s hint %s %u\n" : "the next one: %s hint %s %u\n",
                  cli->command, p->id, number + 1);
    else
        text_addf(out,
                  chinese ? "这是最后一条；从头看: %s hint %s 1\n"
                          : "that was the last one; from the first: %s hint %s 1\n",
                  cli->command, p->id);
}

int command_hint(struct cli *cli, int argc, char **argv)
{
    bool chinese;
    int status = cli_parse_language(cli, argc, argv, &chinese);
    if (status != STATUS_DONE)
        return status;
    int operands = argc - optind;
    if (operands < 1 || operands > 2)
        return cli_usage(cli, "hint wants a problem, and perhaps the number of a hint.");
    const char *id = argv[optind];
    struct problem p;
    status = cli_load_problem(cli, id, &p);
    if (status != STATUS_DONE)
        return status;
    struct cli_memory m;
    cli_recall(cli, id, &m);
    unsigned long number = m.hints < p.hint_count ? m.hints + 1 : p.hint_count;
    char *end = NULL;
    if (operands == 2)
        number = strtoul(argv[optind + 1], &end, 10);
    if ((end && *end) || number < 1 || number > p.hint_count)
        return cli_usage(cli, "%s has %u hint%s, and no number '%s'.", id, p.hint_count,
                         p.hint_count == 1 ? "" : "s", operands == 2 ? argv[optind + 1] : "1");
    struct text out;
    text_init(&out);
    add_hint(cli, &p, (unsigned)number, chinese, &out);
    status = cli_print(cli, text_str(&out));
    text_release(&out);
    if (number > m.hints) {
        m.hints = (unsigned)number;
        cli_store(cli, id, &m);
    }
    return status;
}
