/* Accesses that are not plain: each lane is resolved alone, whatever space it points into, and
 * checked. Here faults are found and told. The fast paths of exec_mem.c come here when their cache
 * misses, when addresses fall into several places, and for every fault. */
#include "cpu/vm/check.h"
#include "cpu/vm/delay.h"
#include "cpu/vm/watch.h"

#include <stdio.h>
#include <string.h>

/* ---- the launch's end ---- */

void vm_fault(struct warp *w, enum vm_status status)
{
    w->engine->stopped = true;
    w->engine->status = status;
    vm_halt(w, VM_STOP_FAULT);
}

uint32_t vm_loc_of(const struct vm_code *code, uint32_t pc, bool *moved)
{
    enum { NEAR = 16 };
    const struct ptx_module *ptx = &code->module->ptx;
    const struct ptx_instr *in = code->origins[pc];
    *moved = false;
    if (!in || !in->loc || in->loc >= ptx->loc_count || ptx->locs[in->loc].line ||
        ptx->locs[in->loc].inlined_at >= 0)
        return in ? in->loc : 0;
    for (uint32_t k = pc + 1; k < code->insn_count && k < pc + NEAR && code->origins[k]; k++) {
        uint32_t loc = code->origins[k]->loc;
        *moved = loc && loc < ptx->loc_count && ptx->locs[loc].line;
        if (*moved)
            return loc;
    }
    return in->loc;
}

void vm_site_of(const struct warp *w, uint32_t pc, int lane, struct vm_site *site)
{
    const struct vm_engine *e = w->engine;
    bool moved;
    *site = (struct vm_site){.kernel = e->kernel,
                             .module = e->code->module,
                             .loc = vm_loc_of(e->code, pc, &moved),
                             .block = {-1, -1, -1},
                             .thread = {-1, -1, -1}};
    if (w->block)
        for (int k = 0; k < 3; k++)
            site->block[k] = (int32_t)w->block->ctaid[k];
    if (lane >= 0) {
        uint32_t t = w->index * VM_LANES + (uint32_t)lane;
        const uint32_t *shape = e->launch->block;
        site->thread[0] = (int32_t)(t % shape[0]);
        site->thread[1] = (int32_t)(t / shape[0] % shape[1]);
        site->thread[2] = (int32_t)(t / shape[0] / shape[1]);
    }
}

/* ---- places ---- */

static enum check_place classify(const struct warp *w, const struct mem_op *op, uint64_t address,
                                 uint64_t *offset)
{
    uint64_t window = w->engine->vm->window;
    *offset = address;
    switch ((int)op->space) {
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        return CHECK_SHARED;
    case PTX_LOCAL:
        return CHECK_LOCAL;
    case PTX_GLOBAL:
        return CHECK_GLOBAL;
    default:
        break;
    }
    if (address - (window + VM_SHARED_OFFSET) < VM_SHARED_BYTES) {
        *offset = address - (window + VM_SHARED_OFFSET);
        return CHECK_SHARED;
    }
    if (address - (window + VM_LOCAL_OFFSET) < VM_LOCAL_BYTES) {
        *offset = address - (window + VM_LOCAL_OFFSET);
        return CHECK_LOCAL;
    }
    if (address - (window + VM_PARAM_OFFSET) < VM_HEAP_OFFSET - VM_PARAM_OFFSET) {
        *offset = address - (window + VM_PARAM_OFFSET);
        return CHECK_PARAM;
    }
    return CHECK_GLOBAL;
}

static uint32_t range_high(const struct warp *w, const struct shared_range *r)
{
    return r->dynamic ? w->block->shared_end : r->high;
}

/* Is [offset, offset + bytes) in [low, high)? Offsets may be anything, also nearly 2^64. */
static bool within(uint64_t offset, uint64_t bytes, uint64_t low, uint64_t high)
{
    return high >= low && bytes <= high - low && offset - low <= high - low - bytes;
}

