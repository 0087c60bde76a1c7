// MoE gather and combine, rung 2: a warp per stretch of a token, four columns per lane.
//
// Contract: num_tokens >= 0; 1 <= top_k <= 8; hidden, num_rows >= 1; the product of any two sizes
// fits in int64; arrays begin at multiples of 16 bytes and do not overlap; a place outside [0,
// num_rows) adds nothing, whatever its weight. Sums in float32, k ascending, from 0: the same bits
// on every run. All work goes on `stream`; no workspace. Method: a warp takes 128 columns of one
// token; every lane keeps the sums of four neighbouring ones.
//         Rows whose length is no multiple of 4 begin at any float: there a lane takes one column
//         at a time, 32 apart.
// Moves: 4 * top_k bytes in, 4 bytes out per item of out, in requests of 512 bytes; places and
//         weights once per warp.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr int kThreads = 256;          // 8 warps: several blocks per SM
constexpr int kColumns = 4 * kLanes;   // of a warp
constexpr long long kBlocksMax = 4096; // more only cost launches; warps stride

// ---- lane ----

__device__ __forceinline__ void lane_add(float4 &sum, float weight, float4 row)
{
    sum.x += weight * row.x;
    sum.y += weight * row.y;
    sum.z += weight * row.z;
    sum.w += weight * row.w;
}

// ---- warp: columns [first, first + kColumns) of one token, or what is left of them ----

struct Slots {
    const int *places; // of this token
    const float *weights;
    int top_k;
};

__device__ __forceinline__ void warp_combine_vectors(const float *expert_out, Slots slots,
                                                     float *out, int first, int hidden,
                                                     int num_rows)
{
    const int column = first + threadIdx.x % kLanes * 4;
    if (column >= hidden)
        return;
    float4 sum = {0, 0, 0, 0};
    for (int k = 0; k < slots.top_k; k++) {
        const int place = slots.places[k];
        if (unsigned(place) < unsigned(num_rows)) // one comparison refuses negative places too
            lane_add(
                sum, slots.weights[k],
                *reinterpret_cast<const float4 *>(expert_out + (long long)place * hidden + column));
    }
    *reinterpret_cast<float4 *>(out + column) = sum;
}

__device__ __forceinline__ void warp_combine_floats(const float *expert_out, Slots slots,
                                                    float *out, int first, int hidden, int num_rows)
{
    for (int column = first + threadIdx.x % kLanes; column < min(first + kColumns, hidden);
         column += kLanes) {
        float sum = 0;
        for (int k = 0; k < slots.top_k; k++) {
            const int place = slots.places[k];
            if (unsigned(place) < unsigned(num_rows))
                sum += slots.weights[k] * expert_out[(long long)place * hidden + column];
        }
        out[column] = sum;
    }
}

// ---- kernel ----

__global__ void __launch_bounds__(kThreads)
    combine(const float *expert_out, const int *places, const float *weights, float *out,
            long long stretches, int per_token, int top_k, int hidden, int num_rows)
{
    const long long warps = (long long)gridDim.x * (kThreads / kLanes);
    for (long long i = ((long long)blockIdx.x * kThreads + threadIdx.x) / kLanes; i < stretches;
         i += warps) {
        const long long token = i / per_token;
        const int first = int(i % per_token) * kColumns;
        const Slots slots = {places + token * top_k, weights + token * top_k, top_k};
        if (hidden % 4 == 0)
            warp_combine_vectors(expert_out, slots, out + token * hidden, first, hidden, num_rows);
        else
            warp_combine_floats(expert_out, slots, out + token * hidden, first, hidden, num_rows);
    }
}

extern "C" void moe_gather_combine(const float *expert_out, const int *places, const float *weights,
                                   float *out, int num_tokens, int top_k, int hidden, int num_rows,
                                   cudaStream_t stream)
{
    const int per_token = (hidden - 1) / kColumns + 1;
    const long long stretches = (long long)num_tokens * per_token;
    if (stretches == 0)
        return;
    const long long wanted = (stretches - 1) / (kThreads / kLanes) + 1;
    combine<<<unsigned(wanted < kBlocksMax ? wanted : kBlocksMax), kThreads, 0, stream>>>(
        expert_out, places, weights, out, stretches, per_token, top_k, hidden, num_rows);
    cudaGetLastError();
}
