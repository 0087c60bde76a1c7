// Blelloch scan without bank conflicts. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles, and its answers are right. What is missing: its nodes lie in few banks, and
// a step takes up to 32 passes. See where: judge.sh run conflict-free-blelloch FILE --profile

#include <cuda_runtime.h>

constexpr int kLeaves = 2048; // the longest row

// TODO: where leaf i stands in the array. (The array has to be large enough for that.)
__device__ int slot(int i)
{
    return i;
}

__global__ void scan_row(const int *in, int *out, int length, int leaves)
{
    __shared__ int tree[kLeaves];
    const int t = threadIdx.x, other = t + leaves / 2; // two leaves for each thread
    const int row = blockIdx.x * length;
    tree[slot(t)] = t < length ? in[row + t] : 0;
    tree[slot(other)] = other < length ? in[row + other] : 0;
    int width = 1; // leaves below a child
    for (int nodes = leaves / 2; nodes > 0; nodes /= 2) {
        __syncthreads();
        if (t < nodes) {
            const int right = slot(2 * width * (t + 1) - 1);
            const int left = slot(2 * width * (t + 1) - 1 - width);
            tree[right] += tree[left];
        }
        width *= 2;
    }
    if (t == 0)
        tree[slot(leaves - 1)] = 0;
    for (int nodes = 1; nodes < leaves; nodes *= 2) {
        width /= 2;
        __syncthreads();
        if (t < nodes) {
            const int right = slot(2 * width * (t + 1) - 1);
            const int left = slot(2 * width * (t + 1) - 1 - width);
            const int before = tree[right];
            tree[right] = before + tree[left];
            tree[left] = before;
        }
    }
    __syncthreads();
    if (t < length)
        out[row + t] = tree[slot(t)];
    if (other < length)
        out[row + other] = tree[slot(other)];
}

extern "C" void conflict_free_scan(const int *in, int *out, int rows, int length,
                                   cudaStream_t stream)
{
    int leaves = 2; // the smallest tree that holds a row
    while (leaves < length)
        leaves *= 2;
    if (rows > 0) // an empty grid is a launch error
        scan_row<<<rows, leaves / 2, 0, stream>>>(in, out, length, leaves);
}
