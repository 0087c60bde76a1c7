// expect: wrong_answer
// Every row is weighed as the first.

#include <cuda_runtime.h>

// One block per token; its threads walk along the columns.
__global__ void combine(const float *expert_out, const int *places, const float *weights,
                        float *out, int top_k, int hidden, int num_rows)
{
    const size_t token = blockIdx.x;
    for (int h = threadIdx.x; h < hidden; h += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < top_k; k++) {
            const int place = places[token * top_k + k];
            if (place >= 0 && place < num_rows)
                sum += weights[token * top_k] * expert_out[(size_t)place * hidden + h];
        }
        out[token * hidden + h] = sum;
    }
}

extern "C" void moe_gather_combine(const float *expert_out, const int *places, const float *weights,
                                   float *out, int num_tokens, int top_k, int hidden, int num_rows,
                                   cudaStream_t stream)
{
    if (num_tokens > 0)
        combine<<<num_tokens, 128, 0, stream>>>(expert_out, places, weights, out, top_k, hidden,
                                                num_rows);
}
