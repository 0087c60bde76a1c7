/* Counters against what they come to by hand. Each kernel is in counters.cu; what is not named in a
 * row is 0. Instructions are those of counters.ptx, counted line by line, where a row has them. */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { IN_BYTES = 65536, OUT_BYTES = 65536 };
#define IN  UINT64_MAX       /* stands for the address of a buffer of small numbers */
#define OUT (UINT64_MAX - 1) /* ... of another one */

struct row {
    const char *kernel;
    uint32_t grid, block;
    uint64_t shared; /* dynamic */
    uint64_t args[3];
    bool any_instructions; /* not counted by hand */
    uint64_t want[COUNTER_COUNT];
};

static uint64_t argument(uint64_t a, uint64_t in, uint64_t out)
{
    return a == IN ? in : a == OUT ? out : a;
}

static void launch(struct kit *k, const struct row *r, uint64_t in, uint64_t out)
{
    struct vm_kernel_info info;
    struct vm_kernel *kernel = vm_module_kernel(k->module, r->kernel);
    uint8_t params[64] = {0};
    assert_non_null(kernel);
    vm_kernel_info(kernel, &info);
    for (uint32_t i = 0; i < info.param_count; i++) {
        uint64_t a = argument(r->args[i], in, out);
        memcpy(params + info.param_offsets[i], &a, info.param_sizes[i]);
    }
    struct vm_launch launch = {.grid = {r->grid, 1, 1},
                               .block = {r->block, 1, 1},
                               .dynamic_shared = r->shared,
                               .params = params};
    assert_int_equal(vm_launch(k->vm, kernel, &launch), VM_OK);
}

static void compare(const struct row *r, const struct wire_counters *got, const char *when)
{
    for (int c = 0; c < COUNTER_COUNT; c++) {
        bool is_instructions = c == COUNTER_instructions || c == COUNTER_warp_instructions;
        if (is_instructions && r->any_instructions)
            continue;
        uint64_t want = c == COUNTER_kernel_launches ? 1 : r->want[c];
        if (got->value[c] != want)
            fail_msg("%s(%lld, %lld, %lld), %s: %s is %llu, by hand %llu", r->kernel,
                     (long long)r->args[0], (long long)r->args[1], (long long)r->args[2], when,
                     counter_name((enum counter)c), (unsigned long long)got->value[c],
                     (unsigned long long)want);
    }
}

/* Under every schedule, with counters alone and with every check. */
static void run(const struct row *r)
{
    static const uint32_t CHECKS[] = {WIRE_CHECK_COUNTERS,
                                      WIRE_CHECK_COUNTERS | WIRE_CHECK_DEFAULT};
    static int32_t numbers[IN_BYTES / 4];
    for (int i = 0; i < IN_BYTES / 4; i++)
        numbers[i] = i % 7 - 3;
    for (int s = WIRE_IN_ORDER; s <= WIRE_RANDOM; s++)
        for (size_t c = 0; c < 2; c++) {
            struct kit k;
            struct wire_counters got;
            kit_open_file(&k, "counters.ptx");
            kit_configure(&k, (enum wire_schedule)s, CHECKS[c], 5);
            uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
            uint64_t out = kit_buffer(&k, numbers, OUT_BYTES, "out");
            launch(&k, r, in, out);
            vm_counters(k.vm, &got);
            compare(r, &got, wire_schedule_name((enum wire_schedule)s));
            kit_close(&k);
        }
}

#define G_READ(bytes)    [COUNTER_global_bytes_read] = (bytes)
#define G_WRITTEN(bytes) [COUNTER_global_bytes_written] = (bytes)
#define G(requests, sectors)                                                                       \
    [COUNTER_global_requests] = (requests), [COUNTER_global_sectors] = (sectors)
#define S(requests, conflicts)                                                                     \
    [COUNTER_shared_requests] = (requests), [COUNTER_shared_bank_conflicts] = (conflicts)
#define BARRIERS(warps, blocks) [COUNTER_barriers] = (warps), [COUNTER_block_barriers] = (blocks)
#define INSTRUCTIONS(lanes, warps)                                                                 \
    [COUNTER_instructions] = (lanes), [COUNTER_warp_instructions] = (warps)

