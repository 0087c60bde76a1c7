/* What the schedules find: kernels that are right in order, reversed and at random, and wrong when
 * lanes part between accesses or when stores are seen late. Each has a twin that is right, and that
 * no seed may find fault with. */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    BYTES = 16384,
    DATA = 4096, /* offsets in the buffer */
    OUT = 8192,
    RUNS = 20,         /* each has to find the fault */
    SEEDS = 12,        /* that a run may try */
    RIGHT_SEEDS = 200, /* that a right kernel has to survive */
};

#define TID    "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n"
#define PARAMS "ld.param.u64 %q1, [p0];\n cvta.to.global.u64 %q1, %q1;\n"
#define MINE   "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q10, %q1, %q10;\n"
#define FENCE  "membar.gl;\n"
#define WARP   "bar.warp.sync 0xffffffff;\n"

/* ---- the kernels ---- */

/* An inclusive scan by one warp in shared memory, in lock-step or with __syncwarp. */
#define SCAN_STEP(d, back, sync)                                                                   \
    "setp.ge.u32 %p1, %r1, " d ";\n @%p1 ld.volatile.shared.u32 %r6, [%r4-" back "];\n" sync       \
    "@%p1 add.u32 %r5, %r5, %r6;\n @%p1 st.volatile.shared.u32 [%r4], %r5;\n" sync
#define WARP_SCAN(sync)                                                                            \
    TID PARAMS MINE                                                                                \
        "mov.u32 %r3, s;\n mad.lo.u32 %r4, %r1, 4, %r3;\n add.u32 %r5, %r1, 1;\n"                  \
        "st.volatile.shared.u32 [%r4], %r5;\n" sync SCAN_STEP("1", "4", sync)                      \
            SCAN_STEP("2", "8", sync) SCAN_STEP("4", "16", sync) SCAN_STEP("8", "32", sync)        \
                SCAN_STEP("16", "64", sync) "st.global.u32 [%q10+8192], %r5;\n ret;\n"

static uint32_t triangle(uint32_t i)
{
    return (i + 1) * (i + 2) / 2;
}

/* Lanes hand values on through global memory. */
#define WARP_EXCHANGE(sync)                                                                        \
    TID PARAMS MINE "add.u32 %r3, %r1, 1;\n st.global.u32 [%q10+4096], %r3;\n" sync                \
                    "and.b32 %r4, %r3, 31;\n mul.wide.u32 %q5, %r4, 4;\n add.s64 %q5, %q1, %q5;\n" \
                    "ld.global.u32 %r5, [%q5+4096];\n st.global.u32 [%q10+8192], %r5;\n ret;\n"

static uint32_t neighbour(uint32_t i)
{
    return (i + 1) % 32 + 1;
}

/* Blocks in the order of a ticket: value and flag in different words. */
#define LOOK_BACK(publish)                                                                         \
    TID PARAMS "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra DONE;\n"                                       \
               "atom.global.add.u32 %r3, [%q1], 1;\n"                                              \
               "mul.wide.u32 %q5, %r3, 4;\n add.s64 %q5, %q1, %q5;\n"                              \
               "mov.u32 %r4, 0;\n setp.eq.u32 %p2, %r3, 0;\n @%p2 bra PUBLISH;\n"                  \
               "WAIT:\n ld.volatile.global.u32 %r5, [%q5+4092];\n"                                 \
               "setp.eq.u32 %p3, %r5, 0;\n @%p3 bra WAIT;\n membar.gl;\n"                          \
               "ld.global.u32 %r4, [%q5+8188];\n"                                                  \
               "PUBLISH:\n add.u32 %r4, %r4, 1;\n mov.u32 %r6, 1;\n"                               \
               "st.global.u32 [%q5+8192], %r4;\n" publish "DONE:\n ret;\n"
#define VOLATILE_FLAG "st.volatile.global.u32 [%q5+4096], %r6;\n"

