/* What nvcc's start-up code tells the runtime: one fat binary per translation unit, and the names
 * and host addresses of its kernels and variables. Registering only takes notes. A fat binary is
 * read, its PTX parsed and its variables placed when one of its kernels or variables is first used,
 * so a module that nobody touches (CUB brings many) costs nothing. */
#include "cpu/cudart/register.h"

#include "cpu/cudart/fatbin.h"
#include "cpu/cudart/library.h"
#include "cpu/cudart/queue.h"

#include <stdlib.h>
#include <string.h>

struct rt_module {
    const void *wrapper; /* NULL: `text`, or a library's own wrapper */
    const char *text;    /* PTX given as such; only while it loads */
    bool is_library;     /* its kernels are found in the PTX, nobody registers them */
    struct vm_module *loaded;
    cudaError_t failure;  /* why it could not be loaded; found out once */
    uint64_t const_bytes; /* of its __constant__ variables */
    struct rt_function *functions;
    struct rt_variable *variables;
    struct rt_module *next;
};

static void *new_thing(size_t bytes)
{
    void *thing = calloc(1, bytes);
    if (!thing)
        BUG("out of memory for the list of kernels and variables");
    return thing;
}

void rt_raise_capability(struct vm_limits *limits)
{
    for (const struct rt_module *m = rt.modules; m; m = m->next) {
        unsigned has = limits->compute_major * 10 + limits->compute_minor;
        unsigned target = fatbin_wrapper_target(m->wrapper, has);
        if (target > has) {
            limits->compute_major = target / 10;
            limits->compute_minor = target % 10;
        }
    }
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct rt_module *m = new_thing(sizeof *m);
    m->wrapper = wrapper;
    rt_lock();
    m->next = rt.modules;
    rt.modules = m;
    if (rt.vm)
        rt_raise_capability(&rt.limits);
    rt_unlock();
    return (void **)m;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

static void free_module(struct rt_module *m)
{
    queue_forget_module(m);
    for (struct rt_module **at = &rt.modules; *at; at = &(*at)->next) {
        if (*at == m) {
            *at = m->next;
            break;
        }
    }
    for (struct rt_function *f = m->functions, *next; f; f = next) {
        next = f->next;
        if (map_get(&rt.functions, f->host) == f)
            map_remove(&rt.functions, f->host);
        map_remove(&rt.functions, f);
        free(f);
    }
    for (struct rt_variable *v = m->variables, *next; v; v = next) {
        next = v->next;
        if (map_get(&rt.variables, v->host) == v)
            map_remove(&rt.variables, v->host);
        free(v);
    }
    if (m->loaded)
        vm_module_unload(rt.vm, m->loaded);
    free(m);
}

void __cudaUnregisterFatBinary(void **handle)
{
    rt_lock();
    free_module((struct rt_module *)(void *)handle);
    rt_unlock();
}

static struct rt_function *add_function(struct rt_module *m, const void *host, const char *name)
{
    struct rt_function *f = new_thing(sizeof *f);
    f->module = m;
    f->host = host ? host : f;
    f->name = name;
    f->max_dynamic_shared = -1;
    f->carveout = -1;
    f->next = m->functions;
    m->functions = f;
    map_put(&rt.functions, f->host, f);
    map_put(&rt.functions, f, f);
    return f;
}

void __cudaRegisterFunction(void **handle, const char *host, const char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            const int *warp_size)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    rt_lock();
    add_function((struct rt_module *)(void *)handle, host, name);
    rt_unlock();
}

static struct rt_variable *add_variable(void **handle, const void *host, const char *name,
                                        size_t bytes)
{
    struct rt_variable *v = new_thing(sizeof *v);
    v->module = (struct rt_module *)(void *)handle;
    v->host = host;
    v->name = name;
    v->bytes = bytes;
    rt_lock();
    v->next = v->module->variables;
    v->module->variables = v;
    map_put(&rt.variables, host, v);
    rt_unlock();
    return v;
}

void __cudaRegisterVar(void **handle, char *host, const char *device, const char *name, int ext,
                       size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    add_variable(handle, host, name, bytes);
}

void __cudaRegisterManagedVar(void **handle, void **host, const char *device, const char *name,
                              int ext, size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    add_variable(handle, host, name, bytes)->managed = host;
}

/* ---- loading ---- */

static cudaError_t fail(struct rt_module *m, cudaError_t error, const struct err *e)
{
    m->failure = error;
    rt_report(FINDING_unsupported, WIRE_ERROR, NULL, "%s", e->text);
    return error;
}

/* The program reaches a managed variable through a pointer, which is set when its module loads. */
static void publish_managed(struct rt_module *m)
{
    for (struct rt_variable *v = m->variables; v; v = v->next) {
        uint64_t address, bytes;
        if (v->managed && vm_module_symbol(m->loaded, v->name, &address, &bytes))
            *v->managed = (void *)(uintptr_t)address;
    }
}

/* Host code uses these as well; the machine has to know before it places them. */
static void mark_managed(const struct rt_module *m, struct ptx_module *ptx)
{
    for (const struct rt_variable *v = m->variables; v; v = v->next) {
        int index = v->managed ? ptx_find_symbol(ptx, v->name) : -1;
        if (index >= 0)
            ptx->symbols[index].is_managed = true;
    }
}

