/* Loads and stores: moving the data once exec_reach.h has said where it is. load_32 and store_32
 * have a path of their own for what nearly every access is: a full warp with a constant stride in
 * the buffer of last time.
 *
 * On several host threads, plain accesses are plain here too: aligned words and vectors move in one
 * piece on every processor that we build for, and what a race makes of them is the program's own.
 * The thread sanitizer therefore does not look at this file.
 *
 * Long because each short way stands beside the long one that it falls back to, and the compiler
 * has to see both to put them into handlers without calls. */
#include "cpu/vm/exec_columns.h"
#include "cpu/vm/exec_reach.h"

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
            d[l] = ((const r32 *)(const void *)p)[2ul * l];
            return;
        case 16:
            EACH_LANE(l)
            d[l] = ((const r32 *)(const void *)p)[4ul * l];
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

/* Two lanes of one store to the same word with different values race with each other. After
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
            if (memcmp(at_lane(w, r, l) + (size_t)k * op->bytes, &v, op->bytes) != 0) {
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
    if (!shared)
        order_strong(w, op);
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
    if (w->clocks && (shared || w->engine->global_races))
        check_overlap(w, op, &r, f, m);
    if (r.slow)
        vm_mem_write_back(w, op, m);
    return true;
}

/* Not inlined where a short way goes on with it: its stack frame is its own affair. */
#define MEMORY_HANDLER(name, call)                                                                 \
    __attribute__((noinline)) HANDLER(name)                                                        \
    {                                                                                              \
        if (__builtin_expect(!(call), 0))                                                          \
            return;                                                                                \
        NEXT;                                                                                      \
    }

MEMORY_HANDLER(load_8, do_load(w, MEM_OP(i), f, u, m, 1, false))
MEMORY_HANDLER(load_16, do_load(w, MEM_OP(i), f, u, m, 2, false))
MEMORY_HANDLER(load_32_long, do_load(w, MEM_OP(i), f, u, m, 4, false))
MEMORY_HANDLER(load_64, do_load(w, MEM_OP(i), f, u, m, 8, false))
MEMORY_HANDLER(load_shared_32_long, do_load(w, MEM_OP(i), f, u, m, 4, true))
MEMORY_HANDLER(store_8, do_store(w, MEM_OP(i), f, u, m, 1, false))
MEMORY_HANDLER(store_16, do_store(w, MEM_OP(i), f, u, m, 2, false))
MEMORY_HANDLER(store_32_long, do_store(w, MEM_OP(i), f, u, m, 4, false))
MEMORY_HANDLER(store_64, do_store(w, MEM_OP(i), f, u, m, 8, false))
MEMORY_HANDLER(store_shared_32_long, do_store(w, MEM_OP(i), f, u, m, 4, true))

/* The shortest path: a full warp, a constant stride, in the allocation of last time, nothing to
 * note. What is not so goes on to a function with the same arguments: no call is made here, so that
 * the handler needs no stack frame. */
struct lanes {
    uint8_t *host;
    uint64_t stride, first; /* bytes; an address */
};

/* Aligned words at a constant distance of up to 64 bytes, all of them where c says. */
static inline bool regular(const struct mem_cache *c, const r64 *a, uint64_t first, uint64_t stride)
{
    const uint64_t at = first - c->low;
    return (at < c->limit) & (at + (VM_LANES - 1) * stride < c->limit) & (stride <= 64) &
               (((first | stride) & 3) == 0) &&
           constant_stride(a);
}

static inline struct lanes lanes_of(const struct mem_cache *c, const struct mem_op *op,
                                    const uint8_t *f)
{
    const r64 *a = ROW(r64, op->address);
    const uint64_t first = a[0] + (uint64_t)op->offset;
    return (struct lanes){
        .host = (uint8_t *)((uintptr_t)c->bias + first), .stride = a[1] - a[0], .first = first};
}

static inline void count_lanes(struct warp *w, const struct lanes *p, enum counter bytes)
{
    uint64_t *v = w->engine->counters->value;
    v[bytes] += VM_ROW32;
    v[COUNTER_global_requests]++;
    if (w->engine->watch_global)
        v[COUNTER_global_sectors] += sectors_in_a_row(p->first, p->stride);
}

