// cub::DeviceFor, DeviceTransform and DeviceAdjacentDifference.
#include "common.cuh"

#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>

#include <cuda/std/mdspan>

template <typename T> struct twice_at {
    const T *in;
    T *out;
    __device__ void operator()(int i) const
    {
        out[i] = in[i] + in[i];
    }
};
struct twice_in_place {
    template <typename T> __device__ void operator()(T &v) const
    {
        v = v + v;
    }
};
struct count_odd {
    int *count;
    template <typename T> __device__ void operator()(const T &v) const
    {
        if (number_of(v) & 1)
            atomicAdd(count, 1);
    }
};
template <typename T> struct cell {
    const T *in;
    T *out;
    int width;
    __device__ void operator()(int, int y, int x) const
    {
        out[x * 3 + y] = in[y * width + x];
    }
};
struct before_op { // not commutative on any type
    template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return b + b + a;
    }
};

template <typename T> static void test_for(int n)
{
    const std::vector<T> in = random_values<T>(n);
    std::vector<T> twice(n), turned(n / 3 * 3);
    int odd = 0;
    for (int i = 0; i < n; ++i) {
        twice[i] = in[i] + in[i];
        odd += number_of(in[i]) & 1;
    }
    const int width = n / 3;
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < width; ++x)
            turned[x * 3 + y] = in[y * width + x];
    device_buffer<T> d_in(in), d_out(n), d_data(in), d_more(in), d_turned(n);
    device_buffer<int> d_count(std::vector<int>{0});
    kernel_call<T>("DeviceFor::Bulk", n, [&] {
        check(cub::DeviceFor::Bulk(n, twice_at<T>{d_in.data, d_out.data}), "the call");
    });
    expect(twice, d_out);
    kernel_call<T>("DeviceFor::ForEach", n, [&] {
        check(cub::DeviceFor::ForEach(d_data.data, d_data.data + n, twice_in_place{}), "the call");
    });
    expect(twice, d_data);
    kernel_call<T>("DeviceFor::ForEachN", n, [&] {
        check(cub::DeviceFor::ForEachN(d_more.data, n, twice_in_place{}), "the call");
    });
    expect(twice, d_more);
    kernel_call<T>("DeviceFor::ForEachCopyN", n, [&] {
        check(cub::DeviceFor::ForEachCopyN(d_in.data, n, count_odd{d_count.data}), "the call");
    });
    expect_one(odd, d_count, "count");
    if (n > 65537) // its threads stride by two blocks' width only: the work grows with n * n
        return;
    kernel_call<T>("DeviceFor::ForEachInExtents", n, [&] {
        cuda::std::extents<int, 3, cuda::std::dynamic_extent> extents(width);
        check(cub::DeviceFor::ForEachInExtents(extents, cell<T>{d_in.data, d_turned.data, width}),
              "the call");
    });
    expect(turned, d_turned);
}

template <typename T> static void test_transform(int n)
{
    const std::vector<T> a = random_values<T>(n, 1), b = random_values<T>(n, 2);
    std::vector<T> expected(n), left(n), right(n);
    for (int i = 0; i < n; ++i) {
        expected[i] = before_op{}(a[i], b[i]);
        left[i] = i ? before_op{}(a[i], a[i - 1]) : a[i];
        right[i] = i + 1 < n ? before_op{}(a[i], a[i + 1]) : a[i];
    }
    device_buffer<T> d_a(a), d_b(b), d_out(n);
    kernel_call<T>("DeviceTransform::Transform", n, [&] {
        check(cub::DeviceTransform::Transform(cuda::std::make_tuple(d_a.data, d_b.data), d_out.data,
                                              n, before_op{}),
              "the call");
    });
    expect(expected, d_out);
    cub_call<T>("DeviceAdjacentDifference::SubtractLeftCopy", n, [&](void *s, size_t &bytes) {
        return cub::DeviceAdjacentDifference::SubtractLeftCopy(s, bytes, d_a.data, d_out.data, n,
                                                               before_op{});
    });
    expect(left, d_out);
    cub_call<T>("DeviceAdjacentDifference::SubtractRight", n, [&](void *s, size_t &bytes) {
        return cub::DeviceAdjacentDifference::SubtractRight(s, bytes, d_a.data, n, before_op{});
    });
    expect(right, d_a);
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_for<T>(n);
        test_transform<T>(n);
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
