/* What the checks find, and what they must not. */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TID "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n"
#define PARAMS                                                                                     \
    "ld.param.u64 %q1, [p0];\n ld.param.u64 %q2, [p1];\n"                                          \
    "cvta.to.global.u64 %q1, %q1;\n cvta.to.global.u64 %q2, %q2;\n"
#define MINE "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q10, %q1, %q10;\n"
/* %r10 = address of s[tid], %r11 = tid - 1 clamped, ... */
#define SHARED "mov.u32 %r9, s;\n shl.b32 %r8, %r1, 2;\n add.u32 %r10, %r9, %r8;\n"

static enum vm_status run(struct kit *k, const char *body, enum wire_schedule schedule,
                          uint32_t grid, uint32_t block, size_t bytes, uint64_t *buffer)
{
    uint32_t *values = malloc(bytes);
    for (size_t i = 0; i < bytes / 4; i++)
        values[i] = (uint32_t)i;
    kit_open_body(k, body);
    kit_configure(k, schedule, WIRE_CHECK_DEFAULT, 11);
    *buffer = kit_buffer(k, values, bytes, "in");
    uint64_t fresh = kit_buffer(k, NULL, bytes, "fresh");
    free(values);
    uint64_t args[] = {*buffer, fresh, 0, 0};
    return kit_launch(k, "k", grid, block, args, 4);
}

struct expectation {
    const char *body;
    uint32_t block;
    enum finding_kind kind;
    uint32_t line;
    const char *words;
    enum vm_status status;
};

static void expect(const struct expectation *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int s = WIRE_IN_ORDER; s <= WIRE_RANDOM; s++) {
            struct kit k;
            uint64_t buffer;
            struct wire_finding f;
            enum vm_status status =
                run(&k, x[i].body, (enum wire_schedule)s, 1, x[i].block, 4096, &buffer);
            if (!kit_find(&k, x[i].kind, &f)) {
                kit_print(&k);
                fail_msg("case %zu, schedule %d: no %s", i, s, finding_name(x[i].kind));
            }
            if (f.line != x[i].line || !strstr(f.message, x[i].words)) {
                kit_print(&k);
                fail_msg("case %zu, schedule %d", i, s);
            }
            assert_int_equal(status, x[i].status);
            assert_int_equal(f.severity, WIRE_ERROR);
            kit_close(&k);
        }
}

static void expect_clean(const char *const *bodies, size_t count, uint32_t block)
{
    for (size_t i = 0; i < count; i++)
        for (int s = WIRE_IN_ORDER; s <= WIRE_RANDOM; s++) {
            struct kit k;
            uint64_t buffer;
            struct wire_finding f[4];
            enum vm_status status =
                run(&k, bodies[i], (enum wire_schedule)s, 1, block, 4096, &buffer);
            if (status != VM_OK || vm_findings(k.vm, f, 4) != 0) {
                kit_print(&k);
                fail_msg("clean case %zu, schedule %d: status %d", i, s, status);
            }
            kit_close(&k);
        }
}

static void faults(void **state)
{
    (void)state;
    static const struct expectation X[] = {
        {TID PARAMS MINE ".loc 1 5 0\n ld.global.u32 %r3, [%q10+4064];\n ret;\n", 32,
         FINDING_out_of_bounds_read, 5,
         "reads 4 bytes at byte 4096 of `in`, which has 4096 bytes: element 1024 of 1024",
         VM_ILLEGAL_ADDRESS},
        {TID PARAMS MINE ".loc 1 6 0\n st.global.u32 [%q10+-4], %r1;\n ret;\n", 32,
         FINDING_out_of_bounds_write, 6, "4 bytes before the start of `in`", VM_ILLEGAL_ADDRESS},
        {TID PARAMS MINE ".loc 1 7 0\n ld.global.u32 %r3, [%q10+2];\n ret;\n", 32,
         FINDING_misaligned, 7, "multiple of 4", VM_MISALIGNED},
        {TID PARAMS ".loc 1 8 0\n mov.u64 %q5, 16;\n ld.global.u32 %r3, [%q5];\n ret;\n", 32,
         FINDING_null_pointer, 8, "null pointer", VM_ILLEGAL_ADDRESS},
        {TID PARAMS SHARED ".loc 1 9 0\n st.shared.u32 [%r10+1000], %r1;\n ret;\n", 32,
         FINDING_out_of_bounds_write, 9, "shared array `s`, which has 1024 bytes",
         VM_ILLEGAL_ADDRESS},
        {TID PARAMS ".loc 1 10 0\n trap;\n", 32, FINDING_trap, 10, "trap", VM_TRAP},
        {TID PARAMS ".loc 1 11 0\n tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f1,%f2}];\n ret;\n",
         32, FINDING_unsupported, 11, "tex.2d", VM_TRAP},
        {TID PARAMS MINE ".loc 1 12 0\n atom.global.add.u32 %r3, [%q10+4092], 1;\n ret;\n", 32,
         FINDING_out_of_bounds_write, 12, "updates 4 bytes", VM_ILLEGAL_ADDRESS},
    };
    expect(X, sizeof X / sizeof *X);
}

