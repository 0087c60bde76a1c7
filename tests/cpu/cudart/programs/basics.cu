// What nvcc-built programs use most, on the default compression and the default gencode flags of a
// student: <<<>>>, templates, constant, device and managed variables, dynamic shared memory.
// nvcc: -gencode arch=compute_75,code=compute_75
// stdout: scaled 0 3 6 297
// stdout: reversed 31 30 0
// stdout: managed 15
// stdout: counted 128
// stdout: no error
#include <cstdio>

__constant__ int factor = 1;
__device__ unsigned counter;
__managed__ int shared_with_host = 5;

template <typename T> __global__ void scale(T *data, int n, short offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor + offset;
    atomicAdd(&counter, 1u);
}

__global__ void reverse(int *data)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
    if (threadIdx.x == 0)
        shared_with_host += 10;
}

int main()
{
    const int n = 100;
    int host[n], three = 3, *device;
    for (int i = 0; i < n; i++)
        host[i] = i;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&device, sizeof host);
    cudaMemcpyToSymbol(factor, &three, sizeof three);
    cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream);
    scale<int><<<4, 32, 0, stream>>>(device, n, 0);
    cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf("scaled %d %d %d %d\n", host[0], host[1], host[2], host[99]);
    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaMemcpy(device, host, 32 * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<1, 32, 32 * sizeof(int)>>>(device);
    cudaMemcpy(host, device, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("reversed %d %d %d\n", host[0], host[1], host[31]);
    printf("managed %d\n", shared_with_host);
    unsigned counted;
    cudaMemcpyFromSymbol(&counted, counter, sizeof counted);
    printf("counted %u\n", counted);
    cudaFree(device);
    cudaStreamDestroy(stream);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
