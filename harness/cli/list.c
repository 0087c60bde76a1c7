/* judge list: the problems in the order in which they build on each other (`after:`), what of them
 * is solved, and which to do next. Nothing is locked for real: whoever wants to may try any. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const DIFFICULTIES[2][3] = {{"easy", "medium", "hard"},
                                               {"简单", "中等", "困难"}};

int cli_parse_language(const struct cli *cli, int argc, char **argv, bool *chinese)
{
    int option;
    *chinese = cli_prefers_chinese();
    while ((option = cli_option(cli, argc, argv, false)) != OPTION_END) {
        if (option == OPTION_WRONG)
            return STATUS_USAGE;
        *chinese = strcmp(optarg, "zh") == 0;
        if (!*chinese && strcmp(optarg, "en") != 0)
            return cli_usage(cli, "--lang takes en or zh, not '%s'.", optarg);
    }
    return STATUS_DONE;
}

static void add_entry(struct text *out, const struct path_entry *e, bool is_next, bool chinese)
{
    static const char *const MARKS[2][6] = {{"solved", "next", "tried", "", "later", "begun"},
                                            {"完成", "下一题", "试过", "", "以后", "已开始"}};
    int mark = e->memory.progress == PROGRESS_SOLVED  ? 0
               : is_next                              ? 1
               : e->memory.progress == PROGRESS_TRIED ? 2
               : e->memory.file                       ? 5
               : e->first                             ? 4
                                                      : 3;
    const char *title = chinese && e->p.title.zh ? e->p.title.zh : e->p.title.en;
    /* Chinese characters take two columns and three bytes. */
    text_addf(out, chinese ? "%s%*s %-28s %s  %s" : "%s%*s %-28s %-7s %s", MARKS[chinese][mark],
              (int)(7 - (chinese ? strlen(MARKS[1][mark]) / 3 * 2 : strlen(MARKS[0][mark]))), "",
              e->p.id, DIFFICULTIES[chinese][e->p.difficulty], title);
    if (e->first && e->memory.progress != PROGRESS_SOLVED)
        text_addf(out, chinese ? "（先做 %s）" : " (first: %s)", e->first);
    text_addc(out, '\n');
}

static void add_summary(struct cli *cli, struct text *out, const struct path *path, bool chinese)
{
    unsigned solved = 0;
    for (unsigned i = 0; i < path->count; i++)
        solved += path->entries[i].memory.progress == PROGRESS_SOLVED;
    const char *folder = cli_state_folder(cli);
    text_addf(out, chinese ? "\n完成 %u / %u 题" : "\n%u of %u solved", solved, path->count);
    if (folder)
        text_addf(out, chinese ? "（记录在 %s）" : " (remembered in %s)", folder);
    text_addc(out, '\n');
    if (path->next)
        text_addf(out, chinese ? "下一题: %s show %s\n" : "next: %s show %s\n", cli->command,
                  path->next->p.id);
}

int command_list(struct cli *cli, int argc, char **argv)
{
    bool chinese;
    int status = cli_parse_language(cli, argc, argv, &chinese);
    if (status != STATUS_DONE)
        return status;
    if (optind != argc)
        return cli_usage(cli, "list takes no arguments.");
    struct path path;
    status = cli_find_path(cli, true, &path);
    struct text out;
    text_init(&out);
    for (unsigned i = 0; i < path.count; i++)
        add_entry(&out, &path.entries[i], &path.entries[i] == path.next, chinese);
    if (path.count)
        add_summary(cli, &out, &path, chinese);
    int printed = cli_print(cli, text_str(&out));
    text_release(&out);
    return status ? status : printed;
}
