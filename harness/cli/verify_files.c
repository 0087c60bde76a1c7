/* What verify finds out by judging: files are gathered as a list of jobs, judged some side by side
 * (judge/verify/jobs.h), and told in the order of the list. */
#include "cli/verify.h"

#include "base/file.h"
#include "base/text.h"
#include "judge/check/value.h"
#include "judge/problem/example.h"
#include "judge/verify/expect.h"
#include "judge/verify/jobs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 512 };

/* What a file is there for; what it must get follows from it. */
enum purpose { STARTER, REFERENCE, LABELLED };

struct subject {
    enum purpose purpose;
    enum verdict wanted;
    struct label label;
    const char *label_fault; /* NULL, or what is wrong with its label */
};

struct gathering {
    struct verification *v;
    struct judge_options plain, with_answers; /* the second keeps the expected answers */
    struct job jobs[FILES_MAX];
    unsigned count;
    unsigned references, rejected;
    /* Of the rejected submissions: how many fail a public case, and a hidden one. */
    unsigned by_public, by_hidden;
};

static int is_cuda_source(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".cu") == 0;
}

/* ---- gathering ---- */

/* A file in a folder of a verdict says so itself, too. A plain rung of the ladder may cost more
 * than students are allowed, and says that. */
static void read_label(struct verification *v, const char *path, struct subject *s)
{
    struct arena *a = &v->cli->arena;
    struct err e;
    if (label_read(path, a, &s->label, &e) != 0)
        s->label_fault = arena_strdup(a, e.text);
    else if (s->purpose == REFERENCE && s->label.verdict &&
             strcmp(s->label.verdict, verdict_name(VERDICT_cost_limit_exceeded)) == 0)
        s->wanted = VERDICT_cost_limit_exceeded;
    else if (s->purpose == LABELLED && !s->label.verdict)
        s->label_fault =
            arena_printf(a, "no '// expect: %s' in the first comment", verdict_name(s->wanted));
    else if (s->label.verdict && strcmp(s->label.verdict, verdict_name(s->wanted)) != 0)
        s->label_fault = arena_printf(a, "labelled %s, but its folder says %s", s->label.verdict,
                                      verdict_name(s->wanted));
}

static void add_file(struct gathering *g, const char *shown, enum purpose purpose,
                     enum verdict wanted, const struct judge_options *options)
{
    struct verification *v = g->v;
    struct arena *a = &v->cli->arena;
    if (g->count == FILES_MAX) {
        v->status = cli_wrong(v->cli, "%s has more than %d files to judge", v->id, FILES_MAX);
        return;
    }
    struct subject *s = arena_alloc(a, sizeof *s);
    const char *path = arena_printf(a, "%s/%s", v->cli->paths.root, shown);
    *s = (struct subject){.purpose = purpose, .wanted = wanted};
    if (purpose != STARTER)
        read_label(v, path, s);
    g->jobs[g->count++] =
        (struct job){.source = path, .options = options, .shown = shown, .about = s};
}

