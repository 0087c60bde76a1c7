/* judge verify [PROBLEM...]: would this problem judge rightly? Three things can show that it would
 * not: a trivial answer that passes, a rung of the reference ladder that the oracle or a checker
 * does not agree with, and a labelled submission that does not get its label. Beside that, what
 * students need has to be there: statements, a public case, a starter that compiles and does not
 * pass. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "judge/trivial.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_SEED = 1 };

static const struct option OPTIONS[] = {
    {"seed", required_argument, NULL, OPTION_SEED},
    {0},
};

struct verification {
    struct cli *cli;
    const char *id;
    uint64_t seed;
    unsigned checked, failed;
    int status; /* STATUS_JUDGE or STATUS_USAGE once something of ours or of the spec failed */
};

static void tell_line(const struct verification *v, const char *mark, const char *sentence)
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

static void tell(struct verification *v, bool ok, const char *sentence)
{
    v->checked++;
    v->failed += !ok;
    tell_line(v, ok ? "ok    " : "FAIL  ", sentence);
}

/* Some cases have a trivial right answer (n = 1, no token at all): what counts is that the answer
 * fails on most of those with more than a warp of elements. */
static void verify_trivial(struct verification *v, const struct problem *p)
{
    struct err e;
    struct arena *a = &v->cli->arena;
    if (!p->oracle) {
        tell_line(v, "skip  ", "trivial answers: there is no serial oracle to ask");
        return;
    }
    for (int t = 0; t < TRIVIAL_COUNT; t++) {
        struct trivial_tally tally;
        if (trivial_try(p, (enum trivial)t, v->seed, &tally, &e) != 0) {
            v->status = cli_wrong(v->cli, "%s", e.text);
            return;
        }
        bool ok =
            tally.cases > 0 && tally.passed < tally.cases && 2 * tally.larger_passed <= tally.cases;
        tell(v, ok,
             arena_printf(a, "%s fails in %u of %u cases%s%s%s",
                          trivial_for_people((enum trivial)t), tally.cases - tally.passed,
                          tally.cases, tally.example ? "; passes in '" : "",
                          tally.example ? tally.example : "", tally.example ? "'" : ""));
    }
}

/* What a file says about itself in `// expect...: ` lines. */
struct expectations {
    const char *verdict, *finding, *diagnosis; /* NULL = nothing said */
};