/* The next warp most likely goes on where this one ends, and memory answers after it has begun: so
 * what is asked for lies some warps further on. Of several instructions that walk through one
 * stretch of memory, the first does it. */
static inline void prefetch_next(const uint8_t *host, uint64_t stride)
{
    enum { WARPS_AHEAD = 8 };
    const uint8_t *next = host + stride * VM_LANES * WARPS_AHEAD;
    if (((uintptr_t)host & 15) == 0)
        for (uint64_t at = 0; at < VM_LANES * stride; at += 64)
            PREFETCH(next + at);
}

/* With definedness: 4 bytes at every `stride`-th. false: the long way has to look. */
static inline bool lanes_defined(const struct mem_cache *c, const struct lanes *p)
{
    const uint64_t bit = p->first - c->base, *at = c->defined + bit / 64;
    uint64_t words[8], missing = 0;
    if (p->stride < 4 || (p->stride & (p->stride - 1)) != 0)
        return false;
    const unsigned count = usual_pattern(bit, 4, (unsigned)p->stride, words);
    if (count == 8) {
#pragma GCC unroll 8
        for (unsigned k = 0; k < 8; k++)
            missing |= ~at[k] & words[k];
        return missing == 0;
    }
    if (count == 2)
        return (at[0] & at[1]) == ~0ull;
    return pattern_all(c->defined, bit, 4, (unsigned)p->stride);
}

static inline bool define_lanes(const struct mem_cache *c, const struct lanes *p)
{
    if (p->stride < 4 || (p->stride & (p->stride - 1)) != 0)
        return false;
    if (c->mine != c->defined) {
        if (lanes_defined(c, p))
            return true;
        vm_bits_touch(c->mine);
    }
    const uint64_t bit = p->first - c->base;
    uint64_t words[8], *mine = c->mine + bit / 64;
    const unsigned count = usual_pattern(bit, 4, (unsigned)p->stride, words);
    if (count == 8) {
#pragma GCC unroll 8
        for (unsigned k = 0; k < 8; k++)
            mine[k] |= words[k];
    } else if (count == 2) {
        mine[0] = mine[1] = ~0ull;
    } else {
        pattern_set(c->mine, bit, 4, (unsigned)p->stride);
    }
    return true;
}

/* Distances other than 4, and whatever comes while columns wait; everything has been checked and
 * counted. */
static __attribute__((noinline)) continued load_32_apart, store_32_apart;

static void load_32_apart(const struct insn *i, uint8_t *f, const uint8_t *u, uint32_t m,
                          struct warp *w)
{
    const struct mem_op *op = MEM_OP(i);
    struct vm_engine *e = w->engine;
    const struct mem_cache *c = &e->caches[op->index];
    struct lanes p = lanes_of(c, op, f);
    r32 *d = ROW(r32, op->rows[0]);
    if (p.stride == 16) {
        if (!columns_hold(e, p.host)) {
            vm_columns_settle(e);
            const uint64_t at = p.first - i->a - c->low; /* where its group begins */
            if (!i->b || c->span < COLUMNS_BYTES || at > c->span - COLUMNS_BYTES) {
                take_every_4(d, p.host);
                NEXT;
            }
            columns_fetch(e, p.host - i->a);
        }
        memcpy(d, e->columns.loaded[column_of(e->columns.from, p.host)], VM_ROW32);
    } else {
        vm_columns_settle(e);
        for (unsigned l = 0; l < VM_LANES; l++, p.host += p.stride)
            d[l] = *(const r32 *)(const void *)p.host;
    }
    NEXT;
}

static void store_32_apart(const struct insn *i, uint8_t *f, const uint8_t *u, uint32_t m,
                           struct warp *w)
{
    const struct mem_op *op = MEM_OP(i);
    struct vm_engine *e = w->engine;
    struct lanes p = lanes_of(&e->caches[op->index], op, f);
    const r32 *s = ROW(r32, op->rows[0]);
    if (p.stride == 16) {
        if (i->b) {
            columns_put(e, p.host - i->a, i->a / 4, s);
        } else {
            vm_columns_settle(e);
            put_every_4(p.host, s);
        }
        columns_update(e, p.host, s);
    } else {
        vm_columns_settle(e);
        for (unsigned l = 0; l < VM_LANES; l++, p.host += p.stride)
            *(r32 *)(void *)p.host = s[l];
    }
    NEXT;
}

