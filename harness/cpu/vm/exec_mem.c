/* Loads and stores: moving the data once exec_reach.h has said where it is. load_32 and store_32
 * have a path of their own for what nearly every access is: a full warp with a constant stride in
 * the buffer of last time. */
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
                if (write && c->mine == c->defined)
                    at[k] |= words[k];
                else
                    missing |= ~at[k] & words[k];
            }
            if (__builtin_expect(missing != 0, 0)) {
                if (!write)
                    return none;
                uint64_t *mine = c->mine + bit / 64;
                for (unsigned k = 0; k < 8; k++)
                    mine[k] |= words[k];
            }
        } else if (count == 2) {
            uint64_t *mine = c->mine + bit / 64;
            if (write)
                mine[0] = mine[1] = ~0ull;
            else if ((at[0] & at[1]) != ~0ull)
                return none;
        } else if (write) {
            pattern_set(c->mine, bit, 4, (unsigned)stride);
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
    d[l] = ((const r32 *)(const void *)p.host)[(size_t)n * l]

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
            ((r32 *)(void *)p.host)[4ul * l] = s[l];
    } else {
        for (unsigned l = 0; l < VM_LANES; l++, p.host += p.stride)
            *(r32 *)(void *)p.host = s[l];
    }
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
MEMORY_HANDLER(atomic, (addresses(w, MEM_OP(i), f, u), vm_atomic(w, MEM_OP(i), f, m)))

HANDLER(fence)
{
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

MEMORY_HANDLER(async, vm_async(w, i, m))
