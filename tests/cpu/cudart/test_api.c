/* Errors, streams, events, callbacks, the device's properties, and functions without a body. */
#include "device_program.h"
#include "expect.h"

#include <pthread.h>
#include <unistd.h>

static void every_error_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorName((cudaError_t)700), "cudaErrorIllegalAddress");
    assert_string_equal(cudaGetErrorString((cudaError_t)700),
                        "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorString((cudaError_t)9), "invalid configuration argument");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
}

static void *other_thread(void *result)
{
    *(cudaError_t *)result = cudaGetLastError();
    return NULL;
}

static void the_last_error_belongs_to_a_thread(void **state)
{
    (void)state;
    pthread_t thread;
    cudaError_t seen = cudaErrorUnknown;
    assert_int_equal(cudaSetDevice(7), cudaErrorInvalidDevice);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &seen), 0);
    pthread_join(thread, NULL);
    assert_int_equal(seen, cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
}

static void streams_are_checked(void **state)
{
    (void)state;
    cudaStream_t a, b;
    unsigned flags;
    int priority;
    unsigned long long id_a, id_b;
    assert_int_equal(cudaStreamCreate(&a), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, -2), cudaSuccess);
    assert_int_equal(cudaStreamGetFlags(b, &flags), cudaSuccess);
    assert_int_equal(flags, cudaStreamNonBlocking);
    assert_int_equal(cudaStreamGetPriority(b, &priority), cudaSuccess);
    assert_int_equal(priority, -2);
    assert_int_equal(cudaStreamGetId(a, &id_a), cudaSuccess);
    assert_int_equal(cudaStreamGetId(b, &id_b), cudaSuccess);
    assert_int_not_equal(id_a, id_b);
    assert_int_equal(cudaStreamQuery(a), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(a), cudaSuccess);
    expect_error(cudaStreamSynchronize(a), cudaErrorInvalidResourceHandle);
    expect_finding(FINDING_cuda_error, "not a stream");
    expect_error(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    expect_error(cudaMemsetAsync(NULL, 0, 0, a), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaStreamDestroy(b), cudaSuccess);
}

static void events_measure_host_time(void **state)
{
    (void)state;
    cudaEvent_t start, end, untimed;
    float ms = -1;
    assert_int_equal(cudaEventCreate(&start), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
    assert_int_equal(cudaEventRecord(start, NULL), cudaSuccess);
    expect_error(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
    usleep(20000);
    assert_int_equal(cudaEventRecord(end, NULL), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(NULL, end, 0), cudaSuccess);
    assert_int_equal(cudaEventSynchronize(end), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, end), cudaSuccess);
    assert_true(ms >= 20 && ms < 60000);
    assert_int_equal(cudaEventRecord(untimed, NULL), cudaSuccess);
    expect_error(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventDestroy(start), cudaSuccess);
    expect_error(cudaEventDestroy(start), cudaErrorInvalidResourceHandle);
    cudaEventDestroy(end);
    cudaEventDestroy(untimed);
}

static cudaError_t inside;

static void host_function(void *argument)
{
    ++*(int *)argument;
    inside = cudaDeviceSynchronize();
}

static void stream_callback(cudaStream_t stream, cudaError_t status, void *argument)
{
    assert_null(stream);
    assert_int_equal(status, cudaSuccess);
    ++*(int *)argument;
}

static void callbacks_run_and_may_not_call_cuda(void **state)
{
    (void)state;
    int calls = 0;
    assert_int_equal(cudaLaunchHostFunc(NULL, host_function, &calls), cudaSuccess);
    assert_int_equal(calls, 1);
    assert_int_equal(inside, cudaErrorNotPermitted);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaStreamAddCallback(NULL, stream_callback, &calls, 0), cudaSuccess);
    assert_int_equal(calls, 2);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    expect_error(cudaLaunchHostFunc(NULL, NULL, NULL), cudaErrorInvalidValue);
}