/* With definedness and sectors, and everything else. */
static __attribute__((noinline)) continued load_32_noted, store_32_noted;

static void load_32_noted(const struct insn *i, uint8_t *f, const uint8_t *u, uint32_t m,
                          struct warp *w)
{
    const struct mem_op *op = MEM_OP(i);
    const struct mem_cache *c = &w->engine->caches[op->index];
    const struct lanes p = lanes_of(c, op, f);
    if (__builtin_expect(m != VM_FULL || !regular(c, ROW(r64, op->address), p.first, p.stride) ||
                             (c->defined && !lanes_defined(c, &p)),
                         0))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    prefetch_next(p.host, p.stride);
    count_lanes(w, &p, COUNTER_global_bytes_read);
    if ((p.stride != 4) | (w->engine->columns.waiting != 0))
        return load_32_apart(i, f, u, m, w);
    memcpy(ROW(r32, op->rows[0]), p.host, VM_ROW32);
    NEXT;
}

HANDLER(load_32)
{
    const struct mem_op *op = MEM_OP(i);
    struct vm_engine *e = w->engine;
    const struct mem_cache *c = &e->caches[op->index];
    const r64 *a = ROW(r64, op->address);
    const uint64_t stride = a[1] - a[0], first = a[0] + (uint64_t)op->offset;
    if (__builtin_expect((m != VM_FULL) | (c->defined != NULL) | (e->watch_global != 0), 0))
        return load_32_noted(i, f, u, m, w);
    if (__builtin_expect(!regular(c, a, first, stride), 0))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    uint64_t *v = e->counters->value;
    v[COUNTER_global_bytes_read] += VM_ROW32;
    v[COUNTER_global_requests]++;
    const uint8_t *host = (const uint8_t *)((uintptr_t)c->bias + first);
    prefetch_next(host, stride);
    if ((stride != 4) | (e->columns.waiting != 0))
        return load_32_apart(i, f, u, m, w);
    memcpy(ROW(r32, op->rows[0]), host, VM_ROW32);
    NEXT;
}

/* One word for all lanes. */
HANDLER(load_32_one)
{
    const struct mem_op *op = MEM_OP(i);
    const struct mem_cache *c = &w->engine->caches[op->index];
    const uint64_t at = SLOT(r64, op->address) + (uint64_t)op->offset, bit = at - c->base;
    if (__builtin_expect((m != VM_FULL) | (at - c->low >= c->limit) | ((at & 3) != 0) |
                             op->wide[0] | (w->engine->columns.waiting != 0),
                         0))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    if (c->defined && (~(c->defined[bit / 64] >> (bit & 63)) & 0xf))
        return VM_NAME(load_32_long)(i, f, u, m, w);
    uint64_t *v = w->engine->counters->value;
    v[COUNTER_global_bytes_read] += VM_ROW32;
    v[COUNTER_global_requests]++;
    v[COUNTER_global_sectors] += w->engine->watch_global != 0;
    r32 *d = ROW(r32, op->rows[0]), x = *(const r32 *)(const void *)((uintptr_t)c->bias + at);
    EACH_LANE(l)
    d[l] = x;
    NEXT;
}

static void store_32_noted(const struct insn *i, uint8_t *f, const uint8_t *u, uint32_t m,
                           struct warp *w)
{
    const struct mem_op *op = MEM_OP(i);
    const struct mem_cache *c = &w->engine->caches[op->index];
    const struct lanes p = lanes_of(c, op, f);
    if (__builtin_expect(m != VM_FULL || !regular(c, ROW(r64, op->address), p.first, p.stride) ||
                             p.stride < 4 || (c->defined && !define_lanes(c, &p)),
                         0))
        return VM_NAME(store_32_long)(i, f, u, m, w);
    prefetch_next(p.host, p.stride);
    count_lanes(w, &p, COUNTER_global_bytes_written);
    w->engine->version++;
    if ((p.stride != 4) | (w->engine->columns.waiting != 0))
        return store_32_apart(i, f, u, m, w);
    memcpy(p.host, ROW(r32, op->rows[0]), VM_ROW32);
    NEXT;
}

