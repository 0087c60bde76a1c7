/* Launching: the ways in, the checks before a kernel runs, and what a fault does to later calls. */
#include "device_program.h"
#include "expect.h"

#include <stdlib.h>

static const dim3 one = {1, 1, 1};

static dim3 threads(unsigned x)
{
    return (dim3){x, 1, 1};
}

static int program_setup(void **state)
{
    struct device_program *p = calloc(1, sizeof *p);
    program_from_file(p, "scale.zstd.fatbin");
    *state = p;
    return fresh(NULL);
}

static int program_teardown(void **state)
{
    program_end(*state);
    free(*state);
    return 0;
}

/* scale() multiplies n ints by 3. */
static void check_scaled(int *device, int n, int times)
{
    int host[300];
    assert_true(n <= 300);
    assert_int_equal(cudaMemcpy(host, device, (size_t)n * 4, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < n; i++)
        assert_int_equal(host[i], i * times);
}

static int *counting(int n)
{
    int *device, host[300];
    for (int i = 0; i < n; i++)
        host[i] = i;
    assert_int_equal(cudaMalloc((void **)&device, (size_t)n * 4), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, host, (size_t)n * 4, cudaMemcpyHostToDevice), cudaSuccess);
    return device;
}

static void every_way_in_runs_the_kernel(void **state)
{
    (void)state;
    int n = 300, calls = -1;
    int *device = counting(n);
    void *args[] = {&device, &n};
    cudaKernel_t kernel;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;

    assert_int_equal(cudaLaunchKernel(&scale_stub, threads(3), threads(128), args, 0, NULL),
                     cudaSuccess);
    check_scaled(device, n, 3);

    /* scale<<<10, 32>>>(device, n) as nvcc 13 compiles it */
    assert_int_equal(__cudaPushCallConfiguration(threads(10), threads(32), 0, NULL), 0);
    assert_int_equal(__cudaGetKernel(&kernel, &scale_stub), cudaSuccess);
    assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
    assert_int_equal(grid.x, 10);
    assert_int_equal(block.x, 32);
    assert_int_equal(__cudaLaunchKernel(kernel, grid, block, args, shared, stream), cudaSuccess);
    check_scaled(device, n, 9);

    assert_int_equal(cudaLaunchKernel(kernel, threads(3), threads(128), args, 0, NULL),
                     cudaSuccess);
    check_scaled(device, n, 27);

    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    cudaLaunchConfig_t config = {
        .gridDim = threads(3), .blockDim = threads(128), .attrs = &attribute, .numAttrs = 1};
    assert_int_equal(cudaLaunchKernelExC(&config, &scale_stub, args), cudaSuccess);
    check_scaled(device, n, 81);

    assert_int_equal(
        cudaLaunchCooperativeKernel(&scale_stub, threads(3), threads(128), args, 0, NULL),
        cudaSuccess);
    check_scaled(device, n, 243);
    assert_int_equal(cudaMemcpyFromSymbol(&calls, &calls_host, 4, 0, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(calls, 5);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaFree(device);
}

static void bad_shapes_are_refused_and_explained(void **state)
{
    (void)state;
    int n = 8;
    int *device = counting(n);
    void *args[] = {&device, &n};
    expect_error(cudaLaunchKernel(&scale_stub, threads(0), threads(32), args, 0, NULL),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "kernel scale was refused");
    expect_finding(FINDING_cuda_error, "a grid of 0 x 1 x 1 blocks is empty");
    expect_error(cudaLaunchKernel(&scale_stub, one, threads(0), args, 0, NULL),
                 cudaErrorInvalidValue);
    expect_error(cudaLaunchKernel(&scale_stub, one, threads(1025), args, 0, NULL),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "1025 threads per block");
    expect_error(cudaLaunchKernel(&scale_stub, one, (dim3){64, 32, 1}, args, 0, NULL),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "2048 threads per block, the most is 1024");
    expect_error(cudaLaunchKernel(&scale_stub, one, (dim3){1, 1, 65}, args, 0, NULL),
                 cudaErrorInvalidValue);
    expect_error(cudaLaunchKernel(&scale_stub, (dim3){1, 65536, 1}, one, args, 0, NULL),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "65536 blocks in direction y");
    expect_error(cudaLaunchKernel(&bounded_stub, one, threads(129), args, 512, NULL),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "its __launch_bounds__ allow 128");
    expect_error(cudaLaunchKernel(&scale_stub, one, one, NULL, 0, NULL), cudaErrorInvalidValue);
    expect_error(cudaLaunchKernel(&n, one, one, args, 0, NULL), cudaErrorInvalidResourceHandle);
    expect_error(cudaLaunchKernel(NULL, one, one, args, 0, NULL), cudaErrorInvalidDeviceFunction);
    expect_error(
        cudaLaunchCooperativeKernel(&scale_stub, threads(1 << 20), threads(128), args, 0, NULL),
        cudaErrorCooperativeLaunchTooLarge);
    check_scaled(device, n, 1); /* nothing ran */
    cudaFree(device);
}

/* bounded() has 4096 bytes of static shared memory. */
static void shared_memory_needs_an_opt_in(void **state)
{
    (void)state;
    struct cudaFuncAttributes attr;
    const size_t normal = 48 * 1024 - 4096;
    int *device = counting(128);
    void *args[] = {&device};
    assert_int_equal(cudaFuncGetAttributes(&attr, &bounded_stub), cudaSuccess);
    assert_int_equal(attr.sharedSizeBytes, 4096);
    assert_int_equal(attr.maxThreadsPerBlock, 128);
    assert_int_equal(attr.maxDynamicSharedSizeBytes, normal);
    assert_int_equal(attr.ptxVersion, 90);
    assert_int_equal(attr.constSizeBytes, 4); /* of the module: `factor` */
    expect_error(cudaLaunchKernel(&bounded_stub, one, threads(128), args, normal + 1, NULL),
                 cudaErrorInvalidValue);
    expect_finding(FINDING_cuda_error, "cudaFuncSetAttribute");
    assert_int_equal(cudaLaunchKernel(&bounded_stub, one, threads(128), args, normal, NULL),
                     cudaSuccess);
    assert_int_equal(
        cudaFuncSetAttribute(&bounded_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000),
        cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&bounded_stub, one, threads(128), args, 100000, NULL),
                     cudaSuccess);
    expect_error(cudaLaunchKernel(&bounded_stub, one, threads(128), args, 100001, NULL),
                 cudaErrorInvalidValue);
    expect_error(cudaFuncSetAttribute(&bounded_stub, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      227 * 1024 - 4096 + 1),
                 cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaFree(device);
}

static void occupancy_follows_the_limits(void **state)
{
    (void)state;
    int blocks;
    size_t dynamic;
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale_stub, 1024, 0),
                     cudaSuccess);
    assert_in_range(blocks, 1, 2);
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale_stub, 1025, 0),
                     cudaSuccess);
    assert_int_equal(blocks, 0);
    assert_int_equal(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, &bounded_stub, 1, 128),
                     cudaSuccess);
    assert_int_equal(dynamic, 48 * 1024 - 4096);
    expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale_stub, 0, 0),
                 cudaErrorInvalidValue);
}

