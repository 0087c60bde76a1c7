// expect: accepted
// The block reads its token's places and weights once, into shared memory; grid of two dimensions.

#include <cuda_runtime.h>

// One block per token and 128 of its columns.
__global__ void combine(const float *expert_out, const int *places, const float *weights,
                        float *out, int top_k, int hidden, int num_rows)
{
    __shared__ int own_places[8];
    __shared__ float own_weights[8];
    const size_t token = blockIdx.x;
    if (threadIdx.x < top_k) {
        own_places[threadIdx.x] = places[token * top_k + threadIdx.x];
        own_weights[threadIdx.x] = weights[token * top_k + threadIdx.x];
    }
    __syncthreads();
    const int h = blockIdx.y * blockDim.x + threadIdx.x;
    if (h >= hidden)
        return;
    float sum = 0;
    for (int k = 0; k < top_k; k++)
        if (own_places[k] >= 0 && own_places[k] < num_rows)
            sum = fmaf(own_weights[k], expert_out[(size_t)own_places[k] * hidden + h], sum);
    out[token * hidden + h] = sum;
}

extern "C" void moe_gather_combine(const float *expert_out, const int *places, const float *weights,
                                   float *out, int num_tokens, int top_k, int hidden, int num_rows,
                                   cudaStream_t stream)
{
    if (num_tokens > 0)
        combine<<<dim3(num_tokens, (hidden + 127) / 128), 128, 0, stream>>>(
            expert_out, places, weights, out, top_k, hidden, num_rows);
}