static const char *line_after(const char *source, const char *key, struct arena *arena)
{
    const char *at = strstr(source, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    return arena_strndup(arena, at, strcspn(at, "\r\n"));
}

static void read_expectations(struct verification *v, const char *path, struct expectations *x)
{
    struct text source;
    struct err e;
    *x = (struct expectations){0};
    text_init(&source);
    if (file_read(path, (size_t)1 << 20, &source, &e) == 0) {
        x->verdict = line_after(text_str(&source), "// expect:", &v->cli->arena);
        x->finding = line_after(text_str(&source), "// expect-finding:", &v->cli->arena);
        x->diagnosis = line_after(text_str(&source), "// expect-diagnosis:", &v->cli->arena);
    }
    text_release(&source);
}

/* "data_race" or "data_race 32" (kind and line). */
static bool has_finding(const struct result *r, const char *wanted)
{
    size_t kind_length = strcspn(wanted, " :@,");
    const char *digits = wanted + kind_length + strspn(wanted + kind_length, " :@,line");
    unsigned long line = strtoul(digits, NULL, 10);
    for (unsigned c = 0; c < r->case_count; c++)
        for (unsigned i = 0; i < r->cases[c].finding_count; i++) {
            const struct wire_finding *f = &r->cases[c].findings[i];
            const char *kind = finding_name((enum finding_kind)f->kind);
            if (strlen(kind) == kind_length && strncmp(kind, wanted, kind_length) == 0 &&
                (line == 0 || f->line == line))
                return true;
        }
    return false;
}

static bool has_diagnosis(const struct result *r, const char *wanted)
{
    for (unsigned c = 0; c < r->case_count; c++)
        if (r->cases[c].diagnosis && strcasestr(r->cases[c].diagnosis, wanted))
            return true;
    return false;
}

/* "case 'n=33': data_race at a.cu:12" - what a reader needs to see why. */
static const char *describe(struct cli *cli, const struct result *r)
{
    if (r->message)
        return r->message;
    for (unsigned c = 0; c < r->case_count; c++) {
        const struct result_case *k = &r->cases[c];
        if (k->verdict == VERDICT_accepted)
            continue;
        const struct wire_finding *f = k->finding_count ? &k->findings[0] : NULL;
        return arena_printf(&cli->arena, "case '%s'%s%s%s", k->name, f ? ", " : "",
                            f ? finding_name((enum finding_kind)f->kind) : "",
                            f ? arena_printf(&cli->arena, " at %s:%u", f->file, f->line) : "");
    }
    return "every case is accepted";
}

/* Judges one file and tells whether it got `wanted`. */
static void verify_file(struct verification *v, const char *path, const char *shown,
                        enum verdict wanted)
{
    struct judge_options options = {.seed = v->seed, .progress = progress_show};
    struct result result;
    struct expectations x;
    struct err e;
    struct arena *a = &v->cli->arena;
    if (judge_submission(&v->cli->paths, v->id, path, &options, &v->cli->arena, &result, &e) != 0) {
        v->status = cli_wrong(v->cli, "%s", e.text);
        return;
    }
    if (result.verdict == VERDICT_judge_error) {
        v->status = cli_failed(v->cli, "%s: %s", path, result.message);
        tell(v, false, arena_printf(a, "%s: %s", shown, result.message));
        return;
    }
    read_expectations(v, path, &x);
    const char *got = verdict_for_people(result.verdict);
    if (result.verdict != wanted)
        tell(v, false,
             arena_printf(a, "%s: %s instead of %s (%s)", shown, got, verdict_for_people(wanted),
                          describe(v->cli, &result)));
    else if (x.finding && !has_finding(&result, x.finding))
        tell(v, false,
             arena_printf(a, "%s: %s, but without the finding %s (%s)", shown, got, x.finding,
                          describe(v->cli, &result)));
    else if (x.diagnosis && !has_diagnosis(&result, x.diagnosis))
        tell(v, false,
             arena_printf(a, "%s: %s, but no diagnosis says '%s'", shown, got, x.diagnosis));
    else
        tell(v, true, arena_printf(a, "%s: %s", shown, got));
}

static int is_cuda_source(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".cu") == 0;
}

/* A rung of the ladder that is plain may cost more than students are allowed, if it says so. */
static enum verdict verdict_of_reference(struct verification *v, const char *path)
{
    struct expectations x;
    read_expectations(v, path, &x);
    bool over = x.verdict && strcmp(x.verdict, verdict_name(VERDICT_cost_limit_exceeded)) == 0;
    return over ? VERDICT_cost_limit_exceeded : VERDICT_accepted;
}

