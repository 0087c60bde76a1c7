/* Every labelled submission of a problem gets its label: verdict, exit status, the finding on one
 * of the marked lines, the diagnosis. Beside submissions/<id>/<verdict>/ that holds for
 * reference/<id>/, which must be accepted without any finding (a rung that says `// expect:
 * cost_limit_exceeded` may cost too much), and for problems/<id>/starter.cu, which must compile and
 * be wrong. The seed is the judge's own secret one, a new one on every run.
 * usage: e2e_submissions [--repeat N] [--every N] PROBLEM [FILE-PART...]
 * --every N takes the first and then every Nth labelled file of each verdict. */
#include "e2e.h"
#include "judge/verify/label.h"

#include "base/file.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct subject {
    const char *path;    /* relative to the root */
    const char *verdict; /* by its folder */
    bool labelled;       /* must say so itself */
    bool clean;          /* may have no finding at all, not even a warning */
};

struct suite {
    const char *problem;
    unsigned repeats, every;
    struct arena arena;
    struct subject *subjects;
    size_t count;
};

/* ---- which files ---- */

static bool wanted(const char *path, char **parts)
{
    if (!parts[0])
        return true;
    for (int i = 0; parts[i]; i++)
        if (strstr(path, parts[i]))
            return true;
    return false;
}

static void add(struct suite *suite, const char *path, const char *verdict, bool labelled,
                bool clean)
{
    suite->subjects[suite->count++] = (struct subject){
        arena_strdup(&suite->arena, path), arena_strdup(&suite->arena, verdict), labelled, clean};
}

static void find_subjects(struct suite *suite, char **parts)
{
    struct arena *a = &suite->arena;
    const char *root = e2e_paths.root;
    size_t skip = strlen(root) + 1;
    glob_t labelled, references;
    if (glob(arena_printf(a, "%s/submissions/%s/*/*.cu", root, suite->problem), 0, NULL, &labelled))
        labelled = (glob_t){0};
    if (glob(arena_printf(a, "%s/reference/%s/*.cu", root, suite->problem), 0, NULL, &references))
        references = (glob_t){0};
    suite->subjects =
        arena_array(a, labelled.gl_pathc + references.gl_pathc + 1, sizeof(struct subject));
    const char *verdict = "";
    unsigned in_folder = 0;
    for (size_t i = 0; i < labelled.gl_pathc; i++) {
        const char *path = labelled.gl_pathv[i] + skip;
        char *folder = arena_strdup(a, path);
        *strrchr(folder, '/') = '\0';
        const char *name = strrchr(folder, '/') + 1;
        in_folder = strcmp(name, verdict) == 0 ? in_folder + 1 : 0; /* glob sorts by folder */
        verdict = name;
        if (in_folder % suite->every == 0 && wanted(path, parts))
            add(suite, path, name, true, false);
    }
    for (size_t i = 0; i < references.gl_pathc; i++)
        if (wanted(references.gl_pathv[i] + skip, parts))
            add(suite, references.gl_pathv[i] + skip, "accepted", false, true);
    const char *starter = arena_printf(a, "problems/%s/starter.cu", suite->problem);
    if (wanted(starter, parts))
        add(suite, starter, "wrong_answer", false, false);
    globfree(&labelled);
    globfree(&references);
}

/* ---- is a result what the label says ---- */

static const json_t *cases_of(const json_t *result)
{
    return json_object_get(result, "cases");
}

/* Walks over the findings of all cases: start with zeroed members. */
struct walk {
    size_t case_index, finding_index;
    const json_t *in_case; /* the case of the finding that was handed out */
};

static const json_t *next_finding(const json_t *result, struct walk *w)
{
    for (; w->case_index < json_array_size(cases_of(result)); w->case_index++) {
        w->in_case = json_array_get(cases_of(result), w->case_index);
        const json_t *f =
            json_array_get(json_object_get(w->in_case, "findings"), w->finding_index++);
        if (f)
            return f;
        w->finding_index = 0;
    }
    return NULL;
}

static bool is_error(const json_t *finding)
{
    return strcmp(e2e_string(finding, "severity"), "error") == 0;
}

static int line_of(const json_t *finding)
{
    return (int)json_integer_value(json_object_get(finding, "line"));
}

/* "data_race a.cu:12 (n=32), deadlock a.cu:30 (n=33)": what was found instead, repetitions left
 * out. */
