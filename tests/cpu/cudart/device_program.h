/* A program with device code, as nvcc would have made it: data/scale.zstd.fatbin (source:
 * data/scale.cu), registered by hand, and kernels from PTX texts. */
#ifndef TESTS_CPU_CUDART_DEVICE_PROGRAM_H
#define TESTS_CPU_CUDART_DEVICE_PROGRAM_H

#include "base/file.h"
#include "base/text.h"
#include "cpu/cudart/register.h"
#include "fatbin_builder.h"

#include <stdarg.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

/* Stand-ins for the host stubs and the host side of variables: only their addresses count. */
static char scale_stub, bounded_stub, factor_host, calls_host;

struct device_program {
    struct text bytes;
    struct builder_wrapper wrapper;
    void **handle;
};

static inline void program_register_bytes(struct device_program *p)
{
    p->wrapper = (struct builder_wrapper){0x466243b1, 1, p->bytes.data, NULL};
    p->handle = __cudaRegisterFatBinary(&p->wrapper);
}

static inline void program_kernel(struct device_program *p, const char *stub, const char *name)
{
    __cudaRegisterFunction(p->handle, stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static inline void program_from_file(struct device_program *p, const char *name)
{
    char path[512];
    struct err e;
    snprintf(path, sizeof path, "%s/data/%s", TEST_FOLDER, name);
    text_init(&p->bytes);
    if (file_read(path, 1 << 20, &p->bytes, &e) != 0)
        fail_msg("%s", e.text);
    program_register_bytes(p);
    program_kernel(p, &scale_stub, "scale");
    program_kernel(p, &bounded_stub, "bounded");
    __cudaRegisterVar(p->handle, &factor_host, "factor", "factor", 0, 4, 1, 0);
    __cudaRegisterVar(p->handle, &calls_host, "calls", "calls", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(p->handle);
}

/* One kernel from PTX; its stub's address is `stub`. */
static inline void program_from_ptx(struct device_program *p, const char *ptx, const char *stub,
                                    const char *kernel)
{
    text_init(&p->bytes);
    builder_plain(&p->bytes, ptx);
    program_register_bytes(p);
    program_kernel(p, stub, kernel);
    __cudaRegisterFatBinaryEnd(p->handle);
}

static inline void program_end(struct device_program *p)
{
    __cudaUnregisterFatBinary(p->handle);
    text_release(&p->bytes);
}

#endif
