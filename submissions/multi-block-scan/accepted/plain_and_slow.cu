// expect: accepted
// One block walks the whole array, 512 elements at a time, with Hillis-Steele in shared memory and
// a running carry. Uses one SM of the card and twenty barriers per step, and is right.
#include <cstddef>

__global__ void scan_with_one_block(const int *in, int *out, int n)
{
    __shared__ int buffer[2][512];
    __shared__ int carry;
    const int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        const int i = start + t;
        int from = 0;
        buffer[from][t] = i < n ? in[i] : 0;
        __syncthreads();
        for (int distance = 1; distance < blockDim.x; distance *= 2) {
            if (t >= distance)
                buffer[1 - from][t] = buffer[from][t] + buffer[from][t - distance];
            else
                buffer[1 - from][t] = buffer[from][t];
            from = 1 - from;
            __syncthreads();
        }
        if (i < n)
            out[i] = carry + (t > 0 ? buffer[from][t - 1] : 0);
        __syncthreads(); // everybody has read the carry
        if (t == 0)
            carry += buffer[from][blockDim.x - 1];
        __syncthreads(); // and nobody reads it before it is new
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan_with_one_block<<<1, 512, 0, stream>>>(in, out, n);
}
