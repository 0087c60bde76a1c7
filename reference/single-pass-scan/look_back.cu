// Single-pass scan, rung 3: decoupled look-back (Merrill and Garland, "Single-pass
// parallel prefix scan with decoupled look-back", 2016).
//
// Contract
//   out[i] = in[0] + ... + in[i-1] modulo 2^32, out[0] = 0, for 0 <= n <= INT_MAX.
//   n = 0 launches nothing. Any 4-byte alignment (16 bytes is faster). `in` and `out` must not
//   overlap. Deterministic: int sums do not depend on who added what first.
//   workspace: one 8-byte ticket and one 8-byte state per 8192 elements, aligned to 8 bytes; its
//   contents on entry do not matter, they are cleared on `stream`. Right for any order in which
//   blocks start and any schedule.
//
// Method
//   1. A block takes the next tile number from an atomic ticket, loads the tile into registers and
//      scans it there.
//   2. It publishes the tile's sum, so that later tiles can count on it.
//   3. Its first warp looks back, 32 tiles at a time: it adds up published sums until it meets a
//      tile that already knows the sum of everything up to its end.
//   4. It publishes the same of its own tile, and writes the tile.
//
// Bytes moved per element: 8 (4 read, 4 written), besides 8 bytes of state per 8192 elements.
#include <cstddef>
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 512;           // 16 warps with 40 registers: 3 or 4 blocks on an SM
constexpr int kWarps = kThreads / kWarp;
constexpr int kVector = 4;              // ints in the widest load, 16 bytes
constexpr int kRows = 4;                // such loads per thread, all under way at once
constexpr int kRow = kWarp * kVector;   // what a warp loads in one go: 128 neighbours, 512 bytes
constexpr int kTile = kWarps * kRows * kRow; // 8192: half of it is 4% slower on an H200
static_assert(kWarps <= kWarp, "one warp scans the warps' sums");
// The workspace has 8 bytes per 256 elements and 1024 more; the ticket and rounding up take 16.
static_assert(sizeof(unsigned long long) * 256 <= 8 * kTile, "the states fit into the workspace");

// ---- what tiles tell each other ----------------------------------------------------------------

// A tile's state is one 64-bit word, status above value, written and read in one piece: a reader
// that sees the status sees the value that belongs to it. Nothing else is passed from block to
// block, so relaxed accesses are enough and no fence is needed.
struct tile_state {
    enum : unsigned { kNothing = 0, kPartial = 1, kInclusive = 2 };
    unsigned status;
    unsigned value; // kPartial: the sum of the tile; kInclusive: of everything up to its end
};

struct tile_states {
    unsigned long long *words;

    __device__ void publish_partial(int tile, unsigned sum)
    {
        store(tile, {tile_state::kPartial, sum}); // read by wait() of later tiles
    }

    __device__ void publish_inclusive(int tile, unsigned sum)
    {
        store(tile, {tile_state::kInclusive, sum}); // read by wait() of later tiles
    }

    // A whole warp calls it: lane l gets the state of tile `newest - l`; in front of tile 0 the sum
    // is known, and 0. Waits until every state that counts is there: those up to and including the
    // first inclusive one. They come from blocks that drew their tickets earlier, so they are
    // running or done, whatever the order of blocks: the wait ends.
    __device__ tile_state wait(int newest)
    {
        const int tile = newest - static_cast<int>(threadIdx.x % kWarp);
        tile_state state;
        unsigned missing, inclusive, counts;
        do {
            state = tile >= 0 ? load(tile) : tile_state{tile_state::kInclusive, 0};
            missing = __ballot_sync(kAllLanes, state.status == tile_state::kNothing);
            inclusive = __ballot_sync(kAllLanes, state.status == tile_state::kInclusive);
            // The lanes below the lowest inclusive one; all of them if there is none.
            counts = (inclusive & (0u - inclusive)) - 1u;
        } while (missing & counts);
        return state;
    }

