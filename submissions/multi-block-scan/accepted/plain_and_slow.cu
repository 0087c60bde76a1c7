// expect: accepted
// One block walks the whole array with a running carry: every thread adds up 16 neighbours, and
// Hillis-Steele in shared memory scans the 256 sums. Uses one SM of the card, reads with a stride,
// and is right.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;

__global__ void scan_with_one_block(const int *in, int *out, int n)
{
    __shared__ int buffer[2][kThreads];
    __shared__ int carry;
    const int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    for (long long tile = 0; tile < n; tile += kTile) {
        const long long begin = tile + t * kItems;
        const long long end = begin + kItems < n ? begin + kItems : n;
        int sum = 0;
        for (long long i = begin; i < end; ++i)
            sum += in[i];

        int from = 0;
        buffer[from][t] = sum;
        __syncthreads();
        for (int distance = 1; distance < kThreads; distance *= 2) {
            if (t >= distance)
                buffer[1 - from][t] = buffer[from][t] + buffer[from][t - distance];
            else
                buffer[1 - from][t] = buffer[from][t];
            from = 1 - from;
            __syncthreads();
        }

        int running = carry + buffer[from][t] - sum;
        for (long long i = begin; i < end; ++i) {
            out[i] = running;
            running += in[i];
        }
        __syncthreads(); // everybody has read the carry
        if (t == 0)
            carry += buffer[from][kThreads - 1];
        __syncthreads(); // and nobody reads it before it is new
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan_with_one_block<<<1, kThreads, 0, stream>>>(in, out, n);
}
