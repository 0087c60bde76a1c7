// expect: run_time_error
// expect-finding: data_race
// A warp scan in shared memory that relies on lanes moving in lock-step: volatile, but no
// __syncwarp() between the steps, which has been wrong since Volta.
#include <cstddef>

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;

// Every warp has 32 zeros in front of its 32 values, so that no step needs a condition.
__device__ int warp_inclusive_scan(volatile int *slot, int v)
{
    slot[-32] = 0;
    slot[0] = v;
    slot[0] += slot[-1];  // <-- data_race
    slot[0] += slot[-2];  // <-- data_race
    slot[0] += slot[-4];  // <-- data_race
    slot[0] += slot[-8];  // <-- data_race
    slot[0] += slot[-16]; // <-- data_race
    return slot[0];
}

__global__ void scan_block(const int *in, int *out, int *totals, int n)
{
    __shared__ int slots[kWarps][64];
    __shared__ int warp_totals[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int value = i < n ? in[i] : 0;
    int sum = warp_inclusive_scan(&slots[warp][32 + lane], value);
    if (lane == 31)
        warp_totals[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        sum += warp_totals[w];
    if (i < n)
        out[i] = sum - value;
    if (threadIdx.x == kThreads - 1)
        totals[blockIdx.x] = sum;
}

__global__ void add_before(int *out, const int *before, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n)
        out[i] += before[blockIdx.x];
}

static void scan(const int *in, int *out, int n, int *spare, cudaStream_t stream)
{
    const int blocks = (n - 1) / kThreads + 1;
    scan_block<<<blocks, kThreads, 0, stream>>>(in, out, spare, n);
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