static void list_findings(const json_t *result, struct text *out)
{
    struct walk w = {0};
    const json_t *f, *last = NULL;
    size_t start = out->length;
    while (out->length < start + 400 && (f = next_finding(result, &w))) {
        bool again = last && line_of(f) == line_of(last) &&
                     strcmp(e2e_string(f, "kind"), e2e_string(last, "kind")) == 0;
        if (!again)
            text_addf(out, "%s%s%s %s:%d (%s)", last ? ", " : "", is_error(f) ? "" : "warning ",
                      e2e_string(f, "kind"), e2e_string(f, "file"), line_of(f),
                      e2e_string(w.in_case, "name"));
        last = f;
    }
    if (out->length == start)
        text_add(out, "nothing");
}

static bool names_marked_line(const json_t *finding, const struct label *label, const char *path)
{
    if (label->line_count == 0)
        return true;
    if (strcmp(e2e_string(finding, "file"), file_base_name(path)) != 0)
        return false;
    for (size_t i = 0; i < label->line_count; i++)
        if (line_of(finding) == (int)label->lines[i])
            return true;
    return false;
}

/* Of severity error; beside an accepted verdict it is a warning. */
static void check_finding(const json_t *result, const struct label *label,
                          const struct subject *subject, struct text *why)
{
    bool accepted = strcmp(subject->verdict, "accepted") == 0;
    struct walk w = {0};
    const json_t *f;
    while ((f = next_finding(result, &w)))
        if (is_error(f) != accepted && strcmp(e2e_string(f, "kind"), label->finding) == 0 &&
            names_marked_line(f, label, subject->path))
            return;
    text_addf(why, "no finding %s", label->finding);
    for (size_t i = 0; i < label->line_count; i++)
        text_addf(why, "%s%u", i ? " or " : " in line ", label->lines[i]);
    text_add(why, "; found: ");
    list_findings(result, why);
    text_addc(why, '\n');
}

static void check_diagnosis(const json_t *result, const char *words, struct text *why)
{
    const char *seen = "none";
    for (size_t i = 0; i < json_array_size(cases_of(result)); i++) {
        const char *diagnosis = e2e_string(json_array_get(cases_of(result), i), "diagnosis");
        if (strcasestr(diagnosis, words))
            return;
        if (diagnosis[0])
            seen = diagnosis;
    }
    text_addf(why, "no diagnosis says '%s'; the last one: %s\n", words, seen);
}

/* An accepted case has no finding of severity error, and one of a reference none at all; any other
 * says why it failed and how to see it again. */
static void check_case(const json_t *c, const struct subject *subject, struct text *why)
{
    const char *name = e2e_string(c, "name"), *verdict = e2e_string(c, "verdict");
    const json_t *findings = json_object_get(c, "findings");
    bool passed = strcmp(verdict, "accepted") == 0;
    bool explained = json_object_get(c, "mismatch") != NULL;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *f = json_array_get(findings, i);
        explained |= is_error(f);
        if (passed && (subject->clean || is_error(f)))
            text_addf(why, "case %s: %s in an accepted case, line %d: %s\n", name,
                      e2e_string(f, "kind"), line_of(f), e2e_string(f, "message"));
    }
    /* A limit speaks for itself. */
    bool limit = strstr(verdict, "limit_exceeded") != NULL;
    if (!passed && !explained && !limit)
        text_addf(why, "case %s: %s with neither mismatch nor finding\n", name, verdict);
    if (passed == (e2e_string(c, "reproduce")[0] != '\0'))
        text_addf(why, "case %s: %s reproduce command\n", name,
                  passed ? "an accepted case has a" : "no");
}

static void check_cases(const json_t *result, const struct subject *subject, struct text *why)
{
    bool compile_error = strcmp(subject->verdict, "compile_error") == 0;
    size_t count = json_array_size(cases_of(result));
    if (compile_error != (count == 0))
        text_addf(why, "%zu cases were judged\n", count);
    if (compile_error && !e2e_string(json_object_get(result, "compile"), "log")[0])
        text_add(why, "a compile error without a log\n");
    for (size_t i = 0; i < count && why->length < 1500; i++)
        check_case(json_array_get(cases_of(result), i), subject, why);
}

