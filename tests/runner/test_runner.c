/* The runner and judge/run together: one box per test, a fake CUDA runtime inside. Every test ends
 * with the box closed and its process gone.
 * Long because every way in which a submission can end shares one fixture. */
#include "judge/run/run.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)
enum { N = 1000, N_BYTES = 4 * N };

struct fixture {
    struct run_box box;
    struct run_outcome outcome;
    struct run_region in, out;
    struct wire_request request;
    pid_t pid;
    struct err e;
};

/* The same with a card and a tool in front; both may be NULL. */
static void open_with(struct fixture *f, const char *cudart, const char *library, const char *entry,
                      const char *card, const char *const *before)
{
    char cudart_path[512], library_path[512];
    snprintf(cudart_path, sizeof cudart_path, "%s/%s.so", FAKES, cudart);
    snprintf(library_path, sizeof library_path, "%s/%s.so", FAKES, library);
    struct run_spec spec = {.runner = RUNNER,
                            .cudart = cudart_path,
                            .library = library_path,
                            .entry = entry,
                            .card = card,
                            .meter = card ? METER : NULL,
                            .before = before,
                            .start_limit_ns = 20 * SECOND_NS,
                            .output_bytes = 100000};
    memset(f, 0, sizeof *f);
    assert_int_equal(run_open(&spec, &f->box, &f->outcome, &f->e), 0);
    f->pid = f->box.sandbox.process.pid;
}

static void open_library(struct fixture *f, const char *cudart, const char *library,
                         const char *entry)
{
    open_with(f, cudart, library, entry, NULL, NULL);
}

/* The request for (const int *in, int *out, int n, cudaStream_t stream), in = 1, 2, 3, ... */
static void make_request(struct fixture *f)
{
    struct wire_request *q = &f->request;
    *q = (struct wire_request){.magic = WIRE_MAGIC, .param_count = 4, .poison_seed = 77};
    snprintf(q->device.source_file, sizeof q->device.source_file, "a.cu");
    q->params[0] = (struct wire_param){.kind = WIRE_PARAM_BUFFER,
                                       .type = WIRE_int32,
                                       .role = WIRE_INPUT,
                                       .misalign = 4,
                                       .bytes = N_BYTES,
                                       .in_offset = 64,
                                       .name = "in"};
    q->params[1] = (struct wire_param){.kind = WIRE_PARAM_BUFFER,
                                       .type = WIRE_int32,
                                       .role = WIRE_OUTPUT,
                                       .bytes = N_BYTES,
                                       .name = "out"};
    q->params[2] = (struct wire_param){
        .kind = WIRE_PARAM_SCALAR, .type = WIRE_int32, .scalar = N, .name = "n"};
    q->params[3] = (struct wire_param){.kind = WIRE_PARAM_STREAM, .name = "stream"};
    q->params[1].out_offset = wire_buffer_bytes(&q->params[0]);
    q->in_bytes = 64 + N_BYTES;
    q->out_bytes = q->params[1].out_offset + wire_buffer_bytes(&q->params[1]);
    assert_int_equal(run_region_init(&f->in, q->in_bytes, false, &f->e), 0);
    assert_int_equal(run_region_init(&f->out, q->out_bytes, true, &f->e), 0);
    for (int i = 0; i < N; i++) {
        int value = i + 1;
        memcpy(f->in.bytes + 64 + 4 * (size_t)i, &value, 4);
    }
}

static void open_entry(struct fixture *f, const char *entry)
{
    open_library(f, "fake_cudart", "fake_submission", entry);
    assert_int_equal(f->outcome.how, RUN_REPLIED);
    assert_int_equal(f->outcome.reply.status, WIRE_READY);
    make_request(f);
}

static void pass(struct fixture *f, uint64_t limit_ns)
{
    int fds[2] = {f->in.fd, f->out.fd};
    assert_int_equal(run_pass(&f->box, &f->request, fds, limit_ns, &f->outcome, &f->e), 0);
}

