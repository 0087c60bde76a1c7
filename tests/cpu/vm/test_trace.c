/* Traces: played back in order they must make sense. */
#include "kit.h"

#include "wire/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NUMBERS = 16384 };

static struct wire_trace *trace;
static size_t trace_bytes;

static void take(struct kit *k)
{
    trace_bytes = vm_trace(k->vm, NULL, 0);
    assert_true(trace_bytes >= sizeof *trace);
    free(trace);
    trace = malloc(trace_bytes);
    assert_non_null(trace);
    assert_int_equal(vm_trace(k->vm, trace, trace_bytes), trace_bytes);
    assert_true(wire_trace_validate(trace, trace_bytes));
}

static void run(const char *kernel, uint32_t grid, uint32_t block)
{
    static int32_t numbers[NUMBERS];
    struct kit k;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i % 11 - 4;
    kit_open_file(&k, "counters.ptx");
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_TRACE | WIRE_CHECK_DEFAULT, 1);
    uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
    uint64_t out = kit_buffer(&k, NULL, sizeof numbers, "out");
    uint64_t args[] = {in, out, 0};
    assert_int_equal(kit_launch(&k, kernel, grid, block, args, 3), VM_OK);
    take(&k);
    kit_close(&k);
}

static const struct wire_trace_buffer *buffer_of(const struct wire_trace_record *r)
{
    return &trace->buffers[r->buffer];
}

/* Plays the trace back for one block: what is read is what was written last, or the input; returns
 * what ends up in `out`. */
static void play(int32_t *out)
{
    static uint32_t memory[WIRE_TRACE_BUFFERS][NUMBERS];
    static bool written[WIRE_TRACE_BUFFERS][NUMBERS];
    memset(written, 0, sizeof written);
    for (uint64_t i = 0; i < trace->record_count; i++) {
        const struct wire_trace_record *r = &trace->records[i];
        uint64_t at = r->offset / 4;
        assert_int_equal(r->bytes, 4);
        assert_true(at < NUMBERS);
        if (r->kind == WIRE_TRACE_READ) {
            bool is_input = strcmp(buffer_of(r)->name, "in") == 0;
            assert_true(is_input || written[r->buffer][at]);
            uint32_t want = is_input ? (uint32_t)((int)(at % 11) - 4) : memory[r->buffer][at];
            assert_int_equal(r->value, want);
        } else {
            memory[r->buffer][at] = (uint32_t)r->value;
            written[r->buffer][at] = true;
            if (strcmp(buffer_of(r)->name, "out") == 0)
                out[at] = (int32_t)r->value;
        }
    }
}

static void scans_play_back(void **state)
{
    (void)state;
    static int32_t out[NUMBERS];
    run("hillis_steele", 1, 256);
    assert_int_equal(trace->lost, 0);
    assert_string_equal(trace->kernels[0], "hillis_steele");
    assert_int_equal(trace->launches[0].block[0], 256);
    play(out);
    int32_t sum = 0;
    for (int i = 0; i < 256; i++) {
        sum += i % 11 - 4;
        assert_int_equal(out[i], sum);
    }
    run("blelloch_padded", 1, 32);
    play(out);
    sum = 0;
    for (int i = 0; i < 64; i++) {
        assert_int_equal(out[i], sum);
        sum += i % 11 - 4;
    }
    /* 14 barriers: the last loads and stores are in phase 14, and nothing is later. */
    uint32_t last = 0;
    for (uint64_t i = 0; i < trace->record_count; i++)
        last = trace->records[i].phase > last ? trace->records[i].phase : last;
    assert_int_equal(last, 14);
}

static void blocks_have_phases_of_their_own(void **state)
{
    (void)state;
    run("hillis_steele", 3, 256);
    uint32_t last[3] = {0};
    for (uint64_t i = 0; i < trace->record_count; i++) {
        const struct wire_trace_record *r = &trace->records[i];
        assert_true(r->block < 3 && r->phase >= last[r->block]);
        last[r->block] = r->phase;
    }
    for (int b = 0; b < 3; b++)
        assert_int_equal(last[b], 9);
}