/* Every .cu file of a folder; how many there were. */
static unsigned add_folder(struct gathering *g, const char *folder, enum purpose purpose,
                           enum verdict wanted)
{
    struct dirent **entries;
    struct arena *a = &g->v->cli->arena;
    const char *judged_against = g->v->problem.reference;
    int count = scandir(arena_printf(a, "%s/%s", g->v->cli->paths.root, folder), &entries,
                        is_cuda_source, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        bool main_rung =
            purpose == REFERENCE && judged_against && strcmp(name, judged_against) == 0;
        add_file(g, arena_printf(a, "%s/%s", folder, name), purpose, wanted,
                 main_rung ? &g->with_answers : &g->plain);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count > 0 ? (unsigned)count : 0;
}

static void gather(struct gathering *g)
{
    struct verification *v = g->v;
    struct arena *a = &v->cli->arena;
    const char *starter = arena_printf(a, "problems/%s/starter.cu", v->id);
    if (file_exists(arena_printf(a, "%s/%s", v->cli->paths.root, starter)))
        add_file(g, starter, STARTER, VERDICT_wrong_answer, &g->plain);
    else
        verify_tell(v, false, arena_printf(a, "%s is missing", starter));
    g->references =
        add_folder(g, arena_printf(a, "reference/%s", v->id), REFERENCE, VERDICT_accepted);
    for (int k = 0; k < VERDICT_COUNT; k++) {
        const char *folder =
            arena_printf(a, "submissions/%s/%s", v->id, verdict_name((enum verdict)k));
        unsigned files = add_folder(g, folder, LABELLED, (enum verdict)k);
        g->rejected += k == VERDICT_accepted ? 0 : files;
    }
    if (g->references == 0)
        verify_tell(v, false, arena_printf(a, "reference/%s holds no reference solution", v->id));
    if (g->rejected == 0)
        verify_tell(
            v, false,
            arena_printf(a, "submissions/%s holds no submission that must be rejected", v->id));
}

/* ---- telling ---- */

/* What a student starts from compiles, and does not yet solve the exercise. */
static void tell_starter(struct verification *v, const struct job *job)
{
    struct arena *a = &v->cli->arena;
    const char *got = verdict_for_people(job->result.verdict);
    if (job->result.verdict == VERDICT_compile_error)
        verify_tell(
            v, false,
            arena_printf(a, "%s: %s (%s)", job->shown, got, expect_describe(&job->result, a)));
    else if (job->result.verdict == VERDICT_accepted)
        verify_tell(v, false, arena_printf(a, "%s: %s; nothing is left to do", job->shown, got));
    else
        verify_tell(v, true, arena_printf(a, "%s: %s", job->shown, got));
}

static void count_catchers(struct gathering *g, const struct result *r)
{
    bool by_public = false, by_hidden = false;
    for (unsigned i = 0; i < r->case_count; i++) {
        if (r->cases[i].verdict == VERDICT_accepted)
            continue;
        by_public |= r->cases[i].is_public;
        by_hidden |= !r->cases[i].is_public;
    }
    g->by_public += by_public;
    g->by_hidden += by_hidden;
}

static bool tell_job(void *context, const struct job *job)
{
    struct gathering *g = context;
    struct verification *v = g->v;
    struct arena *a = &v->cli->arena;
    const struct subject *s = job->about;
    if (job->status != 0) {
        v->status = cli_wrong(v->cli, "%s", job->error.text);
        return false;
    }
    if (job->result.verdict == VERDICT_judge_error) {
        v->status = cli_failed(v->cli, "%s: %s", job->shown, job->result.message);
        verify_tell(v, false, arena_printf(a, "%s: %s", job->shown, job->result.message));
        return false;
    }
    if (s->purpose == STARTER) {
        tell_starter(v, job);
        return true;
    }
    struct expectation x = {.verdict = s->wanted,
                            .clean = s->purpose == REFERENCE,
                            .label = &s->label,
                            .source = job->source};
    const char *wrong = s->label_fault ? s->label_fault : expect_check(&x, &job->result, a);
    verify_tell(v, !wrong,
                arena_printf(a, "%s: %s", job->shown,
                             wrong ? wrong : verdict_for_people(job->result.verdict)));
    if (s->purpose == LABELLED && s->wanted != VERDICT_accepted)
        count_catchers(g, &job->result);
    return true;
}

/* Cases that nothing fails show students nothing, or hide nothing from them. */
static void tell_catchers(struct gathering *g)
{
    struct verification *v = g->v;
    unsigned visible = 0;
    for (unsigned i = 0; i < v->problem.case_count; i++)
        visible += v->problem.cases[i].is_public;
    verify_tell(v, g->by_public > 0 && (g->by_hidden > 0 || visible == v->problem.case_count),
                arena_printf(&v->cli->arena,
                             "of %u rejected submissions public cases catch %u, hidden ones %u",
                             g->rejected, g->by_public, g->by_hidden));
}

void verify_files(struct verification *v)
{
    struct answers answers;
    struct err e;
    struct gathering *g = arena_alloc(&v->cli->arena, sizeof *g);
    answers_init(&answers, &v->problem);
    g->v = v;
    g->plain = g->with_answers = (struct judge_options){
        .seed = v->seed, .all_cases = true, .side_by_side = v->mutants.workers};
    if (!v->problem.oracle) {
        g->with_answers.expected = answers_keep;
        g->with_answers.expected_context = &answers;
    }
    gather(g);
    if (v->status == STATUS_DONE)
        jobs_run(&v->cli->paths, v->id, g->jobs, g->count, v->mutants.workers, tell_job, g,
                 progress_show);
    if (v->status == STATUS_DONE && g->rejected)
        tell_catchers(g);
    if (v->status == STATUS_DONE && v->problem.oracle &&
        answers_by_oracle(&answers, &v->problem, v->seed, &e) != 0)
        v->status = cli_wrong(v->cli, "%s", e.text);
    if (v->status == STATUS_DONE)
        verify_trivial(v, &answers);
    answers_release(&answers);
}

/* ---- examples ---- */

/* The rung that is judged against; without one, the first of the ladder. */
static const char *main_reference(struct verification *v)
{
    struct arena *a = &v->cli->arena;
    const char *folder = arena_printf(a, "%s/reference/%s", v->cli->paths.root, v->id);
    if (v->problem.reference)
        return arena_printf(a, "%s/%s", folder, v->problem.reference);
    struct dirent **entries;
    int count = scandir(folder, &entries, is_cuda_source, alphasort);
    const char *first = count > 0 ? arena_printf(a, "%s/%s", folder, entries[0]->d_name) : NULL;
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count >= 0)
        free(entries);
    return first;
}

