/* What a judging depends on goes into its key (identity.h). So there is no list of what is done and
 * what is not: whatever has no final record is missing, also after a submission, a problem or the
 * judge has changed. A file that changes while it is judged is not recorded under the content that
 * it had before; it is seen again with the one it has. */
#include "judge/grade/grade.h"

#include "base/clock.h"
#include "base/file.h"
#include "judge/grade/identity.h"
#include "judge/grade/rename.h"
#include "judge/grade/workers.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ONLY_BYTES_MAX = 64 << 20 };

/* ---- looking ---- */

/* Everything else that a verdict depends on, as text. */
static const char *how_text(const struct grade_call *c, struct arena *arena)
{
    const struct judge_options *o = c->options;
    const char *seed = o->seed ? arena_printf(arena, "%" PRIu64, o->seed) : "each its own";
    return arena_printf(arena, "device %s, seed %s, all cases %d, timing %d",
                        o->on_gpu ? "gpu" : "cpu", seed, o->all_cases,
                        o->on_gpu && !o->no_timing && !o->share_card);
}

/* One hash per problem that somebody handed something in for. */
struct known_problem {
    const char *id;
    char hex[HASH_HEX_BYTES];
};

static enum grade_status know_problem(struct grade *g, struct known_problem *all, unsigned *count,
                                      const char *id, const char **hex, struct err *e)
{
    for (unsigned i = 0; i < *count; i++)
        if (strcmp(all[i].id, id) == 0) {
            *hex = all[i].hex;
            return GRADE_DONE;
        }
    struct problem problem;
    struct known_problem *k = &all[*count];
    /* A spec that is wrong is said before anybody is judged by it. */
    if (problem_load(g->call.paths->root, id, &g->arena, &problem, e) != 0 ||
        identity_of_problem(g->call.paths, id, k->hex, e) != 0)
        return GRADE_WRONG;
    k->id = id;
    *hex = k->hex;
    ++*count;
    return GRADE_DONE;
}

