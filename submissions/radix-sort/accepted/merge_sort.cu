// expect: accepted
// Not a radix sort at all: every block sorts 512 pairs by counting what is smaller, then runs are
// merged two by two, each pair finding its place in the other run by bisection.

#include <cuda_runtime.h>

constexpr int kRun = 512;

__global__ void sort_runs(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                          unsigned *values_out, int n)
{
    __shared__ unsigned run[kRun];
    const int begin = blockIdx.x * kRun, length = min(kRun, n - begin), t = threadIdx.x;
    if (t < length)
        run[t] = keys[begin + t];
    __syncthreads();
    if (t >= length)
        return;
    int rank = 0;
    for (int k = 0; k < length; k++)
        rank += run[k] < run[t] || (run[k] == run[t] && k < t);
    keys_out[begin + rank] = run[t];
    values_out[begin + rank] = values[begin + t];
}

// How many of the sorted keys are below `key`, or not above it.
__device__ int count_before(const unsigned *keys, int count, unsigned key, bool equal_too)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (keys[middle] < key || (equal_too && keys[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void merge_runs(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n, int length)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int run = i / length, other = run ^ 1;
    const long long other_begin = (long long)other * length;
    const int other_length = other_begin < n ? min((long long)length, n - other_begin) : 0;
    const int before =
        count_before(keys + (other_length ? other_begin : 0), other_length, keys[i], run % 2 == 1);
    const int place = run / 2 * 2 * length + i % length + before;
    keys_out[place] = keys[i];
    values_out[place] = values[i];
}

extern "C" void radix_sort(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n, void *workspace, size_t workspace_bytes,
                           cudaStream_t stream)
{
    if (n == 0)
        return;
    int merges = 0;
    for (long long length = kRun; length < n; length *= 2)
        merges++;
    unsigned *other_keys = static_cast<unsigned *>(workspace), *other_values = other_keys + n;
    bool to_out = merges % 2 == 0; // so that the last one writes the outputs
    unsigned *to_keys = to_out ? keys_out : other_keys;
    unsigned *to_values = to_out ? values_out : other_values;
    sort_runs<<<(n - 1) / kRun + 1, kRun, 0, stream>>>(keys, values, to_keys, to_values, n);
    for (int length = kRun; merges > 0; merges--, length *= 2) {
        const unsigned *from_keys = to_keys, *from_values = to_values;
        to_out = !to_out;
        to_keys = to_out ? keys_out : other_keys;
        to_values = to_out ? values_out : other_values;
        merge_runs<<<(n - 1) / 256 + 1, 256, 0, stream>>>(from_keys, from_values, to_keys,
                                                          to_values, n, length);
    }
}
