// cub::DevicePartition: the kept ones in order at the front, the others in reverse order at the
// back; three ways: two outputs in order, the rest in order.
#include "common.cuh"

#include <cub/device/device_partition.cuh>

struct is_odd {
    template <typename T> __host__ __device__ bool operator()(const T &v) const
    {
        return number_of(v) & 1;
    }
};
struct is_third {
    template <typename T> __host__ __device__ bool operator()(const T &v) const
    {
        return number_of(v) % 3 == 0;
    }
};

template <typename T> static void test_size(int n)
{
    const std::vector<T> in = random_values<T>(n);
    const std::vector<int> flags = random_values<int>(n, 7);
    std::vector<char> set(n);
    std::vector<T> odd, flagged, first, second, rest;
    for (int i = 0; i < n; ++i) {
        set[i] = flags[i] % 5 < 2;
        if (is_odd{}(in[i]))
            odd.push_back(in[i]);
        if (set[i])
            flagged.push_back(in[i]);
        (is_third{}(in[i]) ? first : is_odd{}(in[i]) ? second : rest).push_back(in[i]);
    }
    const int odd_count = static_cast<int>(odd.size());
    const int flagged_count = static_cast<int>(flagged.size());
    for (int i = n - 1; i >= 0; --i) {
        if (!is_odd{}(in[i]))
            odd.push_back(in[i]);
        if (!set[i])
            flagged.push_back(in[i]);
    }
    device_buffer<T> d_in(in);
    device_buffer<char> d_set(set);
    {
        device_buffer<T> d_out(n);
        device_buffer<int> d_count(1);
        cub_call<T>("DevicePartition::If", n, [&](void *storage, size_t &bytes) {
            return cub::DevicePartition::If(storage, bytes, d_in.data, d_out.data, d_count.data, n,
                                            is_odd{});
        });
        expect_one(odd_count, d_count, "count");
        expect(odd, d_out);
    }
    {
        device_buffer<T> d_out(n);
        device_buffer<int> d_count(1);
        cub_call<T>("DevicePartition::Flagged", n, [&](void *storage, size_t &bytes) {
            return cub::DevicePartition::Flagged(storage, bytes, d_in.data, d_set.data, d_out.data,
                                                 d_count.data, n);
        });
        expect_one(flagged_count, d_count, "count");
        expect(flagged, d_out);
    }
    {
        device_buffer<T> d_first(n), d_second(n), d_rest(n);
        device_buffer<int> d_counts(2);
        cub_call<T>("DevicePartition::If three ways", n, [&](void *storage, size_t &bytes) {
            return cub::DevicePartition::If(storage, bytes, d_in.data, d_first.data, d_second.data,
                                            d_rest.data, d_counts.data, n, is_third{}, is_odd{});
        });
        expect({static_cast<int>(first.size()), static_cast<int>(second.size())}, d_counts,
               "counts");
        expect(first, d_first, "first");
        expect(second, d_second, "second");
        expect(rest, d_rest, "rest");
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
