// Radix sort, rung 0: one thread, four counting sorts. The yardstick of every other rung.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; ascending by
// unsigned key, pairs with equal keys in the order of the input; the inputs stay unchanged; n = 0
// launches nothing. The same bits on every run. All work goes on `stream`; the workspace holds at
// least 8 * n + 1024 bytes, aligned to 4.
// Method: count the bytes at one place of the keys; add up the counts; move every pair to the next
//         free place of its byte. From the lowest byte to the highest, between outputs and
//         workspace, so that the fourth pass writes the outputs.
// Moves: 16 bytes in, 8 bytes out per pair and pass; 4 passes, the first from the inputs.

#include <cuda_runtime.h>

constexpr int kDigits = 256;

struct Pairs {
    unsigned *keys, *values;
};

__global__ void sort_serially(const unsigned *keys, const unsigned *values, Pairs out, Pairs other,
                              int *places, int n)
{
    const unsigned *from_keys = keys, *from_values = values;
    for (int pass = 0; pass < 4; pass++) {
        const Pairs to = pass % 2 == 0 ? other : out;
        for (int d = 0; d < kDigits; d++)
            places[d] = 0;
        for (int i = 0; i < n; i++)
            places[from_keys[i] >> 8 * pass & 255]++;
        int sum = 0;
        for (int d = 0; d < kDigits; d++) {
            const int count = places[d];
            places[d] = sum;
            sum += count;
        }
        for (int i = 0; i < n; i++) {
            const int place = places[from_keys[i] >> 8 * pass & 255]++;
            to.keys[place] = from_keys[i];
            to.values[place] = from_values[i];
        }
        from_keys = to.keys;
        from_values = to.values;
    }
}

extern "C" void radix_sort(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n, void *workspace, size_t workspace_bytes,
                           cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    unsigned *words = static_cast<unsigned *>(workspace);
    sort_serially<<<1, 1, 0, stream>>>(keys, values, Pairs{keys_out, values_out},
                                       Pairs{words, words + n},
                                       reinterpret_cast<int *>(words + 2 * size_t(n)), n);
    cudaGetLastError();
}