  private:
    __device__ void store(int tile, tile_state s)
    {
        unsigned long long word = static_cast<unsigned long long>(s.status) << 32 | s.value;
        asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(words + tile), "l"(word) : "memory");
    }

    __device__ tile_state load(int tile)
    {
        unsigned long long word;
        asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(words + tile) : "memory");
        return {static_cast<unsigned>(word >> 32), static_cast<unsigned>(word)};
    }
};

// ---- lanes and warps ---------------------------------------------------------------------------

__device__ int lane_index()
{
    return threadIdx.x % kWarp;
}

// Lane l gets the sum of lanes 0..l.
__device__ unsigned warp_inclusive_scan(unsigned value)
{
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
        unsigned before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

__device__ unsigned warp_sum(unsigned value)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kAllLanes, value, distance);
    return value;
}

// The sum of all tiles before `tile`, for the whole warp.
__device__ unsigned warp_look_back(tile_states states, int tile)
{
    unsigned prefix = 0;
    for (int newest = tile - 1;; newest -= kWarp) {
        const tile_state state = states.wait(newest);
        const unsigned inclusive =
            __ballot_sync(kAllLanes, state.status == tile_state::kInclusive);
        // An inclusive sum covers everything before it: lanes past the first one do not count.
        const int last = inclusive ? __ffs(inclusive) - 1 : kWarp - 1;
        prefix = warp_sum(lane_index() <= last ? state.value : 0) + prefix;
        if (inclusive)
            return prefix;
    }
}

// ---- tiles -------------------------------------------------------------------------------------

// A thread's items: row r holds 4 neighbours, and lane l's row stands before lane l + 1's.
struct tile_items {
    unsigned item[kRows][kVector];
};

// Where a thread's row 0 begins; row r begins r * kRow further on. 64 bits: the last tile may end
// past INT_MAX.
__device__ long long tile_first(int tile)
{
    const int warp = threadIdx.x / kWarp;
    return static_cast<long long>(tile) * kTile + warp * (kRows * kRow) + lane_index() * kVector;
}

// kWide: both arrays are aligned for 16-byte accesses.
template <bool kWide>
__device__ tile_items tile_load(const int *__restrict__ in, int tile, long long n)
{
    const long long first = tile_first(tile);
    tile_items t;
    if (kWide && static_cast<long long>(tile + 1) * kTile <= n) {
#pragma unroll
        for (int r = 0; r < kRows; r++) {
            const int4 v = *reinterpret_cast<const int4 *>(in + first + r * kRow);
            t.item[r][0] = v.x;
            t.item[r][1] = v.y;
            t.item[r][2] = v.z;
            t.item[r][3] = v.w;
        }
    } else { // past the end stands the neutral 0
#pragma unroll
        for (int r = 0; r < kRows; r++)
#pragma unroll
            for (int k = 0; k < kVector; k++) {
                const long long i = first + r * kRow + k;
                t.item[r][k] = i < n ? static_cast<unsigned>(in[i]) : 0;
            }
    }
    return t;
}

template <bool kWide>
__device__ void tile_store(int *__restrict__ out, int tile, long long n, const tile_items &t)
{
    const long long first = tile_first(tile);
    if (kWide && static_cast<long long>(tile + 1) * kTile <= n) {
#pragma unroll
        for (int r = 0; r < kRows; r++)
            *reinterpret_cast<int4 *>(out + first + r * kRow) =
                make_int4(t.item[r][0], t.item[r][1], t.item[r][2], t.item[r][3]);
    } else {
#pragma unroll
        for (int r = 0; r < kRows; r++)
#pragma unroll
            for (int k = 0; k < kVector; k++) {
                const long long i = first + r * kRow + k;
                if (i < n)
                    out[i] = static_cast<int>(t.item[r][k]);
            }
    }
}