static uint32_t count_up(uint32_t i)
{
    return i + 1;
}

/* All threads of a block write, one tells the other block. */
#define ONE_TELLS(fence)                                                                           \
    TID PARAMS MINE "mov.u32 %r9, s;\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra ROLE;\n"                \
                    "atom.global.add.u32 %r3, [%q1], 1;\n st.shared.u32 [%r9], %r3;\n"             \
                    "ROLE:\n bar.sync 0;\n ld.shared.u32 %r3, [%r9];\n"                            \
                    "setp.ne.u32 %p2, %r3, 0;\n @%p2 bra READER;\n"                                \
                    "add.u32 %r4, %r1, 1;\n st.global.u32 [%q10+4096], %r4;\n bar.sync 0;\n"       \
                    "@%p1 bra DONE;\n" fence                                                       \
                    "mov.u32 %r6, 1;\n st.volatile.global.u32 [%q1+64], %r6;\n bra DONE;\n"        \
                    "READER:\n @%p1 bra READ;\n"                                                   \
                    "WAIT:\n ld.volatile.global.u32 %r5, [%q1+64];\n"                              \
                    "setp.eq.u32 %p3, %r5, 0;\n @%p3 bra WAIT;\n membar.gl;\n"                     \
                    "READ:\n bar.sync 0;\n ld.global.u32 %r7, [%q10+4096];\n"                      \
                    "st.global.u32 [%q10+8192], %r7;\n DONE:\n ret;\n"

/* The block that counts last adds up what all have written. */
#define LAST_BLOCK(fence)                                                                          \
    TID PARAMS "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra DONE;\n"                                       \
               "mul.wide.u32 %q5, %r2, 4;\n add.s64 %q5, %q1, %q5;\n add.u32 %r3, %r2, 1;\n"       \
               "st.global.u32 [%q5+4096], %r3;\n" fence                                            \
               "atom.global.add.u32 %r4, [%q1], 1;\n setp.ne.u32 %p2, %r4, 7;\n"                   \
               "@%p2 bra DONE;\n membar.gl;\n mov.u32 %r5, 0;\n mov.u32 %r6, 0;\n"                 \
               "mov.u64 %q6, %q1;\n"                                                               \
               "SUM:\n ld.global.u32 %r7, [%q6+4096];\n add.u32 %r5, %r5, %r7;\n"                  \
               "add.s64 %q6, %q6, 4;\n add.u32 %r6, %r6, 1;\n setp.lt.u32 %p3, %r6, 8;\n"          \
               "@%p3 bra SUM;\n st.global.u32 [%q1+8192], %r5;\n DONE:\n ret;\n"

static uint32_t thirty_six(uint32_t i)
{
    (void)i;
    return 36;
}

/* A counter behind a lock that lanes and blocks compete for. */
#define LOCK(fence)                                                                                \
    TID PARAMS "SPIN:\n atom.global.cas.b32 %r5, [%q1], 0, 1;\n"                                   \
               "setp.ne.u32 %p1, %r5, 0;\n @%p1 bra SPIN;\n membar.gl;\n"                          \
               "ld.global.u32 %r6, [%q1+8192];\n add.u32 %r6, %r6, 1;\n"                           \
               "st.global.u32 [%q1+8192], %r6;\n" fence                                            \
               "atom.global.exch.b32 %r7, [%q1], 0;\n ret;\n"

static uint32_t all_threads(uint32_t i)
{
    (void)i;
    return 3 * 40;
}

