// cub::DeviceRadixSort on 32-bit keys.
#include "radix_sort.cuh"

int main(int argc, char **argv)
{
    start(argc, argv);
    test_sorts<int, int>();
    test_sorts<float, item>();
    return finish();
}