static void uninitialised(void **state)
{
    (void)state;
    static const struct expectation X[] = {
        {TID PARAMS "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q10, %q2, %q10;\n"
                    ".loc 1 5 0\n ld.global.u32 %r3, [%q10+16];\n ret;\n",
         32, FINDING_uninitialized_read, 5, "byte 16 of `fresh`", VM_OK},
        /* the middle byte of a word is missing */
        {TID PARAMS "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q10, %q2, %q10;\n"
                    "st.global.u16 [%q10], %r1;\n st.global.u8 [%q10+3], %r1;\n"
                    ".loc 1 6 0\n ld.global.u32 %r3, [%q10];\n add.u32 %r4, %r3, 1;\n ret;\n",
         32, FINDING_uninitialized_read, 6, "`fresh`", VM_OK},
        {TID PARAMS SHARED ".loc 1 7 0\n ld.shared.u32 %r3, [%r10];\n ret;\n", 32,
         FINDING_uninitialized_read, 7, "shared array `s`", VM_OK},
        {".local .align 4 .b8 depot[16];\n" TID PARAMS
         ".loc 1 8 0\n ld.local.u32 %r3, [depot+4];\n ret;\n",
         32, FINDING_uninitialized_read, 8, "local array", VM_OK},
        {TID PARAMS ".loc 1 9 0\n atom.global.add.u32 %r3, [%q2], 1;\n ret;\n", 32,
         FINDING_uninitialized_read, 9, "`fresh`", VM_OK},
    };
    expect(X, sizeof X / sizeof *X);
    static const char *const CLEAN[] = {
        TID PARAMS "mul.wide.u32 %q10, %r1, 16;\n add.s64 %q10, %q2, %q10;\n"
                   "st.global.v4.u32 [%q10], {%r1,%r1,%r1,%r1};\n"
                   "ld.global.v2.u64 {%q3,%q4}, [%q10];\n ld.global.u8 %r3, [%q10+13];\n ret;\n",
        ".local .align 4 .b8 depot[16];\n" TID PARAMS
        "st.local.u32 [depot+4], %r1;\n ld.local.u32 %r3, [depot+4];\n ret;\n",
        /* a wide load that uses only what was written */
        TID PARAMS "mul.wide.u32 %q10, %r1, 16;\n add.s64 %q10, %q2, %q10;\n"
                   "st.global.u64 [%q10], %q1;\n"
                   ".pragma \"used_bytes_mask 255\";\n"
                   "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%q10];\n ret;\n",
    };
    expect_clean(CLEAN, sizeof CLEAN / sizeof *CLEAN, 64);
}

/* Structures have padding, and are copied as words: what is undefined there counts only once
 * somebody looks at it. */