/* A thread reads its own stores of other widths, whoever else sees them. */
static const char OWN_STORES[] = TID PARAMS MINE
    "mul.wide.u32 %q5, %r1, 16;\n add.s64 %q5, %q1, %q5;\n mul.lo.u32 %r3, %r1, 16843009;\n"
    "st.global.u32 [%q5+4096], %r3;\n mov.u32 %r4, 171;\n st.global.u8 [%q5+4097], %r4;\n"
    "ld.global.u32 %r5, [%q5+4096];\n atom.global.add.u32 %r6, [%q5+4096], 5;\n"
    "ld.global.u32 %r7, [%q5+4096];\n st.volatile.global.u32 [%q5+4100], %r7;\n"
    "ld.global.v2.u32 {%r8, %r9}, [%q5+4096];\n st.global.u32 [%q5+4100], %r1;\n"
    "ld.volatile.global.u32 %r10, [%q5+4100];\n"
    "mad.lo.u32 %r5, %r6, 3, %r5;\n mad.lo.u32 %r5, %r7, 5, %r5;\n"
    "mad.lo.u32 %r5, %r8, 7, %r5;\n mad.lo.u32 %r5, %r9, 11, %r5;\n"
    "mad.lo.u32 %r5, %r10, 13, %r5;\n st.global.u32 [%q10+8192], %r5;\n ret;\n";

static uint32_t own_sum(uint32_t i)
{
    uint32_t v = (i * 0x01010101u & ~0xff00u) | 0xab00u;
    return v + 3 * v + (5 + 7 + 11) * (v + 5) + 13 * i;
}

/* Diverging warps with barriers, votes and shuffles in loops of different lengths: right whatever
 * the lanes' speeds are. */
static const char MIXED[] = TID PARAMS MINE
    "mov.u32 %r9, s;\n mad.lo.u32 %r8, %r1, 4, %r9;\n and.b32 %r3, %r1, 7;\n mov.u32 %r4, 0;\n"
    "mov.u32 %r5, 0;\n"
    "LOOP:\n setp.ge.u32 %p1, %r4, %r3;\n @%p1 bra OUT;\n st.shared.u32 [%r8], %r4;\n"
    "ld.shared.u32 %r6, [%r8];\n add.u32 %r5, %r5, %r6;\n add.u32 %r4, %r4, 1;\n bra LOOP;\n"
    "OUT:\n st.shared.u32 [%r8], %r5;\n bar.sync 1, 64;\n xor.b32 %r7, %r1, 33;\n"
    "mad.lo.u32 %r10, %r7, 4, %r9;\n ld.shared.u32 %r11, [%r10];\n"
    "shfl.sync.bfly.b32 %r12, %r11, 1, 31, 0xffffffff;\n bar.sync 0;\n"
    "vote.sync.ballot.b32 %r13, %p1, 0xffffffff;\n popc.b32 %r13, %r13;\n"
    "add.u32 %r12, %r12, %r13;\n st.global.u32 [%q10+8192], %r12;\n ret;\n";

static uint32_t mixed(uint32_t i)
{
    uint32_t k = (i ^ 33 ^ 1) & 7;
    return k * (k - 1) / 2 + 32;
}

enum means { LANES = 1, LATE = 2 };

static const struct pair {
    const char *name, *wrong, *right; /* NULL: there is no such twin */
    uint32_t blocks, threads, outputs;
    uint32_t (*expected)(uint32_t i);
    uint32_t found_by; /* enum means bits: each finds it */
} PAIRS[] = {
    {"warp scan", WARP_SCAN(""), WARP_SCAN(WARP), 1, 32, 32, triangle, LANES},
    {"warp exchange", WARP_EXCHANGE(""), WARP_EXCHANGE(WARP), 1, 32, 32, neighbour, LANES | LATE},
    {"look-back", LOOK_BACK(VOLATILE_FLAG), LOOK_BACK(FENCE VOLATILE_FLAG), 40, 32, 40, count_up,
     LATE},
    {"look-back, release of a scope", LOOK_BACK("st.release.cta.global.u32 [%q5+4096], %r6;\n"),
     LOOK_BACK("st.release.gpu.global.u32 [%q5+4096], %r6;\n"), 40, 32, 40, count_up, LATE},
    {"look-back, fence of a scope", LOOK_BACK("membar.cta;\n" VOLATILE_FLAG),
     LOOK_BACK("fence.acq_rel.gpu;\n" VOLATILE_FLAG), 40, 32, 40, count_up, LATE},
    {"look-back, atomic flag",
     LOOK_BACK("atom.relaxed.gpu.global.exch.b32 %r7, [%q5+4096], %r6;\n"),
     LOOK_BACK("atom.acq_rel.gpu.global.exch.b32 %r7, [%q5+4096], %r6;\n"), 40, 32, 40, count_up,
     LATE},
    {"one tells", ONE_TELLS(""), ONE_TELLS(FENCE), 2, 96, 96, count_up, LATE},
    {"last block", LAST_BLOCK(""), LAST_BLOCK(FENCE), 8, 64, 1, thirty_six, LATE},
    {"lock", LOCK(""), LOCK(FENCE), 3, 40, 1, all_threads, LATE},
    {"own stores", NULL, OWN_STORES, 1, 40, 40, own_sum, 0},
    {"mixed", NULL, MIXED, 2, 64, 64, mixed, 0},
};

