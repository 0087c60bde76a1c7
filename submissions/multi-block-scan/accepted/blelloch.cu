// expect: accepted
// Blelloch's work-efficient scan in shared memory: up-sweep, clear the root, down-sweep. The tile
// totals are scanned by the same kernel, level by level, until one tile is left. Indices are padded
// so that the strides of the tree do not all hit the same bank.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kTile = 2 * kThreads; // a thread is responsible for one inner node per level

__device__ int padded(int i)
{
    return i + i / 32;
}

// In place where in == out. `sums` is null on the top level.
__global__ void scan_tile(const int *in, int *out, int *sums, int n)
{
    __shared__ int tree[kTile + kTile / 32];
    const int t = threadIdx.x;
    const int low = blockIdx.x * kTile + t, high = low + kThreads;
    tree[padded(t)] = low < n ? in[low] : 0;
    tree[padded(t + kThreads)] = high < n ? in[high] : 0;

    int stride = 1;
    for (int nodes = kThreads; nodes > 0; nodes /= 2) { // up: pairs into their right element
        __syncthreads();
        if (t < nodes) {
            int left = padded(stride * (2 * t + 1) - 1), right = padded(stride * (2 * t + 2) - 1);
            tree[right] += tree[left];
        }
        stride *= 2;
    }
    if (t == 0) { // the thread that computed the root
        int root = padded(kTile - 1);
        if (sums)
            sums[blockIdx.x] = tree[root];
        tree[root] = 0;
    }
    for (int nodes = 1; nodes <= kThreads; nodes *= 2) { // down: hand on what stands before
        stride /= 2;
        __syncthreads();
        if (t < nodes) {
            int left = padded(stride * (2 * t + 1) - 1), right = padded(stride * (2 * t + 2) - 1);
            int left_sum = tree[left];
            tree[left] = tree[right];
            tree[right] += left_sum;
        }
    }
    __syncthreads();
    if (low < n)
        out[low] = tree[padded(t)];
    if (high < n)
        out[high] = tree[padded(t + kThreads)];
}

__global__ void uniform_add(int *out, const int *offsets, int n)
{
    const int offset = offsets[blockIdx.x];
    const int low = blockIdx.x * kTile + threadIdx.x, high = low + kThreads;
    if (low < n)
        out[low] += offset;
    if (high < n)
        out[high] += offset;
}

// `sums` has room for one int per tile of this level and of all levels above it.
static void scan_level(const int *in, int *out, int n, int *sums, cudaStream_t stream)
{
    const int tiles = (n - 1) / kTile + 1;
    if (tiles == 1) {
        scan_tile<<<1, kThreads, 0, stream>>>(in, out, nullptr, n);
        return;
    }
    scan_tile<<<tiles, kThreads, 0, stream>>>(in, out, sums, n);
    scan_level(sums, sums, tiles, sums + tiles, stream);
    uniform_add<<<tiles, kThreads, 0, stream>>>(out, sums, n);
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan_level(in, out, n, static_cast<int *>(workspace), stream);
}
