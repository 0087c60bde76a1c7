/* Loads and stores. reach() turns the lanes' addresses into host addresses: first as one allocation
 * that the instruction touched last time (struct mem_cache) and, if the addresses have a constant
 * stride, as first address and stride, which is what scans do nearly always. What does not fit goes
 * lane by lane through vm_mem_slow().
 *
 * Definedness is a bit per byte. For a stride that is a power of two up to 64 bytes the bits of all
 * lanes are a pattern over a few words; otherwise lane by lane. */
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
    uint32_t lanes = vm_popcount(m);
    if (shared) {
        if (w->clocks && !(r.affine && race_quick(w, op, m, (uint32_t)first, stride))) {
            if (r.affine)
                fill_addresses(w, first, stride);
            if (!race_lanes(w, op, m))
                vm_race_access(w, op, m);
        }
        if (__builtin_expect((e->checks & WIRE_CHECK_COUNTERS) != 0, 0)) {
            if (r.affine)
                fill_addresses(w, first, stride);
            vm_count_banks(w, op, m);
        }
        e->counters->value[COUNTER_shared_requests]++;
        if (w->block->shared_defined)
            definedness(w, op, m, total, write, w->block->shared_defined, 0, r.affine, first,
                        stride);
    } else {
        e->counters->value[write ? COUNTER_global_bytes_written : COUNTER_global_bytes_read] +=
            lanes * total;
        e->counters->value[COUNTER_global_requests]++;
        if (__builtin_expect((e->checks & WIRE_CHECK_COUNTERS) || op->strength != VM_PLAIN, 0)) {
            if (r.affine)
                fill_addresses(w, first, stride);
            if (e->checks & WIRE_CHECK_COUNTERS)
                vm_count_sectors(w, op, m);
            if (w->clocks)
                vm_race_flags(w, op, m);
        }
        if (c->defined && (write || e->checks & WIRE_CHECK_UNINITIALIZED))
            definedness(w, op, m, total, write, c->defined, c->base, r.affine, first, stride);
    }
    if (write)
        e->version++;
    return r;
}

static inline const uint8_t *at_lane(const struct warp *w, const struct reach *r, unsigned l)
{
    return r->affine ? r->host + r->stride * (int64_t)l : w->lane_host[l];
}

/* One element of `bytes` bytes per lane, `skip` bytes into the lane's access, into row d. */
static inline void take32(struct warp *w, const struct reach *r, uint32_t m, unsigned skip, r32 *d)
{
    if (r->affine && m == VM_FULL) {
        const uint8_t *p = r->host + skip;
        switch (r->stride) {
        case 4:
            memcpy(d, p, VM_ROW32);
            return;
        case 8:
            EACH_LANE(l)
            d[l] = ((const r32 *)(const void *)p)[2 * l];
            return;
        case 16:
            EACH_LANE(l)
            d[l] = ((const r32 *)(const void *)p)[4 * l];
            return;
        case 0: {
            const r32 x = *(const r32 *)(const void *)p;
            EACH_LANE(l)
            d[l] = x;
            return;
        }
        default:
            for (unsigned l = 0; l < VM_LANES; l++)
                d[l] = *(const r32 *)(const void *)(p + r->stride * (int64_t)l);
            return;
        }
    }
    for (uint32_t rest = m; rest; rest &= rest - 1)
        d[LANE(rest)] = *(const r32 *)(const void *)(at_lane(w, r, LANE(rest)) + skip);
}

static inline void take64(struct warp *w, const struct reach *r, uint32_t m, unsigned skip, r64 *d)
{
    if (r->affine && m == VM_FULL && r->stride == 8) {
        memcpy(d, r->host + skip, VM_ROW64);
        return;
    }
    for (uint32_t rest = m; rest; rest &= rest - 1)
        d[LANE(rest)] = *(const r64 *)(const void *)(at_lane(w, r, LANE(rest)) + skip);
}

static inline void take_narrow(struct warp *w, const struct reach *r, uint32_t m, unsigned skip,
                               uint8_t *d, unsigned bytes, bool is_signed, bool wide)
{
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        const uint8_t *p = at_lane(w, r, l) + skip;
        uint64_t v;
        if (bytes == 1)
            v = is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
        else if (bytes == 2)
            v = is_signed ? (uint64_t)(int64_t) * (const int16_t *)(const void *)p
                          : *(const uint16_t *)(const void *)p;
        else
            v = is_signed ? (uint64_t)(int64_t) * (const i32 *)(const void *)p
                          : *(const r32 *)(const void *)p;
        if (wide)
            ((r64 *)(void *)d)[l] = v;
        else
            ((r32 *)(void *)d)[l] = (uint32_t)v;
    }
}