enum grade_status grade_look(struct grade *g, struct err *e)
{
    unsigned ids = 0, known = 0;
    enum grade_status status = GRADE_DONE;
    if (plan_make(g->call.from, g->ids, &g->arena, &g->plan, e) != 0)
        return GRADE_WRONG;
    while (g->ids[ids])
        ids++;
    struct known_problem *problems = arena_array(&g->arena, ids + 1, sizeof *problems);
    for (unsigned i = 0; i < g->plan.count && status == GRADE_DONE; i++) {
        struct handed_in *item = &g->plan.items[i];
        struct identity_parts parts = {.content = item->content,
                                       .problem_id = item->problem,
                                       .judge = g->judge,
                                       .how = g->how};
        status = know_problem(g, problems, &known, item->problem, &parts.problem, e);
        if (status == GRADE_DONE)
            identity_key(&parts, item->key);
    }
    return status;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_only(struct grade *g, struct err *e)
{
    struct text content;
    if (!g->call.only)
        return 0;
    text_init(&content);
    int status = file_read(g->call.only, ONLY_BYTES_MAX, &content, e);
    unsigned lines = 1;
    for (size_t i = 0; i < content.length; i++)
        lines += content.data[i] == '\n';
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    g->only = arena_array(&g->arena, lines, sizeof g->only[0]);
    for (const char *at = text_str(&content); *at;) {
        size_t length = strcspn(at, "\n");
        if (length)
            g->only[g->only_count++] = arena_strndup(&g->arena, at, length);
        at += length + (at[length] == '\n');
    }
    text_release(&content);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    qsort(g->only, g->only_count, sizeof g->only[0], compare_strings);
    return status;
}

/* Parts lie two folders below: slurm/<run>/<task>/. */
static int gather_below(struct grade *g, const char *folder, unsigned depth, struct err *e)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), status = 0;
    for (int i = 0; i < count; i++) {
        const char *path = arena_printf(&g->arena, "%s/%s", folder, entries[i]->d_name);
        unsigned taken = 0;
        if (entries[i]->d_name[0] != '.' && status == 0 && file_is_dir(path)) {
            status = depth > 1 ? gather_below(g, path, depth - 1, e)
                               : store_gather(&g->store, path, &taken, &g->notes, e);
            g->gathered += taken;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

enum grade_status grade_open(const struct grade_call *call, struct grade *g, struct err *e)
{
    *g = (struct grade){.call = *call, .store = {.fd = -1, .lock_fd = -1}};
    arena_init(&g->arena);
    text_init(&g->notes);
    g->how = how_text(call, &g->arena);
    if (problem_list(call->paths->root, &g->arena, &g->ids, e) != 0 || read_only(g, e) != 0)
        return GRADE_WRONG;
    if (identity_of_judge(call->paths, g->judge, e) != 0)
        return GRADE_FAILED;
    /* First whether there is anything: a folder of results for a name that was mistyped is none. */
    enum grade_status status = grade_look(g, e);
    if (status != GRADE_DONE)
        return status;
    if (!g->plan.count && !g->plan.left_out_count) {
        err_set(e,
                "nothing was handed in in %s: submissions lie there as <student>/<problem>.cu or "
                "<student>/<problem>/<any name>.cu",
                call->from);
        return GRADE_WRONG;
    }
    if (store_open(call->results, call->waiting, &g->store, &g->notes, e) != 0)
        return GRADE_FAILED;
    return gather_below(g, arena_printf(&g->arena, "%s/slurm", call->results), 2, e) == 0
               ? GRADE_DONE
               : GRADE_FAILED;
}

void grade_close(struct grade *g)
{
    if (g->store.fd >= 0)
        store_close(&g->store);
    text_release(&g->notes);
    arena_release(&g->arena);
}

/* ---- judging ---- */

static bool is_wanted(const struct grade *g, const char *key)
{
    return !g->call.only || bsearch(&key, g->only, g->only_count,
                                    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers */
                                    sizeof g->only[0], compare_strings);
}

/* A set of keys, by the store's own means: sorted, and each the first of its equals. */
struct keyed {
    const char *key;
    unsigned index;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_unsigned(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

unsigned grade_missing(const struct grade *g, struct arena *arena, unsigned **indices)
{
    struct keyed *all = arena_array(arena, g->plan.count, sizeof *all);
    unsigned candidates = 0, count = 0;
    for (unsigned i = 0; i < g->plan.count; i++) {
        const char *key = g->plan.items[i].key;
        if (!store_is_final(&g->store, key) && is_wanted(g, key))
            all[candidates++] = (struct keyed){key, i};
    }
    qsort(all, candidates, sizeof *all, compare_keyed);
    *indices = arena_array(arena, candidates, sizeof **indices);
    for (unsigned i = 0; i < candidates; i++)
        if (i == 0 || strcmp(all[i].key, all[i - 1].key) != 0)
            (*indices)[count++] = all[i].index;
    qsort(*indices, count, sizeof **indices, compare_unsigned);
    return count;
}

/* One go over what is missing. */
struct go {
    struct grade *g;
    const struct handed_in **items;
    unsigned count;
    unsigned done_before;
    uint64_t start_ns;
};

static void leave(void *context)
{
    const struct go *go = context;
    store_leave(&go->g->store);
    if (go->g->call.in_child)
        go->g->call.in_child(go->g->call.context);
}

static int keep(void *context, unsigned job, const char *reason, const char *result, struct err *e)
{
    struct go *go = context;
    const struct handed_in *item = go->items[job];
    char now[HASH_HEX_BYTES];
    if (plan_hash_content(item->path, now, NULL) != 0 || strcmp(now, item->content) != 0)
        return 0; /* it is another file by now, or none */
    struct text file;
    text_init(&file);
    rename_valid(item->shown, &file);
    int status = store_add(&go->g->store, item->key, text_str(&file), reason, result, e);
    go->g->judged += status == 0;
    text_release(&file);
    return status;
}

static void show(void *context, unsigned done, unsigned running)
{
    const struct go *go = context;
    (void)running;
    if (!go->g->call.progress)
        return;
    double passed = (double)(clock_now_ns() - go->start_ns) / 1e9;
    double left = done ? passed / done * (go->count - done) : 0;
    go->g->call.progress(go->g->call.context, go->done_before + done, go->done_before + go->count,
                         (unsigned)(left + 0.5));
}

static int judge_these(struct grade *g, const unsigned *indices, unsigned count, unsigned before,
                       struct err *e)
{
    struct arena arena;
    struct go go = {.g = g, .count = count, .done_before = before, .start_ns = clock_now_ns()};
    arena_init(&arena);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    go.items = arena_array(&arena, count, sizeof go.items[0]);
    struct workers_job *jobs = arena_array(&arena, count, sizeof *jobs);
    for (unsigned i = 0; i < count; i++) {
        const struct handed_in *item = go.items[i] = &g->plan.items[indices[i]];
        uint64_t seed = g->call.options->seed;
        jobs[i] = (struct workers_job){item->problem, item->path,
                                       seed ? seed : store_seed(&g->store, item->key)};
    }
    struct workers_call call = {.paths = g->call.paths,
                                .options = g->call.options,
                                .jobs = jobs,
                                .job_count = count,
                                .worker_count = g->call.workers < count ? g->call.workers : count,
                                .in_child = leave,
                                .done = keep,
                                .tick = show,
                                .context = &go};
    int status = workers_run(&call, e);
    arena_release(&arena);
    return status;
}

/* Takes out what this call has tried already: a judge_error is tried again by the next call, not
 * over and over by this one. */
static unsigned not_tried(const struct grade *g, unsigned *indices, unsigned count,
                          const char **tried, unsigned tried_count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        bool is_new = true;
        for (unsigned k = 0; k < tried_count && is_new; k++)
            is_new = strcmp(tried[k], g->plan.items[indices[i]].key) != 0;
        if (is_new)
            indices[kept++] = indices[i];
    }
    return kept;
}

enum grade_status grade_judge(struct grade *g, struct err *e)
{
    enum {
        TRIED_MAX = 1 << 16
    }; /* judge errors; with so many of them nothing is judged any more */
    const char **tried = arena_array(&g->arena, TRIED_MAX, sizeof *tried);
    unsigned tried_count = 0, before = 0;
    for (;;) {
        struct arena arena;
        unsigned *indices;
        arena_init(&arena);
        unsigned count = grade_missing(g, &arena, &indices);
        count = not_tried(g, indices, count, tried, tried_count);
        int status = count ? judge_these(g, indices, count, before, e) : 0;
        for (unsigned i = 0; i < count && status == 0; i++) {
            const char *key = g->plan.items[indices[i]].key;
            const struct stored *r = store_find(&g->store, key);
            if (r && r->verdict == VERDICT_judge_error && tried_count < TRIED_MAX)
                tried[tried_count++] = key;
        }
        before += count;
        arena_release(&arena);
        if (status != 0)
            return GRADE_FAILED;
        if (!count)
            return GRADE_DONE;
        enum grade_status looked = grade_look(g, e);
        if (looked != GRADE_DONE)
            return looked;
    }
}

/* ---- what came of it ---- */

static const char *valid(struct grade *g, const char *s)
{
    struct text text;
    text_init(&text);
    rename_valid(s, &text);
    const char *copy = arena_strdup(&g->arena, text_str(&text));
    text_release(&text);
    return copy;
}

void grade_sheet(struct grade *g, struct sheet *sheet)
{
    struct arena *a = &g->arena;
    *sheet = (struct sheet){.row_count = g->plan.count,
                            .left_out_count = g->plan.left_out_count,
                            .judged_now = g->judged,
                            .gathered = g->gathered};
    sheet->rows = arena_array(a, g->plan.count, sizeof *sheet->rows);
    sheet->left_out = arena_array(a, g->plan.left_out_count, sizeof *sheet->left_out);
    sheet->row_count = 0;
    for (unsigned i = 0; i < g->plan.count; i++) {
        const struct handed_in *item = &g->plan.items[i];
        const struct stored *r = store_find(&g->store, item->key);
        if (!is_wanted(g, item->key))
            continue;
        struct sheet_row *row = &sheet->rows[sheet->row_count++];
        *row = (struct sheet_row){.student = valid(g, item->student),
                                  .problem = item->problem,
                                  .file = valid(g, item->shown),
                                  .key = item->key,
                                  .number = i};
        if (!r)
            continue;
        row->is_judged = true;
        row->verdict = r->verdict;
        row->reason = r->reason;
        row->judged_at = r->judged_at;
        row->card = r->card;
        row->seed = r->seed;
        row->ms = r->ms;
        row->passed = r->passed;
        row->cases = r->cases;
        row->same_as = strcmp(r->file, row->file) != 0 ? r->file : NULL;
    }
    for (unsigned i = 0; i < g->plan.left_out_count; i++)
        sheet->left_out[i] = (struct sheet_left_out){.file = valid(g, g->plan.left_out[i].shown),
                                                     .why = valid(g, g->plan.left_out[i].why)};
    sheet_choose_best(sheet);
}

json_t *grade_result(const struct grade *g, const struct sheet_row *row, struct err *e)
{
    const struct handed_in *item = &g->plan.items[row->number];
    const struct stored *r = store_find(&g->store, item->key);
    if (!r) {
        err_set(e, "%s has no result yet", item->shown);
        return NULL;
    }
    json_t *result = store_read(&g->store, r, e);
    if (result)
        rename_result(result, item->path, item->shown);
    return result;
}
