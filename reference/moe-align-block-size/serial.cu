// MoE experts padded to blocks, rung 0: one thread, a few loops. The yardstick of every other rung.
//
// Contract: S = num_tokens * top_k >= 0 and all sizes fit into an int; 1 <= num_experts <= 2048; 1
// <= block_size <= 1024; arrays aligned to 4 bytes, not overlapping; slots with ids outside [0,
// num_experts) appear nowhere; padding is S, behind the total S and -1; everything is written also
// when there is no token. Slots of an expert in ascending order, padding behind them: the same
// bits on every run. All work goes on `stream`; workspace: 4 bytes per expert.
// Method: count; scan of the rounded counts; padding everywhere; each slot to the next place.
// Moves: 8 bytes in, 4 bytes out per slot; 4 bytes per place of padding.

#include <cuda_runtime.h>

__global__ void align_serially(const int *topk_ids, int *offsets, int *sorted_slots,
                               int *block_experts, int *next, int slots, int num_experts,
                               int block_size, int places, int blocks)
{
    for (int expert = 0; expert < num_experts; expert++)
        next[expert] = 0;
    for (int i = 0; i < slots; i++)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            next[topk_ids[i]]++;

    int sum = 0;
    for (int expert = 0; expert < num_experts; expert++) {
        offsets[expert] = sum;
        for (int count = next[expert]; count > 0; count -= block_size) {
            block_experts[sum / block_size] = expert;
            sum += block_size;
        }
        next[expert] = offsets[expert];
    }
    offsets[num_experts] = sum;
    for (int block = sum / block_size; block < blocks; block++)
        block_experts[block] = -1;

    for (int place = 0; place < places; place++)
        sorted_slots[place] = slots;
    for (int i = 0; i < slots; i++)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            sorted_slots[next[topk_ids[i]]++] = i;
}

extern "C" void moe_align_block_size(const int *topk_ids, int *offsets, int *sorted_slots,
                                     int *block_experts, int num_tokens, int top_k, int num_experts,
                                     int block_size, void *workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    (void)workspace_bytes;
    const int slots = num_tokens * top_k;
    const int places = slots + num_experts * (block_size - 1);
    align_serially<<<1, 1, 0, stream>>>(topk_ids, offsets, sorted_slots, block_experts,
                                        static_cast<int *>(workspace), slots, num_experts,
                                        block_size, places, (places + block_size - 1) / block_size);
    cudaGetLastError();
}
