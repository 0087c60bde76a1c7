// expect: accepted
// Clears the output, then every slot adds its row: any order of additions will do.

#include <cuda_runtime.h>

__global__ void add_rows(const float *expert_out, const int *places, const float *weights,
                         float *out, int top_k, int hidden, int num_rows)
{
    const size_t slot = blockIdx.x;
    const int place = places[slot];
    if (place < 0 || place >= num_rows)
        return;
    for (int h = threadIdx.x; h < hidden; h += blockDim.x)
        atomicAdd(&out[slot / top_k * hidden + h],
                  weights[slot] * expert_out[(size_t)place * hidden + h]);
}

extern "C" void moe_gather_combine(const float *expert_out, const int *places, const float *weights,
                                   float *out, int num_tokens, int top_k, int hidden, int num_rows,
                                   cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float) * num_tokens * hidden, stream);
    if (num_tokens > 0)
        add_rows<<<num_tokens * top_k, 128, 0, stream>>>(expert_out, places, weights, out, top_k,
                                                         hidden, num_rows);
}
