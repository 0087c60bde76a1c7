/* judge list: the problems in the order in which they build on each other (`after:`), what of them
 * is solved, and which to do next. Nothing is locked for real: whoever wants to may try any. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const DIFFICULTIES[2][3] = {{"easy", "medium", "hard"},
                                               {"简单", "中等", "困难"}};

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

struct entry {
    struct problem p;
    enum cli_progress progress;
    unsigned depth;    /* 0: builds on nothing; else one more than the deepest it builds on */
    const char *first; /* what should be solved before: names with commas; NULL = nothing is left */
};

struct path {
    struct entry *entries;
    unsigned count;
};

static struct entry *find(const struct path *path, const char *id)
{
    for (unsigned i = 0; i < path->count; i++)
        if (strcmp(path->entries[i].p.id, id) == 0)
            return &path->entries[i];
    return NULL;
}

/* A problem that builds on itself, by a detour, is as deep as there are problems. */
static void measure_depths(struct path *path)
{
    bool changed = true;
    for (unsigned round = 0; changed && round < path->count; round++) {
        changed = false;
        for (unsigned i = 0; i < path->count; i++) {
            struct entry *e = &path->entries[i];
            for (unsigned k = 0; k < e->p.after_count; k++) {
                const struct entry *before = find(path, e->p.after[k]);
                if (before && before != e && e->depth <= before->depth) {
                    e->depth = before->depth + 1;
                    changed = true;
                }
            }
        }
    }
}

static int in_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->p.difficulty != y->p.difficulty)
        return x->p.difficulty < y->p.difficulty ? -1 : 1;
    return strcmp(x->p.id, y->p.id);
}

static void find_open(struct path *path, struct arena *arena)
{
    for (unsigned i = 0; i < path->count; i++) {
        struct entry *e = &path->entries[i];
        for (unsigned k = 0; k < e->p.after_count; k++) {
            const struct entry *before = find(path, e->p.after[k]);
            if (before && before->progress != PROGRESS_SOLVED)
                e->first = arena_printf(arena, "%s%s%s", e->first ? e->first : "",
                                        e->first ? ", " : "", before->p.id);
        }
    }
}

/* One that was tried, before one that was not; of those that nothing is missing for. */
static const struct entry *find_next(const struct path *path)
{
    for (int tried = 1; tried >= 0; tried--)
        for (unsigned i = 0; i < path->count; i++) {
            const struct entry *e = &path->entries[i];
            if (!e->first && e->progress == (tried ? PROGRESS_TRIED : PROGRESS_NONE))
                return e;
        }
    return NULL;
}

static void add_entry(struct text *out, const struct entry *e, bool is_next, bool chinese)
{
    static const char *const MARKS[2][5] = {{"solved", "next", "tried", "", "later"},
                                            {"完成", "下一题", "试过", "", "以后"}};
    int mark = e->progress == PROGRESS_SOLVED  ? 0
               : is_next                       ? 1
               : e->progress == PROGRESS_TRIED ? 2
               : e->first                      ? 4
                                               : 3;
    const char *title = chinese && e->p.title.zh ? e->p.title.zh : e->p.title.en;
    /* Chinese characters take two columns and three bytes. */
    text_addf(out, chinese ? "%s%*s %-28s %s  %s" : "%s%*s %-28s %-7s %s", MARKS[chinese][mark],
              (int)(7 - (chinese ? strlen(MARKS[1][mark]) / 3 * 2 : strlen(MARKS[0][mark]))), "",
              e->p.id, DIFFICULTIES[chinese][e->p.difficulty], title);
    if (e->first && e->progress != PROGRESS_SOLVED)
        text_addf(out, chinese ? "（先做 %s）" : " (first: %s)", e->first);
    text_addc(out, '\n');
}

static void add_summary(struct cli *cli, struct text *out, const struct path *path,
                        const struct entry *next, bool chinese)
{
    unsigned solved = 0;
    for (unsigned i = 0; i < path->count; i++)
        solved += path->entries[i].progress == PROGRESS_SOLVED;
    const char *folder = cli_state_folder(cli);
    text_addf(out, chinese ? "\n完成 %u / %u 题" : "\n%u of %u solved", solved, path->count);
    if (folder)
        text_addf(out, chinese ? "（记录在 %s）" : " (remembered in %s)", folder);
    text_addc(out, '\n');
    if (next)
        text_addf(out, chinese ? "下一题: %s show %s\n" : "next: %s show %s\n", cli->command,
                  next->p.id);
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
    struct path path = {0};
    size_t there = 0;
    while (ids[there])
        there++;
    path.entries = arena_array(&cli->arena, there + 1, sizeof *path.entries);
    for (size_t i = 0; ids[i]; i++) {
        struct entry *one = &path.entries[path.count];
        if (problem_load(cli->paths.root, ids[i], &cli->arena, &one->p, &e) != 0) {
            status = cli_wrong(cli, "%s", e.text); /* the others are still worth listing */
            continue;
        }
        one->progress = cli_recall(cli, ids[i]);
        path.count++;
    }
    measure_depths(&path);
    if (path.count)
        qsort(path.entries, path.count, sizeof *path.entries, in_order);
    find_open(&path, &cli->arena);
    const struct entry *next = find_next(&path);
    struct text out;
    text_init(&out);
    for (unsigned i = 0; i < path.count; i++)
        add_entry(&out, &path.entries[i], &path.entries[i] == next, chinese);
    if (path.count)
        add_summary(cli, &out, &path, next, chinese);
    int printed = cli_print(cli, text_str(&out));
    text_release(&out);
    return status ? status : printed;
}
