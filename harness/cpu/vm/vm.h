/* vm: a machine that runs PTX, a warp at a time, and checks what it runs.
 *
 * One struct vm is one device: its memory, its loaded modules, its findings and counters. cudart
 * turns the CUDA runtime API into calls of this header; it serialises them (one thread in the vm
 * at a time).
 *
 * Device addresses are numbers inside a range of the process that is mapped without access, so
 * host code that dereferences one faults and can be told so. The bytes live elsewhere; vm_bytes()
 * gives them. Pinned and managed memory is plain host memory that kernels can also reach.
 *
 * A kernel fault is data, not an error of ours: it becomes a finding (struct wire_finding) and an
 * enum vm_status, which is sticky as on a GPU until vm_reset(). */
#ifndef CPU_VM_VM_H
#define CPU_VM_VM_H

#include "base/err.h"
#include "cpu/ptx/ptx.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;
struct vm_module;
struct vm_kernel;

struct vm_limits { /* what the device claims to be; cudart reports the same numbers */
    uint32_t compute_major, compute_minor;
    uint32_t sm_count;
    uint32_t max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    uint32_t shared_per_block, shared_per_block_optin, shared_per_sm; /* bytes */
    uint32_t max_block[3];
    uint64_t max_grid[3];
    uint64_t memory_bytes; /* device memory that vm_malloc hands out at most */
    uint64_t constant_bytes;
    uint32_t regs_per_block;
};
extern const struct vm_limits vm_limits_default; /* a compute capability 7.5 or newer card */

enum vm_status {
    VM_OK,
    VM_ILLEGAL_ADDRESS,
    VM_MISALIGNED,
    VM_ASSERT,
    VM_TRAP,     /* trap, or an unsupported instruction was executed */
    VM_DEADLOCK, /* found by the scheduler; a GPU would hang */
    VM_STEP_LIMIT,
    VM_STACK_OVERFLOW,
};

struct vm *vm_new(const struct vm_limits *limits, struct err *e);
void vm_free(struct vm *vm);

/* For launches from now on; clears findings, counters and the peak. */
void vm_configure(struct vm *vm, const struct wire_device_config *config);
const struct wire_device_config *vm_config(const struct vm *vm);

/* ---- memory ---- */

/* 0 = no memory left. Aligned to 256 bytes; contents undefined. A red zone follows. */
uint64_t vm_malloc(struct vm *vm, uint64_t bytes);
/* The next vm_malloc() of just so many bytes takes them here; whose memory it is keeps it until
 * that is freed. At `memory`, 64 bytes more than these may be read. NULL: none does. */
void vm_lend(struct vm *vm, uint8_t *memory, uint64_t bytes);
/* false: not the start of a live allocation. Freed memory is quarantined. */
bool vm_free_memory(struct vm *vm, uint64_t address);
/* Makes host memory reachable by kernels under its own address (pinned, managed, mapped). */
bool vm_map_host(struct vm *vm, void *host, uint64_t bytes, bool defined);
bool vm_unmap_host(struct vm *vm, void *host);

/* What kind of pointer is this? */
enum vm_memory_kind { VM_MEMORY_UNKNOWN, VM_MEMORY_DEVICE, VM_MEMORY_HOST };
struct vm_memory_info {
    enum vm_memory_kind kind;
    uint64_t base, bytes; /* of the allocation */
    bool freed, is_input; /* is_input: see vm_protect() */
    const char *name;     /* from vm_narrow, or of a __device__ variable; may be NULL */
};
void vm_memory_info(const struct vm *vm, uint64_t address, struct vm_memory_info *info);

/* The bytes behind a device address range, NULL unless all of it lies in one live allocation. */
uint8_t *vm_bytes(struct vm *vm, uint64_t address, uint64_t bytes);
/* Say that the host wrote (a copy, a memset) or read them. */
void vm_mark_defined(struct vm *vm, uint64_t address, uint64_t bytes);
void vm_mark_undefined(struct vm *vm, uint64_t address, uint64_t bytes);
/* Device-to-device copy with definedness; the ranges may overlap. false: not device memory. */
bool vm_copy(struct vm *vm, uint64_t to, uint64_t from, uint64_t bytes);
void vm_narrow(struct vm *vm, uint64_t address, uint64_t bytes, const char *name);
/* The allocation is an input of the program: a write to it by a kernel is a finding. */
void vm_protect(struct vm *vm, uint64_t address);
uint64_t vm_memory_used(const struct vm *vm);
uint64_t vm_memory_peak(const struct vm *vm); /* since vm_configure */
/* How many allocations there are that a kernel may write to, variables of modules among them. */
size_t vm_memory_count(const struct vm *vm);
/* Sentence for a host fault at this address, "" if it is not ours. Async-signal-safe. */
void vm_explain_host_address(const struct vm *vm, const void *address, char *out, size_t out_bytes);

