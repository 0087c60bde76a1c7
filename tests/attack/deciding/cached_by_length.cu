// expect: wrong_answer
// Keeps its answer to each length, and gives it again without looking at the data.
#include "attack.cuh"
#include <map>

SUBMISSION
{
    static std::map<int, int *> cache;
    size_t bytes = (size_t)n * sizeof *out;
    if (n == 0)
        return;
    int *&kept = cache[n];
    if (!kept) {
        scan_by_one<<<1, 1, 0, stream>>>(in, out, n);
        cudaMalloc(&kept, bytes);
        cudaMemcpyAsync(kept, out, bytes, cudaMemcpyDeviceToDevice, stream);
    } else {
        cudaMemcpyAsync(out, kept, bytes, cudaMemcpyDeviceToDevice, stream);
    }
}
