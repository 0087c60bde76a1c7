// cub::DeviceScan by key: the scan starts anew where neighbouring keys differ.
#include "common.cuh"

#include <cub/device/device_scan.cuh>

template <typename T, typename Op>
static std::vector<T> inclusive(const std::vector<int> &keys, const std::vector<T> &in, Op op)
{
    std::vector<T> out(in);
    for (size_t i = 1; i < in.size(); ++i)
        if (keys[i] == keys[i - 1])
            out[i] = op(out[i - 1], in[i]);
    return out;
}

template <typename T, typename Op>
static std::vector<T> exclusive(const std::vector<int> &keys, const std::vector<T> &in, Op op,
                                T init)
{
    std::vector<T> out(in.size());
    T running = init;
    for (size_t i = 0; i < in.size(); ++i) {
        if (i == 0 || keys[i] != keys[i - 1])
            running = init;
        out[i] = running;
        running = op(running, in[i]);
    }
    return out;
}

template <typename T> static void test_size(int n, int longest)
{
    const std::vector<int> keys = values_in_runs<int>(n, longest);
    const std::vector<T> in = random_values<T>(n), one = random_values<T>(1, 5);
    const T init = one[0];
    device_buffer<int> d_keys(keys);
    device_buffer<T> d_in(in);
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::InclusiveSumByKey", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::InclusiveSumByKey(storage, bytes, d_keys.data, d_in.data,
                                                      d_out.data, n);
        });
        expect(inclusive(keys, in, plus_op{}), d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::ExclusiveSumByKey", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSumByKey(storage, bytes, d_keys.data, d_in.data,
                                                      d_out.data, n);
        });
        expect(exclusive(keys, in, plus_op{}, T{}), d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::InclusiveScanByKey(max)", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::InclusiveScanByKey(storage, bytes, d_keys.data, d_in.data,
                                                       d_out.data, max_op{}, n);
        });
        expect(inclusive(keys, in, max_op{}), d_out);
    }
    {
        device_buffer<T> d_out(n);
        cub_call<T>("DeviceScan::ExclusiveScanByKey(plus)", n, [&](void *storage, size_t &bytes) {
            return cub::DeviceScan::ExclusiveScanByKey(storage, bytes, d_keys.data, d_in.data,
                                                       d_out.data, plus_op{}, init, n);
        });
        expect(exclusive(keys, in, plus_op{}, init), d_out);
    }
}

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_size<T>(n, 6);
        if (n > 255)
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
