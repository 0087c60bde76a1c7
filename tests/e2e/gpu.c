/* --device gpu without a card: the driver is a fake one, its runtime is our CPU device, and the
 * tools are scripts. So all that the judge itself does for a card is run here: which card, what is
 * compiled for, the lock, the tools and what becomes of their reports. */
#include "e2e.h"

#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD   "submissions/multi-block-scan/accepted/blelloch.cu"
#define WRONG  "problems/multi-block-scan/starter.cu"
#define CARD   "GPU-77;NVIDIA Fake;9.0;16000"
#define CASE   "--case", "n=1025"
#define JUDGED "run", "multi-block-scan"
/* A problem that is also timed in seconds, with our device for a card: of tests/judge/timing. */
#define RUNG TIMING_ROOT "/reference/small-scan/three_kernels.cu"

static char folder[PATH_MAX]; /* of locks, and of tools that can be changed */

static struct text path_before;

/* Tools are looked for there first. */
static void set_path(const char *first)
{
    struct text path;
    text_init(&path);
    text_addf(&path, "%s:%s", first, path_before.length ? text_str(&path_before) : "/usr/bin:/bin");
    setenv("PATH", text_str(&path), 1);
    text_release(&path);
}

static const json_t *first_case(const struct e2e_run *run)
{
    return json_array_get(json_object_get(run->json, "cases"), 0);
}

static void check(const char *what, const struct e2e_run *run, struct text *why)
{
    if (why->length)
        text_addf(why, "stdout: %.1500s\nstderr: %.800s", text_str(&run->out),
                  text_str(&run->errors));
    e2e_check(what, text_str(why));
    text_clear(why);
}

static void expect(const struct e2e_run *run, int status, const char *says, struct text *why)
{
    if (run->status != status)
        text_addf(why, "exit status %d (%s), expected %d\n", run->status, run->how, status);
    if (!strstr(text_str(&run->out), says) && !strstr(text_str(&run->errors), says))
        text_addf(why, "nothing says '%s'\n", says);
}

static void one_call(const char *what, const char *const *argv, int status, const char *says)
{
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.argv = argv}, &run);
    expect(&run, status, says, &why);
    check(what, &run, &why);
    e2e_run_release(&run);
    text_release(&why);
}

/* At every size of the benchmark: numbers, an interval around the ratio, the fake driver's clocks.
 */
static void check_timing(const json_t *result)
{
    struct text why;
    size_t i;
    json_t *t;
    text_init(&why);
    json_array_foreach(json_object_get(result, "timing"), i, t)
    {
        const json_t *clocks = json_object_get(t, "clocks");
        double low = json_number_value(json_object_get(t, "ratio_low"));
        double high = json_number_value(json_object_get(t, "ratio_high"));
        if (!(json_number_value(json_object_get(t, "ms")) > 0) || !(low > 0 && low <= high))
            text_addf(&why, "%s: no time, or no interval\n", e2e_string(t, "size"));
        if (json_integer_value(json_object_get(clocks, "sm_mhz_high")) > 1980 ||
            json_integer_value(json_object_get(clocks, "sm_mhz_low")) < 1755 ||
            json_integer_value(json_object_get(clocks, "memory_mhz")) != 2619 ||
            strcmp(e2e_string(clocks, "throttled"), "power cap") != 0)
            text_addf(&why, "%s: not the clocks of the driver\n", e2e_string(t, "size"));
    }
    if (i != 2)
        text_addf(&why, "%zu sizes instead of 2\n", i);
    e2e_check("an accepted submission is timed", text_str(&why));
    text_release(&why);
}

static void check_judging(const char *root)
{
    static const char *const argv[] = {"run", "small-scan", RUNG, "--format", "json", NULL};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    expect(&run, 0, "\"device\": \"gpu\"", &why);
    if (strcmp(e2e_string(json_object_get(run.json, "card"), "uuid"), "GPU-77") != 0)
        text_add(&why, "the result does not name the card\n");
    if (json_object_get(first_case(&run), "counters"))
        text_add(&why, "counters, which a card does not have\n");
    check("auto takes the card", &run, &why);
    check_timing(run.json);
    e2e_run_release(&run);
    text_release(&why);
}

