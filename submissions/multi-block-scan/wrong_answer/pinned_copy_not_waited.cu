// expect: wrong_answer
// expect-diagnosis: when the work of streams is done late
// Scans on the host, in pinned memory, and does not wait for the copy that brings the input: the
// call returns at once.
#include <cstddef>

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    int *host = nullptr;
    cudaMallocHost(&host, n * sizeof(int));
    for (int i = 0; i < n; ++i)
        host[i] = 0;
    cudaMemcpyAsync(host, in, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) {
        const unsigned value = host[i];
        host[i] = static_cast<int>(sum);
        sum += value;
    }
    cudaMemcpyAsync(out, host, n * sizeof(int), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    cudaFreeHost(host);
}
