/* Reports of compute-sanitizer, as an H200 gave them (2025.3.1, reports/), and what becomes of
 * them; then reports that are cut, forged or broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "judge/gpu/sanitizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 8, REPORT_BYTES = 1 << 20 };

static void load(const char *name, struct text *report)
{
    char path[512];
    struct err e;
    snprintf(path, sizeof path, "%s/reports/%s.txt", TEST_FOLDER, name);
    text_init(report);
    if (file_read(path, REPORT_BYTES, report, &e) != 0)
        fail_msg("%s", e.text);
}

static const struct row {
    const char *report, *tool, *source;
    enum finding_kind kind; /* FINDING_COUNT: there is no finding */
    unsigned line, count;
    const char *file, *kernel, *says;
    int block, thread;
} ROWS[] = {
    {"memcheck_global", "memcheck", "/x/bounds.cu", FINDING_out_of_bounds_write, 80, 1, "bounds.cu",
     "total_behind_the_sums(int *, int)",
     "memcheck: Invalid __global__ write of size 4 bytes; Access to 0x7f4588800094 is out of "
     "bounds; and is 1 bytes after the nearest allocation",
     0, 0},
    {"memcheck_shared", "memcheck", "shared_bounds.cu", FINDING_out_of_bounds_write, 36, 3,
     "shared_bounds.cu", "no_dynamic_at_all(int *)", "__shared__ write", 0, 0},
    {"memcheck_freed", "memcheck", "freed_too_early.cu", FINDING_out_of_bounds_read, 86, 2,
     "freed_too_early.cu", "add_offsets(int *, const int *, int)", "before the nearest allocation",
     0, 64},
    {"racecheck_shared", "racecheck", "shared_races.cu", FINDING_data_race, 11, 1,
     "shared_races.cu", "tile_used_again(const int *, int *, int)",
     "racecheck: Race reported between Write access at tile_used_again", -1, -1},
    {"racecheck_read_first", "racecheck", "kogge_stone_in_place.cu", FINDING_data_race, 19, 3,
     "kogge_stone_in_place.cu", "scan_block(const int *, int *, int *, int)",
     "and Write access at scan_block", -1, -1},
    {"initcheck_global", "initcheck", "uninitialized.cu", FINDING_uninitialized_read, 317, 3,
     "uninitialized.cu", "bytes_never_written(const unsigned char *, unsigned char *)",
     "initcheck: Uninitialized __global__ memory read of size 1 bytes", 0, 0},
    /* In a header of CUDA, called from the submission: its line counts. */
    {"initcheck_frame", "initcheck", "uninitialized.cu", FINDING_uninitialized_read, 78, 2,
     "uninitialized.cu", "done_counter(int *, unsigned int *)", "of size 4 bytes", 4, 0},
    {"initcheck_host", "initcheck", "uninitialized.cu", FINDING_uninitialized_read, 0, 3, "", "",
     "on access by cudaMemcpy source", -1, -1},
    {"synccheck_block", "synccheck", "barriers.cu", FINDING_divergent_barrier, 34, 3, "barriers.cu",
     "guard_of_whole_warps(const int *, int *, int)", "Divergent thread(s) in block", 0, 0},
    {"synccheck_warp", "synccheck", "barriers.cu", FINDING_divergent_barrier, 335, 1, "barriers.cu",
     "leader_at_a_barrier_of_its_own(const int *, int *)", "Divergent thread(s) in warp", 0, 0},
    {"synccheck_arguments", "synccheck", "warps.cu", FINDING_warp_sync, 251, 2, "warps.cu",
     "syncwarp_without_the_lane(const int *, int *)", "Invalid arguments", 0, 32},
    {"synccheck_nothing", "synccheck", "barriers.cu", FINDING_COUNT, 0, 0, "", "", "", 0, 0},
};

static bool fits(const struct row *r, const struct wire_finding *f)
{
    return f->kind == r->kind && f->severity == WIRE_ERROR && f->line == r->line &&
           f->count == r->count && strcmp(f->file, r->file) == 0 &&
           strcmp(f->kernel, r->kernel) == 0 && strstr(f->message, r->says) &&
           f->block[0] == r->block && f->thread[0] == r->thread;
}

static void recorded_reports(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *r = &ROWS[i];
        struct text report;
        struct wire_finding found[CAPACITY] = {0};
        const struct wire_finding *f = &found[0];
        const char *why;
        load(r->report, &report);
        unsigned count =
            sanitizer_read(r->tool, text_str(&report), r->source, found, CAPACITY, &why);
        assert_null(why);
        if (count != (r->kind != FINDING_COUNT) || (count && !fits(r, f)))
            fail_msg("%s: %u findings; %s, %s:%u, %u times, in %s, block %d, thread %d: %s",
                     r->report, count, finding_name((enum finding_kind)f->kind), f->file, f->line,
                     f->count, f->kernel, f->block[0], f->thread[0], f->message);
        text_release(&report);
    }
}

#define ABOVE "========= COMPUTE-SANITIZER\n========= "
#define PLACE                                                                                      \
    "\n=========     at k(int *)+0x10 in a.cu:3\n"                                                 \
    "=========     by thread (1,0,0) in block (2,0,0)\n"