static void check_sanitizer(void)
{
    static const char *const argv[] = {JUDGED, GOOD, CASE, "--sanitize", "--format", "json", NULL};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.argv = argv}, &run);
    const json_t *c = first_case(&run), *f = json_array_get(json_object_get(c, "findings"), 0);
    expect(&run, 1, "run_time_error", &why);
    if (strcmp(e2e_string(f, "kind"), "data_race") != 0 ||
        json_integer_value(json_object_get(f, "line")) != 22 ||
        strcmp(e2e_string(f, "file"), "blelloch.cu") != 0)
        text_add(&why, "not the race that was reported\n");
    if (json_array_size(json_object_get(c, "findings")) != 1)
        text_add(&why, "not one finding\n");
    if (strcmp(e2e_string(c, "sanitized"),
               "memcheck: 0, racecheck: 1, initcheck: 0, synccheck: 0") != 0)
        text_addf(&why, "sanitized: %s\n", e2e_string(c, "sanitized"));
    if (!strstr(e2e_string(c, "reproduce"), "--device gpu --sanitize"))
        text_addf(&why, "reproduce: %s\n", e2e_string(c, "reproduce"));
    check("a report becomes a finding, and fails the case", &run, &why);
    e2e_run_release(&run);
    text_release(&why);
}

static void check_profiler(void)
{
    static const char *const argv[] = {JUDGED, GOOD, CASE, "--profile", "--format", "json", NULL};
    static const char *const text[] = {JUDGED, GOOD, CASE, "--profile", NULL};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.argv = argv}, &run);
    const json_t *c = first_case(&run), *kernels = json_object_get(c, "card_profile");
    const json_t *scan = json_array_get(kernels, 0), *add = json_array_get(kernels, 1);
    expect(&run, 0, "accepted", &why);
    if (strcmp(e2e_string(scan, "kernel"), "scan(const int *, int *, int)") != 0 ||
        json_integer_value(json_object_get(scan, "launches")) != 2 ||
        json_number_value(json_object_get(scan, "ns")) != 4096 ||
        json_number_value(json_object_get(scan, "global_sectors")) != 1134 ||
        json_number_value(json_object_get(scan, "dram_percent_of_peak")) != 50)
        text_add(&why, "not the sums of both launches\n");
    if (json_number_value(json_object_get(add, "shared_bank_conflicts")) != 7)
        text_add(&why, "not the second kernel\n");
    if (json_integer_value(json_object_get(json_object_get(c, "counters"), "global_sectors")) <= 0)
        text_add(&why, "the CPU device counted nothing\n");
    check("ncu's table", &run, &why);
    e2e_run_release(&run);
    text_release(&why);
    one_call("both devices in one table", text, 0, "all kernels together");
}

/* Copies of the scripts, so that one can be broken. */
static void check_tools_that_fail(void)
{
    static const char *const profile[] = {JUDGED, GOOD, CASE, "--profile", NULL};
    static const char *const sanitize[] = {JUDGED, GOOD, CASE, "--sanitize", NULL};
    static const char SILENT[] = "#!/bin/sh\nexit 1\n";
    char path[PATH_MAX + 64];
    struct err e;
    snprintf(path, sizeof path, "%s/forbidden", folder);
    file_write(path, "", 0, &e);
    snprintf(path, sizeof path, "%s/ncu", folder);
    file_copy(E2E_TOOLS "/ncu", path, &e);
    chmod(path, 0755);
    snprintf(path, sizeof path, "%s/compute-sanitizer", folder);
    file_write(path, SILENT, strlen(SILENT), &e);
    chmod(path, 0755);
    set_path(folder);
    one_call("counters for administrators only", profile, 3, "NVreg_RestrictProfilingToAdminUsers");
    one_call("a sanitizer that does nothing", sanitize, 3, "memcheck");
    set_path(E2E_TOOLS);
}

