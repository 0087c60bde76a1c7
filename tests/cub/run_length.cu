// cub::DeviceRunLengthEncode.
#include "common.cuh"

#include <cub/device/device_run_length_encode.cuh>

template <typename T> static void test_size(int n, int longest)
{
    const std::vector<T> in = values_in_runs<T>(n, longest);
    std::vector<T> unique;
    std::vector<int> lengths, long_offsets, long_lengths;
    for (int i = 0; i < n; ++i)
        if (i > 0 && in[i] == in[i - 1]) {
            ++lengths.back();
        } else {
            unique.push_back(in[i]);
            lengths.push_back(1);
        }
    for (size_t r = 0, at = 0; r < lengths.size(); at += lengths[r++])
        if (lengths[r] > 1) {
            long_offsets.push_back(static_cast<int>(at));
            long_lengths.push_back(lengths[r]);
        }
    device_buffer<T> d_in(in), d_unique(n);
    device_buffer<int> d_lengths(n), d_offsets(n), d_count(1);
    cub_call<T>("DeviceRunLengthEncode::Encode", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceRunLengthEncode::Encode(storage, bytes, d_in.data, d_unique.data,
                                                  d_lengths.data, d_count.data, n);
    });
    expect_one(static_cast<int>(unique.size()), d_count, "count");
    expect(unique, d_unique, "values");
    expect(lengths, d_lengths, "lengths");
    cub_call<T>("DeviceRunLengthEncode::NonTrivialRuns", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, d_in.data, d_offsets.data,
                                                          d_lengths.data, d_count.data, n);
    });
    expect_one(static_cast<int>(long_offsets.size()), d_count, "count");
    expect(long_offsets, d_offsets, "offsets");
    expect(long_lengths, d_lengths, "lengths");
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_size<T>(n, 3);
        if (n > 31)
            test_size<T>(n, 900);
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
