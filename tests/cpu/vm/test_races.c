/* Order among blocks: what is a race on global memory, which fence is missing, and what is none of
 * both. Every case runs under three schedules, which must all say the same. */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 4096 };

/* %r1 thread, %r2 block, %q1 data, %q2 flags (all zero), %q10 data[block], %q11 data[thread] */
#define START                                                                                      \
    "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, 1;\n mov.u32 %r4, 0;\n"          \
    "add.u32 %r5, %r2, 7;\n"                                                                       \
    "ld.param.u64 %q1, [p0];\n ld.param.u64 %q2, [p1];\n"                                          \
    "cvta.to.global.u64 %q1, %q1;\n cvta.to.global.u64 %q2, %q2;\n"                                \
    "mul.wide.u32 %q10, %r2, 4;\n add.s64 %q10, %q1, %q10;\n"                                      \
    "mul.wide.u32 %q11, %r1, 4;\n add.s64 %q11, %q1, %q11;\n"

/* Block 0 hands data[0] over to block 1 through flags[0]: before the data, the data, between, the
 * flag; the wait's load, behind the wait, the load of the data. */
#define HAND_OVER(before, data, between, flag, wait, behind, load)                                 \
    START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n" before " .loc 1 5 0\n" data                \
          " [%q1], %r5;\n" between " .loc 1 6 0\n" flag " bra END;\n"                              \
          "TAKE:\n .loc 1 7 0\n" wait " setp.eq.u32 %p2, %r10, 0;\n @%p2 bra TAKE;\n" behind       \
          " .loc 1 8 0\n" load " %r11, [%q1];\n END:\n ret;\n"
#define PLAIN_FLAG    "st.global.u32 [%q2], %r3;\n"
#define VOLATILE_FLAG "st.volatile.global.u32 [%q2], %r3;\n"
#define RELAXED_FLAG  "st.relaxed.gpu.global.u32 [%q2], %r3;\n"
#define RELEASED_FLAG "st.release.gpu.global.u32 [%q2], %r3;\n"
#define ATOMIC_FLAG   "atom.global.exch.b32 %r9, [%q2], %r3;\n"
#define VOLATILE_WAIT "ld.volatile.global.u32 %r10, [%q2];\n"
#define RELAXED_WAIT  "ld.relaxed.gpu.global.u32 %r10, [%q2];\n"
#define ACQUIRED_WAIT "ld.acquire.gpu.global.u32 %r10, [%q2];\n"
#define ATOMIC_WAIT   "atom.global.add.u32 %r10, [%q2], 0;\n"
#define FENCE         "membar.gl;\n"
#define BLOCK_FENCE   "membar.cta;\n"

/* Four blocks add to a sum, the last to count itself reads it. */
#define LAST_ONE(between, compare)                                                                 \
    START ".loc 1 5 0\n red.global.add.u32 [%q1], %r5;\n" between ".loc 1 6 0\n"                   \
          "atom.global.add.u32 %r9, [%q2], 1;\n" compare " %p1, %r9, 3;\n @%p1 bra END;\n" FENCE   \
          ".loc 1 8 0\n ld.volatile.global.u32 %r11, [%q1];\n st.global.u32 [%q1+64], %r11;\n"     \
          "END:\n ret;\n"

struct order_case {
    const char *name, *body;
    uint32_t grid, block;
    int kind; /* -1: no finding at all */
    uint32_t line;
    const char *words;
    enum wire_severity severity;
};

