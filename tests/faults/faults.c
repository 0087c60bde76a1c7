/* Every kernel of one file of the fault table, through `judge exec`, under every schedule: a faulty
 * one must get its finding, with kind and line, in every run, and no finding of another kind than
 * it may entail; a correct one must end with status 0 and no finding at all, not even a warning.
 * usage: faults [--repeat N] FILE [CASE-PART...]
 * N sweeps over the schedules, each with other seeds for those that draw; without it one sweep,
 * with two seeds. */
#include "cases.h"
#include "e2e.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 2 };
#define STEP_LIMIT "25000000" /* warp instructions; a counted poll is given up after 10 million */

struct table {
    const char *path; /* as judge exec gets it */
    const char *target;
    bool right; /* by its folder */
    unsigned repeats;
    unsigned seeds; /* per sweep */
};

/* One line of the device's report: "[file:line: ]error: kind: message". */
struct found {
    bool error;
    char file[128];
    unsigned line;
    const char *kind, *message; /* the message ends with the line */
    size_t kind_length;
};

static bool is_kind(const char *word, size_t length)
{
    static const char *const KINDS[] = {
#define FINDING(identifier, fatal, text) #identifier,
#include "wire/findings.def"
#undef FINDING
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (strlen(KINDS[i]) == length && strncmp(KINDS[i], word, length) == 0)
            return true;
    return false;
}

/* false: the line is something else, like what the program itself prints. */
static bool read_found(const char *line, struct found *f)
{
    static const struct {
        const char *word;
        bool error;
    } SEVERITIES[] = {{"error: ", true}, {"warning: ", false}};
    *f = (struct found){0};
    for (size_t i = 0; i < sizeof SEVERITIES / sizeof SEVERITIES[0]; i++) {
        const char *at = strstr(line, SEVERITIES[i].word), *end = strchr(line, '\n');
        if (!at || (end && at > end))
            continue;
        if (at != line && sscanf(line, "%127[^:\n]:%u: ", f->file, &f->line) != 2)
            continue;
        f->error = SEVERITIES[i].error;
        f->kind = at + strlen(SEVERITIES[i].word);
        f->kind_length = strcspn(f->kind, ":\n");
        f->message = f->kind + f->kind_length;
        return is_kind(f->kind, f->kind_length);
    }
    return false;
}

static bool says(const struct found *f, const char *words)
{
    return !words || memmem(f->message, strcspn(f->message, "\n"), words, strlen(words));
}

static bool at_marked_line(const struct fault_case *c, const struct found *f, const char *path)
{
    if (c->no_line)
        return true;
    for (size_t i = 0; i < c->line_count; i++)
        if (f->line == c->lines[i])
            return strcmp(f->file, file_base_name(path)) == 0;
    return false;
}

/* Is it the finding that the case asks for? */
static bool is_wanted(const struct table *t, const struct fault_case *c, const struct found *f)
{
    bool same = strlen(c->kind) == f->kind_length && !strncmp(f->kind, c->kind, f->kind_length);
    /* A call that fails is a warning: the program may have meant it, and go on. */
    bool grave = f->error != c->warning || strcmp(c->kind, "cuda_error") == 0;
    return same && grave && at_marked_line(c, f, t->path) && says(f, c->says);
}

/* What a faulty case must show, or must not show under this schedule. Was it seen? */
static bool check_wrong(const struct table *t, const struct fault_case *c,
                        const struct e2e_run *run, bool expected, struct text *why)
{
    bool seen = false;
    struct found f;
    for (const char *line = text_str(&run->errors); *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        if (!read_found(line, &f))
            continue;
        if (expected && is_wanted(t, c, &f))
            seen = true;
        else if (!expected || !has_word(c->also, f.kind, f.kind_length))
            text_addf(why, "unexpected: %.*s\n", (int)strcspn(line, "\n"), line);
    }
    if (expected && !seen && !c->some)
        text_addf(why, "no %s at a marked line%s%s\n", c->kind, c->says ? " that says: " : "",
                  c->says ? c->says : "");
    if (!expected && run->status != 0)
        text_addf(why, "exit status %d (%s)\n", run->status, run->how);
    return seen;
}

static void check_right(const struct e2e_run *run, struct text *why)
{
    struct found f;
    for (const char *line = text_str(&run->errors); *line;
         line += strcspn(line, "\n"), line += *line == '\n')
        if (read_found(line, &f))
            text_addf(why, "false alarm: %.*s\n", (int)strcspn(line, "\n"), line);
    if (run->status != 0)
        text_addf(why, "exit status %d (%s)\n", run->status, run->how);
}

/* false: it is not as the case says; `why` says how. Counts in `seen` where the fault showed. */
static bool run_once(const struct table *t, const struct fault_case *c, int schedule, unsigned seed,
                     unsigned *seen, struct text *why)
{
    char number[16];
    const char *plain[] = {"exec", t->path, c->name, NULL};
    const char *other[] = {"exec", "--target", t->target, t->path, c->name, NULL};
    struct e2e_run run;
    struct text now;
    text_init(&now);
    snprintf(number, sizeof number, "%u", seed);
    setenv("SCANJUDGE_SCHEDULE", schedule_names[schedule], 1);
    setenv("SCANJUDGE_SEED", number, 1);
    e2e_run(&(struct e2e_call){.argv = t->target ? other : plain}, &run);
    if (strstr(text_str(&run.errors), "does not compile") || run.status == 2 || run.status == 3)
        text_add(&now, "could not be run\n");
    else if (t->right)
        check_right(&run, &now);
    else
        *seen += check_wrong(t, c, &run, c->schedules[schedule], &now);
    bool good = !now.length;
    if (!good)
        text_addf(why, "%s, seed %u:\n%sstdout: %.600s\nstderr: %.2000s", schedule_names[schedule],
                  seed, text_str(&now), text_str(&run.out), text_str(&run.errors));
    e2e_run_release(&run);
    text_release(&now);
    return good;
}

static bool draws(int schedule)
{
    return schedule == WIRE_RANDOM || schedule == WIRE_INTERLEAVED;
}

/* Interleaved runs look for wrong answers; lanes are told apart there, so races and skipped
 * barriers are left to the other schedules. */
static bool looks_for(const struct fault_case *c, int schedule)
{
    static const char LEFT_OUT[] = "data_race missing_fence divergent_barrier";
    return schedule != WIRE_INTERLEAVED || !c->kind ||
           !has_word(LEFT_OUT, c->kind, strlen(c->kind));
}

/* One run under every schedule, or more under those that draw. */
static bool sweep(const struct table *t, const struct fault_case *c, unsigned number,
                  unsigned *runs, struct text *why)
{
    bool good = true;
    unsigned seen = 0;
    for (int s = 0; s < SCHEDULES; s++) {
        unsigned seeds = !looks_for(c, s) ? 0 : draws(s) ? t->seeds : 1;
        for (unsigned k = 0; k < seeds && good; k++, ++*runs)
            good = run_once(t, c, s, number * t->seeds + k + 1, &seen, why);
    }
    if (good && c->kind && !seen)
        text_addf(why, "no schedule shows %s at a marked line\n", c->kind);
    return good && (!c->kind || seen);
}

static void run_case(const struct table *t, const struct fault_case *c)
{
    unsigned runs = 0;
    bool good = true;
    struct text why, what;
    text_init(&why);
    text_init(&what);
    for (unsigned k = 0; k < t->repeats && good; k++)
        good = sweep(t, c, k, &runs, &why);
    text_addf(&what, "%s: %s, %u run%s", c->name, c->kind ? c->kind : "clean", runs,
              runs == 1 ? "" : "s");
    if (c->kind && !is_kind(c->kind, strlen(c->kind)))
        text_addf(&why, "there is no finding %s\n", c->kind);
    if (c->pending) {
        text_addf(&what, " # pending: %s", c->pending);
        printf("# pending: %s\n", text_str(&why));
        text_clear(&why);
        if (good)
            text_add(&why, "it works: take its line \"pending\" away\n");
    }
    e2e_check(text_str(&what), text_str(&why));
    text_release(&why);
    text_release(&what);
}

static bool wanted(const char *name, char **parts)
{
    bool any = !parts[0];
    for (int i = 0; parts[i]; i++)
        any |= strstr(name, parts[i]) != NULL;
    return any;
}

int main(int argc, char **argv)
{
    struct table t = {.repeats = 1, .seeds = SEEDS};
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "--repeat") == 0) {
        t.repeats = (unsigned)strtoul(argv[2], NULL, 10);
        t.seeds = 1;
        at = 3;
    }
    if (at >= argc || !t.repeats) {
        fprintf(stderr, "usage: %s [--repeat N] FILE [CASE-PART...]\n", argv[0]);
        return EXIT_FAILURE;
    }
    e2e_need_nvcc();
    t.path = argv[at];
    t.right = strstr(t.path, "/right/") != NULL;
    setenv("SCANJUDGE_STEP_LIMIT", STEP_LIMIT, 1);
    struct arena arena;
    struct case_file file;
    struct err e;
    arena_init(&arena);
    if (cases_read(t.path, &arena, &file, &e) != 0) {
        e2e_check(t.path, e.text);
        file.count = 0;
    }
    t.target = file.target;
    for (size_t i = 0; i < file.count; i++) {
        const struct fault_case *c = &file.cases[i];
        if (!wanted(c->name, argv + at + 1))
            continue;
        if (t.right != !c->kind)
            e2e_check(c->name, t.right ? "a faulty case in right/" : "a clean case in wrong/");
        else
            run_case(&t, c);
    }
    arena_release(&arena);
    return e2e_done();
}
