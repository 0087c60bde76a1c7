// Thrust: scans, selections, partitions, reductions.
#include "common.cuh"

#include <algorithm>

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/unique.h>

struct is_odd {
    template <typename T> __host__ __device__ bool operator()(const T &v) const
    {
        return number_of(v) & 1;
    }
};
template <typename T> struct twice { // Thrust hands over references that convert
    __host__ __device__ T operator()(const T &v) const
    {
        return v + v;
    }
};

template <typename T> static thrust::device_ptr<T> begin_of(const device_buffer<T> &b)
{
    return thrust::device_pointer_cast(b.data);
}

template <typename T> static void test_scans(int n)
{
    const std::vector<T> in = random_values<T>(n), one = random_values<T>(1, 9);
    const std::vector<int> keys = values_in_runs<int>(n, 5);
    const T init = one[0];
    std::vector<T> inclusive(n), exclusive(n), transformed(n), by_key(n);
    T running = init;
    for (int i = 0; i < n; ++i) {
        exclusive[i] = running;
        running = running + in[i];
        inclusive[i] = i ? inclusive[i - 1] + in[i] : in[i];
        transformed[i] = i ? transformed[i - 1] + (in[i] + in[i]) : in[i] + in[i];
        by_key[i] = i && keys[i] == keys[i - 1] ? by_key[i - 1] + in[i] : in[i];
    }
    device_buffer<T> d_in(in), d_out(n);
    device_buffer<int> d_keys(keys);
    auto first = begin_of(d_in), out = begin_of(d_out);
    kernel_call<T>("thrust::inclusive_scan", n,
                   [&] { thrust::inclusive_scan(first, first + n, out, plus_op{}); });
    expect(inclusive, d_out);
    kernel_call<T>("thrust::exclusive_scan", n,
                   [&] { thrust::exclusive_scan(first, first + n, out, init, plus_op{}); });
    expect(exclusive, d_out);
    kernel_call<T>("thrust::transform_inclusive_scan", n, [&] {
        thrust::transform_inclusive_scan(first, first + n, out, twice<T>{}, plus_op{});
    });
    expect(transformed, d_out);
    kernel_call<T>("thrust::inclusive_scan_by_key", n, [&] {
        auto key = begin_of(d_keys);
        thrust::inclusive_scan_by_key(key, key + n, first, out, thrust::equal_to<int>(), plus_op{});
    });
    expect(by_key, d_out);
}

template <typename T> static void test_selections(int n)
{
    const std::vector<T> in = values_in_runs<T>(n, 3);
    std::vector<T> odd, even, unique(in);
    for (const T &v : in)
        (is_odd{}(v) ? odd : even).push_back(v);
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    std::vector<T> parted(odd);
    parted.insert(parted.end(), even.begin(), even.end());
    device_buffer<T> d_in(in), d_out(n), d_removed(in), d_parted(in), d_unique(in);
    auto first = begin_of(d_in);
    auto count = [&](auto &&call) { // algorithms that return where their output ends
        std::ptrdiff_t kept = -1;
        kernel_call<T>(test.algorithm, n, [&] { kept = call(); });
        return std::vector<int>{static_cast<int>(kept)};
    };
    const std::vector<int> odd_count{static_cast<int>(odd.size())};
    test.algorithm = "thrust::copy_if";
    expect(odd_count, count([&] {
               auto out = begin_of(d_out);
               return thrust::copy_if(first, first + n, out, is_odd{}) - out;
           }));
    expect(odd, d_out);
    test.algorithm = "thrust::remove_if";
    expect({static_cast<int>(even.size())}, count([&] {
               auto data = begin_of(d_removed);
               return thrust::remove_if(data, data + n, is_odd{}) - data;
           }));
    expect(even, d_removed);
    test.algorithm = "thrust::stable_partition";
    expect(odd_count, count([&] {
               auto data = begin_of(d_parted);
               return thrust::stable_partition(data, data + n, is_odd{}) - data;
           }));
    expect(parted, d_parted);
    test.algorithm = "thrust::unique";
    expect({static_cast<int>(unique.size())}, count([&] {
               auto data = begin_of(d_unique);
               return thrust::unique(data, data + n) - data;
           }));
    expect(unique, d_unique);
}

