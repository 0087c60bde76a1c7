/* runtime: the state behind the CUDA runtime API, and what every API function does first and last.
 *
 * There is one device, made at the first call that needs it, and one lock around it: rt_enter()
 * takes it, rt_leave() gives it back, and everything else here is called in between. Work goes
 * through the streams' queues (queue.h); the device runs one thing at a time.
 *
 * Errors are CUDA's: a call returns its error and keeps it for cudaGetLastError() of that host
 * thread. A kernel fault is sticky: nearly every later call returns it, until the process ends. */
#ifndef CPU_CUDART_RUNTIME_H
#define CPU_CUDART_RUNTIME_H

#include "cpu/cudart/map.h"
#include "cpu/vm/vm.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

/* A program built with --default-stream per-thread calls NAME_ptsz or NAME_ptds, for which stream 0
 * is the thread's own: RT_PTSZ(name, (parameters), (arguments)) defines one in terms of NAME. */
#define RT_PER_THREAD(name, parameters, body)                                                      \
    extern __typeof__(cudaError_t parameters) name __attribute__((visibility("default")));         \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        return body;                                                                               \
    }
#define RT_PTSZ(name, parameters, arguments) RT_PER_THREAD(name##_ptsz, parameters, name arguments)

static inline cudaStream_t rt_own(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

enum { RT_VERSION = 13000, RT_WARP_SIZE = 32 };

struct rt_module;

struct rt_function { /* a __global__ function that the program registered */
    struct rt_module *module;
    const void *host;             /* the host stub's address: what <<<>>> passes */
    const char *name;             /* mangled; the program's string */
    struct vm_kernel *kernel;     /* NULL until first used */
    struct vm_kernel_info info;   /* valid with kernel */
    long long max_dynamic_shared; /* set by cudaFuncSetAttribute, -1 = the default */
    int carveout;
    struct rt_function *next;
};

struct rt_variable { /* a __device__, __constant__ or __managed__ variable */
    struct rt_module *module;
    const void *host;
    const char *name;
    size_t bytes;
    void **managed; /* where the program keeps a managed variable's address, NULL = not managed */
    struct rt_variable *next;
};

enum rt_allocation_kind { RT_DEVICE, RT_MANAGED, RT_PINNED, RT_REGISTERED };

struct rt_allocation {
    enum rt_allocation_kind kind;
    void *base;
    size_t bytes;
    uint64_t serial; /* later ones have larger ones */
    unsigned flags;
    struct rt_pool *pool; /* of cudaMallocAsync, else NULL */
    bool freeing;         /* cudaFreeAsync was called, and is queued */
    /* Of memory that a graph allocates: its nodes, and whether it may be used now. It keeps its
     * place while there are nodes. */
    unsigned graph_nodes;
    bool graph_live;
    /* What a managed one was advised; cudaInvalidDeviceId = nothing. */
    bool read_mostly;
    int preferred, accessed_by, prefetched;
};

struct rt_event;
struct rt_stream;
struct rt_work;

struct runtime {
    struct vm *vm; /* NULL until rt_enter() */
    struct vm_limits limits;
    struct rt_module *modules;
    struct map functions;   /* by host stub and by their own address (a cudaKernel_t) */
    struct map variables;   /* by host address */
    struct map allocations; /* by base: struct rt_allocation */
    struct map streams;     /* by handle: struct rt_stream */
    struct map events;      /* by handle: struct rt_event */
    struct map pools;       /* by handle: struct rt_pool */
    unsigned long long next_stream_id;
    uint64_t calls;          /* grows with each call of the API */
    size_t device_limits[8]; /* by enum cudaLimit */
    unsigned device_flags;
    enum cudaFuncCache cache_config;
};
extern struct runtime rt;

/* ---- around every call ---- */

/* Locks, makes the device if there is none yet. cudaSuccess, or the error that the call must
 * return: a sticky fault, a call from inside a host callback, no device. */
cudaError_t rt_enter(void);
/* The same for calls that work in spite of a fault. */
cudaError_t rt_enter_even_if_faulty(void);
/* Keeps the error for cudaGetLastError() and unlocks. Returns it. */
cudaError_t rt_leave(cudaError_t error);
/* The lock without the device (registration, hooks). */
void rt_lock(void);
void rt_unlock(void);
cudaError_t rt_fault(void); /* the sticky error, or cudaSuccess */
/* cudaDeviceReset() after a fault: it succeeds, and later calls find no device. */
void rt_lose_device(void);
/* This thread is in a host function, where no CUDA call is allowed. */
void rt_set_in_callback(bool in_callback);
/* Gives the lock away until rt_wake(), or for at most `ms` milliseconds (0 = no limit). */
void rt_sleep(unsigned ms);
void rt_wake(void);

/* Makes `config` count from now on and forgets findings, counters and a sticky fault. */
void rt_configure(const struct wire_device_config *config);

/* Adds a finding. `kernel` may be NULL. */
void rt_report(enum finding_kind kind, enum wire_severity severity, const char *kernel,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A call that cannot work: adds a cuda_error warning, so that people learn why, and returns
 * `error`. */
cudaError_t rt_refuse(cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- modules (register.c) ---- */

/* What <<<>>> or the API was given: a host stub or a cudaKernel_t. Loads its module. */
/* The device claims at least the compute capability that the registered code was compiled for, so
 * that code that asks takes the right path. */
void rt_raise_capability(struct vm_limits *limits);
cudaError_t rt_find_function(const void *function, struct rt_function **out);
cudaError_t rt_find_variable(const void *symbol, uint64_t *address, size_t *bytes);
void rt_unload_modules(void); /* cudaDeviceReset: they load again when used */

/* ---- launching (launch.c) ---- */

struct rt_launch {
    dim3 grid, block;
    size_t dynamic_shared;
    bool cooperative;
};
/* How much dynamic shared memory a block of this function may ask for. */
size_t rt_max_dynamic_shared(const struct rt_function *function);

/* ---- memory (memory.c, copy.c) ---- */

cudaError_t rt_allocate(void **out, size_t bytes, struct rt_pool *pool);
cudaError_t rt_free(void *pointer);
/* The allocation that `call` may free in stream order. */
cudaError_t rt_find_to_free(const char *call, void *pointer, struct rt_allocation **out);
void rt_free_now(void *base); /* a live allocation, whose address has been checked */
/* Memory of graphs: one node more or less, allocated by a graph that runs. */
void rt_keep_graph_memory(void *base);
void rt_drop_graph_memory(void *base);
void rt_graph_memory_begins(void *base);
/* The allocation that holds the address, NULL = none of ours. */
struct rt_allocation *rt_allocation_at(const void *pointer);
bool rt_is_pinned(const struct rt_allocation *a); /* or registered; false for NULL */
void rt_free_everything(void);
/* One range, in the stream's order; waits where CUDA does. `call` names the API function. */
cudaError_t rt_copy(const char *call, void *to, const void *from, size_t bytes,
                    enum cudaMemcpyKind kind, struct rt_stream *stream, bool wait);
void rt_pools_release(void);

/* ---- streams (stream.c) ---- */

/* The stream of a handle, or an error with a finding. */
cudaError_t rt_find_stream(cudaStream_t stream, struct rt_stream **out);

#endif