static void properties_and_attributes_agree(void **state)
{
    (void)state;
    struct cudaDeviceProp p;
    int count, value, version;
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 1);
    assert_int_equal(cudaGetDeviceProperties(&p, 0), cudaSuccess);
    const struct {
        enum cudaDeviceAttr attr;
        int property;
    } pairs[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrManagedMemory, p.managedMemory},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(cudaDeviceGetAttribute(&value, pairs[i].attr, 0), cudaSuccess);
        assert_int_equal(value, pairs[i].property);
    }
    for (int attr = 1; attr < cudaDevAttrMax; attr++) { /* the numbers have gaps */
        cudaError_t error = cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)attr, 0);
        assert_true(error == cudaSuccess || error == cudaErrorInvalidValue);
    }
    cudaGetLastError();
    expect_error(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
    assert_int_equal(p.warpSize, 32);
    assert_int_equal(cudaRuntimeGetVersion(&version), cudaSuccess);
    assert_int_equal(version, 13000);
}

static void limits_are_kept(void **state)
{
    (void)state;
    size_t value;
    assert_int_equal(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize), cudaSuccess);
    assert_int_equal(value, 8 << 20);
    assert_int_equal(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaSuccess);
    assert_int_equal(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize), cudaSuccess);
    assert_int_equal(value, 64 << 20);
    expect_error(cudaDeviceSetLimit((enum cudaLimit)77, 1), cudaErrorInvalidValue);
    expect_error(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth),
                 cudaErrorUnsupportedLimit);
}

static void stubs_name_themselves_once(void **state)
{
    (void)state;
    static struct wire_finding all[64];
    cudaIpcMemHandle_t handle;
    cudaGraphConditionalHandle conditional;
    expect_error(cudaIpcGetMemHandle(&handle, NULL), cudaErrorNotSupported);
    expect_error(cudaIpcGetMemHandle(&handle, NULL), cudaErrorNotSupported);
    expect_error(cudaGraphConditionalHandleCreate(&conditional, NULL, 0, 0), cudaErrorNotSupported);
    size_t count = scanjudge_device_hooks()->findings(all, 64);
    assert_int_equal(count, 2);
    assert_int_equal(all[0].kind, FINDING_unsupported);
    assert_int_equal(all[0].severity, WIRE_ERROR);
    assert_int_equal(all[0].count, 1);
    expect_finding(FINDING_unsupported, "cudaIpcGetMemHandle");
    expect_finding(FINDING_unsupported, "cudaGraphConditionalHandleCreate");
}

/* What one of several host threads does; the result is the number of failures. */
static void *work(void *argument)
{
    int id = *(int *)argument, failed = 0;
    for (int round = 0; round < 100; round++) {
        int host[64], back[64];
        void *device;
        cudaStream_t stream;
        for (int i = 0; i < 64; i++)
            host[i] = id * 1000 + round + i;
        failed += cudaMalloc(&device, sizeof host) != cudaSuccess;
        failed += cudaStreamCreate(&stream) != cudaSuccess;
        failed += cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream) != 0;
        failed += cudaMemcpyAsync(back, device, sizeof host, cudaMemcpyDeviceToHost, stream) != 0;
        failed += cudaStreamSynchronize(stream) != cudaSuccess;
        failed += memcmp(host, back, sizeof host) != 0;
        failed += cudaStreamDestroy(stream) != cudaSuccess;
        failed += cudaFree(device) != cudaSuccess;
    }
    *(int *)argument = failed;
    return NULL;
}

static void threads_share_the_device(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(numbers[i], 0);
    }
}

static void driver_functions_are_not_found(void **state)
{
    (void)state;
    void *function = &function;
    enum cudaDriverEntryPointQueryResult result;
    assert_int_equal(
        cudaGetDriverEntryPointByVersion("cuStreamSynchronize", &function, 12000, 0, &result),
        cudaSuccess);
    assert_int_equal(result, cudaDriverEntryPointSymbolNotFound);
    assert_null(function);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_error_has_its_name, fresh),
        cmocka_unit_test_setup(the_last_error_belongs_to_a_thread, fresh),
        cmocka_unit_test_setup(streams_are_checked, fresh),
        cmocka_unit_test_setup(events_measure_host_time, fresh),
        cmocka_unit_test_setup(callbacks_run_and_may_not_call_cuda, fresh),
        cmocka_unit_test_setup(properties_and_attributes_agree, fresh),
        cmocka_unit_test_setup(limits_are_kept, fresh),
        cmocka_unit_test_setup(stubs_name_themselves_once, fresh),
        cmocka_unit_test_setup(threads_share_the_device, fresh),
        cmocka_unit_test_setup(driver_functions_are_not_found, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
