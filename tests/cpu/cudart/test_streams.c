/* When queued work runs: with each order of streams, what is ordered comes out right, and what is
 * not ordered comes out wrong where the order of streams can show it. Copies and fills stand in for
 * kernels, so that no device code is needed.
 * Long because every rule of the streams has its own small program. */
#include "expect.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 64 };

static void configure(enum wire_stream_order order, uint64_t seed)
{
    struct wire_device_config config = {
        .checks = WIRE_CHECK_DEFAULT, .stream_order = order, .schedule_seed = seed};
    scanjudge_device_hooks()->configure(&config);
    cudaGetLastError();
}

static int late(void **state)
{
    (void)state;
    configure(WIRE_STREAMS_LATE, 0);
    return 0;
}

/* Leaves nothing queued behind. */
static int done(void **state)
{
    (void)state;
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return 0;
}

static unsigned char *device_bytes(int value)
{
    void *p = NULL;
    assert_int_equal(cudaMalloc(&p, BYTES), cudaSuccess);
    assert_int_equal(cudaMemset(p, value, BYTES), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return p;
}

static unsigned char *pinned_bytes(int value)
{
    void *p = NULL;
    assert_int_equal(cudaMallocHost(&p, BYTES), cudaSuccess);
    memset(p, value, BYTES);
    return p;
}

static cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t s = NULL;
    assert_int_equal(cudaStreamCreateWithFlags(&s, flags), cudaSuccess);
    return s;
}

static cudaEvent_t new_event(void)
{
    cudaEvent_t v = NULL;
    assert_int_equal(cudaEventCreate(&v), cudaSuccess);
    return v;
}

/* The first byte, read behind `stream`, which this waits for. */
static int first_of(const unsigned char *device, cudaStream_t stream)
{
    unsigned char byte;
    assert_int_equal(cudaMemcpyAsync(&byte, device, 1, cudaMemcpyDeviceToHost, stream), 0);
    return byte;
}

/* ---- copies ---- */

static void a_pinned_copy_is_there_after_a_wait(void **state)
{
    (void)state;
    unsigned char *device = device_bytes(7), *host = pinned_bytes(1);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, s), 0);
    assert_int_not_equal(host[0], 7);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(host[0], 7);
    cudaStreamDestroy(s);
    cudaFree(device);
    cudaFreeHost(host);
}

static void a_pageable_copy_waits_down_and_is_staged_up(void **state)
{
    (void)state;
    unsigned char *device = device_bytes(7), plain[BYTES];
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    memset(plain, 1, BYTES);
    assert_int_equal(cudaMemcpyAsync(plain, device, BYTES, cudaMemcpyDeviceToHost, s), 0);
    assert_int_equal(plain[BYTES - 1], 7);
    memset(plain, 8, BYTES);
    assert_int_equal(cudaMemcpyAsync(device, plain, BYTES, cudaMemcpyHostToDevice, s), 0);
    memset(plain, 9, BYTES);
    assert_int_equal(first_of(device, s), 8);
    cudaStreamDestroy(s);
    cudaFree(device);
}

static void a_pinned_source_is_read_late(void **state)
{
    (void)state;
    unsigned char *device = device_bytes(7), *host = pinned_bytes(1);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, s), 0);
    memset(host, 2, BYTES);
    assert_int_equal(first_of(device, s), 2);
    cudaStreamDestroy(s);
    cudaFree(device);
    cudaFreeHost(host);
}

static void rows_are_staged_and_copied_late(void **state)
{
    (void)state;
    unsigned char *device = device_bytes(0), rows[4][8], back[BYTES];
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    for (int y = 0; y < 4; y++)
        memset(rows[y], y + 1, 8);
    assert_int_equal(cudaMemcpy2DAsync(device, 16, rows, 8, 4, 4, cudaMemcpyHostToDevice, s), 0);
    memset(rows, 99, sizeof rows);
    assert_int_equal(cudaMemset2DAsync(device + 4, 16, 77, 2, 3, s), 0);
    assert_int_equal(cudaMemcpyAsync(back, device, BYTES, cudaMemcpyDeviceToHost, s), 0);
    for (int i = 0; i < BYTES; i++) {
        int y = i / 16, x = i % 16;
        int expected = x < 4 ? y + 1 : x < 6 && y < 3 ? 77 : 0;
        assert_int_equal(back[i], expected);
    }
    cudaStreamDestroy(s);
    cudaFree(device);
}