/* Of a prefix only what is compared. */
static uint64_t shown_elements(const struct case_data *data, unsigned param)
{
    const struct problem *p = data->problem;
    uint64_t count = data->buffers[param].count;
    for (unsigned i = 0; i < p->check_count; i++) {
        int length = p->checks[i].param == param ? p->checks[i].count_param : -1;
        if (length < 0)
            continue;
        const struct case_buffer *b = &data->buffers[length];
        struct series s = series_of(b->expected, p->params[length].type, b->count);
        int64_t prefix = series_int(&s, 0);
        count = prefix >= 0 && (uint64_t)prefix < count ? (uint64_t)prefix : count;
    }
    return count;
}

/* Outputs of an example that say `?`, as the reference computes them. */
static void tell_missing(void *context, const struct case_data *data)
{
    enum { VALUES_MAX = 64 };
    struct verification *v = context;
    const struct problem *p = data->problem;
    struct text lines;
    text_init(&lines);
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct case_buffer *b = &data->buffers[i];
        if (!problem_is_output(&p->params[i]))
            continue;
        struct series s = series_of(b->expected, p->params[i].type, shown_elements(data, i));
        text_addf(&lines, "%s%s =", lines.length ? "; " : "", p->params[i].name);
        for (uint64_t k = 0; k < s.count && k < VALUES_MAX; k++)
            text_addf(&lines, " %s", value_print(s.type, series_bits(&s, k), &v->cli->arena));
        if (s.count > VALUES_MAX)
            text_add(&lines, " and so on");
        if (s.count < b->count)
            text_add(&lines, " …");
    }
    verify_tell(v, false,
                arena_printf(&v->cli->arena, "%s: where it says '?' the reference computes: %s",
                             data->instance->name, text_str(&lines)));
    text_release(&lines);
}

/* Examples that are not complete go through the reference alone, and out of the list. */
static void complete_examples(struct verification *v, const char *source)
{
    struct judge_options options = {.seed = v->seed,
                                    .all_cases = true,
                                    .reference_as_oracle = true,
                                    .expected = tell_missing,
                                    .expected_context = v,
                                    .case_count = 1};
    unsigned complete = 0;
    for (unsigned i = 0; i < v->example_count; i++) {
        struct problem_case one = v->examples[i];
        struct result r;
        struct err e;
        if (example_is_complete(&v->problem, &one)) {
            v->examples[complete++] = one;
            continue;
        }
        one.answers = NULL;
        options.cases = &one;
        if (judge_submission(&v->cli->paths, v->id, source, &options, &v->cli->arena, &r, &e) != 0)
            verify_tell(v, false, arena_strdup(&v->cli->arena, e.text));
        else if (r.verdict == VERDICT_judge_error)
            verify_tell(v, false, r.message);
    }
    v->example_count = complete;
}

