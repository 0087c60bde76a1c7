/* vm_launch(): sets the engine up for one kernel and one shape, runs it, cleans up. The engine
 * keeps its memory (blocks, stacks, shadows) from launch to launch. */
#include "cpu/vm/check.h"
#include "cpu/vm/delay.h"
#include "cpu/vm/lower.h"
#include "cpu/vm/sched.h"
#include "cpu/vm/watch.h"

#include "base/clock.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { GRID_WORKSPACE_BYTES = 256 };

const struct vm_exec *vm_exec_choose(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &vm_exec_v4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return &vm_exec_v3;
    return &vm_exec_v2;
#else
    return &vm_exec_generic;
#endif
}

static void *must(void *p)
{
    if (!p)
        BUG("out of memory for the machine");
    return p;
}

static void *aligned(size_t bytes)
{
    return must(aligned_alloc(64, (bytes + 63) & ~(size_t)63));
}

/* ---- blocks ---- */

static void release_block(struct block *b)
{
    if (!b)
        return;
    vm_race_block_free(b);
    for (uint32_t k = 0; k < b->warp_capacity; k++) {
        free(b->warps[k].stack);
        free(b->warps[k].local);
        free(b->warps[k].local_defined);
        free(b->warps[k].copies);
    }
    free(b->warps);
    free(b->shared);
    free(b->shared_bits);
    free(b->bank);
    free(b);
}

void vm_engine_free(struct vm_engine *e)
{
    if (!e)
        return;
    for (uint32_t k = 0; k < e->slot_capacity; k++)
        release_block(e->slots[k]);
    if (e->setup_warp)
        free(e->setup_warp->stack);
    free(e->setup_warp);
    free(e->slots);
    free(e->caches);
    free(e->bank);
    free(e->race_pairs);
    delay_free(e->delay_memory);
    crew_free(e->crew_kept);
    watch_profile_free(e);
    watch_trace_free(e);
    free(e);
}

void vm_sreg_row(const struct warp *w, uint32_t sreg, uint32_t *values)
{
    const uint32_t *shape = w->engine->launch->block;
    for (uint32_t l = 0; l < VM_LANES; l++) {
        uint32_t t = w->index * VM_LANES + l, bit = 1u << l;
        switch ((int)sreg) {
        case PTX_SREG_tid_x:
            values[l] = t % shape[0];
            break;
        case PTX_SREG_tid_y:
            values[l] = t / shape[0] % shape[1];
            break;
        case PTX_SREG_tid_z:
            values[l] = t / shape[0] / shape[1];
            break;
        case PTX_SREG_laneid:
            values[l] = l;
            break;
        case PTX_SREG_warpid:
            values[l] = w->index;
            break;
        case PTX_SREG_lanemask_eq:
            values[l] = bit;
            break;
        case PTX_SREG_lanemask_lt:
            values[l] = bit - 1;
            break;
        case PTX_SREG_lanemask_le:
            values[l] = bit | (bit - 1);
            break;
        case PTX_SREG_lanemask_gt:
            values[l] = ~(bit | (bit - 1));
            break;
        default: /* lanemask_ge */
            values[l] = ~(bit - 1);
            break;
        }
    }
}

/* Runs a setup stream for a warp whose frame and bank are set. */
static void run_setup(struct vm_engine *e, struct warp *w, enum vm_level level)
{
    w->resume = e->code->setup[level];
    w->mask = VM_FULL;
    w->frame = w->stack;
    e->exec->run(w);
    w->mask = 0;
}

static void set_slot(const struct vm_code *c, uint8_t *bank, enum ptx_sreg s, uint64_t value)
{
    if (c->sreg_slots[s])
        memcpy(bank + c->sreg_slots[s], &value, sizeof value);
}

