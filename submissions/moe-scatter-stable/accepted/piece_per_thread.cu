// expect: accepted
// Every thread walks over 1024 slots of its own, twice, with counters of its own in the workspace.

#include <cuda_runtime.h>

constexpr int kPiece = 1024;

__global__ void count_pieces(const int *topk_ids, int *counts, int pieces, int slot_count,
                             int num_experts)
{
    const int piece = blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= pieces)
        return;
    for (int e = 0; e < num_experts; e++)
        counts[e * pieces + piece] = 0;
    for (int i = piece * kPiece; i < slot_count && i < (piece + 1) * kPiece; i++)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            counts[topk_ids[i] * pieces + piece]++;
}

// All counts in the order of experts, and of pieces within an expert: where each piece begins.
__global__ void scan_counts(int *counts, int *offsets, int pieces, int num_experts)
{
    __shared__ int sums[1024];
    const int t = threadIdx.x, length = num_experts * pieces;
    int carry = 0;
    for (int first = 0; first < length; first += 1024) {
        const int i = first + t, own = i < length ? counts[i] : 0;
        sums[t] = own;
        __syncthreads();
        for (int distance = 1; distance < 1024; distance *= 2) {
            const int before = t >= distance ? sums[t - distance] : 0;
            __syncthreads();
            sums[t] += before;
            __syncthreads();
        }
        const int before = carry + sums[t] - own;
        if (i < length)
            counts[i] = before;
        if (i < length && i % pieces == 0)
            offsets[i / pieces] = before;
        carry += sums[1023];
        __syncthreads();
    }
    if (t == 0)
        offsets[num_experts] = carry;
    for (int e = t; pieces == 0 && e < num_experts; e += 1024)
        offsets[e] = 0;
}

__global__ void place_pieces(const int *topk_ids, int *next, int *slots, int pieces, int slot_count,
                             int num_experts)
{
    const int piece = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = piece * kPiece; i < slot_count && i < (piece + 1) * kPiece; i++)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            slots[next[topk_ids[i] * pieces + piece]++] = i;
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    int *counts = static_cast<int *>(workspace);
    cudaMemsetAsync(slots, 0xff, sizeof(int) * slot_count, stream);
    const int pieces = slot_count > 0 ? (slot_count - 1) / kPiece + 1 : 0;
    if (pieces > 0)
        count_pieces<<<(pieces + 31) / 32, 32, 0, stream>>>(topk_ids, counts, pieces, slot_count,
                                                            num_experts);
    scan_counts<<<1, 1024, 0, stream>>>(counts, offsets, pieces, num_experts);
    if (pieces > 0)
        place_pieces<<<(pieces + 31) / 32, 32, 0, stream>>>(topk_ids, counts, slots, pieces,
                                                            slot_count, num_experts);
}
