// cub::DeviceMerge: two sorted arrays become one; equal keys of the first come first.
#include "common.cuh"

#include <algorithm>
#include <numeric>

#include <cub/device/device_merge.cuh>

struct by_class {
    template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const
    {
        return number_of(a) / 50 < number_of(b) / 50;
    }
};

template <typename T> static void test_size(int n, int first)
{
    std::vector<T> a = random_values<T>(first, 1), b = random_values<T>(n - first, 2);
    std::stable_sort(a.begin(), a.end(), by_class{});
    std::stable_sort(b.begin(), b.end(), by_class{});
    std::vector<int> a_values(first), b_values(n - first), values(n);
    std::iota(a_values.begin(), a_values.end(), 0);
    std::iota(b_values.begin(), b_values.end(), first);
    std::vector<T> both(a), keys(n);
    both.insert(both.end(), b.begin(), b.end());
    std::iota(values.begin(), values.end(), 0);
    std::stable_sort(values.begin(), values.end(),
                     [&](int i, int j) { return by_class{}(both[i], both[j]); });
    for (int i = 0; i < n; ++i)
        keys[i] = both[values[i]];
    device_buffer<T> d_a(a), d_b(b), d_out(n);
    device_buffer<int> d_a_values(a_values), d_b_values(b_values), d_values(n);
    cub_call<T>("DeviceMerge::MergeKeys", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceMerge::MergeKeys(storage, bytes, d_a.data, first, d_b.data, n - first,
                                           d_out.data, by_class{});
    });
    expect(keys, d_out, "keys");
    cub_call<T>("DeviceMerge::MergePairs", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceMerge::MergePairs(storage, bytes, d_a.data, d_a_values.data, first,
                                            d_b.data, d_b_values.data, n - first, d_out.data,
                                            d_values.data, by_class{});
    });
    expect(keys, d_out, "keys");
    expect(values, d_values, "values");
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_size<T>(n, n / 3);
        if (n == 257 || n == 4097) {
            test_size<T>(n, 0);
            test_size<T>(n, n);
            test_size<T>(n, n - 1);
        }
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