HANDLER(store_32)
{
    const struct mem_op *op = MEM_OP(i);
    struct vm_engine *e = w->engine;
    const struct mem_cache *c = &e->caches[op->index];
    const r64 *a = ROW(r64, op->address);
    const uint64_t stride = a[1] - a[0], first = a[0] + (uint64_t)op->offset;
    if (__builtin_expect((m != VM_FULL) | (c->defined != NULL) | (e->watch_global != 0), 0))
        return store_32_noted(i, f, u, m, w);
    if (__builtin_expect(!regular(c, a, first, stride), 0))
        return VM_NAME(store_32_long)(i, f, u, m, w);
    uint64_t *v = e->counters->value;
    v[COUNTER_global_bytes_written] += VM_ROW32;
    v[COUNTER_global_requests]++;
    e->version++;
    uint8_t *host = (uint8_t *)((uintptr_t)c->bias + first);
    prefetch_next(host, stride);
    if ((stride != 4) | (e->columns.waiting != 0))
        return store_32_apart(i, f, u, m, w);
    memcpy(host, ROW(r32, op->rows[0]), VM_ROW32);
    NEXT;
}

/* ---- words of shared memory, with nothing to note ---- */

static inline bool shared_is_plain(const struct warp *w)
{
    return !w->clocks && !w->block->shared_defined && !w->engine->watch_shared;
}

/* Are the words of all lanes in m inside the range of last time, and aligned? Addresses of 32 bits
 * do not wrap when an offset is added, so those that could are left to the long way. */
static inline bool shared_words(const struct mem_cache *c, const struct mem_op *op, const r32 *a,
                                uint32_t m)
{
    uint32_t wrong = 0, low = (uint32_t)(c->low - (uint64_t)op->offset);
    const uint32_t room = (uint32_t)c->span - 4;
    if (c->span < 4 || c->low > 1u << 24 || op->offset > 1 << 24 || op->offset < -(1 << 24))
        return false;
    for (unsigned l = 0; l < VM_LANES; l++) {
        const uint32_t x = a[l];
        wrong |=
            (uint32_t)((x - low > room) | (((x + (uint32_t)op->offset) & 3) != 0) | (x > 1u << 30))
            << l;
    }
    return (wrong & m) == 0;
}

static inline bool shared_word(const struct mem_cache *c, uint64_t at)
{
    return c->span >= 4 && at - c->low <= c->span - 4 && (at & 3) == 0;
}

HANDLER(load_shared_32)
{
    const struct mem_op *op = MEM_OP(i);
    const struct mem_cache *c = &w->engine->caches[op->index];
    const uint8_t *base = w->block->shared;
    r32 *d = ROW(r32, op->rows[0]);
    if (!shared_is_plain(w) || op->wide[0] || op->form == VM_ADDRESS_64)
        return VM_NAME(load_shared_32_long)(i, f, u, m, w);
    if (op->form == VM_ADDRESS_SLOT) {
        const uint64_t at = SLOT(r64, op->address) + (uint64_t)op->offset;
        if (!shared_word(c, at))
            return VM_NAME(load_shared_32_long)(i, f, u, m, w);
        const r32 x = *(const r32 *)(const void *)(base + at);
        EACH_LANE(l)
        d[l] = m & (1u << l) ? x : d[l];
    } else {
        const r32 *a = ROW(r32, op->address);
        if (!shared_words(c, op, a, m))
            return VM_NAME(load_shared_32_long)(i, f, u, m, w);
        base += op->offset;
        for (uint32_t rest = m; rest; rest &= rest - 1)
            d[LANE(rest)] = *(const r32 *)(const void *)(base + a[LANE(rest)]);
    }
    w->engine->counters->value[COUNTER_shared_requests]++;
    NEXT;
}

