// Inclusive scan with wide sums, rung 3: one pass with decoupled look-back (Merrill and Garland,
// "Single-pass parallel prefix scan with decoupled look-back", 2016).
//
// Contract
//   out[i] = in[0] + ... + in[i] in 64 bits, for 0 <= n <= INT_MAX. n = 0 launches nothing. Aligned to
//   the elements. `in` and `out` must not overlap.
//   Deterministic: sums do not depend on who added what first. workspace: an 8-byte ticket, and per
//   2048 elements two 8-byte sums and a 4-byte status; its contents on entry do not matter. Right for
//   any order in which blocks start.
//
// Method
//   1. A block takes the next tile from an atomic ticket, loads it into registers and scans it.
//   2. It publishes the tile's sum, so that later tiles can count on it.
//   3. Its first warp looks back, 32 tiles at a time: it adds up published sums until it meets a tile
//      that already knows the sum of everything up to its end.
//   4. It publishes the same of its own tile, and writes the tile.
//   A sum fills its word, and the status is another one: the sum is stored first, then the status
//   with release; a reader that has acquired the status may read the sum. Partial and inclusive sums
//   have places of their own, because a reader may be between the two when the tile moves on.
//
// Bytes moved per element: 12 (4 read, 8 written), besides 20 bytes of state per 2048 elements and
// what looking back reads.
#include <cstddef>
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;            // 8 warps: several blocks fit on an SM
constexpr int kWarps = kThreads / kWarp;
constexpr int kItems = 8;                // rows of a warp: 16 registers for the sums
constexpr int kTile = kThreads * kItems; // 2048
constexpr int kWarpItems = kWarp * kItems;
static_assert(kWarps <= kWarp, "one warp scans the warps' sums");
// The workspace has 8 bytes per 256 elements and 1024 more.
static_assert(8 * (kTile / 256) >= 2 * sizeof(long long) + sizeof(unsigned), "the states fit");

// ---- lanes and warps ---------------------------------------------------------------------------

__device__ int lane_index()
{
    return threadIdx.x % kWarp;
}

// Lane l gets the sum of lanes 0..l.
__device__ long long warp_inclusive_scan(long long value)
{
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
        const long long before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

__device__ long long warp_sum(long long value)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kAllLanes, value, distance);
    return value;
}

// A warp owns kItems rows of 32 neighbours. Turns each row into its sums from the warp's first item
// on, row after row; returns the sum of all. Past the end stands the neutral 0.
__device__ long long warp_scan_rows(const int *__restrict__ in, long long first, int n,
                                    long long (&sum)[kItems])
{
    long long carry = 0;
#pragma unroll
    for (int k = 0; k < kItems; k++) // all loads are under way before the first is needed
        sum[k] = first + k * kWarp < n ? in[first + k * kWarp] : 0;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        sum[k] = carry + warp_inclusive_scan(sum[k]);
        carry = __shfl_sync(kAllLanes, sum[k], kWarp - 1);
    }
    return carry;
}

// ---- what tiles tell each other ----------------------------------------------------------------

struct tile_states {
    enum : unsigned { kNothing = 0, kPartial = 1, kInclusive = 2 };
    long long *partial, *inclusive; // of the tile; of everything up to its end
    unsigned *status;

    __device__ void publish_partial(int tile, long long sum)
    {
        partial[tile] = sum;
        release(tile, kPartial); // acquired by wait() of later tiles
    }

    __device__ void publish_inclusive(int tile, long long sum)
    {
        inclusive[tile] = sum;
        release(tile, kInclusive); // acquired by wait() of later tiles
    }

    // A whole warp calls it: lane l gets the sum of tile `newest - l` and whether it is inclusive; in
    // front of tile 0 the sum is known, and 0. Waits until every tile that counts has published:
    // those up to and including the first inclusive one. They belong to blocks that drew their tickets
    // earlier, so they are running or done, whatever the order of blocks: the wait ends.
    __device__ long long wait(int newest, bool *is_inclusive)
    {
        const int tile = newest - lane_index();
        unsigned seen, missing, known, counts;
        do {
            seen = tile >= 0 ? acquire(tile) : kInclusive;
            missing = __ballot_sync(kAllLanes, seen == kNothing);
            known = __ballot_sync(kAllLanes, seen == kInclusive);
            counts = (known & (0u - known)) - 1u; // lanes below the lowest inclusive one, or all
        } while (missing & counts);
        *is_inclusive = seen == kInclusive;
        if (tile < 0 || seen == kNothing) // the second lies behind an inclusive one: not looked at
            return 0;
        return seen == kInclusive ? inclusive[tile] : partial[tile];
    }

