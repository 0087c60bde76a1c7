/* Allocation, copies, fills, symbols: what works, and what is refused with which error. */
#include "cpu/cudart/hooks.h"
#include "device_program.h"
#include "expect.h"

static void *device_bytes(size_t bytes)
{
    void *p;
    assert_int_equal(cudaMalloc(&p, bytes), cudaSuccess);
    assert_non_null(p);
    return p;
}

static void copies_go_both_ways(void **state)
{
    (void)state;
    int in[64], out[64] = {0};
    for (int i = 0; i < 64; i++)
        in[i] = i * i;
    char *a = device_bytes(sizeof in), *b = device_bytes(sizeof in);
    assert_int_equal(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(b, a, sizeof in, cudaMemcpyDeviceToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(out, b, sizeof in, cudaMemcpyDeviceToHost, NULL), cudaSuccess);
    assert_memory_equal(in, out, sizeof in);
    memset(out, 0, sizeof out);
    assert_int_equal(cudaMemcpy(out, b + 4, 8, cudaMemcpyDefault), cudaSuccess);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 4);
    assert_int_equal(out[2], 0);
    assert_int_equal(cudaFree(a), cudaSuccess);
    assert_int_equal(cudaFree(b), cudaSuccess);
}

static void wrong_directions_are_refused(void **state)
{
    (void)state;
    int host[4] = {1, 2, 3, 4}, other[4];
    void *device = device_bytes(sizeof host);
    expect_error(cudaMemcpy(host, other, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "the destination");
    expect_error(cudaMemcpy(host, other, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "the source");
    expect_error(cudaMemcpy(device, host, 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(device, host, 16, cudaMemcpyHostToHost), cudaSuccess);
    expect_finding(FINDING_cuda_error, "from host to host");
    expect_error(cudaMemcpy(host, device, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect_error(cudaMemcpy(device, host, 16, (enum cudaMemcpyKind)9),
                 cudaErrorInvalidMemcpyDirection);
    cudaFree(device);
}

static void bounds_are_kept(void **state)
{
    (void)state;
    char host[64] = {0};
    char *device = device_bytes(48);
    expect_error(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "writes 64 bytes of device memory where 48 are left");
    expect_error(cudaMemcpy(host, device + 40, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "reads 16 bytes of device memory where 8 are left");
    expect_error(cudaMemset(device, 0, 49), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(device), cudaSuccess);
    expect_error(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "was freed");
    expect_error(cudaMemcpy(NULL, host, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
}

static void frees_are_checked(void **state)
{
    (void)state;
    int local;
    char *device = device_bytes(64);
    void *pinned;
    assert_int_equal(cudaMallocHost(&pinned, 64), cudaSuccess);
    expect_error(cudaFree(device + 4), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "4 bytes behind the start");
    expect_error(cudaFree(pinned), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "comes from cudaMallocHost");
    expect_error(cudaFreeHost(device), cudaErrorInvalidValue);
    expect_error(cudaFree(&local), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(device), cudaSuccess);
    expect_error(cudaFree(device), cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "was freed before");
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(NULL), cudaSuccess);
    assert_int_equal(cudaFreeHost(NULL), cudaSuccess);
}

static void sizes_are_checked(void **state)
{
    (void)state;
    void *p = &p;
    assert_int_equal(cudaMalloc(&p, 0), cudaSuccess);
    assert_null(p);
    expect_error(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    expect_error(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
    expect_finding(FINDING_cuda_error, "no device memory");
    size_t free_before, free_after, total;
    assert_int_equal(cudaMemGetInfo(&free_before, &total), cudaSuccess);
    p = device_bytes(1 << 20);
    assert_int_equal(cudaMemGetInfo(&free_after, &total), cudaSuccess);
    assert_int_equal(free_before - free_after, 1 << 20);
    cudaFree(p);
}

static void host_memory_is_reachable(void **state)
{
    (void)state;
    int *pinned, *managed;
    void *device;
    static int registered[1024];
    struct cudaPointerAttributes attr;
    assert_int_equal(cudaHostAlloc((void **)&pinned, 64, cudaHostAllocMapped), cudaSuccess);
    assert_int_equal(cudaHostGetDevicePointer(&device, pinned, 0), cudaSuccess);
    assert_ptr_equal(device, pinned);
    assert_int_equal(cudaMallocManaged((void **)&managed, 64, cudaMemAttachGlobal), cudaSuccess);
    managed[3] = pinned[3] = 7; /* host code may touch both */
    assert_int_equal(cudaMemset(managed, 0, 64), cudaSuccess);
    assert_int_equal(managed[3], 0);
    assert_int_equal(cudaMemcpy(managed, pinned, 64, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(managed[3], 7);
    assert_int_equal(cudaHostRegister(registered, sizeof registered, 0), cudaSuccess);
    expect_error(cudaHostRegister(registered, 16, 0), cudaErrorHostMemoryAlreadyRegistered);
    assert_int_equal(cudaPointerGetAttributes(&attr, registered + 5), cudaSuccess);
    assert_int_equal(attr.type, cudaMemoryTypeHost);
    assert_ptr_equal(attr.hostPointer, registered + 5);
    assert_int_equal(cudaHostUnregister(registered), cudaSuccess);
    expect_error(cudaHostUnregister(registered), cudaErrorHostMemoryNotRegistered);
    assert_int_equal(cudaPointerGetAttributes(&attr, registered), cudaSuccess);
    assert_int_equal(attr.type, cudaMemoryTypeUnregistered);
    assert_int_equal(cudaPointerGetAttributes(&attr, managed), cudaSuccess);
    assert_int_equal(attr.type, cudaMemoryTypeManaged);
    assert_int_equal(cudaFree(managed), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    void *p = device_bytes(16);
    assert_int_equal(cudaPointerGetAttributes(&attr, p), cudaSuccess);
    assert_int_equal(attr.type, cudaMemoryTypeDevice);
    assert_null(attr.hostPointer);
    cudaFree(p);
}

static void rows_keep_their_pitch(void **state)
{
    (void)state;
    size_t pitch;
    char *device;
    char in[3][10], out[3][10];
    for (int i = 0; i < 30; i++)
        in[i / 10][i % 10] = (char)i;
    assert_int_equal(cudaMallocPitch((void **)&device, &pitch, 10, 3), cudaSuccess);
    assert_true(pitch >= 10 && pitch % 512 == 0);
    assert_int_equal(cudaMemcpy2D(device, pitch, in, 10, 10, 3, cudaMemcpyHostToDevice),
                     cudaSuccess);
    assert_int_equal(cudaMemset2D(device + 2, pitch, 99, 3, 2), cudaSuccess);
    assert_int_equal(cudaMemcpy2D(out, 10, device, pitch, 10, 3, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 10; x++)
            assert_int_equal(out[y][x], y < 2 && x >= 2 && x < 5 ? 99 : in[y][x]);
    expect_error(cudaMemcpy2D(device, 8, in, 10, 10, 3, cudaMemcpyHostToDevice),
                 cudaErrorInvalidPitchValue);
    cudaFree(device);
}

static void boxes_are_copied(void **state)
{
    (void)state;
    enum { W = 6, H = 3, D = 2 };
    char in[D][H][W], out[D][H][W];
    for (int i = 0; i < W * H * D; i++)
        (&in[0][0][0])[i] = (char)(i + 1);
    memset(out, 0, sizeof out);
    struct cudaExtent extent = {W, H, D};
    struct cudaPitchedPtr device;
    assert_int_equal(cudaMalloc3D(&device, extent), cudaSuccess);
    struct cudaMemcpy3DParms up = {.srcPtr = {in, W, W, H},
                                   .dstPtr = device,
                                   .extent = extent,
                                   .kind = cudaMemcpyHostToDevice};
    struct cudaMemcpy3DParms down = {.srcPtr = device,
                                     .dstPtr = {out, W, W, H},
                                     .extent = extent,
                                     .kind = cudaMemcpyDeviceToHost};
    assert_int_equal(cudaMemcpy3D(&up), cudaSuccess);
    assert_int_equal(cudaMemcpy3D(&down), cudaSuccess);
    assert_memory_equal(in, out, sizeof in);
    cudaFree(device.ptr);
}

static void symbols_are_found_by_host_address(void **state)
{
    (void)state;
    struct device_program p;
    program_from_file(&p, "scale.zstd.fatbin");
    int value = 0;
    size_t size;
    void *address;
    assert_int_equal(cudaGetSymbolSize(&size, &factor_host), cudaSuccess);
    assert_int_equal(size, 4);
    assert_int_equal(cudaMemcpyFromSymbol(&value, &factor_host, 4, 0, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(value, 3);
    value = 11;
    assert_int_equal(cudaMemcpyToSymbol(&factor_host, &value, 4, 0, cudaMemcpyHostToDevice),
                     cudaSuccess);
    value = 0;
    assert_int_equal(cudaGetSymbolAddress(&address, &factor_host), cudaSuccess);
    assert_int_equal(cudaMemcpy(&value, address, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(value, 11);
    expect_error(cudaMemcpyToSymbol(&factor_host, &value, 4, 2, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "4 bytes from byte 2 of a variable that has 4");
    expect_error(cudaGetSymbolAddress(&address, &value), cudaErrorInvalidSymbol);
    program_end(&p);
    expect_error(cudaGetSymbolSize(&size, &factor_host), cudaErrorInvalidSymbol);
}

static void pools_count_their_bytes(void **state)
{
    (void)state;
    cudaMemPool_t pool, current;
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {.type = cudaMemLocationTypeDevice, .id = 0}};
    uint64_t number = 5;
    void *p, *q;
    assert_int_equal(cudaMemPoolCreate(&pool, &props), cudaSuccess);
    assert_int_equal(cudaMallocFromPoolAsync(&p, 100, pool, NULL), cudaSuccess);
    assert_int_equal(cudaMallocAsync(&q, 50, NULL), cudaSuccess);
    assert_int_equal(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number),
                     cudaSuccess);
    assert_int_equal(number, 100);
    assert_int_equal(cudaFreeAsync(p, NULL), cudaSuccess);
    assert_int_equal(cudaFreeAsync(q, NULL), cudaSuccess);
    assert_int_equal(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number),
                     cudaSuccess);
    assert_int_equal(number, 0);
    assert_int_equal(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number),
                     cudaSuccess);
    assert_int_equal(number, 100);
    number = 4096;
    assert_int_equal(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number),
                     cudaSuccess);
    assert_int_equal(cudaDeviceSetMemPool(0, pool), cudaSuccess);
    assert_int_equal(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
    assert_ptr_equal(current, pool);
    assert_int_equal(cudaMemPoolDestroy(pool), cudaSuccess);
    assert_int_equal(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
    assert_ptr_not_equal(current, pool);
    expect_error(cudaMallocFromPoolAsync(&p, 100, pool, NULL), cudaErrorInvalidValue);
}

static void hooks_name_and_count_memory(void **state)
{
    (void)state;
    const struct wire_device_hooks *hooks = scanjudge_device_hooks();
    char sentence[256];
    size_t before = hooks->allocations();
    char *p = device_bytes(1000), *managed = NULL;
    assert_true(hooks->peak_bytes() >= 1000);
    assert_int_equal(hooks->allocations(), before + 1);
    assert_int_equal(cudaMallocManaged((void **)&managed, 100, cudaMemAttachGlobal), cudaSuccess);
    assert_int_equal(hooks->allocations(), before + 2);
    cudaFree(managed);
    hooks->narrow(p + 100, 800, "out");
    hooks->explain_host_address(p + 200, sentence, sizeof sentence);
    assert_non_null(strstr(sentence, "`out`"));
    hooks->explain_host_address(&p, sentence, sizeof sentence);
    assert_string_equal(sentence, "");
    cudaFree(p);
    assert_int_equal(hooks->allocations(), before);
}

static void inputs_are_the_callers(void **state)
{
    (void)state;
    const struct wire_device_hooks *hooks = scanjudge_device_hooks();
    char host[64] = {0}, *in = device_bytes(64), *out = device_bytes(64);
    assert_int_equal(cudaMemcpy(in, host, 64, cudaMemcpyHostToDevice), cudaSuccess);
    hooks->narrow(in, 64, "in");
    hooks->protect(in);
    assert_int_equal(cudaMemcpy(out, in, 64, cudaMemcpyDeviceToDevice), cudaSuccess);
    assert_int_equal(cudaMemset(out, 0, 64), cudaSuccess);
    assert_int_equal(cudaMemset(in, 0, 0), cudaSuccess); /* no byte of it */
    assert_int_equal(hooks->findings(NULL, 0), 0);
    assert_int_equal(cudaMemset2D(in + 4, 16, 0, 4, 2), cudaSuccess);
    expect_finding(FINDING_input_written, "cudaMemset2D");
    fresh(NULL);
    assert_int_equal(cudaMemcpy(in, out, 8, cudaMemcpyDeviceToDevice), cudaSuccess);
    expect_finding(FINDING_input_written, "writes to `in`, which is an input");
    fresh(NULL);
    cudaFree(in);
    cudaFree(out);
}

/* What is allocated in every call and never freed; a buffer that is kept, or made larger, is none
 * of it. Ends with findings of its own kind only. */
static void memory_that_piles_up(void **state)
{
    (void)state;
    const struct wire_device_hooks *hooks = scanjudge_device_hooks();
    char *kept = NULL, *left[8];
    for (int call = 0; call < 12; call++) {
        if (call % 3 == 0) {
            cudaFree(kept);
            kept = device_bytes(100 + (size_t)call);
        }
        char *own = device_bytes(50);
        cudaFree(own);
        hooks->left_behind("stream");
    }
    assert_int_equal(hooks->findings(NULL, 0), 0);
    for (int call = 0; call < 8; call++) {
        left[call] = device_bytes(1000);
        hooks->left_behind("stream");
        assert_int_equal(hooks->findings(NULL, 0), call >= 3); /* told once */
    }
    expect_finding(FINDING_leak,
                   "allocations pile up: 4 more after 5 calls, the last one 1000 bytes "
                   "by cudaMalloc");
    for (int call = 0; call < 8; call++)
        cudaFree(left[call]);
    cudaFree(kept);
}

static void streams_and_events_that_pile_up(void **state)
{
    (void)state;
    const struct wire_device_hooks *hooks = scanjudge_device_hooks();
    cudaStream_t streams[6], own;
    cudaEvent_t events[9];
    for (int call = 0; call < 6; call++) {
        assert_int_equal(cudaStreamCreate(&own), cudaSuccess);
        assert_int_equal(cudaStreamCreate(&streams[call]), cudaSuccess);
        assert_int_equal(cudaStreamDestroy(own), cudaSuccess);
        hooks->left_behind("stream");
        assert_int_equal(hooks->findings(NULL, 0), call >= 3); /* one call was before */
    }
    expect_finding(FINDING_leak, "streams pile up: 4 more after 5 calls. ");
    fresh(NULL);
    for (int call = 0; call < 9; call++) {
        assert_int_equal(cudaEventCreate(&events[call]), cudaSuccess);
        hooks->left_behind("stream");
    }
    expect_finding(FINDING_leak, "events pile up");
    for (int i = 0; i < 9; i++)
        cudaEventDestroy(events[i]);
    for (int i = 0; i < 6; i++)
        cudaStreamDestroy(streams[i]);
}

static void reset_frees_everything(void **state)
{
    (void)state;
    size_t before, after, total;
    void *pinned;
    cudaStream_t stream;
    cudaMemGetInfo(&before, &total);
    device_bytes(1 << 20);
    assert_int_equal(cudaMallocHost(&pinned, 64), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    cudaMemGetInfo(&after, &total);
    assert_true(after >= before);
    expect_error(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(copies_go_both_ways, fresh),
        cmocka_unit_test_setup(wrong_directions_are_refused, fresh),
        cmocka_unit_test_setup(bounds_are_kept, fresh),
        cmocka_unit_test_setup(frees_are_checked, fresh),
        cmocka_unit_test_setup(sizes_are_checked, fresh),
        cmocka_unit_test_setup(host_memory_is_reachable, fresh),
        cmocka_unit_test_setup(rows_keep_their_pitch, fresh),
        cmocka_unit_test_setup(boxes_are_copied, fresh),
        cmocka_unit_test_setup(symbols_are_found_by_host_address, fresh),
        cmocka_unit_test_setup(pools_count_their_bytes, fresh),
        cmocka_unit_test_setup(hooks_name_and_count_memory, fresh),
        cmocka_unit_test_setup(inputs_are_the_callers, fresh),
        cmocka_unit_test_setup(memory_that_piles_up, fresh),
        cmocka_unit_test_setup(streams_and_events_that_pile_up, fresh),
        cmocka_unit_test_setup(reset_frees_everything, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
