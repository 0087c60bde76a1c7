// expect: run_time_error
// expect-finding: input_written
// Ends each tile of the input with a marker while it scans, so that the inner loop needs no second
// bound, and puts back what was there. Whoever reads the input meanwhile sees the marker.
#include <climits>
#include <cstddef>

constexpr int kTile = 64; // elements per thread, one after the other

__device__ int sum_of(int *tile, int count)
{
    const int last = tile[count - 1];
    tile[count - 1] = INT_MIN; // <-- input_written
    int sum = 0;
    for (int i = 0; tile[i] != INT_MIN || i < count - 1; ++i)
        sum += tile[i];
    tile[count - 1] = last; // <-- input_written
    return sum + last;
}

__global__ void sum_tiles(int *in, int *sums, int n)
{
    const int tile = blockIdx.x * blockDim.x + threadIdx.x;
    const int start = tile * kTile;
    if (start < n)
        sums[tile] = sum_of(in + start, min(kTile, n - start));
}

__global__ void scan_sums(int *sums, int tiles)
{
    int carry = 0;
    for (int i = 0; i < tiles; ++i) {
        const int v = sums[i];
        sums[i] = carry;
        carry += v;
    }
}

__global__ void scan_tiles(const int *in, int *out, const int *sums, int n)
{
    const int tile = blockIdx.x * blockDim.x + threadIdx.x;
    const int start = tile * kTile;
    if (start >= n)
        return;
    int running = sums[tile];
    for (int i = start; i < min(n, start + kTile); ++i) {
        out[i] = running;
        running += in[i];
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    // Four bytes per 256 elements are not enough for a sum per tile: the sums have a buffer of
    // their own.
    const int tiles = (n - 1) / kTile + 1, blocks = (tiles - 1) / 128 + 1;
    int *sums;
    cudaMallocAsync(&sums, tiles * sizeof(int), stream);
    sum_tiles<<<blocks, 128, 0, stream>>>(const_cast<int *>(in), sums, n);
    scan_sums<<<1, 1, 0, stream>>>(sums, tiles);
    scan_tiles<<<blocks, 128, 0, stream>>>(in, out, sums, n);
    cudaFreeAsync(sums, stream);
}