/* ---- running them ---- */

/* Right? Deadlocks and other faults are failures of the test. */
static bool run(struct kit *k, const struct pair *p, const struct wire_device_config *config)
{
    static const uint8_t ZEROS[BYTES];
    vm_configure(k->vm, config);
    uint64_t buffer = kit_buffer(k, ZEROS, BYTES, "out");
    enum vm_status status = kit_launch(k, "k", p->blocks, p->threads, &buffer, 1);
    if (status != VM_OK) {
        kit_print(k);
        fail_msg("%s: status %d with seed %llu", p->name, status,
                 (unsigned long long)config->schedule_seed);
    }
    const uint32_t *v = kit_bytes(k, buffer + OUT, 4ul * p->outputs);
    bool right = true;
    for (uint32_t i = 0; i < p->outputs; i++)
        right &= v[i] == p->expected(i);
    vm_free_memory(k->vm, buffer);
    return right;
}

static struct wire_device_config config_of(enum wire_schedule schedule, bool late, uint64_t seed)
{
    return (struct wire_device_config){.schedule = schedule,
                                       .checks = WIRE_CHECK_BOUNDS | WIRE_CHECK_UNINITIALIZED,
                                       .schedule_seed = seed,
                                       .step_limit = 20000000,
                                       .delay_stores = late};
}

static void nobody_else_finds(struct kit *k, const struct pair *p)
{
    static const enum wire_schedule OTHERS[] = {WIRE_IN_ORDER, WIRE_REVERSED, WIRE_RANDOM};
    for (uint64_t seed = 0; seed < 10; seed++)
        for (size_t s = 0; s < 3; s++) {
            struct wire_device_config config = config_of(OTHERS[s], false, seed);
            if (!run(k, p, &config))
                fail_msg("%s: found by the schedule %s", p->name, wire_schedule_name(OTHERS[s]));
        }
    if (p->found_by & LANES)
        return;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct wire_device_config config = config_of(WIRE_INTERLEAVED, false, seed);
        if (!run(k, p, &config))
            fail_msg("%s: found without late stores", p->name);
    }
}

/* Every run finds it within SEEDS seeds, and the seed finds it again. */
static void found(struct kit *k, const struct pair *p, enum wire_schedule schedule, bool late)
{
    for (uint64_t r = 0; r < RUNS; r++) {
        struct wire_device_config config = config_of(schedule, late, 0);
        bool right = true;
        for (uint64_t seed = 0; seed < SEEDS && right; seed++) {
            config.schedule_seed = 1000 * r + seed;
            right = run(k, p, &config);
        }
        if (right)
            fail_msg("%s: run %llu has not found it", p->name, (unsigned long long)r);
        if (run(k, p, &config))
            fail_msg("%s: seed %llu does not find it again", p->name,
                     (unsigned long long)config.schedule_seed);
    }
}

