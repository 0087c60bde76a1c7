/* Mutants are written into a private folder, each as a file of the original's name, so that
 * findings and cached compilations look as they would for the original. All mutants of a problem
 * (or a part of all) are thousands of compilations, which nobody asks for again: then the cache is
 * private, too. */
#include "judge/verify/mutants.h"

#include "base/file.h"
#include "base/rng.h"
#include "judge/compile/elf.h"
#include "judge/verify/expect.h"
#include "judge/verify/jobs.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_BYTES = 1 << 20 };
static const double CAUGHT_AT_LEAST = 0.98;
/* How rare a sample must be to speak against a problem. */
static const double DOUBT = 0.01;

/* ---- which there are ---- */

static int is_cuda_source(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".cu") == 0;
}

static int add_file(struct mutant_set *set, const char *path, struct arena *arena,
                    unsigned *capacity, struct err *e)
{
    struct text source;
    struct mutants mutants;
    text_init(&source);
    if (file_read(path, SOURCE_BYTES, &source, e) != 0) {
        text_release(&source);
        return -1;
    }
    const char *copy = arena_strndup(arena, text_str(&source), source.length);
    mutate_list(copy, source.length, arena, &mutants);
    while (set->count + mutants.count > *capacity) {
        struct mutant_subject *more = arena_array(arena, (size_t)*capacity * 2, sizeof *more);
        if (set->count)
            memcpy(more, set->items, set->count * sizeof *more);
        set->items = more;
        *capacity *= 2;
    }
    for (size_t i = 0; i < mutants.count; i++)
        set->items[set->count++] = (struct mutant_subject){
            .file = arena_strdup(arena, file_base_name(path)),
            .source = copy,
            .length = source.length,
            .mutant = &mutants.items[i],
        };
    text_release(&source);
    return 0;
}

/* ---- mutants.tsv ---- */

/* "file", or "file:line" where the same line stands in it more than once. */
static bool is_of(const struct mutant_subject *s, const char *place)
{
    size_t length = strlen(s->file);
    if (strncmp(s->file, place, length) != 0)
        return false;
    return place[length] == '\0' ||
           (place[length] == ':' && strtoul(place + length + 1, NULL, 10) == s->mutant->line);
}

static int name_mutant(struct mutant_set *set, const char *path, unsigned number, char *line,
                       struct arena *arena, struct err *e)
{
    char *fields[4] = {line};
    for (int k = 1; k < 4; k++) {
        char *tab = fields[k - 1] ? strchr(fields[k - 1], '\t') : NULL;
        if (tab)
            *tab = '\0';
        fields[k] = tab ? tab + 1 : NULL;
    }
    if (!fields[3] || !fields[3][0])
        return err_set(e,
                       "%s:%u: a row wants four fields with tabs between them: file, mutation, the "
                       "line as it became, why it changes nothing",
                       path, number);
    unsigned hits = 0;
    for (unsigned i = 0; i < set->count; i++) {
        struct mutant_subject *s = &set->items[i];
        if (!is_of(s, fields[0]) || strcmp(s->mutant->mutation, fields[1]) != 0 ||
            strcmp(s->mutant->after, fields[2]) != 0)
            continue;
        set->named += s->reason == NULL;
        s->reason = arena_strdup(arena, fields[3]);
        hits++;
    }
    if (!hits)
        return err_set(e,
                       "%s:%u: there is no such mutant (%s, %s): take the row out, or write its "
                       "line as '--mutants all' prints it",
                       path, number, fields[0], fields[1]);
    return 0;
}

static int read_named(struct mutant_set *set, const char *path, struct arena *arena, struct err *e)
{
    struct text table;
    int status = 0;
    if (!file_exists(path))
        return 0;
    text_init(&table);
    status = file_read(path, SOURCE_BYTES, &table, e);
    unsigned number = 1;
    for (const char *at = text_str(&table); status == 0 && *at; number++) {
        size_t length = strcspn(at, "\n");
        char *line = arena_strndup(arena, at, length);
        at += length + (at[length] == '\n');
        if (line[0] && line[0] != '#')
            status = name_mutant(set, path, number, line, arena, e);
    }
    text_release(&table);
    return status;
}

int mutants_find(const char *root, const char *problem_id, struct arena *arena,
                 struct mutant_set *set, struct err *e)
{
    struct dirent **entries;
    unsigned capacity = 256;
    int status = 0;
    *set = (struct mutant_set){.items = arena_array(arena, capacity, sizeof *set->items)};
    set->folder = arena_printf(arena, "%s/submissions/%s/accepted", root, problem_id);
    int count = scandir(set->folder, &entries, is_cuda_source, alphasort);
    if (count <= 0) { /* a new problem: its references serve as well */
        if (count == 0)
            free(entries);
        set->folder = arena_printf(arena, "%s/reference/%s", root, problem_id);
        count = scandir(set->folder, &entries, is_cuda_source, alphasort);
    }
    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = add_file(set, arena_printf(arena, "%s/%s", set->folder, entries[i]->d_name),
                              arena, &capacity, e);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (status == 0)
        status = read_named(
            set, arena_printf(arena, "%s/problems/%s/mutants.tsv", root, problem_id), arena, e);
    return status;
}