static void global_accesses(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        /* 4 blocks of 8 warps; a warp reads 128 bytes, which are 4 sectors, and writes as many.
         * 14 instructions. */
        {"copy",
         4,
         256,
         0,
         {IN, OUT},
         false,
         {G_READ(4096), G_WRITTEN(4096), G(64, 32 * 8), INSTRUCTIONS(14 * 1024, 14 * 32)}},
        /* 8 warps. With step 2 a warp's 32 words lie in 256 bytes, 8 sectors; with step 8 and more
         * every word has its own sector; with step 0 all have one. The store has 4. */
        {"stride", 1, 256, 0, {IN, OUT, 2}, true, {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 12)}},
        {"stride", 1, 256, 0, {IN, OUT, 8}, true, {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 36)}},
        {"stride", 1, 256, 0, {IN, OUT, 32}, true, {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 36)}},
        {"stride", 1, 256, 0, {IN, OUT, 0}, true, {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 5)}},
        /* Bytes 4 to 131 of a line touch 5 sectors; shifted by a whole sector, 4. */
        {"shifted", 1, 256, 0, {IN, OUT, 1}, true, {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 9)}},
        {"shifted", 1, 256, 0, {IN, OUT, 8}, true, {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 8)}},
        /* 2 warps; 32 lanes of 16 bytes are 512 bytes, 16 sectors. */
        {"copy_vectors", 1, 64, 0, {IN, OUT}, true, {G_READ(1024), G_WRITTEN(1024), G(4, 64)}},
        /* 8 warps. Constants are no global memory, whether one for all or one for each thread. */
        {"constants",
         1,
         256,
         0,
         {IN, OUT},
         true,
         {G_READ(1024), G_WRITTEN(1024), G(16, 8 * 8), [COUNTER_additions] = 512}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        run(&ROWS[i]);
}

/* One warp, a store and a load each. Every lane then stores to out[0], which is one sector. */
#define ONE_STORE(bytes) G_WRITTEN(32 * (bytes)), G(1, 1), BARRIERS(1, 1)