static void atomics_tell_both_values(void **state)
{
    (void)state;
    run("atomics", 1, 32);
    unsigned seen = 0;
    for (uint64_t i = 0; i < trace->record_count; i++) {
        const struct wire_trace_record *r = &trace->records[i];
        if (r->kind != WIRE_TRACE_ATOMIC || buffer_of(r)->shared)
            continue;
        assert_true(r->has_old);
        assert_int_equal(r->old, (uint32_t)(-4 + (int)r->lane)); /* in[0] is -4, each adds 1 */
        assert_int_equal(r->value, 28);
        seen++;
    }
    assert_int_equal(seen, 32);
}

/* 1024 threads of 4096 blocks: far too much. */
static void what_does_not_fit_is_counted(void **state)
{
    (void)state;
    struct kit k;
    kit_open_file(&k, "counters.ptx");
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_TRACE, 1);
    uint64_t in = kit_buffer(&k, NULL, 4u << 20, "in"), out = kit_buffer(&k, NULL, 4u << 20, "out");
    uint64_t args[] = {in, out, 0};
    assert_int_equal(kit_launch(&k, "copy", 1024, 1024, args, 3), VM_OK);
    take(&k);
    assert_int_equal(trace->record_count, WIRE_TRACE_RECORDS);
    assert_int_equal(trace->lost, 2 * (1 << 20) - WIRE_TRACE_RECORDS);
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_DEFAULT, 1);
    assert_int_equal(vm_trace(k.vm, NULL, 0), 0);
    kit_close(&k);
}

static void copies_stand_where_they_are_done(void **state)
{
    (void)state;
    struct kit k;
    uint32_t numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    kit_open_body(&k, "ld.param.u64 %q1, [p0];\n mov.u32 %r9, s;\n"
                      "cp.async.ca.shared.global [%r9], [%q1], 16;\n"
                      "st.global.u32 [%q1+16], 99;\n cp.async.wait_all;\n"
                      "ld.shared.u32 %r2, [%r9+8];\n st.global.u32 [%q1+20], %r2;\n ret;\n");
    kit_configure(&k, WIRE_IN_ORDER, WIRE_CHECK_TRACE, 1);
    uint64_t in = kit_buffer(&k, numbers, sizeof numbers, "in");
    uint64_t args[] = {in, 0, 0, 0};
    assert_int_equal(kit_launch(&k, "k", 1, 1, args, 4), VM_OK);
    take(&k);
    static const uint64_t VALUES[] = {99, 10, 11, 12, 13, 10, 11, 12, 13, 12, 12};
    assert_int_equal(trace->record_count, sizeof VALUES / sizeof *VALUES);
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++)
        assert_int_equal(trace->records[i].value, VALUES[i]);
    kit_close(&k);
}

static void broken_traces_are_refused(void **state)
{
    (void)state;
    run("copy", 1, 64);
    struct wire_trace *whole = malloc(trace_bytes);
    assert_non_null(whole);
#define BREAK(change)                                                                              \
    do {                                                                                           \
        memcpy(whole, trace, trace_bytes);                                                         \
        change;                                                                                    \
        assert_false(wire_trace_validate(whole, trace_bytes));                                     \
    } while (0)
    BREAK(whole->magic++);
    BREAK(whole->record_count++);
    BREAK(whole->kernel_count = WIRE_TRACE_KERNELS + 1);
    BREAK(whole->records[3].lane = 32);
    BREAK(whole->records[3].bytes = 3);
    BREAK(whole->records[3].kind = WIRE_TRACE_KINDS);
    BREAK(whole->records[3].buffer = (uint16_t)whole->buffer_count);
    BREAK(whole->records[3].site = (uint16_t)whole->site_count);
    BREAK(whole->records[3].launch = whole->launch_count);
    BREAK(whole->launches[0].kernel = whole->kernel_count);
    BREAK(whole->sites[0].file = whole->file_count);
    BREAK(memset(whole->buffers[0].name, 'x', sizeof whole->buffers[0].name));
#undef BREAK
    assert_false(wire_trace_validate(trace, trace_bytes - 1));
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_play_back),
        cmocka_unit_test(blocks_have_phases_of_their_own),
        cmocka_unit_test(atomics_tell_both_values),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(copies_stand_where_they_are_done),
        cmocka_unit_test(broken_traces_are_refused),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    free(trace);
    return status;
}
