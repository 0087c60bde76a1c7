// Calls in their per-thread default stream forms (_ptsz, _ptds), device code compressed as LZ4.
// nvcc: -gencode arch=compute_75,code=compute_75 --default-stream per-thread --compress-mode=speed
// stdout: 1 2 3 4
#include <cstdio>

__global__ void add_one(int *data)
{
    data[threadIdx.x]++;
}

int main()
{
    int host[4] = {0, 1, 2, 3}, *device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    add_one<<<1, 4>>>(device);
    cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    return cudaFree(device);
}
