// cub::DeviceMergeSort. The stable forms are held against std::stable_sort; the others must give
// the same keys, and with a total order the same values.
#include "common.cuh"

#include <algorithm>
#include <numeric>

#include <cub/device/device_merge_sort.cuh>

// Orders by a few classes only, so that stability shows.
struct by_class {
    template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const
    {
        return number_of(a) % 16 < number_of(b) % 16;
    }
};

template <typename T> static void test_size(int n)
{
    const std::vector<T> in = random_values<T>(n);
    const std::vector<int> values = random_values<int>(n, 3);
    std::vector<int> order(n), stable_values(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return by_class{}(in[a], in[b]); });
    std::vector<T> sorted(in), stable(n);
    std::sort(sorted.begin(), sorted.end(), less_op{});
    for (int i = 0; i < n; ++i) {
        stable[i] = in[order[i]];
        stable_values[i] = values[order[i]];
    }
    device_buffer<int> d_values(values);
    {
        device_buffer<T> d_keys(in);
        cub_call<T>("DeviceMergeSort::SortKeys", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceMergeSort::SortKeys(storage, bytes, d_keys.data, n, less_op{});
        });
        expect(sorted, d_keys, "keys");
    }
    {
        device_buffer<T> d_keys(in), d_out(n);
        cub_call<T>("DeviceMergeSort::SortKeysCopy", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceMergeSort::SortKeysCopy(storage, bytes, d_keys.data, d_out.data, n,
                                                      less_op{});
        });
        expect(sorted, d_out, "keys");
        expect(in, d_keys, "the input");
    }
    {
        device_buffer<T> d_keys(in);
        cub_call<T>("DeviceMergeSort::StableSortKeys", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceMergeSort::StableSortKeys(storage, bytes, d_keys.data, n, by_class{});
        });
        expect(stable, d_keys, "keys");
    }
    {
        device_buffer<T> d_keys(in);
        cub_call<T>("DeviceMergeSort::StableSortPairs", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceMergeSort::StableSortPairs(storage, bytes, d_keys.data, d_values.data,
                                                         n, by_class{});
        });
        expect(stable, d_keys, "keys");
        expect(stable_values, d_values, "values");
    }
}

template <typename T> static void test_type()
{
    for (int n : sizes())
        test_size<T>(n);
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
