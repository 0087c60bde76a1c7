// cub::DeviceScan, without keys, on every type.
#include "scan.cuh"

template <typename T> static void test_type()
{
    for (int n : sizes()) {
        test_sums<T>(n);
        test_scans<T>(n);
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
