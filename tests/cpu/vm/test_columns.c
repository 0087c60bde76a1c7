/* The short ways of loads and stores whose lanes lie 16 bytes apart (exec_columns.h) against the
 * long ones: random programs that mix such columns with everything that has to see them at once.
 * Looking for races in global memory bars the short ways, and nothing else about a run. */
#include "kit.h"

#include "base/rng.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 120, STEPS = 40, THREADS = 96, BLOCKS = 2, WORDS = 16 * THREADS, MARGIN = 64 };

#define START                                                                                      \
    "ld.param.u64 %q1, [p0];\n ld.param.u64 %q2, [p1];\n mov.u32 %r1, %tid.x;\n"                   \
    "mov.u32 %r2, %ctaid.x;\n mad.lo.u32 %r1, %r2, 96, %r1;\n"                                     \
    "mul.wide.u32 %q4, %r1, 16;\n mul.wide.u32 %q5, %r1, 4;\n"                                     \
    "add.s64 %q10, %q1, %q4;\n add.s64 %q11, %q2, %q4;\n add.s64 %q12, %q1, %q5;\n"                \
    "and.b32 %r3, %r1, 3;\n setp.eq.u32 %p1, %r3, 0;\n mov.u32 %r10, %r1;\n"                       \
    "mov.u32 %r11, 0;\n"

/* r10 takes part in every step, so that each value read shows in all that is written later. */
static void add_step(struct text *t, uint64_t key, uint64_t k)
{
    static const char *const ROWS[] = {"%q10", "%q11", "%q10", "%q12"}; /* 16, 16, 16, 4 bytes */
    const char *row = ROWS[rng_below(key, 16 * k, 4)];
    /* Mostly the four words of a group in some order, sometimes those of its neighbours. */
    const unsigned at =
        MARGIN + 4 * (unsigned)(rng_below(key, 16 * k + 1, 5) ? rng_below(key, 16 * k + 2, 4)
                                                              : rng_below(key, 16 * k + 3, 12));
    const uint64_t what = rng_below(key, 16 * k + 4, 32);
    if (what < 12)
        text_addf(t, "ld.global.u32 %%r11, [%s+%u];\n mad.lo.u32 %%r10, %%r10, 5, %%r11;\n", row,
                  at);
    else if (what < 24)
        text_addf(t, "st.global.u32 [%s+%u], %%r10;\n add.u32 %%r10, %%r10, 77;\n", row, at);
    else if (what == 24)
        text_addf(t, "@%%p1 st.global.u32 [%s+%u], %%r10;\n", row, at);
    else if (what == 25)
        text_addf(t, "@%%p1 ld.global.u32 %%r11, [%s+%u];\n xor.b32 %%r10, %%r10, %%r11;\n", row,
                  at);
    else if (what == 26)
        text_addf(t, "atom.global.add.u32 %%r11, [%s+%u], %%r1;\n xor.b32 %%r10, %%r10, %%r11;\n",
                  row, at);
    else if (what == 27)
        text_addf(t, "ld.volatile.global.u32 %%r11, [%s+%u];\n add.u32 %%r10, %%r10, %%r11;\n", row,
                  at);
    else if (what == 28)
        text_addf(t, "ld.global.u32 %%r11, [%%q1+%u];\n xor.b32 %%r10, %%r10, %%r11;\n", at);
    else if (what == 29)
        text_addf(t,
                  "ld.global.v4.u32 {%%r11, %%r12, %%r13, %%r14}, [%%q10+%u];\n"
                  "xor.b32 %%r10, %%r10, %%r13;\n",
                  MARGIN);
    else if (what == 30)
        text_addf(t, "st.global.u8 [%s+%u], %%r10;\n", row, at + 1);
    else
        text_addf(t, "bar.sync 0;\n");
}

/* All four words of a group at once, as unrolled loops over a thread's items do. */
static void add_group(struct text *t, uint64_t key, uint64_t k)
{
    const bool store = rng_below(key, 16 * k + 5, 2);
    const char *row = rng_below(key, 16 * k + 6, 2) ? "%q10" : "%q11";
    for (unsigned c = 0; c < 4; c++)
        if (store)
            text_addf(t, "st.global.u32 [%s+%u], %%r10;\n add.u32 %%r10, %%r10, %u;\n", row,
                      MARGIN + 4 * c, 3 + c);
        else
            text_addf(t, "ld.global.u32 %%r11, [%s+%u];\n mad.lo.u32 %%r10, %%r10, 3, %%r11;\n",
                      row, MARGIN + 4 * c);
}

struct outcome {
    uint32_t memory[2][WORDS];
    struct wire_counters counters;
};

static void run(struct kit *k, uint32_t checks, bool same, struct outcome *o)
{
    uint32_t start[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        start[i] = i * 2654435761u;
    struct wire_device_config c = {.checks = checks, .host_threads = 1, .step_limit = 1000000};
    vm_configure(k->vm, &c);
    uint64_t a = kit_buffer(k, start, sizeof start, "a"),
             b = kit_buffer(k, start, sizeof start, "b");
    /* The second one may be the first, a word further on: groups that overlap. */
    uint64_t args[] = {a, same ? a + 4 : b};
    assert_int_equal(kit_launch(k, "k", BLOCKS, THREADS, args, 2), VM_OK);
    memcpy(o->memory[0], kit_bytes(k, a, sizeof start), sizeof start);
    memcpy(o->memory[1], kit_bytes(k, b, sizeof start), sizeof start);
    vm_counters(k->vm, &o->counters);
}

static void as_without_short_ways(void **state)
{
    (void)state;
    static struct outcome want, got;
    for (uint64_t program = 0; program < PROGRAMS; program++) {
        const uint64_t key = rng_key(4711, program);
        struct text t;
        struct kit k;
        text_init(&t);
        text_addf(&t, "%s", START);
        for (uint64_t step = 0; step < STEPS; step++)
            if (rng_below(key, 16 * step + 7, 6))
                add_step(&t, key, step);
            else
                add_group(&t, key, step);
        text_addf(&t, "st.global.u32 [%%q10+%u], %%r10;\n ret;\n", MARGIN);
        kit_open_body(&k, text_str(&t));
        for (int same = 0; same < 2; same++) {
            static const uint32_t CHECKS[] = {WIRE_CHECK_BOUNDS, WIRE_CHECK_UNINITIALIZED,
                                              WIRE_CHECK_COUNTERS,
                                              WIRE_CHECK_DEFAULT & ~WIRE_CHECK_GLOBAL_RACES};
            run(&k, WIRE_CHECK_DEFAULT | WIRE_CHECK_COUNTERS, same, &want);
            for (unsigned c = 0; c < sizeof CHECKS / sizeof *CHECKS; c++) {
                run(&k, CHECKS[c], same, &got);
                if (memcmp(got.memory, want.memory, sizeof got.memory) != 0)
                    fail_msg("program %u, checks %u%s: another result\n%s", (unsigned)program, c,
                             same ? ", one buffer" : "", text_str(&t));
                if (CHECKS[c] == WIRE_CHECK_COUNTERS)
                    assert_memory_equal(&got.counters, &want.counters, sizeof got.counters);
            }
        }
        kit_close(&k);
        text_release(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_without_short_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
