// Four host threads with a default stream each: none of them waits for the others, and each finds
// its own work done.
// nvcc: -gencode arch=compute_75,code=compute_75 --default-stream per-thread -Xcompiler -pthread
// environment: SCANJUDGE_STREAM_ORDER=random
// environment: SCANJUDGE_SEED=3
// environment: SCANJUDGE_REPORT=1
// clean
// stdout: 0 wrong
// stdout: unordered: 0
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

constexpr int n = 512, kRounds = 20;

__global__ void add(int *data, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += by;
}

static std::atomic<int> wrong{0}, calls{0};

static void count(void *)
{
    calls++;
}

static void work(int id)
{
    int *device, *host;
    cudaMalloc(&device, n * sizeof(int));
    cudaMallocHost(&host, n * sizeof(int));
    cudaMemsetAsync(device, 0, n * sizeof(int));
    for (int round = 0; round < kRounds; round++) {
        add<<<2, 256>>>(device, id);
        cudaLaunchHostFunc(0, count, nullptr);
    }
    cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaStreamSynchronize(0);
    for (int i = 0; i < n; i++)
        wrong += host[i] != id * kRounds;
    cudaFree(device);
    cudaFreeHost(host);
}

int main()
{
    std::vector<std::thread> threads;
    for (int id = 1; id <= 4; id++)
        threads.emplace_back(work, id);
    for (auto &t : threads)
        t.join();
    printf("%d wrong\n", wrong.load());
    printf("unordered: %d\n", 4 * kRounds - calls.load());
    return cudaDeviceSynchronize();
}
