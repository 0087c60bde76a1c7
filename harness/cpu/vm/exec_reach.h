/* Loads and stores. reach() turns the lanes' addresses into host addresses: first as one allocation
 * that the instruction touched last time (struct mem_cache) and, if the addresses have a constant
 * stride, as first address and stride, which is what scans do nearly always. What does not fit goes
 * lane by lane through vm_mem_slow().
 *
 * Definedness is a bit per byte. For a stride that is a power of two up to 64 bytes the bits of all
 * lanes are a pattern over a few words; otherwise lane by lane.
 * For exec_mem.c only. */
#ifndef CPU_VM_EXEC_REACH_H
#define CPU_VM_EXEC_REACH_H

#include "cpu/vm/exec.h"
#include "cpu/vm/race.h"

struct reach {
    bool ok;     /* false: a fault, the launch has ended */
    bool affine; /* host + lane * stride; else w->lane_host[lane] */
    bool slow;   /* a store must be written back */
    uint8_t *host;
    int64_t stride;
};

#define MEM_OP(i) ((const struct mem_op *)(uintptr_t)(i)->imm)

/* Do all 32 addresses have one distance? Rows are followed by readable memory. */
#if defined(__AVX512F__)
static inline bool constant_stride(const r64 *a)
{
    const __m512i stride = _mm512_set1_epi64((int64_t)(a[1] - a[0]));
    __mmask8 off = 0;
#pragma GCC unroll 4
    for (unsigned k = 0; k < VM_LANES; k += 8) {
        __m512i step = _mm512_sub_epi64(_mm512_loadu_si512(a + k + 1), _mm512_load_si512(a + k));
        off |= _mm512_mask_cmpneq_epi64_mask(k == 24 ? 0x7f : 0xff, step, stride);
    }
    return off == 0;
}
#else
static const uint64_t ALL_BUT_LAST[VM_LANES] = {
    ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull,
    ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull,
    ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, 0,
};

static inline bool constant_stride(const r64 *a)
{
    uint64_t stride = a[1] - a[0], off = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        off |= (a[l + 1] - a[l] - stride) & ALL_BUT_LAST[l];
    return off == 0;
}
#endif

/* Bits [bit, bit + n) at every `stride`-th position, 32 times: checks or sets them. stride is a
 * power of two, n <= stride <= 64. */
static inline bool pattern_all(const uint64_t *bits, uint64_t bit, unsigned n, unsigned stride)
{
    uint64_t one = n == 64 ? ~0ull : (1ull << n) - 1;
    for (unsigned k = stride; k < 64; k *= 2)
        one |= one << k;
    unsigned turn = (unsigned)bit & (stride - 1);
    uint64_t pattern = turn ? one << turn | one >> (64 - turn) : one;
    uint64_t last = bit + 31ull * stride + n - 1;
    uint64_t from = bit / 64, to = last / 64;
    uint64_t head = ~0ull << (bit & 63), tail = ~0ull >> (63 - (last & 63));
    if (from == to)
        return (~bits[from] & pattern & head & tail) == 0;
    uint64_t missing = (~bits[from] & pattern & head) | (~bits[to] & pattern & tail);
    for (uint64_t k = from + 1; k < to; k++)
        missing |= ~bits[k] & pattern;
    return missing == 0;
}

/* The two patterns that nearly all scans make, 4 bytes in 4 and 4 bytes in 16, in few words.
 * Returns how many words there are from bit / 64 on, 0 = another shape. */
static inline unsigned usual_pattern(uint64_t bit, unsigned n, unsigned stride, uint64_t words[8])
{
    unsigned shift = (unsigned)bit & 63;
    if (n != 4)
        return 0;
    if (stride == 16 && shift <= 12) {
        for (unsigned k = 0; k < 8; k++)
            words[k] = 0x000f000f000f000full << shift;
        return 8;
    }
    if (stride == 4 && shift == 0) {
        words[0] = words[1] = ~0ull;
        return 2;
    }
    return 0;
}