static void padding(void **state)
{
    (void)state;
#define HALF_WRITTEN                                                                               \
    TID PARAMS "mul.wide.u32 %q10, %r1, 8;\n add.s64 %q10, %q2, %q10;\n"                           \
               "st.global.u32 [%q10], %r1;\n st.global.u8 [%q10+4], %r1;\n"
    static const char *const CARRIED[] = {
        HALF_WRITTEN "ld.global.u64 %q5, [%q10];\n st.global.u64 [%q10+2048], %q5;\n ret;\n",
        HALF_WRITTEN "ld.global.u32 %r3, [%q10+4];\n shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;\n"
                     "st.global.u32 [%q10+2048], %r4;\n ret;\n",
        HALF_WRITTEN "ld.global.u64 %q5, [%q10];\n mov.b64 {%r3,%r4}, %q5;\n"
                     "and.b32 %r5, %r4, 255;\n add.u32 %r3, %r3, %r5;\n ret;\n",
        HALF_WRITTEN "ld.global.u32 %r3, [%q10+4];\n bfe.u32 %r4, %r3, 0, 8;\n"
                     "add.u32 %r5, %r4, %r1;\n ret;\n",
        HALF_WRITTEN "ld.global.u32 %r3, [%q10+4];\n prmt.b32 %r4, %r3, %r1, 0x7650;\n"
                     "add.u32 %r5, %r4, %r1;\n ret;\n",
        HALF_WRITTEN "ld.global.v4.u8 {%r3,%r4,%r5,%r6}, [%q10+4];\n"
                     "st.global.v4.u8 [%q10+2052], {%r3,%r4,%r5,%r6};\n ret;\n",
    };
    expect_clean(CARRIED, sizeof CARRIED / sizeof *CARRIED, 32);
    static const struct expectation USED[] = {
        {HALF_WRITTEN ".loc 1 5 0\n ld.global.u64 %q5, [%q10];\n add.u64 %q6, %q5, 1;\n ret;\n", 32,
         FINDING_uninitialized_read, 5, "reads 8 bytes of which nobody wrote some", VM_OK},
        {HALF_WRITTEN ".loc 1 6 0\n ld.global.u32 %r3, [%q10+4];\n and.b32 %r4, %r3, 0xffff;\n"
                      "setp.eq.u32 %p1, %r4, 3;\n ret;\n",
         32, FINDING_uninitialized_read, 6, "`fresh`", VM_OK},
        {HALF_WRITTEN ".loc 1 7 0\n ld.global.u32 %r3, [%q10+4];\n bfe.u32 %r4, %r3, 4, 8;\n"
                      "add.u32 %r5, %r4, %r1;\n ret;\n",
         32, FINDING_uninitialized_read, 7, "`fresh`", VM_OK},
        {HALF_WRITTEN ".loc 1 8 0\n ld.global.u32 %r3, [%q10+4];\n"
                      "prmt.b32 %r4, %r3, %r1, 0x7651;\n add.u32 %r5, %r4, %r1;\n ret;\n",
         32, FINDING_uninitialized_read, 8, "`fresh`", VM_OK},
        {HALF_WRITTEN ".loc 1 9 0\n ld.global.u8 %r3, [%q10+5];\n"
                      "st.global.u8 [%q10+2053], %r3;\n ret;\n",
         32, FINDING_uninitialized_read, 9, "that nobody wrote", VM_OK},
    };
    expect(USED, sizeof USED / sizeof *USED);
#undef HALF_WRITTEN
}

