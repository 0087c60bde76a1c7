/* Libraries: PTX and fat binaries that the program loads itself; then batches of copies, advice
 * about managed memory, and the pools of places. */
#include "expect.h"

#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 counter = 3;\n"
                          ".visible .entry empty()\n{\n    ret;\n}\n"
                          ".visible .entry set(.param .u64 at)\n{\n    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [at];\n    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    st.global.u32 [%rd2], 42;\n    ret;\n}\n";

static cudaError_t load(cudaLibrary_t *library, const void *code)
{
    return cudaLibraryLoadData(library, code, NULL, NULL, 0, NULL, NULL, 0);
}

/* "set" writes 42. */
static void check_set(cudaLibrary_t library)
{
    const dim3 one = {1, 1, 1};
    cudaKernel_t kernel;
    int *device = NULL, value = 0;
    void *args[] = {&device};
    assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
    assert_int_equal(cudaLibraryGetKernel(&kernel, library, "set"), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(kernel, one, one, args, 0, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(value, 42);
    cudaFree(device);
}

static void ptx_text_is_a_library(void **state)
{
    (void)state;
    cudaLibrary_t library;
    cudaKernel_t kernels[4] = {NULL}, kernel;
    unsigned count = 0;
    void *counter = NULL;
    size_t bytes = 0;
    int value = 0;
    const char *name = NULL;
    char copy[sizeof ptx];
    memcpy(copy, ptx, sizeof ptx);
    assert_int_equal(load(&library, copy), cudaSuccess);
    memset(copy, 0, sizeof copy); /* it is not needed any more */
    assert_int_equal(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
    assert_int_equal(count, 2);
    assert_int_equal(cudaLibraryEnumerateKernels(kernels, 4, library), cudaSuccess);
    assert_int_equal(cudaFuncGetName(&name, kernels[1]), cudaSuccess);
    assert_string_equal(name, "set");
    assert_null(kernels[2]);
    check_set(library);
    assert_int_equal(cudaLibraryGetGlobal(&counter, &bytes, library, "counter"), cudaSuccess);
    assert_int_equal(bytes, 4);
    assert_int_equal(cudaMemcpy(&value, counter, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(value, 3);
    expect_error(cudaLibraryGetKernel(&kernel, library, "none"), cudaErrorSymbolNotFound);
    expect_error(cudaLibraryGetGlobal(&counter, &bytes, library, "none"), cudaErrorSymbolNotFound);
    expect_error(cudaLibraryGetManaged(&counter, &bytes, library, "counter"),
                 cudaErrorSymbolNotFound);
    assert_int_equal(cudaLibraryUnload(library), cudaSuccess);
    expect_error(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
}

static void a_fat_binary_and_a_file_are_libraries(void **state)
{
    (void)state;
    cudaLibrary_t library;
    struct text fatbin;
    text_init(&fatbin);
    builder_plain(&fatbin, ptx);
    assert_int_equal(load(&library, text_str(&fatbin)), cudaSuccess);
    check_set(library);
    assert_int_equal(cudaLibraryUnload(library), cudaSuccess);
    text_release(&fatbin);

    char path[] = "/tmp/scanjudge-library-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, ptx, sizeof ptx - 1), sizeof ptx - 1);
    close(file);
    assert_int_equal(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
                     cudaSuccess);
    check_set(library);
    assert_int_equal(cudaLibraryUnload(library), cudaSuccess);
    unlink(path);
    expect_error(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
                 cudaErrorFileNotFound);
}

static void machine_code_and_nonsense_are_refused(void **state)
{
    (void)state;
    cudaLibrary_t library;
    static const char elf[64] = "\177ELF\2\1\1";
    expect_error(load(&library, elf), cudaErrorNoKernelImageForDevice);
    expect_finding(FINDING_cuda_error, "needs PTX");
    expect_error(load(&library, "no ptx at all"), cudaErrorInvalidPtx);
    expect_finding(FINDING_unsupported, "PTX line 1");
}

static void batches_copy_each(void **state)
{
    (void)state;
    int *device[2] = {NULL, NULL}, host[2] = {5, 6}, back[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(cudaMalloc((void **)&device[i], 4), cudaSuccess);
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    void *up_to[] = {device[0], device[1]}, *down_to[] = {&back[0], &back[1]};
    const void *up_from[] = {&host[0], &host[1]}, *down_from[] = {device[0], device[1]};
    size_t sizes[] = {4, 4}, first = 0;
    cudaStream_t s;
    assert_int_equal(cudaStreamCreate(&s), cudaSuccess);
    assert_int_equal(
        cudaMemcpyBatchAsync((void *const *)up_to, up_from, sizes, 2, &how, &first, 1, s),
        cudaSuccess);
    assert_int_equal(
        cudaMemcpyBatchAsync((void *const *)down_to, down_from, sizes, 2, &how, &first, 1, s),
        cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(back[0], 5);
    assert_int_equal(back[1], 6);
    cudaStreamDestroy(s);
    cudaFree(device[0]);
    cudaFree(device[1]);
}

static void advice_is_remembered(void **state)
{
    (void)state;
    void *managed = NULL;
    int values[2] = {-1, -1};
    const struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    assert_int_equal(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal), cudaSuccess);
    assert_int_equal(
        cudaMemRangeGetAttribute(values, 4, cudaMemRangeAttributePreferredLocation, managed, 64),
        cudaSuccess);
    assert_int_equal(values[0], cudaInvalidDeviceId);
    assert_int_equal(cudaMemAdvise(managed, 64, cudaMemAdviseSetPreferredLocation, here), 0);
    assert_int_equal(cudaMemAdvise(managed, 64, cudaMemAdviseSetAccessedBy, here), 0);
    assert_int_equal(
        cudaMemRangeGetAttribute(values, 4, cudaMemRangeAttributePreferredLocation, managed, 64),
        cudaSuccess);
    assert_int_equal(values[0], 0);
    assert_int_equal(cudaMemRangeGetAttribute(values, sizeof values,
                                              cudaMemRangeAttributeAccessedBy, managed, 64),
                     cudaSuccess);
    assert_int_equal(values[0], 0);
    assert_int_equal(values[1], cudaInvalidDeviceId);
    expect_error(cudaMemRangeGetAttribute(values, 4, cudaMemRangeAttributeReadMostly, values, 4),
                 cudaErrorInvalidValue);
    cudaFree(managed);
}

static void places_have_pools(void **state)
{
    (void)state;
    cudaMemPool_t pool, usual;
    struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0},
                           there = {cudaMemLocationTypeHost, 0};
    assert_int_equal(cudaDeviceGetDefaultMemPool(&usual, 0), cudaSuccess);
    assert_int_equal(cudaMemGetDefaultMemPool(&pool, &here, cudaMemAllocationTypePinned), 0);
    assert_ptr_equal(pool, usual);
    expect_error(cudaMemGetMemPool(&pool, &there, cudaMemAllocationTypePinned),
                 cudaErrorNotSupported);
    expect_finding(FINDING_cuda_error, "cudaMallocHost");
    assert_int_equal(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, usual), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ptx_text_is_a_library, fresh),
        cmocka_unit_test_setup(a_fat_binary_and_a_file_are_libraries, fresh),
        cmocka_unit_test_setup(machine_code_and_nonsense_are_refused, fresh),
        cmocka_unit_test_setup(batches_copy_each, fresh),
        cmocka_unit_test_setup(advice_is_remembered, fresh),
        cmocka_unit_test_setup(places_have_pools, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
