/* The blocks of a launch on several host threads: the same answers, the same counts, the same
 * findings as on one; waiting across threads, and what nobody can end. */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 300007, MANY = 3, LARGE_CHECKS = WIRE_CHECK_DEFAULT & ~WIRE_CHECK_GLOBAL_RACES };

static void open_kit(struct kit *k, const char *file, uint32_t threads, uint32_t checks)
{
    kit_open_file(k, file);
    struct wire_device_config c = {
        .checks = checks, .host_threads = threads, .step_limit = 200000000};
    snprintf(c.source_file, sizeof c.source_file, "crew.cu");
    vm_configure(k->vm, &c);
}

static void expect_clean(struct kit *k)
{
    struct wire_finding f;
    if (vm_findings(k->vm, &f, 1)) {
        kit_print(k);
        fail();
    }
}

static void fill(int *in, int *expected)
{
    unsigned sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = (int)((unsigned)i * 2654435761u >> 20) - 1000;
        expected[i] = (int)sum;
        sum += (unsigned)in[i];
    }
}

/* ---- the same as on one thread ---- */

static void three_steps(uint32_t threads, uint32_t checks, const int *in, const int *expected,
                        struct wire_counters *counters)
{
    enum { TILE = 1024, BLOCKS = (N + TILE - 1) / TILE };
    struct kit k;
    open_kit(&k, "scan.ptx", threads, checks);
    uint64_t d_in = kit_buffer(&k, in, sizeof(int) * N, "in");
    uint64_t d_out = kit_buffer(&k, NULL, sizeof(int) * N, "out");
    uint64_t d_sums = kit_buffer(&k, NULL, sizeof(int) * BLOCKS, "sums");
    uint64_t a[] = {d_in, d_out, d_sums, N}, b[] = {d_sums, BLOCKS}, c[] = {d_out, d_sums, N};
    assert_int_equal(kit_launch(&k, "scan_tiles", BLOCKS, 256, a, 4), VM_OK);
    assert_int_equal(kit_launch(&k, "scan_block_sums", 1, 256, b, 2), VM_OK);
    assert_int_equal(kit_launch(&k, "add_offsets", BLOCKS, 256, c, 3), VM_OK);
    expect_clean(&k);
    assert_memory_equal(kit_bytes(&k, d_out, sizeof(int) * N), expected, sizeof(int) * N);
    vm_counters(k.vm, counters);
    kit_close(&k);
}

static void same_answers_and_counts(void **state)
{
    (void)state;
    int *in = malloc(sizeof(int) * N), *expected = malloc(sizeof(int) * N);
    assert_non_null(in);
    assert_non_null(expected);
    fill(in, expected);
    static const uint32_t CHECKS[] = {WIRE_CHECK_BOUNDS, LARGE_CHECKS,
                                      LARGE_CHECKS | WIRE_CHECK_COUNTERS};
    for (unsigned k = 0; k < sizeof CHECKS / sizeof *CHECKS; k++) {
        struct wire_counters one, two, three;
        three_steps(1, CHECKS[k], in, expected, &one);
        three_steps(2, CHECKS[k], in, expected, &two);
        three_steps(5, CHECKS[k], in, expected, &three);
        assert_memory_equal(&one, &two, sizeof one);
        assert_memory_equal(&one, &three, sizeof one);
    }
    free(in);
    free(expected);
}

static void looks_back_across_threads(void **state)
{
    (void)state;
    enum { TILE = 2048, TILES = (N + TILE - 1) / TILE };
    int *in = malloc(sizeof(int) * N), *expected = malloc(sizeof(int) * N);
    uint64_t *zeros = calloc(TILES + 1, sizeof *zeros);
    assert_non_null(in);
    assert_non_null(expected);
    assert_non_null(zeros);
    fill(in, expected);
    for (uint32_t threads = 1; threads <= MANY; threads++)
        for (unsigned k = 0; k < 2; k++) {
            struct kit kit;
            open_kit(&kit, "crew.ptx", threads, k ? LARGE_CHECKS : WIRE_CHECK_BOUNDS);
            uint64_t d_in = kit_buffer(&kit, in, sizeof(int) * N, "in");
            uint64_t d_out = kit_buffer(&kit, NULL, sizeof(int) * N, "out");
            uint64_t states = kit_buffer(&kit, zeros, sizeof *zeros * TILES, "states");
            uint64_t ticket = kit_buffer(&kit, zeros, sizeof *zeros, "ticket");
            uint64_t args[] = {d_in, d_out, states, ticket, N};
            assert_int_equal(kit_launch(&kit, "scan_look_back", TILES, 256, args, 5), VM_OK);
            expect_clean(&kit);
            assert_memory_equal(kit_bytes(&kit, d_out, sizeof(int) * N), expected, sizeof(int) * N);
            kit_close(&kit);
        }
    free(in);
    free(expected);
    free(zeros);
}

