/* register: the entry points that nvcc's generated code calls and that no CUDA header declares for
 * C. Their names and shapes are those of crt/host_runtime.h and crt/device_functions.h. */
#ifndef CPU_CUDART_REGISTER_H
#define CPU_CUDART_REGISTER_H

#include "cpu/cudart/runtime.h"

#pragma GCC visibility push(default)

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, const char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            const int *warp_size);
void __cudaRegisterVar(void **handle, char *host, const char *device, const char *name, int ext,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, const char *device, const char *name,
                              int ext, size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);

/* <<<grid, block, shared, stream>>> pushes; the kernel's host stub pops and launches. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared,
                                       void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t dynamic_shared, cudaStream_t stream);

#pragma GCC visibility pop

#endif
