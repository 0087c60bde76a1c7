/* Loads and stores. reach() turns the lanes' addresses into host addresses: first as one allocation
 * that the instruction touched last time (struct mem_cache) and, if the addresses have a constant
 * stride, as first address and stride, which is what scans do nearly always. What does not fit goes
 * lane by lane through vm_mem_slow().
 * What looks at every access is in exec_defined.h, exec_race.h and watch.h. For exec_mem.c only. */
#ifndef CPU_VM_EXEC_REACH_H
#define CPU_VM_EXEC_REACH_H

#include "cpu/vm/exec_defined.h"
#include "cpu/vm/exec_race.h"
#include "cpu/vm/watch.h"

struct reach {
    bool ok;     /* false: a fault, the launch has ended */
    bool affine; /* host + lane * stride; else w->lane_host[lane] */
    bool slow;   /* a store must be written back */
    uint8_t *host;
    int64_t stride;
};

#define MEM_OP(i) ((const struct mem_op *)(uintptr_t)(i)->imm)

/* Do all 32 addresses have one distance? Compared with what they have to be then, and not with each
 * other: a load across two rows' halves that have just been stored would wait for both stores. */
static inline bool constant_stride(const r64 *a)
{
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i stride = _mm512_set1_epi64((int64_t)(a[1] - a[0]));
    const __m512i step = _mm512_slli_epi64(stride, 3);
    __m512i expected =
        _mm512_add_epi64(_mm512_set1_epi64((int64_t)a[0]), _mm512_mullo_epi64(lane, stride));
    __m512i off = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (unsigned k = 0; k < VM_LANES; k += 8) {
        /* off | (address ^ expected) */
        off = _mm512_ternarylogic_epi64(off, _mm512_load_si512(a + k), expected, 0xf6);
        expected = _mm512_add_epi64(expected, step);
    }
    return _mm512_test_epi64_mask(off, off) == 0;
#else
    const uint64_t stride = a[1] - a[0], first = a[0];
    uint64_t off = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        off |= a[l] ^ (first + stride * l);
    return off == 0;
#endif
}

static inline struct reach reach_slow(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct reach r = {.slow = true};
    r.ok = vm_mem_slow(w, op, m);
    return r;
}

/* What watch_count.c would find out lane by lane, for addresses with a constant distance: words
 * next to each other lie in different banks, in every part of a warp that goes at once; one word
 * goes to all lanes. */
static inline bool free_of_conflicts(const struct vm_engine *e, const struct reach *r,
                                     unsigned total)
{
    return e->watch_shared == VM_WATCH_COUNTERS && r->affine && total <= 16 &&
           (r->stride == (total < 4 ? 4 : (int64_t)total) || (r->stride == 0 && total <= 4));
}

/* Sectors of 32 bytes that 32 aligned accesses lie in: none of them crosses the end of one, and
 * with a distance of up to a sector none is left out. */
static inline uint64_t sectors_in_a_row(uint64_t first, uint64_t stride)
{
    const uint64_t last = first + (VM_LANES - 1) * stride;
    return stride > 32 ? VM_LANES : last / 32 - first / 32 + 1;
}

/* What has to be noted of an access to shared memory that is in bounds. */
static inline void look_at_shared(struct warp *w, const struct mem_op *op, uint32_t m,
                                  unsigned total, bool write, const struct reach *r, uint64_t first)
{
    struct vm_engine *e = w->engine;
    if (w->clocks && !(r->affine && race_quick(w, op, m, (uint32_t)first, r->stride))) {
        if (r->affine)
            fill_addresses(w, first, r->stride);
        if (!race_lanes(w, op, m))
            vm_race_access(w, op, m);
    }
    if (__builtin_expect(e->watch_shared, 0) && !free_of_conflicts(e, r, total)) {
        if (r->affine)
            fill_addresses(w, first, r->stride);
        vm_watch(w, op, 0, m);
    }
    e->counters->value[COUNTER_shared_requests]++;
    if (w->block->shared_defined)
        definedness(w, op, m, total, write, w->block->shared_defined, w->block->shared_defined, 0,
                    r->affine, first, r->stride);
}

/* Before a strong store and after a strong load, with other host threads at work: everything strong
 * is at least release and acquire. On x86 the fence only keeps the compiler from reordering. */