void vm_local_reserve(struct warp *w, uint64_t bytes)
{
    if (bytes <= w->local_capacity) {
        w->local_bytes = (uint32_t)bytes;
        return;
    }
    uint32_t capacity = (uint32_t)(bytes * 3 / 2 + 63) & ~63u;
    uint8_t *local = aligned((size_t)capacity * VM_LANES);
    uint64_t *bits = must(calloc((size_t)capacity * VM_LANES / 64 + 2, sizeof *bits));
    memset(local, 0xCD, (size_t)capacity * VM_LANES);
    if (w->local_capacity) {
        memcpy(local, w->local, (size_t)w->local_capacity * VM_LANES);
        memcpy(bits, w->local_bits, (size_t)w->local_capacity * VM_LANES / 8);
    }
    free(w->local);
    free(w->local_bits);
    w->local = local;
    w->local_bits = bits;
    w->local_capacity = capacity;
    w->local_bytes = (uint32_t)bytes;
    w->local_defined = w->engine->checks & WIRE_CHECK_UNINITIALIZED ? bits : NULL;
}

static void prepare_warp(struct block *b, struct warp *w, uint32_t index)
{
    struct vm_engine *e = b->engine;
    w->engine = e;
    w->block = b;
    w->bank = b->bank;
    w->index = (uint8_t)index;
    w->frame_offset = w->depth = 0;
    vm_stack_reserve(w, e->code->frame_bytes);
    w->frame = w->stack;
    for (uint32_t k = 0; k < e->code->sreg_row_count; k++) {
        const struct sreg_row *row = &e->code->sreg_rows[k];
        vm_sreg_row(w, row->sreg, (uint32_t *)(void *)(w->stack + row->offset));
    }
    w->clocks = NULL;
    run_setup(e, w, VM_PER_WARP);
}

static void prepare_shared(struct block *b)
{
    struct vm_engine *e = b->engine;
    const struct vm_code *c = e->code;
    bool dynamic = c->shared_count && c->shared[c->shared_count - 1].dynamic;
    b->shared_end =
        dynamic ? c->shared_dynamic_at + (uint32_t)e->launch->dynamic_shared : c->shared_static_end;
    if (b->shared_end > b->shared_capacity) {
        free(b->shared);
        free(b->shared_bits);
        b->shared_capacity = (b->shared_end + 1023) & ~1023u;
        b->shared = aligned(b->shared_capacity + 64);
        b->shared_bits = must(calloc(b->shared_capacity / 64 + 2, sizeof(uint64_t)));
        memset(b->shared, 0xCD, b->shared_capacity);
    }
    b->shared_defined = e->checks & WIRE_CHECK_UNINITIALIZED ? b->shared_bits : NULL;
}

struct block *launch_slot(struct vm_engine *e, uint32_t slot)
{
    if (slot >= e->slot_capacity) {
        uint32_t capacity = slot + 16;
        e->slots = must(realloc(e->slots, capacity * sizeof(struct block *)));
        memset(e->slots + e->slot_capacity, 0,
               (capacity - e->slot_capacity) * sizeof(struct block *));
        e->slot_capacity = capacity;
    }
    if (!e->slots[slot])
        e->slots[slot] = must(calloc(1, sizeof **e->slots));
    struct block *b = e->slots[slot];
    if (b->launch == e->vm->launch_count)
        return b;
    b->launch = e->vm->launch_count;
    b->engine = e;
    b->slot = slot;
    b->warp_count = e->warps_per_block;
    if (b->warp_capacity < b->warp_count) {
        struct warp *warps = aligned(b->warp_count * sizeof *warps);
        memset(warps, 0, b->warp_count * sizeof *warps);
        if (b->warp_capacity)
            memcpy(warps, b->warps, b->warp_capacity * sizeof *warps);
        free(b->warps);
        b->warps = warps;
        b->warp_capacity = b->warp_count;
    }
    b->bank = must(realloc(b->bank, e->code->bank_bytes + 64));
    memcpy(b->bank, e->bank, e->code->bank_bytes + 64);
    for (uint32_t k = 0; k < b->warp_count; k++)
        prepare_warp(b, &b->warps[k], k);
    prepare_shared(b);
    return b;
}

