// Conflict-free Blelloch, rung 2: the plain tree in an array with free words.
//
// Contract
//   out[r * length + i] = in[r * length] + ... + in[r * length + i - 1] modulo 2^32, 0 for i = 0;
//   rows >= 0, 1 <= length <= 2048, rows * length <= INT_MAX. rows = 0 launches nothing. Any 4-byte
//   alignment. `in` and `out` must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   As `tree` of the problem blelloch: up a tree of sums, clear the root, down again. Leaf i stands
//   at i + i / 32 + i / 1024. Nodes that are 32 words apart move on by one bank each; those that are
//   a power of two further apart move on in larger steps, which meet again after 1024 words: there
//   the second free word takes over. (Harris, Sengupta and Owens, GPU Gems 3, chapter 39, 2007, for
//   16 banks.)
//
// Bytes moved per element: 8. Additions: 2n - 2 for a tree of n leaves. Bank conflicts: none.
#include <cstdio>

constexpr int kLeaves = 2048; // the longest row
constexpr int kBanks = 32;

// Where leaf i stands. The nodes of a level are a power of two apart: without free words in between
// all of them would lie in few banks.
__device__ int slot(int i)
{
    return i + i / kBanks + i / (kBanks * kBanks);
}

// blockDim.x = leaves / 2: a thread for each inner node of the lowest level.
__global__ void __launch_bounds__(kLeaves / 2)
    scan_row(const int *__restrict__ in, int *__restrict__ out, int length, int leaves)
{
    __shared__ unsigned tree[kLeaves + kLeaves / kBanks + kLeaves / (kBanks * kBanks)];
    const int t = threadIdx.x, other = t + leaves / 2; // two leaves to load and to store
    const long long row = static_cast<long long>(blockIdx.x) * length;

    // Phase 1: the leaves, the neutral 0 behind the row.
    tree[slot(t)] = t < length ? static_cast<unsigned>(in[row + t]) : 0;
    tree[slot(other)] = other < length ? static_cast<unsigned>(in[row + other]) : 0;
    __syncthreads();

    // Phase 2: up. A node stands at the place of its last leaf.
    int width = 1; // leaves below a child
    for (int nodes = leaves / 2; nodes > 0; nodes /= 2) {
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
        tree[slot(leaves - 1)] = 0;
    __syncthreads();
    for (int nodes = 1; nodes < leaves; nodes *= 2) {
        width /= 2;
        if (t < nodes) {
            const int right = 2 * width * (t + 1) - 1, left = right - width;
            const unsigned before = tree[slot(right)];
            tree[slot(right)] = before + tree[slot(left)];
            tree[slot(left)] = before;
        }
        __syncthreads();
    }

    // Phase 4: write.
    if (t < length)
        out[row + t] = static_cast<int>(tree[slot(t)]);
    if (other < length)
        out[row + other] = static_cast<int>(tree[slot(other)]);
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
    scan_row<<<rows, leaves / 2, 0, stream>>>(in, out, length, leaves);
    check_launch("scan_row");
}