static void faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
        const struct pair *p = &PAIRS[i];
        if (!p->wrong)
            continue;
        struct kit k;
        kit_open_body(&k, p->wrong);
        nobody_else_finds(&k, p);
        if (p->found_by & LANES)
            found(&k, p, WIRE_INTERLEAVED, false);
        if (p->found_by & LATE)
            found(&k, p, WIRE_INTERLEAVED, true);
        kit_close(&k);
    }
}

static void right_twins_stay_right(void **state)
{
    (void)state;
    static const enum wire_schedule SCHEDULES[] = {WIRE_INTERLEAVED, WIRE_INTERLEAVED,
                                                   WIRE_INTERLEAVED, WIRE_RANDOM, WIRE_IN_ORDER};
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
        struct kit k;
        kit_open_body(&k, PAIRS[i].right);
        for (uint64_t seed = 0; seed < RIGHT_SEEDS; seed++)
            for (size_t s = 0; s < sizeof SCHEDULES / sizeof SCHEDULES[0]; s++) {
                struct wire_device_config config = config_of(SCHEDULES[s], s != 0, seed);
                config.resident_blocks = s == 2 ? 2 : 0;
                if (!run(&k, &PAIRS[i], &config))
                    fail_msg("%s: wrong with schedule %s, seed %llu", PAIRS[i].name,
                             wire_schedule_name(SCHEDULES[s]), (unsigned long long)seed);
                struct wire_finding f;
                if (vm_findings(k.vm, &f, 1))
                    fail_msg("%s: %s", PAIRS[i].name, f.message);
            }
        kit_close(&k);
    }
}

/* ---- few resident blocks ---- */

static const char GRID_BARRIER[] =
    TID PARAMS "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra PAST;\n"
               "atom.global.add.u32 %r3, [%q1], 1;\n mov.u32 %r5, %nctaid.x;\n"
               "WAIT:\n .loc 1 7 0\n ld.volatile.global.u32 %r4, [%q1];\n"
               "setp.lt.u32 %p2, %r4, %r5;\n @%p2 bra WAIT;\n"
               "red.global.add.u32 [%q1+8192], 1;\n PAST:\n ret;\n";

/* Two resident blocks are where the launch begins; what the device holds is where it ends. */
static void residents(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t blocks;
        enum vm_status status;
        size_t warnings;
    } CASES[] = {
        {GRID_BARRIER, 2, VM_OK, 0},
        {GRID_BARRIER, 60, VM_OK, 1},
        {GRID_BARRIER, 100000, VM_DEADLOCK, 1}, /* more than the device holds */
        {LOOK_BACK(FENCE VOLATILE_FLAG), 40, VM_OK, 0},
    };
    static const enum wire_schedule SCHEDULES[] = {WIRE_IN_ORDER, WIRE_RANDOM, WIRE_INTERLEAVED};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        for (size_t s = 0; s < 3; s++) {
            struct kit k;
            kit_open_body(&k, CASES[i].body);
            struct wire_device_config config = config_of(SCHEDULES[s], s == 2, 5);
            config.resident_blocks = 2;
            vm_configure(k.vm, &config);
            uint32_t *zeros = calloc(1, BYTES);
            uint64_t buffer = kit_buffer(&k, zeros, BYTES, "out");
            free(zeros);
            enum vm_status status = kit_launch(&k, "k", CASES[i].blocks, 32, &buffer, 1);
            if (status != CASES[i].status)
                kit_print(&k);
            assert_int_equal(status, CASES[i].status);
            assert_int_equal(kit_count(&k, FINDING_co_residency), CASES[i].warnings);
            struct wire_finding f;
            if (kit_find(&k, FINDING_co_residency, &f)) {
                assert_int_equal(f.severity, WIRE_WARNING);
                assert_int_equal(f.line, 7);
            }
            kit_close(&k);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(right_twins_stay_right),
        cmocka_unit_test(residents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