/* Every .cu file of a folder, each with its own verdict if it is one of references; how many. */
static unsigned verify_folder(struct verification *v, const char *folder, bool of_references,
                              enum verdict wanted)
{
    struct dirent **entries;
    struct arena *a = &v->cli->arena;
    const char *path = arena_printf(a, "%s/%s", v->cli->paths.root, folder);
    int count = scandir(path, &entries, is_cuda_source, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *file = arena_printf(a, "%s/%s", path, name);
        if (v->status == STATUS_DONE)
            verify_file(v, file, arena_printf(a, "%s/%s", folder, name),
                        of_references ? verdict_of_reference(v, file) : wanted);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count > 0 ? (unsigned)count : 0;
}

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
            tell(v, false,
                 arena_printf(a, "submissions/%s/%s: no verdict is called '%s'.%s There are: %s",
                              v->id, name, name, cli_nearest(v->cli, name, names, VERDICT_COUNT),
                              list));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* What a student starts from compiles, and does not yet solve the exercise. */
static void verify_starter(struct verification *v)
{
    struct judge_options options = {.seed = v->seed, .progress = progress_show};
    struct arena *a = &v->cli->arena;
    const char *shown = arena_printf(a, "problems/%s/starter.cu", v->id);
    const char *path = arena_printf(a, "%s/%s", v->cli->paths.root, shown);
    struct result result;
    struct err e;
    if (!file_exists(path)) {
        tell(v, false, arena_printf(a, "%s is missing", shown));
        return;
    }
    if (judge_submission(&v->cli->paths, v->id, path, &options, a, &result, &e) != 0) {
        v->status = cli_wrong(v->cli, "%s", e.text);
        return;
    }
    const char *got = verdict_for_people(result.verdict);
    if (result.verdict == VERDICT_judge_error) {
        v->status = cli_failed(v->cli, "%s: %s", path, result.message);
        tell(v, false, arena_printf(a, "%s: %s", shown, result.message));
    } else if (result.verdict == VERDICT_compile_error) {
        tell(v, false, arena_printf(a, "%s: %s (%s)", shown, got, describe(v->cli, &result)));
    } else if (result.verdict == VERDICT_accepted) {
        tell(v, false, arena_printf(a, "%s: %s; nothing is left to do", shown, got));
    } else {
        tell(v, true, arena_printf(a, "%s: %s", shown, got));
    }
}

/* What students are shown: statements in both languages, and a case whose data they may see. */
static void verify_for_students(struct verification *v, const struct problem *p)
{
    static const char *const STATEMENTS[] = {"statement.md", "statement.zh.md"};
    struct arena *a = &v->cli->arena;
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof STATEMENTS[0]; i++) {
        const char *shown = arena_printf(a, "problems/%s/%s", v->id, STATEMENTS[i]);
        bool there = file_exists(arena_printf(a, "%s/%s", v->cli->paths.root, shown));
        tell(v, there, arena_printf(a, "%s %s", shown, there ? "is there" : "is missing"));
    }
    unsigned visible = 0;
    for (unsigned i = 0; i < p->case_count; i++)
        visible += p->cases[i].is_public;
    tell(v, visible > 0,
         visible ? arena_printf(a, "%u of %u cases are public", visible, p->case_count)
                 : "no case is public: students could not see what they are judged by");
}

static void verify_problem(struct verification *v)
{
    struct problem p;
    struct err e;
    struct arena *a = &v->cli->arena;
    if (problem_load(v->cli->paths.root, v->id, a, &p, &e) != 0) {
        v->status = cli_wrong(v->cli, "%s", e.text);
        return;
    }
    verify_for_students(v, &p);
    verify_labels(v);
    verify_trivial(v, &p);
    if (v->status == STATUS_DONE)
        verify_starter(v);
    if (v->status == STATUS_DONE &&
        verify_folder(v, arena_printf(a, "reference/%s", v->id), true, VERDICT_accepted) == 0)
        tell(v, false, arena_printf(a, "reference/%s holds no reference solution", v->id));
    unsigned rejected = 0;
    for (int k = 0; k < VERDICT_COUNT && v->status == STATUS_DONE; k++) {
        unsigned files = verify_folder(
            v, arena_printf(a, "submissions/%s/%s", v->id, verdict_name((enum verdict)k)), false,
            (enum verdict)k);
        rejected += k == VERDICT_accepted ? 0 : files;
    }
    if (v->status == STATUS_DONE && rejected == 0)
        tell(v, false,
             arena_printf(a, "submissions/%s holds no submission that must be rejected", v->id));
}

int command_verify(struct cli *cli, int argc, char **argv)
{
    struct verification v = {.cli = cli};
    int option;
    while ((option = cli_option(cli, argc, argv, OPTIONS, false)) != -1) {
        int status = option == OPTION_SEED ? cli_parse_seed(cli, optarg, &v.seed) : STATUS_USAGE;
        if (status != STATUS_DONE)
            return status;
    }
    const char **ids;
    struct err e;
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    for (int i = optind; i < argc; i++)
        if (!cli_known_problem(cli, argv[i]))
            return STATUS_USAGE;
    if (v.seed == 0)
        v.seed = rng_secret_seed();
    int status = STATUS_DONE;
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
