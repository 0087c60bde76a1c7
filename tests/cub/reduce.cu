// cub::DeviceReduce. The operators on a struct commute here: CUB's reduce wants that.
#include "common.cuh"

#include <climits>

#include <cub/device/device_reduce.cuh>

// Commutative on every type: the larger, field by field.
struct join_op {
    template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
    __host__ __device__ item operator()(const item &a, const item &b) const
    {
        return {a.key < b.key ? b.key : a.key, static_cast<short>(a.count + b.count),
                a.x < b.x ? a.x : b.x};
    }
};

// Makes a T from an int.
template <typename T> struct widen_op {
    __host__ __device__ T operator()(int v) const
    {
        return static_cast<T>(v % 8);
    }
};
template <> struct widen_op<item> {
    __host__ __device__ item operator()(int v) const
    {
        return {v, static_cast<short>(v & 7), static_cast<float>(v)};
    }
};

template <typename T> static T init_of()
{
    return static_cast<T>(-900);
}
template <> item init_of<item>()
{
    return {INT_MIN, 3, 1e9f};
}

template <typename T> static void test_numbers(int n)
{
    const std::vector<T> in = random_values<T>(n);
    device_buffer<T> d_in(in), d_out(1);
    T sum = 0;
    int smallest = 0, largest = 0;
    for (int i = 0; i < n; ++i) {
        sum += in[i];
        smallest = in[i] < in[smallest] ? i : smallest;
        largest = in[largest] < in[i] ? i : largest;
    }
    cub_call<T>("DeviceReduce::Sum", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, d_in.data, d_out.data, n);
    });
    expect_one(sum, d_out, "sum");
    cub_call<T>("DeviceReduce::Min", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Min(storage, bytes, d_in.data, d_out.data, n);
    });
    if (n)
        expect_one(in[smallest], d_out, "min");
    cub_call<T>("DeviceReduce::Max", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Max(storage, bytes, d_in.data, d_out.data, n);
    });
    if (n)
        expect_one(in[largest], d_out, "max");
    device_buffer<int64> d_index(1);
    cub_call<T>("DeviceReduce::ArgMin", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::ArgMin(storage, bytes, d_in.data, d_out.data, d_index.data, n);
    });
    if (n) {
        expect_one(in[smallest], d_out, "min");
        expect_one<int64>(smallest, d_index, "index");
    }
    cub_call<T>("DeviceReduce::ArgMax", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::ArgMax(storage, bytes, d_in.data, d_out.data, d_index.data, n);
    });
    if (n) {
        expect_one(in[largest], d_out, "max");
        expect_one<int64>(largest, d_index, "index");
    }
}

template <typename T> static void test_reduce(int n)
{
    const std::vector<T> in = random_values<T>(n, 5);
    const std::vector<int> numbers = random_values<int>(n, 6);
    device_buffer<T> d_in(in), d_out(1);
    device_buffer<int> d_numbers(numbers);
    T expected = init_of<T>(), transformed = expected;
    for (int i = 0; i < n; ++i) {
        expected = join_op{}(expected, in[i]);
        transformed = join_op{}(transformed, widen_op<T>{}(numbers[i]));
    }
    cub_call<T>("DeviceReduce::Reduce", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Reduce(storage, bytes, d_in.data, d_out.data, n, join_op{},
                                         init_of<T>());
    });
    expect_one(expected, d_out, "out");
    cub_call<T>("DeviceReduce::TransformReduce", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::TransformReduce(storage, bytes, d_numbers.data, d_out.data, n,
                                                  join_op{}, widen_op<T>{}, init_of<T>());
    });
    expect_one(transformed, d_out, "out");
}

// The order of a key's values is kept: + on `item` does not commute.
template <typename T> static void test_by_key(int n, int longest)
{
    const std::vector<int> keys = values_in_runs<int>(n, longest);
    const std::vector<T> in = random_values<T>(n, 9);
    std::vector<int> unique;
    std::vector<T> sums;
    for (int i = 0; i < n; ++i)
        if (i > 0 && keys[i] == keys[i - 1]) {
            sums.back() = sums.back() + in[i];
        } else {
            unique.push_back(keys[i]);
            sums.push_back(in[i]);
        }
    device_buffer<int> d_keys(keys), d_unique(n), d_count(1);
    device_buffer<T> d_in(in), d_sums(n);
    cub_call<T>("DeviceReduce::ReduceByKey", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::ReduceByKey(storage, bytes, d_keys.data, d_unique.data, d_in.data,
                                              d_sums.data, d_count.data, plus_op{}, n);
    });
    expect_one(static_cast<int>(unique.size()), d_count, "count");
    expect(unique, d_unique, "keys");
    expect(sums, d_sums, "sums");
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_reduce<T>(n);
        test_by_key<T>(n, 5);
        if (n > 255)
            test_by_key<T>(n, 2500);
        if constexpr (!std::is_same_v<T, item>)
            test_numbers<T>(n);
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