static inline void put32(struct warp *w, const struct reach *r, uint32_t m, unsigned skip,
                         const r32 *s)
{
    if (r->affine && m == VM_FULL) {
        uint8_t *p = r->host + skip;
        if (r->stride == 4) {
            memcpy(p, s, VM_ROW32);
            return;
        }
        for (unsigned l = 0; l < VM_LANES; l++)
            *(r32 *)(void *)(p + r->stride * (int64_t)l) = s[l];
        return;
    }
    for (uint32_t rest = m; rest; rest &= rest - 1)
        *(r32 *)(void *)(uintptr_t)(at_lane(w, r, LANE(rest)) + skip) = s[LANE(rest)];
}

static inline void put64(struct warp *w, const struct reach *r, uint32_t m, unsigned skip,
                         const r64 *s)
{
    if (r->affine && m == VM_FULL && r->stride == 8) {
        memcpy(r->host + skip, s, VM_ROW64);
        return;
    }
    for (uint32_t rest = m; rest; rest &= rest - 1)
        *(r64 *)(void *)(uintptr_t)(at_lane(w, r, LANE(rest)) + skip) = s[LANE(rest)];
}

static inline void put_narrow(struct warp *w, const struct reach *r, uint32_t m, unsigned skip,
                              const uint8_t *s, unsigned bytes, bool wide)
{
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint8_t *p = (uint8_t *)(uintptr_t)(at_lane(w, r, l) + skip);
        uint64_t v = wide ? ((const r64 *)(const void *)s)[l] : ((const r32 *)(const void *)s)[l];
        memcpy(p, &v, bytes);
    }
}

static inline void take(struct warp *w, const struct mem_op *op, const struct reach *r, uint8_t *f,
                        uint32_t m, unsigned element)
{
    unsigned skip = element * op->bytes;
    if (!op->used[element])
        return;
    uint8_t *d = f + op->rows[element];
    if (op->bytes == 4 && !op->wide[element])
        take32(w, r, m, skip, (r32 *)(void *)d);
    else if (op->bytes == 8)
        take64(w, r, m, skip, (r64 *)(void *)d);
    else
        take_narrow(w, r, m, skip, d, op->bytes, op->is_signed, op->wide[element]);
}

/* Two lanes of one store to the same shared word with different values race with each other. After
 * the store each lane must find its own value, unless another one overwrote it. */
static inline void check_overlap(struct warp *w, const struct mem_op *op, const struct reach *r,
                                 const uint8_t *f, uint32_t m)
{
    if (r->affine && (r->stride >= op->total || r->stride <= -(int64_t)op->total))
        return;
    if ((m & (m - 1)) == 0)
        return;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        for (unsigned k = 0; k < op->count; k++) {
            uint64_t v = op->wide[k] ? ROW(r64, op->rows[k])[l] : ROW(r32, op->rows[k])[l];
            if (memcmp(at_lane(w, r, l) + k * op->bytes, &v, op->bytes) != 0) {
                vm_race_same_store(w, op, l, VM_LANES);
                return;
            }
        }
    }
}

static inline void put(struct warp *w, const struct mem_op *op, const struct reach *r,
                       const uint8_t *f, uint32_t m, unsigned element)
{
    unsigned skip = element * op->bytes;
    const uint8_t *s = f + op->rows[element];
    if (op->bytes == 4 && !op->wide[element])
        put32(w, r, m, skip, (const r32 *)(const void *)s);
    else if (op->bytes == 8)
        put64(w, r, m, skip, (const r64 *)(const void *)s);
    else
        put_narrow(w, r, m, skip, s, op->bytes, op->wide[element]);
}

static inline bool do_load(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                           uint32_t m, unsigned bytes, bool shared)
{
    struct reach r = reach(w, op, f, u, m, bytes, false, shared);
    if (__builtin_expect(!r.ok, 0))
        return false;
    if (bytes == 4 && !op->wide[0])
        take32(w, &r, m, 0, ROW(r32, op->rows[0]));
    else
        take(w, op, &r, f, m, 0);
    return true;
}

static inline bool do_store(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                            uint32_t m, unsigned bytes, bool shared)
{
    struct reach r = reach(w, op, f, u, m, bytes, true, shared);
    if (__builtin_expect(!r.ok, 0))
        return false;
    if (bytes == 4 && !op->wide[0])
        put32(w, &r, m, 0, ROW(r32, op->rows[0]));
    else
        put(w, op, &r, f, m, 0);
    if (shared && w->clocks)
        check_overlap(w, op, &r, f, m);
    if (r.slow)
        vm_mem_write_back(w, op, m);
    return true;
}

