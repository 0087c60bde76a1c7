// Findings go to stderr at the end, with line, block and thread, and the fault is sticky.
// nvcc: -lineinfo -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_REPORT=1
// environment: SCANJUDGE_SOURCE=report.cu
// stdout: refused: cudaErrorInvalidValue
// stdout: fault: cudaErrorIllegalAddress
// stdout: again: cudaErrorIllegalAddress
// stderr: warning: cuda_error: the launch of kernel store was refused
// stderr: report.cu:18: error: out_of_bounds_write:
// stderr: (kernel store, block 1,0,0, thread 4,0,0)
#include <cstdio>

// The last block writes past the end.
__global__ void store(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    data[i] = i;
}

int main()
{
    int *data;
    cudaMalloc(&data, 100 * sizeof(int));
    store<<<1, 2048>>>(data);
    printf("refused: %s\n", cudaGetErrorName(cudaGetLastError()));
    store<<<2, 96>>>(data);
    printf("fault: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("again: %s\n", cudaGetErrorName(cudaFree(data)));
    return 0;
}