static void races(void **state)
{
    (void)state;
    static const struct expectation X[] = {
        /* write, then read of another warp's word, no barrier */
        {TID PARAMS SHARED ".loc 1 5 0\n st.shared.u32 [%r10], %r1;\n"
                           "xor.b32 %r3, %r1, 32;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                           ".loc 1 6 0\n ld.shared.u32 %r4, [%r3];\n ret;\n",
         64, FINDING_data_race, 5, "k.cu:6", VM_OK},
        /* the same within a warp: lock-step */
        {TID PARAMS SHARED ".loc 1 7 0\n st.shared.u32 [%r10], %r1;\n"
                           "xor.b32 %r3, %r1, 1;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                           ".loc 1 8 0\n ld.shared.u32 %r4, [%r3];\n ret;\n",
         32, FINDING_data_race, 7, "k.cu:8", VM_OK},
        /* volatile does not help */
        {TID PARAMS SHARED ".loc 1 9 0\n st.volatile.shared.u32 [%r10], %r1;\n"
                           "xor.b32 %r3, %r1, 1;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                           ".loc 1 10 0\n ld.volatile.shared.u32 %r4, [%r3];\n ret;\n",
         32, FINDING_data_race, 9, "k.cu:10", VM_OK},
        /* read of phase k, write of phase k + 1 */
        {TID PARAMS SHARED "st.shared.u32 [%r10], %r1;\n bar.sync 0;\n"
                           "xor.b32 %r3, %r1, 32;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                           ".loc 1 11 0\n ld.shared.u32 %r4, [%r3];\n"
                           ".loc 1 12 0\n st.shared.u32 [%r10], %r4;\n ret;\n",
         64, FINDING_data_race, 12, "k.cu:11", VM_OK},
        /* several lanes, one place, different values */
        {TID PARAMS SHARED ".loc 1 13 0\n st.shared.u32 [s], %r1;\n ret;\n", 32, FINDING_data_race,
         13, "several lanes", VM_OK},
        /* two warps, one place */
        {TID PARAMS SHARED "shr.u32 %r3, %r1, 5;\n .loc 1 14 0\n st.shared.u32 [s], %r3;\n ret;\n",
         64, FINDING_data_race, 14, "writes", VM_OK},
        /* plain against atomic */
        {TID PARAMS SHARED "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra A;\n mov.u32 %r3, 0;\n"
                           ".loc 1 15 0\n st.shared.u32 [s], %r3;\n"
                           "A:\n .loc 1 16 0\n red.shared.add.u32 [s], 1;\n ret;\n",
         64, FINDING_data_race, 16, "k.cu:15", VM_OK},
        /* a barrier of some warps orders only those */
        {TID PARAMS SHARED ".loc 1 17 0\n st.shared.u32 [%r10], %r1;\n"
                           "setp.ge.u32 %p1, %r1, 64;\n @%p1 bra END;\n bar.sync 1, 64;\n"
                           "add.u32 %r3, %r1, 64;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                           ".loc 1 18 0\n ld.shared.u32 %r4, [%r3];\n END:\n ret;\n",
         128, FINDING_data_race, 17, "k.cu:18", VM_OK},
    };
    expect(X, sizeof X / sizeof *X);
}