static void functions_tell_their_parameters(void **state)
{
    (void)state;
    size_t offset, size;
    const char *name;
    cudaKernel_t kernel;
    assert_int_equal(cudaFuncGetName(&name, &scale_stub), cudaSuccess);
    assert_string_equal(name, "scale");
    assert_int_equal(cudaFuncGetParamInfo(&scale_stub, 1, &offset, &size), cudaSuccess);
    assert_int_equal(offset, 8);
    assert_int_equal(size, 4);
    expect_error(cudaFuncGetParamInfo(&scale_stub, 2, &offset, &size), cudaErrorInvalidValue);
    assert_int_equal(cudaGetKernel(&kernel, &scale_stub), cudaSuccess);
    expect_error(cudaGetKernel(&kernel, &name), cudaErrorInvalidDeviceFunction);
}

/* ---- programs that do not load ---- */

static void a_program_without_ptx_says_how_to_get_some(void **state)
{
    (void)state;
    static char stub;
    struct builder_entry cubin = {
        .kind = 2, .target = 90, .payload = "\177ELF", .payload_bytes = 4};
    struct device_program p;
    fresh(NULL);
    text_init(&p.bytes);
    builder_build(&p.bytes, &cubin, 1);
    program_register_bytes(&p);
    program_kernel(&p, &stub, "kernel");
    expect_error(cudaLaunchKernel(&stub, one, one, NULL, 0, NULL), cudaErrorNoKernelImageForDevice);
    expect_finding(FINDING_unsupported, "-gencode arch=compute_75,code=compute_75");
    program_end(&p);
}

