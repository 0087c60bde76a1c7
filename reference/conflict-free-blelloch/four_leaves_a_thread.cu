// Conflict-free Blelloch, rung 3: the two lowest levels in registers, the others in an array with free
// words.
//
// Contract
//   out[r * length + i] = in[r * length] + ... + in[r * length + i - 1] modulo 2^32, 0 for i = 0;
//   rows >= 0, 1 <= length <= 2048, rows * length <= INT_MAX. rows = 0 launches nothing. Any 4-byte
//   alignment. `in` and `out` must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   A thread adds up four neighbours and puts their sum into a tree of a quarter of the leaves, where
//   leaf i stands at i + i / 32 + i / 1024: the nodes of every level lie in different banks.
//   Afterwards it goes on from what stands before its four.
//
// Bytes moved per element: 8. Additions: at most 2n - 1 for n leaves. Bank conflicts: none.
#include <cstdio>

constexpr int kLeaves = 2048; // the longest row
constexpr int kItems = 4;     // leaves per thread, neighbours: a warp's load spans 16 sectors
constexpr int kBanks = 32;

// Where leaf i stands. The nodes of a level are a power of two apart: without free words in between
// all of them would lie in few banks.
__device__ int slot(int i)
{
    return i + i / kBanks + i / (kBanks * kBanks);
}

// blockDim.x = a quarter of the leaves, which is also the number of leaves of the tree in shared
// memory.
__global__ void __launch_bounds__(kLeaves / kItems)
    scan_row(const int *__restrict__ in, int *__restrict__ out, int length)
{
    constexpr int kSums = kLeaves / kItems;
    __shared__ unsigned tree[kSums + kSums / kBanks + kSums / (kBanks * kBanks)];
    const int t = threadIdx.x, sums = blockDim.x;
    const int first = kItems * t; // within the row
    const long long row = static_cast<long long>(blockIdx.x) * length;

    // Phase 1: four leaves in registers, their sum into the tree.
    unsigned item[kItems], sum = 0;
#pragma unroll
    for (int k = 0; k < kItems; k++)
        item[k] = first + k < length ? static_cast<unsigned>(in[row + first + k]) : 0;
#pragma unroll
    for (int k = 0; k < kItems; k++)
        sum = sum + item[k];
    tree[slot(t)] = sum;
    __syncthreads();

    // Phase 2: up. A node stands at the place of its last leaf.
    int width = 1; // leaves below a child
    for (int nodes = sums / 2; nodes > 0; nodes /= 2) {
        if (t < nodes) {
            const int right = 2 * width * (t + 1) - 1, left = right - width;
            tree[slot(right)] = tree[slot(left)] + tree[slot(right)];
        }
        width *= 2;
        __syncthreads();
    }

    // Phase 3: down. Before the root stands nothing; what stands before a node stands before its
    // left child, and together with the left child's sum before its right one.
    if (t == 0)
        tree[slot(sums - 1)] = 0;
    __syncthreads();
    for (int nodes = 1; nodes < sums; nodes *= 2) {
        width /= 2;
        if (t < nodes) {
            const int right = 2 * width * (t + 1) - 1, left = right - width;
            const unsigned before = tree[slot(right)];
            tree[slot(right)] = before + tree[slot(left)];
            tree[slot(left)] = before;
        }
        __syncthreads();
    }

    // Phase 4: on from what stands before the four, and write.
    unsigned before = tree[slot(t)];
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        if (first + k < length)
            out[row + first + k] = static_cast<int>(before);
        before = before + item[k];
    }
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

// The smallest tree that holds the row: a power of two, two leaves at least.
static int leaves_of(int length)
{
    int leaves = 2;
    while (leaves < length)
        leaves *= 2;
    return leaves;
}

extern "C" void conflict_free_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return; // an empty grid is a launch error
    const int leaves = leaves_of(length);
    const int threads = leaves > kItems ? leaves / kItems : 1;
    scan_row<<<rows, threads, 0, stream>>>(in, out, length);
    check_launch("scan_row");
}
