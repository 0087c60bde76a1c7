/* device: the CUDA runtime that this runner was told to load, NVIDIA's or ours.
 *
 * Loaded with RTLD_GLOBAL before the submission, whose own dependency on libcudart.so.13 it then
 * satisfies by its SONAME. Everything is called through this table: the submission may define
 * functions of the same names. */
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include "base/err.h"
#include "wire/meter.h"
#include "wire/wire.h"

#include <cuda_runtime_api.h>

#define RUNNER_STREAM "stream" /* what findings call the stream that the entry is given */

struct device {
#define CUDA(name) __typeof__(name) *name;
#include "runner/cuda.def"
#undef CUDA
    void *library;                         /* as dlopen gave it */
    const struct wire_device_hooks *hooks; /* NULL: a real GPU */
    const struct wire_meter *meter;        /* counts what is allocated on a card; NULL = nobody */
    cudaStream_t stream;                   /* does not block against the default stream */
};

/* Loads the library and makes the device ready. `meter`: the path of libsj_meter.so, NULL = none.
 * -1 with a sentence. */
int device_open(const char *path, const char *meter, struct device *d, struct err *e);

/* "cudaErrorX: what it means", into `out`. */
void device_explain(const struct device *d, cudaError_t error, const char *when, char *out,
                    size_t out_bytes);

#endif