static void adds_atomically(void **state)
{
    (void)state;
    enum { BLOCKS = 300, THREADS = 256, ROUNDS = 3 };
    const uint32_t zeros[2] = {0};
    const uint64_t zero = 0;
    struct kit k;
    open_kit(&k, "crew.ptx", MANY, LARGE_CHECKS);
    uint64_t counter = kit_buffer(&k, zeros, sizeof zeros, "counter");
    uint64_t wide = kit_buffer(&k, &zero, sizeof zero, "wide");
    uint64_t args[] = {counter, wide, ROUNDS};
    assert_int_equal(kit_launch(&k, "count", BLOCKS, THREADS, args, 3), VM_OK);
    expect_clean(&k);
    uint32_t got[2];
    uint64_t most;
    memcpy(got, kit_bytes(&k, counter, sizeof got), sizeof got);
    memcpy(&most, kit_bytes(&k, wide, sizeof most), sizeof most);
    assert_int_equal(got[0], BLOCKS * THREADS * ROUNDS);
    assert_int_equal(got[1], 0);
    assert_int_equal(most, BLOCKS * THREADS - 1);
    struct wire_counters counters;
    vm_counters(k.vm, &counters);
    assert_int_equal(counters.value[COUNTER_atomics], 3 * BLOCKS * THREADS * ROUNDS);
    kit_close(&k);
}

static void pairs_stay_whole(void **state)
{
    (void)state;
    struct kit k;
    const uint64_t pair[2] = {0, ~0ull};
    const uint32_t zero = 0;
    open_kit(&k, "crew.ptx", 2, WIRE_CHECK_BOUNDS);
    uint64_t d_pair = kit_buffer(&k, pair, sizeof pair, "pair");
    uint64_t torn = kit_buffer(&k, &zero, sizeof zero, "torn");
    uint64_t args[] = {d_pair, torn, 20000};
    assert_int_equal(kit_launch(&k, "pairs", 8, 32, args, 3), VM_OK);
    expect_clean(&k);
    assert_int_equal(*(uint32_t *)kit_bytes(&k, torn, 4), 0);
    kit_close(&k);
}

/* ---- waiting for each other ---- */

static void waits_for_the_block_before(void **state)
{
    (void)state;
    enum { BLOCKS = 700 };
    uint32_t *zeros = calloc(BLOCKS, sizeof *zeros);
    assert_non_null(zeros);
    struct kit k;
    open_kit(&k, "crew.ptx", 2, LARGE_CHECKS);
    uint64_t flags = kit_buffer(&k, zeros, sizeof *zeros * BLOCKS, "flags");
    uint64_t out = kit_buffer(&k, NULL, sizeof *zeros * BLOCKS, "out");
    uint64_t args[] = {flags, out, 300};
    assert_int_equal(kit_launch(&k, "chain", BLOCKS, 64, args, 3), VM_OK);
    expect_clean(&k);
    assert_int_equal(((uint32_t *)kit_bytes(&k, flags, sizeof *zeros * BLOCKS))[BLOCKS - 1], 1);
    free(zeros);
    kit_close(&k);
}

static enum vm_status launch_together(struct kit *k, const char *name, uint32_t blocks,
                                      const uint64_t *args)
{
    struct vm_kernel *kernel = vm_module_kernel(k->module, name);
    uint8_t params[64] = {0};
    memcpy(params, args, 16);
    memcpy(params + 16, &args[2], 4);
    struct vm_launch launch = {
        .grid = {blocks, 1, 1}, .block = {64, 1, 1}, .params = params, .cooperative = true};
    return vm_launch(k->vm, kernel, &launch);
}

static void all_blocks_meet(void **state)
{
    (void)state;
    enum { BLOCKS = 48, ROUNDS = 30 };
    const uint32_t zero = 0;
    struct kit k;
    open_kit(&k, "crew.ptx", 2, LARGE_CHECKS);
    uint64_t arrived = kit_buffer(&k, &zero, 4, "arrived");
    uint64_t early = kit_buffer(&k, &zero, 4, "early");
    uint64_t args[] = {arrived, early, ROUNDS};
    assert_int_equal(launch_together(&k, "meet", BLOCKS, args), VM_OK);
    expect_clean(&k);
    assert_int_equal(*(uint32_t *)kit_bytes(&k, arrived, 4), BLOCKS * ROUNDS);
    assert_int_equal(*(uint32_t *)kit_bytes(&k, early, 4), 0);
    kit_close(&k);
}

