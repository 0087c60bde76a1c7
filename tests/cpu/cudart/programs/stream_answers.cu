// What calls answer while streams capture, and what graphs, queues and rarer calls answer. The file
// stream_answers.stdout is what an H200 printed with CUDA 13.0 (built with -cudart static
// -gencode arch=compute_90,code=sm_90); the CPU device must print the same. Left out is where this
// device is stricter: a card captures a cudaMemsetAsync of NULL, reads PTX only when it is used, and
// crashes when a graph becomes its own child.
// nvcc: -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_STREAM_ORDER=late
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#define SAY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        printf("%s: %s, then %s\n", #call, cudaGetErrorName(error),                                \
               cudaGetErrorName(cudaGetLastError()));                                              \
    } while (0)

__device__ int variable;
__managed__ int managed = 5;

__global__ void add(int *p, int by)
{
    if (p)
        p[0] += by;
}

__global__ void other(int *p, int by)
{
    if (p)
        p[0] -= by;
}

__global__ void wait_a_while(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

static void nothing(void *)
{
}

static void no_callback(cudaStream_t, cudaError_t, void *)
{
}

// ---- calls while a stream captures ----

struct Things {
    cudaStream_t capturing, blocking, free_running;
    cudaEvent_t recorded, fresh, captured;
    int *device, *pinned, *unified;
    int host[64];
};

static cudaError_t use(Things &t, int what, const char **name)
{
    int value;
    size_t bytes, bytes2;
    void *p;
    float ms;
    cudaFuncAttributes attr;
    cudaStream_t stream;
    cudaEvent_t event;
    switch (what) {
#define CALL(number, call)                                                                         \
    case number:                                                                                   \
        *name = #call;                                                                             \
        return call;
        CALL(0, cudaMalloc(&p, 4))
        CALL(1, cudaFree(t.device))
        CALL(2, cudaMallocHost(&p, 4))
        CALL(3, cudaFreeHost(t.pinned))
        CALL(4, cudaMallocManaged(&p, 4))
        CALL(5, cudaStreamSynchronize(t.capturing))
        CALL(6, cudaStreamQuery(t.capturing))
        CALL(7, cudaStreamSynchronize(t.blocking))
        CALL(8, cudaStreamQuery(t.free_running))
        CALL(9, cudaStreamSynchronize(0))
        CALL(10, cudaStreamQuery(0))
        CALL(11, cudaDeviceSynchronize())
        CALL(12, cudaEventQuery(t.recorded))
        CALL(13, cudaEventSynchronize(t.recorded))
        CALL(14, cudaEventQuery(t.captured))
        CALL(15, cudaEventSynchronize(t.captured))
        CALL(16, cudaMemcpy(t.device, t.host, 4, cudaMemcpyHostToDevice))
        CALL(17, cudaMemset(t.device, 0, 4))
        CALL(18, cudaMemsetAsync(t.device, 0, 4, 0))
        CALL(19, cudaMemsetAsync(t.device, 0, 4, t.blocking))
        CALL(20, cudaMemsetAsync(t.device, 0, 4, t.capturing))
        CALL(21, cudaMemcpyAsync(t.device, t.host, 4, cudaMemcpyHostToDevice, t.capturing))
        CALL(22, cudaMemcpyAsync(t.host, t.device, 4, cudaMemcpyDeviceToHost, t.capturing))
        CALL(23, cudaMemcpyAsync(t.pinned, t.device, 4, cudaMemcpyDeviceToHost, t.capturing))
        CALL(24, cudaMemcpyToSymbolAsync(variable, t.host, 4, 0, cudaMemcpyHostToDevice,
                                         t.capturing))
        CALL(25, cudaStreamAddCallback(t.capturing, no_callback, nullptr, 0))
        CALL(26, cudaLaunchHostFunc(t.capturing, nothing, nullptr))
        CALL(27, cudaStreamCreate(&stream))
        CALL(28, cudaEventCreate(&event))
        CALL(29, cudaEventDestroy(t.captured))
        CALL(30, cudaMemGetInfo(&bytes, &bytes2))
        CALL(31, cudaFuncGetAttributes(&attr, add))
        CALL(32, cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000))
        CALL(33, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0))
        CALL(34, cudaStreamWaitEvent(t.capturing, t.recorded, 0))
        CALL(35, cudaStreamWaitEvent(t.capturing, t.fresh, 0))
        CALL(36, cudaStreamWaitEvent(t.capturing, t.recorded, cudaEventWaitExternal))
        CALL(37, cudaStreamWaitEvent(t.free_running, t.captured, 0))
        CALL(38, cudaStreamWaitEvent(0, t.captured, 0))
        CALL(39, cudaEventRecord(t.fresh, t.capturing))
        CALL(40, cudaEventRecordWithFlags(t.fresh, t.capturing, cudaEventRecordExternal))
        CALL(41, cudaEventRecord(t.fresh, t.blocking))
        CALL(42, cudaEventElapsedTime(&ms, t.recorded, t.recorded))
        CALL(43, cudaEventElapsedTime(&ms, t.recorded, t.captured))
        CALL(44, cudaHostRegister(t.host, 64, 0))
        CALL(45, cudaGetSymbolAddress(&p, variable))
        CALL(46, cudaMemPrefetchAsync(t.unified, 4, {cudaMemLocationTypeDevice, 0}, 0,
                                      t.capturing))
        CALL(47, cudaMallocAsync(&p, 4, t.free_running))
        CALL(48, cudaFreeAsync(t.device, t.free_running))
        CALL(49, cudaStreamBeginCapture(t.capturing, cudaStreamCaptureModeRelaxed))
        CALL(50, cudaMallocAsync(&p, 4, t.capturing))
        CALL(51, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, add, 32, 0))
        CALL(52, cudaGetLastError())
        CALL(53, cudaMemcpy2DAsync(t.device, 8, t.host, 8, 4, 2, cudaMemcpyHostToDevice,
                                   t.capturing))
        CALL(54, cudaMemsetAsync(t.device, 0, 0, t.capturing))
        CALL(55, cudaDeviceGetLimit(&bytes, cudaLimitStackSize))
