#include "runner/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ISO C has no cast from an object to a function pointer; POSIX promises that the bits are enough.
 */
static int find_function(void *library, const char *name, void *function, struct err *e)
{
    void *address = dlsym(library, name);
    if (!address)
        return err_set(e, "the CUDA runtime has no function %s", name);
    memcpy(function, &address, sizeof address);
    return 0;
}

void device_explain(const struct device *d, cudaError_t error, const char *when, char *out,
                    size_t out_bytes)
{
    snprintf(out, out_bytes, "%s: %s (%s)", d->cudaGetErrorName(error),
             d->cudaGetErrorString(error), when);
}

/* First into the global scope: its names come before the runtime's own. */
static int open_meter(const char *path, struct device *d, struct err *e)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = library ? dlsym(library, WIRE_METER_SYMBOL) : NULL;
    if (!symbol)
        return err_set(e, "cannot load the meter of device memory: %s", dlerror());
    wire_meter_function get;
    memcpy(&get, &symbol, sizeof get);
    d->meter = get();
    return 0;
}

int device_open(const char *path, const char *meter, struct device *d, struct err *e)
{
    if (meter && open_meter(meter, d, e) != 0)
        return -1;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return err_set(e, "cannot load the CUDA runtime: %s", dlerror());
    d->library = library;
    if (d->meter)
        d->meter->bind(library);
#define CUDA(name)                                                                                 \
    if (find_function(library, #name, (void *)&d->name, e) != 0)                                   \
        return -1;
#include "runner/cuda.def"
#undef CUDA
    void *hooks = dlsym(library, WIRE_HOOKS_SYMBOL);
    if (hooks) {
        wire_hooks_function get;
        memcpy(&get, &hooks, sizeof get);
        d->hooks = get();
        if (!d->hooks || d->hooks->version != WIRE_HOOKS_VERSION)
            return err_set(e, "the device in %s has hooks of another version", path);
    }
    /* The first call makes the context, which takes long on a GPU: here, not in the first pass. */
    cudaError_t error = d->cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
    if (error != cudaSuccess) {
        char why[256];
        device_explain(d, error, "making the stream", why, sizeof why);
        return err_set(e, "the device cannot be used: %s", why);
    }
    if (d->hooks)
        d->hooks->name_stream(d->stream, RUNNER_STREAM);
    return 0;
}