static const struct said {
    const char *report;
    enum finding_kind kind;
    enum wire_severity severity;
} SAID[] = {
    {ABOVE "Invalid __global__ read of size 4 bytes" PLACE
           "=========     Access to 0x0 is out of bounds\n",
     FINDING_null_pointer, WIRE_ERROR},
    {ABOVE "Invalid __global__ write of size 4 bytes" PLACE
           "=========     Address 0x14 is out of bounds\n",
     FINDING_null_pointer, WIRE_ERROR},
    {ABOVE "Invalid __global__ read of size 16 bytes" PLACE
           "=========     Access to 0x7f0000000004 is misaligned\n",
     FINDING_misaligned, WIRE_ERROR},
    {ABOVE "Invalid __shared__ read of size 4 bytes" PLACE
           "=========     Access to 0x4 is out of bounds\n",
     FINDING_out_of_bounds_read, WIRE_ERROR},
    {ABOVE "Warning: Race reported between Write access at k(int *)+0x10 in a.cu:3\n",
     FINDING_data_race, WIRE_WARNING},
    {ABOVE "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API "
           "call to cudaMemcpy.\n",
     FINDING_cuda_error, WIRE_WARNING},
};

static void kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SAID / sizeof SAID[0]; i++) {
        struct wire_finding found[CAPACITY] = {0};
        const char *why;
        unsigned count = sanitizer_read("memcheck", SAID[i].report, "a.cu", found, CAPACITY, &why);
        if (count != 1 || found[0].kind != SAID[i].kind || found[0].severity != SAID[i].severity)
            fail_msg("%u, %s: %s", count, finding_name((enum finding_kind)found[0].kind),
                     SAID[i].report);
    }
}

/* What a call gives after a fault is no finding of its own. */
static void consequences(void **state)
{
    (void)state;
    struct wire_finding found[CAPACITY] = {0};
    const char *why;
    static const char REPORT[] = ABOVE
        "Invalid __global__ write of size 4 bytes" PLACE "========= \n"
        "========= Program hit cudaErrorLaunchFailure (error 719) due to \"unspecified launch "
        "failure\" on CUDA API call to cudaStreamSynchronize.\n"
        "========= ERROR SUMMARY: 2 errors\n";
    assert_int_equal(sanitizer_read("memcheck", REPORT, "a.cu", found, CAPACITY, &why), 1);
    assert_int_equal(found[0].kind, FINDING_out_of_bounds_write);
}

static void could_not_work(void **state)
{
    (void)state;
    struct wire_finding found[CAPACITY];
    const char *why;
    static const char *const REPORTS[] = {
        ABOVE "Error: Target application terminated before first instrumented API call\n",
        ABOVE "Error: No attachable process found. compute-sanitizer timed-out.\n",
        ABOVE "Internal Sanitizer Error: The Sanitizer encountered an error\n",
    };
    for (size_t i = 0; i < sizeof REPORTS / sizeof REPORTS[0]; i++) {
        assert_int_equal(sanitizer_read("memcheck", REPORTS[i], "a.cu", found, CAPACITY, &why), 0);
        assert_non_null(why);
    }
    /* This one is said of every program that does not return 0. */
    sanitizer_read("memcheck", ABOVE "Error: process didn't terminate successfully\n", "a.cu",
                   found, CAPACITY, &why);
    assert_null(why);
}

static void more_than_fit(void **state)
{
    (void)state;
    struct text report;
    struct wire_finding found[CAPACITY];
    const char *why;
    text_init(&report);
    for (int i = 1; i < 100; i++)
        text_addf(&report,
                  "========= Invalid __global__ write of size 4 bytes\n"
                  "=========     at k()+0x10 in a.cu:%d\n",
                  i);
    assert_int_equal(sanitizer_read("memcheck", text_str(&report), "a.cu", found, CAPACITY, &why),
                     CAPACITY);
    text_release(&report);
}

static void check_well_formed(const struct wire_finding *f)
{
    assert_true(f->kind < FINDING_COUNT);
    assert_non_null(memchr(f->message, '\0', sizeof f->message));
    assert_non_null(memchr(f->file, '\0', sizeof f->file));
    assert_non_null(memchr(f->kernel, '\0', sizeof f->kernel));
    assert_true(f->block[0] >= -1 && f->thread[0] >= -1);
}

/* Cut anywhere, or with bytes of any value in it: every string ends, every text is clean. */
static void broken_reports(void **state)
{
    (void)state;
    enum { ROUNDS = 300, BYTES = 8 };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct text report;
        struct wire_finding found[CAPACITY];
        const char *why;
        load(ROWS[i].report, &report);
        char *copy = malloc(report.length + 1);
        assert_non_null(copy);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t key = rng_key(round, i), draws = 0;
            size_t length = rng_below(key, draws++, report.length + 1);
            memcpy(copy, report.data, length);
            copy[length] = '\0';
            for (unsigned k = 0; length && round % 2 && k < BYTES; k++) {
                size_t at = rng_below(key, draws++, length);
                copy[at] = (char)(1 + rng_below(key, draws++, 255));
            }
            unsigned count = sanitizer_read(ROWS[i].tool, copy, "a.cu", found, CAPACITY, &why);
            assert_true(count <= CAPACITY);
            for (unsigned k = 0; k < count; k++)
                check_well_formed(&found[k]);
        }
        free(copy);
        text_release(&report);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_reports), cmocka_unit_test(kinds),
        cmocka_unit_test(consequences),     cmocka_unit_test(could_not_work),
        cmocka_unit_test(more_than_fit),    cmocka_unit_test(broken_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