static void start_warp(struct warp *w, uint32_t threads)
{
    struct vm_engine *e = w->engine;
    uint32_t first = w->index * VM_LANES, lanes = threads - first;
    w->live = lanes >= VM_LANES ? VM_FULL : (1u << lanes) - 1;
    w->mask = w->live;
    w->resume = e->code->insns;
    w->frame_offset = w->depth = 0;
    w->frame = w->stack;
    w->join_pc = UINT32_MAX;
    w->group_count = 0;
    w->spin = w->rotation = w->quiet_turns = 0;
    w->passed_by = w->force_sync = w->cycling = w->done = w->whole_waits = false;
    w->runnable = true;
    w->loose = false;
    w->late = 0;
    w->still_turns = 0;
    w->warp_count = 0;
    w->copy_count = 0;
    if (e->code->has_copies) {
        memset(w->copy_group, 0, sizeof w->copy_group);
        memset(w->bulk_group, 0, sizeof w->bulk_group);
    }
    if (e->code->local_bytes || e->code->has_calls) {
        vm_local_reserve(w, VM_LOCAL_START + e->code->local_bytes);
        memset(w->local_bits, 0, (size_t)w->local_capacity * VM_LANES / 8);
        w->local_defined = e->checks & WIRE_CHECK_UNINITIALIZED ? w->local_bits : NULL;
    } else {
        w->local_bytes = 0;
    }
}

void launch_start_block(struct block *b, uint64_t index)
{
    struct vm_engine *e = b->engine;
    const uint32_t *grid = e->launch->grid;
    const struct vm_code *c = e->code;
    b->index = index;
    b->ctaid[0] = (uint32_t)(index % grid[0]);
    b->ctaid[1] = (uint32_t)(index / grid[0] % grid[1]);
    b->ctaid[2] = (uint32_t)(index / grid[0] / grid[1]);
    b->active = true;
    b->exited = b->done_warps = 0;
    b->late = 0;
    if (b->open_barriers)
        memset(b->barriers, 0, sizeof b->barriers);
    b->open_barriers = 0;
    for (unsigned k = 0; k < 3; k++) {
        set_slot(c, b->bank, (enum ptx_sreg)(PTX_SREG_ctaid_x + k), b->ctaid[k]);
        set_slot(c, b->bank, (enum ptx_sreg)(PTX_SREG_clusterid_x + k), b->ctaid[k]);
    }
    set_slot(c, b->bank, PTX_SREG_smid, b->slot % e->vm->limits.sm_count);
    struct warp *setup = e->setup_warp;
    setup->bank = b->bank;
    setup->block = b;
    run_setup(e, setup, VM_PER_BLOCK);
    if (b->shared_end > VM_SHARED_START) {
        if (b->shared_defined)
            memset(b->shared_bits, 0, b->shared_end / 8 + 8);
        else
            memset(b->shared, 0xCD, b->shared_end);
    }
    if (c->reserved_shared) { /* cooperative groups find zeros there */
        memset(b->shared + VM_SHARED_START - c->reserved_shared, 0, c->reserved_shared);
        vm_bits_set(b->shared_bits, VM_SHARED_START - c->reserved_shared, c->reserved_shared);
    }
    for (uint32_t k = 0; k < b->warp_count; k++)
        start_warp(&b->warps[k], e->block_threads);
    if (e->global_races || (e->checks & WIRE_CHECK_RACES && b->shared_end > VM_SHARED_START))
        vm_race_block_start(b);
}

/* ---- launches ---- */

/* What cooperative_groups expects at the address in %envreg1 and 2: its size, and a barrier. */
static void set_grid_workspace(struct vm_engine *e, const struct vm_code *c)
{
    if (!c->sreg_slots[PTX_SREG_envreg1] && !c->sreg_slots[PTX_SREG_envreg2])
        return;
    if (!e->grid_workspace)
        e->grid_workspace = vm_malloc(e->vm, GRID_WORKSPACE_BYTES);
    uint64_t at = e->launch->cooperative ? e->grid_workspace : 0;
    uint8_t *bytes = vm_bytes(e->vm, e->grid_workspace, GRID_WORKSPACE_BYTES);
    if (bytes) {
        uint32_t size = GRID_WORKSPACE_BYTES;
        memset(bytes, 0, GRID_WORKSPACE_BYTES);
        memcpy(bytes, &size, sizeof size);
        vm_mark_defined(e->vm, e->grid_workspace, GRID_WORKSPACE_BYTES);
    }
    set_slot(c, e->bank, PTX_SREG_envreg1, at >> 32);
    set_slot(c, e->bank, PTX_SREG_envreg2, at & 0xffffffffu);
}