// Turns every item into the sum of what precedes it within its warp; returns the warp's sum.
__device__ unsigned warp_scan_items(tile_items &t)
{
    unsigned warp_total = 0;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
        const unsigned row = t.item[r][0] + t.item[r][1] + t.item[r][2] + t.item[r][3];
        const unsigned inclusive = warp_inclusive_scan(row);
        unsigned before = warp_total + inclusive - row;
#pragma unroll
        for (int k = 0; k < kVector; k++) {
            const unsigned value = t.item[r][k];
            t.item[r][k] = before;
            before = before + value;
        }
        warp_total = warp_total + __shfl_sync(kAllLanes, inclusive, kWarp - 1);
    }
    return warp_total;
}

// ---- the kernel --------------------------------------------------------------------------------

template <bool kWide>
__global__ void __launch_bounds__(kThreads)
    scan(const int *__restrict__ in, int *__restrict__ out, int n, unsigned *ticket,
         tile_states states)
{
    __shared__ int block_tile;
    __shared__ unsigned warp_offsets[kWarps]; // first each warp's sum, then what precedes it
    const int warp = threadIdx.x / kWarp;

    // Phase 1: a tile. Tickets, not blockIdx: the tiles before ours were taken by blocks that have
    // started, so waiting for them cannot last for ever. Partner: the same atomic in other blocks.
    if (threadIdx.x == 0)
        block_tile = static_cast<int>(atomicAdd(ticket, 1u));
    __syncthreads();
    const int tile = block_tile;

    // Phase 2: load it and scan it within each warp.
    tile_items items = tile_load<kWide>(in, tile, n);
    const unsigned warp_total = warp_scan_items(items);
    if (lane_index() == 0)
        warp_offsets[warp] = warp_total;
    __syncthreads();

    // Phase 3: the first warp joins the warps' sums, publishes, looks back, publishes again.
    if (warp == 0) {
        const unsigned sum = lane_index() < kWarps ? warp_offsets[lane_index()] : 0;
        const unsigned inclusive = warp_inclusive_scan(sum);
        const unsigned tile_sum = __shfl_sync(kAllLanes, inclusive, kWarp - 1);
        unsigned prefix = 0;
        if (tile > 0) {
            if (lane_index() == 0)
                states.publish_partial(tile, tile_sum);
            prefix = warp_look_back(states, tile);
        }
        if (lane_index() == 0)
            states.publish_inclusive(tile, prefix + tile_sum);
        if (lane_index() < kWarps)
            warp_offsets[lane_index()] = prefix + inclusive - sum;
    }
    __syncthreads();

    // Phase 4: add what stands before the warp, and write.
    const unsigned offset = warp_offsets[warp];
#pragma unroll
    for (int r = 0; r < kRows; r++)
#pragma unroll
        for (int k = 0; k < kVector; k++)
            items.item[r][k] = offset + items.item[r][k];
    tile_store<kWide>(out, tile, n, items);
}

// ---- host --------------------------------------------------------------------------------------

// A call that failed must not pass for one that worked. The error stays for the caller to see.
static bool worked(const char *what)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

static bool is_aligned(const void *p, size_t bytes)
{
    return reinterpret_cast<size_t>(p) % bytes == 0;
}

extern "C" void single_pass_scan(const int *in, int *out, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes; // see the static_assert on kTile
    if (n == 0)
        return; // an empty grid is a launch error
    const int tiles = (n - 1) / kTile + 1; // n + kTile - 1 could overflow

    // Word 0 is the ticket, then come the states; all bytes zero = first ticket 0, kNothing.
    unsigned long long *words = static_cast<unsigned long long *>(workspace);
    cudaMemsetAsync(words, 0, (1 + static_cast<size_t>(tiles)) * sizeof *words, stream);
    if (!worked("cudaMemsetAsync"))
        return;

    unsigned *ticket = reinterpret_cast<unsigned *>(words);
    const tile_states states = {words + 1};
    if (is_aligned(in, sizeof(int4)) && is_aligned(out, sizeof(int4)))
        scan<true><<<tiles, kThreads, 0, stream>>>(in, out, n, ticket, states);
    else
        scan<false><<<tiles, kThreads, 0, stream>>>(in, out, n, ticket, states);
    worked("scan");
}