static void shared_accesses(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        /* Words in a row have a bank each; one word for all is a broadcast; with step 2 lanes t and
         * t + 16 meet, which costs one extra pass; with step 32 all meet, which costs 31; step 33
         * is the padded column of a matrix. 14 instructions. */
        {"shared_words",
         1,
         32,
         4096,
         {OUT, 1},
         false,
         {S(2, 0), ONE_STORE(4), INSTRUCTIONS(32 * 14, 14)}},
        {"shared_words", 1, 32, 4096, {OUT, 0}, true, {S(2, 0), ONE_STORE(4)}},
        {"shared_words", 1, 32, 4096, {OUT, 2}, true, {S(2, 2), ONE_STORE(4)}},
        {"shared_words", 1, 32, 4096, {OUT, 32}, true, {S(2, 62), ONE_STORE(4)}},
        {"shared_words", 1, 32, 4608, {OUT, 33}, true, {S(2, 0), ONE_STORE(4)}},
        /* Of 8 bytes: two half-warps. In a row each half has 32 words in 32 banks; with step 2
         * lanes t and t + 8 of a half meet in both their banks, one extra pass per half; with step
         * 16 all 16 meet, 15 extra per half. */
        {"shared_doubles", 1, 32, 4096, {OUT, 1}, true, {S(2, 0), ONE_STORE(8)}},
        {"shared_doubles", 1, 32, 4096, {OUT, 0}, true, {S(2, 0), ONE_STORE(8)}},
        {"shared_doubles", 1, 32, 4096, {OUT, 2}, true, {S(2, 4), ONE_STORE(8)}},
        {"shared_doubles", 1, 32, 4096, {OUT, 16}, true, {S(2, 60), ONE_STORE(8)}},
        /* Of 16 bytes: four quarters of 8 lanes. With step 2 lanes t and t + 4 of a quarter meet,
         * one extra per quarter; with step 8 all 8 do. */
        {"shared_vectors", 1, 32, 4096, {OUT, 1}, true, {S(2, 0), BARRIERS(1, 1)}},
        {"shared_vectors", 1, 32, 4096, {OUT, 2}, true, {S(2, 8), BARRIERS(1, 1)}},
        {"shared_vectors", 1, 32, 4096, {OUT, 8}, true, {S(2, 56), BARRIERS(1, 1)}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        run(&ROWS[i]);
}

static void control_and_atomics(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        /* 2 warps. Four lanes clear s: the first warp parts. 64 lanes add to shared memory, 2
         * requests, and 64 to global memory, 2 requests of one sector, which read and write; then
         * 2 coalesced stores. All 128 atomics add. Lanes that meet at one of the four words of
         * shared memory take turns, 7 extra passes per request. */
        {"atomics",
         1,
         64,
         0,
         {OUT, IN},
         true,
         {S(3, 14), G_READ(256), G_WRITTEN(512), G(4, 10),
          BARRIERS(2, 1), [COUNTER_atomics] = 64, [COUNTER_atomic_requests] = 2,
          [COUNTER_shared_atomics] = 64, [COUNTER_shared_atomic_requests] = 2,
          [COUNTER_divergent_branches] = 1, [COUNTER_additions] = 128}},
        /* 2 warps part at tid % 2, each side stores every other word of 128 bytes: 4 requests of
         * 16 lanes and 4 sectors. They meet again: the first warp's last store is one request. */
        {"branches",
         1,
         64,
         0,
         {OUT, IN},
         true,
         {G_WRITTEN(4 * 64 + 128), G(5, 20), [COUNTER_divergent_branches] = 2}},
        /* 3 warps, 10 times. 3 instructions before the loop and 1 to enter it, 4 in it, 2 after. */
        {"barriers",
         1,
         96,
         0,
         {10},
         false,
         {BARRIERS(30, 10), [COUNTER_warp_syncs] = 3, INSTRUCTIONS(96 * 46, 3 * 46)}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        run(&ROWS[i]);
}

static void scans(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        /* n log2 n additions but for the first d of each step: 256 * 8 - (1 + 2 + ... + 128).
         * Shared: 8 warps store and load once, and in each of 8 steps; the load of s[t - d] is made
         * by 8 warps while d < 32, then by 7, 6 and 4. The first warp parts while d < 32.
         * 9 barriers of 8 warps. */
        {"hillis_steele",
         1,
         256,
         0,
         {IN, OUT},
         true,
         {G_READ(1024), G_WRITTEN(1024), G(16, 64), S(16 + 8 * 16 + 5 * 8 + 7 + 6 + 4, 0),
          BARRIERS(72, 9), [COUNTER_divergent_branches] = 5, [COUNTER_additions] = 256 * 8 - 255}},
        /* n - 1 additions up and n - 1 down, n = 64. Shared: 2 stores; 6 steps up with 2 loads and
         * a store; the 0; 6 steps down with 3 loads and 2 stores; 2 loads. All accesses of a step
         * but the one with a single lane have two lanes per bank: 5 * 3 up and 5 * 5 down.
         * The warp parts in every step but the one with 32 lanes, and at the 0. */
        {"blelloch_plain",
         1,
         32,
         0,
         {IN, OUT},
         true,
         {G_READ(256), G_WRITTEN(256), G(4, 16), S(2 + 18 + 1 + 30 + 2, 15 + 25),
          BARRIERS(14, 14), [COUNTER_divergent_branches] = 11, [COUNTER_additions] = 126}},
        /* A word in 33 is left out: nobody meets. */
        {"blelloch_padded",
         1,
         32,
         0,
         {IN, OUT},
         true,
         {G_READ(256), G_WRITTEN(256), G(4, 16), S(2 + 18 + 1 + 30 + 2, 0),
          BARRIERS(14, 14), [COUNTER_divergent_branches] = 11, [COUNTER_additions] = 126}},
        /* 2 warps, 5 steps, every lane adds. One lane of each stores. With 48 values the second
         * warp parts at the load, half of whose bytes are read. */
        {"shuffles",
         1,
         64,
         0,
         {IN, OUT, 64},
         true,
         {G_READ(256), G_WRITTEN(8),
          G(4, 10), [COUNTER_divergent_branches] = 2, [COUNTER_additions] = 320}},
        {"shuffles",
         1,
         64,
         0,
         {IN, OUT, 48},
         true,
         {G_READ(192), G_WRITTEN(8),
          G(4, 8), [COUNTER_divergent_branches] = 3, [COUNTER_additions] = 320}},
        /* 3 times 2 additions per lane; those of the index and the loop are none. */
        {"guarded",
         1,
         32,
         0,
         {IN, OUT, 3},
         true,
         {G_READ(384), G_WRITTEN(128), G(4, 16), [COUNTER_additions] = 192}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        run(&ROWS[i]);
}

/* ---- single instructions ---- */

#define HEAD                                                                                       \
    "ld.param.u64 %q1, [p0];\n ld.param.u64 %q2, [p1];\n mov.u32 %r1, %tid.x;\n"                   \
    "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q11, %q1, %q10;\n add.s64 %q12, %q2, %q10;\n"           \
    "ld.global.u32 %r2, [%q11];\n setp.lt.u32 %p1, %r1, 10;\n setp.gt.s32 %p2, %r2, 0;\n"
#define TAIL "st.global.u32 [%q12], %r3;\n ret;\n"

struct addition {
    const char *body;
    uint64_t additions; /* of one warp */
};

static void additions_of(void **state)
{
    (void)state;
    static const struct addition ROWS[] = {
        {HEAD "add.s32 %r3, %r2, 1;\n" TAIL, 32},
        {HEAD "mov.u32 %r3, %r2;\n @%p1 add.s32 %r3, %r3, 1;\n" TAIL, 10}, /* guarded */
        {HEAD "add.s32 %r3, %r1, 1;\n" TAIL, 0},                   /* stored, but not of data */
        {HEAD "add.s32 %r4, %r2, 1;\n mov.u32 %r3, 0;\n" TAIL, 0}, /* of data, but goes nowhere */
        {HEAD "add.s32 %r4, %r2, 1;\n setp.gt.s32 %p3, %r4, 5;\n selp.b32 %r3, 1, 0, %p3;\n" TAIL,
         0},                                                                   /* only compared */
        {HEAD "selp.b32 %r4, 1, 0, %p2;\n add.s32 %r3, %r4, %r1;\n" TAIL, 32}, /* a flag of data */
        {HEAD "selp.b32 %r4, 1, 0, %p1;\n add.s32 %r3, %r4, %r1;\n" TAIL, 0},  /* one of an index */
        {HEAD "mad.lo.s32 %r3, %r2, 3, 4;\n sub.s32 %r3, %r3, %r1;\n" TAIL, 64},
        {HEAD "sub.u32 %r4, %r2, %r2;\n and.b32 %r4, %r4, 31;\n mul.wide.u32 %q13, %r4, 4;\n"
              "add.s64 %q14, %q1, %q13;\n ld.global.u32 %r3, [%q14];\n" TAIL,
         0}, /* where to read */
        {HEAD "shfl.sync.up.b32 %r4, %r2, 1, 0, 0xffffffff;\n add.s32 %r3, %r4, %r2;\n" TAIL, 32},
        {HEAD "redux.sync.add.s32 %r3, %r2, 0xffffffff;\n" TAIL, 32},
        {HEAD "redux.sync.max.s32 %r3, %r2, 0xffffffff;\n" TAIL, 0},
        {HEAD "dp4a.s32.s32 %r3, %r2, %r2, %r2;\n" TAIL, 128},
        {HEAD "vadd.u32.u32.u32 %r3, %r2, 1;\n" TAIL, UINT64_MAX}, /* not there: reported */
        {HEAD "add.cc.u32 %r3, %r2, %r2;\n addc.u32 %r4, %r2, %r2;\n"
              "add.s32 %r3, %r3, %r4;\n" TAIL,
         64},
        {HEAD "red.global.add.u32 [%q2], %r1;\n mov.u32 %r3, 0;\n" TAIL, 32},
        {HEAD "red.global.max.u32 [%q2], %r1;\n mov.u32 %r3, 0;\n" TAIL, 0},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct kit k;
        struct wire_counters got;
        int32_t numbers[64];
        for (int n = 0; n < 64; n++)
            numbers[n] = n;
        kit_open_body(&k, ROWS[i].body);
        kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_BOUNDS, 1); /* counted whatever is checked */
        uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
        uint64_t out = kit_buffer(&k, numbers, sizeof numbers, "out");
        uint64_t args[] = {in, out, 0, 0};
        enum vm_status status = kit_launch(&k, "k", 1, 32, args, 4);
        vm_counters(k.vm, &got);
        if (ROWS[i].additions == UINT64_MAX)
            assert_int_equal(status, VM_TRAP);
        else if (status != VM_OK || got.value[COUNTER_additions] != ROWS[i].additions)
            fail_msg("%s: status %d, %llu additions instead of %llu", ROWS[i].body, status,
                     (unsigned long long)got.value[COUNTER_additions],
                     (unsigned long long)ROWS[i].additions);
        kit_close(&k);
    }
}

static void asynchronous_copies(void **state)
{
    (void)state;
    /* 32 lanes copy 16 bytes each, in a row: like one load of 16 sectors and one store without a
     * conflict; then 4 bytes each of which half are filled with zeros; then 256 bytes at once. */
    static const char BODY[] =
        "ld.param.u64 %q1, [p0];\n mov.u32 %r1, %tid.x;\n mul.wide.u32 %q10, %r1, 16;\n"
        "add.s64 %q11, %q1, %q10;\n mov.u32 %r9, s;\n shl.b32 %r8, %r1, 4;\n"
        "add.u32 %r10, %r9, %r8;\n"
        "cp.async.ca.shared.global [%r10], [%q11], 16;\n"
        "setp.lt.u32 %p1, %r1, 16;\n selp.b32 %r11, 4, 0, %p1;\n shl.b32 %r12, %r1, 2;\n"
        "add.u32 %r13, %r9, %r12;\n mul.wide.u32 %q12, %r1, 4;\n add.s64 %q13, %q1, %q12;\n"
        "cp.async.wait_all;\n bar.sync 0;\n"
        "cp.async.ca.shared.global [%r13], [%q13], 4, %r11;\n cp.async.wait_all;\n"
        "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra DONE;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%q1], [%r9], 256;\n"
        "cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;\nDONE:\n ret;\n";
    static const struct row WANT = {.kernel = "k",
                                    .any_instructions = true,
                                    .want = {G_READ(512 + 64), G_WRITTEN(256), G(3, 16 + 2 + 8),
                                             S(2, 0),
                                             BARRIERS(1, 1), [COUNTER_divergent_branches] = 1}};
    struct kit k;
    struct wire_counters got;
    static uint32_t numbers[256];
    kit_open_body(&k, BODY);
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_COUNTERS, 1);
    uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
    uint64_t args[] = {in, 0, 0, 0};
    assert_int_equal(kit_launch(&k, "k", 1, 32, args, 4), VM_OK);
    vm_counters(k.vm, &got);
    compare(&WANT, &got, "asynchronous");
    kit_close(&k);
}

/* What costs no address is counted whatever is checked, sectors and conflicts on request only. */
static void what_is_always_counted(void **state)
{
    (void)state;
    struct kit k;
    struct wire_counters with, without;
    static int32_t numbers[IN_BYTES / 4];
    const struct row r = {"blelloch_plain", 1, 32, 0, {IN, OUT}, true, {0}};
    kit_open_file(&k, "counters.ptx");
    uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
    uint64_t out = kit_buffer(&k, numbers, sizeof numbers, "out");
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_COUNTERS, 1);
    launch(&k, &r, in, out);
    vm_counters(k.vm, &with);
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_BOUNDS, 1);
    launch(&k, &r, in, out);
    vm_counters(k.vm, &without);
    with.value[COUNTER_global_sectors] = with.value[COUNTER_shared_bank_conflicts] = 0;
    assert_memory_equal(&with, &without, sizeof with);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_accesses),        cmocka_unit_test(shared_accesses),
        cmocka_unit_test(control_and_atomics),    cmocka_unit_test(scans),
        cmocka_unit_test(additions_of),           cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(what_is_always_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