#undef CALL
    }
    *name = nullptr;
    return cudaSuccess;
}

static void make(Things &t, unsigned flags)
{
    cudaStreamCreateWithFlags(&t.capturing, flags);
    cudaStreamCreate(&t.blocking);
    cudaStreamCreateWithFlags(&t.free_running, cudaStreamNonBlocking);
    cudaEventCreate(&t.recorded);
    cudaEventCreate(&t.fresh);
    cudaEventCreate(&t.captured);
    cudaMalloc(&t.device, 256);
    cudaMallocHost(&t.pinned, 256);
    cudaMallocManaged(&t.unified, 256);
    add<<<1, 1>>>(t.device, 1);
    other<<<1, 1>>>(t.device, 1);
    cudaMemcpyToSymbol(variable, t.host, 4);
    managed = 1;
    cudaEventRecord(t.recorded, t.blocking);
    cudaDeviceSynchronize();
}

// One line per call: its answer, whether the capture survives, what the graph then holds.
static void while_capturing(cudaStreamCaptureMode mode, unsigned flags)
{
    for (int what = 0;; what++) {
        Things t;
        const char *name;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaGraph_t graph = nullptr;
        size_t nodes = 0;
        make(t, flags);
        cudaStreamBeginCapture(t.capturing, mode);
        add<<<1, 1, 0, t.capturing>>>(t.device, 1);
        cudaEventRecord(t.captured, t.capturing);
        cudaError_t error = use(t, what, &name);
        cudaError_t last = cudaGetLastError();
        cudaStreamIsCapturing(t.capturing, &status);
        cudaGetLastError();
        cudaError_t end = cudaStreamEndCapture(t.capturing, &graph);
        cudaGetLastError();
        if (graph)
            cudaGraphGetNodes(graph, nullptr, &nodes);
        if (!name)
            break;
        printf("%s: %s, then %s; status %d, end %s, %zu nodes\n", name, cudaGetErrorName(error),
               cudaGetErrorName(last), (int)status, cudaGetErrorName(end), nodes);
        if (graph)
            cudaGraphDestroy(graph);
        cudaDeviceSynchronize();
        cudaGetLastError();
    }
}

