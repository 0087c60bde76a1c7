/* Costs as people ask for them: --profile, --trace, limits. */
#include "e2e.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SUBMISSION[] = "submissions/multi-block-scan/accepted/blelloch.cu";

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* The case with a profile; *count of them. */
static const json_t *profiled_case(const json_t *result, size_t *count)
{
    const json_t *found = NULL, *cases = json_object_get(result, "cases");
    *count = 0;
    for (size_t i = 0; i < json_array_size(cases); i++)
        if (json_object_get(json_array_get(cases, i), "profile")) {
            found = json_array_get(cases, i);
            ++*count;
        }
    return found;
}

static json_int_t sum_of(const json_t *lines, const char *counter)
{
    json_int_t sum = 0;
    for (size_t i = 0; i < json_array_size(lines); i++)
        sum += number(json_object_get(json_array_get(lines, i), "counters"), counter);
    return sum;
}

/* The lines of the one case that is profiled add up to what the judged pass counted. */
static void lines_add_up(void)
{
    static const char *const COUNTERS[] = {"instructions",    "additions", "global_sectors",
                                           "shared_requests", "barriers",  "divergent_branches"};
    const char *const argv[] = {"run",  "multi-block-scan", SUBMISSION, "--profile", "--format",
                                "json", "--seed",           "7",        NULL};
    struct e2e_call call = {.argv = argv};
    struct e2e_run run;
    struct text why;
    size_t count;
    text_init(&why);
    e2e_run(&call, &run);
    const json_t *c = profiled_case(run.json, &count);
    if (run.status != 0 || count != 1)
        text_addf(&why, "status %d, %zu cases with a profile: %s", run.status, count,
                  text_str(&run.errors));
    const json_t *profile = json_object_get(c, "profile");
    const json_t *lines = json_object_get(profile, "lines");
    const json_t *counted = json_object_get(c, "counters");
    for (size_t k = 0; c && k < sizeof COUNTERS / sizeof COUNTERS[0]; k++)
        if (number(counted, COUNTERS[k]) == 0 ||
            sum_of(lines, COUNTERS[k]) != number(counted, COUNTERS[k]))
            text_addf(&why, "%s: lines %lld, case %lld\n", COUNTERS[k],
                      (long long)sum_of(lines, COUNTERS[k]),
                      (long long)number(counted, COUNTERS[k]));
    if (c && json_array_size(json_object_get(profile, "kernels")) != 2)
        text_add(&why, "blelloch.cu has two kernels\n");
    e2e_check("run --profile: lines add up", text_str(&why));
    text_release(&why);
    e2e_run_release(&run);
}

static void needs(struct text *why, const char *all, const char *part)
{
    if (!strstr(all, part))
        text_addf(why, "no '%s' in: %.1500s\n", part, all);
}

static void text_is_annotated(void)
{
    const char *const argv[] = {"run",    "multi-block-scan", SUBMISSION, "--case",
                                "n=1025", "--profile",        NULL};
    struct e2e_call call = {.argv = argv};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&call, &run);
    const char *out = text_str(&run.out);
    needs(&why, out, "profile of case 'n=1025'");
    needs(&why, out, "uniform_add: ");
    needs(&why, out, "tree[right] += tree[left];");
    e2e_check("run --profile: the source with its costs", text_str(&why));
    text_release(&why);
    e2e_run_release(&run);
}

static void programs_have_profiles(void)
{
    const char *const argv[] = {"exec", "--profile", "tests/e2e/programs/compact.cu", NULL};
    struct e2e_call call = {.argv = argv};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&call, &run);
    if (run.status != 0)
        text_addf(&why, "status %d: ", run.status);
    needs(&why, text_str(&run.errors), "profile\n");
    needs(&why, text_str(&run.errors), "worst lines");
    needs(&why, text_str(&run.errors), "compact.cu:");
    if (strstr(text_str(&run.out), "worst lines"))
        text_add(&why, "the profile is among what the program prints\n");
    e2e_check("exec --profile", text_str(&why));
    text_release(&why);
    e2e_run_release(&run);
}

