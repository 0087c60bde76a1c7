// cub::DeviceSelect: what is kept, in its order, and how much it is.
#include "common.cuh"

#include <cub/device/device_select.cuh>

struct is_odd {
    template <typename T> __host__ __device__ bool operator()(const T &v) const
    {
        return number_of(v) & 1;
    }
};

template <typename T> struct output {
    device_buffer<T> values;
    device_buffer<int> count{1};

    explicit output(int n) : values(n)
    {
    }
    void compare(const std::vector<T> &expected)
    {
        expect_one(static_cast<int>(expected.size()), count, "count");
        expect(expected, values);
    }
};

template <typename T> static void test_predicates(int n)
{
    const std::vector<T> in = random_values<T>(n);
    const std::vector<int> flags = random_values<int>(n, 7);
    std::vector<T> odd, flagged, odd_flag;
    std::vector<char> bytes_set(n);
    for (int i = 0; i < n; ++i) {
        bytes_set[i] = flags[i] % 3 == 0;
        if (is_odd{}(in[i]))
            odd.push_back(in[i]);
        if (bytes_set[i])
            flagged.push_back(in[i]);
        if (is_odd{}(flags[i]))
            odd_flag.push_back(in[i]);
    }
    device_buffer<T> d_in(in);
    device_buffer<int> d_flags(flags);
    device_buffer<char> d_set(bytes_set);
    {
        output<T> out(n);
        cub_call<T>("DeviceSelect::If", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSelect::If(storage, bytes, d_in.data, out.values.data, out.count.data,
                                         n, is_odd{});
        });
        out.compare(odd);
    }
    {
        output<T> out(n);
        cub_call<T>("DeviceSelect::Flagged", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSelect::Flagged(storage, bytes, d_in.data, d_set.data,
                                              out.values.data, out.count.data, n);
        });
        out.compare(flagged);
    }
    {
        output<T> out(n);
        cub_call<T>("DeviceSelect::FlaggedIf", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSelect::FlaggedIf(storage, bytes, d_in.data, d_flags.data,
                                                out.values.data, out.count.data, n, is_odd{});
        });
        out.compare(odd_flag);
    }
    {
        device_buffer<T> d_data(in);
        device_buffer<int> d_count(1);
        cub_call<T>("DeviceSelect::If in place", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSelect::If(storage, bytes, d_data.data, d_count.data, n, is_odd{});
        });
        expect_one(static_cast<int>(odd.size()), d_count, "count");
        expect(odd, d_data);
    }
}

template <typename T> static void test_unique(int n, int longest)
{
    const std::vector<T> in = values_in_runs<T>(n, longest);
    const std::vector<int> values = random_values<int>(n, 8);
    std::vector<T> unique;
    std::vector<int> firsts;
    for (int i = 0; i < n; ++i)
        if (i == 0 || in[i] != in[i - 1]) {
            unique.push_back(in[i]);
            firsts.push_back(values[i]);
        }
    device_buffer<T> d_in(in);
    device_buffer<int> d_values(values), d_firsts(n);
    {
        output<T> out(n);
        cub_call<T>("DeviceSelect::Unique", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSelect::Unique(storage, bytes, d_in.data, out.values.data,
                                             out.count.data, n);
        });
        out.compare(unique);
    }
    {
        output<T> out(n);
        cub_call<T>("DeviceSelect::UniqueByKey", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSelect::UniqueByKey(storage, bytes, d_in.data, d_values.data,
                                                  out.values.data, d_firsts.data, out.count.data, n,
                                                  equal_op{});
        });
        out.compare(unique);
        expect(firsts, d_firsts, "values");
    }
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_predicates<T>(n);
        test_unique<T>(n, 4);
        if (n > 255)
            test_unique<T>(n, 2000);
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
