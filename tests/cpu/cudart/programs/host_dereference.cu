// Host code that dereferences a device pointer dies of it, and is told why.
// nvcc: -gencode arch=compute_75,code=compute_75
// environment: SCANJUDGE_REPORT=1
// signal: 11
// stderr: error: device_pointer_on_host: host code dereferences a device pointer
#include <cstdio>

int main()
{
    int *data;
    cudaMalloc(&data, sizeof(int));
    printf("%d\n", *data);
    return 0;
}