/* The verdict is another one: what the student would see first. */
static void describe_failure(const json_t *result, struct text *why)
{
    for (size_t i = 0; i < json_array_size(cases_of(result)); i++) {
        const json_t *c = json_array_get(cases_of(result), i);
        const json_t *mismatch = json_object_get(c, "mismatch");
        if (strcmp(e2e_string(c, "verdict"), "accepted") == 0)
            continue;
        text_addf(why, "first failing case: %s, %s, %s[%lld] is %s, expected %s; %s\n",
                  e2e_string(c, "name"), e2e_string(c, "verdict"), e2e_string(mismatch, "output"),
                  (long long)json_integer_value(json_object_get(mismatch, "index")),
                  e2e_string(mismatch, "got"), e2e_string(mismatch, "expected"),
                  e2e_string(c, "reproduce"));
        break;
    }
    text_add(why, "found: ");
    list_findings(result, why);
    text_addf(why, "\n%.800s", e2e_string(json_object_get(result, "compile"), "log"));
}

static void check_verdict(const struct e2e_run *run, const struct subject *subject,
                          struct text *why)
{
    int status = strcmp(subject->verdict, "accepted") == 0 ? 0 : 1;
    if (run->status != status)
        text_addf(why, "exit status %d (%s), expected %d\n", run->status, run->how, status);
    if (!run->json) {
        text_addf(why, "no JSON on stdout; stderr: %.500s\n", text_str(&run->errors));
        return;
    }
    const char *verdict = e2e_string(run->json, "verdict");
    if (strcmp(verdict, subject->verdict) != 0) {
        text_addf(why, "verdict %s, expected %s; %s\n", verdict, subject->verdict,
                  e2e_string(run->json, "message"));
        describe_failure(run->json, why);
    }
}

static void judge_once(const struct suite *suite, const struct subject *subject,
                       const struct label *label, struct text *why, double *seconds)
{
    const char *argv[] = {"run", suite->problem, subject->path, "--format", "json", NULL};
    struct e2e_run run;
    e2e_run(&(struct e2e_call){.argv = argv}, &run);
    check_verdict(&run, subject, why);
    if (run.json && !why->length) {
        check_cases(run.json, subject, why);
        if (label->finding)
            check_finding(run.json, label, subject, why);
        if (label->diagnosis)
            check_diagnosis(run.json, label->diagnosis, why);
    }
    *seconds = run.seconds;
    e2e_run_release(&run);
}

static void judge_subject(void *context, size_t i)
{
    struct suite *suite = context;
    struct subject *subject = &suite->subjects[i];
    struct arena arena;
    struct text why, what, path;
    struct label label;
    struct err e;
    double seconds = 0, longest = 0;
    unsigned round = 0;
    arena_init(&arena);
    text_init(&why);
    text_init(&what);
    text_init(&path);
    text_addf(&path, "%s/%s", e2e_paths.root, subject->path);
    if (label_read(text_str(&path), &arena, &label, &e) != 0)
        text_add(&why, e.text);
    else if (subject->labelled && !label.verdict)
        text_add(&why, "no '// expect:' in the first comment");
    else if (subject->clean && label.verdict && strcmp(label.verdict, "cost_limit_exceeded") == 0)
        subject->verdict = label.verdict;
    else if (label.verdict && strcmp(label.verdict, subject->verdict) != 0)
        text_addf(&why, "labelled %s, but its place says %s", label.verdict, subject->verdict);
    for (; round < suite->repeats && !why.length; round++) {
        judge_once(suite, subject, &label, &why, &seconds);
        longest = seconds > longest ? seconds : longest;
    }
    text_addf(&what, "%s: %s, %.2f s", subject->path, subject->verdict, longest);
    if (suite->repeats > 1)
        text_addf(&what, ", %u of %u times", round - (why.length > 0 && round > 0), suite->repeats);
    e2e_check(text_str(&what), text_str(&why));
    text_release(&path);
    text_release(&what);
    text_release(&why);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct suite suite = {.repeats = 1, .every = 1};
    const struct {
        const char *name;
        unsigned *value;
    } options[] = {{"--repeat", &suite.repeats}, {"--every", &suite.every}};
    int at = 1;
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
        if (at + 1 < argc && strcmp(argv[at], options[k].name) == 0) {
            *options[k].value = (unsigned)strtoul(argv[at + 1], NULL, 10);
            at += 2;
        }
    if (at >= argc || !suite.repeats || !suite.every) {
        fprintf(stderr, "usage: %s [--repeat N] [--every N] PROBLEM [FILE-PART...]\n", argv[0]);
        return EXIT_FAILURE;
    }
    e2e_need_nvcc();
    suite.problem = argv[at];
    arena_init(&suite.arena);
    find_subjects(&suite, argv + at + 1);
    e2e_for_each(suite.count, judge_subject, &suite);
    arena_release(&suite.arena);
    return e2e_done();
}
