/* What to do next: the problems in the order in which they build on each other (`after:`), and what
 * of them is solved. Nothing is locked for real: whoever wants to may try any. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct path_entry *find(const struct path *path, const char *id)
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
            struct path_entry *e = &path->entries[i];
            for (unsigned k = 0; k < e->p.after_count; k++) {
                const struct path_entry *before = find(path, e->p.after[k]);
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
    const struct path_entry *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->p.difficulty != y->p.difficulty)
        return x->p.difficulty < y->p.difficulty ? -1 : 1;
    return strcmp(x->p.id, y->p.id);
}

static void find_open(struct path *path, struct arena *arena)
{
    for (unsigned i = 0; i < path->count; i++) {
        struct path_entry *e = &path->entries[i];
        for (unsigned k = 0; k < e->p.after_count; k++) {
            const struct path_entry *before = find(path, e->p.after[k]);
            if (before && before->memory.progress != PROGRESS_SOLVED)
                e->first = arena_printf(arena, "%s%s%s", e->first ? e->first : "",
                                        e->first ? ", " : "", before->p.id);
        }
    }
}

/* One that was begun, before one that was not; of those that nothing is missing for. */
static const struct path_entry *find_next(const struct path *path)
{
    for (int begun = 1; begun >= 0; begun--)
        for (unsigned i = 0; i < path->count; i++) {
            const struct path_entry *e = &path->entries[i];
            bool is_begun = e->memory.progress == PROGRESS_TRIED || e->memory.file;
            if (!e->first && e->memory.progress != PROGRESS_SOLVED && is_begun == (begun == 1))
                return e;
        }
    return NULL;
}

int cli_find_path(struct cli *cli, bool tell, struct path *path)
{
    const char **ids;
    struct err e;
    int status = STATUS_DONE;
    size_t there = 0;
    *path = (struct path){0};
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0)
        return tell ? cli_failed(cli, "%s", e.text) : STATUS_JUDGE;
    while (ids[there])
        there++;
    path->entries = arena_array(&cli->arena, there + 1, sizeof *path->entries);
    for (size_t i = 0; ids[i]; i++) {
        struct path_entry *one = &path->entries[path->count];
        if (problem_load(cli->paths.root, ids[i], &cli->arena, &one->p, &e) != 0) {
            status = tell ? cli_wrong(cli, "%s", e.text) : STATUS_USAGE;
            continue; /* the others are still worth listing */
        }
        cli_recall(cli, ids[i], &one->memory);
        path->count++;
    }
    measure_depths(path);
    if (path->count)
        qsort(path->entries, path->count, sizeof *path->entries, in_order);
    find_open(path, &cli->arena);
    path->next = find_next(path);
    return status;
}

/* ---- in words ---- */

const char *cli_quoted(struct cli *cli, const char *word)
{
    struct text t;
    text_init(&t);
    if (word[0] == '-')
        text_add(&t, "./"); /* it would be read as an option */
    text_add_shell_word(&t, word);
    const char *copy = arena_strdup(&cli->arena, text_str(&t));
    text_release(&t);
    return copy;
}

static bool has_file(const struct path_entry *e)
{
    return e->memory.file && access(e->memory.file, R_OK) == 0;
}

/* The first words of whoever types the command alone. */
static void add_start(const struct cli *cli, const struct path_entry *next, struct text *out)
{
    const char *command = cli->command;
    if (next && has_file(next)) {
        text_addf(out, "go on:  %s watch %s    judges ", command, next->p.id);
        report_add_escaped(out, next->memory.file);
        text_addf(out, " whenever you save it\nstuck:  %s hint %s\n", command, next->p.id);
    } else if (next) {
        text_addf(out, "begin:  %s new %s    puts a starter into %s.cu (%s)\n", command, next->p.id,
                  next->p.id, next->p.title.en);
        text_addf(out, "then:   %s watch %s    judges it whenever you save it\n", command,
                  next->p.id);
    } else {
        text_addf(out, "All problems are solved.\nfaster: %s help bench\n", command);
    }
    text_addf(out, "more:   %s list    all problems; %s help    all commands\n", command, command);
}

static void add_after_accepted(const struct cli *cli, const struct path *path, struct text *out)
{
    const struct path_entry *next = path->next;
    if (next)
        text_addf(out, "next: %s %s %s   (%s)\n", cli->command, has_file(next) ? "watch" : "new",
                  next->p.id, next->p.title.en);
    else if (path->count)
        text_addf(out, "next: all %u problems are solved; %s help bench\n", path->count,
                  cli->command);
}

static void add_after_failure(const struct cli *cli, const struct path *path,
                              const struct result *result, struct text *out)
{
    const struct path_entry *e = find(path, result->problem);
    if (result->verdict == VERDICT_compile_error)
        text_addf(out, "next: the compiler's first error; the signature: %s show %s\n",
                  cli->command, result->problem);
    else if (e && e->memory.hints < e->p.hint_count)
        text_addf(out, "next: %s hint %s   (%u of %u)\n", cli->command, e->p.id,
                  e->memory.hints + 1, e->p.hint_count);
    else
        text_addf(out, "next: %s show %s\n", cli->command, result->problem);
}

int cli_say_next(struct cli *cli, const struct result *result)
{
    struct path path;
    struct text out;
    text_init(&out);
    cli_find_path(cli, false, &path);
    if (!result)
        add_start(cli, path.next, &out);
    else if (result->verdict == VERDICT_judge_error)
        text_addf(&out, "next: %s doctor\n", cli->command);
    else if (result->verdict == VERDICT_accepted)
        add_after_accepted(cli, &path, &out);
    else
        add_after_failure(cli, &path, result, &out);
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}
