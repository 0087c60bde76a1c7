/* Divergence, fairness of lanes and blocks, barriers, deadlocks, calls. */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TID "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n"
#define PARAMS                                                                                     \
    "ld.param.u64 %q1, [p0];\n ld.param.u64 %q2, [p1];\n ld.param.u64 %q3, [p2];\n"                \
    "cvta.to.global.u64 %q1, %q1;\n cvta.to.global.u64 %q2, %q2;\n"                                \
    "cvta.to.global.u64 %q3, %q3;\n"
/* %q10 = address of element %tid.x of p0 */
#define MINE "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q10, %q1, %q10;\n"

static const enum wire_schedule SCHEDULES[] = {WIRE_IN_ORDER, WIRE_REVERSED, WIRE_RANDOM,
                                               WIRE_INTERLEAVED, WIRE_LAST_FIRST};

static enum vm_status run(struct kit *k, const char *body, enum wire_schedule schedule,
                          uint32_t grid, uint32_t block, uint64_t *buffer, size_t bytes)
{
    uint32_t *zeros = calloc(1, bytes);
    kit_open_body(k, body);
    kit_configure(k, schedule, WIRE_CHECK_DEFAULT, 7);
    *buffer = kit_buffer(k, zeros, bytes, "out");
    free(zeros);
    uint64_t args[] = {*buffer, grid, block, 0};
    return kit_launch(k, "k", grid, block, args, 4);
}

static void loops_of_different_lengths(void **state)
{
    (void)state;
    /* out[tid] = sum of 1 .. tid, by a loop whose lanes leave one after another */
    static const char BODY[] =
        TID PARAMS MINE "mov.u32 %r3, 0;\n mov.u32 %r4, 0;\n"
                        "L1:\n setp.ge.u32 %p1, %r4, %r1;\n @%p1 bra L2;\n"
                        "add.u32 %r4, %r4, 1;\n add.u32 %r3, %r3, %r4;\n bra L1;\n"
                        "L2:\n st.global.u32 [%q10], %r3;\n ret;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 100, &out, 400), VM_OK);
    const uint32_t *v = kit_bytes(&k, out, 400);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(v[i], i * (i + 1) / 2);
    kit_close(&k);
}

static void lanes_meet_again(void **state)
{
    (void)state;
    /* after an if-else the whole warp is together: activemask says so */
    static const char BODY[] =
        TID PARAMS MINE "and.b32 %r3, %r1, 1;\n setp.eq.u32 %p1, %r3, 0;\n @%p1 bra EVEN;\n"
                        "add.u32 %r4, %r1, 100;\n bra JOIN;\n"
                        "EVEN:\n add.u32 %r4, %r1, 200;\n"
                        "JOIN:\n activemask.b32 %r5;\n st.global.u32 [%q10], %r5;\n ret;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 32, &out, 128), VM_OK);
    const uint32_t *v = kit_bytes(&k, out, 128);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(v[i], 0xffffffffu);
    kit_close(&k);
}

/* Every thread takes a lock that the lanes of one warp compete for: the spin stands at a lower pc
 * than the unlock. */
static const char SPIN_LOCK[] =
    TID PARAMS "SPIN:\n atom.global.cas.b32 %r5, [%q1], 0, 1;\n"
               "setp.ne.u32 %p1, %r5, 0;\n @%p1 bra SPIN;\n"
               "membar.gl;\n"
               "ld.volatile.global.u32 %r6, [%q1+4];\n add.u32 %r6, %r6, 1;\n"
               "st.volatile.global.u32 [%q1+4], %r6;\n"
               "membar.gl;\n atom.global.exch.b32 %r7, [%q1], 0;\n ret;\n";

