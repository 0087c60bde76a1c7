/* judge verify [PROBLEM...]: would this problem judge rightly? It would not if a trivial answer
 * passes, if a rung of the reference ladder is not what the oracle and the checks want, if an
 * example of a statement is not what the reference computes, if a labelled submission does not get
 * its label, or if small faults put into accepted submissions are not noticed. Beside that, what
 * students need has to be there: statements, a public case, a starter that compiles and does not
 * pass. verify_files.c has what is found out by judging files. */
#include "cli/verify.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "judge/checker.h"
#include "judge/problem/example.h"
#include "judge/timing/data.h"
#include "judge/timing/timing.h"
#include "judge/verify/jobs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS_MAX = 9999 };
enum { STATEMENT_BYTES_MAX = 256 * 1024 };

void verify_line(const struct verification *v, const char *mark, const char *sentence)
{
    struct text line;
    text_init(&line);
    text_add(&line, mark);
    text_addf(&line, "%s: ", v->id);
    report_add_escaped(&line, sentence);
    text_addc(&line, '\n');
    cli_print(v->cli, text_str(&line));
    text_release(&line);
}

void verify_tell(struct verification *v, bool ok, const char *sentence)
{
    v->checked++;
    v->failed += !ok;
    verify_line(v, ok ? "ok    " : "FAIL  ", sentence);
}

/* ---- what students are shown ---- */

/* Reads a statement and its examples. false: told. */
static bool read_statement(struct verification *v, const char *name, struct problem_case **examples,
                           unsigned *count)
{
    struct arena *a = &v->cli->arena;
    const char *shown = arena_printf(a, "problems/%s/%s", v->id, name);
    const char *path = arena_printf(a, "%s/%s", v->cli->paths.root, shown);
    struct text text;
    struct err e;
    if (!file_exists(path)) {
        verify_tell(v, false, arena_printf(a, "%s is missing", shown));
        return false;
    }
    text_init(&text);
    int status = file_read(path, STATEMENT_BYTES_MAX, &text, &e);
    if (status == 0)
        status = examples_read(&v->problem, shown, text_str(&text), a, examples, count, &e);
    text_release(&text);
    if (status != 0)
        verify_tell(v, false, arena_strdup(a, e.text));
    else
        verify_tell(v, *count > 0,
                    *count
                        ? arena_printf(a, "%s: %u example%s", shown, *count, *count == 1 ? "" : "s")
                        : arena_printf(a,
                                       "%s has no example: a block that begins with ```example "
                                       "(problems/README.md)",
                                       shown));
    return status == 0;
}

static void verify_statements(struct verification *v)
{
    struct problem_case *chinese;
    unsigned count;
    bool english = read_statement(v, "statement.md", &v->examples, &v->example_count);
    if (!read_statement(v, "statement.zh.md", &chinese, &count) || !english)
        return;
    unsigned other = examples_differ(&v->problem, v->examples, v->example_count, chinese, count);
    if (other)
        verify_tell(
            v, false,
            arena_printf(&v->cli->arena,
                         "example %u is another one in statement.zh.md than in statement.md",
                         other));
}

static void verify_cases(struct verification *v)
{
    const struct problem *p = &v->problem;
    unsigned visible = 0;
    for (unsigned i = 0; i < p->case_count; i++)
        visible += p->cases[i].is_public;
    verify_tell(
        v, visible > 0,
        visible ? arena_printf(&v->cli->arena, "%u of %u cases are public", visible, p->case_count)
                : "no case is public: students could not see what they are judged by");
}

/* A size of the benchmark that cannot be timed would be seen on a card first. */
static void verify_sizes(struct verification *v)
{
    const struct problem *p = &v->problem;
    struct arena *a = &v->cli->arena;
    for (unsigned i = 0; i < p->benchmark_count; i++) {
        struct size_data size;
        struct err e;
        if (data_init(&size, p, p->benchmark[i], 1, TIMING_ANSWER_ELEMENTS, a, &e) != 0)
            verify_tell(v, false, arena_printf(a, "benchmark: %s", e.text));
        data_release(&size);
    }
}

