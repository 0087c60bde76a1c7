// MoE gather and combine, rung 1: what one writes first. One thread per item of the output.
//
// Contract: num_tokens >= 0; 1 <= top_k <= 8; hidden, num_rows >= 1; the product of any two sizes
// fits in int64; arrays begin at multiples of 16 bytes and do not overlap; a place outside [0,
// num_rows) adds nothing, whatever its weight. Sums in float32, k ascending, from 0: the same bits
// on every run. All work goes on `stream`; no workspace. Method: thread i owns out[i]; lanes of a
// warp own neighbouring columns, and read neighbouring items. Moves: 4 * top_k bytes in, 4 bytes
// out per item of out; places and weights once per warp.

#include <cuda_runtime.h>

constexpr int kThreads = 256; // 8 warps: several blocks per SM

__global__ void __launch_bounds__(kThreads)
    combine(const float *expert_out, const int *places, const float *weights, float *out,
            long long items, int top_k, int hidden, int num_rows)
{
    const long long i = (long long)blockIdx.x * kThreads + threadIdx.x;
    if (i >= items)
        return;
    const long long token = i / hidden;
    const int column = int(i % hidden);
    float sum = 0;
    for (int k = 0; k < top_k; k++) {
        const int place = places[token * top_k + k];
        if (unsigned(place) < unsigned(num_rows)) // one comparison refuses negative places too
            sum += weights[token * top_k + k] * expert_out[(long long)place * hidden + column];
    }
    out[i] = sum;
}

extern "C" void moe_gather_combine(const float *expert_out, const int *places, const float *weights,
                                   float *out, int num_tokens, int top_k, int hidden, int num_rows,
                                   cudaStream_t stream)
{
    const long long items = (long long)num_tokens * hidden;
    if (items == 0)
        return;
    combine<<<unsigned((items - 1) / kThreads + 1), kThreads, 0, stream>>>(
        expert_out, places, weights, out, items, top_k, hidden, num_rows);
    cudaGetLastError();
}