static void finish(struct fixture *f)
{
    run_close(&f->box);
    run_close(&f->box); /* idempotent */
    run_region_release(&f->in);
    run_region_release(&f->out);
    if (f->pid > 0) {
        assert_int_equal(kill(f->pid, 0), -1);
        assert_int_equal(errno, ESRCH);
    }
    /* boxes in waiting are children, too; but none that has ended */
    assert_true(waitpid(-1, NULL, WNOHANG) <= 0);
}

static const int *payload(const struct fixture *f, unsigned i)
{
    const struct wire_param *p = &f->request.params[i];
    return (const int *)(f->out.bytes + p->out_offset + WIRE_GUARD_BYTES + p->misalign);
}

/* The first byte of buffer i, from `from` to `to`, that is not poison any more; `to` if none. */
static uint64_t change(const struct fixture *f, unsigned i, uint64_t from, uint64_t to)
{
    const uint8_t *base = f->out.bytes + f->request.params[i].out_offset;
    return from + wire_poison_find_change(base + from, from, to - from, 77, i);
}

/* ---- what works ---- */

static void check_scan(const char *cudart)
{
    struct fixture f;
    open_library(&f, cudart, "fake_submission", "scan");
    assert_int_equal(f.outcome.reply.status, WIRE_READY);
    make_request(&f);
    for (int round = 0; round < 3; round++) {
        memset(f.out.bytes, 0, f.out.size);
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.how, RUN_REPLIED);
        assert_int_equal(f.outcome.reply.status, WIRE_DONE);
        assert_true(f.box.alive);
        for (int i = 0; i < N; i++) {
            assert_int_equal(payload(&f, 0)[i], i + 1);
            assert_int_equal(payload(&f, 1)[i], i * (i + 1) / 2);
        }
        uint64_t start = WIRE_GUARD_BYTES + 4, end = start + N_BYTES;
        uint64_t whole = wire_buffer_bytes(&f.request.params[0]);
        assert_int_equal(change(&f, 0, 0, start), start);
        assert_int_equal(change(&f, 0, end, whole), whole);
        whole = wire_buffer_bytes(&f.request.params[1]);
        assert_int_equal(change(&f, 1, 0, WIRE_GUARD_BYTES), WIRE_GUARD_BYTES);
        assert_int_equal(change(&f, 1, WIRE_GUARD_BYTES + N_BYTES, whole), whole);
    }
    finish(&f);
}

static void test_scan(void **state)
{
    (void)state;
    check_scan("fake_cudart");
}

static void test_scan_without_hooks(void **state)
{
    (void)state;
    check_scan("fake_cudart_gpu");
}

static void test_observations_come_back(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "allocates");
    for (int round = 0; round < 2; round++) {
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.reply.status, WIRE_DONE);
        assert_int_equal(f.outcome.reply.device_bytes, 5000);
        assert_int_equal(f.outcome.reply.counters.value[COUNTER_kernel_launches], 3);
        assert_true(f.outcome.reply.elapsed_ns > 0);
        assert_true(f.outcome.reply.elapsed_ns <= f.outcome.wall_ns);
    }
    finish(&f);
}

static void test_buffers_are_poisoned_and_narrowed(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "look");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    int wanted;
    wire_poison(&wanted, WIRE_GUARD_BYTES, 4, 77, 1);
    assert_int_equal(payload(&f, 1)[0], wanted);
    wire_poison(&wanted, WIRE_GUARD_BYTES, 4, 77, 0); /* in[-1]: the misalign bytes */
    assert_int_equal(payload(&f, 1)[1], wanted);
    wire_poison(&wanted, WIRE_GUARD_BYTES + 4 + N_BYTES, 4, 77, 0);
    assert_int_equal(payload(&f, 1)[2], wanted);
    assert_int_equal(payload(&f, 1)[3], 4); /* aligned to 256 but for `misalign` */
    assert_int_equal(payload(&f, 1)[4], N_BYTES);
    finish(&f);
}

static void test_overrun_shows_in_the_guards(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "overrun");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    assert_int_equal(change(&f, 1, 0, WIRE_GUARD_BYTES), WIRE_GUARD_BYTES - 4);
    uint64_t end = WIRE_GUARD_BYTES + N_BYTES;
    assert_int_equal(change(&f, 1, end, end + 64), end);
    finish(&f);
}

