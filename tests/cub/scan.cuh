// cub::DeviceScan, without keys, on one type.
#pragma once

#include "common.cuh"

#include <cub/device/device_scan.cuh>

template <typename T, typename Op> std::vector<T> inclusive(const std::vector<T> &in, Op op)
{
    std::vector<T> out(in);
    for (size_t i = 1; i < in.size(); ++i)
        out[i] = op(out[i - 1], in[i]);
    return out;
}

template <typename T, typename Op> std::vector<T> exclusive(const std::vector<T> &in, Op op, T init)
{
    std::vector<T> out(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
        out[i] = init;
        init = op(init, in[i]);
    }
    return out;
}

template <typename T> void test_sums(int n)
{
    const std::vector<T> in = random_values<T>(n);
    device_buffer<T> d_in(in);
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::InclusiveSum", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::InclusiveSum(storage, bytes, d_in.data, d_out.data, n);
        });
        expect(inclusive(in, plus_op{}), d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::ExclusiveSum", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSum(storage, bytes, d_in.data, d_out.data, n);
        });
        expect(exclusive(in, plus_op{}, T{}), d_out);
    }
}

template <typename T> void test_scans(int n)
{
    const std::vector<T> in = random_values<T>(n, 3), one = random_values<T>(1, 4);
    const T init = one[0];
    device_buffer<T> d_in(in), d_init(one);
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::InclusiveScan(max)", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::InclusiveScan(storage, bytes, d_in.data, d_out.data, max_op{},
                                                  n);
        });
        expect(inclusive(in, max_op{}), d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::ExclusiveScan(max)", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::ExclusiveScan(storage, bytes, d_in.data, d_out.data, max_op{},
                                                  init, n);
        });
        expect(exclusive(in, max_op{}, init), d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::InclusiveScanInit(plus)", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::InclusiveScanInit(storage, bytes, d_in.data, d_out.data,
                                                      plus_op{}, init, n);
        });
        std::vector<T> expected = exclusive(in, plus_op{}, init);
        for (int i = 0; i < n; ++i)
            expected[i] = expected[i] + in[i];
        expect(expected, d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub::FutureValue<T> future(d_init.data);
        cub_call<T>("DeviceScan::ExclusiveScan(plus, FutureValue)", n,
                    [&](void *storage, size_t &bytes) {
                        return cub::DeviceScan::ExclusiveScan(storage, bytes, d_in.data, d_out.data,
                                                              plus_op{}, future, n);
                    });
        expect(exclusive(in, plus_op{}, init), d_out);
    }
    {
        device_buffer<T> d_data(in);
        cub_call<T>("DeviceScan::InclusiveSum in place", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::InclusiveSum(storage, bytes, d_data.data, n);
        });
        expect(inclusive(in, plus_op{}), d_data);
    }
}