/* ---- judging ---- */

struct judging_mutants {
    const struct judge_paths *paths;
    const char *problem_id;
    const struct mutant_set *set;
    const struct judge_options *options;
    mutant_told *told;
    void *context;
    struct mutant_tally *tally;
    struct arena *arena;
    /* What `warned_of`, one of the originals, is warned of: mutants come file by file. */
    const char *warned_of;
    bool warned[FINDING_COUNT];
};

/* ---- telling a mutant from the original ---- */

static void note_warnings(const struct result *r, bool *kinds)
{
    for (unsigned c = 0; c < r->case_count; c++)
        for (unsigned i = 0; i < r->cases[c].finding_count; i++)
            kinds[r->cases[c].findings[i].kind] = true;
}

/* The first finding of an accepted mutant of a kind that the original does not have: the judge has
 * noticed something. NULL: none. */
static const struct wire_finding *
new_warning(struct judging_mutants *j, const struct mutant_subject *s, const struct result *r)
{
    bool any[FINDING_COUNT] = {false}, has_any = false;
    note_warnings(r, any);
    for (int k = 0; k < FINDING_COUNT; k++)
        has_any |= any[k];
    if (!has_any)
        return NULL;
    if (j->warned_of != s->source) {
        struct arena arena;
        struct result original;
        struct err e;
        arena_init(&arena);
        memset(j->warned, 0, sizeof j->warned);
        const char *source = arena_printf(&arena, "%s/%s", j->set->folder, s->file);
        if (judge_submission(j->paths, j->problem_id, source, j->options, &arena, &original, &e) ==
            0)
            note_warnings(&original, j->warned);
        else
            memset(j->warned, true, sizeof j->warned); /* then nothing is told apart */
        j->warned_of = s->source;
        arena_release(&arena);
    }
    for (unsigned c = 0; c < r->case_count; c++)
        for (unsigned i = 0; i < r->cases[c].finding_count; i++)
            if (!j->warned[r->cases[c].findings[i].kind])
                return &r->cases[c].findings[i];
    return NULL;
}

/* Is the code that the original compiles to the same? Then it is no mutant. */
static bool is_same_code(const struct judging_mutants *j, const struct mutant_subject *s,
                         const struct result *r)
{
    struct arena arena;
    struct result original;
    struct err e;
    struct judge_options options = *j->options;
    bool same = false;
    arena_init(&arena);
    options.compile_only = true;
    const char *source = arena_printf(&arena, "%s/%s", j->set->folder, s->file);
    if (r->compile.library &&
        judge_submission(j->paths, j->problem_id, source, &options, &arena, &original, &e) == 0 &&
        original.compile.library)
        same = elf_same_code(r->compile.library, original.compile.library);
    arena_release(&arena);
    return same;
}

static bool take_result(void *context, const struct job *job)
{
    struct judging_mutants *j = context;
    const struct mutant_subject *s = job->about;
    struct mutant_tally *tally = j->tally;
    enum mutant_outcome outcome;
    const char *how;
    const struct wire_finding *warning;
    if (job->status != 0 || job->result.verdict == VERDICT_judge_error) {
        outcome = MUTANT_FAULT;
        how = job->status != 0 ? job->error.text : job->result.message;
        tally->faults++;
    } else if (job->result.verdict == VERDICT_compile_error) {
        outcome = MUTANT_STILLBORN;
        how = job->result.message;
        tally->stillborn++;
    } else if (job->result.verdict != VERDICT_accepted) {
        outcome = MUTANT_CAUGHT;
        how = arena_printf(j->arena, "%s, %s", verdict_for_people(job->result.verdict),
                           expect_describe(&job->result, j->arena));
        tally->caught++;
    } else if (s->reason) {
        outcome = MUTANT_EQUIVALENT;
        how = s->reason;
        tally->equivalent++;
    } else if (is_same_code(j, s, &job->result)) {
        outcome = MUTANT_EQUIVALENT;
        how = "it compiles to the same code";
        tally->equivalent++;
    } else if ((warning = new_warning(j, s, &job->result)) != NULL) {
        outcome = MUTANT_CAUGHT;
        how = arena_printf(j->arena, "accepted, with a warning: %s",
                           finding_name((enum finding_kind)warning->kind));
        tally->caught++;
        tally->warned++;
    } else {
        outcome = MUTANT_SURVIVED;
        how = "accepted";
        tally->survived++;
    }
    tally->judged++;
    j->told(j->context, s, outcome, how);
    return true;
}

