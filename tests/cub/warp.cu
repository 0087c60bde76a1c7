// cub::WarpScan, WarpReduce, WarpExchange and WarpMergeSort on logical warps of 2 to 32 lanes,
// among them sizes that are no powers of two.
#include "block.cuh"

#include <algorithm>

#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

enum { THREADS = 96 };

// Logical warps share a physical one if their size is a power of two; else the rest of it is idle.
template <int LANES> __host__ __device__ constexpr int per_warp()
{
    return LANES & (LANES - 1) ? 1 : 32 / LANES;
}

template <typename T, int LANES>
__global__ void warps(const T *in, T *inclusive, T *exclusive, T *sums, T *partial, int n)
{
    enum { WARPS = THREADS / 32 * per_warp<LANES>() };
    using warp_scan = cub::WarpScan<T, LANES>;
    using warp_reduce = cub::WarpReduce<T, LANES>;
    __shared__ typename warp_scan::TempStorage scan_storage[WARPS];
    __shared__ typename warp_reduce::TempStorage reduce_storage[WARPS];
    int lane = static_cast<int>(threadIdx.x) % 32;
    int warp = static_cast<int>(threadIdx.x) / 32 * per_warp<LANES>() + lane / LANES;
    if (lane / LANES >= per_warp<LANES>())
        return;
    int i = (static_cast<int>(blockIdx.x) * WARPS + warp) * LANES + lane % LANES;
    unsigned mates = (LANES == 32 ? ~0u : (1u << LANES % 32) - 1) << lane / LANES * LANES;
    T v = i < n ? in[i] : T{}, up, before;
    warp_scan(scan_storage[warp]).InclusiveScan(v, up, max_op{});
    __syncwarp(mates);
    warp_scan(scan_storage[warp]).ExclusiveScan(v, before, T{}, max_op{});
    T sum = warp_reduce(reduce_storage[warp]).Reduce(v, max_op{});
    __syncwarp(mates);
    T half = warp_reduce(reduce_storage[warp]).Reduce(v, max_op{}, (LANES + 1) / 2);
    if (i < n) {
        inclusive[i] = up;
        exclusive[i] = before;
    }
    if (lane % LANES == 0 && i < n) {
        sums[i / LANES] = sum;
        partial[i / LANES] = half;
    }
}

template <typename T, int LANES> static void test_warps(int n)
{
    const int groups = tiles_of(n, LANES), per_block = THREADS / 32 * per_warp<LANES>();
    const std::vector<T> in = random_values<T>(n);
    std::vector<T> inclusive(n), exclusive(n), sums(groups), partial(groups);
    for (int g = 0; g < groups; ++g) {
        T running{}, top{};
        for (int k = 0; k < LANES; ++k) {
            int i = g * LANES + k;
            T v = i < n ? in[i] : T{};
            top = k ? max_op{}(top, v) : v;
            if (k < (LANES + 1) / 2)
                partial[g] = top;
            if (i < n) {
                exclusive[i] = running;
                inclusive[i] = top;
            }
            running = max_op{}(running, v);
        }
        sums[g] = top;
    }
    device_buffer<T> d_in(in), d_inclusive(n), d_exclusive(n), d_sums(groups), d_partial(groups);
    const std::string name = "WarpScan and WarpReduce<" + std::to_string(LANES) + ">";
    kernel_call<T>(name.c_str(), n, [&] {
        if (n)
            warps<T, LANES><<<tiles_of(groups, per_block), THREADS>>>(
                d_in.data, d_inclusive.data, d_exclusive.data, d_sums.data, d_partial.data, n);
    });
    expect(inclusive, d_inclusive, "inclusive");
    expect(exclusive, d_exclusive, "exclusive");
    expect(sums, d_sums, "max");
    expect(partial, d_partial, "max of a half");
}

// Transposes the items of each logical warp and sorts them.
template <int LANES> __global__ void exchange_and_sort(const int *in, int *turned, int *sorted)
{
    enum { ITEMS = 4, WARPS = THREADS / LANES };
    using exchange = cub::WarpExchange<int, ITEMS, LANES>;
    using sort = cub::WarpMergeSort<int, ITEMS, LANES>;
    __shared__ typename exchange::TempStorage exchange_storage[WARPS];
    __shared__ typename sort::TempStorage sort_storage[WARPS];
    int warp = static_cast<int>(threadIdx.x) / LANES, lane = static_cast<int>(threadIdx.x) % LANES;
    int first = (static_cast<int>(blockIdx.x) * WARPS + warp) * LANES * ITEMS;
    int items[ITEMS];
    for (int k = 0; k < ITEMS; ++k)
        items[k] = in[first + lane * ITEMS + k];
    exchange(exchange_storage[warp]).BlockedToStriped(items, items);
    for (int k = 0; k < ITEMS; ++k)
        turned[first + lane * ITEMS + k] = items[k];
    sort(sort_storage[warp]).Sort(items, less_op{});
    for (int k = 0; k < ITEMS; ++k)
        sorted[first + lane * ITEMS + k] = items[k];
}

template <int LANES> static void test_exchange(int n)
{
    const int each = 4 * LANES, tile = 4 * THREADS, tiles = tiles_of(n, tile), all = tiles * tile;
    const std::vector<int> in = random_values<int>(all);
    std::vector<int> turned(all), sorted(in);
    for (int i = 0; i < all; ++i) {
        int first = i / each * each, lane = (i - first) / 4, k = i % 4;
        turned[i] = in[first + k * LANES + lane];
    }
    for (int first = 0; first < all; first += each)
        std::sort(sorted.begin() + first, sorted.begin() + first + each);
    device_buffer<int> d_in(in), d_turned(all), d_sorted(all);
    const std::string name = "WarpExchange and WarpMergeSort<" + std::to_string(LANES) + ">";
    kernel_call<int>(name.c_str(), n, [&] {
        if (tiles)
            exchange_and_sort<LANES><<<tiles, THREADS>>>(d_in.data, d_turned.data, d_sorted.data);
    });
    expect(turned, d_turned, "striped");
    expect(sorted, d_sorted, "sorted");
}

template <typename T> static void test_type(int n)
{
    test_warps<T, 2>(n);
    test_warps<T, 4>(n);
    test_warps<T, 7>(n);
    test_warps<T, 8>(n);
    test_warps<T, 16>(n);
    test_warps<T, 24>(n);
    test_warps<T, 32>(n);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : block_sizes()) {
        test_type<int>(n);
        test_type<float>(n);
        test_type<item>(n);
        test_exchange<4>(n);
        test_exchange<8>(n);
        test_exchange<32>(n);
    }
    return finish();
}