#define MEMORY_HANDLER(name, call)                                                                 \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        if (__builtin_expect(!(call), 0))                                                          \
            return;                                                                                \
        NEXT;                                                                                      \
    }

MEMORY_HANDLER(load_8, do_load(w, MEM_OP(i), f, u, m, 1, false))
MEMORY_HANDLER(load_16, do_load(w, MEM_OP(i), f, u, m, 2, false))
MEMORY_HANDLER(load_32_long, do_load(w, MEM_OP(i), f, u, m, 4, false))
MEMORY_HANDLER(load_64, do_load(w, MEM_OP(i), f, u, m, 8, false))
MEMORY_HANDLER(load_shared_32, do_load(w, MEM_OP(i), f, u, m, 4, true))
MEMORY_HANDLER(store_8, do_store(w, MEM_OP(i), f, u, m, 1, false))
MEMORY_HANDLER(store_16, do_store(w, MEM_OP(i), f, u, m, 2, false))
MEMORY_HANDLER(store_32_long, do_store(w, MEM_OP(i), f, u, m, 4, false))
MEMORY_HANDLER(store_64, do_store(w, MEM_OP(i), f, u, m, 8, false))
MEMORY_HANDLER(store_shared_32, do_store(w, MEM_OP(i), f, u, m, 4, true))

/* The shortest path: a full warp, a constant stride, in the allocation of last time, nothing to
 * report. No call is made on it, so that the handler needs no stack frame. */
struct lanes {
    uint8_t *host; /* NULL: take the long way */
    uint64_t stride;
};

static inline struct lanes shortest(const struct warp *w, const struct mem_op *op, const uint8_t *f,
                                    uint32_t m, bool write)
{
    const struct mem_cache *c = &w->engine->caches[op->index];
    const struct lanes none = {0};
    if (m != VM_FULL || op->form != VM_ADDRESS_64)
        return none;
    const r64 *a = ROW(r64, op->address);
    uint64_t stride = a[1] - a[0], first = a[0] + (uint64_t)op->offset;
    uint64_t last = a[VM_LANES - 1] + (uint64_t)op->offset;
    if ((first - c->low >= c->limit) | (last - c->low >= c->limit) | (stride > 64) |
        (((first | stride) & 3) != 0))
        return none;
    if (!constant_stride(a))
        return none;
    if (c->defined) {
        if (stride < 4 || (stride & (stride - 1)) != 0)
            return none;
        const uint64_t bit = first - c->base;
        uint64_t words[8], *at = c->defined + bit / 64;
        unsigned count = usual_pattern(bit, 4, (unsigned)stride, words);
        if (count == 8) {
            uint64_t missing = 0;
            for (unsigned k = 0; k < 8; k++) {
                if (write)
                    at[k] |= words[k];
                else
                    missing |= ~at[k] & words[k];
            }
            if (missing)
                return none;
        } else if (count == 2) {
            if (write)
                at[0] = at[1] = ~0ull;
            else if ((at[0] & at[1]) != ~0ull)
                return none;
        } else if (write) {
            pattern_set(c->defined, bit, 4, (unsigned)stride);
        } else if (!pattern_all(c->defined, bit, 4, (unsigned)stride)) {
            return none;
        }
    }
    uint8_t *host = (uint8_t *)((uintptr_t)c->bias + first);
    /* The next warp most likely goes on where this one ends. */
    for (uint64_t at = 0; at < VM_LANES * stride; at += 64) {
        if (write)
            __builtin_prefetch(host + VM_LANES * stride + at, 1);
        else
            __builtin_prefetch(host + VM_LANES * stride + at, 0);
    }
    return (struct lanes){.host = host, .stride = stride};
}

#define EVERY(n)                                                                                   \
    EACH_LANE(l)                                                                                   \
    d[l] = ((const r32 *)(const void *)p.host)[n * l]

HANDLER(load_32)
{
    const struct mem_op *op = MEM_OP(i);
    struct lanes p = shortest(w, op, f, m, false);
    if (__builtin_expect(!p.host || op->wide[0], 0))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    uint64_t *v = w->engine->counters->value;
    v[COUNTER_global_bytes_read] += VM_ROW32;
    v[COUNTER_global_requests]++;
    r32 *d = ROW(r32, op->rows[0]);
    if (p.stride == 4)
        EVERY(1);
    else if (p.stride == 16)
        EVERY(4);
    else if (p.stride == 8)
        EVERY(2);
    else
        for (unsigned l = 0; l < VM_LANES; l++, p.host += p.stride)
            d[l] = *(const r32 *)(const void *)p.host;
    NEXT;
}

