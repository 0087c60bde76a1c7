/* cudaLibrary...: PTX text or a fat binary in memory or in a file. The kernels are read at once. */
#include "cpu/cudart/library.h"

#include "base/file.h"
#include "cpu/cudart/capture.h"

#include <stdlib.h>
#include <string.h>

enum { WRAPPER_MAGIC = 0x466243b1, FILE_MOST = 1 << 30 };
#define CONTAINER_MAGIC 0xba55ed50u

struct wrapper { /* as nvcc makes it: fatbin.h */
    uint32_t magic, version;
    const void *container;
    void *file;
};

static struct map libraries; /* handle: the module itself */

static cudaError_t load(const void *code, cudaLibrary_t *out)
{
    struct rt_module *m = NULL;
    struct wrapper own = {WRAPPER_MAGIC, 1, code, NULL};
    uint32_t magic = 0;
    cudaError_t error = capture_check_unsafe();
    if (error != cudaSuccess)
        return error;
    memcpy(&magic, code, strnlen(code, sizeof magic) == sizeof magic ? sizeof magic : 0);
    if (magic == WRAPPER_MAGIC)
        error = library_load(code, NULL, &m);
    else if (magic == CONTAINER_MAGIC)
        error = library_load(&own, NULL, &m);
    else if (memcmp(&magic, "\177ELF", sizeof magic) == 0)
        error = rt_refuse(cudaErrorNoKernelImageForDevice,
                          "cudaLibraryLoadData: this is machine code; the CPU device needs PTX "
                          "(nvcc -ptx, or -fatbin with -gencode arch=compute_75,code=compute_75)");
    else
        error = library_load(NULL, code, &m);
    if (error != cudaSuccess)
        return error;
    map_put(&libraries, m, m);
    *out = (cudaLibrary_t)(void *)m;
    return cudaSuccess;
}

/* NOLINTBEGIN(readability-non-const-parameter): the signatures are CUDA's */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, enum cudaJitOption *options,
                                void **values, unsigned count, enum cudaLibraryOption *more,
                                void **more_values, unsigned more_count)
{
    (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!out || !code))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = load(code, out);
    return rt_leave(error);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path,
                                    enum cudaJitOption *options, void **values, unsigned count,
                                    enum cudaLibraryOption *more, void **more_values,
                                    unsigned more_count)
{
    (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    struct text file;
    struct err e;
    cudaError_t error = rt_enter();
    text_init(&file);
    if (error == cudaSuccess && (!out || !path))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && file_read(path, FILE_MOST, &file, &e) != 0)
        error = rt_refuse(cudaErrorFileNotFound, "cudaLibraryLoadFromFile: %s", e.text);
    if (error == cudaSuccess)
        error = load(text_str(&file), out);
    text_release(&file);
    return rt_leave(error);
}
/* NOLINTEND(readability-non-const-parameter) */

/* Begins a call about a library. */
static cudaError_t find(cudaLibrary_t library, const void *out, struct rt_module **m)
{
    cudaError_t error = rt_enter();
    *m = error == cudaSuccess ? map_get(&libraries, library) : NULL;
    if (error == cudaSuccess && !*m)
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    return error;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    struct rt_module *m;
    cudaError_t error = find(library, &m, &m);
    if (error == cudaSuccess) {
        map_remove(&libraries, m);
        library_unload(m);
    }
    return rt_leave(error);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
    struct rt_module *m;
    cudaError_t error = find(library, out, &m);
    if (error != cudaSuccess)
        return rt_leave(error);
    error = name ? cudaErrorSymbolNotFound : cudaErrorInvalidValue;
    for (struct rt_function *f = library_kernels(m); f && error == cudaErrorSymbolNotFound;
         f = f->next) {
        if (strcmp(f->name, name) == 0) {
            *out = (cudaKernel_t)(void *)f;
            error = cudaSuccess;
        }
    }
    if (error == cudaErrorSymbolNotFound)
        rt_refuse(error, "cudaLibraryGetKernel: the library has no kernel named %s", name);
    return rt_leave(error);
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    struct rt_module *m;
    cudaError_t error = find(library, count, &m);
    if (error == cudaSuccess)
        *count = 0;
    for (struct rt_function *f = error == cudaSuccess ? library_kernels(m) : NULL; f; f = f->next)
        ++*count;
    return rt_leave(error);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room, cudaLibrary_t library)
{
    struct rt_module *m;
    unsigned count = 0;
    cudaError_t error = find(library, kernels, &m);
    for (struct rt_function *f = error == cudaSuccess ? library_kernels(m) : NULL;
         f && count < room; f = f->next)
        kernels[count++] = (cudaKernel_t)(void *)f;
    return rt_leave(error);
}

static cudaError_t get_symbol(void **out, size_t *bytes, cudaLibrary_t library, const char *name,
                              bool managed)
{
    struct rt_module *m;
    struct vm_memory_info info;
    uint64_t address = 0, size = 0;
    cudaError_t error = find(library, out, &m);
    if (error == cudaSuccess && !name)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    bool found = library_symbol(m, name, &address, &size);
    vm_memory_info(rt.vm, address, &info);
    if (!found || (managed && info.kind != VM_MEMORY_HOST))
        return rt_leave(rt_refuse(cudaErrorSymbolNotFound, "the library has no %svariable named %s",
                                  managed ? "managed " : "", name));
    *out = (void *)(uintptr_t)address;
    if (bytes)
        *bytes = (size_t)size;
    return rt_leave(cudaSuccess);
}

cudaError_t cudaLibraryGetGlobal(void **out, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return get_symbol(out, bytes, library, name, false);
}

cudaError_t cudaLibraryGetManaged(void **out, size_t *bytes, cudaLibrary_t library,
                                  const char *name)
{
    return get_symbol(out, bytes, library, name, true);
}