/* Every parts-th: neighbours cost about the same, and so each part does. */
static void choose_part(const struct mutant_set *set, const struct mutant_choice *choice,
                        bool *chosen)
{
    for (unsigned i = choice->part - 1; i < set->count; i += choice->parts)
        chosen[i] = true;
}

/* A partial Fisher-Yates shuffle draws them. */
static void choose_sample(const struct mutant_set *set, const struct mutant_choice *choice,
                          unsigned *indices, bool *chosen)
{
    uint64_t key = rng_key(choice->seed, 0x6d75); /* a stream of its own */
    unsigned n = choice->sample && choice->sample < set->count ? choice->sample : set->count;
    for (unsigned i = 0; i < set->count; i++)
        indices[i] = i;
    for (unsigned k = 0; k < n; k++) {
        unsigned other = k + (unsigned)rng_below(key, k, set->count - k);
        unsigned swap = indices[k];
        indices[k] = indices[other];
        indices[other] = swap;
        chosen[indices[k]] = true;
    }
}

/* The chosen ones, in order. */
static unsigned *choose(const struct mutant_set *set, const struct mutant_choice *choice,
                        struct arena *arena, unsigned *count)
{
    unsigned *indices = arena_array(arena, set->count + 1, sizeof *indices);
    bool *chosen = arena_array(arena, set->count + 1, sizeof *chosen);
    if (choice->parts)
        choose_part(set, choice, chosen);
    else
        choose_sample(set, choice, indices, chosen);
    *count = 0;
    for (unsigned i = 0; i < set->count; i++)
        if (chosen[i])
            indices[(*count)++] = i;
    return indices;
}

static int write_mutant(const struct mutant_subject *s, const char *folder, unsigned number,
                        struct arena *arena, const char **path, struct err *e)
{
    struct text source;
    text_init(&source);
    mutate_apply(s->source, s->length, s->mutant, &source);
    const char *own = arena_printf(arena, "%s/%u", folder, number);
    *path = arena_printf(arena, "%s/%s", own, s->file);
    int status = file_make_dirs(own, e);
    if (status == 0)
        status = file_write(*path, text_str(&source), source.length, e);
    text_release(&source);
    return status;
}

int mutants_judge(const struct judge_paths *paths, const char *problem_id,
                  const struct judge_options *options, const struct mutant_set *set,
                  const struct mutant_choice *choice, mutant_told *told, void *context,
                  struct mutant_tally *tally, struct err *e)
{
    struct arena arena;
    struct judge_paths own = *paths;
    char folder[256];
    unsigned count;
    struct err ignored;
    *tally = (struct mutant_tally){0};
    if (file_make_temp_dir(folder, sizeof folder, "scanjudge-mutants", e) != 0)
        return -1;
    arena_init(&arena);
    bool many = choice->parts || choice->sample == 0 || choice->sample >= set->count;
    if (many)
        own.cache = arena_printf(&arena, "%s/cache", folder);
    unsigned *chosen = choose(set, choice, &arena, &count);
    struct job *jobs = arena_array(&arena, count + 1, sizeof *jobs);
    int status = 0;
    for (unsigned k = 0; k < count && status == 0; k++) {
        const struct mutant_subject *s = &set->items[chosen[k]];
        jobs[k] = (struct job){.options = options, .shown = s->file, .about = (void *)s};
        status = write_mutant(s, folder, k, &arena, &jobs[k].source, e);
    }
    if (status == 0) {
        struct judging_mutants j = {.paths = &own,
                                    .problem_id = problem_id,
                                    .set = set,
                                    .options = options,
                                    .told = told,
                                    .context = context,
                                    .tally = tally,
                                    .arena = &arena};
        jobs_run(&own, problem_id, jobs, count, choice->workers, take_result, &j, choice->progress);
    }
    if (file_remove_tree(folder, &ignored) != 0 && status == 0) {
        *e = ignored;
        status = -1;
    }
    arena_release(&arena);
    return status;
}

/* How likely it is that of n mutants `survived` or more survive when each does with 2%. */
static double likelihood(unsigned n, unsigned survived)
{
    double p = 1 - CAUGHT_AT_LEAST, below = 0;
    for (unsigned k = 0; k < survived; k++)
        below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
                     (n - k) * log(1 - p));
    return 1 - below;
}

bool mutants_are_enough(const struct mutant_tally *tally, bool all)
{
    unsigned n = tally->caught + tally->survived;
    if (tally->faults || n == 0)
        return false;
    if (all)
        return tally->caught >= CAUGHT_AT_LEAST * n;
    return likelihood(n, tally->survived) >= DOUBT;
}