HANDLER(store_shared_32)
{
    const struct mem_op *op = MEM_OP(i);
    const struct mem_cache *c = &w->engine->caches[op->index];
    uint8_t *base = w->block->shared;
    const r32 *s = ROW(r32, op->rows[0]);
    if (!shared_is_plain(w) || op->wide[0] || op->form == VM_ADDRESS_64)
        return VM_NAME(store_shared_32_long)(i, f, u, m, w);
    if (op->form == VM_ADDRESS_SLOT) {
        const uint64_t at = SLOT(r64, op->address) + (uint64_t)op->offset;
        if (!shared_word(c, at))
            return VM_NAME(store_shared_32_long)(i, f, u, m, w);
        *(r32 *)(void *)(base + at) =
            s[31u - (unsigned)__builtin_clz(m)]; /* the last lane's stays */
    } else {
        const r32 *a = ROW(r32, op->address);
        if (!shared_words(c, op, a, m))
            return VM_NAME(store_shared_32_long)(i, f, u, m, w);
        base += op->offset;
        for (uint32_t rest = m; rest; rest &= rest - 1)
            *(r32 *)(void *)(base + a[LANE(rest)]) = s[LANE(rest)];
    }
    w->engine->version++;
    w->engine->counters->value[COUNTER_shared_requests]++;
    NEXT;
}

/* With several host threads at work, the bytes of one lane's vector are read and written in pieces
 * of 8 or 16, as on a device, where tile states of that size are published by one store. x86: loads
 * and stores of 16 aligned bytes are one piece on every processor with AVX. */
static inline void copy_pieces(uint8_t *to, const uint8_t *from, unsigned bytes)
{
    if (bytes < 16) {
        if (bytes == 8)
            *(volatile r64 *)(void *)to = *(const volatile r64 *)(const void *)from;
        else
            memcpy(to, from, bytes);
        return;
    }
    typedef uint64_t __attribute__((vector_size(16), may_alias)) v16;
    for (unsigned k = 0; k < bytes; k += 16)
        *(volatile v16 *)(void *)(to + k) = *(const volatile v16 *)(const void *)(from + k);
}

static void stage_load(struct warp *w, const struct mem_op *op, struct reach *r, uint32_t m)
{
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        copy_pieces(w->staged + (size_t)l * op->total, at_lane(w, r, l), op->total);
    }
    *r = (struct reach){.ok = true, .affine = true, .host = w->staged, .stride = op->total};
}

static void staged_store(struct warp *w, const struct mem_op *op, const struct reach *r,
                         const uint8_t *f, uint32_t m)
{
    struct reach staged = {.ok = true, .affine = true, .host = w->staged, .stride = op->total};
    for (unsigned k = 0; k < op->count; k++)
        put(w, op, &staged, f, m, k);
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        copy_pieces((uint8_t *)(uintptr_t)at_lane(w, r, l), w->staged + (size_t)l * op->total,
                    op->total);
    }
}

/* Vectors, and shared memory of other widths. */
static bool load_elements(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                          uint32_t m, bool shared)
{
    struct reach r = reach(w, op, f, u, m, op->total, false, shared);
    if (!r.ok)
        return false;
    if (w->engine->crew && !shared)
        stage_load(w, op, &r, m);
    for (unsigned k = 0; k < op->count; k++)
        take(w, op, &r, f, m, k);
    order_strong(w, op);
    return true;
}

static bool store_elements(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                           uint32_t m, bool shared)
{
    struct reach r = reach(w, op, f, u, m, op->total, true, shared);
    if (!r.ok)
        return false;
    if (w->engine->crew && !shared)
        staged_store(w, op, &r, f, m);
    else
        for (unsigned k = 0; k < op->count; k++)
            put(w, op, &r, f, m, k);
    if (w->clocks && (shared || w->engine->global_races))
        check_overlap(w, op, &r, f, m);
    if (r.slow)
        vm_mem_write_back(w, op, m);
    return true;
}

MEMORY_HANDLER(load_vector, load_elements(w, MEM_OP(i), f, u, m, false))
MEMORY_HANDLER(store_vector, store_elements(w, MEM_OP(i), f, u, m, false))
MEMORY_HANDLER(load_shared, load_elements(w, MEM_OP(i), f, u, m, true))
MEMORY_HANDLER(store_shared, store_elements(w, MEM_OP(i), f, u, m, true))