static void test_addresses_change_between_passes(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "address");
    uint64_t seen[3];
    for (int round = 0; round < 3; round++) {
        pass(&f, 20 * SECOND_NS);
        memcpy(&seen[round], payload(&f, 1), 8);
    }
    assert_true(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
    finish(&f);
}

/* Regions of other sizes one after the other, an empty case among them. */
static void test_regions_may_change(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "scan");
    static const unsigned SIZES[] = {N, 0, 1, N, 7};
    for (size_t k = 0; k < sizeof SIZES / sizeof SIZES[0]; k++) {
        f.request.params[0].bytes = f.request.params[1].bytes = 4 * (uint64_t)SIZES[k];
        f.request.params[2].scalar = SIZES[k];
        if (k % 2) { /* a fresh pair, else the same again */
            struct run_region in;
            assert_int_equal(run_region_init(&in, f.in.size, false, &f.e), 0);
            memcpy(in.bytes, f.in.bytes, in.size);
            run_region_release(&f.in);
            run_region_release(&f.out);
            f.in = in;
            assert_int_equal(run_region_init(&f.out, f.request.out_bytes, true, &f.e), 0);
        }
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.reply.status, WIRE_DONE);
        for (int i = 0; i < (int)SIZES[k]; i++)
            assert_int_equal(payload(&f, 1)[i], i * (i + 1) / 2);
    }
    finish(&f);
}

static void test_every_scalar_type(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "scalars");
    float four = -4.25F;
    double two = 2.5e300;
    uint32_t four_bits;
    uint64_t two_bits;
    memcpy(&four_bits, &four, 4);
    memcpy(&two_bits, &two, 8);
    const struct {
        enum wire_type type;
        uint64_t bits;
        double wanted;
    } ROWS[] = {
        {WIRE_int8, 0xfb, -5},
        {WIRE_float64, two_bits, 2.5e300},
        {WIRE_int16, 0xfffe, -2},
        {WIRE_float32, four_bits, -4.25},
        {WIRE_int32, 0xffffffff, -1},
        {WIRE_int64, (uint64_t)-7, -7},
        {WIRE_uint8, 200, 200},
        {WIRE_uint16, 65535, 65535},
        {WIRE_uint32, 4000000000, 4000000000.0},
        {WIRE_uint64, UINT64_C(1) << 63, 9223372036854775808.0},
        {WIRE_size_t, UINT64_C(1) << 40, 1099511627776.0},
        {WIRE_float16, 0x3c00, 0x3c00},
        {WIRE_bfloat16, 0x3f80, 0x3f80},
    };
    enum { COUNT = sizeof ROWS / sizeof ROWS[0] };
    struct wire_param out = f.request.params[1];
    for (unsigned i = 0; i < COUNT; i++)
        f.request.params[i] = (struct wire_param){
            .kind = WIRE_PARAM_SCALAR, .type = ROWS[i].type, .scalar = ROWS[i].bits, .name = "x"};
    f.request.params[COUNT] = out;
    f.request.param_count = COUNT + 1;
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    for (unsigned i = 0; i < COUNT; i++) {
        double got;
        memcpy(&got, (const double *)payload(&f, COUNT) + i, 8);
        assert_true(got == ROWS[i].wanted);
    }
    finish(&f);
}

static void test_prints(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "prints");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    assert_string_equal(text_str(&f.box.out), "to stdout, no newline");
    assert_string_equal(text_str(&f.box.errors), "to stderr");
    finish(&f);
}

static void test_small_cases_are_cheap(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "scan");
    enum { ROUNDS = 200 };
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        pass(&f, 20 * SECOND_NS);
        if (f.outcome.wall_ns < best)
            best = f.outcome.wall_ns;
    }
    print_message("a pass over %d ints: %llu us\n", N, (unsigned long long)best / 1000);
#ifndef SJ_SANITIZED
    assert_true(best < 1000000);
#endif
    finish(&f);
}

/* ---- what goes wrong ---- */

