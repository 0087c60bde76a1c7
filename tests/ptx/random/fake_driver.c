/* libcuda.so.1 as far as card.c needs it, over the CPU device: card.c is tried where there is no
 * card. What the compiler's optimizer may do to a kernel is up to the environment, each the name of
 * a kernel that goes wrong at every level but 0: FAKE_ENDED (error 715), FAKE_ENDLESS, FAKE_WRONG
 * (another output). */
#include "base/arena.h"
#include "base/err.h"
#include "cpu/ptx/ptx.h"
#include "cpu/vm/engine.h"
#include "cpu/vm/vm.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int result;
typedef unsigned long long address;

enum { ILLEGAL_INSTRUCTION = 715, INVALID_PTX = 218, OUT_OF_MEMORY = 2, NOT_FOUND = 500 };

struct function {
    char name[16];
    struct loaded *owner;
    struct function *next;
};

struct loaded {
    struct arena arena;
    struct ptx_module ptx;
    struct vm_module *module;
    bool optimized;
    struct function *functions;
    struct loaded *next;
};

static struct vm *vm;
static struct loaded *modules; /* all: the machine keeps what it loaded */
static result state;           /* an error stays */

result cuInit(unsigned flags);
result cuDeviceGet(int *device, int ordinal);
result cuDevicePrimaryCtxRetain(void **context, int device);
result cuCtxSetCurrent(void *context);
result cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options,
                          void **values);
result cuModuleUnload(void *module);
result cuModuleGetFunction(void **function, void *module, const char *name);
result cuMemAlloc_v2(address *p, size_t bytes);
result cuMemcpyHtoD_v2(address to, const void *from, size_t bytes);
result cuMemcpyDtoH_v2(void *to, address from, size_t bytes);
result cuMemsetD8_v2(address p, unsigned char value, size_t bytes);
result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                      void **extra);
result cuCtxSynchronize(void);

result cuInit(unsigned flags)
{
    struct err e = {""};
    vm = vm_new(&vm_limits_default, &e);
    return vm && flags == 0 ? 0 : OUT_OF_MEMORY;
}

result cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

result cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = vm;
    return 0;
}

result cuCtxSetCurrent(void *context)
{
    return context == vm ? 0 : NOT_FOUND;
}

/* The only option that card.c gives is the level. */
result cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options,
                          void **values)
{
    struct err e = {""};
    struct loaded *m = calloc(1, sizeof *m);
    (void)options;
    if (!m)
        return OUT_OF_MEMORY;
    arena_init(&m->arena);
    m->optimized = count == 0 || values[0] != NULL;
    if (ptx_parse(image, strlen(image), &m->arena, &m->ptx, &e) == 0)
        m->module = vm_module_load(vm, &m->ptx, &m->arena, &e);
    if (!m->module) {
        fprintf(stderr, "%s\n", e.text);
        arena_release(&m->arena);
        free(m);
        return INVALID_PTX;
    }
    m->next = modules;
    modules = m;
    *module = m;
    return 0;
}

result cuModuleUnload(void *module)
{
    struct loaded *m = module;
    while (m->functions) {
        struct function *f = m->functions;
        m->functions = f->next;
        free(f);
    }
    return 0;
}

result cuModuleGetFunction(void **function, void *module, const char *name)
{
    struct loaded *m = module;
    struct function *f = calloc(1, sizeof *f);
    if (!f || !vm_module_kernel(m->module, name)) {
        free(f);
        return NOT_FOUND;
    }
    snprintf(f->name, sizeof f->name, "%s", name);
    f->owner = m;
    f->next = m->functions;
    m->functions = f;
    *function = f;
    return 0;
}

result cuMemAlloc_v2(address *p, size_t bytes)
{
    *p = vm_malloc(vm, bytes);
    return *p ? 0 : OUT_OF_MEMORY;
}

static void *host_side(address p, size_t bytes)
{
    vm_mark_defined(vm, p, bytes);
    return vm_bytes(vm, p, bytes);
}

result cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
    memcpy(host_side(to, bytes), from, bytes);
    return 0;
}

result cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
    memcpy(to, host_side(from, bytes), bytes);
    return 0;
}

result cuMemsetD8_v2(address p, unsigned char value, size_t bytes)
{
    memset(host_side(p, bytes), value, bytes);
    return 0;
}

static bool spoilt(const struct function *f, const char *variable)
{
    const char *name = getenv(variable);
    return f->owner->optimized && name && strcmp(name, f->name) == 0;
}

result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                      void **extra)
{
    struct function *f = function;
    uint64_t values[3];
    (void)shared, (void)stream, (void)extra;
    for (size_t k = 0; k < 3; k++)
        values[k] = *(address *)params[k];
    struct vm_launch launch = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .params = values};
    struct wire_device_config config = {
        .schedule = WIRE_IN_ORDER, .checks = WIRE_CHECK_DEFAULT, .step_limit = 20000000};
    vm_configure(vm, &config);
    if (vm_launch(vm, vm_module_kernel(f->owner->module, f->name), &launch) != VM_OK ||
        spoilt(f, "FAKE_ENDED"))
        state = ILLEGAL_INSTRUCTION;
    vm_reset(vm);
    if (spoilt(f, "FAKE_WRONG"))
        *(uint32_t *)host_side(values[1], 4) ^= 1;
    while (spoilt(f, "FAKE_ENDLESS"))
        pause();
    return 0;
}

result cuCtxSynchronize(void)
{
    return state;
}
