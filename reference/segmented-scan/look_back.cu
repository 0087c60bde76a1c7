// Segmented scan, rung 2: one pass with look-back, which a head cuts short.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, `heads` to 1, not overlapping;
// inclusive; any nonzero byte is a head, and item 0 is one whatever its byte; sums wrap modulo
// 2^32; n = 0 launches nothing. The same bits on every run. All work goes on `stream`; the
// workspace holds at least 8 + 8 * ceil(n / 2048) bytes, aligned to 8. Finishes for any order in
// which blocks start and any number of resident blocks: a tile waits only for tiles drawn before
// it.
// Method: a block draws a tile and scans pairs (sum behind the last head, has it one). A tile with
//         a head publishes at once what leaves it, for good; one without publishes its sum and
//         looks back to the nearest tile that knows. (Merrill and Garland, Single-pass Parallel
//         Prefix Scan with Decoupled Look-back, 2016.)
// Moves: 5 bytes in, 4 bytes out per element, 8 bytes of tile state per 2048.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kItems = 8; // consecutive, so that a thread combines in order
constexpr int kTile = kThreads * kItems;

// ---- lane, warp, block ----

// What a stretch of items passes on: the sum behind its last head, and whether it has one.
struct Stretch {
    int sum;
    int has_head;
};

__device__ __forceinline__ Stretch combine(Stretch earlier, Stretch later)
{
    return {later.has_head ? later.sum : int(unsigned(earlier.sum) + unsigned(later.sum)),
            earlier.has_head | later.has_head};
}

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ Stretch warp_stretch_before(Stretch own, int distance)
{
    return {__shfl_up_sync(kAllLanes, own.sum, distance),
            __shfl_up_sync(kAllLanes, own.has_head, distance)};
}

__device__ __forceinline__ Stretch warp_inclusive_scan(Stretch stretch)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const Stretch before = warp_stretch_before(stretch, distance);
        if (lane_index() >= distance)
            stretch = combine(before, stretch);
    }
    return stretch;
}

// What the threads before this one pass on, and what the whole block does. Every thread of a block
// of kThreads calls it; ends with a barrier, so that it can be called again.
__device__ __forceinline__ Stretch block_exclusive_scan(Stretch own, Stretch &total)
{
    __shared__ Stretch warp_totals[kWarps];
    const Stretch inclusive = warp_inclusive_scan(own);
    if (lane_index() == kLanes - 1)
        warp_totals[warp_index()] = inclusive;
    __syncthreads();
    Stretch before_warp = {0, 0};
    total = {0, 0};
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp == warp_index())
            before_warp = total;
        total = combine(total, warp_totals[warp]);
    }
    const Stretch before_lane = warp_stretch_before(inclusive, 1);
    __syncthreads();
    return lane_index() == 0 ? before_warp : combine(before_warp, before_lane);
}

// ---- tile: thread t owns the kItems consecutive items from t * kItems on ----

struct TileItems {
    Stretch items[kItems];
    Stretch total; // of this thread's items

    __device__ __forceinline__ TileItems(const int *in, const unsigned char *heads, int n, int tile)
    {
        total = {0, 0};
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            const unsigned i = index(tile, k);
            items[k] = i < unsigned(n) ? Stretch{in[i], heads[i] != 0} : Stretch{0, 0};
            total = combine(total, items[k]);
        }
    }
    // Unsigned: the last tile may reach past 2^31.
    static __device__ __forceinline__ unsigned index(int tile, int k)
    {
        return (unsigned(tile) * kThreads + threadIdx.x) * kItems + unsigned(k);
    }
    __device__ __forceinline__ void store(int *out, int n, int tile, Stretch before) const
    {
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            const unsigned i = index(tile, k);
            before = combine(before, items[k]);
            if (i < unsigned(n))
                out[i] = before.sum;
        }
    }
};

// ---- tile state: {what is known : 32, sum : 32} in one word that is read and written at once:
//      no fence is needed between a sum and the flag that announces it ----

enum TileKnows : unsigned {
    kNothing = 0,   // what the memset before the launch leaves
    kPartial = 1,   // the sum of a tile without a head
    kInclusive = 2, // the sum of the segment that leaves the tile
};

struct TileState {
    unsigned long long word;

    __device__ TileState(TileKnows knows, int sum)
        : word((unsigned long long)knows << 32 | unsigned(sum))
    {
    }
    __device__ explicit TileState(unsigned long long w) : word(w)
    {
    }
    __device__ unsigned knows() const
    {
        return unsigned(word >> 32);
    }
    __device__ unsigned sum() const
    {
        return unsigned(word);
    }
};

struct TileStates {
    unsigned long long *words; // one per tile

    // Pairs with wait().
    __device__ void publish(int tile, TileState state) const
    {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :
                     : "l"(words + tile), "l"(state.word)
                     : "memory");
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
};

// The sum of the segment that reaches into `tile`. Called by one whole warp.
__device__ __forceinline__ int warp_look_back(TileStates states, int tile)
{
    unsigned sum = 0;
    for (int newest = tile - 1;; newest -= kLanes) {
        // Lane 0 looks at the newest tile of the window. Before tile 0 there is nothing.
        const int looked_at = newest - lane_index();
        const TileState state = looked_at >= 0 ? states.wait(looked_at) : TileState(kInclusive, 0);
        const unsigned inclusive = __ballot_sync(kAllLanes, state.knows() == kInclusive);
        const int last = inclusive ? __ffs(int(inclusive)) - 1 : kLanes - 1;
        unsigned window = lane_index() <= last ? state.sum() : 0;
#pragma unroll
        for (int distance = kLanes / 2; distance > 0; distance /= 2)
            window += __shfl_xor_sync(kAllLanes, window, distance);
        sum += window;
        if (inclusive)
            return int(sum);
    }
}

// ---- kernel ----

__global__ void __launch_bounds__(kThreads)
    scan_tiles(const int *in, const unsigned char *heads, int *out, int n, unsigned *next_tile,
               TileStates states)
{
    __shared__ int drawn_tile;
    __shared__ int sum_before_tile;

    // Draw a tile. Partner: the same atomicAdd in every other block; memset to 0 before the launch.
    if (threadIdx.x == 0)
        drawn_tile = int(atomicAdd(next_tile, 1u));
    __syncthreads();
    const int tile = drawn_tile;

    const TileItems items(in, heads, n, tile);
    Stretch total;
    const Stretch before_thread = block_exclusive_scan(items.total, total);

    // A tile with a head knows at once what leaves it; only the others wait for what enters.
    if (warp_index() == 0) {
        if (lane_index() == 0)
            states.publish(tile, TileState(total.has_head ? kInclusive : kPartial, total.sum));
        const int before = warp_look_back(states, tile);
        if (lane_index() == 0) {
            if (!total.has_head)
                states.publish(tile,
                               TileState(kInclusive, int(unsigned(before) + unsigned(total.sum))));
            sum_before_tile = before;
        }
    }
    __syncthreads();
    items.store(out, n, tile, combine(Stretch{sum_before_tile, 0}, before_thread));
}

extern "C" void segmented_scan(const int *in, const unsigned char *heads, int *out, int n,
                               void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kTile + 1;
    // One word for the ticket, then the tile states; all zero before the launch.
    auto *words = static_cast<unsigned long long *>(workspace);
    cudaMemsetAsync(words, 0, sizeof(*words) * (1 + size_t(tile_count)), stream);
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(
        in, heads, out, n, reinterpret_cast<unsigned *>(words), TileStates{words + 1});
    cudaGetLastError();
}
