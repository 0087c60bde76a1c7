// expect: wrong_answer
// Uses the p of the first row for all of them.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

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

__global__ void sample_rows(const float *weights, const float *p, const float *u, int *kept,
                            float *mass, int *token, int rows, int vocabulary)
{
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row < rows)
        sample(weights + size_t(row) * vocabulary, p[0], u[row], vocabulary, kept + row, mass + row,
               token + row);
}

extern "C" void top_p_sampling(const float *weights, const float *p, const float *u, int *kept,
                               float *mass, int *token, int rows, int vocabulary,
                               cudaStream_t stream)
{
    if (rows == 0)
        return;
    sample_rows<<<(rows - 1) / kThreads + 1, kThreads, 0, stream>>>(weights, p, u, kept, mass,
                                                                    token, rows, vocabulary);
    cudaGetLastError();
}