static void set_launch_sregs(struct vm_engine *e, const struct vm_code *c)
{
    const struct vm_launch *l = e->launch;
    for (unsigned k = 0; k < 3; k++) {
        set_slot(c, e->bank, (enum ptx_sreg)(PTX_SREG_ntid_x + k), l->block[k]);
        set_slot(c, e->bank, (enum ptx_sreg)(PTX_SREG_nctaid_x + k), l->grid[k]);
        set_slot(c, e->bank, (enum ptx_sreg)(PTX_SREG_nclusterid_x + k), l->grid[k]);
        set_slot(c, e->bank, (enum ptx_sreg)(PTX_SREG_cluster_nctaid_x + k), 1);
    }
    set_slot(c, e->bank, PTX_SREG_nwarpid, e->vm->limits.max_threads_per_sm / VM_LANES);
    set_slot(c, e->bank, PTX_SREG_nsmid, e->vm->limits.sm_count);
    set_slot(c, e->bank, PTX_SREG_gridid, e->vm->launch_count);
    set_slot(c, e->bank, PTX_SREG_dynamic_smem_size, l->dynamic_shared);
    set_slot(c, e->bank, PTX_SREG_total_smem_size,
             c->shared_static_end - VM_SHARED_START + l->dynamic_shared);
    set_slot(c, e->bank, PTX_SREG_cluster_nctarank, 1);
    set_grid_workspace(e, c);
}

static void prepare_bank(struct vm_engine *e)
{
    const struct vm_code *c = e->code;
    e->bank = must(realloc(e->bank, c->bank_bytes + 64));
    memset(e->bank + c->bank_bytes, 0, 64);
    memcpy(e->bank, c->bank, c->bank_bytes);
    if (c->param_bytes)
        memcpy(e->bank + c->params_at, e->launch->params, c->param_bytes);
    set_launch_sregs(e, c);
}

static void prepare_memory(struct vm_engine *e)
{
    const struct vm_code *c = e->code;
    if (e->cache_capacity < c->mem_op_count) {
        free(e->caches);
        e->cache_capacity = c->mem_op_count;
        e->caches = must(malloc(e->cache_capacity * sizeof *e->caches));
    }
    if (c->mem_op_count)
        memset(e->caches, 0, c->mem_op_count * sizeof *e->caches);
    if (!e->setup_warp) {
        e->setup_warp = aligned(sizeof *e->setup_warp);
        memset(e->setup_warp, 0, sizeof *e->setup_warp);
    }
    struct warp *w = e->setup_warp;
    w->engine = e;
    w->bank = e->bank;
    w->block = NULL;
    vm_stack_reserve(w, c->frame_bytes);
    if (e->race_pair_count)
        memset(e->race_pairs, 0, 1024 * sizeof *e->race_pairs);
    e->race_pair_count = e->race_hits = 0;
}

struct vm_engine *launch_new_engine(struct vm *vm)
{
    struct vm_engine *e = aligned(sizeof *e);
    memset(e, 0, sizeof *e);
    e->vm = vm;
    e->exec = vm_exec_choose();
    e->start_ns = clock_now_ns();
    return e;
}

static struct vm_engine *engine_of(struct vm *vm)
{
    if (!vm->engine)
        vm->engine = launch_new_engine(vm);
    return vm->engine;
}

void launch_copy(struct vm_engine *e, const struct vm_engine *from, struct wire_counters *counters)
{
    const struct vm_engine own = *e;
    *e = *from;
    e->crew = own.crew;
    e->crew_kept = NULL;
    e->worker = own.worker;
    e->counters = counters;
    e->caches = own.caches;
    e->cache_capacity = own.cache_capacity;
    e->slots = own.slots;
    e->slot_capacity = own.slot_capacity;
    e->bank = own.bank;
    e->setup_warp = own.setup_warp;
    e->race_pairs = own.race_pairs;
    e->race_pair_count = own.race_pair_count;
    e->version = e->quiet_version = 0;
}

void launch_follow(struct vm_engine *e)
{
    /* The caller's bank is complete: parameters, constants, what follows from them. */
    const struct vm_engine *caller = e->vm->engine;
    e->bank = must(realloc(e->bank, e->code->bank_bytes + 64));
    memcpy(e->bank, caller->bank, e->code->bank_bytes + 64);
    prepare_memory(e);
}

