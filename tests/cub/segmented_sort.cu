// cub::DeviceSegmentedSort and cub::DeviceSegmentedRadixSort: tiny, middle and large segments take
// different ways.
#include "radix_sort.cuh"

#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

static std::vector<int> segments(int n, int typical)
{
    std::vector<int> offsets{0};
    for (int i = 0; offsets.back() < n; ++i) {
        int next = offsets.back() + static_cast<int>(mix(i + 7) % (2 * typical + 1));
        offsets.push_back(next < n ? next : n);
    }
    return offsets;
}

// few: DeviceSegmentedRadixSort gives a block to every segment, however small.
template <typename K> static void test_size(int n, int typical, bool few)
{
    const std::vector<K> keys = sort_keys<K>(n, 3, n % 2 == 0);
    const std::vector<int> values = random_values<int>(n, 5), offsets = segments(n, typical);
    const int count = static_cast<int>(offsets.size()) - 1;
    std::vector<int> up(n), down(n);
    std::iota(up.begin(), up.end(), 0);
    std::iota(down.begin(), down.end(), 0);
    const int bits = static_cast<int>(sizeof(K)) * 8;
    for (int s = 0; s < count; ++s) {
        std::stable_sort(up.begin() + offsets[s], up.begin() + offsets[s + 1], [&](int a, int b) {
            return ordered_bits(keys[a], 0, bits) < ordered_bits(keys[b], 0, bits);
        });
        std::stable_sort(down.begin() + offsets[s], down.begin() + offsets[s + 1],
                         [&](int a, int b) {
                             return ordered_bits(keys[a], 0, bits) > ordered_bits(keys[b], 0, bits);
                         });
    }
    device_buffer<K> d_keys(keys), d_keys_out(n);
    device_buffer<int> d_values(values), d_values_out(n), d_offsets(offsets);
    const int *begins = d_offsets.data, *ends = d_offsets.data + 1;
    cub_call<K>("DeviceSegmentedSort::SortKeys", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceSegmentedSort::SortKeys(storage, bytes, d_keys.data, d_keys_out.data, n,
                                                  count, begins, ends);
    });
    expect(permuted(up, keys), d_keys_out, "keys");
    cub_call<K>("DeviceSegmentedSort::StableSortPairsDescending", n,
                [&](void *storage, size_t &bytes) {
                    return cub::DeviceSegmentedSort::StableSortPairsDescending(
                        storage, bytes, d_keys.data, d_keys_out.data, d_values.data,
                        d_values_out.data, n, count, begins, ends);
                });
    expect(permuted(down, keys), d_keys_out, "keys");
    expect(permuted(down, values), d_values_out, "values");
    if (!few)
        return;
    cub_call<K>("DeviceSegmentedRadixSort::SortPairs", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceSegmentedRadixSort::SortPairs(storage, bytes, d_keys.data,
                                                        d_keys_out.data, d_values.data,
                                                        d_values_out.data, n, count, begins, ends);
    });
    expect(permuted(up, keys), d_keys_out, "keys");
    expect(permuted(up, values), d_values_out, "values");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_size<int>(n, 20, n <= 4097);
        if (n > 255)
            test_size<int>(n, 400, n <= 65537);
        if (n > 4097)
            test_size<int>(n, n / 100, true);
        test_size<float>(n, n > 4097 ? n / 300 : 30, true);
    }
    return finish();
}
