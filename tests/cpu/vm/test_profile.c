/* Counters per source line: the lines of counters.cu, by their text. */
#include "kit.h"

#include "base/file.h"
#include "wire/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct wire_profile profile;
static struct wire_counters totals;

/* One launch with buffers for the first two arguments. */
static void run(const char *kernel, uint32_t block, uint64_t third)
{
    static int32_t numbers[16384];
    struct kit k;
    kit_open_file(&k, "counters.ptx");
    struct wire_device_config c = {.checks = WIRE_CHECK_PROFILE | WIRE_CHECK_DEFAULT,
                                   .source_file = "counters.cu"};
    vm_configure(k.vm, &c);
    uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
    uint64_t out = kit_buffer(&k, numbers, sizeof numbers, "out");
    uint64_t args[] = {in, out, third};
    assert_int_equal(kit_launch(&k, kernel, 1, block, args, 3), VM_OK);
    assert_int_equal(vm_profile(k.vm, NULL, 0), sizeof profile);
    assert_int_equal(vm_profile(k.vm, &profile, sizeof profile), sizeof profile);
    assert_true(wire_profile_validate(&profile));
    vm_counters(k.vm, &totals);
    kit_close(&k);
}

/* The number of the nth line of counters.cu that holds `text`. */
static uint32_t line_of(const char *text, int nth)
{
    struct text source;
    struct err e;
    text_init(&source);
    assert_int_equal(file_read(TEST_FOLDER "/counters.cu", 1 << 20, &source, &e), 0);
    uint32_t line = 1, found = 0;
    for (const char *at = text_str(&source); *at; line++) {
        size_t length = strcspn(at, "\n");
        if (memmem(at, length, text, strlen(text)) && nth-- == 0)
            found = line;
        at += length + (at[length] == '\n');
    }
    text_release(&source);
    assert_int_not_equal(found, 0);
    return found;
}

static uint64_t at(uint32_t line, enum counter c)
{
    for (uint32_t i = 0; i < profile.line_count; i++)
        if (profile.lines[i].line == line)
            return profile.lines[i].counters.value[c];
    return 0;
}

static void lines_add_up(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t block;
        uint64_t third;
    } ROWS[] = {{"copy", 256, 0},          {"stride", 256, 2},         {"copy_vectors", 64, 0},
                {"atomics", 64, 0},        {"branches", 64, 0},        {"hillis_steele", 256, 0},
                {"blelloch_plain", 32, 0}, {"blelloch_padded", 32, 0}, {"shuffles", 64, 48},
                {"guarded", 32, 3}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        run(ROWS[i].kernel, ROWS[i].block, ROWS[i].third);
        assert_int_equal(profile.kernel_count, 1);
        assert_string_equal(profile.kernels[0].name, ROWS[i].kernel);
        assert_int_equal(profile.kernels[0].launches, 1);
        assert_int_equal(profile.kernels[0].threads, ROWS[i].block);
        assert_int_equal(profile.dropped, 0);
        for (int c = 0; c < COUNTER_COUNT; c++) {
            uint64_t sum = 0;
            for (uint32_t l = 0; l < profile.line_count; l++)
                sum += profile.lines[l].counters.value[c];
            uint64_t want = c == COUNTER_kernel_launches ? 0 : totals.value[c];
            if (sum != want)
                fail_msg("%s: lines have %llu %s, all together %llu", ROWS[i].kernel,
                         (unsigned long long)sum, counter_name((enum counter)c),
                         (unsigned long long)want);
        }
    }
}