/* `after` is what `list` makes its path of. */
static void verify_path(struct verification *v)
{
    const struct problem *p = &v->problem;
    struct arena *a = &v->cli->arena;
    for (unsigned i = 0; i < p->after_count; i++)
        if (!file_exists(
                arena_printf(a, "%s/problems/%s/problem.yaml", v->cli->paths.root, p->after[i])))
            verify_tell(v, false, arena_printf(a, "after: there is no problem '%s'", p->after[i]));
}

/* ---- trivial answers ---- */

struct checking {
    struct verification *v;
    struct checker checker;
};

/* A checker that gives no answer is told, once for each. */
static bool checker_accepts(void *context, const struct case_data *data,
                            const struct wire_request *request, const uint8_t *outputs)
{
    struct checking *c = context;
    struct text said;
    struct err e;
    bool accepted = false;
    text_init(&said);
    if (checker_judge(&c->checker, data, request, outputs, &accepted, &said, &e) != 0)
        verify_tell(c->v, false, arena_strdup(&c->v->cli->arena, e.text));
    text_release(&said);
    return accepted;
}

/* Some cases have a trivial right answer (n = 1, no token at all): what counts is that the answer
 * fails on most of those with more than a warp of elements. */
void verify_trivial(struct verification *v, const struct answers *answers)
{
    struct arena *a = &v->cli->arena;
    struct checking checking = {.v = v};
    const struct trivial_judge judge = {checker_accepts, &checking};
    const struct judge_paths *paths = &v->cli->paths;
    struct err e;
    if (v->problem.checker && checker_prepare(&checking.checker, &v->problem, paths->root,
                                              paths->cache, paths->cudart, a, &e) != 0) {
        v->status = cli_failed(v->cli, "%s", e.text);
        return;
    }
    for (int t = 0; t < TRIVIAL_COUNT; t++) {
        struct trivial_tally tally;
        trivial_try(&v->problem, answers, (enum trivial)t, v->seed,
                    v->problem.checker ? &judge : NULL, &tally);
        bool ok =
            tally.cases > 0 && tally.passed < tally.cases && 2 * tally.larger_passed <= tally.cases;
        verify_tell(v, ok,
                    arena_printf(a, "%s fails in %u of %u cases%s%s%s",
                                 trivial_for_people((enum trivial)t), tally.cases - tally.passed,
                                 tally.cases, tally.example ? "; passes in '" : "",
                                 tally.example ? tally.example : "", tally.example ? "'" : ""));
    }
}

/* ---- labels ---- */

static bool is_label(const char *name)
{
    for (int k = 0; k < VERDICT_COUNT; k++)
        if (strcmp(verdict_name((enum verdict)k), name) == 0)
            return true;
    return false;
}

/* A label with a typing error would hide what is in its folder. */
static void verify_labels(struct verification *v)
{
    struct arena *a = &v->cli->arena;
    const char *folder = arena_printf(a, "%s/submissions/%s", v->cli->paths.root, v->id);
    const char *names[VERDICT_COUNT], *list = "";
    for (int k = 0; k < VERDICT_COUNT; k++) {
        names[k] = verdict_name((enum verdict)k);
        list = arena_printf(a, "%s%s%s", list, k ? ", " : "", names[k]);
    }
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && !is_label(name) &&
            file_is_dir(arena_printf(a, "%s/%s", folder, name)))
            verify_tell(v, false,
                        arena_printf(a,
                                     "submissions/%s/%s: no verdict is called '%s'.%s There are: "
                                     "%s",
                                     v->id, name, name,
                                     cli_nearest(v->cli, name, names, VERDICT_COUNT), list));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* ---- all of it ---- */

static void verify_problem(struct verification *v)
{
    struct err e;
    v->examples = NULL;
    v->example_count = 0;
    if (problem_load(v->cli->paths.root, v->id, &v->cli->arena, &v->problem, &e) != 0) {
        v->status = cli_wrong(v->cli, "%s", e.text);
        return;
    }
    if (!v->only_mutants) {
        verify_statements(v);
        verify_cases(v);
        verify_sizes(v);
        verify_path(v);
        verify_labels(v);
        verify_files(v);
        if (v->status == STATUS_DONE)
            verify_examples(v);
    }
    if (v->status == STATUS_DONE && v->with_mutants)
        verify_mutants(v);
}