static void test_crashes(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        int signal;
        const char *wanted;
    } ROWS[] = {
        {"device_pointer", SIGSEGV, "host code dereferences the device pointer of `out`"},
        {"null_pointer", SIGSEGV, "null pointer (address 0x10)"},
        {"wild_pointer", SIGSEGV, "no address at all"},
        {"divides", SIGFPE, "divides"},
        {"aborts", SIGABRT, "abort"},
        {"illegal", SIGILL, "illegal instruction"},
        {"overflows_stack", SIGSEGV, "memory that it does not have"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct fixture f;
        open_entry(&f, ROWS[i].entry);
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.how, RUN_REPLIED);
        if (f.outcome.reply.status != WIRE_CRASHED)
            fail_msg("%s did not crash", ROWS[i].entry);
        assert_int_equal(f.outcome.reply.signal, ROWS[i].signal);
        if (!strstr(f.outcome.reply.message, ROWS[i].wanted))
            fail_msg("%s: %s", ROWS[i].entry, f.outcome.reply.message);
        assert_false(f.box.alive);
        int fds[2] = {f.in.fd, f.out.fd};
        assert_int_equal(run_pass(&f.box, &f.request, fds, SECOND_NS, &f.outcome, &f.e), -1);
        finish(&f);
    }
}

static void test_findings_survive_a_crash(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "device_pointer");
    pass(&f, 20 * SECOND_NS);
    const struct wire_reply *r = &f.outcome.reply;
    assert_int_equal(r->finding_count, 2);
    assert_int_equal(r->findings[0].kind, FINDING_data_race);
    assert_string_equal(r->findings[0].file, "a.cu");
    assert_int_equal(r->findings[0].line, 7);
    assert_int_equal(r->findings[1].kind, FINDING_device_pointer_on_host);
    finish(&f);
}

/* Results are what is there when the entry's stream is done; other work is named, and over before
 * the next pass. Without a stream the whole device is waited for. */
static void test_work_on_other_streams(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "leaves_work");
    pass(&f, 20 * SECOND_NS);
    const struct wire_reply *r = &f.outcome.reply;
    assert_int_equal(r->status, WIRE_DONE);
    assert_int_equal(payload(&f, 1)[0], 1);
    assert_int_equal(r->finding_count, 1);
    assert_int_equal(r->findings[0].kind, FINDING_leak);
    assert_string_equal(r->findings[0].message, "stream");
    f.request.params[3].kind = WIRE_PARAM_SCALAR;
    f.request.params[3].type = WIRE_int64;
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(r->status, WIRE_DONE);
    assert_int_equal(payload(&f, 1)[0], 2);
    assert_int_equal(r->finding_count, 0);
    finish(&f);
}

static void test_device_pointer_without_hooks(void **state)
{
    (void)state;
    struct fixture f;
    open_library(&f, "fake_cudart_gpu", "fake_submission", "device_pointer");
    make_request(&f);
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_CRASHED);
    assert_non_null(strstr(f.outcome.reply.message, "dereferences the device pointer `out`"));
    assert_int_equal(f.outcome.reply.finding_count, 1);
    assert_int_equal(f.outcome.reply.findings[0].kind, FINDING_device_pointer_on_host);
    finish(&f);
}

static void test_output_survives_a_crash(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "aborts");
    pass(&f, 20 * SECOND_NS);
    assert_string_equal(text_str(&f.box.out), "before the crash\n");
    finish(&f);
}

static void test_crash_while_the_device_is_locked(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "device_pointer");
    f.request.device.schedule_seed = 666; /* the fake's hooks hang */
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_CRASHED);
    assert_int_equal(f.outcome.reply.signal, SIGSEGV);
    assert_non_null(strstr(f.outcome.reply.message, "inside of a CUDA call"));
    assert_true(f.outcome.wall_ns < 5 * SECOND_NS);
    finish(&f);
}

static void test_handlers_are_put_back(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "own_handler");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    f.request.params[2].kind = WIRE_PARAM_SCALAR;
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    finish(&f);
}

static void test_ends_without_an_answer(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        enum run_how how;
        int code;
        const char *printed;
    } ROWS[] = {
        {"exits", RUN_EXITED, 0, "PASS"},
        {"quick_exits", RUN_EXITED, 9, ""},
        {"kills_itself", RUN_SIGNALLED, SIGKILL, ""},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct fixture f;
        open_entry(&f, ROWS[i].entry);
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.how, ROWS[i].how);
        assert_int_equal(f.outcome.code, ROWS[i].code);
        assert_string_equal(text_str(&f.box.out), ROWS[i].printed);
        assert_true(f.outcome.wall_ns < 10 * SECOND_NS);
        finish(&f);
    }
}