static void no_races(void **state)
{
    (void)state;
    static const char *const CLEAN[] = {
        TID PARAMS SHARED "st.shared.u32 [%r10], %r1;\n bar.sync 0;\n"
                          "xor.b32 %r3, %r1, 32;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                          "ld.shared.u32 %r4, [%r3];\n bar.sync 0;\n"
                          "st.shared.u32 [%r10], %r4;\n ret;\n",
        TID PARAMS SHARED "st.shared.u32 [%r10], %r1;\n bar.warp.sync -1;\n"
                          "xor.b32 %r3, %r1, 1;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                          "ld.shared.u32 %r4, [%r3];\n bar.warp.sync -1;\n"
                          "st.shared.u32 [%r10], %r4;\n ret;\n",
        /* pairs of lanes sync with each other only */
        TID PARAMS SHARED "st.shared.u32 [%r10], %r1;\n and.b32 %r5, %r1, 30;\n mov.u32 %r6, 3;\n"
                          "shl.b32 %r5, %r6, %r5;\n bar.warp.sync %r5;\n"
                          "xor.b32 %r3, %r1, 1;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
                          "ld.shared.u32 %r4, [%r3];\n ret;\n",
        /* all lanes of a warp write one value */
        TID PARAMS SHARED "setp.ge.u32 %p1, %r1, 32;\n @%p1 bra E;\n mov.u32 %r3, 7;\n"
                          "st.shared.u32 [s], %r3;\n E:\n bar.sync 0;\n"
                          "ld.shared.u32 %r4, [s];\n ret;\n",
        /* a histogram */
        TID PARAMS SHARED "mov.u32 %r3, 0;\n setp.ge.u32 %p1, %r1, 8;\n @%p1 bra E;\n"
                          "st.shared.u32 [%r10], %r3;\n E:\n bar.sync 0;\n"
                          "and.b32 %r4, %r8, 28;\n add.u32 %r4, %r9, %r4;\n"
                          "red.shared.add.u32 [%r4], 1;\n bar.sync 0;\n"
                          "ld.shared.u32 %r5, [%r4];\n ret;\n",
        /* bytes of one word belong to different threads */
        TID PARAMS SHARED "add.u32 %r3, %r9, %r1;\n st.shared.u8 [%r3], %r1;\n"
                          "ld.shared.u8 %r4, [%r3];\n ret;\n",
        /* named barrier of two warps out of two pairs */
        TID PARAMS SHARED
        "st.shared.u32 [%r10], %r1;\n shr.u32 %r5, %r1, 6;\n add.u32 %r5, %r5, 1;\n"
        "bar.sync %r5, 64;\n"
        "xor.b32 %r3, %r1, 32;\n shl.b32 %r3, %r3, 2;\n add.u32 %r3, %r9, %r3;\n"
        "ld.shared.u32 %r4, [%r3];\n ret;\n",
        /* a flag that another warp polls, with fences */
        TID PARAMS SHARED
        "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra A;\n mov.u32 %r3, 0;\n st.shared.u32 [s+1000], %r3;\n"
        "A:\n bar.sync 0;\n setp.eq.u32 %p2, %r1, 0;\n @%p2 bra PRODUCE;\n"
        "setp.eq.u32 %p3, %r1, 32;\n @%p3 bra CONSUME;\n bra END;\n"
        "PRODUCE:\n mov.u32 %r4, 42;\n st.shared.u32 [s], %r4;\n membar.cta;\n mov.u32 %r5, 1;\n"
        "st.volatile.shared.u32 [s+1000], %r5;\n bra END;\n"
        "CONSUME:\n ld.volatile.shared.u32 %r6, [s+1000];\n setp.eq.u32 %p4, %r6, 0;\n"
        "@%p4 bra CONSUME;\n membar.cta;\n ld.shared.u32 %r7, [s];\n END:\n ret;\n",
        /* a spin lock around a plain counter */
        TID PARAMS SHARED
        "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra A;\n mov.u32 %r3, 0;\n"
        "st.shared.v2.u32 [s], {%r3,%r3};\n"
        "A:\n bar.sync 0;\n"
        "SPIN:\n atom.shared.cas.b32 %r5, [s], 0, 1;\n setp.ne.u32 %p2, %r5, 0;\n @%p2 bra SPIN;\n"
        "membar.cta;\n ld.shared.u32 %r6, [s+4];\n add.u32 %r6, %r6, 1;\n"
        "st.shared.u32 [s+4], %r6;\n membar.cta;\n atom.shared.exch.b32 %r7, [s], 0;\n ret;\n",
    };
    expect_clean(CLEAN, sizeof CLEAN / sizeof *CLEAN, 128);
}

