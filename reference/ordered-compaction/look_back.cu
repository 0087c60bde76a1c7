// Ordered compaction, rung 2: one pass with decoupled look-back.
//
// Contract: 0 <= n < 2^31; `in` and `out` do not overlap and are aligned to 4 bytes; the workspace
// holds at least 8 + 8 * ceil(n / 8192) bytes, aligned to 8, contents undefined; keeps in[i] > 0 in
// the order of the input, so NaN and -0.0 go and +infinity and positive subnormals stay; writes
// *count also for n = 0; leaves out[*count .. n) as it was. The same bits on every run. All work
// goes on `stream`; calls with different workspaces may overlap. Finishes for any order in which
// blocks start and any number of resident blocks: a tile waits only for tiles that were drawn
// before it.
// Method: a block draws a tile, loads it once into registers and counts what it keeps; publishes
//         the count; its first warp sums the counts of the tiles before it, 32 at a time, back to
//         the first tile that already published an inclusive prefix; publishes its own inclusive
//         prefix; then every kept item is written to its place. (Merrill and Garland, Single-pass
//         Parallel Prefix Scan with Decoupled Look-back, 2016.)
// Moves: 4 bytes in, 4 bytes out per kept item, 8 bytes of tile state per 8192 items.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;              // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 32;                  // loads in flight per thread
constexpr int kTile = kThreads * kRows;    // items of one block: a look-back takes about 1 us, and
                                           // tiles of 2048 are 1.5 times as slow from 2^24 items on

// ---- lane and warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

// How many of the voting lanes come before this one.
__device__ __forceinline__ int lane_rank(unsigned votes)
{
    return __popc(votes & ((1u << lane_index()) - 1));
}

__device__ __forceinline__ int warp_sum(int value)
{
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kAllLanes, value, distance);
    return value;
}

// ---- tile state: {what is known : 32, count : 32} in one word that is read and written in one
//      piece, so that no fence is needed between a count and the flag that announces it ----

enum TileKnows : unsigned {
    kNothing = 0,   // what the memset before the launch leaves
    kPartial = 1,   // the count of this tile alone
    kInclusive = 2, // the count of this tile and all before it
};

struct TileState {
    unsigned long long word;

    __device__ TileState(TileKnows knows, int count)
        : word((unsigned long long)knows << 32 | unsigned(count))
    {
    }
    __device__ explicit TileState(unsigned long long w) : word(w)
    {
    }
    __device__ unsigned knows() const
    {
        return unsigned(word >> 32);
    }
    __device__ int count() const
    {
        return int(unsigned(word));
    }
};

struct TileStates {
    unsigned long long *words; // one per tile

    // Both pair with wait().
    __device__ void publish_partial(int tile, int count) const
    {
        store(tile, TileState(kPartial, count));
    }
    __device__ void publish_inclusive(int tile, int count) const
    {
        store(tile, TileState(kInclusive, count));
    }
    // Spins until the tile has published something. Only for tiles drawn earlier.
    __device__ TileState wait(int tile) const
    {
        unsigned long long word;
        do {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(word)
                         : "l"(words + tile)
                         : "memory");
        } while (TileState(word).knows() == kNothing);
        return TileState(word);
    }

private:
    __device__ void store(int tile, TileState state) const
    {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :
                     : "l"(words + tile), "l"(state.word)
                     : "memory");
    }
};

// ---- tile ----

// Kept items of all tiles before `tile`. Called by one whole warp.
__device__ __forceinline__ int warp_look_back(TileStates states, int tile)
{
    int sum = 0;
    for (int newest = tile - 1;; newest -= kLanes) {
        // Lane 0 looks at the newest tile of the window. Before tile 0 nothing was kept.
        const int looked_at = newest - lane_index();
        const TileState state =
            looked_at >= 0 ? states.wait(looked_at) : TileState(kInclusive, 0);
        const unsigned inclusive = __ballot_sync(kAllLanes, state.knows() == kInclusive);
        const int last = inclusive ? __ffs(int(inclusive)) - 1 : kLanes - 1;
        sum = warp_sum(lane_index() <= last ? state.count() : 0) + sum;
        if (inclusive)
            return sum;
    }
}

__global__ void __launch_bounds__(kThreads)
    compact_tiles(const float *in, float *out, int *count, int n, int tile_count,
                  unsigned *next_tile, TileStates states)
{
    __shared__ int drawn_tile;
    __shared__ int warp_kept[kWarps];
    __shared__ int kept_before_tile;

    // Draw a tile. Partner: the same atomicAdd in every other block; memset to 0 before the launch.
    if (threadIdx.x == 0)
        drawn_tile = int(atomicAdd(next_tile, 1u));
    __syncthreads();
    const int tile = drawn_tile;

    // Load: warp w owns kRows rows of 32 consecutive items. Unsigned: the last tile may pass 2^31.
    const unsigned first =
        unsigned(tile) * kTile + warp_index() * (kRows * kLanes) + lane_index();
    float values[kRows];
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = first + row * kLanes;
        values[row] = i < unsigned(n) ? in[i] : 0.0f; // 0 is not kept
    }

    // Count.
    int kept = 0;
#pragma unroll
    for (int row = 0; row < kRows; row++)
        kept += __popc(__ballot_sync(kAllLanes, values[row] > 0.0f));
    if (lane_index() == 0)
        warp_kept[warp_index()] = kept;
    __syncthreads();
    int before_warp = 0;
    int tile_kept = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp < warp_index())
            before_warp += warp_kept[warp];
        tile_kept += warp_kept[warp];
    }

    // Publish, look back, publish again.
    if (warp_index() == 0) {
        if (lane_index() == 0 && tile > 0)
            states.publish_partial(tile, tile_kept);
        const int before = warp_look_back(states, tile);
        if (lane_index() == 0) {
            states.publish_inclusive(tile, before + tile_kept);
            kept_before_tile = before;
            if (tile == tile_count - 1)
                *count = before + tile_kept;
        }
    }
    __syncthreads();

    // Scatter.
    int place = kept_before_tile + before_warp;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned votes = __ballot_sync(kAllLanes, values[row] > 0.0f);
        if (values[row] > 0.0f)
            out[place + lane_rank(votes)] = values[row];
        place += __popc(votes);
    }
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tile_count = (n - 1) / kTile + 1;
    // One word for the ticket, then the tile states; all zero before the launch.
    auto *words = static_cast<unsigned long long *>(workspace);
    cudaMemsetAsync(words, 0, sizeof(*words) * (1 + size_t(tile_count)), stream);
    compact_tiles<<<tile_count, kThreads, 0, stream>>>(in, out, count, n, tile_count,
                                                       reinterpret_cast<unsigned *>(words),
                                                       TileStates{words + 1});
    cudaGetLastError();
}