static const struct shared_range *find_shared(const struct warp *w, uint64_t offset, unsigned bytes)
{
    const struct vm_code *code = w->engine->code;
    for (uint32_t k = 0; k < code->shared_count; k++) {
        const struct shared_range *r = &code->shared[k];
        if (within(offset, bytes, r->low, range_high(w, r)))
            return r;
    }
    return NULL;
}

static bool local_bounds(const struct warp *w, unsigned lane, uint64_t offset, unsigned bytes)
{
    (void)lane;
    return within(offset, bytes, VM_LOCAL_START, w->local_bytes);
}

bool check_resolve(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                   unsigned bytes, struct check_target *t)
{
    struct vm_allocation *near = t->allocation;
    vm_columns_settle(w->engine);
    *t = (struct check_target){0};
    t->place = classify(w, op, address, &t->offset);
    bool ok = (address & (bytes - 1)) == 0;
    switch (t->place) {
    case CHECK_SHARED:
        t->range = find_shared(w, t->offset, bytes);
        ok = ok && t->range;
        t->host = ok ? w->block->shared + t->offset : NULL;
        break;
    case CHECK_LOCAL:
        ok = ok && local_bounds(w, lane, t->offset, bytes);
        break;
    case CHECK_PARAM:
        t->host = w->bank + w->engine->code->params_at + t->offset;
        ok = ok && !op->write && t->offset + bytes <= w->engine->code->param_bytes;
        break;
    case CHECK_GLOBAL:
    case CHECK_NOWHERE: {
        struct vm_allocation *a = near && address - near->base < near->bytes
                                      ? near
                                      : vm_find_allocation(w->engine->vm, address);
        t->allocation = a;
        ok = ok && a && !a->freed && address >= a->low && address <= a->high &&
             bytes <= a->high - address && !(a->read_only && op->write);
        if (ok)
            t->host = a->host + (address - a->base);
        break;
    }
    }
    if (!ok)
        check_fault(w, op, lane, address, bytes);
    else if (op->write && t->allocation && t->allocation->is_input)
        check_input_written(w, op, lane, address, bytes);
    return ok;
}

/* ---- definedness ---- */

bool check_defined(const struct check_target *t, const struct warp *w, uint64_t used, bool write)
{
    uint64_t at = t->offset;
    if (t->place == CHECK_SHARED) {
        uint64_t *bits = w->block->shared_defined;
        if (bits && write)
            bits[at / 64] |= used << (at & 63);
        return !bits || write || (~(bits[at / 64] >> (at & 63)) & used) == 0;
    }
    uint64_t *bits = t->allocation ? check_bits(w, t->allocation) : NULL;
    if (!bits)
        return true;
    at -= t->allocation->base;
    if (write) { /* nobody else writes this word; others may look at it */
        if (w->engine->worker)
            vm_bits_touch(bits);
        __atomic_store_n(&bits[at / 64], bits[at / 64] | used << (at & 63), __ATOMIC_RELAXED);
        return true;
    }
    return (~(vm_defined_word(t->allocation, at / 64) >> (at & 63)) & used) == 0;
}

/* With nobody to ask about single bytes, what a kernel writes to counts as defined as a whole. */
uint64_t *check_bits(const struct warp *w, struct vm_allocation *a)
{
    const struct vm_engine *e = w->engine;
    if (!(e->checks & WIRE_CHECK_UNINITIALIZED) || a->whole)
        return NULL;
    return e->worker ? vm_own_bits(e->vm, a, e->worker) : a->defined;
}