static void spin_lock(void **state)
{
    (void)state;
    for (size_t s = 0; s < 5; s++) {
        struct kit k;
        uint64_t out;
        assert_int_equal(run(&k, SPIN_LOCK, SCHEDULES[s], 3, 96, &out, 8), VM_OK);
        const uint32_t *v = kit_bytes(&k, out, 8);
        assert_int_equal(v[0], 0);
        assert_int_equal(v[1], 3 * 96);
        kit_close(&k);
    }
}

/* Blocks number themselves by a ticket and wait for the one before: right under any order. */
static void look_back_with_ticket(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra DONE;\n"
                   "atom.global.add.u32 %r3, [%q1], 1;\n" /* my ticket */
                   "mul.wide.u32 %q5, %r3, 4;\n add.s64 %q5, %q1, %q5;\n"
                   "mov.u32 %r4, 0;\n setp.eq.u32 %p2, %r3, 0;\n @%p2 bra PUBLISH;\n"
                   "WAIT:\n ld.acquire.gpu.global.u32 %r4, [%q5];\n"
                   "setp.eq.u32 %p3, %r4, 0;\n @%p3 bra WAIT;\n"
                   "PUBLISH:\n add.u32 %r4, %r4, 1;\n st.release.gpu.global.u32 [%q5+4], %r4;\n"
                   "DONE:\n ret;\n";
    for (size_t s = 0; s < 5; s++) {
        struct kit k;
        uint64_t out;
        assert_int_equal(run(&k, BODY, SCHEDULES[s], 500, 64, &out, 501 * 4), VM_OK);
        const uint32_t *v = kit_bytes(&k, out, 501 * 4);
        for (uint32_t i = 1; i <= 500; i++)
            assert_int_equal(v[i], i);
        kit_close(&k);
    }
}

/* The same by block index: needs the order of starting. */
static const char LOOK_BACK_BY_INDEX[] =
    TID PARAMS "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra DONE;\n"
               "mul.wide.u32 %q5, %r2, 4;\n add.s64 %q5, %q1, %q5;\n"
               "mov.u32 %r4, 0;\n setp.eq.u32 %p2, %r2, 0;\n @%p2 bra PUBLISH;\n"
               "WAIT:\n .loc 1 40 0\n ld.volatile.global.u32 %r4, [%q5];\n"
               "setp.eq.u32 %p3, %r4, 0;\n @%p3 bra WAIT;\n"
               "PUBLISH:\n add.u32 %r4, %r4, 1;\n st.volatile.global.u32 [%q5+4], %r4;\n"
               "DONE:\n ret;\n";

static void look_back_by_index(void **state)
{
    (void)state;
    for (size_t s = 0; s < 5; s++) {
        struct kit k;
        uint64_t out;
        bool dies = SCHEDULES[s] == WIRE_LAST_FIRST;
        enum vm_status status = run(&k, LOOK_BACK_BY_INDEX, SCHEDULES[s], 500, 64, &out, 501 * 4);
        assert_int_equal(status, dies ? VM_DEADLOCK : VM_OK);
        struct wire_finding f;
        assert_true(kit_find(&k, FINDING_deadlock, &f) == dies);
        if (dies)
            assert_int_equal(f.line, 40);
        kit_close(&k);
    }
}

/* Waits for all blocks at once: they are all resident here. */
static void barrier_of_the_grid(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS "bar.sync 0;\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra PAST;\n"
                   "membar.gl;\n atom.global.add.u32 %r3, [%q1], 1;\n"
                   "mov.u32 %r5, %nctaid.x;\n"
                   "WAIT:\n ld.volatile.global.u32 %r4, [%q1];\n"
                   "setp.lt.u32 %p2, %r4, %r5;\n @%p2 bra WAIT;\n"
                   "PAST:\n bar.sync 0;\n"
                   "setp.ne.u32 %p3, %r1, 33;\n @%p3 bra END;\n"
                   "red.global.add.u32 [%q1+4], 1;\n END:\n ret;\n";
    for (size_t s = 0; s < 4; s++) {
        struct kit k;
        uint64_t out;
        enum vm_status st = run(&k, BODY, SCHEDULES[s], 64, 64, &out, 8);
        kit_print(&k);
        assert_int_equal(st, VM_OK);
        assert_int_equal(((uint32_t *)kit_bytes(&k, out, 8))[1], 64);
        kit_close(&k);
    }
}

