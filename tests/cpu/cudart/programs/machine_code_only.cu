// A program without PTX cannot run here; the report names the flag that it needs.
// nvcc: -gencode arch=compute_75,code=sm_75
// environment: SCANJUDGE_REPORT=1
// stdout: cudaErrorNoKernelImageForDevice
// stderr: error: unsupported: the program has machine code only
// stderr: -gencode arch=compute_75,code=compute_75
#include <cstdio>

__global__ void nothing()
{
}

int main()
{
    nothing<<<1, 1>>>();
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
