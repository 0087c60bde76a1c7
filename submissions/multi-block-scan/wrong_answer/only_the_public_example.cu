// expect: wrong_answer
// Knows the answer of the worked example by heart and scans everything else with the one block that
// was enough for it: right up to 256 elements.
#include <cstddef>

__constant__ int answer[8] = {0, 3, 4, 11, 11, 15, 16, 22};

__global__ void recite(int *out)
{
    out[threadIdx.x] = answer[threadIdx.x];
}

__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int buffer[2][256];
    const int t = threadIdx.x;
    const int value = t < n ? in[t] : 0;
    int from = 0;
    buffer[from][t] = value;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        int sum = buffer[from][t];
        if (t >= distance)
            sum += buffer[from][t - distance];
        from = 1 - from;
        buffer[from][t] = sum;
        __syncthreads();
    }
    if (t < n)
        out[t] = buffer[from][t] - value;
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 8)
        recite<<<1, 8, 0, stream>>>(out);
    else
        scan<<<1, 256, 0, stream>>>(in, out, n);
}