static void expect_deadlock(const char *body, uint32_t block, uint32_t line, const char *words)
{
    for (size_t s = 0; s < 4; s++) {
        struct kit k;
        uint64_t out;
        struct wire_finding f;
        assert_int_equal(run(&k, body, SCHEDULES[s], 2, block, &out, 256), VM_DEADLOCK);
        assert_true(kit_find(&k, FINDING_deadlock, &f));
        assert_int_equal(f.line, line);
        if (!strstr(f.message, words))
            fail_msg("%s does not mention %s", f.message, words);
        assert_int_equal(vm_sticky_status(k.vm), VM_DEADLOCK);
        kit_close(&k);
    }
}

static void deadlocks(void **state)
{
    (void)state;
    /* what nvcc makes of while (*flag == 0); */
    expect_deadlock(TID PARAMS "ld.global.u32 %r3, [%q1];\n setp.ne.u32 %p1, %r3, 0;\n"
                               "@%p1 bra OUT;\n .loc 1 12 0\n L:\n bra L;\n OUT:\n ret;\n",
                    64, 12, "spinning at k.cu:12");
    /* a volatile flag that nobody sets */
    expect_deadlock(TID PARAMS "L:\n .loc 1 20 0\n ld.volatile.global.u32 %r3, [%q1];\n"
                               "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
                    64, 20, "spinning");
    /* a lock that is never given back */
    expect_deadlock(TID PARAMS "L:\n .loc 1 30 0\n atom.global.cas.b32 %r3, [%q1], 0, 1;\n"
                               "setp.ne.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
                    64, 30, "spinning");
    /* one warp waits at a barrier for a warp that spins */
    expect_deadlock(TID PARAMS "setp.lt.u32 %p1, %r1, 32;\n @%p1 bra SPIN;\n"
                               ".loc 1 41 0\n bar.sync 0;\n ret;\n"
                               "SPIN:\n .loc 1 42 0\n ld.volatile.global.u32 %r3, [%q1];\n"
                               "setp.eq.u32 %p2, %r3, 0;\n @%p2 bra SPIN;\n ret;\n",
                    64, 42, "at a block barrier at k.cu:41");
}

/* Polls that are counted, and clocks that tell how long to sleep before the next, make no
 * difference to how a loop goes on, so it is known at once that nobody will end it; unless count or
 * clock decide something themselves. */
