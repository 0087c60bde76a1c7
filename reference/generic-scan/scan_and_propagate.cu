// Generic scan, rung 1: scan each tile, scan the totals of the tiles, put them before every
// element.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; exclusive:
// element 0 of the outputs is the identity (INT_MIN; scale 1, shift 0); maps wrap modulo 2^32; n =
// 0 launches nothing. The same bits on every run. All work goes on `stream`; the workspace holds
// at least 8 * ceil(n / 256) bytes, aligned to 8.
// Method: 1. scan_tiles: Hillis-Steele in shared memory with two buffers, one item per thread. 2.
//         scan_totals: one thread; there are 256 times as few of them. 3. add_before_tiles: what
//         stands before the tile, on the left of each element.
// Moves: 24 bytes in, 24 bytes out per element.

#include <climits>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

struct Max {
    using Value = int;
    static __device__ Value identity()
    {
        return INT_MIN;
    }
    static __device__ Value combine(Value earlier, Value later)
    {
        return earlier > later ? earlier : later;
    }
};

struct Map {
    unsigned scale, shift;
};

struct Compose {
    using Value = Map;
    static __device__ Value identity()
    {
        return {1, 0};
    }
    static __device__ Value combine(Value earlier, Value later)
    {
        return {later.scale * earlier.scale, later.scale * earlier.shift + later.shift};
    }
};

// Where values come from and where they go: one array, or two side by side.
struct MaxArrays {
    const int *in;
    int *out;
    __device__ int load(int i) const
    {
        return in[i];
    }
    __device__ void store(int i, int value) const
    {
        out[i] = value;
    }
    __device__ int result(int i) const
    {
        return out[i];
    }
};

struct MapArrays {
    const unsigned *scale, *shift;
    unsigned *composed_scale, *composed_shift;
    __device__ Map load(int i) const
    {
        return {scale[i], shift[i]};
    }
    __device__ void store(int i, Map map) const
    {
        composed_scale[i] = map.scale;
        composed_shift[i] = map.shift;
    }
    __device__ Map result(int i) const
    {
        return {composed_scale[i], composed_shift[i]};
    }
};

template <class Op, class Arrays>
__global__ void scan_tiles(Arrays arrays, typename Op::Value *tile_totals, int n)
{
    __shared__ typename Op::Value values[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const unsigned i = blockIdx.x * unsigned{kThreads} + t; // the last tile may reach past 2^31
    int from = 0;
    values[from][t] = i < unsigned(n) ? arrays.load(int(i)) : Op::identity();
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        typename Op::Value value = values[from][t];
        if (t >= distance)
            value = Op::combine(values[from][t - distance], value);
        from = 1 - from;
        values[from][t] = value;
        __syncthreads();
    }
    if (i < unsigned(n))
        arrays.store(int(i), t > 0 ? values[from][t - 1] : Op::identity());
    if (t == kThreads - 1)
        tile_totals[blockIdx.x] = values[from][t];
}

// One thread walks over the totals.
template <class Op> __global__ void scan_totals(typename Op::Value *tile_totals, int tile_count)
{
    typename Op::Value running = Op::identity();
    for (int tile = 0; tile < tile_count; tile++) {
        const typename Op::Value total = tile_totals[tile];
        tile_totals[tile] = running;
        running = Op::combine(running, total);
    }
}

template <class Op, class Arrays>
__global__ void add_before_tiles(Arrays arrays, const typename Op::Value *before_tiles, int n)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (i < unsigned(n))
        arrays.store(int(i), Op::combine(before_tiles[blockIdx.x], arrays.result(int(i))));
}

template <class Op, class Arrays>
static void scan(Arrays arrays, typename Op::Value *tile_totals, int n, cudaStream_t stream)
{
    const int tile_count = (n - 1) / kThreads + 1;
    scan_tiles<Op><<<tile_count, kThreads, 0, stream>>>(arrays, tile_totals, n);
    cudaGetLastError();
    scan_totals<Op><<<1, 1, 0, stream>>>(tile_totals, tile_count);
    cudaGetLastError();
    add_before_tiles<Op><<<tile_count, kThreads, 0, stream>>>(arrays, tile_totals, n);
    cudaGetLastError();
}

extern "C" void generic_scan(const int *values, int *max_before, const unsigned *scale,
                             const unsigned *shift, unsigned *composed_scale,
                             unsigned *composed_shift, int n, void *workspace,
                             size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    scan<Max>(MaxArrays{values, max_before}, static_cast<int *>(workspace), n, stream);
    scan<Compose>(MapArrays{scale, shift, composed_scale, composed_shift},
                  static_cast<Map *>(workspace), n, stream);
}
