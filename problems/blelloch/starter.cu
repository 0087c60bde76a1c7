// Blelloch scan. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles. It goes up the tree: afterwards every inner node, at the place of its last
// leaf, holds the sum of its leaves. What is missing is the way down.

#include <cuda_runtime.h>

constexpr int kLeaves = 2048; // the longest row

__global__ void scan_row(const int *in, int *out, int length, int leaves)
{
    __shared__ int tree[kLeaves];
    const int t = threadIdx.x, other = t + leaves / 2; // two leaves for each thread
    const int row = blockIdx.x * length;
    tree[t] = t < length ? in[row + t] : 0;
    tree[other] = other < length ? in[row + other] : 0;
    int width = 1; // leaves below a child
    for (int nodes = leaves / 2; nodes > 0; nodes /= 2) {
        __syncthreads();
        if (t < nodes) {
            const int right = 2 * width * (t + 1) - 1, left = right - width;
            tree[right] += tree[left];
        }
        width *= 2;
    }
    // TODO: clear the root, and go down again.
    __syncthreads();
    if (t < length)
        out[row + t] = tree[t];
    if (other < length)
        out[row + other] = tree[other];
}

extern "C" void blelloch_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    int leaves = 2; // the smallest tree that holds a row
    while (leaves < length)
        leaves *= 2;
    if (rows > 0) // an empty grid is a launch error
        scan_row<<<rows, leaves / 2, 0, stream>>>(in, out, length, leaves);
}