void check_remember(struct warp *w, const struct mem_op *op, struct vm_allocation *a)
{
    struct vm_engine *e = w->engine;
    struct mem_cache *c = &e->caches[op->index];
    if (op->write && !(e->checks & WIRE_CHECK_UNINITIALIZED))
        __atomic_store_n(&a->whole, true, __ATOMIC_RELAXED);
    uint64_t *mine = check_bits(w, a);
    *c = (struct mem_cache){.low = a->low,
                            .span = a->high - a->low,
                            .bias = (uint8_t *)((uintptr_t)a->host - a->base),
                            .defined = mine ? a->defined : NULL,
                            .mine = mine,
                            .base = a->base,
                            .shadow = vm_race_shadow(w->engine, a),
                            .reported = c->reported,
                            .carried = c->carried};
    /* The shortest ways count sectors themselves. */
    bool watched = e->watch_global & ~(uint32_t)VM_WATCH_COUNTERS;
    if (op->strength == VM_PLAIN && !watched && !e->global_races && c->span >= op->total)
        c->limit = c->span - op->total;
}

/* Byte b of the word k of lane l is bit ((k * 32 + l) * 4 + b). */
static uint64_t local_bit(unsigned lane, uint64_t offset)
{
    return ((offset / 4) * VM_LANES + lane) * 4 + (offset & 3);
}

static bool local_defined(struct warp *w, unsigned lane, uint64_t offset, unsigned bytes,
                          uint64_t used, bool write)
{
    if (!w->local_defined)
        return true;
    bool all = true;
    for (unsigned k = 0; k < bytes; k++) {
        uint64_t bit = local_bit(lane, offset + k);
        if (!(used >> k & 1))
            continue;
        if (write)
            w->local_defined[bit / 64] |= 1ull << (bit & 63);
        else
            all &= w->local_defined[bit / 64] >> (bit & 63) & 1;
    }
    return all;
}

uint64_t check_undefined(const struct warp *w, const struct mem_op *op, unsigned lane, int64_t from,
                         unsigned bytes)
{
    uint64_t at, all = (1ull << bytes) - 1, undefined = 0;
    const uint64_t *bits = w->block ? w->block->shared_defined : NULL;
    enum check_place place = classify(w, op, w->lane_address[lane] + (uint64_t)from, &at);
    if (place == CHECK_LOCAL) {
        for (unsigned k = 0; w->local_defined && k < bytes; k++) {
            uint64_t bit = local_bit(lane, at + k);
            undefined |= (~w->local_defined[bit / 64] >> (bit & 63) & 1) << k;
        }
        return undefined;
    }
    if (at >= VM_SHARED_BYTES) {
        const struct vm_allocation *a = vm_find_allocation(w->engine->vm, at);
        if (!a || !a->defined)
            return all;
        at -= a->base;
        return a->whole ? 0 : ~(vm_defined_word(a, at / 64) >> (at & 63)) & all;
    }
    return bits ? ~(bits[at / 64] >> (at & 63)) & all : all;
}

void check_local_read(struct warp *w, unsigned lane, uint64_t offset, uint8_t *to, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        to[k] = w->local[((offset + k) / 4 * VM_LANES + lane) * 4 + ((offset + k) & 3)];
}

void check_local_write(struct warp *w, unsigned lane, uint64_t offset, const uint8_t *from,
                       unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        w->local[((offset + k) / 4 * VM_LANES + lane) * 4 + ((offset + k) & 3)] = from[k];
}

/* ---- whole accesses ---- */

static void remember(struct warp *w, const struct mem_op *op, const struct check_target *t)
{
    struct mem_cache *c = &w->engine->caches[op->index];
    bool shared_space = op->space == PTX_SHARED || op->space == PTX_SHARED_CLUSTER;
    if (t->place == CHECK_SHARED && shared_space) {
        *c = (struct mem_cache){.low = t->range->low,
                                .span = range_high(w, t->range) - t->range->low,
                                .reported = c->reported,
                                .carried = c->carried};
    } else if (t->place == CHECK_GLOBAL && !shared_space && t->allocation && !w->engine->delay &&
               !(t->allocation->read_only && op->write)) {
        check_remember(w, op, t->allocation);
    }
}