/* The kernels of a library, in the order of its PTX. */
static void find_kernels(struct rt_module *m, const struct ptx_module *ptx)
{
    for (uint32_t i = ptx->function_count; i-- > 0;)
        if (ptx->functions[i].is_entry && !ptx->functions[i].is_declaration)
            add_function(m, NULL, ptx->functions[i].name);
}

/* A card counts the constants of the whole module for each of its kernels. */
static uint64_t count_constants(const struct ptx_module *ptx)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ptx->symbol_count; i++) {
        const struct ptx_symbol *s = &ptx->symbols[i];
        uint64_t align = s->align ? s->align : 1;
        if (s->space == PTX_CONST && s->function < 0)
            bytes = (bytes + align - 1) / align * align + s->bytes;
    }
    return bytes;
}

static cudaError_t parse(struct rt_module *m, const char *text, size_t bytes)
{
    struct err e;
    struct arena arena;
    struct ptx_module ptx;
    cudaError_t error = cudaSuccess;
    arena_init(&arena);
    if (ptx_parse(text, bytes, &arena, &ptx, &e) != 0) {
        error = fail(m, cudaErrorInvalidPtx, &e);
    } else {
        mark_managed(m, &ptx);
        m->const_bytes = count_constants(&ptx);
        if (m->is_library && !m->functions)
            find_kernels(m, &ptx); /* names live as long as what is loaded */
        m->loaded = vm_module_load(rt.vm, &ptx, &arena, &e);
        if (!m->loaded)
            error = fail(m, cudaErrorMemoryAllocation, &e);
    }
    arena_release(&arena);
    if (error == cudaSuccess)
        publish_managed(m);
    return error;
}

static cudaError_t load(struct rt_module *m)
{
    if (m->loaded)
        return cudaSuccess;
    if (m->failure != cudaSuccess)
        return m->failure;
    if (m->text)
        return parse(m, m->text, strlen(m->text));
    struct err e;
    struct fatbin_image image;
    unsigned capability = rt.limits.compute_major * 10 + rt.limits.compute_minor;
    if (!m->wrapper || fatbin_read_wrapper(m->wrapper, capability, &image, &e) != 0)
        return fail(m, cudaErrorNoKernelImageForDevice, &e);
    cudaError_t error = parse(m, image.ptx, image.ptx_bytes);
    fatbin_release(&image);
    return error;
}

char __cudaInitModule(void **handle)
{
    cudaError_t error = rt_enter_even_if_faulty();
    if (error == cudaSuccess)
        error = load((struct rt_module *)(void *)handle);
    rt_leave(error);
    return error == cudaSuccess;
}

cudaError_t rt_find_function(const void *function, struct rt_function **out)
{
    struct rt_function *f = map_get(&rt.functions, function);
    if (!f) /* what is no host stub could be a handle */
        return rt_refuse(function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction,
                         "%p is not a __global__ function that this program registered", function);
    if (!f->kernel) {
        cudaError_t error = load(f->module);
        if (error != cudaSuccess)
            return error;
        f->kernel = vm_module_kernel(f->module->loaded, f->name);
        if (!f->kernel)
            return rt_refuse(cudaErrorInvalidDeviceFunction, "the PTX has no kernel named %s",
                             f->name);
        vm_kernel_info(f->kernel, &f->info);
        f->info.const_bytes = (uint32_t)f->module->const_bytes;
    }
    *out = f;
    return cudaSuccess;
}

cudaError_t rt_find_variable(const void *symbol, uint64_t *address, size_t *bytes)
{
    struct rt_variable *v = map_get(&rt.variables, symbol);
    if (!v)
        return rt_refuse(cudaErrorInvalidSymbol,
                         "%p is not a __device__ or __constant__ variable; pass the variable "
                         "itself, not its address or its name",
                         symbol);
    cudaError_t error = load(v->module);
    if (error != cudaSuccess)
        return error;
    uint64_t size;
    if (!vm_module_symbol(v->module->loaded, v->name, address, &size))
        return rt_refuse(cudaErrorInvalidSymbol, "the PTX has no variable named %s", v->name);
    *bytes = (size_t)size;
    return cudaSuccess;
}

void rt_unload_modules(void)
{
    for (struct rt_module *m = rt.modules; m; m = m->next) {
        for (struct rt_function *f = m->functions; f; f = f->next)
            f->kernel = NULL;
        if (m->loaded)
            vm_module_unload(rt.vm, m->loaded);
        m->loaded = NULL;
        m->failure = cudaSuccess;
    }
}

/* ---- libraries ---- */

cudaError_t library_load(const void *code, const char *text, struct rt_module **out)
{
    struct rt_module *m = new_thing(sizeof *m);
    m->wrapper = code;
    m->text = text;
    m->is_library = true;
    m->next = rt.modules;
    rt.modules = m;
    cudaError_t error = load(m);
    if (error != cudaSuccess) {
        free_module(m);
        return error;
    }
    m->text = NULL; /* and the wrapper: the program may free both */
    m->wrapper = NULL;
    *out = m;
    return cudaSuccess;
}

void library_unload(struct rt_module *m)
{
    free_module(m);
}

struct rt_function *library_kernels(const struct rt_module *m)
{
    return m->functions;
}

bool library_symbol(const struct rt_module *m, const char *name, uint64_t *address, uint64_t *bytes)
{
    return m->loaded && vm_module_symbol(m->loaded, name, address, bytes);
}
