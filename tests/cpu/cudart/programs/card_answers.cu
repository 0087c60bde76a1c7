// What calls answer when something is wrong with them, and numbers that programs decide by. The
// file card_answers.stdout is what an H200 printed with CUDA 13.0 (built with
// -gencode arch=compute_90,code=sm_90); the CPU device must print the same.
// nvcc: -gencode arch=compute_75,code=compute_75
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_profiler_api.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        printf("%s: %s, then %s\n", #call, cudaGetErrorName(error),                                \
               cudaGetErrorName(cudaGetLastError()));                                              \
    } while (0)
#define SAY_LAUNCH(launch)                                                                         \
    do {                                                                                           \
        launch;                                                                                    \
        cudaError_t error = cudaGetLastError();                                                    \
        printf("%s: %s, then %s\n", #launch, cudaGetErrorName(error),                              \
               cudaGetErrorName(cudaDeviceSynchronize()));                                         \
    } while (0)

__device__ int device_variable;
__constant__ int constants[4];
__managed__ int managed = 5;

__global__ void plain(int *p)
{
    if (p)
        p[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(128) bounded(int *p)
{
    if (p)
        p[threadIdx.x] = constants[threadIdx.x & 3];
}

__global__ void tiled(int *p)
{
    __shared__ int fixed[4096];
    extern __shared__ int dynamic[];
    fixed[threadIdx.x] = 1;
    dynamic[threadIdx.x] = 2;
    __syncthreads();
    p[threadIdx.x] = fixed[31 - threadIdx.x] + dynamic[31 - threadIdx.x];
}

__global__ void cooperative(int *p)
{
    cooperative_groups::this_grid().sync();
    if (p)
        p[0] = 1;
}

__global__ void store(char *p)
{
    *(int *)p = 1;
}

__global__ void stop()
{
    asm("trap;");
}

__global__ void add_managed()
{
    managed += 1;
}

static void launches()
{
    int *p, *none = nullptr, host[64];
    void *args[] = {&p}, *no_pointer[] = {&none};
    cudaMalloc(&p, 256);
    SAY_LAUNCH((plain<<<0, 32>>>(p)));
    SAY_LAUNCH((plain<<<1, 0>>>(p)));
    SAY_LAUNCH((plain<<<1, 1025>>>(p)));
    SAY_LAUNCH((plain<<<1, dim3(64, 32)>>>(p)));
    SAY_LAUNCH((plain<<<1, dim3(1, 1, 65)>>>(p)));
    SAY_LAUNCH((plain<<<dim3(1, 65536), 1>>>(none)));
    SAY_LAUNCH((plain<<<dim3(1, 1, 65536), 1>>>(none)));
    SAY_LAUNCH((bounded<<<1, 129>>>(none)));
    SAY_LAUNCH((tiled<<<1, 32, 32 * 1024>>>(p)));
    SAY_LAUNCH((tiled<<<1, 32, 32 * 1024 + 1>>>(p)));
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    SAY(cudaFuncSetAttribute(tiled, most, 227 * 1024 - 16384));
    SAY(cudaFuncSetAttribute(tiled, most, 227 * 1024 - 16383));
    SAY(cudaFuncSetAttribute(tiled, most, -1));
    SAY(cudaFuncSetAttribute(tiled, most, 60000));
    SAY_LAUNCH((tiled<<<1, 32, 60000>>>(p)));
    SAY_LAUNCH((tiled<<<1, 32, 60001>>>(p)));
    SAY(cudaLaunchKernel((void *)plain, dim3(1), dim3(32), nullptr, 0, 0));
    SAY(cudaLaunchKernel((void *)host, dim3(1), dim3(32), args, 0, 0));
    SAY(cudaLaunchKernel((void *)nullptr, dim3(1), dim3(32), args, 0, 0));
    SAY(cudaLaunchCooperativeKernel((void *)cooperative, dim3(100000), dim3(128), no_pointer, 0, 0));
    SAY(cudaLaunchCooperativeKernel((void *)cooperative, dim3(4), dim3(128), no_pointer, 0, 0));
    SAY(cudaDeviceSynchronize());
}

static void copies()
{
    int *p, *freed, host[64] = {0};
    const cudaMemcpyKind up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost;
    cudaMalloc(&p, 256);
    cudaMalloc(&freed, 256);
    cudaFree(freed);
    SAY(cudaMemcpy(p, host, 256, up));
    SAY(cudaMemcpy(p, host, 257, up));
    SAY(cudaMemcpy(host, host + 8, 16, up));
    SAY(cudaMemcpy(host, host + 8, 16, down));
    SAY(cudaMemcpy(p, host, 16, down));
    SAY(cudaMemcpy(host, p, 16, up));
    SAY(cudaMemcpy(p, host, 16, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy(p, host, 16, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(p, host, 16, (cudaMemcpyKind)9));
    SAY(cudaMemcpy(p, host, 0, (cudaMemcpyKind)9));
    SAY(cudaMemcpy(nullptr, host, 0, up));
    SAY(cudaMemcpy(nullptr, host, 4, up));
    SAY(cudaMemcpy(p, nullptr, 4, up));
    SAY(cudaMemcpy(host, freed, 4, down));
    SAY(cudaMemcpy(host, p, 16, cudaMemcpyDefault));
    SAY(cudaMemset(p, 0, 257));
    SAY(cudaMemset(host, 0, 4));
    SAY(cudaMemset(nullptr, 0, 4));
    SAY(cudaMemset(nullptr, 0, 0));
    SAY(cudaMemcpy2D(p, 8, host, 16, 16, 2, up));
    SAY(cudaMemcpy2D(p, 16, host, 8, 16, 2, up));
    SAY(cudaMemcpy2D(p, 8, host, 16, 16, 1, up));
    SAY(cudaMemcpy2D(p, 128, host, 16, 16, 4, up));
    SAY(cudaMemset2D(p, 8, 0, 16, 2));
    SAY(cudaMemset2D(p, 16, 0, 16, 2));
    SAY(cudaMemcpyToSymbol(constants, host, 16));
    SAY(cudaMemcpyToSymbol(constants, host, 17));
    SAY(cudaMemcpyToSymbol(constants, host, 8, 12));
    SAY(cudaMemcpyToSymbol(constants, host, 16, 0, down));
    SAY(cudaMemcpyToSymbol((const void *)host, host, 4));
    SAY(cudaMemcpyFromSymbol(host, constants, 16));
}

static void say_type(const char *what, const void *pointer)
{
    cudaPointerAttributes attr;
    cudaError_t error = cudaPointerGetAttributes(&attr, pointer);
    printf("%s: %s, type %d, device %d, device pointer %s, host pointer %s\n", what,
           cudaGetErrorName(error), attr.type, attr.device, attr.devicePointer ? "yes" : "no",
           attr.hostPointer ? "yes" : "no");
}

static void memory()
{
    int *p, *freed, host[64];
    void *q = host, *pinned, *unified;
    unsigned flags;
    size_t pitch;
    cudaMalloc(&p, 256);
    cudaMalloc(&freed, 256);
    cudaFree(freed);
    SAY(cudaFree(p + 1));
    SAY(cudaFree(host));
    SAY(cudaFree(freed));
    SAY(cudaFree(nullptr));
    SAY(cudaFreeHost(host));
    SAY(cudaFreeHost(nullptr));
    SAY(cudaMalloc(&q, 0));
    printf("null: %d\n", q == nullptr);
    SAY(cudaMalloc(&q, (size_t)1 << 50));
    SAY(cudaMalloc((void **)nullptr, 4));
    SAY(cudaMallocHost(&q, 0));
    SAY(cudaMallocManaged(&q, 0));
    SAY(cudaMallocHost(&pinned, 4096));
    SAY(cudaFree(pinned));
    SAY(cudaFreeHost((char *)pinned + 8));
    SAY(cudaFreeHost(p));
    SAY(cudaMemcpy(pinned, host, 16, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, pinned, 16, cudaMemcpyDeviceToHost));
    SAY(cudaHostRegister(pinned, 4096, 0));
    SAY(cudaHostUnregister(host));
    SAY(cudaHostGetDevicePointer(&q, pinned, 0));
    printf("the same: %d\n", q == pinned);
    SAY(cudaHostGetDevicePointer(&q, host, 0));
    SAY(cudaHostGetFlags(&flags, pinned));
    SAY(cudaMallocManaged(&unified, 4096));
    SAY(cudaMemcpy(unified, host, 16, cudaMemcpyHostToDevice));
    say_type("stack", host);
    say_type("device", p);
    say_type("pinned", pinned);
    say_type("unified", unified);
    say_type("managed", &managed);
    SAY(cudaFree(unified));
    add_managed<<<1, 1>>>();
    SAY(cudaDeviceSynchronize());
    printf("managed: %d\n", managed);
    SAY(cudaGetSymbolAddress(&q, device_variable));
    SAY(cudaGetSymbolSize(&pitch, constants));
    printf("bytes: %zu\n", pitch);
    SAY(cudaGetSymbolSize(&pitch, (const void *)host));
    SAY(cudaMallocPitch(&q, &pitch, 10, 3));
    printf("pitch: %zu\n", pitch);
    SAY(cudaMallocPitch(&q, &pitch, 0, 3));
    SAY(cudaMemAdvise(p, 64, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}));
    SAY(cudaMemPrefetchAsync(p, 64, {cudaMemLocationTypeDevice, 0}, 0, 0));
}

static const char *in_callback[2];

static void callback(void *)
{
    int device;
    in_callback[0] = cudaGetErrorName(cudaDeviceSynchronize());
    in_callback[1] = cudaGetErrorName(cudaGetDevice(&device));
}

static void streams()
{
    cudaEvent_t a, b, untimed;
    cudaStream_t s;
    float ms;
    int low, high, priority;
    void *q, *p;
    unsigned long long number;
    cudaMemPool_t pool;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    SAY(cudaEventElapsedTime(&ms, a, b));
    SAY(cudaEventQuery(a));
    SAY(cudaEventRecord(a));
    SAY(cudaEventRecord(b));
    SAY(cudaEventRecord(untimed));
    SAY(cudaDeviceSynchronize());
    SAY(cudaEventElapsedTime(&ms, a, b));
    SAY(cudaEventElapsedTime(&ms, a, untimed));
    SAY(cudaEventDestroy(nullptr));
    SAY(cudaEventCreateWithFlags(&b, 99));
    SAY(cudaEventRecord(nullptr));
    SAY(cudaStreamDestroy(nullptr));
    SAY(cudaStreamCreateWithFlags(&s, 7));
    SAY(cudaDeviceGetStreamPriorityRange(&low, &high));
    SAY(cudaStreamCreateWithPriority(&s, 0, -100));
    SAY(cudaStreamGetPriority(s, &priority));
    printf("priorities: %d to %d, %d\n", low, high, priority);
    SAY(cudaLaunchHostFunc(s, callback, nullptr));
    SAY(cudaStreamSynchronize(s));
    printf("in a callback: %s, %s\n", in_callback[0], in_callback[1]);
    SAY(cudaDeviceGetDefaultMemPool(&pool, 0));
    SAY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
    printf("threshold: %llu\n", number);
    SAY(cudaMallocAsync(&q, 0, s));
    SAY(cudaMallocAsync(&q, 64, s));
    SAY(cudaFree(q));
    SAY(cudaMalloc(&p, 64));
    SAY(cudaFreeAsync(p, s));
    SAY(cudaFreeAsync(nullptr, s));
    SAY(cudaStreamDestroy(s));
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = {2, 1, 1};
    config.gridDim = 3;
    config.blockDim = 32;
    config.attrs = attribute;
    config.numAttrs = 1;
    SAY(cudaLaunchKernelEx(&config, plain, (int *)nullptr));
}

static void say_attributes(const char *what, const void *function)
{
    cudaFuncAttributes attr = {};
    cudaError_t error = cudaFuncGetAttributes(&attr, function);
    cudaGetLastError();
    printf("%s: %s, %zu bytes shared, %d dynamic, %d threads, carveout %d\n", what,
           cudaGetErrorName(error), attr.sharedSizeBytes, attr.maxDynamicSharedSizeBytes,
           attr.maxThreadsPerBlock, attr.preferredShmemCarveout);
}

static void say_occupancy(const char *what, const void *function, int threads, size_t dynamic)
{
    int blocks = -1;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, dynamic);
    cudaGetLastError();
    printf("%s, %d threads, %zu bytes: %s, %d blocks\n", what, threads, dynamic,
           cudaGetErrorName(error), blocks);
}

static void questions()
{
    int value, host[4];
    size_t bytes;
    const char *name;
    void *function;
    cudaDriverEntryPointQueryResult result;
    SAY(cudaSetDevice(99));
    SAY(cudaSetDevice(-1));
    SAY(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
    SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
    for (int limit = cudaLimitStackSize; limit <= cudaLimitMallocHeapSize; limit++) {
        SAY(cudaDeviceGetLimit(&bytes, (cudaLimit)limit));
        printf("limit %d: %zu\n", limit, bytes);
    }
    SAY(cudaDeviceGetLimit(&bytes, cudaLimitDevRuntimeSyncDepth));
    SAY(cudaDeviceGetLimit(&bytes, (cudaLimit)77));
    SAY(cudaDeviceSetLimit((cudaLimit)77, 1));
    SAY(cudaFuncSetAttribute(tiled, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    say_attributes("tiled", (const void *)tiled);
    say_attributes("bounded", (const void *)bounded);
    say_attributes("no function", host);
    say_attributes("null", nullptr);
    SAY(cudaFuncGetName(&name, (const void *)plain));
    printf("name: %s\n", name);
    say_occupancy("plain", (const void *)plain, 128, 0);
    say_occupancy("plain", (const void *)plain, 1024, 0);
    say_occupancy("plain", (const void *)plain, 1025, 0);
    say_occupancy("plain", (const void *)plain, 32, 0);
    say_occupancy("plain", (const void *)plain, 33, 0);
    say_occupancy("plain", (const void *)plain, 0, 0);
    say_occupancy("plain", (const void *)plain, 128, 300000);
    say_occupancy("bounded", (const void *)bounded, 256, 0);
    say_occupancy("tiled", (const void *)tiled, 128, 0);
    say_occupancy("tiled", (const void *)tiled, 128, 60000);
    SAY(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, tiled, 2, 128));
    printf("available: %zu\n", bytes);
    SAY(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 4, 128));
    printf("available: %zu\n", bytes);
    SAY(cudaDeviceCanAccessPeer(&value, 0, 0));
    SAY(cudaDeviceEnablePeerAccess(0, 0));
    SAY(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, 0, &result));
    printf("found: %d, result %d\n", function != nullptr, (int)result);
    SAY(cudaProfilerStart());
    SAY(cudaDeviceReset());
    SAY(cudaFree(nullptr));
}

static void after_a_fault()
{
    int *p, value;
    cudaEvent_t event;
    cudaStream_t stream;
    size_t bytes;
    void *q;
    cudaFuncAttributes attr;
    cudaPointerAttributes pointer;
    SAY(cudaDeviceSynchronize());
    SAY(cudaPeekAtLastError());
    SAY(cudaMalloc(&p, 4));
    SAY(cudaFree(nullptr));
    SAY(cudaGetDevice(&value));
    SAY(cudaGetDeviceCount(&value));
    SAY(cudaSetDevice(0));
    SAY(cudaEventCreate(&event));
    SAY(cudaStreamCreate(&stream));
    SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    SAY(cudaMemGetInfo(&bytes, &bytes));
    SAY(cudaMallocHost(&q, 64));
    SAY(cudaGetSymbolAddress(&q, device_variable));
    SAY(cudaFuncGetAttributes(&attr, (const void *)plain));
    SAY(cudaPointerGetAttributes(&pointer, &value));
    SAY(cudaStreamQuery(0));
    SAY(cudaDriverGetVersion(&value));
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, plain, 32, 0));
    SAY_LAUNCH((plain<<<1, 32>>>(0)));
    SAY(cudaDeviceReset());
    SAY(cudaGetLastError());
    SAY(cudaMalloc(&p, 4));
    SAY(cudaDeviceSynchronize());
}

static void wild_pointer()
{
    store<<<1, 1>>>((char *)0x7f0000000000);
    after_a_fault();
}

static void misaligned()
{
    char *p;
    cudaMalloc(&p, 64);
    store<<<1, 1>>>(p + 1);
    after_a_fault();
}

static void trap()
{
    stop<<<1, 1>>>();
    after_a_fault();
}

// A fault stays for the rest of a process, so each part has one of its own.
static void in_a_child(const char *name, void (*part)())
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        printf("---- %s\n", name);
        part();
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    if (status != 0)
        printf("ended with status %d\n", status);
}

int main()
{
    in_a_child("launches", launches);
    in_a_child("copies", copies);
    in_a_child("memory", memory);
    in_a_child("streams", streams);
    in_a_child("questions", questions);
    in_a_child("a wild pointer", wild_pointer);
    in_a_child("a misaligned store", misaligned);
    in_a_child("a trap", trap);
    return 0;
}
