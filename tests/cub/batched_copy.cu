// cub::DeviceCopy::Batched and cub::DeviceMemcpy::Batched: many ranges at a time, from empty ones
// to ones that several blocks share, at any alignment.
#include "common.cuh"

#include <cub/device/device_copy.cuh>
#include <cub/device/device_memcpy.cuh>

// Lengths of mixed size that add up to n, some 0.
static std::vector<int> lengths_of(int n)
{
    std::vector<int> out;
    for (int i = 0, left = n; left > 0; ++i) {
        unsigned long long bits = mix(i + 5);
        int length = static_cast<int>(bits % 8 == 0   ? bits >> 8 & 0xffff
                                      : bits % 8 == 1 ? 0
                                      : bits % 8 < 5  ? bits >> 8 & 31
                                                      : bits >> 8 & 1023);
        out.push_back(length < left ? length : left);
        left -= out.back();
    }
    return out;
}

// Ranges keep their lengths and change their order: the last one comes first in the output.
template <typename T> static void test_size(int n)
{
    const std::vector<T> in = random_values<T>(n);
    const std::vector<int> lengths = lengths_of(n);
    const int count = static_cast<int>(lengths.size());
    device_buffer<T> d_in(in), d_out(n), d_again(n);
    std::vector<T> expected(n);
    std::vector<const T *> sources(count);
    std::vector<T *> targets(count), more(count);
    std::vector<const void *> byte_sources(count);
    std::vector<void *> byte_targets(count);
    std::vector<int> bytes_each(count);
    for (int i = 0, at = 0, to = n; i < count; at += lengths[i++]) {
        to -= lengths[i];
        sources[i] = d_in.data + at;
        targets[i] = d_out.data + to;
        byte_sources[i] = sources[i];
        byte_targets[i] = d_again.data + to;
        bytes_each[i] = lengths[i] * static_cast<int>(sizeof(T));
        for (int k = 0; k < lengths[i]; ++k)
            expected[to + k] = in[at + k];
    }
    device_buffer<const T *> d_sources(sources);
    device_buffer<T *> d_targets(targets);
    device_buffer<const void *> d_byte_sources(byte_sources);
    device_buffer<void *> d_byte_targets(byte_targets);
    device_buffer<int> d_lengths(lengths), d_bytes(bytes_each);
    cub_call<T>("DeviceCopy::Batched", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceCopy::Batched(storage, bytes, d_sources.data, d_targets.data,
                                        d_lengths.data, count);
    });
    expect(expected, d_out);
    cub_call<T>("DeviceMemcpy::Batched", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceMemcpy::Batched(storage, bytes, d_byte_sources.data, d_byte_targets.data,
                                          d_bytes.data, count);
    });
    expect(expected, d_again);
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
    test_type<unsigned char>();
    test_type<item>();
    return finish();
}