static inline void order_strong(const struct warp *w, const struct mem_op *op)
{
    if (op->strength == VM_PLAIN)
        return;
    vm_columns_forget(w->engine);
    if (w->engine->crew)
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

static inline void look_at_global(struct warp *w, const struct mem_op *op, uint32_t m,
                                  unsigned total, bool write, const struct reach *r, uint64_t first)
{
    struct vm_engine *e = w->engine;
    const struct mem_cache *c = &e->caches[op->index];
    uint64_t *v = e->counters->value;
    v[write ? COUNTER_global_bytes_written : COUNTER_global_bytes_read] +=
        (uint64_t)vm_popcount(m) * total;
    v[COUNTER_global_requests]++;
    if (__builtin_expect(e->watch_global || op->strength != VM_PLAIN, 0)) {
        if (r->affine)
            fill_addresses(w, first, r->stride);
        if (e->watch_global == VM_WATCH_COUNTERS && r->affine && m == VM_FULL && r->stride >= 0)
            v[COUNTER_global_sectors] += sectors_in_a_row(first, (uint64_t)r->stride);
        else if (e->watch_global)
            vm_watch(w, op, m, 0);
    }
    if (e->global_races) {
        if (!(r->affine && race_global_quick(w, op, m, c->shadow, first, r->stride))) {
            if (r->affine)
                fill_addresses(w, first, r->stride);
            vm_race_global(w, op, m);
        }
    } else if (__builtin_expect(op->strength != VM_PLAIN, 0)) {
        if (w->clocks)
            vm_race_global(w, op, m);
        order_strong(w, op);
    }
    if (c->defined)
        definedness(w, op, m, total, write, c->defined, c->mine, c->base, r->affine, first,
                    r->stride);
}

static inline struct reach reach(struct warp *w, const struct mem_op *op, const uint8_t *f,
                                 const uint8_t *u, uint32_t m, unsigned total, bool write,
                                 bool shared)
{
    struct vm_engine *e = w->engine;
    const struct mem_cache *c = &e->caches[op->index];
    struct reach r = {.ok = true};
    const uint64_t span = c->span - total; /* wraps when nothing is cached: caught below */
    uint64_t first = 0;
    int64_t stride = 0;
    if (!shared)
        vm_columns_settle(e);
    if (op->form == VM_ADDRESS_SLOT) {
        first = SLOT(r64, op->address) + (uint64_t)op->offset;
        r.affine = true;
    } else {
        const r64 *a;
        if (op->form == VM_ADDRESS_32) {
            const r32 *narrow = ROW(r32, op->address);
            /* With its sign, as nvcc takes a bit off a base and adds it again in the offset; no
             * window of 32-bit addresses is that large. */
            EACH_LANE(l)
            w->lane_address[l] = (uint64_t)(int64_t)(int32_t)narrow[l];
            a = w->lane_address;
        } else {
            a = ROW(r64, op->address);
        }
        r.affine = constant_stride(a);
        first = a[0] + (uint64_t)op->offset;
        stride = (int64_t)(a[1] - a[0]);
        if (!r.affine || stride > INT32_MAX || stride < INT32_MIN) {
            uint64_t wrong = 0, low = c->low - (uint64_t)op->offset;
            const uint64_t *from = (const uint64_t *)a;
            r.affine = false;
            for (unsigned l = 0; l < VM_LANES; l++) {
                uint64_t bad = (uint64_t)(from[l] - low > span) |
                               (((from[l] + (uint64_t)op->offset) & (total - 1)) != 0);
                wrong |= bad << l;
            }
            EACH_LANE(l)
            w->lane_address[l] = from[l] + (uint64_t)op->offset;
            if (__builtin_expect((wrong & m) || c->span < total, 0))
                return reach_slow(w, op, m);
        }
    }
    uint8_t *bias = shared ? w->block->shared : c->bias;
    if (r.affine) {
        unsigned lowest = LANE(m), highest = 31 - (unsigned)__builtin_clz(m);
        uint64_t low = first + (uint64_t)stride * lowest, high = first + (uint64_t)stride * highest;
        if (__builtin_expect(
                (low - c->low > span) | (high - c->low > span) | (c->span < total) |
                    (((first | (uint64_t)stride) & (total - 1)) != 0 &&
                     ((low | (highest > lowest ? (uint64_t)stride : 0)) & (total - 1)) != 0),
                0)) {
            fill_addresses(w, first, stride);
            return reach_slow(w, op, m);
        }
        r.host = (uint8_t *)((uintptr_t)bias + first);
        r.stride = stride;
    } else {
        EACH_LANE(l)
        w->lane_host[l] = (uint8_t *)((uintptr_t)bias + w->lane_address[l]);
    }
    if (shared)
        look_at_shared(w, op, m, total, write, &r, first);
    else
        look_at_global(w, op, m, total, write, &r, first);
    if (write)
        e->version++;
    return r;
}

#endif
