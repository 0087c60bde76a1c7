// Thrust: sorts, merges, set operations, searches, and histograms made of them.
#include "common.cuh"

#include <algorithm>
#include <numeric>

#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/merge.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>

struct by_class {
    template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const
    {
        return number_of(a) % 16 < number_of(b) % 16;
    }
};

template <typename T> static std::vector<T> to_host(const thrust::device_vector<T> &v)
{
    std::vector<T> out(v.size());
    thrust::copy(v.begin(), v.end(), out.begin());
    return out;
}

template <typename T> static void test_sorts(int n)
{
    const std::vector<T> in = random_values<T>(n);
    std::vector<T> sorted(in), stable(n), by_key(n);
    std::vector<int> order(n), key_order(n);
    std::sort(sorted.begin(), sorted.end(), less_op{});
    std::iota(order.begin(), order.end(), 0);
    key_order = order;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return by_class{}(in[a], in[b]); });
    std::stable_sort(key_order.begin(), key_order.end(),
                     [&](int a, int b) { return in[a] < in[b]; });
    for (int i = 0; i < n; ++i)
        stable[i] = in[order[i]];
    thrust::device_vector<T> data(in), again(in), keys(in);
    thrust::device_vector<int> values(n);
    thrust::sequence(values.begin(), values.end());
    kernel_call<T>("thrust::sort", n, [&] { thrust::sort(data.begin(), data.end(), less_op{}); });
    expect(sorted, to_host(data));
    kernel_call<T>("thrust::stable_sort", n,
                   [&] { thrust::stable_sort(again.begin(), again.end(), by_class{}); });
    expect(stable, to_host(again));
    kernel_call<T>("thrust::stable_sort_by_key", n, [&] {
        thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin(), less_op{});
    });
    expect(sorted, to_host(keys), "keys");
    expect(key_order, to_host(values), "values");
}

static void test_merges(int n)
{
    std::vector<int> a = random_values<int>(n / 3, 1), b = random_values<int>(n - n / 3, 2);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<int> merged(n), both, either, only;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only));
    thrust::device_vector<int> d_a(a), d_b(b), out(n);
    const auto first_of = [&](auto end) {
        std::vector<int> all = to_host(out);
        all.resize(end - out.begin());
        return all;
    };
    auto end = out.begin();
    kernel_call<int>("thrust::merge", n, [&] {
        end = thrust::merge(d_a.begin(), d_a.end(), d_b.begin(), d_b.end(), out.begin());
    });
    expect(merged, first_of(end));
    kernel_call<int>("thrust::set_intersection", n, [&] {
        end = thrust::set_intersection(d_a.begin(), d_a.end(), d_b.begin(), d_b.end(), out.begin());
    });
    expect(both, first_of(end));
    kernel_call<int>("thrust::set_union", n, [&] {
        end = thrust::set_union(d_a.begin(), d_a.end(), d_b.begin(), d_b.end(), out.begin());
    });
    expect(either, first_of(end));
    kernel_call<int>("thrust::set_difference", n, [&] {
        end = thrust::set_difference(d_b.begin(), d_b.end(), d_a.begin(), d_a.end(), out.begin());
    });
    expect(only, first_of(end));
}

// A dense histogram: sort, upper_bound of every bin, differences.
static void test_histogram(int n)
{
    const int bins = 100;
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> numbers(n), expected(bins), firsts(bins);
    for (int i = 0; i < n; ++i)
        ++expected[numbers[i] = (in[i] + 1000) % bins];
    for (int b = 1; b < bins; ++b)
        firsts[b] = firsts[b - 1] + expected[b - 1];
    thrust::device_vector<int> data(numbers), counts(bins), lower(bins);
    kernel_call<int>("a histogram by sort and upper_bound", n, [&] {
        thrust::sort(data.begin(), data.end());
        thrust::counting_iterator<int> bin(0);
        thrust::upper_bound(data.begin(), data.end(), bin, bin + bins, counts.begin());
        thrust::adjacent_difference(counts.begin(), counts.end(), counts.begin());
        thrust::lower_bound(data.begin(), data.end(), bin, bin + bins, lower.begin());
    });
    expect(expected, to_host(counts), "bins");
    expect(firsts, to_host(lower), "lower bounds");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_sorts<int>(n);
        if (n < 100000)
            test_sorts<item>(n);
        test_merges(n);
        test_histogram(n);
    }
    return finish();
}
