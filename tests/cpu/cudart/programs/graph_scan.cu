// CUB's scan captured once and replayed three times: the data change, then an instance is updated
// by a capture with another input.
// nvcc: -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_STREAM_ORDER=late
// environment: SCANJUDGE_REPORT=1
// clean
// stdout: replay 0: 0 wrong
// stdout: replay 1: 0 wrong
// stdout: replay 2: 0 wrong
// stdout: updated: 0 wrong
#include <cstdio>
#include <cub/device/device_scan.cuh>

constexpr int n = 5000;

static cudaGraph_t capture(void *temporary, size_t bytes, const int *in, int *out, cudaStream_t s)
{
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, n, s);
    cudaStreamEndCapture(s, &graph);
    return graph;
}

static int count_wrong(const int *device, int first)
{
    static int host[n];
    int wrong = 0, sum = 0;
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        wrong += host[i] != sum;
        sum += first + i % 7;
    }
    return wrong;
}

int main()
{
    static int host[n];
    int *in, *other, *out;
    void *temporary = nullptr;
    size_t bytes = 0;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&other, sizeof host);
    cudaMalloc(&out, sizeof host);
    cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, n, s);
    cudaMalloc(&temporary, bytes);
    cudaGraph_t graph = capture(temporary, bytes, in, out, s);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    for (int replay = 0; replay < 3; replay++) {
        for (int i = 0; i < n; i++)
            host[i] = replay + i % 7;
        cudaMemcpyAsync(in, host, sizeof host, cudaMemcpyHostToDevice, s);
        cudaGraphLaunch(exec, s);
        cudaStreamSynchronize(s);
        printf("replay %d: %d wrong\n", replay, count_wrong(out, replay));
    }
    for (int i = 0; i < n; i++)
        host[i] = 9 + i % 7;
    cudaMemcpyAsync(other, host, sizeof host, cudaMemcpyHostToDevice, s);
    cudaGraph_t changed = capture(temporary, bytes, other, out, s);
    cudaGraphExecUpdateResultInfo info;
    if (cudaGraphExecUpdate(exec, changed, &info) != cudaSuccess)
        printf("not updated: %d\n", (int)info.result);
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    printf("updated: %d wrong\n", count_wrong(out, 9));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaGraphDestroy(changed);
    return cudaGetLastError();
}
