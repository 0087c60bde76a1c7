// cub::DeviceHistogram: even bins, bins with given bounds, four channels; few bins (shared memory)
// and many (global atomics); rows with a gap behind each.
#include "common.cuh"

#include <cub/device/device_histogram.cuh>

#include <cuda/std/array>

// The bin of a sample between levels[0] and the last level; -1 = outside.
template <typename S, typename L> static int bin_of(S sample, const std::vector<L> &levels)
{
    for (size_t b = 0; b + 1 < levels.size(); ++b)
        if (levels[b] <= sample && sample < levels[b + 1])
            return static_cast<int>(b);
    return -1;
}

template <typename S, typename L> static void test_even(int n, int bins, L low, L high)
{
    const std::vector<S> in = random_values<S>(n);
    std::vector<int> expected(bins);
    const double width = (static_cast<double>(high) - static_cast<double>(low)) / bins;
    for (S v : in)
        if (static_cast<L>(v) >= low && static_cast<L>(v) < high)
            ++expected[static_cast<int>((static_cast<double>(v) - static_cast<double>(low)) /
                                        width)];
    device_buffer<S> d_in(in);
    device_buffer<int> d_bins(bins);
    cub_call<S>("DeviceHistogram::HistogramEven", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(storage, bytes, d_in.data, d_bins.data, bins + 1,
                                                   low, high, n);
    });
    expect(expected, d_bins, "bins");
}

template <typename S> static void test_range(int n)
{
    const std::vector<S> in = random_values<S>(n);
    const std::vector<S> levels{-8, -7, -3, -2, 0, 1, 2, 5, 7};
    const int bins = static_cast<int>(levels.size()) - 1;
    std::vector<int> expected(bins);
    for (S v : in)
        if (int bin = bin_of(v, levels); bin >= 0)
            ++expected[bin];
    device_buffer<S> d_in(in), d_levels(levels);
    device_buffer<int> d_bins(bins);
    cub_call<S>("DeviceHistogram::HistogramRange", n, [&](void *storage, size_t &bytes) {
        return cub::DeviceHistogram::HistogramRange(storage, bytes, d_in.data, d_bins.data,
                                                    bins + 1, d_levels.data, n);
    });
    expect(expected, d_bins, "bins");
}

// Three of four interleaved channels, of bytes, in rows of `width` pixels with 3 unused behind.
static void test_channels(int n)
{
    const int width = n < 64 ? n : 64, rows = width ? n / width : 0, stride = width + 3, bins = 16;
    const std::vector<unsigned char> in = random_values<unsigned char>(rows * stride * 4);
    std::vector<int> expected[3];
    for (int c = 0; c < 3; ++c) {
        expected[c].resize(bins);
        for (int y = 0; y < rows; ++y)
            for (int x = 0; x < width; ++x)
                ++expected[c][in[(y * stride + x) * 4 + c] / (256 / bins)];
    }
    device_buffer<unsigned char> d_in(in);
    device_buffer<int> d_first(bins), d_second(bins), d_third(bins);
    const cuda::std::array<int *, 3> histograms{d_first.data, d_second.data, d_third.data};
    const cuda::std::array<int, 3> levels{bins + 1, bins + 1, bins + 1}, low{}, high{256, 256, 256};
    cub_call<unsigned char>("DeviceHistogram::MultiHistogramEven", n,
                            [&](void *storage, size_t &bytes) {
                                return cub::DeviceHistogram::MultiHistogramEven<4, 3>(
                                    storage, bytes, d_in.data, histograms, levels, low, high, width,
                                    rows, static_cast<size_t>(stride) * 4);
                            });
    expect(expected[0], d_first, "first channel");
    expect(expected[1], d_second, "second channel");
    expect(expected[2], d_third, "third channel");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_even<int>(n, 20, -1000, 1000);
        test_even<int>(n, 1000, -1000, 1000); // more than shared memory is used for
        test_even<int64, int64>(n, 64, -1000000000000, 600000000000);
        test_even<float>(n, 8, -8.0f, 8.0f);
        test_even<unsigned char>(n, 256, 0, 256);
        test_range<int>(n);
        test_range<float>(n);
        test_channels(n);
    }
    return finish();
}
