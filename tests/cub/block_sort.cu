// cub::BlockReduce, BlockRadixSort, BlockMergeSort, BlockHistogram and BlockRunLengthDecode.
#include "block.cuh"

#include <algorithm>
#include <numeric>

#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>

enum { THREADS = 64, ITEMS = 4, TILE = THREADS * ITEMS, BINS = 32 };

// Sums of whole and of partial tiles. The raking forms keep the order of the operands.
template <typename T, cub::BlockReduceAlgorithm ALGORITHM>
__global__ void reduce_tiles(const T *in, T *sums, int n)
{
    using block_reduce = cub::BlockReduce<T, THREADS, ALGORITHM>;
    __shared__ typename block_reduce::TempStorage storage;
    int first = static_cast<int>(blockIdx.x) * THREADS, t = static_cast<int>(threadIdx.x);
    int count = min(n - first, static_cast<int>(THREADS));
    T v = t < count ? in[first + t] : T{};
    T sum = count == THREADS ? block_reduce(storage).Reduce(v, plus_op{})
                             : block_reduce(storage).Reduce(v, plus_op{}, count);
    if (t == 0)
        sums[blockIdx.x] = sum;
}

template <typename T, cub::BlockReduceAlgorithm ALGORITHM>
static void test_reduce(const char *name, int n)
{
    const int tiles = tiles_of(n, THREADS);
    const std::vector<T> in = random_values<T>(n);
    std::vector<T> sums(tiles);
    for (int i = 0; i < n; ++i)
        sums[i / THREADS] = i % THREADS ? sums[i / THREADS] + in[i] : in[i];
    device_buffer<T> d_in(in), d_sums(tiles);
    kernel_call<T>(name, n, [&] {
        if (n)
            reduce_tiles<T, ALGORITHM><<<tiles, THREADS>>>(d_in.data, d_sums.data, n);
    });
    expect(sums, d_sums, "sums");
}

template <typename K> __global__ void sort_tiles(const K *in, K *keys, int *values, int n)
{
    using block_sort = cub::BlockRadixSort<K, THREADS, ITEMS, int>;
    __shared__ typename block_sort::TempStorage storage;
    int first = static_cast<int>(blockIdx.x) * TILE, t = static_cast<int>(threadIdx.x);
    K key[ITEMS];
    int value[ITEMS];
    for (int k = 0; k < ITEMS; ++k) {
        value[k] = first + t * ITEMS + k;
        key[k] = in[value[k] < n ? value[k] : n - 1];
    }
    block_sort(storage).SortBlockedToStriped(key, value);
    for (int k = 0; k < ITEMS; ++k) {
        keys[first + k * THREADS + t] = key[k];
        values[first + k * THREADS + t] = value[k];
    }
}

template <typename K> __global__ void merge_sort_tiles(const K *in, K *keys, int *values, int n)
{
    using block_sort = cub::BlockMergeSort<K, THREADS, ITEMS, int>;
    __shared__ typename block_sort::TempStorage storage;
    int first = static_cast<int>(blockIdx.x) * TILE, t = static_cast<int>(threadIdx.x);
    K key[ITEMS];
    int value[ITEMS];
    for (int k = 0; k < ITEMS; ++k) {
        value[k] = first + t * ITEMS + k;
        key[k] = in[value[k] < n ? value[k] : n - 1];
    }
    block_sort(storage).StableSort(key, value, less_op{});
    for (int k = 0; k < ITEMS; ++k) {
        keys[first + t * ITEMS + k] = key[k];
        values[first + t * ITEMS + k] = value[k];
    }
}

template <typename K> static void test_sort(int n)
{
    const int tiles = tiles_of(n, TILE), padded = tiles * TILE;
    const std::vector<K> in = values_in_runs<K>(n, 3);
    std::vector<K> keys(padded);
    std::vector<int> values(padded);
    const auto key_of = [&](int i) { return in[i < n ? i : n - 1]; };
    std::iota(values.begin(), values.end(), 0);
    for (int tile = 0; tile < tiles; ++tile)
        std::stable_sort(values.begin() + tile * TILE, values.begin() + (tile + 1) * TILE,
                         [&](int a, int b) { return key_of(a) < key_of(b); });
    for (int i = 0; i < padded; ++i)
        keys[i] = key_of(values[i]);
    device_buffer<K> d_in(in), d_keys(padded);
    device_buffer<int> d_values(padded);
    if constexpr (!std::is_same_v<K, item>) {
        kernel_call<K>("BlockRadixSort", n, [&] {
            if (n)
                sort_tiles<<<tiles, THREADS>>>(d_in.data, d_keys.data, d_values.data, n);
        });
        expect(keys, d_keys, "keys");
        expect(values, d_values, "values");
    }
    kernel_call<K>("BlockMergeSort", n, [&] {
        if (n)
            merge_sort_tiles<<<tiles, THREADS>>>(d_in.data, d_keys.data, d_values.data, n);
    });
    expect(keys, d_keys, "keys");
    expect(values, d_values, "values");
}

template <cub::BlockHistogramAlgorithm ALGORITHM>
__global__ void count_tiles(const int *in, int *bins, int n)
{
    using block_histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, BINS, ALGORITHM>;
    __shared__ typename block_histogram::TempStorage storage;
    __shared__ int counts[BINS];
    int first = static_cast<int>(blockIdx.x) * TILE + static_cast<int>(threadIdx.x) * ITEMS;
    unsigned char samples[ITEMS];
    for (int k = 0; k < ITEMS; ++k)
        samples[k] = static_cast<unsigned char>(first + k < n ? in[first + k] & (BINS - 1) : 0);
    block_histogram(storage).Histogram(samples, counts);
    __syncthreads();
    if (threadIdx.x < BINS)
        bins[blockIdx.x * BINS + threadIdx.x] = counts[threadIdx.x];
}

static void test_histogram(int n)
{
    const int tiles = tiles_of(n, TILE);
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> bins(tiles * BINS);
    for (int i = 0; i < tiles * TILE; ++i)
        ++bins[i / TILE * BINS + (i < n ? in[i] & (BINS - 1) : 0)];
    device_buffer<int> d_in(in), d_bins(tiles * BINS);
    kernel_call<int>("BlockHistogram, atomic", n, [&] {
        if (n)
            count_tiles<cub::BLOCK_HISTO_ATOMIC><<<tiles, THREADS>>>(d_in.data, d_bins.data, n);
    });
    expect(bins, d_bins, "bins");
    kernel_call<int>("BlockHistogram, sort", n, [&] {
        if (n)
            count_tiles<cub::BLOCK_HISTO_SORT><<<tiles, THREADS>>>(d_in.data, d_bins.data, n);
    });
    expect(bins, d_bins, "bins");
}

template <typename T> static void test_type()
{
    for (int n : block_sizes()) {
        test_reduce<T, cub::BLOCK_REDUCE_RAKING>("BlockReduce, raking", n);
        if constexpr (!std::is_same_v<T, item>) {
            test_reduce<T, cub::BLOCK_REDUCE_WARP_REDUCTIONS>("BlockReduce, warps", n);
            test_reduce<T, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>("BlockReduce, commuting", n);
        }
        test_sort<T>(n);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    test_type<int>();
    test_type<float>();
    test_type<item>();
    for (int n : block_sizes())
        test_histogram(n);
    return finish();
}