  private:
    __device__ void release(int tile, unsigned value)
    {
        asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(status + tile), "r"(value) : "memory");
    }

    __device__ unsigned acquire(int tile)
    {
        unsigned value;
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(status + tile) : "memory");
        return value;
    }
};

// The sum of all tiles before `tile`, for the whole warp.
__device__ long long warp_look_back(tile_states states, int tile)
{
    long long prefix = 0;
    for (int newest = tile - 1;; newest -= kWarp) {
        bool is_inclusive;
        const long long sum = states.wait(newest, &is_inclusive);
        const unsigned known = __ballot_sync(kAllLanes, is_inclusive);
        // An inclusive sum covers everything before it: lanes past the first one do not count.
        const int last = known ? __ffs(known) - 1 : kWarp - 1;
        prefix = warp_sum(lane_index() <= last ? sum : 0) + prefix;
        if (known)
            return prefix;
    }
}

// ---- the kernel --------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads)
    scan(const int *__restrict__ in, long long *__restrict__ out, int n, unsigned *ticket,
         tile_states states)
{
    __shared__ int block_tile;
    __shared__ long long warp_offsets[kWarps]; // first each warp's sum, then what precedes it
    const int warp = threadIdx.x / kWarp;

    // Phase 1: a tile. Tickets, not blockIdx: the tiles before ours were taken by blocks that have
    // started, so waiting for them cannot last for ever. Partner: the same atomic in other blocks.
    if (threadIdx.x == 0)
        block_tile = static_cast<int>(atomicAdd(ticket, 1u));
    __syncthreads();
    const int tile = block_tile;

    // Phase 2: load it and scan it within each warp.
    const long long first =
        static_cast<long long>(tile) * kTile + warp * kWarpItems + lane_index();
    long long sum[kItems];
    const long long warp_total = warp_scan_rows(in, first, n, sum);
    if (lane_index() == 0)
        warp_offsets[warp] = warp_total;
    __syncthreads();

    // Phase 3: the first warp joins the warps' sums, publishes, looks back, publishes again.
    if (warp == 0) {
        const long long mine = lane_index() < kWarps ? warp_offsets[lane_index()] : 0;
        const long long inclusive = warp_inclusive_scan(mine);
        const long long tile_sum = __shfl_sync(kAllLanes, inclusive, kWarp - 1);
        long long prefix = 0;
        if (tile > 0) {
            if (lane_index() == 0)
                states.publish_partial(tile, tile_sum);
            prefix = warp_look_back(states, tile);
        }
        if (lane_index() == 0)
            states.publish_inclusive(tile, prefix + tile_sum);
        if (lane_index() < kWarps)
            warp_offsets[lane_index()] = prefix + inclusive - mine;
    }
    __syncthreads();

    // Phase 4: add what stands before the warp, and write.
    const long long offset = warp_offsets[warp];
#pragma unroll
    for (int k = 0; k < kItems; k++)
        if (first + k * kWarp < n)
            out[first + k * kWarp] = offset + sum[k];
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

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes; // see the static_assert on kTile
    if (n == 0)
        return; // an empty grid is a launch error
    const size_t tiles = (n - 1) / kTile + 1; // n + kTile - 1 could overflow

    // The sums need not be cleared: nobody reads one before its status says that it is there.
    tile_states states;
    states.partial = static_cast<long long *>(workspace);
    states.inclusive = states.partial + tiles;
    unsigned *ticket = reinterpret_cast<unsigned *>(states.inclusive + tiles);
    states.status = ticket + 1;
    cudaMemsetAsync(ticket, 0, (1 + tiles) * sizeof *ticket, stream);
    if (!worked("cudaMemsetAsync"))
        return;
    scan<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(in, out, n, ticket, states);
    worked("scan");
}