static void fills_and_copies_on_the_device_do_not_wait(void **state)
{
    (void)state;
    unsigned char *a = device_bytes(1), *b = device_bytes(2);
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemset(a, 5, BYTES), cudaSuccess);
    assert_int_equal(cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice), cudaSuccess);
    assert_int_equal(first_of(a, other), 1);
    assert_int_equal(first_of(b, other), 2);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(first_of(b, other), 5);
    cudaStreamDestroy(other);
    cudaFree(a);
    cudaFree(b);
}

/* ---- order between streams ---- */

static void events_order_streams(void **state)
{
    (void)state;
    unsigned char *a = device_bytes(1), *b = device_bytes(2);
    cudaStream_t first = new_stream(cudaStreamNonBlocking);
    cudaStream_t second = new_stream(cudaStreamNonBlocking);
    cudaEvent_t filled = new_event();
    assert_int_equal(cudaMemsetAsync(a, 5, BYTES, first), cudaSuccess);
    assert_int_equal(cudaEventRecord(filled, first), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(a, 6, BYTES, first), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, filled, 0), cudaSuccess);
    /* A wait looks at the record of its moment. */
    assert_int_equal(cudaEventRecord(filled, first), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, second), cudaSuccess);
    assert_int_equal(cudaEventDestroy(filled), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(first), cudaSuccess);
    assert_int_equal(first_of(b, second), 5);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(first_of(a, second), 6);
    cudaStreamDestroy(second);
    cudaFree(a);
    cudaFree(b);
}

static void the_default_stream_orders_blocking_streams(void **state)
{
    (void)state;
    unsigned char *a = device_bytes(1), *b = device_bytes(2);
    cudaStream_t blocking = new_stream(cudaStreamDefault);
    assert_int_equal(cudaMemsetAsync(a, 5, BYTES, blocking), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, NULL), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(a, 9, BYTES, blocking), cudaSuccess);
    assert_int_equal(first_of(b, blocking), 5);
    assert_int_equal(first_of(a, blocking), 9);
    /* One that is gone still counts. */
    assert_int_equal(cudaMemsetAsync(a, 4, BYTES, blocking), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(blocking), cudaSuccess);
    assert_int_equal(first_of(a, cudaStreamLegacy), 4);
    cudaFree(a);
    cudaFree(b);
}

static void nothing_orders_a_non_blocking_stream(void **state)
{
    (void)state;
    unsigned char *a = device_bytes(1);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemsetAsync(a, 5, BYTES, NULL), cudaSuccess);
    assert_int_equal(first_of(a, s), 1);
    assert_int_equal(cudaMemsetAsync(a, 6, BYTES, s), cudaSuccess);
    assert_int_equal(first_of(a, NULL), 5);
    cudaStreamDestroy(s);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaFree(a);
}

static void waiting_for_one_stream_runs_that_one(void **state)
{
    (void)state;
    unsigned char *a = pinned_bytes(0), *b = pinned_bytes(0);
    unsigned char *device = device_bytes(3);
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemcpyAsync(a, device, 1, cudaMemcpyDeviceToHost, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(b, device, 1, cudaMemcpyDeviceToHost, t), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(a[0], 3);
    assert_int_not_equal(b[0], 3);
    assert_int_equal(cudaFree(device), cudaSuccess); /* waits for the whole device */
    assert_int_equal(b[0], 3);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFreeHost(a);
    cudaFreeHost(b);
}

/* ---- questions ---- */

static void asking_says_not_ready_and_gets_it_done(void **state)
{
    (void)state;
    unsigned char *device = device_bytes(3), *host = pinned_bytes(0);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    cudaEvent_t start = new_event(), end = new_event();
    float ms;
    unsigned asked = 0;
    assert_int_equal(cudaStreamQuery(s), cudaSuccess);
    assert_int_equal(cudaEventRecord(start, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, s), cudaSuccess);
    assert_int_equal(cudaEventRecord(end, s), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    while (cudaEventQuery(end) == cudaErrorNotReady)
        asked++;
    assert_in_range(asked, 3, 20);
    assert_int_equal(host[0], 3);
    assert_int_equal(cudaStreamQuery(s), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, end), cudaSuccess);
    assert_true(ms >= 0);
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    cudaStreamDestroy(s);
    cudaFree(device);
    cudaFreeHost(host);
}

/* ---- stream-ordered memory ---- */

static void a_free_that_nothing_orders_is_found(void **state)
{
    (void)state;
    void *p = NULL;
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMallocAsync(&p, BYTES, s), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(p, 1, BYTES, s), cudaSuccess);
    assert_int_equal(cudaFreeAsync(p, t), cudaSuccess);
    assert_int_equal(cudaFreeAsync(p, t), cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess); /* the newest stream first: t */
    expect_finding(FINDING_use_after_free, "nothing orders the two");
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}

