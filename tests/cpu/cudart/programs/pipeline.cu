// Two buffers between three streams: one brings chunks in, one scales them, one takes them out.
// Events order them in both directions, so it is right in any order of streams.
// nvcc: -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_STREAM_ORDER=random
// environment: SCANJUDGE_SEED=7
// environment: SCANJUDGE_REPORT=1
// clean
// stdout: 12 chunks, 0 wrong
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
    cudaStream_t in, work, out;
    cudaEvent_t arrived[2], scaled[2], taken[2];
    cudaMallocHost(&host, kChunks * kChunk * sizeof(int));
    cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreate(&out);
    for (int k = 0; k < 2; k++) {
        cudaMalloc(&device[k], kChunk * sizeof(int));
        cudaEventCreateWithFlags(&arrived[k], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&scaled[k], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&taken[k], cudaEventDisableTiming);
    }
    for (int i = 0; i < kChunks * kChunk; i++)
        host[i] = i;
    for (int c = 0; c < kChunks; c++) {
        int k = c % 2, *chunk = host + c * kChunk;
        if (c >= 2)
            cudaStreamWaitEvent(in, taken[k]);
        cudaMemcpyAsync(device[k], chunk, kChunk * sizeof(int), cudaMemcpyHostToDevice, in);
        cudaEventRecord(arrived[k], in);
        cudaStreamWaitEvent(work, arrived[k]);
        scale<<<4, 256, 0, work>>>(device[k], c + 1);
        cudaEventRecord(scaled[k], work);
        cudaStreamWaitEvent(out, scaled[k]);
        cudaMemcpyAsync(chunk, device[k], kChunk * sizeof(int), cudaMemcpyDeviceToHost, out);
        cudaEventRecord(taken[k], out);
    }
    cudaStreamSynchronize(out);
    for (int i = 0; i < kChunks * kChunk; i++)
        wrong += host[i] != i * (i / kChunk + 1);
    printf("%d chunks, %d wrong\n", kChunks, wrong);
    return cudaDeviceSynchronize();
}