static const struct order_case CASES[] = {
    /* ---- hand over ---- */
    {"fences",
     HAND_OVER("", "st.global.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT, FENCE, "ld.global.u32"), 2,
     1, -1, 0, "", 0},
    {"no fence",
     HAND_OVER("", "st.global.u32", "", VOLATILE_FLAG, VOLATILE_WAIT, FENCE, "ld.global.u32"), 2, 1,
     FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"block fence",
     HAND_OVER("", "st.global.u32", BLOCK_FENCE, VOLATILE_FLAG, VOLATILE_WAIT, FENCE,
               "ld.global.u32"),
     2, 1, FINDING_missing_fence, 6, "own block only", WIRE_ERROR},
    {"fence before the data",
     HAND_OVER(FENCE, "st.global.u32", "", VOLATILE_FLAG, VOLATILE_WAIT, FENCE, "ld.global.u32"), 2,
     1, FINDING_missing_fence, 6, "before both", WIRE_ERROR},
    {"reader without fence",
     HAND_OVER("", "st.global.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT, "", "ld.global.u32"), 2, 1,
     FINDING_missing_fence, 8, "k.cu:5", WIRE_WARNING},
    {"reader reads volatile",
     HAND_OVER("", "st.global.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT, "",
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 8, "k.cu:5", WIRE_WARNING},
    {"reader and writer volatile",
     HAND_OVER("", "st.volatile.global.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT, "",
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 8, "k.cu:5", WIRE_WARNING},
    {"reader reads relaxed",
     HAND_OVER("", "st.relaxed.gpu.global.u32", FENCE, RELAXED_FLAG, RELAXED_WAIT, "",
               "ld.relaxed.gpu.global.u32"),
     2, 1, FINDING_missing_fence, 8, "k.cu:5", WIRE_WARNING},
    {"volatile data, no fence",
     HAND_OVER("", "st.volatile.global.u32", "", VOLATILE_FLAG, VOLATILE_WAIT, "",
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"volatile data, fences",
     HAND_OVER("", "st.volatile.global.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, -1, 0, "", 0},
    {"release and acquire",
     HAND_OVER("", "st.global.u32", "", RELEASED_FLAG, ACQUIRED_WAIT, "", "ld.global.u32"), 2, 1,
     -1, 0, "", 0},
    {"relaxed and acquire",
     HAND_OVER("", "st.global.u32", "", RELAXED_FLAG, ACQUIRED_WAIT, "", "ld.global.u32"), 2, 1,
     FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"release and relaxed",
     HAND_OVER("", "st.global.u32", "", RELEASED_FLAG, RELAXED_WAIT, "", "ld.global.u32"), 2, 1,
     FINDING_missing_fence, 8, "k.cu:6", WIRE_WARNING},
    {"fences around relaxed",
     HAND_OVER("", "st.global.u32", "fence.acq_rel.gpu;\n", RELAXED_FLAG, RELAXED_WAIT,
               "fence.acq_rel.gpu;\n", "ld.global.u32"),
     2, 1, -1, 0, "", 0},
    {"atomics and fences",
     HAND_OVER("", "st.global.u32", FENCE, ATOMIC_FLAG, ATOMIC_WAIT, FENCE, "ld.global.u32"), 2, 1,
     -1, 0, "", 0},
    {"atomics, no fence",
     HAND_OVER("", "st.global.u32", "", ATOMIC_FLAG, ATOMIC_WAIT, FENCE, "ld.global.u32"), 2, 1,
     FINDING_missing_fence, 6, "__threadfence()", WIRE_ERROR},
    {"releasing atomic",
     HAND_OVER("", "st.global.u32", "", "atom.release.gpu.global.add.u32 %r9, [%q2], 1;\n",
               ACQUIRED_WAIT, "", "ld.global.u32"),
     2, 1, -1, 0, "", 0},
    {"plain flag",
     HAND_OVER("", "st.global.u32", FENCE, PLAIN_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, FINDING_data_race, 6, "k.cu:7", WIRE_ERROR},
    {"flag read again plainly",
     HAND_OVER("", "st.global.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT,
               FENCE "ld.global.u32 %r12, [%q2];\n", "ld.global.u32"),
     2, 1, -1, 0, "", 0},
    /* ---- several threads, several blocks ---- */
    {"barrier, then fence and flag",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n st.global.u32 [%q11], %r5;\n bar.sync 0;\n"
           "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra END;\n" FENCE VOLATILE_FLAG "bra END;\n"
           "TAKE:\n setp.ne.u32 %p3, %r1, 0;\n @%p3 bra JOIN;\n"
           "WAIT:\n" VOLATILE_WAIT "setp.eq.u32 %p4, %r10, 0;\n @%p4 bra WAIT;\n" FENCE
           "JOIN:\n bar.sync 0;\n ld.global.u32 %r11, [%q11];\n END:\n ret;\n",
     2, 64, -1, 0, "", 0},
    {"every thread a fence, barrier, flag",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n st.global.u32 [%q11], %r5;\n" FENCE
           "bar.sync 0;\n setp.ne.u32 %p2, %r1, 0;\n @%p2 bra END;\n" VOLATILE_FLAG "bra END;\n"
           "TAKE:\n setp.ne.u32 %p3, %r1, 0;\n @%p3 bra JOIN;\n"
           "WAIT:\n" VOLATILE_WAIT "setp.eq.u32 %p4, %r10, 0;\n @%p4 bra WAIT;\n" FENCE
           "JOIN:\n bar.sync 0;\n ld.global.u32 %r11, [%q11];\n END:\n ret;\n",
     2, 64, -1, 0, "", 0},
    {"fence and flag, no barrier before",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n .loc 1 5 0\n st.global.u32 [%q11], %r5;\n"
           "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra END;\n" FENCE VOLATILE_FLAG "bra END;\n"
           "TAKE:\n setp.ne.u32 %p3, %r1, 0;\n @%p3 bra JOIN;\n"
           "WAIT:\n" VOLATILE_WAIT "setp.eq.u32 %p4, %r10, 0;\n @%p4 bra WAIT;\n" FENCE
           "JOIN:\n bar.sync 0;\n .loc 1 8 0\n ld.global.u32 %r11, [%q11];\n END:\n ret;\n",
     2, 64, FINDING_data_race, 5, "k.cu:8", WIRE_ERROR},
    {"a release sequence of tickets",
     START "st.global.u32 [%q10], %r5;\n" FENCE "atom.global.add.u32 %r9, [%q2], 1;\n"
           "setp.ne.u32 %p1, %r9, 3;\n @%p1 bra END;\n" FENCE
           "ld.global.u32 %r11, [%q1];\n ld.global.u32 %r12, [%q1+4];\n"
           "ld.global.u32 %r13, [%q1+8];\n st.global.u32 [%q2], %r4;\n END:\n ret;\n",
     4, 1, -1, 0, "", 0},
    {"tickets without fences",
     START ".loc 1 5 0\n st.global.u32 [%q10], %r5;\n .loc 1 6 0\n"
           "atom.global.add.u32 %r9, [%q2], 1;\n setp.ne.u32 %p1, %r9, 3;\n @%p1 bra END;\n"
           ".loc 1 8 0\n ld.global.u32 %r11, [%q1];\n ld.global.u32 %r12, [%q1+4];\n"
           "ld.global.u32 %r13, [%q1+8];\n END:\n ret;\n",
     4, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"an update in steps",
     START " .loc 1 5 0\n ld.global.u32 %r11, [%q1];\n add.u32 %r12, %r11, %r3;\n"
           "st.global.u32 [%q1], %r12;\n ret;\n",
     2, 1, FINDING_data_race, 5, "atomicAdd does it in one", WIRE_ERROR},
    {"an update in steps by lanes",
     START " .loc 1 5 0\n ld.global.u32 %r11, [%q1+4];\n shl.b32 %r12, %r11, 1;\n"
           "or.b32 %r13, %r3, %r12;\n st.global.u32 [%q1+4], %r13;\n ret;\n",
     1, 2, FINDING_data_race, 5, "atomicAdd does it in one", WIRE_ERROR},
    {"each its own, and the neighbour's", /* a[t] += a[t + 1]: no atomic helps */
     START " .loc 1 5 0\n ld.global.u32 %r11, [%q11];\n ld.global.u32 %r12, [%q11+4];\n"
           "add.u32 %r12, %r11, %r12;\n st.global.u32 [%q11], %r12;\n ret;\n",
     1, 2, FINDING_data_race, 5, "__syncwarp orders them", WIRE_ERROR},
    {"a lock",
     START "SPIN:\n atom.global.cas.b32 %r9, [%q2], 0, 1;\n setp.ne.u32 %p1, %r9, 0;\n"
           "@%p1 bra SPIN;\n" FENCE "ld.global.u32 %r10, [%q1];\n add.u32 %r10, %r10, 1;\n"
           "st.global.u32 [%q1], %r10;\n" FENCE "atom.global.exch.b32 %r9, [%q2], 0;\n ret;\n",
     4, 1, -1, 0, "", 0},
    {"the lock read by its owner",
     START "SPIN:\n atom.global.cas.b32 %r9, [%q2], 0, 1;\n setp.ne.u32 %p1, %r9, 0;\n"
           "@%p1 bra SPIN;\n" FENCE "ld.global.u32 %r10, [%q2];\n" FENCE
           "atom.global.exch.b32 %r9, [%q2], 0;\n ret;\n",
     4, 1, -1, 0, "", 0},
    {"nothing orders blocks",
     START ".loc 1 5 0\n st.global.u32 [%q10], %r5;\n bar.sync 0;\n .loc 1 6 0\n"
           "ld.global.u32 %r10, [%q1];\n ld.global.u32 %r11, [%q1+4];\n ret;\n",
     2, 1, FINDING_data_race, 5, "one block only", WIRE_ERROR},
    {"nothing orders warps",
     START ".loc 1 5 0\n st.global.u32 [%q11], %r5;\n xor.b32 %r6, %r1, 32;\n"
           "mul.wide.u32 %q12, %r6, 4;\n add.s64 %q12, %q1, %q12;\n .loc 1 6 0\n"
           "ld.global.u32 %r10, [%q12];\n ret;\n",
     1, 64, FINDING_data_race, 5, "__syncthreads is missing", WIRE_ERROR},
    {"a barrier orders warps",
     START "st.global.u32 [%q11], %r5;\n xor.b32 %r6, %r1, 32;\n bar.sync 0;\n"
           "mul.wide.u32 %q12, %r6, 4;\n add.s64 %q12, %q1, %q12;\n ld.global.u32 %r10, [%q12];\n"
           "ret;\n",
     1, 64, -1, 0, "", 0},
    /* ---- kinds of access ---- */
    {"read-only cache",
     START ".loc 1 5 0\n st.global.u32 [%q10], %r5;\n .loc 1 6 0\n"
           "ld.global.nc.u32 %r10, [%q10];\n ret;\n",
     2, 1, FINDING_data_race, 5, "read-only cache", WIRE_ERROR},
    {"read-only cache, elsewhere",
     START "ld.global.nc.u32 %r10, [%q2];\n st.global.u32 [%q10], %r10;\n ret;\n", 2, 1, -1, 0, "",
     0},
    {"a volatile counter",
     START "ld.volatile.global.u32 %r10, [%q1];\n add.u32 %r11, %r10, 1;\n .loc 1 5 0\n"
           "st.volatile.global.u32 [%q1], %r11;\n ret;\n",
     4, 1, FINDING_data_race, 5, "updates get lost", WIRE_ERROR},
    {"a plain counter",
     START ".loc 1 4 0\n ld.global.u32 %r10, [%q1];\n add.u32 %r10, %r10, 1;\n .loc 1 5 0\n"
           "st.global.u32 [%q1], %r10;\n ret;\n",
     4, 1, FINDING_data_race, 5, "k.cu:", WIRE_ERROR},
    {"an atomic counter", START "red.global.add.u32 [%q1], 1;\n ret;\n", 4, 64, -1, 0, "", 0},
    {"a block's atomic counter",
     START ".loc 1 5 0\n atom.cta.global.add.u32 %r9, [%q1], 1;\n ret;\n", 4, 1, FINDING_data_race,
     5, "its scope has to be the device", WIRE_ERROR},
    {"cleared by one block",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra ADD;\n .loc 1 5 0\n st.global.u32 [%q1], %r4;\n"
           "ADD:\n .loc 1 6 0\n red.global.add.u32 [%q1], 1;\n ret;\n",
     4, 1, FINDING_data_race, 6, "k.cu:5", WIRE_ERROR},
    {"all store the same", START "st.global.u32 [%q1], %r3;\n ret;\n", 4, 64, -1, 0, "", 0},
    {"blocks store different values", START ".loc 1 5 0\n st.global.u32 [%q1], %r5;\n ret;\n", 4, 1,
     FINDING_data_race, 5, "of block", WIRE_ERROR},
    {"lanes store different values", START ".loc 1 5 0\n st.global.u32 [%q1], %r1;\n ret;\n", 1, 32,
     FINDING_data_race, 5, "several lanes", WIRE_ERROR},
    {"bytes side by side",
     START "mul.wide.u32 %q12, %r2, 1;\n add.s64 %q12, %q1, %q12;\n st.global.u8 [%q12], %r5;\n"
           "ld.global.u8 %r9, [%q12];\n ret;\n",
     8, 1, -1, 0, "", 0},
    {"a word and its byte",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n .loc 1 5 0\n st.global.u32 [%q1], %r5;\n"
           "bra END;\n B:\n .loc 1 6 0\n ld.global.u8 %r9, [%q1+2];\n END:\n ret;\n",
     2, 1, FINDING_data_race, 5, "k.cu:6", WIRE_ERROR},
    {"halves stored, read whole",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n .loc 1 5 0\n"
           "st.volatile.global.u32 [%q1+4], %r5;\n bra END;\n B:\n .loc 1 6 0\n"
           "ld.volatile.global.u64 %q3, [%q1];\n END:\n ret;\n",
     2, 1, FINDING_data_race, 5, "by accesses of 4 bytes", WIRE_ERROR},
    {"stored whole, half of it read",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n .loc 1 5 0\n"
           "st.relaxed.gpu.global.u64 [%q1], %q3;\n bra END;\n B:\n .loc 1 6 0\n"
           "ld.relaxed.gpu.global.u32 %r9, [%q1+4];\n END:\n ret;\n",
     2, 1, FINDING_data_race, 5, "one of 8 bytes", WIRE_ERROR},
    {"a word and a byte of it, both atomic",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n .loc 1 5 0\n"
           "red.global.add.u32 [%q1], 1;\n bra END;\n B:\n .loc 1 6 0\n"
           "ld.volatile.global.u8 %r9, [%q1+3];\n END:\n ret;\n",
     2, 1, FINDING_data_race, 5, "different sizes", WIRE_ERROR},
    {"a pair of words, read one by one",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n"
           "st.volatile.global.v2.u32 [%q1], {%r5,%r5};\n bra END;\n B:\n"
           "ld.volatile.global.u32 %r9, [%q1+4];\n END:\n ret;\n",
     2, 1, -1, 0, "", 0},
    {"the other half",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n"
           "st.volatile.global.u32 [%q1], %r5;\n bra END;\n B:\n"
           "ld.volatile.global.u64 %q3, [%q1+8];\n END:\n ret;\n",
     2, 1, -1, 0, "", 0},
    {"a lock taken without a fence",
     START "SPIN:\n .loc 1 5 0\n atom.global.cas.b32 %r9, [%q2], 0, 1;\n"
           "setp.ne.u32 %p1, %r9, 0;\n @%p1 bra SPIN;\n .loc 1 6 0\n"
           "ld.volatile.global.u32 %r10, [%q1];\n add.u32 %r10, %r10, %r5;\n .loc 1 7 0\n"
           "st.global.u32 [%q1], %r10;\n" FENCE ".loc 1 8 0\n"
           "atom.global.exch.b32 %r9, [%q2], 0;\n ret;\n",
     4, 1, FINDING_missing_fence, 6, "k.cu:8", WIRE_WARNING},
    {"a lock given up without a fence",
     START "SPIN:\n .loc 1 5 0\n atom.global.cas.b32 %r9, [%q2], 0, 1;\n"
           "setp.ne.u32 %p1, %r9, 0;\n @%p1 bra SPIN;\n" FENCE ".loc 1 6 0\n"
           "ld.global.u32 %r10, [%q1];\n add.u32 %r10, %r10, 1;\n .loc 1 7 0\n"
           "st.global.u32 [%q1], %r10;\n .loc 1 8 0\n atom.global.exch.b32 %r9, [%q2], 0;\n"
           "ret;\n",
     4, 1, FINDING_missing_fence, 8, "__threadfence()", WIRE_ERROR},
    /* ---- value and flag both strong ---- */
    {"exchanged data, no fence",
     HAND_OVER("", "atom.global.exch.b32 %r9,", "", ATOMIC_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"exchanged data, block fence",
     HAND_OVER("", "atom.global.exch.b32 %r9,", BLOCK_FENCE, ATOMIC_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "own block only", WIRE_ERROR},
    {"exchanged data, __syncwarp",
     HAND_OVER("", "atom.global.exch.b32 %r9,", "bar.warp.sync 1;\n", ATOMIC_FLAG, VOLATILE_WAIT,
               FENCE, "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"exchanged data, fences",
     HAND_OVER("", "atom.global.exch.b32 %r9,", FENCE, ATOMIC_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, -1, 0, "", 0},
    {"exchanged data, released flag",
     HAND_OVER("", "atom.global.exch.b32 %r9,", "", RELEASED_FLAG, ACQUIRED_WAIT, "",
               "ld.relaxed.gpu.global.u32"),
     2, 1, -1, 0, "", 0},
    {"exchanged data, reader without fence",
     HAND_OVER("", "atom.global.exch.b32 %r9,", FENCE, ATOMIC_FLAG, VOLATILE_WAIT, "",
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 8, "k.cu:5", WIRE_WARNING},
    {"exchanged data whose old value is used",
     HAND_OVER("", "atom.global.exch.b32 %r9,", "st.global.u32 [%q1+64], %r9;\n", ATOMIC_FLAG,
               VOLATILE_WAIT, FENCE, "ld.volatile.global.u32"),
     2, 1, -1, 0, "", 0},
    {"relaxed data, no fence",
     HAND_OVER("", "st.relaxed.gpu.global.u32", "", RELAXED_FLAG, RELAXED_WAIT, FENCE,
               "ld.relaxed.gpu.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"added data, no fence",
     HAND_OVER("", "red.global.add.u32", "", VOLATILE_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"added data, fence",
     HAND_OVER("", "red.global.add.u32", FENCE, VOLATILE_FLAG, VOLATILE_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, -1, 0, "", 0},
    {"or'ed data, no fence",
     HAND_OVER("", "atom.global.or.b32 %r9,", "", ATOMIC_FLAG, ATOMIC_WAIT, FENCE,
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"exchanged data, read by adding 0",
     HAND_OVER("", "atom.global.exch.b32 %r9,", "", ATOMIC_FLAG, ATOMIC_WAIT,
               FENCE ".loc 1 9 0\n atom.global.add.u32 %r12, [%q1], 0;\n"
                     "st.global.u32 [%q1+64], %r12;\n",
               "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:9", WIRE_ERROR},
    {"exchanged data, stored over",
     HAND_OVER("", "atom.global.exch.b32 %r9,", "", ATOMIC_FLAG, VOLATILE_WAIT,
               FENCE ".loc 1 9 0\n st.volatile.global.u32 [%q1], %r3;\n", "ld.volatile.global.u32"),
     2, 1, FINDING_missing_fence, 6, "k.cu:9", WIRE_ERROR},
    {"exchanged data, read in the loop that waits",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n .loc 1 5 0\n"
           "atom.global.exch.b32 %r9, [%q1], %r5;\n .loc 1 6 0\n" ATOMIC_FLAG "bra END;\n"
           "TAKE:\n .loc 1 7 0\n" VOLATILE_WAIT FENCE ".loc 1 8 0\n"
           "ld.volatile.global.u32 %r11, [%q1];\n setp.eq.u32 %p2, %r10, 0;\n @%p2 bra TAKE;\n"
           "st.global.u32 [%q1+64], %r11;\n END:\n ret;\n",
     2, 1, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"a barrier, then the flag of another thread",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n .loc 1 5 0\n"
           "atom.global.exch.b32 %r9, [%q11], %r5;\n bar.sync 0;\n"
           "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra END;\n .loc 1 6 0\n" ATOMIC_FLAG "bra END;\n"
           "TAKE:\n setp.ne.u32 %p3, %r1, 0;\n @%p3 bra JOIN;\n"
           "WAIT:\n" VOLATILE_WAIT "setp.eq.u32 %p4, %r10, 0;\n @%p4 bra WAIT;\n" FENCE
           "JOIN:\n bar.sync 0;\n ld.volatile.global.u32 %r11, [%q11];\n END:\n ret;\n",
     2, 64, FINDING_missing_fence, 6, "k.cu:5", WIRE_ERROR},
    {"a barrier, then fence and flag of another thread",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra TAKE;\n"
           "atom.global.exch.b32 %r9, [%q11], %r5;\n bar.sync 0;\n"
           "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra END;\n" FENCE ATOMIC_FLAG "bra END;\n"
           "TAKE:\n setp.ne.u32 %p3, %r1, 0;\n @%p3 bra JOIN;\n"
           "WAIT:\n" VOLATILE_WAIT "setp.eq.u32 %p4, %r10, 0;\n @%p4 bra WAIT;\n" FENCE
           "JOIN:\n bar.sync 0;\n ld.volatile.global.u32 %r11, [%q11];\n END:\n ret;\n",
     2, 64, -1, 0, "", 0},
    {"a sum, the last one reads it", LAST_ONE("", "setp.ne.u32"), 4, 1, FINDING_missing_fence, 6,
     "k.cu:5", WIRE_ERROR},
    {"a sum, the last one reads it, fence", LAST_ONE(FENCE, "setp.ne.u32"), 4, 1, -1, 0, "", 0},
    {"a sum so far, tickets", LAST_ONE("", "setp.lt.u32"), 4, 1, -1, 0, "", 0},
    {"a sum so far, behind a flag of one of those that add",
     START "mul.wide.u32 %q12, %r2, 4;\n add.s64 %q12, %q2, %q12;\n red.global.add.u32 [%q1], 1;\n"
           "st.volatile.global.u32 [%q12], %r3;\n setp.ne.u32 %p1, %r2, 3;\n @%p1 bra END;\n"
           "WAIT:\n" VOLATILE_WAIT "setp.eq.u32 %p4, %r10, 0;\n @%p4 bra WAIT;\n" FENCE
           "ld.volatile.global.u32 %r11, [%q1];\n END:\n ret;\n",
     6, 1, -1, 0, "", 0},
    {"a vector and its part",
     START "setp.ne.u32 %p1, %r2, 0;\n @%p1 bra B;\n .loc 1 5 0\n"
           "st.global.v4.u32 [%q1], {%r5,%r5,%r5,%r5};\n bra END;\n B:\n .loc 1 6 0\n"
           "ld.global.u32 %r9, [%q1+12];\n END:\n ret;\n",
     2, 1, FINDING_data_race, 5, "k.cu:6", WIRE_ERROR},
};

static void open_case(struct kit *k, const char *body, enum wire_schedule schedule, uint32_t checks,
                      uint64_t args[4])
{
    static const uint32_t zeros[BYTES / 4];
    kit_open_body(k, body);
    kit_configure(k, schedule, checks, 5);
    args[0] = kit_buffer(k, zeros, BYTES, "data");
    args[1] = kit_buffer(k, zeros, BYTES, "flags");
    args[2] = args[3] = 0;
}

static void orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (int s = WIRE_IN_ORDER; s <= WIRE_RANDOM; s++) {
            const struct order_case *c = &CASES[i];
            struct kit k;
            struct wire_finding f;
            uint64_t args[4];
            open_case(&k, c->body, (enum wire_schedule)s, WIRE_CHECK_DEFAULT, args);
            assert_int_equal(kit_launch(&k, "k", c->grid, c->block, args, 4), VM_OK);
            size_t count = vm_findings(k.vm, &f, 1);
            bool right = c->kind < 0
                             ? count == 0
                             : kit_find(&k, (enum finding_kind)c->kind, &f) && f.line == c->line &&
                                   strstr(f.message, c->words) && f.severity == c->severity;
            if (!right) {
                kit_print(&k);
                fail_msg("%s, schedule %d", c->name, s);
            }
            kit_close(&k);
        }
}

/* Without the check nothing is found, and flags still order shared memory. */
static void switched_off(void **state)
{
    (void)state;
    const uint32_t checks = WIRE_CHECK_DEFAULT & ~(uint32_t)WIRE_CHECK_GLOBAL_RACES;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct kit k;
        struct wire_finding f;
        uint64_t args[4];
        open_case(&k, CASES[i].body, WIRE_IN_ORDER, checks, args);
        kit_launch(&k, "k", CASES[i].grid, CASES[i].block, args, 4);
        assert_int_equal(vm_findings(k.vm, &f, 1), 0);
        kit_close(&k);
    }
}

/* ---- launches and operations ---- */

static bool never(void *context, uint32_t earlier)
{
    (void)context, (void)earlier;
    return false;
}

static bool always(void *context, uint32_t earlier)
{
    (void)context, (void)earlier;
    return true;
}

static void begin(struct kit *k, uint32_t oldest, bool (*before)(void *, uint32_t),
                  const char *what)
{
    struct vm_operation o = {.oldest_unordered = oldest, .comes_before = before, .what = what};
    vm_begin_operation(k->vm, &o);
}

#define EVERY_THREAD START ".loc 1 5 0\n st.global.u32 [%q11], %r5;\n ret;\n"

static void kernels_in_order(void **state)
{
    (void)state;
    struct kit k;
    struct wire_finding f;
    uint64_t args[4];
    open_case(&k, START "ld.global.u32 %r9, [%q1];\n st.global.u32 [%q11], %r2;\n ret;\n",
              WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, args);
    for (int run = 0; run < 3; run++)
        kit_launch(&k, "k", 1, 1, args, 4);
    assert_int_equal(vm_findings(k.vm, &f, 1), 0);
    kit_close(&k);
}

static void operations(void **state)
{
    (void)state;
    static const struct {
        const char *first; /* k: a kernel; r, w: the host reads, writes */
        const char *second;
        bool ordered, found;
    } X[] = {
        {"k", "k", false, true}, {"k", "r", false, true},  {"k", "w", false, true},
        {"r", "k", false, true}, {"w", "k", false, true},  {"w", "w", false, true},
        {"w", "r", false, true}, {"r", "r", false, false}, {"k", "r", true, false},
        {"w", "k", true, false}, {"w", "w", true, false},
    };
    for (size_t i = 0; i < sizeof X / sizeof *X; i++) {
        struct kit k;
        struct wire_finding f = {0};
        uint64_t args[4];
        open_case(&k, EVERY_THREAD, WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, args);
        const char *steps[] = {X[i].first, X[i].second};
        for (uint32_t step = 0; step < 2; step++) {
            begin(&k, step, X[i].ordered ? always : never, step ? "the second" : "the first");
            if (*steps[step] == 'k')
                kit_launch(&k, "k", 1, 64, args, 4);
            else if (*steps[step] == 'r')
                vm_operation_reads(k.vm, args[0] + 16, 64);
            else
                vm_operation_writes(k.vm, args[0] + 16, 64);
        }
        bool found = kit_find(&k, FINDING_data_race, &f);
        if (found != X[i].found ||
            (found && (!strstr(f.message, "the first") || !strstr(f.message, "the second")))) {
            kit_print(&k);
            fail_msg("operations: %s then %s", X[i].first, X[i].second);
        }
        kit_close(&k);
    }
}

/* Memory that was freed and is handed out again starts anew, whatever the order of operations. */
static void starts_anew(void **state)
{
    (void)state;
    struct kit k;
    struct wire_finding f;
    uint64_t args[4];
    open_case(&k, EVERY_THREAD, WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, args);
    begin(&k, 0, NULL, "the first");
    kit_launch(&k, "k", 1, 64, args, 4);
    vm_free_memory(k.vm, args[0]);
    args[0] = kit_buffer(&k, NULL, BYTES, "other");
    begin(&k, 1, never, "the second");
    kit_launch(&k, "k", 1, 64, args, 4);
    vm_operation_reads(k.vm, args[0], BYTES);
    assert_int_equal(vm_findings(k.vm, &f, 1), 0);
    kit_close(&k);
}

/* A chain of many blocks, each of which waits for the one before: what is known grows with every
 * link and must neither be lost nor cost the square of their number. */
static void long_chain(void **state)
{
    (void)state;
    static const char BODY[] =
        START "add.s64 %q12, %q10, 4;\n sub.s64 %q13, %q10, %q1;\n add.s64 %q13, %q2, %q13;\n"
              "setp.eq.u32 %p1, %r2, 0;\n @%p1 bra GO;\n"
              "WAIT:\n ld.acquire.gpu.global.u32 %r10, [%q13+-4];\n setp.eq.u32 %p2, %r10, 0;\n"
              "@%p2 bra WAIT;\n ld.global.u32 %r11, [%q10+-4];\n ld.global.u32 %r12, [%q1];\n"
              "GO:\n st.global.u32 [%q10], %r5;\n st.release.gpu.global.u32 [%q13], %r3;\n ret;\n";
    struct kit k;
    struct wire_finding f;
    uint64_t args[4];
    open_case(&k, BODY, WIRE_RANDOM, WIRE_CHECK_DEFAULT, args);
    assert_int_equal(kit_launch(&k, "k", BYTES / 4, 1, args, 4), VM_OK);
    if (vm_findings(k.vm, &f, 1)) {
        kit_print(&k);
        fail_msg("a chain of %d blocks", BYTES / 4);
    }
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),     cmocka_unit_test(switched_off),
        cmocka_unit_test(operations), cmocka_unit_test(kernels_in_order),
        cmocka_unit_test(long_chain), cmocka_unit_test(starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