static void a_free_in_order_is_clean(void **state)
{
    (void)state;
    void *p = NULL;
    struct wire_finding none;
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    cudaEvent_t used = new_event();
    assert_int_equal(cudaMallocAsync(&p, BYTES, s), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(p, 1, BYTES, s), cudaSuccess);
    assert_int_equal(cudaEventRecord(used, s), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(t, used, 0), cudaSuccess);
    assert_int_equal(cudaFreeAsync(p, t), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(scanjudge_device_hooks()->findings(&none, 1), 0);
    cudaEventDestroy(used);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}

static void queued_frees_give_memory_back(void **state)
{
    (void)state;
    size_t free_bytes, total;
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
    for (int i = 0; i < 5; i++) {
        void *p = NULL;
        assert_int_equal(cudaMallocAsync(&p, total / 2 + 1, s), cudaSuccess);
        assert_int_equal(cudaFreeAsync(p, s), cudaSuccess);
    }
    cudaStreamDestroy(s);
}

/* ---- host functions ---- */

struct log {
    int steps[8];
    int count;
};

struct step {
    struct log *log;
    int number;
};

static void add_step(void *argument)
{
    const struct step *s = argument;
    s->log->steps[s->log->count++] = s->number;
}

static void host_functions_keep_their_place(void **state)
{
    (void)state;
    struct log log = {.count = 0};
    struct step one = {&log, 1}, two = {&log, 2}, three = {&log, 3};
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    cudaEvent_t v = new_event();
    assert_int_equal(cudaLaunchHostFunc(s, add_step, &one), cudaSuccess);
    assert_int_equal(cudaEventRecord(v, s), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(t, v, 0), cudaSuccess);
    assert_int_equal(cudaLaunchHostFunc(t, add_step, &two), cudaSuccess);
    assert_int_equal(cudaLaunchHostFunc(t, add_step, &three), cudaSuccess);
    assert_int_equal(log.count, 0);
    assert_int_equal(cudaStreamSynchronize(t), cudaSuccess);
    assert_int_equal(log.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(log.steps[i], i + 1);
    cudaEventDestroy(v);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void pass_gate(void *argument)
{
    pthread_mutex_lock(&gate);
    *(int *)argument = 1;
    pthread_mutex_unlock(&gate);
}

/* CUDA runs host functions in a thread of its own: one that waits for the caller is no deadlock. */
static void a_host_function_may_wait_for_the_caller(void **state)
{
    (void)state;
    configure(WIRE_STREAMS_EAGER, 0);
    unsigned char *device = device_bytes(1);
    int passed = 0;
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    pthread_mutex_lock(&gate);
    assert_int_equal(cudaLaunchHostFunc(s, pass_gate, &passed), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(device, 2, BYTES, s), cudaSuccess);
    assert_int_equal(cudaStreamQuery(s), cudaErrorNotReady);
    pthread_mutex_unlock(&gate);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(passed, 1);
    assert_int_equal(first_of(device, s), 2);
    cudaStreamDestroy(s);
    cudaFree(device);
}

static void an_idle_program_gets_its_work_done(void **state)
{
    (void)state;
    unsigned char *flag = pinned_bytes(0);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMemsetAsync(flag, 1, 1, s), cudaSuccess);
    for (int ms = 0; !__atomic_load_n(flag, __ATOMIC_RELAXED); ms++) {
        if (ms > 30000)
            fail_msg("nobody ran it");
        usleep(1000);
    }
    cudaStreamDestroy(s);
    cudaFreeHost(flag);
}

/* ---- threads ---- */

static void *fill_in_own_stream(void *argument)
{
    unsigned char *at = argument;
    cudaMemsetAsync(at, 5, BYTES, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    return NULL;
}

static void *leave_work_in_own_stream(void *argument)
{
    cudaMemsetAsync(argument, 6, BYTES, cudaStreamPerThread);
    return NULL;
}

static void each_thread_has_a_default_stream(void **state)
{
    (void)state;
    unsigned char *a = device_bytes(1), *b = device_bytes(2);
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    pthread_t thread;
    assert_int_equal(cudaMemsetAsync(a, 9, BYTES, cudaStreamPerThread), cudaSuccess);
    assert_int_equal(pthread_create(&thread, NULL, fill_in_own_stream, b), 0);
    pthread_join(thread, NULL);
    assert_int_equal(first_of(b, other), 5);
    assert_int_equal(first_of(a, other), 1); /* the other thread waited for its own stream only */
    assert_int_equal(pthread_create(&thread, NULL, leave_work_in_own_stream, b), 0);
    pthread_join(thread, NULL);
    assert_int_equal(first_of(b, NULL), 6); /* the legacy default stream waits for both */
    assert_int_equal(first_of(a, NULL), 9);
    cudaStreamDestroy(other);
    cudaFree(a);
    cudaFree(b);
}

/* ---- random ---- */

/* One bit per unordered race of a fill and a read: 1 = the fill came first. */
static unsigned races(uint64_t seed)
{
    enum { RACES = 12 };
    configure(WIRE_STREAMS_RANDOM, seed);
    unsigned char *device = device_bytes(0), *host = pinned_bytes(0);
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    unsigned bits = 0;
    for (int i = 0; i < RACES; i++) {
        cudaMemsetAsync(device + i, 1, 1, s);
        cudaMemcpyAsync(host + i, device + i, 1, cudaMemcpyDeviceToHost, t);
    }
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < RACES; i++)
        bits |= (unsigned)(host[i] & 1) << i;
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(device);
    cudaFreeHost(host);
    return bits;
}

static void seeds_draw_different_orders(void **state)
{
    (void)state;
    unsigned different = 0;
    for (uint64_t seed = 1; seed < 8; seed++) {
        unsigned drawn = races(seed);
        assert_int_equal(races(seed), drawn); /* a seed can be had again */
        different += drawn != races(seed + 100);
    }
    assert_true(different >= 4);
}

/* Two buffers between two streams, ordered by events in both directions. */
static void check_pipeline(void)
{
    enum { ROUNDS = 20 };
    unsigned char *device[2] = {device_bytes(0), device_bytes(0)}, *host = pinned_bytes(0);
    cudaStream_t make = new_stream(cudaStreamNonBlocking), use = new_stream(cudaStreamDefault);
    cudaEvent_t made[2] = {new_event(), new_event()}, used[2] = {new_event(), new_event()};
    for (int i = 0; i < ROUNDS; i++) {
        int k = i % 2;
        if (i >= 2)
            assert_int_equal(cudaStreamWaitEvent(make, used[k], 0), cudaSuccess);
        assert_int_equal(cudaMemsetAsync(device[k], i + 1, BYTES, make), cudaSuccess);
        assert_int_equal(cudaEventRecord(made[k], make), cudaSuccess);
        assert_int_equal(cudaStreamWaitEvent(use, made[k], 0), cudaSuccess);
        assert_int_equal(cudaMemcpyAsync(host + i, device[k], 1, cudaMemcpyDeviceToHost, use),
                         cudaSuccess);
        assert_int_equal(cudaEventRecord(used[k], use), cudaSuccess);
    }
    assert_int_equal(cudaStreamSynchronize(use), cudaSuccess);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(host[i], i + 1);
    for (int k = 0; k < 2; k++) {
        cudaFree(device[k]);
        cudaEventDestroy(made[k]);
        cudaEventDestroy(used[k]);
    }
    cudaStreamDestroy(make);
    cudaStreamDestroy(use);
    cudaFreeHost(host);
}

static void a_pipeline_is_right_in_every_order(void **state)
{
    (void)state;
    configure(WIRE_STREAMS_EAGER, 0);
    check_pipeline();
    configure(WIRE_STREAMS_LATE, 0);
    check_pipeline();
    for (uint64_t seed = 0; seed < 50; seed++) {
        configure(WIRE_STREAMS_RANDOM, seed);
        check_pipeline();
    }
}

/* Whoever does not wait must not find what an earlier call left there. */
static void pinned_bytes_are_nobodys_until_they_are_copied(void **state)
{
    (void)state;
    unsigned char *host;
    unsigned char *device = device_bytes(9), *other = device_bytes(0);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaMallocHost((void **)&host, BYTES), cudaSuccess);
    configure(WIRE_STREAMS_LATE, 0);
    memset(host, 7, BYTES);
    cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, s);
    assert_int_not_equal(host[0], 7);
    assert_int_not_equal(host[0], 9);
    assert_int_equal(host[1], 7);
    cudaStreamSynchronize(s);
    assert_int_equal(host[0], 9);

    /* What still has to be read is left alone: the bytes go to the device first. */
    memset(host, 7, BYTES);
    cudaMemcpyAsync(other, host, 1, cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, s);
    assert_int_equal(first_of(other, s), 7);
    assert_int_equal(host[0], 9);

    configure(WIRE_STREAMS_EAGER, 0);
    memset(host, 7, BYTES);
    cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, s);
    assert_int_equal(host[0], 9);
    cudaFree(device);
    cudaFree(other);
    cudaFreeHost(host);
    cudaStreamDestroy(s);
}

