// Blelloch scan, rung 3: the two lowest levels in registers.
//
// Contract
//   out[r * length + i] = in[r * length] + ... + in[r * length + i - 1] modulo 2^32, 0 for i = 0;
//   rows >= 0, 1 <= length <= 2048, rows * length <= INT_MAX. rows = 0 launches nothing. Any 4-byte
//   alignment. `in` and `out` must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   A thread adds up four neighbours and puts their sum into the tree of rung 2, which is a quarter
//   as wide and two levels lower; afterwards it goes on from what stands before the four. That is
//   the same tree with leaves of four: three additions up and three down in each of them, as in the
//   levels that they replace, but without shared memory and without four of the barriers.
//
// Bytes moved per element: 8. Additions: at most 2n - 1 for n leaves.
#include <cstdio>

constexpr int kLeaves = 2048; // the longest row
constexpr int kItems = 4;     // leaves per thread, neighbours: a warp's load spans 16 sectors

// blockDim.x = a quarter of the leaves, which is also the number of leaves of the tree in shared
// memory.
__global__ void __launch_bounds__(kLeaves / kItems)
    scan_row(const int *__restrict__ in, int *__restrict__ out, int length)
{
    constexpr int kSums = kLeaves / kItems;
    __shared__ unsigned tree[kSums];
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
    tree[t] = sum;
    __syncthreads();

    // Phase 2: up. A node stands at the place of its last leaf.
    int width = 1; // leaves below a child
    for (int nodes = sums / 2; nodes > 0; nodes /= 2) {
        if (t < nodes) {
            const int right = 2 * width * (t + 1) - 1, left = right - width;
            tree[right] = tree[left] + tree[right];
        }
        width *= 2;
        __syncthreads();
    }

    // Phase 3: down. Before the root stands nothing; what stands before a node stands before its
    // left child, and together with the left child's sum before its right one.
    if (t == 0)
        tree[sums - 1] = 0;
    __syncthreads();
    for (int nodes = 1; nodes < sums; nodes *= 2) {
        width /= 2;
        if (t < nodes) {
            const int right = 2 * width * (t + 1) - 1, left = right - width;
            const unsigned before = tree[right];
            tree[right] = before + tree[left];
            tree[left] = before;
        }
        __syncthreads();
    }

    // Phase 4: on from what stands before the four, and write.
    unsigned before = tree[t];
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

extern "C" void blelloch_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return; // an empty grid is a launch error
    const int leaves = leaves_of(length);
    const int threads = leaves > kItems ? leaves / kItems : 1;
    scan_row<<<rows, threads, 0, stream>>>(in, out, length);
    check_launch("scan_row");
}
