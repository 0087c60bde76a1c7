/* Life cycle and configuration of one device. */
#include "cpu/vm/memory.h"
#include "cpu/vm/module.h"
#include "cpu/vm/watch.h"

#include <stdio.h>
#include <stdlib.h>

/* A small Hopper-like card: opt-in shared memory of 227 KB, and few enough SMs that grids sized by
 * the SM count stay small. */
const struct vm_limits vm_limits_default = {
    .compute_major = 9,
    .compute_minor = 0,
    .sm_count = 16,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 32,
    .shared_per_block = 48 * 1024,
    .shared_per_block_optin = 227 * 1024,
    .shared_per_sm = 228 * 1024,
    .max_block = {1024, 1024, 64},
    .max_grid = {0x7fffffff, 65535, 65535},
    .memory_bytes = 8ull << 30,
    .constant_bytes = 65536,
    .regs_per_block = 65536,
};

struct vm *vm_new(const struct vm_limits *limits, struct err *e)
{
    struct vm *vm = calloc(1, sizeof *vm);
    if (!vm)
        BUG("out of memory for a device");
    vm->limits = *limits;
    pthread_mutex_init(&vm->lock, NULL);
    vm->config.checks = WIRE_CHECK_DEFAULT;
    if (vm_memory_init(vm, e) != 0) {
        free(vm);
        return NULL;
    }
    return vm;
}

void vm_free(struct vm *vm)
{
    if (!vm)
        return;
    for (struct vm_module *m = vm->modules, *next; m; m = next) {
        next = m->next;
        vm_module_release(m);
    }
    vm_engine_free(vm->engine);
    vm_race_free(vm);
    vm_memory_release(vm);
    pthread_mutex_destroy(&vm->lock);
    free(vm->findings);
    free(vm->profile);
    free(vm->trace);
    free(vm);
}

void vm_configure(struct vm *vm, const struct wire_device_config *config)
{
    vm->config = *config;
    vm->config.source_file[sizeof vm->config.source_file - 1] = '\0';
    vm->config.checks |= WIRE_CHECK_BOUNDS;
    vm->finding_count = 0;
    vm->launch_count_before = vm->launch_count;
    vm->counters = (struct wire_counters){0};
    watch_profile_configure(vm);
    watch_trace_configure(vm);
    vm->peak_bytes = vm->used_bytes;
}

const struct wire_device_config *vm_config(const struct vm *vm)
{
    return &vm->config;
}

enum vm_status vm_sticky_status(const struct vm *vm)
{
    return vm->sticky;
}

void vm_reset(struct vm *vm)
{
    vm->sticky = VM_OK;
}

void vm_counters(const struct vm *vm, struct wire_counters *out)
{
    *out = vm->counters;
}

void vm_count(struct vm *vm, enum counter counter, uint64_t n)
{
    vm->counters.value[counter] += n;
}

/* ---- the order of operations ---- */

uint32_t vm_begin_operation(struct vm *vm, const struct vm_operation *operation)
{
    vm->operation = *operation;
    snprintf(vm->operation_what, sizeof vm->operation_what, "%s",
             operation->what ? operation->what : "");
    vm->operation.what = vm->operation_what;
    return ++vm->operation_count;
}