static void test_never_answers(void **state)
{
    (void)state;
    static const char *const ENTRIES[] = {"loops", "stops_itself", "closes_socket"};
    for (size_t i = 0; i < sizeof ENTRIES / sizeof ENTRIES[0]; i++) {
        struct fixture f;
        open_entry(&f, ENTRIES[i]);
        pass(&f, SECOND_NS / 5);
        assert_int_equal(f.outcome.how, RUN_TIMED_OUT);
        /* A box that computes on a busy machine gets up to six times the limit in wall time. */
        assert_true(f.outcome.wall_ns >= SECOND_NS / 5 && f.outcome.wall_ns < 2 * SECOND_NS);
        finish(&f);
    }
}

static void test_floods(void **state)
{
    (void)state;
    static const char *const ENTRIES[] = {"floods", "floods_errors"};
    for (size_t i = 0; i < sizeof ENTRIES / sizeof ENTRIES[0]; i++) {
        struct fixture f;
        open_entry(&f, ENTRIES[i]);
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.how, RUN_OUTPUT_LIMIT);
        assert_int_equal(f.box.out.length + f.box.errors.length, 100000);
        finish(&f);
    }
}

static void test_cuda_errors(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "last_error");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_CUDA_ERROR);
    assert_int_equal(f.outcome.reply.cuda_error, 9);
    assert_string_equal(f.outcome.reply.message,
                        "cudaErrorFake: something the fake was told to say (returned by a launch "
                        "or a call of the entry point)");
    assert_false(f.box.alive);
    finish(&f);
    open_entry(&f, "sync_error");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_CUDA_ERROR);
    assert_int_equal(f.outcome.reply.cuda_error, 700);
    assert_non_null(strstr(f.outcome.reply.message, "cudaErrorIllegalAddress"));
    assert_false(f.box.alive);
    finish(&f);
}

static void test_loading_fails(void **state)
{
    (void)state;
    static const struct {
        const char *cudart, *library, *entry, *wanted;
        enum wire_status status;
    } ROWS[] = {
        {"fake_cudart", "fake_submission", "no_such_entry", "no function no_such_entry",
         WIRE_LOAD_FAILED},
        {"fake_cudart", "broken", "scan", "cannot be loaded", WIRE_LOAD_FAILED},
        {"broken", "fake_submission", "scan", "cannot load the CUDA runtime", WIRE_NO_DEVICE},
        {"fake_submission", "fake_submission", "scan", "CUDA runtime", WIRE_NO_DEVICE},
    };
    assert_int_equal(file_write(FAKES "/broken.so", "no library", 10, NULL), 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct fixture f;
        open_library(&f, ROWS[i].cudart, ROWS[i].library, ROWS[i].entry);
        assert_int_equal(f.outcome.how, RUN_REPLIED);
        assert_int_equal(f.outcome.reply.status, ROWS[i].status);
        if (!strstr(f.outcome.reply.message, ROWS[i].wanted))
            fail_msg("%s", f.outcome.reply.message);
        assert_false(f.box.alive);
        finish(&f);
    }
}

/* What we were to give to the box is not there: that is not the submission's fault. */
static void test_parts_are_missing(void **state)
{
    (void)state;
    static const char *const NAMES[][2] = {{FAKES "/none.so", FAKES "/fake_submission.so"},
                                           {FAKES "/fake_cudart.so", FAKES "/none.so"}};
    for (int i = 0; i < 2; i++) {
        struct run_spec spec = {.runner = RUNNER,
                                .cudart = NAMES[i][0],
                                .library = NAMES[i][1],
                                .entry = "scan",
                                .start_limit_ns = 20 * SECOND_NS,
                                .output_bytes = 1000};
        struct run_box box;
        struct run_outcome outcome;
        struct err e;
        assert_int_equal(run_open(&spec, &box, &outcome, &e), -1);
        assert_non_null(strstr(e.text, "none.so"));
        run_close(&box);
    }
}

