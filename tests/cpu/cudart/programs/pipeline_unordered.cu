// The same with one wait left out: the second chunk in a buffer may overwrite the first one before
// it has been taken out. With the streams' work done late that is what happens, and in any order it
// is a race.
// nvcc: -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_STREAM_ORDER=late
// environment: SCANJUDGE_REPORT=1
// stderr: error: data_race:
// stderr: nothing orders the two
// stdout: some are wrong
#include <cstdio>

constexpr int kChunk = 1000, kChunks = 12;

__global__ void scale(int *data, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kChunk)
        data[i] *= factor;
}

int main()
{
    int *host, *device[2], wrong = 0;
    cudaStream_t in, out;
    cudaEvent_t arrived[2];
    cudaMallocHost(&host, kChunks * kChunk * sizeof(int));
    cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
    for (int k = 0; k < 2; k++) {
        cudaMalloc(&device[k], kChunk * sizeof(int));
        cudaEventCreateWithFlags(&arrived[k], cudaEventDisableTiming);
    }
    for (int i = 0; i < kChunks * kChunk; i++)
        host[i] = i;
    for (int c = 0; c < kChunks; c++) {
        int k = c % 2, *chunk = host + c * kChunk;
        cudaMemcpyAsync(device[k], chunk, kChunk * sizeof(int), cudaMemcpyHostToDevice, in);
        cudaEventRecord(arrived[k], in);
        cudaStreamWaitEvent(out, arrived[k]);
        scale<<<4, 256, 0, out>>>(device[k], c + 1);
        cudaMemcpyAsync(chunk, device[k], kChunk * sizeof(int), cudaMemcpyDeviceToHost, out);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < kChunks * kChunk; i++)
        wrong += host[i] != i * (i / kChunk + 1);
    printf("%s\n", wrong ? "some are wrong" : "all are right");
    return 0;
}