static inline void pattern_set(uint64_t *bits, uint64_t bit, unsigned n, unsigned stride)
{
    uint64_t one = n == 64 ? ~0ull : (1ull << n) - 1;
    for (unsigned k = stride; k < 64; k *= 2)
        one |= one << k;
    unsigned turn = (unsigned)bit & (stride - 1);
    uint64_t pattern = turn ? one << turn | one >> (64 - turn) : one;
    uint64_t last = bit + 31ull * stride + n - 1;
    uint64_t from = bit / 64, to = last / 64;
    uint64_t head = ~0ull << (bit & 63), tail = ~0ull >> (63 - (last & 63));
    if (from == to) {
        bits[from] |= pattern & head & tail;
        return;
    }
    bits[from] |= pattern & head;
    bits[to] |= pattern & tail;
    for (uint64_t k = from + 1; k < to; k++)
        bits[k] |= pattern;
}

/* An aligned access of n <= 32 bytes lies within one word of bits. */
static inline uint64_t bits_of(const uint64_t *bits, uint64_t at)
{
    return bits[at / 64] >> (at & 63);
}

static inline void fill_addresses(struct warp *w, uint64_t first, int64_t stride)
{
    EACH_LANE(l)
    w->lane_address[l] = first + (uint64_t)stride * l;
}

/* The used bytes of one element sequence, as bits. */
static inline uint64_t used_mask(const struct mem_op *op, unsigned total)
{
    uint64_t all = (1ull << total) - 1;
    return all & op->used_bytes;
}

/* Definedness of an access that passed the bounds check. `at`: first address - base. */
static inline void definedness(struct warp *w, const struct mem_op *op, uint32_t m, unsigned total,
                               bool write, uint64_t *bits, uint64_t base, bool affine,
                               uint64_t first, int64_t stride)
{
    uint64_t used = write ? (1ull << total) - 1 : used_mask(op, total);
    if (affine && m == VM_FULL && stride >= (int64_t)total && stride <= 64 &&
        (stride & (stride - 1)) == 0 && (write || used == (1ull << total) - 1)) {
        if (write) {
            pattern_set(bits, first - base, total, (unsigned)stride);
            return;
        }
        if (__builtin_expect(pattern_all(bits, first - base, total, (unsigned)stride), 1))
            return;
    }
    if (affine && stride == 0) {
        uint64_t at = first - base;
        if (write) {
            bits[at / 64] |= used << (at & 63);
            return;
        }
        if ((~bits_of(bits, at) & used) == 0)
            return;
        m &= 0u - m; /* one report is enough */
    }
    if (affine)
        fill_addresses(w, first, stride);
    uint32_t undefined = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t at = w->lane_address[l] - base;
        if (write)
            bits[at / 64] |= used << (at & 63);
        else if (~bits_of(bits, at) & used)
            undefined |= 1u << l;
    }
    if (undefined)
        vm_report_uninitialized(w, op, undefined);
}

/* The shadow of shared memory for the two commonest shapes, one word for all lanes and a word per
 * lane in a row, as long as nobody else touched them since the last barrier. false: nothing was
 * recorded, vm_race_access() has to do it. */
static inline bool race_quick(struct warp *w, const struct mem_op *op, uint32_t m, uint32_t first,
                              int64_t stride)
{
    struct race_block *r = w->block->races;
    if (op->strength != VM_PLAIN || r->shift != 2 || op->total != 4)
        return false;
    uint64_t base = race_pack(r->epoch, w->index * VM_LANES, VM_PLAIN, w->sync_events, op->pc);
    const uint64_t lane = 1ull << RACE_THREAD_SHIFT;
    uint32_t unit = first >> 2;
    if (stride == 0 || (m & (m - 1)) == 0) {
        unsigned low = LANE(m), high = 31u - (unsigned)__builtin_clz(m);
        unit = (uint32_t)((int64_t)first + stride * low) >> 2;
        uint64_t mine = base + low * lane;
        if (op->write) {
            if (low != high || race_meets(r->write[unit], mine) ||
                race_meets(r->first_read[unit], mine) || race_meets(r->last_read[unit], mine))
                return false;
            r->write[unit] = mine;
            return true;
        }
        if (r->write[unit] >> RACE_EPOCH_SHIFT == r->epoch && race_meets(r->write[unit], mine))
            return false;
        if (low != high && r->write[unit] >> RACE_EPOCH_SHIFT == r->epoch)
            return false; /* its own write, but others read it too */
        if (!race_meets(r->first_read[unit], mine))
            r->first_read[unit] = mine;
        else
            r->last_read[unit] = mine;
        if (low != high)
            r->last_read[unit] = base + high * lane;
        return true;
    }
    if (stride != 4 || m != VM_FULL || unit + VM_LANES > r->units)
        return false;
    r64 *written = r->write + unit, *one = r->first_read + unit, *other = r->last_read + unit;
    uint64_t met = 0;
    if (op->write) {
        for (unsigned l = 0; l < VM_LANES; l++) {
            uint64_t mine = base + l * lane;
            met |= (uint64_t)race_meets(written[l], mine) | (uint64_t)race_meets(one[l], mine) |
                   (uint64_t)race_meets(other[l], mine);
        }
        if (met)
            return false;
        EACH_LANE(l)
        written[l] = base + l * lane;
        return true;
    }
    for (unsigned l = 0; l < VM_LANES; l++)
        met |= (uint64_t)race_meets(written[l], base + l * lane);
    if (met)
        return false;
    EACH_LANE(l)
    {
        uint64_t mine = base + l * lane, old = one[l], last = other[l];
        bool somebody = race_meets(old, mine);
        one[l] = somebody ? old : mine;
        other[l] = somebody ? mine : last;
    }
    return true;
}