static void counted_polls(void **state)
{
    (void)state;
    enum { ALL = sizeof SCHEDULES / sizeof *SCHEDULES };
#define POLL    "L:\n .loc 1 50 0\n ld.volatile.global.u32 %r3, [%q1];\n add.u32 %r4, %r4, 1;\n"
#define ELAPSED "mov.u64 %q8, %globaltimer;\n sub.s64 %q9, %q8, %q7;\n"
    static const char *const ENDLESS[] = {
        TID PARAMS "mov.u32 %r4, 0;\n" POLL "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n"
                   "st.global.u32 [%q1], %r4;\n ret;\n",
        /* a back-off, as libcu++ has it: after some polls by how long it has waited */
        TID PARAMS "mov.u32 %r4, 0;\n mov.u64 %q7, %globaltimer;\n"
                   "L:\n setp.lt.s32 %p2, %r4, 16;\n @%p2 bra COUNT;\n bra.uni CLOCK;\n"
                   "COUNT:\n add.s32 %r4, %r4, 1;\n bra.uni POLL;\n"
                   "CLOCK:\n" ELAPSED "setp.lt.s64 %p3, %q9, 4000;\n @%p3 bra SHORT;\n"
                   "mov.u32 %r5, 1000;\n nanosleep.u32 %r5;\n bra.uni POLL;\n"
                   "SHORT:\n cvt.u32.u64 %r5, %q9;\n nanosleep.u32 %r5;\n"
                   "POLL:\n .loc 1 50 0\n ld.volatile.global.u32 %r3, [%q1];\n"
                   "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
    };
    static const char *const ENDING[] = {
        /* the count is a limit, by way of another register */
        TID PARAMS "mov.u32 %r4, 0;\n" POLL "shr.u32 %r5, %r4, 2;\n setp.lt.u32 %p2, %r5, 20000;\n"
                   "setp.eq.and.u32 %p1, %r3, 0, %p2;\n @%p1 bra L;\n ret;\n",
        /* at some count the loop sets the flag itself */
        TID PARAMS "mov.u32 %r4, 0;\n mov.u32 %r6, 1;\n" POLL "setp.eq.u32 %p2, %r4, 80000;\n"
                   "@%p2 st.volatile.global.u32 [%q1], %r6;\n"
                   "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
        /* the place that is read moves */
        TID PARAMS "mov.u32 %r4, 0;\n" POLL "shr.u32 %r5, %r4, 16;\n mul.wide.u32 %q5, %r5, 4;\n"
                   "add.s64 %q6, %q2, %q5;\n ld.volatile.global.u32 %r3, [%q6];\n"
                   "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
        /* it gives up after a time */
        TID PARAMS "mov.u64 %q7, %globaltimer;\n" POLL ELAPSED
                   "setp.lt.s64 %p2, %q9, 2000000;\n setp.eq.and.u32 %p1, %r3, 0, %p2;\n"
                   "@%p1 bra L;\n ret;\n",
        /* after a time the loop sets the flag itself */
        TID PARAMS "mov.u64 %q7, %globaltimer;\n mov.u32 %r6, 1;\n" POLL ELAPSED
                   "setp.lt.s64 %p2, %q9, 2000000;\n @%p2 bra MORE;\n"
                   "st.volatile.global.u32 [%q1], %r6;\n MORE:\n"
                   "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
        /* after a time it reads another place */
        TID PARAMS "mov.u64 %q7, %globaltimer;\n mov.u64 %q6, %q1;\n" POLL ELAPSED
                   "setp.lt.s64 %p2, %q9, 2000000;\n @%p2 bra MORE;\n add.s64 %q6, %q2, 4;\n"
                   "MORE:\n ld.volatile.global.u32 %r3, [%q6];\n"
                   "setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n ret;\n",
    };
    struct kit k;
    uint64_t out;
    struct wire_finding f;
    struct wire_counters counters;
    for (size_t s = 0; s < sizeof ENDLESS / sizeof *ENDLESS * ALL; s++) {
        assert_int_equal(run(&k, ENDLESS[s / ALL], SCHEDULES[s % ALL], 2, 64, &out, 256),
                         VM_DEADLOCK);
        assert_true(kit_find(&k, FINDING_deadlock, &f));
        assert_int_equal(f.line, 50);
        vm_counters(k.vm, &counters);
        assert_true(counters.value[COUNTER_warp_instructions] < 100000);
        kit_close(&k);
    }
    for (size_t c = 0; c < sizeof ENDING / sizeof *ENDING; c++) {
        const uint32_t flags[] = {0, 1};
        kit_open_body(&k, ENDING[c]);
        kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_BOUNDS, 7);
        uint64_t args[] = {kit_buffer(&k, flags, 4, "flag"), kit_buffer(&k, flags, 8, "flags")};
        assert_int_equal(kit_launch(&k, "k", 1, 64, args, 2), VM_OK);
        vm_counters(k.vm, &counters);
        assert_true(counters.value[COUNTER_warp_instructions] > 2 * 60000 * 4);
        kit_close(&k);
    }
