__constant__ int factor = 3;
__device__ int calls;
extern "C" __global__ void scale(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= factor;
    if (i == 0)
        calls++;
}
extern "C" __global__ void __launch_bounds__(128) bounded(int *data)
{
    __shared__ int tile[1024];
    extern __shared__ int more[];
    tile[threadIdx.x] = more[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[127 - threadIdx.x] + more[threadIdx.x];
}
