// expect: wrong_answer
// Takes the upper left corner away with both sides and never adds it again.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

// One thread per row.
__global__ void scan_rows(const int *in, long long *table, int rows, int columns)
{
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= rows)
        return;
    const size_t start = size_t(row) * columns;
    long long sum = 0;
    for (int column = 0; column < columns; column++) {
        sum += in[start + column];
        table[start + column] = sum;
    }
}

// One thread per column, neighbours next to each other.
__global__ void scan_columns(long long *table, int rows, int columns)
{
    const int column = blockIdx.x * kThreads + threadIdx.x;
    if (column >= columns)
        return;
    long long sum = 0;
    for (int row = 0; row < rows; row++) {
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
             corner(table, columns, below, left);
}

extern "C" void summed_area_table(const int *in, long long *table, long long *box, int rows,
                                  int columns, int radius, cudaStream_t stream)
{
    if (rows == 0 || columns == 0)
        return;
    scan_rows<<<(rows - 1) / kThreads + 1, kThreads, 0, stream>>>(in, table, rows, columns);
    cudaGetLastError();
    scan_columns<<<(columns - 1) / kThreads + 1, kThreads, 0, stream>>>(table, rows, columns);
    cudaGetLastError();
    const unsigned items = unsigned(rows) * columns;
    sum_windows<<<(items - 1) / kThreads + 1, kThreads, 0, stream>>>(table, box, rows, columns,
                                                                     radius);
    cudaGetLastError();
}