#undef POLL
#undef ELAPSED
}

/* A long loop that only computes is no deadlock. */
static void long_loop(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS MINE "mov.u32 %r3, 0;\n mov.u32 %r4, 1;\n"
                        "L1:\n add.u32 %r3, %r3, 1;\n mad.lo.u32 %r4, %r4, %r3, %r1;\n"
                        "setp.lt.u32 %p1, %r3, 300000;\n @%p1 bra L1;\n"
                        "st.global.u32 [%q10], %r3;\n ret;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 32, &out, 128), VM_OK);
    assert_int_equal(((uint32_t *)kit_bytes(&k, out, 128))[31], 300000);
    kit_close(&k);
}

static void step_limit(void **state)
{
    (void)state;
    struct kit k;
    kit_open_body(&k, TID PARAMS "L:\n add.u64 %q5, %q5, 1;\n bra L;\n");
    struct wire_device_config c = {.checks = WIRE_CHECK_DEFAULT, .step_limit = 1000000};
    vm_configure(k.vm, &c);
    uint64_t args[] = {0, 0, 0, 0};
    assert_int_equal(kit_launch(&k, "k", 1, 32, args, 4), VM_STEP_LIMIT);
    assert_int_equal(kit_count(&k, FINDING_step_limit), 1);
    kit_close(&k);
}

static void exited_threads_count_at_barriers(void **state)
{
    (void)state;
    static const char BODY[] = TID PARAMS MINE
        "setp.ge.u32 %p1, %r1, 40;\n @%p1 bra END;\n"
        "bar.sync 0;\n mov.u32 %r3, 1;\n st.global.u32 [%q10], %r3;\n END:\n ret;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 96, &out, 400), VM_OK);
    assert_int_equal(kit_count(&k, FINDING_divergent_barrier), 0);
    assert_int_equal(((uint32_t *)kit_bytes(&k, out, 400))[39], 1);
    kit_close(&k);
}

/* Threads that return early may do something of their own first. */
static void early_returns_with_work(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS MINE "setp.ge.u32 %p1, %r1, 40;\n @%p1 bra EARLY;\n"
                        "bar.sync 0;\n mov.u32 %r3, 1;\n st.global.u32 [%q10], %r3;\n ret;\n"
                        "EARLY:\n mov.u32 %r4, 2;\n st.global.u32 [%q10], %r4;\n ret;\n";
    for (size_t s = 0; s < 4; s++) {
        struct kit k;
        uint64_t out;
        assert_int_equal(run(&k, BODY, SCHEDULES[s], 1, 96, &out, 400), VM_OK);
        kit_print(&k);
        assert_int_equal(kit_count(&k, FINDING_divergent_barrier), 0);
        assert_int_equal(((uint32_t *)kit_bytes(&k, out, 400))[39], 1);
        assert_int_equal(((uint32_t *)kit_bytes(&k, out, 400))[40], 2);
        kit_close(&k);
    }
}

/* The part of a warp that a barrier waits for may come to it from code laid out behind it. */
static void late_comers(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS MINE "setp.eq.u32 %p1, %r1, 7;\n @%p1 bra FAR;\n"
                        "NEAR:\n bar.sync 0;\n st.global.u32 [%q10], %r1;\n ret;\n"
                        "FAR:\n mov.u32 %r4, 2;\n st.global.u32 [%q10], %r4;\n bra NEAR;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 64, &out, 400), VM_OK);
    assert_int_equal(kit_count(&k, FINDING_divergent_barrier), 0);
    assert_int_equal(((uint32_t *)kit_bytes(&k, out, 400))[7], 7);
    kit_close(&k);
}