/* ---- the order of operations ----
 *
 * What touches device memory - a launch, a copy, a memset - is an operation. cudart begins each
 * one ahead of the calls that do it, and says which earlier ones come before it on a device as well
 * (same stream, events, waits of the host), so that the race detector can tell what is not ordered.
 */

struct vm_operation {
    /* Operations with lower numbers come before this one on a device, too. 0 = all of them do. */
    uint32_t oldest_unordered;
    /* Asked about those from there on; NULL with oldest_unordered 0. */
    bool (*comes_before)(void *context, uint32_t earlier);
    void *context;
    const char *what; /* "kernel scan on stream 3": for messages; copied */
};
/* Returns its number: 1, 2, ... Ends the one before. A vm_launch without one begins one by itself,
 * after everything. */
uint32_t vm_begin_operation(struct vm *vm, const struct vm_operation *operation);
/* The current operation reads or writes this range of device memory, from the host's side: reports
 * a data_race with an operation that is not ordered. Unknown addresses are ignored. */
void vm_operation_reads(struct vm *vm, uint64_t address, uint64_t bytes);
void vm_operation_writes(struct vm *vm, uint64_t address, uint64_t bytes);

/* ---- code ---- */

/* Takes over `ptx` and everything in `arena` (moved: the caller's arena is empty afterwards).
 * Allocates and initialises the module's globals and constants. */
struct vm_module *vm_module_load(struct vm *vm, const struct ptx_module *ptx, struct arena *arena,
                                 struct err *e);
void vm_module_unload(struct vm *vm, struct vm_module *module);
/* A __device__ or __constant__ variable. */
bool vm_module_symbol(struct vm_module *module, const char *name, uint64_t *address,
                      uint64_t *bytes);
struct vm_kernel *vm_module_kernel(struct vm_module *module, const char *name); /* NULL = none */

struct vm_kernel_info {
    const char *name, *people_name; /* mangled; as written in the source */
    uint32_t param_count;
    const uint32_t *param_offsets, *param_sizes; /* bytes in the parameter block */
    uint32_t param_bytes;
    uint32_t shared_bytes, local_bytes, const_bytes, regs;
    uint32_t max_threads; /* from .maxntid / __launch_bounds__, else the device's limit */
    uint32_t ptx_version; /* 75 */
};
void vm_kernel_info(const struct vm_kernel *kernel, struct vm_kernel_info *info);
/* How many blocks of this shape fit on one SM at once. */
uint32_t vm_kernel_occupancy(const struct vm *vm, const struct vm_kernel *kernel,
                             uint32_t block_threads, uint64_t dynamic_shared);

struct vm_launch {
    uint32_t grid[3], block[3];
    uint64_t dynamic_shared;
    const void *params; /* the parameter block, vm_kernel_info.param_bytes long */
    bool cooperative;   /* every block resident at once, grid.sync() works */
};
/* Runs the kernel to its end. The shape has been checked against the limits by the caller. Device
 * printf goes to stdout as it happens. */
enum vm_status vm_launch(struct vm *vm, struct vm_kernel *kernel, const struct vm_launch *launch);

/* ---- what was found ---- */

enum vm_status vm_sticky_status(const struct vm *vm);
void vm_reset(struct vm *vm); /* clears the sticky status; memory stays */
size_t vm_findings(const struct vm *vm, struct wire_finding *out, size_t capacity);
/* Adds one from the outside (cudart: a failed launch). Duplicates of kind and line are counted. */
void vm_add_finding(struct vm *vm, const struct wire_finding *finding);
void vm_counters(const struct vm *vm, struct wire_counters *out);
/* With WIRE_CHECK_PROFILE: a struct wire_profile since vm_configure(). Returns how many bytes it
 * has, 0 = there is none, and copies it if `bytes` are enough. */
size_t vm_profile(const struct vm *vm, void *out, size_t bytes);
/* The same with WIRE_CHECK_TRACE and a struct wire_trace. */
size_t vm_trace(const struct vm *vm, void *out, size_t bytes);
/* Counts something that happens outside of kernels. */
void vm_count(struct vm *vm, enum counter counter, uint64_t n);

#endif