/* Every line is an object, and what is written to `out` is the scan of the worked example. */
static void check_trace(const char *path, struct text *why)
{
    static const json_int_t WANT[8] = {0, 3, 4, 11, 11, 15, 16, 22};
    json_int_t got[8] = {0};
    struct text lines;
    struct err e;
    json_int_t out_buffer = -1;
    size_t accesses = 0;
    text_init(&lines);
    if (file_read(path, 1 << 24, &lines, &e) != 0)
        text_add(why, e.text);
    for (const char *at = text_str(&lines); *at && !why->length; at += strcspn(at, "\n") + 1) {
        json_t *line = json_loadb(at, strcspn(at, "\n"), 0, NULL);
        if (!line)
            text_addf(why, "no JSON: %.200s", at);
        if (strcmp(e2e_string(line, "name"), "out") == 0)
            out_buffer = number(line, "buffer");
        accesses += json_object_get(line, "access") != NULL;
        bool to_out = strcmp(e2e_string(line, "access"), "write") == 0 &&
                      number(line, "buffer") == out_buffer && number(line, "size") == 4;
        const json_t *places = json_object_get(line, "at");
        for (size_t i = 0; to_out && i < json_array_size(places); i++) {
            json_int_t k = json_integer_value(json_array_get(places, i)) / 4;
            if (k >= 0 && k < 8)
                got[k] = json_integer_value(json_array_get(json_object_get(line, "values"), i));
        }
        json_decref(line);
    }
    if (accesses < 16 || memcmp(got, WANT, sizeof got) != 0)
        text_addf(why, "%zu accesses, out = %lld %lld ... %lld", accesses, (long long)got[0],
                  (long long)got[1], (long long)got[7]);
    text_release(&lines);
}

static void traces_tell_the_scan(void)
{
    char folder[512], path[600];
    struct err e;
    struct text why;
    text_init(&why);
    if (file_make_temp_dir(folder, sizeof folder, "e2e-costs", &e) != 0) {
        e2e_check("run --trace", e.text);
        return;
    }
    snprintf(path, sizeof path, "%s/trace.jsonl", folder);
    const char *const argv[] = {"run", "multi-block-scan", SUBMISSION, "--trace", path, NULL};
    struct e2e_call call = {.argv = argv};
    struct e2e_run run;
    e2e_run(&call, &run);
    if (run.status != 0)
        text_addf(&why, "status %d: %s", run.status, text_str(&run.errors));
    else
        check_trace(path, &why);
    e2e_check("run --trace: the worked example", text_str(&why));
    e2e_run_release(&run);

    const char *const large[] = {"run",    "multi-block-scan",    SUBMISSION, "--trace", path,
                                 "--case", "two levels, n=65536", NULL};
    call.argv = large;
    text_clear(&why);
    e2e_run(&call, &run);
    if (run.status != 2)
        text_addf(&why, "status %d: ", run.status);
    needs(&why, text_str(&run.errors), "take a smaller case");
    e2e_check("run --trace: too large a case", text_str(&why));
    e2e_run_release(&run);
    file_remove_tree(folder, NULL);
    text_release(&why);
}

/* The limits of problems keep their margin: 85 percent is the most that an accepted one takes. */
static void limits_have_room(void)
{
    const char *const argv[] = {"run",
                                "multi-block-scan",
                                "submissions/multi-block-scan/accepted/early_exit.cu",
                                "--format",
                                "json",
                                "--case",
                                "many blocks",
                                NULL};
    struct e2e_call call = {.argv = argv};
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&call, &run);
    const json_t *c = json_array_get(json_object_get(run.json, "cases"), 0);
    const json_t *counters = json_object_get(c, "counters");
    double bytes = (double)number(counters, "global_bytes_read") +
                   (double)number(counters, "global_bytes_written");
    if (run.status != 0 || bytes < 8.0 * 10000007 || bytes > 0.85 * 24 * 10000007)
        text_addf(&why, "status %d, %.0f bytes", run.status, bytes);
    e2e_check("the dearest accepted scan has room below the limit", text_str(&why));
    text_release(&why);
    e2e_run_release(&run);
}

int main(void)
{
    e2e_need_nvcc();
    lines_add_up();
    text_is_annotated();
    programs_have_profiles();
    traces_tell_the_scan();
    limits_have_room();
    return e2e_done();
}
