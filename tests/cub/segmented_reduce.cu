// cub::DeviceSegmentedReduce over segments of many lengths, empty ones among them.
#include "common.cuh"

#include <cub/device/device_segmented_reduce.cuh>

// Commutes on every type.
struct join_op {
    template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};

// Segment ends, with lengths from 0 to 3 * `typical`.
static std::vector<int> segments(int n, int typical)
{
    std::vector<int> offsets{0};
    for (int i = 0; offsets.back() < n; ++i) {
        int next = offsets.back() + static_cast<int>(mix(i + 99) % (3 * typical + 1));
        offsets.push_back(next < n ? next : n);
    }
    return offsets;
}

template <typename T> static void test_size(int n, int typical)
{
    const std::vector<T> in = random_values<T>(n), one = random_values<T>(1, 4);
    const std::vector<int> offsets = segments(n, typical);
    const int count = static_cast<int>(offsets.size()) - 1;
    std::vector<T> sums(count), joined(count);
    std::vector<int> smallest(count, -1);
    for (int s = 0; s < count; ++s) {
        T sum{}, join = one[0];
        for (int i = offsets[s]; i < offsets[s + 1]; ++i) {
            sum = sum + in[i];
            join = join_op{}(join, in[i]);
            if (smallest[s] < 0 || in[i] < in[offsets[s] + smallest[s]])
                smallest[s] = i - offsets[s];
        }
        sums[s] = sum;
        joined[s] = join;
    }
    device_buffer<T> d_in(in), d_out(count);
    device_buffer<int> d_offsets(offsets);
    const int *begins = d_offsets.data, *ends = d_offsets.data + 1;
    cub_call<T>("DeviceSegmentedReduce::Reduce", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Reduce(storage, bytes, d_in.data, d_out.data, count,
                                                  begins, ends, join_op{}, one[0]);
    });
    expect(joined, d_out);
    if constexpr (!std::is_same_v<T, item>) {
        cub_call<T>("DeviceSegmentedReduce::Sum", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSegmentedReduce::Sum(storage, bytes, d_in.data, d_out.data, count,
                                                   begins, ends);
        });
        expect(sums, d_out);
        device_buffer<cub::KeyValuePair<int, T>> d_pairs(count);
        cub_call<T>("DeviceSegmentedReduce::ArgMin", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceSegmentedReduce::ArgMin(storage, bytes, d_in.data, d_pairs.data,
                                                      count, begins, ends);
        });
        const std::vector<cub::KeyValuePair<int, T>> pairs = d_pairs.read(count);
        std::vector<int> found(count, -1);
        std::vector<T> minima, found_minima;
        for (int s = 0; s < count; ++s)
            if (smallest[s] >= 0) { // an empty segment gives the largest number
                found[s] = pairs[s].key;
                found_minima.push_back(pairs[s].value);
                minima.push_back(in[offsets[s] + smallest[s]]);
            }
        expect(smallest, found, "index");
        expect(minima, found_minima, "min");
    }
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_size<T>(n, 40);
        if (n > 4095)
            test_size<T>(n, 3000);
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