static void test_constructor_exits(void **state)
{
    (void)state;
    struct fixture f;
    open_library(&f, "fake_cudart", "fake_constructor", "scan");
    assert_int_equal(f.outcome.how, RUN_EXITED);
    assert_int_equal(f.outcome.code, 42);
    finish(&f);
}

static void test_runner_is_missing(void **state)
{
    (void)state;
    struct run_spec spec = {.runner = "/no/such/runner",
                            .cudart = "a",
                            .library = "b",
                            .entry = "c",
                            .start_limit_ns = SECOND_NS,
                            .output_bytes = 100};
    struct run_box box;
    struct run_outcome outcome;
    struct err e = {""};
    assert_int_equal(run_open(&spec, &box, &outcome, &e), -1);
    assert_non_null(strstr(e.text, "/no/such/runner"));
    run_close(&box);
}

static void test_forged_replies(void **state)
{
    (void)state;
    static const char *const ENTRIES[] = {
        "sends_garbage",         "forges_magic",        "forges_status",   "forges_ready",
        "forges_count",          "forges_kind",         "forges_severity", "forges_signal",
        "forges_endless_string", "forges_endless_file",
    };
    for (size_t i = 0; i < sizeof ENTRIES / sizeof ENTRIES[0]; i++) {
        struct fixture f;
        open_entry(&f, ENTRIES[i]);
        pass(&f, 20 * SECOND_NS);
        if (f.outcome.how != RUN_GARBAGE)
            fail_msg("%s was taken for a reply", ENTRIES[i]);
        assert_false(f.box.alive);
        finish(&f);
    }
}

static void test_text_is_made_harmless(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "forges_escapes");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.how, RUN_REPLIED);
    assert_string_equal(f.outcome.reply.message, "a?[2Jb?\xc3\xa9???z");
    finish(&f);
}

/* The second of two answers must not be taken for the answer to the next pass. */
static void test_early_answer(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "answers_early");
    pass(&f, 20 * SECOND_NS); /* the forged one */
    assert_int_equal(f.outcome.how, RUN_REPLIED);
    usleep(200000); /* the real one is waiting by now */
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.how, RUN_GARBAGE);
    assert_false(f.box.alive);
    finish(&f);
}

static void test_inside_of_the_box(void **state)
{
    (void)state;
#ifdef SJ_SANITIZED
    enum { VARIABLES = 6 }; /* one for the sanitizer */
#else
    enum { VARIABLES = 5 };
#endif
    setenv("JUDGE_SECRET", "42", 1);
    setenv("CUDA_VISIBLE_DEVICES", "7", 1); /* the judge's own, and not the box's */
    struct fixture f;
    open_entry(&f, "snoops");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    const int *seen = payload(&f, 1);
    assert_int_equal(seen[0], 0); /* inputs stay read-only */
    assert_int_equal(seen[1], 0); /* no descriptor but its own two regions */
#ifndef SJ_SANITIZED
    assert_int_equal(seen[2], 0); /* not dumpable */
#endif
    assert_int_equal(seen[3], VARIABLES); /* run.c names them */
    assert_int_equal(seen[5], 0);         /* its length: no card */
    assert_int_equal(seen[4], 0);         /* outputs cannot be resized */
    unsetenv("JUDGE_SECRET");
    unsetenv("CUDA_VISIBLE_DEVICES");
    finish(&f);
    open_with(&f, "fake_cudart_gpu", "fake_submission", "snoops", "GPU-0123", NULL);
    make_request(&f);
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(payload(&f, 1)[3], VARIABLES);
    assert_int_equal(payload(&f, 1)[5], 8);
    finish(&f);
}