/* One word for all lanes. */
HANDLER(load_32_one)
{
    const struct mem_op *op = MEM_OP(i);
    const struct mem_cache *c = &w->engine->caches[op->index];
    const uint64_t at = SLOT(r64, op->address) + (uint64_t)op->offset, bit = at - c->base;
    if (__builtin_expect((m != VM_FULL) | (at - c->low >= c->limit) | ((at & 3) != 0) | op->wide[0],
                         0))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    if (c->defined && (~(c->defined[bit / 64] >> (bit & 63)) & 0xf))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    uint64_t *v = w->engine->counters->value;
    v[COUNTER_global_bytes_read] += VM_ROW32;
    v[COUNTER_global_requests]++;
    r32 *d = ROW(r32, op->rows[0]), x = *(const r32 *)(const void *)((uintptr_t)c->bias + at);
    EACH_LANE(l)
    d[l] = x;
    NEXT;
}

HANDLER(store_32)
{
    const struct mem_op *op = MEM_OP(i);
    struct lanes p = shortest(w, op, f, m, true);
    if (__builtin_expect(!p.host || op->wide[0], 0))
        return VM_NAME(store_32_long)(i, f, u, m, w);
    uint64_t *v = w->engine->counters->value;
    v[COUNTER_global_bytes_written] += VM_ROW32;
    v[COUNTER_global_requests]++;
    w->engine->version++;
    const r32 *s = ROW(r32, op->rows[0]);
    if (p.stride == 4) {
        memcpy(p.host, s, VM_ROW32);
    } else if (p.stride == 16) {
#pragma GCC unroll 32
        for (unsigned l = 0; l < VM_LANES; l++)
            ((r32 *)(void *)p.host)[4 * l] = s[l];
    } else {
        for (unsigned l = 0; l < VM_LANES; l++, p.host += p.stride)
            *(r32 *)(void *)p.host = s[l];
    }
    NEXT;
}

/* Vectors, and shared memory of other widths. */
static bool load_elements(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                          uint32_t m, bool shared)
{
    struct reach r = reach(w, op, f, u, m, op->total, false, shared);
    if (!r.ok)
        return false;
    for (unsigned k = 0; k < op->count; k++)
        take(w, op, &r, f, m, k);
    return true;
}

static bool store_elements(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                           uint32_t m, bool shared)
{
    struct reach r = reach(w, op, f, u, m, op->total, true, shared);
    if (!r.ok)
        return false;
    for (unsigned k = 0; k < op->count; k++)
        put(w, op, &r, f, m, k);
    if (shared && w->clocks)
        check_overlap(w, op, &r, f, m);
    if (r.slow)
        vm_mem_write_back(w, op, m);
    return true;
}

MEMORY_HANDLER(load_vector, load_elements(w, MEM_OP(i), f, u, m, false))
MEMORY_HANDLER(store_vector, store_elements(w, MEM_OP(i), f, u, m, false))
MEMORY_HANDLER(load_shared, load_elements(w, MEM_OP(i), f, u, m, true))
MEMORY_HANDLER(store_shared, store_elements(w, MEM_OP(i), f, u, m, true))

/* Local memory, parameters by address: always the long way. */
static bool addresses(struct warp *w, const struct mem_op *op, const uint8_t *f, const uint8_t *u)
{
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t a = op->form == VM_ADDRESS_SLOT ? SLOT(r64, op->address)
                     : op->form == VM_ADDRESS_32 ? ROW(r32, op->address)[l]
                                                 : ROW(r64, op->address)[l];
        w->lane_address[l] = a + (uint64_t)op->offset;
    }
    return true;
}

static bool load_slow(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                      uint32_t m)
{
    addresses(w, op, f, u);
    struct reach r = reach_slow(w, op, m);
    for (unsigned k = 0; r.ok && k < op->count; k++)
        take(w, op, &r, f, m, k);
    return r.ok;
}

static bool store_slow(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                       uint32_t m)
{
    addresses(w, op, f, u);
    struct reach r = reach_slow(w, op, m);
    if (!r.ok)
        return false;
    for (unsigned k = 0; k < op->count; k++)
        put(w, op, &r, f, m, k);
    vm_mem_write_back(w, op, m);
    return true;
}

MEMORY_HANDLER(load_any, load_slow(w, MEM_OP(i), f, u, m))
MEMORY_HANDLER(store_any, store_slow(w, MEM_OP(i), f, u, m))

/* Atomics: rare enough to go lane by lane in one place. */
MEMORY_HANDLER(atomic, (addresses(w, MEM_OP(i), f, u), vm_atomic(w, MEM_OP(i), f, m)))

HANDLER(fence)
{
    vm_fence(w, m, i->x);
    NEXT;
}

MEMORY_HANDLER(async, vm_async(w, i, m))
