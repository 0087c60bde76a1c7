// cub::DeviceRadixSort on 64-bit keys and on bytes.
#include "radix_sort.cuh"

int main(int argc, char **argv)
{
    start(argc, argv);
    test_sorts<int64, int>();
    return finish();
}