static void warp_sync(void **state)
{
    (void)state;
    static const struct expectation X[] = {
        /* a full-mask shuffle in a branch; the others go to a barrier */
        {TID PARAMS "setp.ge.u32 %p1, %r1, 16;\n @%p1 bra J;\n"
                    ".loc 1 5 0\n shfl.sync.up.b32 %r3, %r1, 1, 0, -1;\n"
                    "J:\n .loc 1 6 0\n bar.sync 0;\n ret;\n",
         32, FINDING_warp_sync, 5, "names lane 16", VM_OK},
        /* a lane that its own mask does not name */
        {TID PARAMS ".loc 1 7 0\n shfl.sync.idx.b32 %r3, %r1, 0, 31, 0xffff;\n ret;\n", 32,
         FINDING_warp_sync, 7, "does not name the lane itself", VM_OK},
        /* the source takes no part */
        {TID PARAMS "setp.ge.u32 %p1, %r1, 16;\n @%p1 bra J;\n"
                    ".loc 1 8 0\n shfl.sync.down.b32 %r3, %r1, 8, 31, 0xffff;\n"
                    "st.global.u32 [%q1], %r3;\n J:\n ret;\n",
         32, FINDING_warp_sync, 8, "reads the value of lane 16", VM_OK},
        /* two branches, both with a full mask */
        {TID PARAMS "and.b32 %r4, %r1, 1;\n setp.eq.u32 %p1, %r4, 0;\n @%p1 bra A;\n"
                    ".loc 1 9 0\n vote.sync.ballot.b32 %r3, %p1, -1;\n bra J;\n"
                    "A:\n .loc 1 10 0\n vote.sync.ballot.b32 %r3, %p1, -1;\n J:\n ret;\n",
         32, FINDING_warp_sync, 9, "names lane 0", VM_OK},
    };
    expect(X, sizeof X / sizeof *X);
    static const char *const CLEAN[] = {
        /* a two-lane mask in a branch, then a full one */
        TID PARAMS "and.b32 %r20, %r1, 31;\n setp.ge.u32 %p1, %r20, 2;\n @%p1 bra J;\n"
                   "shfl.sync.bfly.b32 %r3, %r1, 1, 31, 3;\n"
                   "J:\n shfl.sync.bfly.b32 %r4, %r1, 16, 31, -1;\n ret;\n",
        /* logical warps of 8 lanes leave a loop at different times */
        TID PARAMS "and.b32 %r20, %r1, 31;\n and.b32 %r3, %r20, 24;\n mov.u32 %r4, 255;\n"
                   "shl.b32 %r4, %r4, %r3;\n mov.u32 %r5, 0;\n shr.u32 %r6, %r20, 3;\n"
                   "L:\n setp.gt.u32 %p1, %r5, %r6;\n @%p1 bra OUT;\n"
                   "shfl.sync.bfly.b32 %r7, %r1, 1, 6175, %r4;\n add.u32 %r5, %r5, 1;\n bra L;\n"
                   "OUT:\n vote.sync.any.pred %p2, %p1, -1;\n ret;\n",
        /* exited lanes count as arrived */
        TID PARAMS "and.b32 %r20, %r1, 31;\n setp.ge.u32 %p1, %r20, 20;\n @%p1 bra END;\n"
                   "shfl.sync.up.b32 %r3, %r1, 1, 0, -1;\n bar.warp.sync -1;\n END:\n ret;\n",
    };
    expect_clean(CLEAN, sizeof CLEAN / sizeof *CLEAN, 64);
}

/* Results of shuffles, votes, match, redux. */
static void across_lanes(void **state)
{
    (void)state;
    static const char BODY[] = TID PARAMS
        "mul.wide.u32 %q10, %r1, 32;\n add.s64 %q10, %q2, %q10;\n"
        "shfl.sync.up.b32 %r3|%p1, %r1, 3, 0, -1;\n shfl.sync.down.b32 %r4, %r1, 5, 31, -1;\n"
        "shfl.sync.bfly.b32 %r5, %r1, 7, 31, -1;\n"
        "shfl.sync.idx.b32 %r6, %r1, 2, 6175, -1;\n" /* groups of 8 */
        "st.global.v4.u32 [%q10], {%r3,%r4,%r5,%r6};\n"
        "setp.lt.u32 %p2, %r1, 5;\n vote.sync.ballot.b32 %r7, %p2, -1;\n"
        "and.b32 %r8, %r1, 3;\n match.any.sync.b32 %r9, %r8, -1;\n"
        "redux.sync.add.u32 %r10, %r1, -1;\n selp.u32 %r11, 1, 0, %p1;\n"
        "st.global.v4.u32 [%q10+16], {%r7,%r9,%r10,%r11};\n ret;\n";
    struct kit k;
    kit_open_body(&k, BODY);
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, 0);
    uint64_t out = kit_buffer(&k, NULL, 1024, "out");
    uint64_t args[] = {out, out, 0, 0};
    assert_int_equal(kit_launch(&k, "k", 1, 32, args, 4), VM_OK);
    kit_print(&k);
    const uint32_t *v = kit_bytes(&k, out, 1024);
    for (uint32_t l = 0; l < 32; l++, v += 8) {
        assert_int_equal(v[0], l >= 3 ? l - 3 : l);
        assert_int_equal(v[1], l + 5 < 32 ? l + 5 : l);
        assert_int_equal(v[2], l ^ 7);
        assert_int_equal(v[3], (l & 24) + 2);
        assert_int_equal(v[4], 31);
        assert_int_equal(v[5], 0x11111111u << (l & 3));
        assert_int_equal(v[6], 496);
        assert_int_equal(v[7], l >= 3);
    }
    kit_close(&k);
}