/* ---- bench ---- */

static void copy_with(const char *from, const char *name, const char *old, const char *new,
                      char *path, size_t path_bytes)
{
    struct text source, changed;
    struct err e;
    text_init(&source);
    text_init(&changed);
    snprintf(path, path_bytes, "%s/%s", folder, name);
    if (file_read(from, 1 << 20, &source, &e) != 0)
        BUG("%s", e.text);
    const char *at = strstr(text_str(&source), old);
    if (!at)
        BUG("%s has no '%s'", from, old);
    text_addn(&changed, text_str(&source), (size_t)(at - text_str(&source)));
    text_add(&changed, new);
    text_add(&changed, at + strlen(old));
    if (file_write(path, text_str(&changed), changed.length, &e) != 0)
        BUG("%s", e.text);
    text_release(&source);
    text_release(&changed);
}

static const json_t *entrant(const struct e2e_run *run, const char *label)
{
    const json_t *all = json_object_get(run->json, "entrants");
    for (size_t i = 0; i < json_array_size(all); i++)
        if (strcmp(e2e_string(json_array_get(all, i), "label"), label) == 0)
            return json_array_get(all, i);
    return NULL;
}

/* Counted in front of the runtime, which nvcc's own code calls by versioned names. */
static void check_memory(const char *root)
{
    char much[PATH_MAX + 64];
    copy_with(RUNG, "much.cu", "if (n == 0)", "void *p; cudaMalloc(&p, 3ull << 30); if (n == 0)",
              much, sizeof much);
    const char *const argv[] = {"run", "small-scan", much, "--case", "empty", NULL};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    expect(&run, 1, "memory limit exceeded", &why);
    expect(&run, 1, "3221225472 bytes of device memory were in use or asked for", &why);
    check("device memory above the limit", &run, &why);
    e2e_run_release(&run);
    text_release(&why);
}

/* A right file, one that is wrong in every call, one that does not compile, and a rival. */
static void check_bench(const char *root)
{
    char right[PATH_MAX + 64], wrong[PATH_MAX + 64], broken[PATH_MAX + 64], rival[PATH_MAX + 64];
    char kept[PATH_MAX + 64];
    copy_with(RUNG, "right.cu", "", "", right, sizeof right);
    copy_with(RUNG, "wrong.cu", "if (n == 0)", "if (n > 5)", wrong, sizeof wrong);
    copy_with(RUNG, "broken.cu", "if (n == 0)", "if (m == 0)", broken, sizeof broken);
    copy_with(RUNG, "rival.cu", "", "", rival, sizeof rival);
    snprintf(kept, sizeof kept, "%s/bench.json", folder);
    const char *const argv[] = {"bench", "small-scan", right,  wrong,      broken, "--with",
                                rival,   "--format",   "json", "--output", kept,   NULL};
    const char *const again[] = {"bench", "small-scan", right, "--format", "json", NULL};
    const char *const compare[] = {"bench", "--compare", kept, kept, NULL};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    expect(&run, 1, "not timed: wrong.cu", &why);
    expect(&run, 1, "not timed: broken.cu: it does not compile", &why);
    expect(&run, 1, "rival.cu", &why);
    check("a bench leaves out what fails, and says so", &run, &why);
    e2e_run_release(&run);
    e2e_run(&(struct e2e_call){.argv = again, .root = root}, &run);
    expect(&run, 0, "small-scan", &why);
    const json_t *sizes = json_object_get(entrant(&run, "right.cu"), "sizes");
    const json_t *copy = json_object_get(entrant(&run, "copy"), "sizes");
    if (json_number_value(json_object_get(json_object_get(sizes, "n=8448"), "ms")) <= 0 ||
        json_number_value(json_object_get(json_object_get(sizes, "n=65537"), "ratio")) <= 0 ||
        json_number_value(json_object_get(json_object_get(copy, "n=8448"), "gb_per_s")) <= 0)
        text_add(&why, "times are missing\n");
    if (!entrant(&run, "three_kernels.cu"))
        text_add(&why, "the reference is missing\n");
    check("times of the submission, the reference and a copy", &run, &why);
    e2e_run_release(&run);
    text_release(&why);
    one_call("two benches side by side", compare, 0, "the same");
}