void verify_examples(struct verification *v)
{
    struct arena *a = &v->cli->arena;
    const char *source = main_reference(v);
    struct judge_options options = {.seed = v->seed,
                                    .all_cases = true,
                                    .cases = v->examples,
                                    .case_count = v->example_count,
                                    .progress = progress_show};
    struct result r;
    struct err e;
    if (source)
        complete_examples(v, source);
    options.case_count = v->example_count;
    if (!source || !v->example_count)
        return; /* told before */
    if (judge_submission(&v->cli->paths, v->id, source, &options, a, &r, &e) != 0) {
        v->status = cli_wrong(v->cli, "%s", e.text);
        return;
    }
    for (unsigned i = 0; i < r.case_count; i++) {
        const struct result_case *c = &r.cases[i];
        const struct result_mismatch *m = &c->mismatch;
        if (c->verdict != VERDICT_accepted)
            verify_tell(v, false,
                        m->output
                            ? arena_printf(a, "%s: %s[%llu] is %s, and the reference computes %s",
                                           c->name, m->output, (unsigned long long)m->index,
                                           m->expected, m->got)
                            : arena_printf(a, "%s: the reference gets %s", c->name,
                                           verdict_for_people(c->verdict)));
    }
    if (r.verdict == VERDICT_accepted)
        verify_tell(v, true,
                    arena_printf(a, "%u example%s as the reference computes %s", r.case_count,
                                 r.case_count == 1 ? " is" : "s are",
                                 r.case_count == 1 ? "it" : "them"));
    else if (r.case_count == 0)
        v->status = cli_failed(v->cli, "%s: %s", source, r.message ? r.message : "was not judged");
}

/* ---- mutants ---- */

static void tell_mutant(void *context, const struct mutant_subject *s, enum mutant_outcome outcome,
                        const char *how)
{
    struct verification *v = context;
    struct arena *a = &v->cli->arena;
    const struct mutant *m = s->mutant;
    const char *place = arena_printf(a, "%s:%u, %s: '%s' became '%s'", s->file, m->line,
                                     mutation_for_people(m->mutation), m->before, m->after);
    if (outcome == MUTANT_FAULT)
        verify_line(v, "fault ", arena_printf(a, "%s: %s", place, how));
    else if (outcome == MUTANT_SURVIVED)
        verify_line(v, "lives ",
                    arena_printf(a, "%s (mutants.tsv: %s\\t%s\\t%s\\t...)", place, s->file,
                                 m->mutation, m->after));
    else if (outcome == MUTANT_CAUGHT && s->reason)
        verify_tell(v, false,
                    arena_printf(a, "%s: mutants.tsv says that it changes nothing (%s), but: %s",
                                 place, s->reason, how));
}

void verify_mutants(struct verification *v)
{
    struct arena *a = &v->cli->arena;
    struct mutant_set set;
    struct mutant_tally tally;
    struct err e;
    struct judge_options options = {
        .seed = v->seed, .first_failure = true, .side_by_side = v->mutants.workers};
    if (mutants_find(v->cli->paths.root, v->id, a, &set, &e) != 0) {
        v->status = cli_wrong(v->cli, "%s", e.text);
        return;
    }
    if (set.count == 0) {
        verify_tell(v, false,
                    "mutants: there is nothing to put a fault into: no accepted submission, and no "
                    "reference");
        return;
    }
    if (mutants_judge(&v->cli->paths, v->id, &options, &set, &v->mutants, tell_mutant, v, &tally,
                      &e) != 0) {
        v->status = cli_failed(v->cli, "%s", e.text);
        return;
    }
    bool all = tally.judged == set.count;
    unsigned counted = tally.caught + tally.survived;
    verify_tell(v, mutants_are_enough(&tally, all),
                arena_printf(a,
                             "mutants: %u of %u caught, %.1f%% (%u of %u judged; %u by a warning, "
                             "%u change nothing, %u do not compile%s)",
                             tally.caught, counted, counted ? 100.0 * tally.caught / counted : 0.0,
                             tally.judged, set.count, tally.warned, tally.equivalent,
                             tally.stillborn, tally.faults ? "; the judge failed on some" : ""));
}