/* As worked out in test_counters.c. */
static void costs_are_where_they_arise(void **state)
{
    (void)state;
    run("blelloch_plain", 32, 0);
    uint32_t up = line_of("s[at(b)] += s[at(a)];", 0), down = line_of("s[at(b)] += left;", 0);
    assert_int_equal(at(up, COUNTER_shared_bank_conflicts), 15);
    assert_int_equal(at(up, COUNTER_shared_requests), 18);
    assert_int_equal(at(up, COUNTER_additions), 63);
    assert_int_equal(at(down, COUNTER_additions), 63);
    assert_int_equal(at(line_of("if (b < 64)", 0), COUNTER_divergent_branches), 5);
    assert_int_equal(at(line_of("s[at(t)] = in[t];", 0), COUNTER_global_sectors), 4);

    run("hillis_steele", 256, 0);
    uint32_t add = line_of("x += s[from][t - d];", 0);
    assert_int_equal(at(add, COUNTER_additions), 1793);
    assert_int_equal(at(line_of("if (t >= d)", 0), COUNTER_divergent_branches), 5);
    uint32_t loop = line_of("for (int d = 1; d < 256", 0);
    assert_int_equal(at(loop - 2, COUNTER_barriers), 8); /* 8 warps, once and in 8 steps */
    assert_int_equal(at(loop + 5, COUNTER_barriers), 64);
    assert_int_equal(at(loop + 5, COUNTER_block_barriers), 8);

    run("atomics", 64, 0);
    uint32_t shared = line_of("atomicAdd(&s[", 0), global = line_of("atomicAdd(sum", 0);
    assert_int_equal(at(shared, COUNTER_shared_atomics), 64);
    assert_int_equal(at(shared, COUNTER_additions), 64);
    assert_int_equal(at(global, COUNTER_atomics), 64);
    assert_int_equal(at(global, COUNTER_global_bytes_written), 512);
}

/* A guarded addition is counted for the lanes that make it, on its line. */
static void guards_count(void **state)
{
    (void)state;
    struct kit k;
    kit_open_body(&k, "ld.param.u64 %q1, [p0];\n mov.u32 %r1, %tid.x;\n"
                      "mul.wide.u32 %q10, %r1, 4;\n add.s64 %q11, %q1, %q10;\n"
                      ".loc 1 7 0\n ld.global.u32 %r2, [%q11];\n setp.lt.u32 %p1, %r1, 10;\n"
                      ".loc 1 8 0\n @%p1 add.s32 %r2, %r2, 1;\n"
                      ".loc 1 9 0\n st.global.u32 [%q11], %r2;\n ret;\n");
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_PROFILE, 1);
    int32_t numbers[32] = {0};
    uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
    uint64_t args[] = {in, 0, 0, 0};
    assert_int_equal(kit_launch(&k, "k", 1, 32, args, 4), VM_OK);
    assert_int_equal(vm_profile(k.vm, &profile, sizeof profile), sizeof profile);
    assert_int_equal(at(8, COUNTER_additions), 10);
    assert_int_equal(at(8, COUNTER_instructions), 32);
    assert_int_equal(at(7, COUNTER_global_bytes_read), 128);
    assert_int_equal(at(9, COUNTER_warp_instructions), 2);
    /* Asked for no longer: there is none. */
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_COUNTERS, 1);
    assert_int_equal(vm_profile(k.vm, &profile, sizeof profile), 0);
    kit_close(&k);
}

static void broken_profiles_are_refused(void **state)
{
    (void)state;
    run("copy", 256, 0);
    static struct wire_profile p;
    p = profile;
    p.line_count = WIRE_PROFILE_LINES + 1;
    assert_false(wire_profile_validate(&p));
    p = profile;
    p.lines[0].kernel = 1;
    assert_false(wire_profile_validate(&p));
    p = profile;
    p.lines[0].file = (uint16_t)p.file_count;
    assert_false(wire_profile_validate(&p));
    p = profile;
    memset(p.kernels[0].name, 'x', sizeof p.kernels[0].name);
    assert_false(wire_profile_validate(&p));
    p = profile;
    p.kernels[0].name[0] = '\x1b';
    assert_true(wire_profile_validate(&p));
    assert_int_equal(p.kernels[0].name[0], '?');
    p.magic++;
    assert_false(wire_profile_validate(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_add_up),
        cmocka_unit_test(costs_are_where_they_arise),
        cmocka_unit_test(guards_count),
        cmocka_unit_test(broken_profiles_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