static void deadlock_is_found(void **state)
{
    (void)state;
    enum { BLOCKS = 900 };
    uint32_t *zeros = calloc(BLOCKS, sizeof *zeros);
    assert_non_null(zeros);
    for (uint32_t threads = 1; threads <= MANY; threads++) {
        struct kit k;
        struct wire_finding f;
        open_kit(&k, "crew.ptx", threads, LARGE_CHECKS);
        uint64_t flags = kit_buffer(&k, zeros, sizeof *zeros * BLOCKS, "flags");
        uint64_t out = kit_buffer(&k, NULL, sizeof *zeros * BLOCKS, "out");
        uint64_t args[] = {flags, out, 500};
        assert_int_equal(kit_launch(&k, "wait_for_ever", BLOCKS, 96, args, 3), VM_DEADLOCK);
        assert_int_equal(vm_findings(k.vm, &f, 1), 1);
        assert_int_equal(f.kind, FINDING_deadlock);
        /* 21 blocks of 96 threads fit on each of the 16 SMs: one thread of each spins. */
        assert_non_null(strstr(f.message, "336 threads spinning at crew.cu:"));
        assert_non_null(strstr(f.message, "31920 threads at a block barrier at crew.cu:"));
        assert_non_null(strstr(f.message, "564 blocks have not started"));
        kit_close(&k);
    }
    free(zeros);
}

/* ---- ends ---- */

static void a_fault_stops_everybody(void **state)
{
    (void)state;
    enum { BLOCKS = 3000 };
    struct kit k;
    struct wire_finding f;
    open_kit(&k, "crew.ptx", 2, LARGE_CHECKS);
    uint64_t out = kit_buffer(&k, NULL, sizeof(int) * BLOCKS, "out");
    uint64_t args[] = {out, 1000};
    assert_int_equal(kit_launch(&k, "fault_late", BLOCKS, 64, args, 2), VM_ILLEGAL_ADDRESS);
    assert_int_equal(vm_findings(k.vm, &f, 1), 1);
    assert_int_equal(f.block[0], 40);
    assert_non_null(strstr(f.message, "out"));
    assert_int_equal(vm_sticky_status(k.vm), VM_ILLEGAL_ADDRESS);
    kit_close(&k);
}

static void steps_are_limited_in_all(void **state)
{
    (void)state;
    struct kit k;
    struct wire_finding f;
    kit_open_file(&k, "crew.ptx");
    struct wire_device_config c = {
        .checks = LARGE_CHECKS, .host_threads = 2, .step_limit = 3000000};
    vm_configure(k.vm, &c);
    uint64_t out = kit_buffer(&k, NULL, sizeof(int) * 64, "out");
    uint64_t args[] = {out};
    assert_int_equal(kit_launch(&k, "run_on", 64, 64, args, 1), VM_STEP_LIMIT);
    assert_int_equal(vm_findings(k.vm, &f, 1), 1);
    assert_int_equal(f.kind, FINDING_step_limit);
    kit_close(&k);
}

/* ---- what was written ---- */

static void written_bytes_are_known(void **state)
{
    (void)state;
    enum { BLOCKS = 4000, COUNT = 3 * BLOCKS };
    const int zero = 0;
    for (unsigned gap = 0; gap < 2; gap++) { /* with a gap, four ints are read that nobody wrote */
        struct kit k;
        open_kit(&k, "crew.ptx", 2, LARGE_CHECKS);
        uint64_t out = kit_buffer(&k, NULL, sizeof(int) * (COUNT + 4), "out");
        uint64_t sum = kit_buffer(&k, &zero, sizeof zero, "sum");
        uint64_t args[] = {out}, more[] = {out, sum, COUNT + 4 * gap};
        assert_int_equal(kit_launch(&k, "write_three", BLOCKS, 32, args, 1), VM_OK);
        assert_int_equal(kit_launch(&k, "read_all", (COUNT + 255) / 256, 256, more, 3), VM_OK);
        if (gap) {
            struct wire_finding f;
            assert_int_equal(vm_findings(k.vm, &f, 1), 1);
            assert_int_equal(f.kind, FINDING_uninitialized_read);
        } else {
            expect_clean(&k);
            assert_int_equal(*(int *)kit_bytes(&k, sum, 4), 3 * (BLOCKS * (BLOCKS - 1) / 2));
        }
        kit_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_answers_and_counts),
        cmocka_unit_test(looks_back_across_threads),
        cmocka_unit_test(adds_atomically),
        cmocka_unit_test(pairs_stay_whole),
        cmocka_unit_test(waits_for_the_block_before),
        cmocka_unit_test(all_blocks_meet),
        cmocka_unit_test(deadlock_is_found),
        cmocka_unit_test(a_fault_stops_everybody),
        cmocka_unit_test(steps_are_limited_in_all),
        cmocka_unit_test(written_bytes_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
