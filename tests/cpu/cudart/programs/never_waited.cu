// The results are used, and the program ends, while work is still queued.
// Pinned bytes hold nothing of use until the copy is done (work_obscure): 0xa5a5a5a5.
// nvcc: -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_STREAM_ORDER=late
// environment: SCANJUDGE_REPORT=1
// stdout: got -1515870811
// stderr: warning: leak: the program ended while kernel `fill` on stream 1 was still queued
#include <cstdio>

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7;
}

int main()
{
    int *device, *host;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&device, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    host[3] = 0;
    fill<<<1, 32, 0, s>>>(device);
    cudaMemcpyAsync(host, device, 32 * sizeof(int), cudaMemcpyDeviceToHost, s);
    printf("got %d\n", host[3]);
    return 0;
}
