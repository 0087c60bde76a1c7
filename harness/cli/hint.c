/* judge hint PROBLEM [NUMBER]: one hint, and how to get the next. A hint that is not asked for is
 * not shown: the first one is often enough. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdlib.h>

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
    char *end = NULL;
    unsigned long number = operands == 2 ? strtoul(argv[optind + 1], &end, 10) : 1;
    if ((end && *end) || number < 1 || number > p.hint_count)
        return cli_usage(cli, "%s has %u hint%s, and no number '%s'.", id, p.hint_count,
                         p.hint_count == 1 ? "" : "s", operands == 2 ? argv[optind + 1] : "1");
    const struct localized *hint = &p.hints[number - 1].text;
    struct text out;
    text_init(&out);
    text_addf(&out, "%lu/%u  %s\n", number, p.hint_count,
              chinese && hint->zh ? hint->zh : hint->en);
    if (number < p.hint_count)
        text_addf(&out, chinese ? "下一条: %s hint %s %lu\n" : "the next one: %s hint %s %lu\n",
                  cli->command, id, number + 1);
    status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}