static void global_blocking() { while_capturing(cudaStreamCaptureModeGlobal, 0); }
static void global_free() { while_capturing(cudaStreamCaptureModeGlobal, cudaStreamNonBlocking); }
static void local_blocking() { while_capturing(cudaStreamCaptureModeThreadLocal, 0); }
static void relaxed_blocking() { while_capturing(cudaStreamCaptureModeRelaxed, 0); }
static void relaxed_free() { while_capturing(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking); }

// ---- captures ----

static void say_types(const char *what, cudaGraph_t graph)
{
    cudaGraphNode_t nodes[32];
    size_t count = 32, edges = 0, roots = 0;
    if (!graph) {
        printf("%s: no graph\n", what);
        return;
    }
    cudaGraphGetNodes(graph, nodes, &count);
    cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
    cudaGraphGetRootNodes(graph, nullptr, &roots);
    printf("%s: %zu nodes, %zu edges, %zu roots, types", what, count, edges, roots);
    for (size_t i = 0; i < count; i++) {
        cudaGraphNodeType type;
        cudaGraphNodeGetType(nodes[i], &type);
        printf(" %d", (int)type);
    }
    printf("\n");
}

static void captures()
{
    Things t;
    cudaStream_t second, third;
    cudaEvent_t fork, join;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec;
    unsigned long long id;
    cudaStreamCaptureStatus status;
    make(t, 0);
    cudaStreamCreate(&second);
    cudaStreamCreate(&third);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    const cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    SAY(cudaStreamBeginCapture(0, mode));
    SAY(cudaStreamBeginCapture(cudaStreamPerThread, mode));
    SAY(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    say_types("empty", graph);
    SAY(cudaStreamBeginCapture(t.capturing, (cudaStreamCaptureMode)7));
    SAY(cudaStreamEndCapture(t.capturing, &graph));

    // Fork and join.
    SAY(cudaStreamBeginCapture(t.capturing, mode));
    add<<<1, 1, 0, t.capturing>>>(t.device, 1);
    SAY(cudaEventRecord(fork, t.capturing));
    SAY(cudaStreamWaitEvent(second, fork, 0));
    add<<<1, 1, 0, second>>>(t.device + 1, 1);
    add<<<1, 1, 0, t.capturing>>>(t.device + 2, 1);
    SAY(cudaStreamIsCapturing(second, &status));
    printf("status %d\n", (int)status);
    SAY(cudaEventRecord(join, second));
    SAY(cudaStreamWaitEvent(t.capturing, join, 0));
    add<<<1, 1, 0, t.capturing>>>(t.device + 3, 1);
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    say_types("fork and join", graph);
    SAY(cudaStreamIsCapturing(second, &status));
    printf("status %d\n", (int)status);
    SAY(cudaEventQuery(join));
    SAY(cudaEventSynchronize(join));
    SAY(cudaStreamWaitEvent(third, join, 0));
    SAY(cudaGraphInstantiate(&exec, graph, 0));
    SAY(cudaGraphLaunch(exec, 0));
    SAY(cudaDeviceSynchronize());

    // Not joined.
    cudaStreamBeginCapture(t.capturing, mode);
    cudaEventRecord(fork, t.capturing);
    cudaStreamWaitEvent(second, fork, 0);
    add<<<1, 1, 0, second>>>(t.device, 1);
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    say_types("not joined", graph);
    SAY(cudaStreamIsCapturing(second, &status));
    printf("status %d\n", (int)status);

    // Joined without work of its own in the fork.
    cudaStreamBeginCapture(t.capturing, mode);
    add<<<1, 1, 0, t.capturing>>>(t.device, 1);
    cudaEventRecord(fork, t.capturing);
    cudaStreamWaitEvent(second, fork, 0);
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    say_types("an empty fork", graph);

    // Ended in another stream of the capture.
    cudaStreamBeginCapture(t.capturing, mode);
    add<<<1, 1, 0, t.capturing>>>(t.device, 1);
    cudaEventRecord(fork, t.capturing);
    cudaStreamWaitEvent(second, fork, 0);
    SAY(cudaStreamEndCapture(second, &graph));
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    say_types("ended elsewhere first", graph);

    // Two captures.
    cudaStreamBeginCapture(t.capturing, mode);
    cudaStreamBeginCapture(third, mode);
    add<<<1, 1, 0, t.capturing>>>(t.device, 1);
    cudaEventRecord(fork, t.capturing);
    SAY(cudaStreamWaitEvent(third, fork, 0));
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    SAY(cudaStreamEndCapture(third, &graph));

    // From another thread.
    cudaStreamBeginCapture(t.capturing, mode);
    std::thread([&] {
        void *p;
        SAY(cudaMalloc(&p, 4));
        SAY(cudaStreamEndCapture(t.capturing, &graph));
    }).join();
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    cudaStreamBeginCapture(t.capturing, cudaStreamCaptureModeThreadLocal);
    std::thread([&] {
        void *p;
        SAY(cudaMalloc(&p, 4));
        add<<<1, 1, 0, t.capturing>>>(t.device, 1);
        SAY(cudaGetLastError());
    }).join();
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    say_types("with a kernel of another thread", graph);
    cudaStreamBeginCapture(t.capturing, cudaStreamCaptureModeRelaxed);
    std::thread([&] { SAY(cudaStreamEndCapture(t.capturing, &graph)); }).join();

    // What each kind of work becomes.
    cudaStreamBeginCapture(t.capturing, mode);
    add<<<1, 1, 0, t.capturing>>>(t.device, 1);
    cudaMemcpyAsync(t.device + 1, t.device, 4, cudaMemcpyDeviceToDevice, t.capturing);
    cudaMemsetAsync(t.device, 0, 4, t.capturing);
    cudaLaunchHostFunc(t.capturing, nothing, nullptr);
    cudaEventRecordWithFlags(fork, t.capturing, cudaEventRecordExternal);
    void *p;
    cudaMallocAsync(&p, 64, t.capturing);
    cudaFreeAsync(p, t.capturing);
    SAY(cudaGraphLaunch(exec, t.capturing));
    const cudaGraphNode_t *dependencies;
    size_t count = 9;
    SAY(cudaStreamGetCaptureInfo(t.capturing, &status, &id, &graph, &dependencies, nullptr,
                                 &count));
    printf("status %d, %zu dependencies\n", (int)status, count);
    SAY(cudaStreamEndCapture(t.capturing, &graph));
    say_types("one of each", graph);

    // A stream that is destroyed.
    cudaStreamBeginCapture(third, mode);
    SAY(cudaStreamDestroy(third));
    SAY(cudaMalloc(&p, 4));
}

// ---- graphs ----

static void graphs()
{
    Things t;
    cudaGraph_t graph, copy, child;
    cudaGraphNode_t a, b, c, d, e, list[8];
    cudaGraphExec_t exec, wrong;
    int by = 1;
    make(t, 0);
    void *args[] = {&t.device, &by};
    cudaKernelNodeParams kernel = {};
    cudaMemsetParams fill = {};
    cudaGraphExecUpdateResultInfo info;
    size_t count;
    cudaGraphNodeType type;
    kernel.func = (void *)add;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = args;
    SAY(cudaGraphCreate(&graph, 1));
    SAY(cudaGraphCreate(&graph, 0));
    SAY(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    SAY(cudaGraphAddKernelNode(&b, graph, &a, 1, &kernel));
    SAY(cudaGraphAddEmptyNode(&c, graph, &b, 1));
    list[0] = a, list[1] = a;
    SAY(cudaGraphAddEmptyNode(&d, graph, list, 2));
    SAY(cudaGraphAddEmptyNode(&d, graph, nullptr, 1));
    kernel.gridDim = dim3(0);
    SAY(cudaGraphAddKernelNode(&d, graph, nullptr, 0, &kernel));
    kernel.gridDim = dim3(1);
    kernel.func = nullptr;
    SAY(cudaGraphAddKernelNode(&d, graph, nullptr, 0, &kernel));
    kernel.func = (void *)add;
    fill.dst = t.device;
    fill.elementSize = 3;
    fill.width = 4;
    fill.height = 1;
    SAY(cudaGraphAddMemsetNode(&d, graph, &c, 1, &fill));
    fill.elementSize = 4;
    fill.value = 7;
    SAY(cudaGraphAddMemsetNode(&d, graph, &c, 1, &fill));
    SAY(cudaGraphAddMemcpyNode1D(&e, graph, nullptr, 0, t.device, t.host, 257,
                                 cudaMemcpyHostToDevice));
    SAY(cudaGraphAddMemcpyNode1D(&e, graph, nullptr, 0, t.device + 8, t.host, 8,
                                 cudaMemcpyHostToDevice));
    SAY(cudaGraphAddDependencies(graph, &a, &e, nullptr, 1));
    SAY(cudaGraphAddDependencies(graph, &a, &e, nullptr, 1));
    SAY(cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
    SAY(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
    SAY(cudaGraphInstantiate(&wrong, graph, 0));
    SAY(cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    SAY(cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    say_types("by hand", graph);
    count = 1;
    SAY(cudaGraphGetNodes(graph, list, &count));
    printf("count %zu\n", count);
    count = 8;
    SAY(cudaGraphGetNodes(graph, list, &count));
    printf("count %zu, padded with null: %d\n", count, list[7] == nullptr);
    SAY(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
    printf("count %zu\n", count);
    SAY(cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &count));
    printf("count %zu\n", count);
    SAY(cudaGraphKernelNodeGetParams(b, &kernel));
    printf("the same: %d %d %d\n", kernel.gridDim.x, *(int *)kernel.kernelParams[1],
           *(int **)kernel.kernelParams[0] == t.device);
    kernel.func = (void *)add;
    kernel.kernelParams = args;
    SAY(cudaGraphKernelNodeGetParams(c, &kernel));
    kernel.func = (void *)add;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = args;
    kernel.extra = nullptr;
    kernel.sharedMemBytes = 0;
    SAY(cudaGraphInstantiate(&exec, graph, 99));
    SAY(cudaGraphInstantiate(&exec, graph, 0));
    SAY(cudaGraphLaunch(exec, t.blocking));
    SAY(cudaStreamSynchronize(t.blocking));
    cudaMemcpy(t.host, t.device, 16, cudaMemcpyDeviceToHost);
    printf("data %d %d\n", t.host[0], t.host[3]);
    by = 5;
    SAY(cudaGraphExecKernelNodeSetParams(exec, a, &kernel));
    SAY(cudaGraphExecKernelNodeSetParams(exec, c, &kernel));
    kernel.func = (void *)other;
    SAY(cudaGraphExecKernelNodeSetParams(exec, b, &kernel));
    SAY(cudaGraphKernelNodeSetParams(b, &kernel));
    SAY(cudaGraphExecUpdate(exec, graph, &info));
    printf("result %d\n", (int)info.result);
    SAY(cudaGraphClone(&copy, graph));
    say_types("clone", copy);
    cudaGraphNode_t twin;
    SAY(cudaGraphNodeFindInClone(&twin, a, copy));
    printf("another: %d\n", twin != a);
    SAY(cudaGraphNodeFindInClone(&twin, a, graph));
    SAY(cudaGraphDestroyNode(twin));
    SAY(cudaGraphNodeFindInClone(&twin, a, copy));
    SAY(cudaGraphDestroyNode(d));
    say_types("without the fill", graph);
    SAY(cudaGraphExecUpdate(exec, graph, &info));
    printf("result %d\n", (int)info.result);
    SAY(cudaGraphAddMemsetNode(&d, graph, &b, 1, &fill));
    SAY(cudaGraphExecUpdate(exec, graph, &info));
    printf("result %d\n", (int)info.result);
    cudaGraphDestroyNode(d);
    cudaHostNodeParams call = {nothing, nullptr};
    SAY(cudaGraphAddHostNode(&d, graph, &c, 1, &call));
    SAY(cudaGraphExecUpdate(exec, graph, &info));
    printf("result %d\n", (int)info.result);
    unsigned enabled = 7;
    SAY(cudaGraphNodeGetEnabled(exec, a, &enabled));
    printf("enabled %u\n", enabled);
    SAY(cudaGraphNodeSetEnabled(exec, a, 0));
    SAY(cudaGraphNodeSetEnabled(exec, c, 0));
    SAY(cudaGraphUpload(exec, t.blocking));
    SAY(cudaGraphNodeGetType(a, &type));
    SAY(cudaGraphCreate(&child, 0));
    SAY(cudaGraphAddChildGraphNode(&e, graph, nullptr, 0, child));
}

// ---- queues ----

static void queues()
{
    Things t;
    cudaDeviceProp properties;
    float ms;
    make(t, cudaStreamNonBlocking);
    cudaGetDeviceProperties(&properties, 0);
    long long cycles = strstr(properties.name, "CPU") ? 1000 : 200000000;
    wait_a_while<<<1, 1, 0, t.capturing>>>(cycles);
    cudaEventRecord(t.fresh, t.capturing);
    SAY(cudaStreamQuery(t.capturing));
    SAY(cudaEventQuery(t.fresh));
    SAY(cudaEventElapsedTime(&ms, t.recorded, t.fresh));
    SAY(cudaStreamQuery(0));
    SAY(cudaStreamSynchronize(t.capturing));
    SAY(cudaEventQuery(t.fresh));
    SAY(cudaEventElapsedTime(&ms, t.recorded, t.fresh));
    wait_a_while<<<1, 1, 0, t.blocking>>>(cycles);
    SAY(cudaStreamQuery(0));
    SAY(cudaDeviceSynchronize());
    wait_a_while<<<1, 1, 0, t.capturing>>>(cycles);
    SAY(cudaFree(t.device));
    SAY(cudaStreamQuery(t.capturing));
    wait_a_while<<<1, 1, 0, t.capturing>>>(cycles);
    SAY(cudaFreeHost(t.pinned));
    SAY(cudaStreamQuery(t.capturing));
    wait_a_while<<<1, 1, 0, t.capturing>>>(cycles);
    SAY(cudaMemset(t.unified, 0, 4));
    SAY(cudaStreamQuery(t.capturing));
    SAY(cudaStreamDestroy(t.capturing));
    SAY(cudaDeviceSynchronize());
}

// ---- rarer calls ----

static const char ptx[] = ".version 7.8\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 counter = 3;\n"
                          ".visible .entry empty()\n{\n    ret;\n}\n"
                          ".visible .entry set(.param .u64 at)\n{\n    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [at];\n    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    st.global.u32 [%rd2], 42;\n    ret;\n}\n";

static void rarer()
{
    Things t;
    cudaLibrary_t library;
    cudaKernel_t kernels[4], kernel;
    unsigned count = 0;
    size_t bytes = 0;
    void *p;
    int value = -1;
    cudaFuncAttributes attr = {};
    const char *name;
    make(t, 0);
    SAY(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    SAY(cudaLibraryGetKernelCount(&count, library));
    printf("kernels %u\n", count);
    SAY(cudaLibraryEnumerateKernels(kernels, 4, library));
    SAY(cudaLibraryGetKernel(&kernel, library, "none"));
    SAY(cudaLibraryGetKernel(&kernel, library, "set"));
    SAY(cudaFuncGetName(&name, (const void *)kernel));
    printf("name %s\n", name);
    void *args[] = {&t.device};
    SAY(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
    SAY(cudaMemcpy(&value, t.device, 4, cudaMemcpyDeviceToHost));
    printf("value %d\n", value);
    SAY(cudaLibraryGetGlobal(&p, &bytes, library, "none"));
    SAY(cudaLibraryGetGlobal(&p, &bytes, library, "counter"));
    printf("bytes %zu\n", bytes);
    SAY(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    printf("value %d\n", value);
    SAY(cudaLibraryGetManaged(&p, &bytes, library, "counter"));
    SAY(cudaLibraryUnload(library));
    SAY(cudaLibraryLoadFromFile(&library, "/nowhere", nullptr, nullptr, 0, nullptr, nullptr, 0));
    SAY(cudaFuncGetAttributes(&attr, add));
    printf("constant %zu, local %zu, shared %zu\n", attr.constSizeBytes, attr.localSizeBytes,
           attr.sharedSizeBytes);
    SAY(cudaFuncGetAttributes(&attr, wait_a_while));
    printf("constant %zu, local %zu, shared %zu\n", attr.constSizeBytes, attr.localSizeBytes,
           attr.sharedSizeBytes);
    SAY(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    SAY(cudaMemcpyPeer(t.device, 0, t.device + 8, 0, 16));
    SAY(cudaMemcpyPeer(t.device, 0, t.device + 8, 1000, 16));
    SAY(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, t.unified, 64));
    printf("value %d\n", value);
    SAY(cudaMemAdvise(t.unified, 64, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}));
    SAY(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, t.unified, 64));
    printf("value %d\n", value);
    SAY(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, t.device, 64));
    cudaMemPool_t pool, same;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    SAY(cudaMemPoolCreate(&pool, &props));
    SAY(cudaMallocFromPoolAsync(&p, 64, pool, 0));
    SAY(cudaDeviceGetMemPool(&same, 0));
    SAY(cudaMemPoolDestroy(pool));
    SAY(cudaMemPoolDestroy(same));
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    SAY(cudaMemGetDefaultMemPool(&same, &here, cudaMemAllocationTypePinned));
    SAY(cudaMemGetMemPool(&same, &here, cudaMemAllocationTypePinned));
    unsigned long long number = 9;
    SAY(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &number));
    printf("number %llu\n", number);
    SAY(cudaDeviceGraphMemTrim(0));
    cudaUserObject_t object;
    SAY(cudaUserObjectCreate(&object, &value, nothing, 1, cudaUserObjectNoDestructorSync));
    SAY(cudaUserObjectCreate(&object, &value, nothing, 1, 0));
    cudaUserObjectCreate(&object, &value, nothing, 1, cudaUserObjectNoDestructorSync);
    SAY(cudaUserObjectRelease(object, 1));
    SAY(cudaEventRecord(t.fresh, (cudaStream_t)0));
    SAY(cudaEventRecordWithFlags(t.fresh, 0, cudaEventRecordExternal));
    SAY(cudaStreamWaitEvent(0, t.fresh, cudaEventWaitExternal));
    SAY(cudaHostRegister(t.host, 0, 0));
    SAY(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    SAY(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    printf("heap %zu\n", bytes);
}

static void null_graph() { SAY(cudaGraphCreate(nullptr, 0)); }
static void null_launch() { SAY(cudaGraphLaunch(nullptr, 0)); }
static void null_exec() { SAY(cudaGraphExecDestroy(nullptr)); }
static void null_destroy() { SAY(cudaGraphDestroy(nullptr)); }
static void null_instance() { SAY(cudaGraphInstantiate(nullptr, (cudaGraph_t)nullptr, 0)); }
static void null_unload() { SAY(cudaLibraryUnload(nullptr)); }

static void in_a_child(const char *name, void (*part)())
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
        printf("---- %s\n", name);
        part();
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    if (status != 0)
        printf("%s ended with status %d\n", name, status);
}

int main()
{
    in_a_child("global, a blocking stream", global_blocking);
    in_a_child("global, a non-blocking stream", global_free);
    in_a_child("thread-local, a blocking stream", local_blocking);
    in_a_child("relaxed, a blocking stream", relaxed_blocking);
    in_a_child("relaxed, a non-blocking stream", relaxed_free);
    in_a_child("captures", captures);
    in_a_child("graphs", graphs);
    in_a_child("queues", queues);
    in_a_child("rarer calls", rarer);
    in_a_child("no graph", null_graph);
    in_a_child("launching nothing", null_launch);
    in_a_child("destroying no instance", null_exec);
    in_a_child("destroying no graph", null_destroy);
    in_a_child("an instance of nothing", null_instance);
    in_a_child("unloading nothing", null_unload);
    return 0;
}