/* A tool starts the runner, and writes its report when that has ended. */
static void test_tool_in_front(void **state)
{
    (void)state;
    char path[] = "/tmp/test-runner-XXXXXX", script[256], report[16] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    snprintf(script, sizeof script, "\"$@\"; sleep 0.2; echo $? >%s", path);
    const char *const before[] = {"/bin/sh", "-c", script, "sh", NULL};
    struct fixture f;
    open_with(&f, "fake_cudart_gpu", "fake_submission", "scan", "GPU-0123", before);
    make_request(&f);
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    assert_int_equal(payload(&f, 1)[N - 1], N * (N - 1) / 2);
    run_close_slowly(&f.box, 20 * SECOND_NS);
    assert_int_equal(read(fd, report, sizeof report - 1), 2);
    assert_string_equal(report, "0\n");
    finish(&f);
    /* A pass that fails ends the box, and lets the tool finish, too. */
    assert_int_equal(ftruncate(fd, 0), 0);
    open_with(&f, "fake_cudart_gpu", "fake_submission", "sync_error", "GPU-0123", before);
    make_request(&f);
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_CUDA_ERROR);
    assert_false(f.box.alive);
    assert_int_equal(pread(fd, report, sizeof report - 1, 0), 2);
    finish(&f);
    close(fd);
    unlink(path);
}

/* A tool that does not end is ended. */
static void test_tool_hangs(void **state)
{
    (void)state;
    const char *const before[] = {"/bin/sh", "-c", "\"$@\"; sleep 600", "sh", NULL};
    struct fixture f;
    open_with(&f, "fake_cudart_gpu", "fake_submission", "scan", "GPU-0123", before);
    make_request(&f);
    pass(&f, 20 * SECOND_NS);
    uint64_t start = clock_now_ns();
    run_close_slowly(&f.box, SECOND_NS / 5);
    assert_true(clock_now_ns() - start < 5 * SECOND_NS);
    finish(&f);
}

/* Allocations of the submission, counted in front of a runtime that tells nothing. */
static void test_memory_of_a_card(void **state)
{
    (void)state;
    struct fixture f;
    open_with(&f, "fake_cudart_gpu", "fake_submission", "allocates", "GPU-0123", NULL);
    assert_int_equal(f.outcome.reply.status, WIRE_READY);
    make_request(&f);
    for (int round = 0; round < 3; round++) { /* what an earlier call kept is not this one's */
        pass(&f, 20 * SECOND_NS);
        assert_int_equal(f.outcome.reply.status, WIRE_DONE);
        assert_int_equal(f.outcome.reply.device_bytes, 5000);
    }
    f.request.memory_limit = 5000; /* exactly enough */
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.device_bytes, 5000);
    f.request.memory_limit = 4000; /* the first is refused, and told as if it had been granted */
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.device_bytes, 5000);
    finish(&f);
    open_with(&f, "fake_cudart_gpu", "fake_submission", "allocates_much", "GPU-0123", NULL);
    make_request(&f);
    f.request.memory_limit = 1 << 20;
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    assert_int_equal(payload(&f, 1)[0], 1024); /* of 2000 blocks of 1 KiB */
    assert_int_equal(f.outcome.reply.device_bytes, (1 << 20) + 1024);
    assert_int_equal(payload(&f, 1)[1], 0); /* all given back: the same again */
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(payload(&f, 1)[0], 1024);
    finish(&f);
}

/* Neither guards nor poison, and nothing comes back. */
static void test_bare_request(void **state)
{
    (void)state;
    struct fixture f;
    open_library(&f, "fake_cudart_gpu", "fake_submission", "look_bare");
    make_request(&f);
    f.request.bare = 1;
    memset(f.out.bytes, 0x5a, f.out.size);
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    for (uint64_t i = 0; i < f.request.out_bytes; i++)
        assert_int_equal(f.out.bytes[i], 0x5a);
    assert_non_null(strstr(text_str(&f.box.out), "in at 4, 4004 bytes, out at 0, 4000 bytes, 0"));
    finish(&f);
}

/* As we count: what the process itself is told is another number. */
static pid_t child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *list = fopen(path, "re");
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%d", &child), 1);
    fclose(list);
    return child;
}

static void test_children_do_not_survive(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "leaves_child");
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    pid_t child = child_of(f.box.sandbox.pid);
    assert_true(child > 1);
    assert_int_equal(kill(child, 0), 0);
    finish(&f);
    assert_int_equal(kill(child, 0), -1); /* not even a zombie */
    assert_int_equal(errno, ESRCH);
}