/* The same for any addresses, which are in w->lane_address. Looks at everything before it records
 * anything: lanes of one store do not race with each other here. */
static __attribute__((noinline)) bool race_lanes(struct warp *w, const struct mem_op *op,
                                                 uint32_t m)
{
    struct race_block *r = w->block->races;
    const uint32_t shift = r->shift, units = (op->total + (1u << shift) - 1) >> shift;
    const uint64_t base =
        race_pack(r->epoch, w->index * VM_LANES, VM_PLAIN, w->sync_events, op->pc);
    uint64_t met = 0;
    if (op->strength != VM_PLAIN)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t mine = base + ((uint64_t)l << RACE_THREAD_SHIFT);
        uint32_t first = (uint32_t)w->lane_address[l] >> shift;
        for (uint32_t unit = first; unit < first + units; unit++) {
            met |= (uint64_t)race_meets(r->write[unit], mine);
            if (op->write)
                met |= (uint64_t)race_meets(r->first_read[unit], mine) |
                       (uint64_t)race_meets(r->last_read[unit], mine);
        }
    }
    if (met)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t mine = base + ((uint64_t)l << RACE_THREAD_SHIFT);
        uint32_t first = (uint32_t)w->lane_address[l] >> shift;
        for (uint32_t unit = first; unit < first + units; unit++) {
            if (op->write)
                r->write[unit] = mine;
            else if (race_meets(r->first_read[unit], mine))
                r->last_read[unit] = mine;
            else
                r->first_read[unit] = mine;
        }
    }
    return true;
}

static inline struct reach reach_slow(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct reach r = {.slow = true};
    r.ok = vm_mem_slow(w, op, m);
    return r;
}

/* Races, counters and definedness of an access to shared memory that is in bounds. */
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
    if (__builtin_expect((e->checks & WIRE_CHECK_COUNTERS) != 0, 0)) {
        if (r->affine)
            fill_addresses(w, first, r->stride);
        vm_count_banks(w, op, m);
    }
    e->counters->value[COUNTER_shared_requests]++;
    if (w->block->shared_defined)
        definedness(w, op, m, total, write, w->block->shared_defined, 0, r->affine, first,
                    r->stride);
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
    if (__builtin_expect((e->checks & WIRE_CHECK_COUNTERS) || op->strength != VM_PLAIN, 0)) {
        if (r->affine)
            fill_addresses(w, first, r->stride);
        if (e->checks & WIRE_CHECK_COUNTERS)
            vm_count_sectors(w, op, m);
        if (w->clocks)
            vm_race_flags(w, op, m);
    }
    if (c->defined && (write || e->checks & WIRE_CHECK_UNINITIALIZED))
        definedness(w, op, m, total, write, c->defined, c->base, r->affine, first, r->stride);
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
    if (op->form == VM_ADDRESS_SLOT) {
        first = SLOT(r64, op->address) + (uint64_t)op->offset;
        r.affine = true;
    } else {
        const r64 *a;
        if (op->form == VM_ADDRESS_32) {
            const r32 *narrow = ROW(r32, op->address);
            EACH_LANE(l)
            w->lane_address[l] = narrow[l];
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