void vm_use_exec(struct vm *vm, const struct vm_exec *exec)
{
    engine_of(vm)->exec = exec;
}

static void set_resident_blocks(struct vm_engine *e)
{
    const struct vm *vm = e->vm;
    uint64_t fit = vm_kernel_occupancy(vm, e->kernel, e->block_threads, e->launch->dynamic_shared);
    uint64_t most = fit * vm->limits.sm_count;
    if (e->launch->cooperative || most > e->block_total)
        most = e->block_total;
    e->resident_most = most ? (uint32_t)most : 1;
    e->resident_wanted = e->resident_most;
    uint32_t wanted = vm->config.resident_blocks;
    if (wanted && wanted < e->resident_most && !e->launch->cooperative)
        e->resident_wanted = wanted;
}

enum vm_status vm_launch(struct vm *vm, struct vm_kernel *kernel, const struct vm_launch *launch)
{
    if (vm->sticky != VM_OK)
        return vm->sticky;
    struct vm_engine *e = engine_of(vm);
    vm->launch_count++;
    vm->counters.value[COUNTER_kernel_launches]++;
    e->interleaved = vm->config.schedule == WIRE_INTERLEAVED;
    unsigned kind = (e->interleaved || vm->config.delay_stores ? VM_CODE_FINE : 0u) |
                    (vm->config.checks & WIRE_CHECK_PROFILE ? VM_CODE_PROFILED : 0u);
    if (!kernel->code[kind])
        kernel->code[kind] = vm_lower(kernel, e->exec, kind);
    memset(e->paths, 0, sizeof e->paths);
    e->code = kernel->code[kind];
    e->kernel = kernel;
    e->launch = launch;
    e->checks = vm->config.checks;
    /* Lanes that execute one store together may write the same value, and so may threads that find
     * it there; parted lanes and late stores would be told apart. Races do not depend on the
     * schedule: the other passes look for them. */
    if (e->interleaved || vm->config.delay_stores)
        e->checks &= ~(uint32_t)(WIRE_CHECK_RACES | WIRE_CHECK_GLOBAL_RACES);
    e->counters = &vm->counters;
    e->block_threads = launch->block[0] * launch->block[1] * launch->block[2];
    e->warps_per_block = (e->block_threads + VM_LANES - 1) / VM_LANES;
    e->block_total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    vm_watch_start(e);
    e->blocks_done = e->next_block = 0;
    e->slots_used = 0;
    e->status = VM_OK;
    e->stopped = false;
    e->steps = e->quiet_since = 0;
    /* A seed means the same whatever ran before vm_configure(). */
    e->rng_key = rng_key(vm->config.schedule_seed, vm->launch_count - vm->launch_count_before);
    e->rng_counter = 0;
    if (e->block_total == 0 || e->block_threads == 0)
        return VM_OK;
    vm_race_launch_start(e);
    prepare_bank(e);
    prepare_memory(e);
    run_setup(e, e->setup_warp, VM_PER_LAUNCH);
    set_resident_blocks(e);
    delay_start(e);
    crew_run(e);
    delay_drain_all(e);
    vm_watch_end(e);
    e->delay = NULL;
    for (uint32_t k = 0; k < e->slots_used; k++)
        e->slots[k]->active = false;
    vm_race_launch_end(e);
    e->total_steps += e->steps;
    vm->sticky = e->status;
    return e->status;
}

uint32_t vm_kernel_occupancy(const struct vm *vm, const struct vm_kernel *kernel,
                             uint32_t block_threads, uint64_t dynamic_shared)
{
    const struct vm_limits *l = &vm->limits;
    uint32_t threads = (block_threads + VM_LANES - 1) & ~(VM_LANES - 1u);
    uint64_t shared = vm_static_shared(kernel) + dynamic_shared;
    if (!threads || threads > l->max_threads_per_block || shared > l->shared_per_block_optin)
        return 0;
    uint64_t most = l->max_blocks_per_sm;
    if (most > l->max_threads_per_sm / threads)
        most = l->max_threads_per_sm / threads;
    /* The system keeps 1 KB of each block's shared memory. */
    if (most > l->shared_per_sm / (shared + 1024))
        most = l->shared_per_sm / (shared + 1024);
    return (uint32_t)most;
}
