// expect: wrong_answer
// Every 32 columns start from nothing: the carry of a row is not taken along.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;

// ---- lane, warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ long long warp_inclusive_sum(long long value)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const long long before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value += before;
    }
    return value;
}

// ---- kernels ----

// A warp per row, 32 columns at a time.
__global__ void __launch_bounds__(kThreads)
    scan_rows(const int *in, long long *table, int rows, int columns)
{
    const int row = blockIdx.x * kWarps + warp_index();
    if (row >= rows)
        return;
    const size_t start = size_t(row) * columns;
    long long carry = 0; // the same in every lane
    for (int first = 0; first < columns; first += kLanes) {
        const int column = first + lane_index();
        const long long own = column < columns ? in[start + column] : 0;
        const long long sum = carry + warp_inclusive_sum(own);
        if (column < columns)
            table[start + column] = sum;
    }
}

// 32 columns per block; warp w takes the w-th strip of rows, lane l the l-th column.
__global__ void __launch_bounds__(kThreads) scan_columns(long long *table, int rows, int columns)
{
    __shared__ long long strip_sums[kWarps][kLanes];
    const int column = blockIdx.x * kLanes + lane_index();
    const int strip = (rows - 1) / kWarps + 1;
    const int first = min(warp_index() * strip, rows), end = min(first + strip, rows);
    long long sum = 0;
    if (column < columns)
        for (int row = first; row < end; row++)
            sum += table[size_t(row) * columns + column];
    strip_sums[warp_index()][lane_index()] = sum;
    __syncthreads();
    if (column >= columns)
        return;
    sum = 0;
    for (int warp = 0; warp < warp_index(); warp++)
        sum += strip_sums[warp][lane_index()];
    for (int row = first; row < end; row++) {
        sum += table[size_t(row) * columns + column];
        table[size_t(row) * columns + column] = sum;
    }
}

// The sum of all items up to this one; nothing lies above the first row or left of the first
// column.
__device__ __forceinline__ long long corner(const long long *table, int columns, int y, int x)
{
    return y < 0 || x < 0 ? 0 : table[size_t(y) * columns + x];
}

// One thread per window. `radius` may be anything: nothing is added to it.
__global__ void sum_windows(const long long *table, long long *box, int rows, int columns,
                            int radius)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (i >= unsigned(rows) * columns)
        return;
    const int y = int(i / columns), x = int(i % columns);
    const int above = max(y - radius, 0) - 1, below = y + min(radius, rows - 1 - y);
    const int left = max(x - radius, 0) - 1, right = x + min(radius, columns - 1 - x);
    box[i] = corner(table, columns, below, right) - corner(table, columns, above, right) -
             corner(table, columns, below, left) + corner(table, columns, above, left);
}

extern "C" void summed_area_table(const int *in, long long *table, long long *box, int rows,
                                  int columns, int radius, cudaStream_t stream)
{
    if (rows == 0 || columns == 0)
        return;
    scan_rows<<<(rows - 1) / kWarps + 1, kThreads, 0, stream>>>(in, table, rows, columns);
    cudaGetLastError();
    scan_columns<<<(columns - 1) / kLanes + 1, kThreads, 0, stream>>>(table, rows, columns);
    cudaGetLastError();
    const unsigned items = unsigned(rows) * columns;
    sum_windows<<<(items - 1) / kThreads + 1, kThreads, 0, stream>>>(table, box, rows, columns,
                                                                     radius);
    cudaGetLastError();
}