/* However a kernel writes to an input, with stores delayed or not, and whether one instruction
 * wrote to something else before: it is told, and the launch goes on. Reading is none. */
static void inputs_are_not_written(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool told;
    } X[] = {
        {TID PARAMS MINE ".loc 1 5 0\n st.global.u32 [%q10], %r1;\n ret;\n", true},
        {TID PARAMS MINE "mov.u32 %r3, 0;\n .loc 1 5 0\n"
                         "atom.global.add.u32 %r4, [%q10], %r3;\n ret;\n",
         true},
        {TID PARAMS MINE ".loc 1 5 0\n red.global.add.u32 [%q10], 1;\n ret;\n", true},
        {TID PARAMS "mov.u32 %r3, 0;\n AGAIN:\n"
                    "setp.eq.u32 %p1, %r3, 3;\n selp.b64 %q3, %q1, %q2, %p1;\n .loc 1 5 0\n"
                    "st.global.u32 [%q3], %r3;\n add.u32 %r3, %r3, 1;\n"
                    "setp.lt.u32 %p2, %r3, 5;\n @%p2 bra AGAIN;\n ret;\n",
         true},
        {TID PARAMS MINE "ld.global.u32 %r3, [%q10];\n mul.wide.u32 %q11, %r1, 4;\n"
                         "add.s64 %q11, %q2, %q11;\n st.global.u32 [%q11], %r3;\n ret;\n",
         false},
    };
    for (size_t i = 0; i < sizeof X / sizeof X[0]; i++)
        for (uint32_t delay = 0; delay < 2; delay++) {
            struct kit k;
            struct wire_finding f;
            struct wire_device_config config = {.checks = WIRE_CHECK_DEFAULT,
                                                .delay_stores = delay};
            uint32_t values[32] = {0};
            kit_open_body(&k, X[i].body);
            vm_configure(k.vm, &config);
            uint64_t in = kit_buffer(&k, values, sizeof values, "in");
            uint64_t out = kit_buffer(&k, NULL, sizeof values, "out"), args[] = {in, out, 0, 0};
            vm_protect(k.vm, in);
            assert_int_equal(kit_launch(&k, "k", 1, 1, args, 4), VM_OK);
            if (kit_find(&k, FINDING_input_written, &f) != X[i].told)
                fail_msg("case %zu, delay %u", i, delay);
            if (X[i].told) {
                assert_int_equal(f.line, 5);
                assert_int_equal(f.severity, WIRE_ERROR);
                assert_non_null(strstr(f.message, "`in`, which is an input"));
            }
            kit_close(&k);
        }
}

/* The kernel of a template whose name has 250 letters. */
static void names_are_cut_between_words(void **state)
{
    (void)state;
    static const struct {
        const char *mangled, *name;
    } X[] = {
        {"_ZN7library6detail18device_scan_kernelINS0_18policy_of_a_kernelIixjfE5agentENS2_"
         "IcsdbEENS2_IcsdfEEEEvPKi",
         "library::detail::device_scan_kernel<...>"},
        {"_ZN2ns6kernelILi256EEEvPii", "ns::kernel<256>"},
    };
    for (size_t i = 0; i < sizeof X / sizeof X[0]; i++) {
        struct kit k;
        struct wire_finding f;
        char ptx[1024];
        snprintf(ptx, sizeof ptx,
                 ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry %s()\n{\n"
                 ".reg .b64 %%q<2>;\n.reg .b32 %%r<2>;\nmov.u64 %%q1, 0;\n"
                 "ld.global.u32 %%r1, [%%q1];\nret;\n}\n",
                 X[i].mangled);
        kit_open(&k, ptx);
        kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, 0);
        kit_launch(&k, X[i].mangled, 1, 1, NULL, 0);
        assert_true(kit_find(&k, FINDING_null_pointer, &f));
        assert_string_equal(f.kernel, X[i].name);
        kit_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(uninitialised),
        cmocka_unit_test(padding),
        cmocka_unit_test(races),
        cmocka_unit_test(no_races),
        cmocka_unit_test(warp_sync),
        cmocka_unit_test(across_lanes),
        cmocka_unit_test(names_are_cut_between_words),
        cmocka_unit_test(inputs_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
