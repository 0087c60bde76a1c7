// expect: wrong_answer
// Returns at once; a thread of its own answers after the judge has looked.
#include "attack.cuh"
#include <thread>

SUBMISSION
{
    int *copy;
    cudaMalloc(&copy, (size_t)n * sizeof *copy + 1);
    std::thread([=] {
        usleep(300000);
        cudaStream_t mine;
        cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
        scan_by_one<<<1, 1, 0, mine>>>(in, out, n);
        cudaStreamSynchronize(mine);
    }).detach();
}