static void a_long_queue_needs_no_deep_stack(void **state)
{
    (void)state;
    enum { LINKS = 20000 };
    unsigned char *device = device_bytes(0);
    cudaStream_t s[2] = {new_stream(cudaStreamNonBlocking), new_stream(cudaStreamNonBlocking)};
    cudaEvent_t v = new_event();
    for (int i = 0; i < LINKS; i++) {
        cudaMemsetAsync(device, i % 200, BYTES, s[i & 1]);
        cudaEventRecord(v, s[i & 1]);
        cudaStreamWaitEvent(s[~i & 1], v, 0);
    }
    assert_int_equal(first_of(device, s[LINKS & 1]), (LINKS - 1) % 200);
    cudaEventDestroy(v);
    cudaStreamDestroy(s[0]);
    cudaStreamDestroy(s[1]);
    cudaFree(device);
}

/* ---- what the runner asks ---- */

static void check_left_behind(enum wire_stream_order order)
{
    struct wire_finding one;
    configure(order, 0);
    unsigned char *device = device_bytes(1);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    scanjudge_device_hooks()->name_stream(s, "stream");
    assert_int_equal(cudaMemsetAsync(device, 2, BYTES, s), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    scanjudge_device_hooks()->left_behind("stream");
    assert_int_equal(scanjudge_device_hooks()->findings(&one, 1), 0);

    assert_int_equal(cudaMemset(device, 3, BYTES), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    scanjudge_device_hooks()->left_behind("stream");
    assert_int_equal(scanjudge_device_hooks()->findings(&one, 1), 1);
    assert_int_equal(one.kind, FINDING_leak);
    assert_int_equal(one.severity, WIRE_ERROR);
    expect_finding(FINDING_leak, "cudaMemset on the default stream was left behind");
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaStreamDestroy(s);
    cudaFree(device);
}

static void work_left_behind_is_named(void **state)
{
    (void)state;
    check_left_behind(WIRE_STREAMS_EAGER);
    check_left_behind(WIRE_STREAMS_LATE);
}

/* ---- faults ---- */

static const char trap_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry stop()\n{\n    trap;\n}\n";

static void a_fault_comes_with_the_wait(void **state)
{
    (void)state;
    static char stop_stub;
    struct device_program p;
    const dim3 one = {1, 1, 1};
    unsigned char *device = device_bytes(1), *host = pinned_bytes(0);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    program_from_ptx(&p, trap_ptx, &stop_stub, "stop");
    assert_int_equal(cudaLaunchKernel(&stop_stub, one, one, NULL, 0, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, s), cudaSuccess);
    void *more = NULL;
    assert_int_equal(cudaMalloc(&more, 4), cudaSuccess);
    expect_error(cudaStreamSynchronize(s), cudaErrorLaunchFailure);
    assert_int_not_equal(host[0], 1); /* what stands behind it is dropped */
    expect_error(cudaMalloc(&more, 4), cudaErrorLaunchFailure);
    configure(WIRE_STREAMS_EAGER, 0);
    cudaStreamDestroy(s);
    cudaFree(device);
    cudaFreeHost(host);
    program_end(&p);
}

int main(void)
{
#define LATE(f) cmocka_unit_test_setup_teardown(f, late, done)
    const struct CMUnitTest tests[] = {
        LATE(a_pinned_copy_is_there_after_a_wait),
        LATE(a_pageable_copy_waits_down_and_is_staged_up),
        LATE(a_pinned_source_is_read_late),
        LATE(rows_are_staged_and_copied_late),
        LATE(fills_and_copies_on_the_device_do_not_wait),
        LATE(events_order_streams),
        LATE(the_default_stream_orders_blocking_streams),
        LATE(nothing_orders_a_non_blocking_stream),
        LATE(waiting_for_one_stream_runs_that_one),
        LATE(asking_says_not_ready_and_gets_it_done),
        LATE(a_free_that_nothing_orders_is_found),
        LATE(a_free_in_order_is_clean),
        LATE(queued_frees_give_memory_back),
        LATE(host_functions_keep_their_place),
        LATE(a_host_function_may_wait_for_the_caller),
        LATE(an_idle_program_gets_its_work_done),
        LATE(each_thread_has_a_default_stream),
        LATE(seeds_draw_different_orders),
        LATE(a_pipeline_is_right_in_every_order),
        LATE(pinned_bytes_are_nobodys_until_they_are_copied),
        LATE(a_long_queue_needs_no_deep_stack),
        LATE(work_left_behind_is_named),
        LATE(a_fault_comes_with_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