static void divergent_barriers(void **state)
{
    (void)state;
    /* threads of one block at two barriers */
    struct kit k;
    uint64_t out;
    struct wire_finding f;
    run(&k,
        TID PARAMS "and.b32 %r3, %r1, 32;\n setp.eq.u32 %p1, %r3, 0;\n @%p1 bra A;\n"
                   ".loc 1 10 0\n bar.sync 0;\n bra J;\n"
                   "A:\n .loc 1 12 0\n bar.sync 0;\n J:\n ret;\n",
        WIRE_IN_ORDER, 1, 64, &out, 400);
    assert_true(kit_find(&k, FINDING_divergent_barrier, &f));
    kit_close(&k);
    /* part of a warp skips it and goes on working */
    run(&k,
        TID PARAMS MINE "setp.ge.u32 %p1, %r1, 40;\n @%p1 bra AFTER;\n"
                        ".loc 1 22 0\n bar.sync 0;\n AFTER:\n .loc 1 23 0\n"
                        "st.global.u32 [%q10], %r1;\n ret;\n",
        WIRE_IN_ORDER, 1, 64, &out, 400);
    assert_true(kit_find(&k, FINDING_divergent_barrier, &f));
    assert_int_equal(f.line, 22);
    kit_close(&k);
}

static void barrier_reductions(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS MINE "and.b32 %r3, %r1, 3;\n setp.eq.u32 %p1, %r3, 0;\n"
                        "barrier.red.popc.u32 %r4, 0, %p1;\n"
                        "barrier.red.and.pred %p2, 0, %p1;\n barrier.red.or.pred %p3, 0, %p1;\n"
                        "selp.u32 %r5, 1000, 0, %p2;\n selp.u32 %r6, 100, 0, %p3;\n"
                        "add.u32 %r4, %r4, %r5;\n add.u32 %r4, %r4, %r6;\n"
                        "st.global.u32 [%q10], %r4;\n ret;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 128, &out, 512), VM_OK);
    for (int i = 0; i < 128; i++)
        assert_int_equal(((uint32_t *)kit_bytes(&k, out, 512))[i], 32 + 100);
    kit_close(&k);
}

/* Lanes that have parted keep values of both widths: lane 0 holds an address across a spin while
 * the others, at other places of the code, make 32-bit values. */
static void values_of_parted_lanes(void **state)
{
    (void)state;
    static const char BODY[] = TID PARAMS
        "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra OTHERS;\n"
        "mov.u32 %r3, %clock;\n cvt.u64.u32 %q4, %r3;\n add.s64 %q5, %q1, %q4;\n"
        "WAIT:\n ld.volatile.global.u32 %r4, [%q1];\n setp.lt.u32 %p2, %r4, 31;\n"
        "@%p2 bra WAIT;\n sub.s64 %q6, %q5, %q4;\n st.global.u32 [%q6+4], %r4;\n ret;\n"
        "OTHERS:\n mov.u32 %r5, %clock;\n add.u32 %r6, %r5, %r1;\n add.u32 %r7, %r6, %r5;\n"
        "add.u32 %r8, %r7, %r6;\n add.u32 %r9, %r8, %r7;\n add.u32 %r10, %r9, %r8;\n"
        "and.b32 %r11, %r10, 0;\n and.b32 %r12, %r9, 0;\n or.b32 %r11, %r11, %r12;\n"
        "and.b32 %r13, %r8, 0;\n or.b32 %r11, %r11, %r13;\n add.u32 %r11, %r11, 1;\n"
        "red.global.add.u32 [%q1], %r11;\n ret;\n";
    for (size_t s = 0; s < 4; s++) {
        struct kit k;
        uint64_t out;
        assert_int_equal(run(&k, BODY, SCHEDULES[s], 1, 32, &out, 8), VM_OK);
        assert_int_equal(((uint32_t *)kit_bytes(&k, out, 8))[1], 31);
        kit_close(&k);
    }
}

