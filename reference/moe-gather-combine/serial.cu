// expect: cost_limit_exceeded
// MoE gather and combine, rung 0: one thread, three loops. The yardstick of every other rung.
//
// Contract: num_tokens >= 0; 1 <= top_k <= 8; hidden, num_rows >= 1; the product of any two sizes
// fits in int64; arrays begin at multiples of 16 bytes and do not overlap; a place outside [0,
// num_rows) adds nothing, whatever its weight. Sums in float32, k ascending, from 0: the same bits
// on every run. All work goes on `stream`; no workspace. Method: the definition. Moves: 4 * top_k
// bytes in, 4 bytes out per item of out; a sector each, which the problem does not allow.

#include <cuda_runtime.h>

__global__ void combine_serially(const float *expert_out, const int *places, const float *weights,
                                 float *out, int num_tokens, int top_k, int hidden, int num_rows)
{
    for (long long token = 0; token < num_tokens; token++)
        for (int h = 0; h < hidden; h++) {
            float sum = 0;
            for (int k = 0; k < top_k; k++) {
                const long long place = places[token * top_k + k];
                if (place >= 0 && place < num_rows)
                    sum += weights[token * top_k + k] * expert_out[place * hidden + h];
            }
            out[token * hidden + h] = sum;
        }
}

extern "C" void moe_gather_combine(const float *expert_out, const int *places, const float *weights,
                                   float *out, int num_tokens, int top_k, int hidden, int num_rows,
                                   cudaStream_t stream)
{
    combine_serially<<<1, 1, 0, stream>>>(expert_out, places, weights, out, num_tokens, top_k,
                                          hidden, num_rows);
    cudaGetLastError();
}
