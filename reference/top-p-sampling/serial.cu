// Top-p sampling, rung 0: one thread, row after row. The yardstick of every other rung.
//
// Contract: rows >= 0, vocabulary >= 1, rows * vocabulary < 2^31; arrays aligned to 4 bytes, not
// overlapping; whole weights whose sums stay up to 2^24; without rows nothing is launched. The same
// bits on every run. All work goes on `stream`.
// Method: the total; then add up to p of it; then add up to u of that.
// Moves: 12 bytes in per weight at most.

#include <cuda_runtime.h>

// What one thread does with one row.
__device__ __forceinline__ void sample(const float *weights, float p, float u, int vocabulary,
                                       int *kept, float *mass, int *token)
{
    float total = 0;
    for (int j = 0; j < vocabulary; j++)
        total += weights[j];
    const float share = p * total;
    int count = 0;
    float sum = 0;
    do {
        sum += weights[count];
        count++;
    } while (sum < share);
    *mass = sum;
    const float target = u * sum;
    int drawn = 0;
    sum = weights[0];
    while (sum <= target && drawn < count - 1) {
        drawn++;
        sum += weights[drawn];
    }
    *kept = count;
    *token = drawn;
}

__global__ void sample_serially(const float *weights, const float *p, const float *u, int *kept,
                                float *mass, int *token, int rows, int vocabulary)
{
    for (int row = 0; row < rows; row++)
        sample(weights + size_t(row) * vocabulary, p[row], u[row], vocabulary, kept + row,
               mass + row, token + row);
}

extern "C" void top_p_sampling(const float *weights, const float *p, const float *u, int *kept,
                               float *mass, int *token, int rows, int vocabulary,
                               cudaStream_t stream)
{
    if (rows == 0)
        return;
    sample_serially<<<1, 1, 0, stream>>>(weights, p, u, kept, mass, token, rows, vocabulary);
    cudaGetLastError();
}