static void count(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared)
{
    uint64_t *v = w->engine->counters->value;
    if (op->space == PTX_CONST)
        return; /* it has caches of its own: an SM reads a constant once */
    if (global) {
        v[op->write ? COUNTER_global_bytes_written : COUNTER_global_bytes_read] +=
            (uint64_t)vm_count_lanes(global) * op->total;
        v[COUNTER_global_requests]++;
    }
    if (shared)
        v[COUNTER_shared_requests]++;
    const struct vm_engine *e = w->engine;
    if ((global && e->watch_global) || (shared && e->watch_shared))
        vm_watch(w, op, global, shared);
}

bool vm_mem_slow(struct warp *w, const struct mem_op *op, uint32_t m)
{
    uint32_t global = 0, shared = 0, undefined = 0;
    uint64_t all = (1ull << op->total) - 1, used = op->write ? all : all & op->used_bytes;
    struct check_target t = {0};
    w->bounced = w->delayed = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        if (op->narrow)
            w->lane_address[l] = (uint32_t)w->lane_address[l];
        if (!check_resolve(w, op, l, w->lane_address[l], op->total, &t))
            return false;
        bool defined;
        if (t.place == CHECK_LOCAL) {
            defined = local_defined(w, l, t.offset, op->total, used, op->write);
            w->lane_host[l] = w->bounce.bytes[l];
            w->bounce_offset[l] = t.offset;
            w->bounced |= 1u << l;
            if (!op->write)
                check_local_read(w, l, t.offset, w->bounce.bytes[l], op->total);
        } else {
            defined = check_defined(&t, w, used, op->write);
            w->lane_host[l] = t.host;
            if (w->engine->delay && t.place == CHECK_GLOBAL)
                w->lane_host[l] = delay_reach(w, op, l, w->lane_address[l], t.host);
            if (t.place == CHECK_SHARED) {
                shared |= 1u << l;
                w->lane_address[l] = t.offset;
            } else if (t.place == CHECK_GLOBAL) {
                global |= 1u << l;
            }
        }
        if (!defined)
            undefined |= 1u << l;
    }
    remember(w, op, &t);
    if (undefined)
        vm_report_uninitialized(w, op, undefined);
    if (shared && w->clocks)
        vm_race_access(w, op, shared);
    if (global && w->clocks)
        vm_race_global(w, op, global);
    count(w, op, global, shared);
    if (op->write)
        w->engine->version++;
    return true;
}

void vm_mem_write_back(struct warp *w, const struct mem_op *op, uint32_t m)
{
    for (uint32_t rest = m & w->bounced; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        check_local_write(w, l, w->bounce_offset[l], w->bounce.bytes[l], op->total);
    }
    for (uint32_t rest = m & w->delayed; rest; rest &= rest - 1)
        delay_put(w, op, (unsigned)__builtin_ctz(rest));
    w->bounced = w->delayed = 0;
}

bool check_peek(struct warp *w, unsigned lane, uint64_t address, void *to, uint64_t bytes)
{
    struct mem_op op = {.space = PTX_GENERIC};
    uint64_t offset;
    vm_columns_settle(w->engine);
    switch (classify(w, &op, address, &offset)) {
    case CHECK_SHARED:
        if (!find_shared(w, offset, (unsigned)bytes))
            return false;
        memcpy(to, w->block->shared + offset, bytes);
        return true;
    case CHECK_LOCAL:
        if (!local_bounds(w, lane, offset, (unsigned)bytes))
            return false;
        check_local_read(w, lane, offset, to, (unsigned)bytes);
        return true;
    case CHECK_PARAM:
        if (offset + bytes > w->engine->code->param_bytes)
            return false;
        memcpy(to, w->bank + w->engine->code->params_at + offset, bytes);
        return true;
    case CHECK_GLOBAL:
    case CHECK_NOWHERE:
        break;
    }
    const uint8_t *host = vm_bytes(w->engine->vm, address, bytes);
    if (!host)
        return false;
    memcpy(to, host, bytes);
    return true;
}