static void check_bench_calls(void)
{
    static const struct {
        const char *what, *argv[8];
        int status;
        const char *says;
    } ROWS[] = {
        {"bench without a problem", {"bench"}, 2, "wants a problem"},
        {"bench of an unknown problem", {"bench", "multi-block-scam"}, 2, "multi-block-scan"},
        {"bench of a file that is not there", {"bench", "multi-block-scan", "no.cu"}, 2, "no.cu"},
        {"a curve of an unknown kind", {"bench", "multi-block-scan", "--plot", "a.pdf"}, 2, ".svg"},
        {"one file to compare", {"bench", "--compare", "a.json"}, 2, "two files"},
        {"no file to compare", {"bench", "--compare", "a.json", "b.json"}, 2, "a.json"},
        {"not a bench", {"bench", "--compare", "LICENSE", "LICENSE"}, 2, "LICENSE:1"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        one_call(ROWS[i].what, ROWS[i].argv, ROWS[i].status, ROWS[i].says);
}

/* Two at a time on one card: one says for whom it waits, and both are accepted. */
static void check_lock(const char *root)
{
    struct e2e_run run;
    struct text why, shell;
    text_init(&why);
    text_init(&shell);
    text_addf(&shell,
              "%s run small-scan " RUNG " & first=$!\n"
              "%s run small-scan " RUNG "; second=$?\n"
              "wait $first && exit $second",
              e2e_paths.judge, e2e_paths.judge);
    e2e_run(&(struct e2e_call){.shell = text_str(&shell), .root = root}, &run);
    expect(&run, 0, "card 0 (NVIDIA Fake) is in use by judge run small-scan", &why);
    check("one judging at a time per card", &run, &why);
    e2e_run_release(&run);
    text_release(&why);
    text_release(&shell);
}

int main(void)
{
    static const char *const old[] = {JUDGED, GOOD, CASE, "--device", "gpu", NULL};
    static const char *const first[] = {JUDGED, WRONG, "--first-failure", NULL};
    static const char *const faulty[] = {
        JUDGED, "submissions/multi-block-scan/run_time_error/ends_the_process.cu", NULL};
    static const char root[] = TIMING_ROOT;
    struct err e;
    e2e_need_nvcc();
    if (getenv("PATH"))
        text_add(&path_before, getenv("PATH"));
    if (file_make_temp_dir(folder, sizeof folder, "e2e-gpu", &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return EXIT_FAILURE;
    }
    set_path(E2E_TOOLS);
    setenv("SCANJUDGE_NVML", FAKE_NVML, 1);
    setenv("SCANJUDGE_GPU_CUDART", CPU_CUDART, 1);
    setenv("SCANJUDGE_LOCKS", folder, 1);
    setenv("FAKE_NVML", "GPU-1;NVIDIA T4;7.5;16000", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    one_call("the oldest card that there is code for", old, 0, "(gpu, NVIDIA T4, seed");
    setenv("FAKE_NVML", CARD, 1);
    check_judging(root);
    one_call("the first failure ends it", first, 1, "cases after the first failing one were not");
    one_call("not a context for every case of a file that always faults", faulty, 1,
             "8 cases ended their process");
    check_sanitizer();
    check_profiler();
    check_tools_that_fail();
    check_lock(root);
    check_bench_calls();
    check_memory(root);
    check_bench(root);
    file_remove_tree(folder, NULL);
    text_release(&path_before);
    return e2e_done();
}