static void test_bad_requests(void **state)
{
    (void)state;
    struct fixture f;
    open_entry(&f, "scan");
    const struct wire_request good = f.request;
    for (int kind = 0; kind < 8; kind++) {
        f.request = good;
        int fds[2] = {f.in.fd, f.out.fd};
        switch (kind) {
        case 0:
            f.request.magic++;
            break;
        case 1:
            f.request.param_count = WIRE_PARAMS_MAX + 1;
            break;
        case 2:
            f.request.params[0].in_offset = f.request.in_bytes;
            break;
        case 3:
            f.request.params[1].out_offset = UINT64_MAX - 10;
            break;
        case 4:
            f.request.params[1].bytes = UINT64_MAX - 100;
            break;
        case 5:
            f.request.out_bytes *= 2;
            break;
        case 6:
            fds[1] = -1;
            break;
        default:
            f.request.params[2].type = WIRE_void;
            break;
        }
        assert_int_equal(run_pass(&f.box, &f.request, fds, 20 * SECOND_NS, &f.outcome, &f.e), 0);
        assert_int_equal(f.outcome.how, RUN_REPLIED);
        assert_int_equal(f.outcome.reply.status, WIRE_BAD_REQUEST);
        assert_true(f.outcome.reply.message[0] != '\0');
    }
    f.request = good; /* and it still works */
    pass(&f, 20 * SECOND_NS);
    assert_int_equal(f.outcome.reply.status, WIRE_DONE);
    finish(&f);
}

/* A region that is only to be read cannot be mapped for writing by whoever has its descriptor. */
static void test_regions_are_sealed(void **state)
{
    (void)state;
    struct run_region in, out;
    struct err e;
    assert_int_equal(run_region_init(&in, 10000, false, &e), 0);
    assert_int_equal(run_region_init(&out, 0, true, &e), 0);
    assert_int_equal(out.size, 1);
    assert_true(mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, in.fd, 0) == MAP_FAILED);
    assert_true(write(in.fd, "x", 1) < 0);
    assert_true(ftruncate(in.fd, 1) < 0);
    assert_true(ftruncate(out.fd, 100) < 0);
    in.bytes[9999] = 7; /* we still may */
    uint8_t *view = mmap(NULL, 10000, PROT_READ, MAP_SHARED, in.fd, 0);
    assert_true(view != MAP_FAILED);
    assert_int_equal(view[9999], 7);
    munmap(view, 10000);
    run_region_release(&in);
    run_region_release(&out);
    run_region_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions_are_sealed),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_scan_without_hooks),
        cmocka_unit_test(test_observations_come_back),
        cmocka_unit_test(test_buffers_are_poisoned_and_narrowed),
        cmocka_unit_test(test_overrun_shows_in_the_guards),
        cmocka_unit_test(test_addresses_change_between_passes),
        cmocka_unit_test(test_regions_may_change),
        cmocka_unit_test(test_every_scalar_type),
        cmocka_unit_test(test_prints),
        cmocka_unit_test(test_small_cases_are_cheap),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_findings_survive_a_crash),
        cmocka_unit_test(test_work_on_other_streams),
        cmocka_unit_test(test_device_pointer_without_hooks),
        cmocka_unit_test(test_output_survives_a_crash),
        cmocka_unit_test(test_crash_while_the_device_is_locked),
        cmocka_unit_test(test_handlers_are_put_back),
        cmocka_unit_test(test_ends_without_an_answer),
        cmocka_unit_test(test_never_answers),
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_cuda_errors),
        cmocka_unit_test(test_loading_fails),
        cmocka_unit_test(test_parts_are_missing),
        cmocka_unit_test(test_constructor_exits),
        cmocka_unit_test(test_runner_is_missing),
        cmocka_unit_test(test_forged_replies),
        cmocka_unit_test(test_text_is_made_harmless),
        cmocka_unit_test(test_early_answer),
        cmocka_unit_test(test_inside_of_the_box),
        cmocka_unit_test(test_tool_in_front),
        cmocka_unit_test(test_tool_hangs),
        cmocka_unit_test(test_bare_request),
        cmocka_unit_test(test_memory_of_a_card),
        cmocka_unit_test(test_children_do_not_survive),
        cmocka_unit_test(test_bad_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