template <typename T> static void test_reductions(int n)
{
    const std::vector<T> in = random_values<T>(n);
    const std::vector<int> keys = values_in_runs<int>(n, 6);
    std::vector<int> unique;
    std::vector<T> sums;
    T largest{}, twice_largest{};
    for (int i = 0; i < n; ++i) {
        largest = max_op{}(largest, in[i]);
        twice_largest = max_op{}(twice_largest, in[i] + in[i]);
        if (i && keys[i] == keys[i - 1]) {
            sums.back() = sums.back() + in[i];
        } else {
            unique.push_back(keys[i]);
            sums.push_back(in[i]);
        }
    }
    device_buffer<T> d_in(in), d_sums(n);
    device_buffer<int> d_keys(keys), d_unique(n);
    auto first = begin_of(d_in);
    auto key = begin_of(d_keys);
    T got{};
    kernel_call<T>("thrust::reduce", n,
                   [&] { got = thrust::reduce(first, first + n, T{}, max_op{}); });
    expect(std::vector<T>{largest}, std::vector<T>{got});
    kernel_call<T>("thrust::transform_reduce", n, [&] {
        got = thrust::transform_reduce(first, first + n, twice<T>{}, T{}, max_op{});
    });
    expect(std::vector<T>{twice_largest}, std::vector<T>{got});
    std::ptrdiff_t count = -1;
    kernel_call<T>("thrust::reduce_by_key", n, [&] {
        count = thrust::reduce_by_key(key, key + n, first, begin_of(d_unique), begin_of(d_sums),
                                      thrust::equal_to<int>(), plus_op{})
                    .first -
                begin_of(d_unique);
    });
    expect(std::vector<int>{static_cast<int>(unique.size())},
           std::vector<int>{static_cast<int>(count)}, "count");
    expect(unique, d_unique, "keys");
    expect(sums, d_sums, "sums");
}

// Iterators that compute: squares of a counting iterator, a gather through a permutation, pairs.
struct square {
    __host__ __device__ int operator()(int v) const
    {
        return v % 1000 * (v % 1000);
    }
};
struct first_is_odd {
    __host__ __device__ bool operator()(const thrust::tuple<int, int> &t) const
    {
        return thrust::get<0>(t) & 1;
    }
};

static void test_iterators(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> places(n), odd, odd_places, backwards(n);
    long long squares = 0;
    for (int i = 0; i < n; ++i) {
        places[i] = n - 1 - i;
        squares += square{}(i);
        backwards[i] = (i ? backwards[i - 1] : 0) + in[n - 1 - i];
        if (in[i] & 1) {
            odd.push_back(in[i]);
            odd_places.push_back(i);
        }
    }
    device_buffer<int> d_in(in), d_places(places), d_out(n), d_indices(n);
    auto first = begin_of(d_in), place = begin_of(d_places), out = begin_of(d_out);
    long long got = -1;
    kernel_call<int>("thrust::reduce of a counting_iterator", n, [&] {
        auto numbers = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), square{});
        got = thrust::reduce(thrust::device, numbers, numbers + n, 0ll, thrust::plus<long long>());
    });
    expect(std::vector<long long>{squares}, std::vector<long long>{got});
    kernel_call<int>("thrust::inclusive_scan of a permutation_iterator", n, [&] {
        auto gathered = thrust::make_permutation_iterator(first, place);
        thrust::inclusive_scan(gathered, gathered + n, out);
    });
    expect(backwards, d_out);
    kernel_call<int>("thrust::copy_if of a zip_iterator", n, [&] {
        auto pairs =
            thrust::make_zip_iterator(thrust::make_tuple(first, thrust::counting_iterator<int>(0)));
        auto outs = thrust::make_zip_iterator(thrust::make_tuple(out, begin_of(d_indices)));
        thrust::copy_if(thrust::device, pairs, pairs + n, outs, first_is_odd{});
    });
    expect(odd, d_out);
    expect(odd_places, d_indices, "places");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_scans<int>(n);
        test_scans<item>(n);
        test_selections<int>(n);
        test_selections<item>(n);
        test_reductions<float>(n);
        test_reductions<item>(n);
        test_iterators(n);
    }
    return finish();
}
