// expect: accepted
// Numbers the runs by a scan; first and last item meet in the length.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ int is_head(const int *in, int n, unsigned i)
{
    return i < unsigned(n) && (i == 0 || in[i] != in[i - 1]);
}

// The number of the run that each item belongs to, within its tile: an inclusive scan of heads.
__global__ void number_runs(const int *in, int *runs, int *tile_counts, int n)
{
    __shared__ int sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const unsigned i = blockIdx.x * unsigned{kThreads} + t; // the last tile may reach past 2^31
    int from = 0;
    sums[from][t] = is_head(in, n, i);
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int sum = sums[from][t];
        if (t >= distance)
            sum += sums[from][t - distance];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (i < unsigned(n))
        runs[i] = sums[from][t];
    if (t == kThreads - 1)
        tile_counts[blockIdx.x] = sums[from][t];
}

__global__ void scan_tile_counts(int *tile_counts, int tile_count, int *count)
{
    int sum = 0;
    for (int tile = 0; tile < tile_count; tile++) {
        const int own = tile_counts[tile];
        tile_counts[tile] = sum;
        sum += own;
    }
    *count = sum;
}

// The first item of a run takes its index away from the length, the last one adds its own + 1.
// Partner of each: the other one of the same run; clear_lengths has been before.
__global__ void write_runs(const int *in, const int *runs, const int *tile_counts, int *values,
                           int *lengths, int n)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (i >= unsigned(n))
        return;
    const int run = tile_counts[blockIdx.x] + runs[i] - 1;
    if (is_head(in, n, i)) {
        values[run] = in[i];
        atomicSub(&lengths[run], int(i));
    }
    if (i + 1 == unsigned(n) || is_head(in, n, i + 1))
        atomicAdd(&lengths[run], int(i + 1));
}

__global__ void clear_lengths(int *lengths, const int *count)
{
    const unsigned run = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (run < unsigned(*count))
        lengths[run] = 0;
}

extern "C" void run_length_encode(const int *in, int *values, int *lengths, int *count, int n,
                                  void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tile_count = (n - 1) / kThreads + 1;
    int *runs = static_cast<int *>(workspace);
    int *tile_counts = runs + n;
    number_runs<<<tile_count, kThreads, 0, stream>>>(in, runs, tile_counts, n);
    cudaGetLastError();
    scan_tile_counts<<<1, 1, 0, stream>>>(tile_counts, tile_count, count);
    cudaGetLastError();
    clear_lengths<<<tile_count, kThreads, 0, stream>>>(lengths, count);
    cudaGetLastError();
    write_runs<<<tile_count, kThreads, 0, stream>>>(in, runs, tile_counts, values, lengths, n);
    cudaGetLastError();
}
