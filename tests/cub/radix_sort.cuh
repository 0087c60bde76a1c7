// cub::DeviceRadixSort on one type of key: keys, pairs, both directions, some bits only, buffers
// that change roles. Equal keys keep their order.
#pragma once

#include "common.cuh"

#include <algorithm>
#include <numeric>

#include <cub/device/device_radix_sort.cuh>

// The bits from `begin` to `end` of a key, as the sort orders them.
template <typename T> unsigned long long ordered_bits(T v, int begin, int end)
{
    unsigned long long bits = 0, top = 1ull << (sizeof(T) * 8 - 1);
    std::memcpy(&bits, &v, sizeof v);
    if (std::is_floating_point<T>::value)
        bits = bits & top ? ~bits : bits | top;
    else if (std::is_signed<T>::value)
        bits ^= top;
    bits >>= begin;
    return end - begin == 64 ? bits : bits & ((1ull << (end - begin)) - 1);
}

// Random bits, but numbers; floats of both signs and with both zeros.
template <typename T> std::vector<T> sort_keys(int n, unsigned seed, bool few)
{
    std::vector<T> out(n);
    for (int i = 0; i < n; ++i) {
        unsigned long long bits = mix(static_cast<unsigned long long>(seed) << 32 | i);
        if (few)
            bits %= 37;
        if (std::is_floating_point<T>::value)
            out[i] = few ? static_cast<T>(static_cast<int>(bits) - 18) / 4
                         : static_cast<T>(static_cast<int>(bits >> 34) - (1 << 29)) / 1024;
        else
            out[i] = static_cast<T>(few ? bits - 18 : bits);
    }
    return out;
}

template <typename T>
std::vector<int> sorted_order(const std::vector<T> &keys, bool descending, int begin, int end)
{
    std::vector<int> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        unsigned long long x = ordered_bits(keys[a], begin, end);
        unsigned long long y = ordered_bits(keys[b], begin, end);
        return descending ? x > y : x < y;
    });
    return order;
}

template <typename K, typename V>
std::vector<V> permuted(const std::vector<K> &order, const std::vector<V> &values)
{
    std::vector<V> out(values.size());
    for (size_t i = 0; i < order.size(); ++i)
        out[i] = values[order[i]];
    return out;
}

template <typename K, typename V> void test_sort(int n, bool few, int begin, int end)
{
    const std::vector<K> keys = sort_keys<K>(n, 11, few);
    const std::vector<V> values = random_values<V>(n, 12);
    device_buffer<K> d_keys(keys), d_keys_out(n);
    device_buffer<V> d_values(values), d_values_out(n);
    const std::vector<int> up = sorted_order(keys, false, begin, end);
    const std::vector<int> down = sorted_order(keys, true, begin, end);
    cub_call<K>("DeviceRadixSort::SortKeys", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(storage, bytes, d_keys.data, d_keys_out.data, n,
                                              begin, end);
    });
    expect(permuted(up, keys), d_keys_out, "keys");
    cub_call<K>("DeviceRadixSort::SortKeysDescending", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, d_keys.data,
                                                        d_keys_out.data, n, begin, end);
    });
    expect(permuted(down, keys), d_keys_out, "keys");
    cub_call<K>("DeviceRadixSort::SortPairs", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, d_keys.data, d_keys_out.data,
                                               d_values.data, d_values_out.data, n, begin, end);
    });
    expect(permuted(up, keys), d_keys_out, "keys");
    expect(permuted(up, values), d_values_out, "values");
    device_buffer<K> d_keys_copy(keys);
    cub::DoubleBuffer<K> key_buffers(d_keys_copy.data, d_keys_out.data);
    cub::DoubleBuffer<V> value_buffers(d_values.data, d_values_out.data);
    cub_call<K>("DeviceRadixSort::SortPairsDescending(DoubleBuffer)", n,
                [&](void *storage, size_t &bytes) {
                    return cub::DeviceRadixSort::SortPairsDescending(storage, bytes, key_buffers,
                                                                     value_buffers, n, begin, end);
                });
    expect(permuted(down, keys), key_buffers.selector ? d_keys_out : d_keys_copy, "keys");
    expect(permuted(down, values), value_buffers.selector ? d_values_out : d_values, "values");
}

// Whole keys of any bits, few different keys, and the bits of a small range.
template <typename K, typename V> void test_sorts()
{
    const int bits = static_cast<int>(sizeof(K)) * 8;
    for (int n : sizes()) {
        test_sort<K, V>(n, false, 0, bits);
        if (n == 257 || n == 4097) {
            test_sort<K, V>(n, true, 0, bits);
            test_sort<K, V>(n, false, 0, 1);
            test_sort<K, V>(n, false, 3, 14);
            test_sort<K, V>(n, false, bits - 4, bits);
        }
    }
}
