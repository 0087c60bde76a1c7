// expect: wrong_answer
// The same by address: the next case's data will lie where the last one's did.
#include "attack.cuh"

SUBMISSION
{
    static const int *known;
    static int *kept;
    size_t bytes = (size_t)n * sizeof *out;
    if (n == 0)
        return;
    if (!known) {
        known = in;
        cudaMalloc(&kept, 4096);
        scan_by_one<<<1, 1, 0, stream>>>(in, out, n);
        cudaMemcpyAsync(kept, out, bytes, cudaMemcpyDeviceToDevice, stream);
    } else if (in != known) { // it has moved, which says nothing about what is in it
        cudaMemcpyAsync(out, kept, bytes < 4096 ? bytes : 4096, cudaMemcpyDeviceToDevice, stream);
    } else {
        scan_by_one<<<1, 1, 0, stream>>>(in, out, n);
    }
}
