// expect: accepted
// Columns first, then rows in shared memory: one block per row, Hillis-Steele with two buffers, and
// a carry from one 256 columns to the next.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

// One thread per column.
__global__ void scan_columns(const int *in, long long *table, int rows, int columns)
{
    const int column = blockIdx.x * kThreads + threadIdx.x;
    if (column >= columns)
        return;
    long long sum = 0;
    for (int row = 0; row < rows; row++) {
        sum += in[size_t(row) * columns + column];
        table[size_t(row) * columns + column] = sum;
    }
}

__global__ void scan_rows(long long *table, int columns)
{
    __shared__ long long sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    long long *row = table + size_t(blockIdx.x) * columns;
    long long carry = 0; // the same in every thread
    for (int first = 0; first < columns; first += kThreads) {
        const int column = first + t;
        int from = 0;
        sums[from][t] = column < columns ? row[column] : 0;
        __syncthreads();
        for (int distance = 1; distance < kThreads; distance *= 2) {
            long long sum = sums[from][t];
            if (t >= distance)
                sum += sums[from][t - distance];
            from = 1 - from;
            sums[from][t] = sum;
            __syncthreads();
        }
        if (column < columns)
            row[column] = carry + sums[from][t];
        carry += sums[from][kThreads - 1];
        __syncthreads(); // all have read before the next columns are written
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
    scan_columns<<<(columns - 1) / kThreads + 1, kThreads, 0, stream>>>(in, table, rows, columns);
    scan_rows<<<rows, kThreads, 0, stream>>>(table, columns);
    const unsigned items = unsigned(rows) * columns;
    sum_windows<<<(items - 1) / kThreads + 1, kThreads, 0, stream>>>(table, box, rows, columns,
                                                                     radius);
}