static void broken_ptx_is_named_with_its_line(void **state)
{
    (void)state;
    static char stub;
    struct device_program p;
    fresh(NULL);
    program_from_ptx(&p, ".version 9.0\n.target sm_75\n.address_size 64\nnonsense here\n", &stub,
                     "kernel");
    expect_error(cudaLaunchKernel(&stub, one, one, NULL, 0, NULL), cudaErrorInvalidPtx);
    expect_finding(FINDING_unsupported, "PTX line 4");
    program_end(&p);
}

static void an_untouched_module_is_not_read(void **state)
{
    (void)state;
    static char stub;
    struct device_program p;
    fresh(NULL);
    program_from_ptx(&p, "not PTX at all", &stub, "kernel");
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    program_end(&p);
    assert_int_equal(scanjudge_device_hooks()->findings(NULL, 0), 0);
}

/* ---- faults ---- */

static const char fault_ptx[] = ".version 9.0\n"
                                ".target sm_75\n"
                                ".address_size 64\n"
                                ".visible .entry kernel(.param .u64 p) {\n"
                                "  .reg .b64 %rd<3>;\n"
                                "  .reg .b32 %r<3>;\n"
                                "  ld.param.u64 %rd1, [p];\n"
                                "  mov.u32 %r1, 7;\n"
                                "  st.global.u32 [%rd1], %r1;\n"
                                "  ret;\n"
                                "}\n"
                                ".visible .entry stop() {\n"
                                "  trap;\n"
                                "  ret;\n"
                                "}\n";

/* A fault comes back from every later call that needs the device, until it is set up anew;
 * cudaGetLastError tells what such a call returned. */
static void expect_sticky(const char *stub, void *pointer, cudaError_t wanted,
                          enum finding_kind kind)
{
    void *args[] = {&pointer}, *memory;
    int count;
    fresh(NULL);
    assert_int_equal(cudaLaunchKernel(stub, one, one, args, 0, NULL), cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    expect_error(cudaDeviceSynchronize(), wanted);
    expect_error(cudaMalloc(&memory, 4), wanted);
    expect_error(cudaLaunchKernel(stub, one, one, args, 0, NULL), wanted);
    expect_error(cudaStreamQuery(NULL), wanted);
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    expect_finding(kind, "");
    fresh(NULL);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

static void faults_are_sticky(void **state)
{
    (void)state;
    static char stub, stop_stub;
    struct device_program p;
    char *memory;
    program_from_ptx(&p, fault_ptx, &stub, "kernel");
    program_kernel(&p, &stop_stub, "stop");
    assert_int_equal(cudaMalloc((void **)&memory, 64), cudaSuccess);
    expect_sticky(&stub, memory + 64, cudaErrorIllegalAddress, FINDING_out_of_bounds_write);
    expect_sticky(&stub, NULL, cudaErrorIllegalAddress, FINDING_null_pointer);
    expect_sticky(&stub, memory + 2, cudaErrorMisalignedAddress, FINDING_misaligned);
    expect_sticky(&stop_stub, NULL, cudaErrorLaunchFailure, FINDING_trap);
    cudaFree(memory);
    expect_sticky(&stub, memory, cudaErrorIllegalAddress, FINDING_use_after_free);

    /* A reset does not bring the device back. */
    assert_int_equal(cudaLaunchKernel(&stop_stub, one, one, NULL, 0, NULL), cudaSuccess);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    expect_error(cudaMalloc((void **)&memory, 4), cudaErrorDevicesUnavailable);
    fresh(NULL);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    program_end(&p);
}

int main(void)
{
#define WITH_PROGRAM(f) cmocka_unit_test_setup_teardown(f, program_setup, program_teardown)
    const struct CMUnitTest tests[] = {
        WITH_PROGRAM(every_way_in_runs_the_kernel),
        WITH_PROGRAM(bad_shapes_are_refused_and_explained),
        WITH_PROGRAM(shared_memory_needs_an_opt_in),
        WITH_PROGRAM(occupancy_follows_the_limits),
        WITH_PROGRAM(functions_tell_their_parameters),
        cmocka_unit_test(a_program_without_ptx_says_how_to_get_some),
        cmocka_unit_test(broken_ptx_is_named_with_its_line),
        cmocka_unit_test(an_untouched_module_is_not_read),
        cmocka_unit_test(faults_are_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
