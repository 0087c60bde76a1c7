// expect: accepted
// A block per row: the sums of all rows go to memory of its own, and one thread searches in them.

#include <cuda_runtime.h>

constexpr int kThreads = 64;

__global__ void sum_row(const float *weights, float *sums, int vocabulary)
{
    __shared__ float parts[kThreads];
    const float *own = weights + size_t(blockIdx.x) * vocabulary;
    float *out = sums + size_t(blockIdx.x) * vocabulary;
    const int t = threadIdx.x;
    const int part = (vocabulary - 1) / kThreads + 1;
    const int first = min(t * part, vocabulary), end = min(first + part, vocabulary);
    float sum = 0;
    for (int j = first; j < end; j++)
        sum += own[j];
    parts[t] = sum;
    __syncthreads();
    sum = 0;
    for (int before = 0; before < t; before++)
        sum += parts[before];
    for (int j = first; j < end; j++) {
        sum += own[j];
        out[j] = sum;
    }
}

__global__ void search_row(const float *sums, const float *p, const float *u, int *kept,
                           float *mass, int *token, int rows, int vocabulary)
{
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= rows)
        return;
    const float *own = sums + size_t(row) * vocabulary;
    const float share = p[row] * own[vocabulary - 1];
    int low = 0, high = vocabulary - 1; // the first that reaches the share
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (own[middle] >= share)
            high = middle;
        else
            low = middle + 1;
    }
    const float sum = own[low], target = u[row] * sum;
    kept[row] = low + 1;
    mass[row] = sum;
    // The first whose sum passes the target, else the first whose sum is all of it.
    high = low;
    low = 0;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (own[middle] > target || own[middle] == sum)
            high = middle;
        else
            low = middle + 1;
    }
    token[row] = low;
}

extern "C" void top_p_sampling(const float *weights, const float *p, const float *u, int *kept,
                               float *mass, int *token, int rows, int vocabulary,
                               cudaStream_t stream)
{
    if (rows == 0)
        return;
    float *sums;
    cudaMallocAsync(&sums, sizeof(float) * size_t(rows) * vocabulary, stream);
    sum_row<<<rows, kThreads, 0, stream>>>(weights, sums, vocabulary);
    search_row<<<(rows - 1) / kThreads + 1, kThreads, 0, stream>>>(sums, p, u, kept, mass, token,
                                                                   rows, vocabulary);
    cudaFreeAsync(sums, stream);
}
