// cub::BlockScan with its three algorithms: 2 and 3 items per thread, prefix callbacks, operators
// that do not commute.
#include "block.cuh"

#include <cub/block/block_scan.cuh>

template <typename T> __host__ __device__ T neutral()
{
    return T{};
}
template <> __host__ __device__ inline item neutral<item>()
{
    return {0x10000, 0, 0};
}

// A running prefix over the tiles of one block.
template <typename T> struct running_prefix {
    T total;
    __device__ T operator()(const T &tile)
    {
        T before = total;
        total = total + tile;
        return before;
    }
};

template <typename T, cub::BlockScanAlgorithm ALGORITHM, int THREADS, int ITEMS>
__global__ void scan_tiles(const T *in, T *inclusive, T *exclusive, T *totals, T *running, int n)
{
    using block_scan = cub::BlockScan<T, THREADS, ALGORITHM>;
    __shared__ typename block_scan::TempStorage storage;
    running_prefix<T> prefix{neutral<T>()};
    for (int tile = 0; tile * THREADS * ITEMS < n; ++tile) {
        int first = (tile * THREADS + static_cast<int>(threadIdx.x)) * ITEMS;
        T items[ITEMS], out[ITEMS], total;
        for (int k = 0; k < ITEMS; ++k)
            items[k] = first + k < n ? in[first + k] : neutral<T>();
        block_scan(storage).InclusiveScan(items, out, plus_op{}, total);
        for (int k = 0; k < ITEMS; ++k)
            if (first + k < n)
                inclusive[first + k] = out[k];
        __syncthreads();
        block_scan(storage).ExclusiveScan(items, out, neutral<T>(), plus_op{});
        for (int k = 0; k < ITEMS; ++k)
            if (first + k < n)
                exclusive[first + k] = out[k];
        if (threadIdx.x == 0)
            totals[tile] = total;
        __syncthreads();
        block_scan(storage).InclusiveScan(items, out, plus_op{}, prefix);
        for (int k = 0; k < ITEMS; ++k)
            if (first + k < n)
                running[first + k] = out[k];
        __syncthreads();
    }
}

template <typename T, cub::BlockScanAlgorithm ALGORITHM, int THREADS, int ITEMS>
static void test_scan(const char *name, int n)
{
    const int tile = THREADS * ITEMS, tiles = tiles_of(n, tile);
    const std::vector<T> in = random_values<T>(n);
    std::vector<T> inclusive(n), exclusive(n), totals(tiles), running(n);
    T all = neutral<T>();
    for (int i = 0; i < n; ++i) {
        exclusive[i] = i % tile ? inclusive[i - 1] : neutral<T>();
        totals[i / tile] = inclusive[i] = exclusive[i] + in[i];
        running[i] = all = all + in[i];
    }
    device_buffer<T> d_in(in), d_inclusive(n), d_exclusive(n), d_totals(tiles), d_running(n);
    kernel_call<T>(name, n, [&] {
        scan_tiles<T, ALGORITHM, THREADS, ITEMS><<<1, THREADS>>>(
            d_in.data, d_inclusive.data, d_exclusive.data, d_totals.data, d_running.data, n);
    });
    expect(inclusive, d_inclusive, "inclusive");
    expect(exclusive, d_exclusive, "exclusive");
    expect(totals, d_totals, "totals");
    expect(running, d_running, "with a prefix");
}

template <typename T> static void test_type()
{
    for (int n : block_sizes()) {
        test_scan<T, cub::BLOCK_SCAN_RAKING, 128, 3>("BlockScan, raking", n);
        test_scan<T, cub::BLOCK_SCAN_RAKING_MEMOIZE, 96, 2>("BlockScan, raking memoized", n);
        test_scan<T, cub::BLOCK_SCAN_WARP_SCANS, 128, 2>("BlockScan, warp scans", n);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    test_type<int>();
    test_type<int64>();
    test_type<float>();
    test_type<item>();
    return finish();
}