/* Any place: the long way. */
static bool addresses(struct warp *w, const struct mem_op *op, const uint8_t *f, const uint8_t *u)
{
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t a = op->form == VM_ADDRESS_SLOT ? SLOT(r64, op->address)
                     : op->form == VM_ADDRESS_32 ? ROW(r32, op->address)[l]
                                                 : ROW(r64, op->address)[l];
        a += (uint64_t)op->offset;
        w->lane_address[l] = op->narrow ? (uint32_t)a : a;
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

/* ---- local memory ---- */

/* May the lanes in m all be served word by word? Their addresses are in w->lane_address. For loads,
 * all words must be defined too. */
static inline bool local_words(struct warp *w, const struct mem_op *op, uint32_t m)
{
    uint32_t words = op->total / 4u;
    uint64_t limit = w->local_bytes - (uint64_t)op->total;
    if (w->local_bytes < (uint32_t)op->total + VM_LOCAL_START || op->used_bytes != ~0u)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t at = w->lane_address[l];
        if (at < VM_LOCAL_START || at > limit || (at & (op->total - 1u)))
            return false;
        for (uint32_t k = 0; w->local_defined && k < words; k++) {
            uint64_t bit = ((at / 4 + k) * VM_LANES + l) * 4;
            uint64_t nibble = 0xfull << (bit & 63);
            if (op->write)
                w->local_defined[bit / 64] |= nibble;
            else if (~w->local_defined[bit / 64] & nibble)
                return false;
        }
    }
    return true;
}

static inline r32 *local_word(struct warp *w, uint64_t at, unsigned l)
{
    return (r32 *)(void *)w->local + (at / 4 * VM_LANES + l);
}

static bool load_words(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                       uint32_t m)
{
    addresses(w, op, f, u);
    if (!local_words(w, op, m))
        return load_slow(w, op, f, u, m);
    for (unsigned k = 0; k < op->count; k++) {
        if (!op->used[k])
            continue;
        for (uint32_t rest = m; rest; rest &= rest - 1) {
            unsigned l = LANE(rest);
            const r32 *from = local_word(w, w->lane_address[l] + (uint64_t)k * op->bytes, l);
            uint64_t v = *from;
            if (op->bytes == 8)
                v |= (uint64_t)from[VM_LANES] << 32;
            else if (op->is_signed)
                v = (uint64_t)(int64_t)(int32_t)v;
            if (op->wide[k])
                ROW(r64, op->rows[k])[l] = v;
            else
                ROW(r32, op->rows[k])[l] = (uint32_t)v;
        }
    }
    return true;
}

static bool store_words(struct warp *w, const struct mem_op *op, uint8_t *f, const uint8_t *u,
                        uint32_t m)
{
    addresses(w, op, f, u);
    if (!local_words(w, op, m))
        return store_slow(w, op, f, u, m);
    for (unsigned k = 0; k < op->count; k++)
        for (uint32_t rest = m; rest; rest &= rest - 1) {
            unsigned l = LANE(rest);
            r32 *to = local_word(w, w->lane_address[l] + (uint64_t)k * op->bytes, l);
            uint64_t v = op->wide[k] ? ROW(r64, op->rows[k])[l] : ROW(r32, op->rows[k])[l];
            *to = (uint32_t)v;
            if (op->bytes == 8)
                to[VM_LANES] = (uint32_t)(v >> 32);
        }
    w->engine->version++;
    return true;
}

MEMORY_HANDLER(load_local, load_words(w, MEM_OP(i), f, u, m))
MEMORY_HANDLER(store_local, store_words(w, MEM_OP(i), f, u, m))

MEMORY_HANDLER(load_any, load_slow(w, MEM_OP(i), f, u, m))
MEMORY_HANDLER(store_any, store_slow(w, MEM_OP(i), f, u, m))

/* Atomics: rare enough to go lane by lane in one place. */
MEMORY_HANDLER(atomic, (vm_columns_end(w->engine), addresses(w, MEM_OP(i), f, u),
                        vm_atomic(w, MEM_OP(i), f, m)))

HANDLER(fence)
{
    vm_columns_end(w->engine);
    if (w->engine->crew)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    vm_fence(w, m, i->x);
    NEXT;
}

HANDLER(publish)
{
    vm_publish(w, m, i->x);
    NEXT;
}

MEMORY_HANDLER(async, (vm_columns_end(w->engine), vm_async(w, i, m)))