/* K/N */
static int parse_part(struct verification *v, const char *value)
{
    unsigned part, parts;
    int length = -1;
    if (value[0] < '0' || value[0] > '9' || sscanf(value, "%u/%u%n", &part, &parts, &length) != 2 ||
        value[length] || part < 1 || part > parts || parts > PARTS_MAX)
        return cli_usage(v->cli,
                         "--mutants takes a number, all, or K/N (part K of N, from 1/1 to "
                         "%d/%d), not '%s'.",
                         PARTS_MAX, PARTS_MAX, value);
    v->with_mutants = true;
    v->mutants.part = part;
    v->mutants.parts = parts;
    return STATUS_DONE;
}

static int parse_mutants(struct verification *v, const char *value)
{
    uint32_t number;
    v->mutants.parts = 0;
    if (strcmp(value, "all") == 0) {
        v->with_mutants = true;
        v->mutants.sample = 0;
        return STATUS_DONE;
    }
    if (strchr(value, '/'))
        return parse_part(v, value);
    int status = cli_parse_number(v->cli, "mutants", value, 0, 1000000, &number);
    v->with_mutants = status == STATUS_DONE && number > 0;
    v->mutants.sample = number;
    return status;
}

static int parse_options(struct verification *v, int argc, char **argv)
{
    uint32_t jobs;
    int option, status = STATUS_DONE;
    while (status == STATUS_DONE &&
           (option = cli_option(v->cli, argc, argv, false)) != OPTION_END) {
        if (option == OPTION_verify_seed)
            status = cli_parse_seed(v->cli, optarg, &v->seed);
        else if (option == OPTION_verify_mutants)
            status = parse_mutants(v, optarg);
        else if (option == OPTION_verify_mutant_seed)
            status = cli_parse_seed(v->cli, optarg, &v->mutants.seed);
        else if (option == OPTION_verify_only_mutants)
            v->only_mutants = true;
        else if (option == OPTION_verify_jobs) {
            status = cli_parse_number(v->cli, "jobs", optarg, 1, JOBS_WORKERS_MAX, &jobs);
            v->mutants.workers = status == STATUS_DONE ? jobs : v->mutants.workers;
        } else
            status = STATUS_USAGE;
    }
    return status;
}

int command_verify(struct cli *cli, int argc, char **argv)
{
    enum { SAMPLE = 15, JOBS_MAX = 4 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct verification v = {.cli = cli,
                             .with_mutants = true,
                             .mutants = {.sample = SAMPLE, .seed = 1, .progress = progress_show}};
    v.mutants.workers = processors < 1          ? 1
                        : processors > JOBS_MAX ? JOBS_MAX
                                                : (unsigned)processors;
    int status = parse_options(&v, argc, argv);
    if (status != STATUS_DONE)
        return status;
    if (v.only_mutants && !v.with_mutants)
        return cli_usage(cli, "--only-mutants and --mutants 0 leave nothing to look at.");
    const char **ids;
    struct err e;
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    for (int i = optind; i < argc; i++)
        if (!cli_known_problem(cli, argv[i]))
            return STATUS_USAGE;
    if (v.seed == 0)
        v.seed = rng_secret_seed();
    for (int i = 0; optind < argc ? i < argc - optind : ids[i] != NULL; i++) {
        v.id = optind < argc ? argv[optind + i] : ids[i];
        v.status = STATUS_DONE;
        verify_problem(&v);
        status = v.status > status ? v.status : status;
    }
    char *summary = arena_printf(&cli->arena, "%u checks, %u failed (seed %llu)\n", v.checked,
                                 v.failed, (unsigned long long)v.seed);
    int printed = cli_print(cli, summary);
    if (status == STATUS_DONE)
        status = printed;
    return status ? status : v.failed || v.checked == 0 ? STATUS_NOT_ACCEPTED : STATUS_DONE;
}
