// expect: time_limit_exceeded
// expect-finding: deadlock
// A home-made grid barrier in an ordinary launch: with more blocks than the card holds at once,
// those that wait keep out those that they wait for.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

__device__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    return v;
}

// The sum of v over this thread and all before it.
__device__ int block_inclusive_scan(int v)
{
    __shared__ int warp_totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += warp_totals[w];
    return v;
}

__global__ void scan(const int *in, int *out, int n, unsigned *arrived, volatile int *block_sums)
{
    __shared__ int before;
    const int t = threadIdx.x;
    const int base = blockIdx.x * kTile + t * kItems;
    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += items[k];
    }
    const int inclusive = block_inclusive_scan(sum);
    if (t == kThreads - 1) {
        before = 0;
        block_sums[blockIdx.x] = inclusive;
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*static_cast<volatile unsigned *>(arrived) < gridDim.x) // <-- deadlock
            ;                                                          // <-- deadlock
        __threadfence();
    }
    __syncthreads(); // <-- deadlock

    int mine = 0;
    for (int b = t; b < blockIdx.x; b += kThreads)
        mine += block_sums[b];
    atomicAdd(&before, mine);
    __syncthreads();

    int running = before + inclusive - sum;
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    unsigned *arrived = static_cast<unsigned *>(workspace);
    int *block_sums = static_cast<int *>(workspace) + 1;
    cudaMemsetAsync(arrived, 0, sizeof *arrived, stream);
    scan<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n, arrived, block_sums);
}