static void guards(void **state)
{
    (void)state;
    static const char BODY[] =
        TID PARAMS MINE "setp.lt.u32 %p1, %r1, 10;\n mov.u32 %r3, 5;\n @%p1 mov.u32 %r3, 6;\n"
                        "@!%p1 add.u32 %r3, %r3, 20;\n @%p1 st.global.u32 [%q10], %r3;\n"
                        "setp.gt.u32 %p2, %r1, 20;\n @%p2 st.global.u32 [%q10], %r3;\n"
                        "@%p2 exit;\n st.global.u32 [%q10+128], %r1;\n ret;\n";
    struct kit k;
    uint64_t out;
    assert_int_equal(run(&k, BODY, WIRE_IN_ORDER, 1, 32, &out, 256), VM_OK);
    const uint32_t *v = kit_bytes(&k, out, 256);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(v[i], i < 10 ? 6 : i > 20 ? 25 : 0);
        assert_int_equal(v[32 + i], i > 20 ? 0 : i);
    }
    kit_close(&k);
}

static const char CALLS[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.param .b32 result) factorial(.param .b32 n)\n{\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.local .align 4 .b8 keep[8];\n"
    "ld.param.u32 %r1, [n];\n setp.gt.u32 %p1, %r1, 1;\n @%p1 bra MORE;\n"
    "mov.u32 %r2, 1;\n st.param.b32 [result], %r2;\n ret;\n"
    "MORE:\n st.local.u32 [keep], %r1;\n sub.u32 %r3, %r1, 1;\n"
    "{\n.param .b32 a;\n.param .b32 b;\n st.param.b32 [a], %r3;\n"
    "call.uni (b), factorial, (a);\n ld.param.b32 %r4, [b];\n}\n"
    "ld.local.u32 %r5, [keep];\n mul.lo.u32 %r6, %r4, %r5;\n"
    "st.param.b32 [result], %r6;\n ret;\n}\n"
    ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %q<8>;\n"
    "ld.param.u64 %q1, [p0];\n mov.u32 %r1, %tid.x;\n and.b32 %r2, %r1, 7;\n"
    "{\n.param .b32 a;\n.param .b32 b;\n st.param.b32 [a], %r2;\n"
    "call.uni (b), factorial, (a);\n ld.param.b32 %r3, [b];\n}\n"
    "mul.wide.u32 %q2, %r1, 4;\n add.s64 %q3, %q1, %q2;\n st.global.u32 [%q3], %r3;\n ret;\n}\n";

static void recursion(void **state)
{
    (void)state;
    static const uint32_t FACTORIALS[] = {1, 1, 2, 6, 24, 120, 720, 5040};
    struct kit k;
    kit_open(&k, CALLS);
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, 0);
    uint64_t out = kit_buffer(&k, NULL, 256, "out");
    assert_int_equal(kit_launch(&k, "k", 1, 64, &out, 1), VM_OK);
    const uint32_t *v = kit_bytes(&k, out, 256);
    for (int i = 0; i < 64; i++)
        assert_int_equal(v[i], FACTORIALS[i & 7]);
    kit_print(&k);
    assert_int_equal(kit_count(&k, FINDING_uninitialized_read), 0);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_of_different_lengths),
        cmocka_unit_test(lanes_meet_again),
        cmocka_unit_test(spin_lock),
        cmocka_unit_test(look_back_with_ticket),
        cmocka_unit_test(look_back_by_index),
        cmocka_unit_test(barrier_of_the_grid),
        cmocka_unit_test(deadlocks),
        cmocka_unit_test(counted_polls),
        cmocka_unit_test(long_loop),
        cmocka_unit_test(step_limit),
        cmocka_unit_test(exited_threads_count_at_barriers),
        cmocka_unit_test(early_returns_with_work),
        cmocka_unit_test(late_comers),
        cmocka_unit_test(divergent_barriers),
        cmocka_unit_test(barrier_reductions),
        cmocka_unit_test(values_of_parted_lanes),
        cmocka_unit_test(guards),
        cmocka_unit_test(recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
