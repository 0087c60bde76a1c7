// expect: accepted
// Legal since Volta: threads whose items lie past the end return before the block's barriers, which
// then wait for the others only. Hillis-Steele per block with two buffers, recursion over the block
// totals.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 8; // neighbours per thread
constexpr int kTile = kThreads * kItems;

__global__ void scan_block(const int *in, int *out, int *totals, int n)
{
    __shared__ int buffer[2][kThreads];
    const int t = threadIdx.x;
    const int begin = blockIdx.x * kTile + t * kItems;
    if (begin >= n)
        return;
    const int count = n - begin < kItems ? n - begin : kItems;
    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = k < count ? in[begin + k] : 0;
        sum += items[k];
    }

    int from = 0;
    buffer[from][t] = sum;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int partial = buffer[from][t];
        if (t >= distance)
            partial += buffer[from][t - distance];
        from = 1 - from;
        buffer[from][t] = partial;
        __syncthreads();
    }

    int running = buffer[from][t] - sum;
    for (int k = 0; k < count; ++k) {
        out[begin + k] = running;
        running += items[k];
    }
    if (totals && (t == kThreads - 1 || begin + count == n))
        totals[blockIdx.x] = buffer[from][t];
}

__global__ void add_before(int *out, const int *before, int n)
{
    const int begin = blockIdx.x * kTile + threadIdx.x;
    for (int k = 0; k < kItems; ++k) {
        if (n - begin <= k * kThreads)
            return;
        out[begin + k * kThreads] += before[blockIdx.x];
    }
}

static void scan(const int *in, int *out, int n, int *spare, cudaStream_t stream)
{
    const int blocks = (n - 1) / kTile + 1;
    scan_block<<<blocks, kThreads, 0, stream>>>(in, out, blocks > 1 ? spare : nullptr, n);
    if (blocks == 1)
        return;
    scan(spare, spare, blocks, spare + blocks, stream);
    add_before<<<blocks, kThreads, 0, stream>>>(out, spare, n);
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n != 0)
        scan(in, out, n, static_cast<int *>(workspace), stream);
}
