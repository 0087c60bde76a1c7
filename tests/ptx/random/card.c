/* card FIRST COUNT: runs the batches FIRST to FIRST + COUNT - 1 on GPU 0 through the driver API and
 * prints "BATCH KERNEL HASH" for every kernel. Needs libc and libcuda.so.1, nothing of CUDA's
 * headers: cc -O2 -std=gnu17 card.c program.c -ldl -o card
 * card --text BATCH prints the batch's PTX. */
#include "random.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int result;
typedef unsigned long long address;

static struct {
    result (*cuInit)(unsigned flags);
    result (*cuDeviceGet)(int *device, int ordinal);
    result (*cuDevicePrimaryCtxRetain)(void **context, int device);
    result (*cuCtxSetCurrent)(void *context);
    result (*cuModuleLoadData)(void **module, const void *image);
    result (*cuModuleUnload)(void *module);
    result (*cuModuleGetFunction)(void **function, void *module, const char *name);
    result (*cuMemAlloc)(address *p, size_t bytes);
    result (*cuMemcpyHtoD)(address to, const void *from, size_t bytes);
    result (*cuMemcpyDtoH)(void *to, address from, size_t bytes);
    result (*cuMemsetD8)(address p, unsigned char value, size_t bytes);
    result (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                             void **extra);
    result (*cuCtxSynchronize)(void);
} cu;

static void must(result r, const char *what)
{
    if (r == 0)
        return;
    fflush(stdout);
    fprintf(stderr, "card: %s failed with error %d\n", what, r);
    exit(1);
}

static void *find(void *library, const char *name, const char *newer)
{
    void *f = newer ? dlsym(library, newer) : NULL;
    if (!f)
        f = dlsym(library, name);
    if (!f) {
        fprintf(stderr, "card: libcuda.so.1 has no %s\n", name);
        exit(1);
    }
    return f;
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device;
    if (!library) {
        fprintf(stderr, "card: %s\n", dlerror());
        exit(1);
    }
#define FIND(name, newer) *(void **)(void *)&cu.name = find(library, #name, newer)
    FIND(cuInit, NULL);
    FIND(cuDeviceGet, NULL);
    FIND(cuDevicePrimaryCtxRetain, NULL);
    FIND(cuCtxSetCurrent, NULL);
    FIND(cuModuleLoadData, NULL);
    FIND(cuModuleUnload, NULL);
    FIND(cuModuleGetFunction, NULL);
    FIND(cuMemAlloc, "cuMemAlloc_v2");
    FIND(cuMemcpyHtoD, "cuMemcpyHtoD_v2");
    FIND(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
    FIND(cuMemsetD8, "cuMemsetD8_v2");
    FIND(cuLaunchKernel, NULL);
    FIND(cuCtxSynchronize, NULL);
#undef FIND
    must(cu.cuInit(0), "cuInit");
    must(cu.cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cu.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

static uint32_t in[RANDOM_ALL_THREADS * RANDOM_IN_WORDS],
    out[RANDOM_ALL_THREADS * RANDOM_OUT_WORDS];
static uint32_t start[RANDOM_COUNTERS], counters[RANDOM_COUNTERS];

static void run_batch(uint64_t batch, address in_at, address out_at, address counters_at)
{
    void *module, *function;
    char *text = random_module(batch);
    if (!text) {
        fprintf(stderr, "card: out of memory\n");
        exit(1);
    }
    random_input(batch, in);
    random_counters(start);
    must(cu.cuModuleLoadData(&module, text), "cuModuleLoadData");
    must(cu.cuMemcpyHtoD(in_at, in, sizeof in), "cuMemcpyHtoD");
    for (unsigned k = 0; k < RANDOM_KERNELS; k++) {
        char name[16];
        void *params[] = {&in_at, &out_at, &counters_at};
        snprintf(name, sizeof name, "k%u", k);
        must(cu.cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
        must(cu.cuMemsetD8(out_at, 0, sizeof out), "cuMemsetD8");
        must(cu.cuMemcpyHtoD(counters_at, start, sizeof start), "cuMemcpyHtoD");
        must(cu.cuLaunchKernel(function, RANDOM_BLOCKS, 1, 1, RANDOM_THREADS, 1, 1, 0, NULL, params,
                               NULL),
             "cuLaunchKernel");
        must(cu.cuCtxSynchronize(), name);
        must(cu.cuMemcpyDtoH(out, out_at, sizeof out), "cuMemcpyDtoH");
        must(cu.cuMemcpyDtoH(counters, counters_at, sizeof counters), "cuMemcpyDtoH");
        printf("%" PRIu64 " %u %016" PRIx64 "\n", batch, k, random_hash(out, counters));
    }
    must(cu.cuModuleUnload(module), "cuModuleUnload");
    free(text);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: card FIRST COUNT, or card --text BATCH\n");
        return 2;
    }
    if (strcmp(argv[1], "--text") == 0) {
        char *text = random_module(strtoull(argv[2], NULL, 10));
        fputs(text ? text : "", stdout);
        free(text);
        return 0;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    address in_at, out_at, counters_at;
    open_driver();
    must(cu.cuMemAlloc(&in_at, sizeof in), "cuMemAlloc");
    must(cu.cuMemAlloc(&out_at, sizeof out), "cuMemAlloc");
    must(cu.cuMemAlloc(&counters_at, sizeof counters), "cuMemAlloc");
    for (uint64_t b = first; b < first + count; b++)
        run_batch(b, in_at, out_at, counters_at);
    return 0;
}
