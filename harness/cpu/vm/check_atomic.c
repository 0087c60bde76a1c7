/* Atomics. */
#include "cpu/vm/check.h"
#include "cpu/vm/delay.h"
#include "cpu/vm/scalar.h"
#include "cpu/vm/watch.h"

#include <string.h>

/* ---- the operations ---- */

static float as_float(uint64_t bits)
{
    union {
        uint32_t bits;
        float x;
    } v = {.bits = (uint32_t)bits};
    return v.x;
}

static uint64_t of_float(float x)
{
    union {
        float x;
        uint32_t bits;
    } v = {.x = x};
    return x != x ? 0x7fffffffu : v.bits;
}

static double as_double(uint64_t bits)
{
    union {
        uint64_t bits;
        double x;
    } v = {.bits = bits};
    return v.x;
}

static uint64_t of_double(double x)
{
    union {
        double x;
        uint64_t bits;
    } v = {.x = x};
    return v.bits;
}

static double narrow_float(uint64_t bits, bool is_half)
{
    return (double)(is_half ? vm_half_to_float((uint16_t)bits)
                            : vm_bfloat_to_float((uint16_t)bits));
}

static uint64_t of_narrow(double x, bool is_half)
{
    return is_half ? vm_float_to_half(x, PTX_RN) : vm_float_to_bfloat(x, PTX_RN);
}

static uint64_t narrow_op(enum ptx_sub sub, uint64_t a, uint64_t b, bool is_half)
{
    double x = narrow_float(a, is_half), y = narrow_float(b, is_half);
    if (sub == PTX_MIN)
        return of_narrow(x != x ? y : y < x ? y : x, is_half);
    if (sub == PTX_MAX)
        return of_narrow(x != x ? y : y > x ? y : x, is_half);
    return of_narrow(x + y, is_half);
}

static uint64_t float_op(enum ptx_sub sub, enum ptx_type type, uint64_t a, uint64_t b)
{
    switch ((int)type) {
    case PTX_F32:
        return of_float(as_float(a) + as_float(b));
    case PTX_F64:
        return of_double(as_double(a) + as_double(b));
    case PTX_F16:
    case PTX_BF16:
        return narrow_op(sub, a, b, type == PTX_F16);
    default: { /* two halves */
        bool is_half = type == PTX_F16X2;
        return narrow_op(sub, a & 0xffff, b & 0xffff, is_half) |
               narrow_op(sub, a >> 16, b >> 16, is_half) << 16;
    }
    }
}

uint64_t vm_atomic_value(const struct mem_op *op, uint64_t old, uint64_t b, uint64_t c)
{
    unsigned shift = 64 - 8u * op->bytes;
    bool is_signed = ptx_type_is_signed((enum ptx_type)op->type);
    bool less =
        is_signed ? (int64_t)(b << shift) < (int64_t)(old << shift) : b << shift < old << shift;
    if (ptx_type_is_float((enum ptx_type)op->type) &&
        (op->sub == PTX_ADD || op->sub == PTX_MIN || op->sub == PTX_MAX))
        return float_op((enum ptx_sub)op->sub, (enum ptx_type)op->type, old, b);
    switch ((int)op->sub) {
    case PTX_ADD:
        return old + b;
    case PTX_MIN:
        return less ? b : old;
    case PTX_MAX:
        return less ? old : b;
    case PTX_INC:
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case PTX_DEC:
        return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case PTX_AND:
        return old & b;
    case PTX_OR:
        return old | b;
    case PTX_XOR:
        return old ^ b;
    case PTX_CAS:
        return ((old ^ b) << shift) == 0 ? c : old;
    default: /* exch */
        return b;
    }
}

static uint64_t operand(const struct warp *w, uint32_t row, bool wide, unsigned lane)
{
    const uint8_t *at = vm_lane(w->frame, row, lane, wide);
    uint64_t v = 0;
    memcpy(&v, at, wide ? 8 : 4);
    return v;
}

static bool inside(const struct mem_cache *c, uint64_t address, unsigned bytes)
{
    return c->span >= bytes && address - c->low <= c->span - bytes && (address & (bytes - 1)) == 0;
}

/* Where one lane's word is, its definedness, and how it counts. */
struct word {
    uint8_t *host;
    uint64_t *bits, *mine; /* as in struct mem_cache; NULL: not tracked */
    uint64_t at;           /* bit */
    bool global, shared;
};

/* The long way. false: a fault. */
static bool find_word(struct warp *w, const struct mem_op *op, unsigned lane, struct word *out)
{
    struct mem_cache *c = &w->engine->caches[op->index];
    struct check_target t = {0};
    if (!check_resolve(w, op, lane, w->lane_address[lane], op->bytes, &t))
        return false;
    *out = (struct word){.host = t.host, .at = t.offset};
    if (t.place == CHECK_SHARED) {
        out->bits = out->mine = w->block->shared_defined;
        out->shared = true;
        w->lane_address[lane] = t.offset;
        if (op->space == PTX_SHARED)
            *c = (struct mem_cache){
                .low = t.range->low,
                .span = (t.range->dynamic ? w->block->shared_end : t.range->high) - t.range->low,
                .reported = c->reported};
    } else if (t.place == CHECK_GLOBAL) {
        out->at -= t.allocation->base;
        out->global = true;
        if (w->engine->delay) {
            delay_settle(w, lane, w->lane_address[lane], op->bytes);
            out->bits = out->mine = check_bits(w, t.allocation);
            return true;
        }
        check_remember(w, op, t.allocation);
        out->bits = c->defined;
        out->mine = c->mine;
    } else { /* local memory: nobody else can see it */
        check_local_read(w, lane, t.offset, w->bounce.bytes[lane], op->bytes);
        out->host = w->bounce.bytes[lane];
        w->bounced |= 1u << lane;
        w->bounce_offset[lane] = t.offset;
    }
    return true;
}

static uint64_t read_word(const uint8_t *host, unsigned bytes)
{
    uint64_t v64;
    uint32_t v32;
    uint16_t v16;
    switch (bytes) {
    case 8:
        memcpy(&v64, host, 8);
        return v64;
    case 4:
        memcpy(&v32, host, 4);
        return v32;
    case 2:
        memcpy(&v16, host, 2);
        return v16;
    default:
        return *host;
    }
}

static void write_word(uint8_t *host, uint64_t v, unsigned bytes)
{
    uint32_t v32 = (uint32_t)v;
    uint16_t v16 = (uint16_t)v;
    switch (bytes) {
    case 8:
        memcpy(host, &v, 8);
        break;
    case 4:
        memcpy(host, &v32, 4);
        break;
    case 2:
        memcpy(host, &v16, 2);
        break;
    default:
        *host = (uint8_t)v;
        break;
    }
}

/* ---- words that other host threads may change at the same time ---- */

static uint64_t load_shared(const uint8_t *host, unsigned bytes)
{
    const void *p = host;
    switch (bytes) {
    case 8:
        return __atomic_load_n((const uint64_t *)p, __ATOMIC_SEQ_CST);
    case 4:
        return __atomic_load_n((const uint32_t *)p, __ATOMIC_SEQ_CST);
    case 2:
        return __atomic_load_n((const uint16_t *)p, __ATOMIC_SEQ_CST);
    default:
        return __atomic_load_n(host, __ATOMIC_SEQ_CST);
    }
}

/* Stores x if the word is *old; otherwise puts what it is into *old. */
static bool exchange_shared(uint8_t *host, uint64_t *old, uint64_t x, unsigned bytes)
{
    const int order = __ATOMIC_SEQ_CST;
    void *p = host;
    uint32_t old32 = (uint32_t)*old;
    uint16_t old16 = (uint16_t)*old;
    uint8_t old8 = (uint8_t)*old;
    bool done;
    switch (bytes) {
    case 8:
        return __atomic_compare_exchange_n((uint64_t *)p, old, x, false, order, order);
    case 4:
        done = __atomic_compare_exchange_n((uint32_t *)p, &old32, (uint32_t)x, false, order, order);
        *old = old32;
        return done;
    case 2:
        done = __atomic_compare_exchange_n((uint16_t *)p, &old16, (uint16_t)x, false, order, order);
        *old = old16;
        return done;
    default:
        done = __atomic_compare_exchange_n(host, &old8, (uint8_t)x, false, order, order);
        *old = old8;
        return done;
    }
}

/* For the race detector: a compare-and-swap that fails only reads, as what adds 0 does. */
static void note_order(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared,
                       uint32_t failed)
{
    if (op->only_reads)
        failed = global | shared;
    if (shared & ~failed)
        vm_race_access(w, op, shared & ~failed);
    if (global & ~failed)
        vm_race_global(w, op, global & ~failed);
    if (!failed)
        return;
    struct mem_op read = *op;
    read.write = false;
    read.sub = PTX_SUB_NONE;
    if (shared & failed)
        vm_race_access(w, &read, shared & failed);
    if (global & failed)
        vm_race_global(w, &read, global & failed);
}

bool vm_atomic(struct warp *w, const struct mem_op *op, uint8_t *f, uint32_t m)
{
    struct vm_engine *e = w->engine;
    struct mem_cache *c = &e->caches[op->index];
    const bool shared_space = op->space == PTX_SHARED;
    const unsigned bytes = op->bytes;
    const uint64_t ones = (1ull << bytes) - 1;
    const uint64_t value_mask = bytes == 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
    uint32_t undefined = 0, global = 0, shared = 0, failed = 0;
    w->bounced = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t address = w->lane_address[lane];
        struct word p;
        if (inside(c, address, bytes) && (shared_space || c->bias))
            p = shared_space ? (struct word){.host = w->block->shared + address,
                                             .bits = w->block->shared_defined,
                                             .mine = w->block->shared_defined,
                                             .at = address,
                                             .shared = true}
                             : (struct word){.host = (uint8_t *)((uintptr_t)c->bias + address),
                                             .bits = c->defined,
                                             .mine = c->mine,
                                             .at = address - c->base,
                                             .global = true};
        else if (!find_word(w, op, lane, &p))
            return false;
        global |= (uint32_t)p.global << lane;
        shared |= (uint32_t)p.shared << lane;
        if (p.bits) {
            uint64_t mask = ones << (p.at & 63);
            if (~__atomic_load_n(&p.bits[p.at / 64], __ATOMIC_RELAXED) & mask) {
                if (op->sub != PTX_EXCH && (~p.mine[p.at / 64] & mask) &&
                    (!e->crew || check_really_undefined(w, op, 1u << lane)))
                    undefined |= 1u << lane;
                if (p.global && e->worker)
                    vm_bits_touch(p.mine);
                __atomic_store_n(&p.mine[p.at / 64], p.mine[p.at / 64] | mask, __ATOMIC_RELAXED);
            }
        }
        uint64_t b = op->sources > 0 ? operand(w, op->b, op->wide[1], lane) : 0;
        uint64_t c_value = op->sources > 1 ? operand(w, op->c, op->wide[2], lane) : 0;
        uint64_t x,
            old = p.global && e->crew ? load_shared(p.host, bytes) : read_word(p.host, bytes);
        do {
            x = vm_atomic_value(op, old, b, c_value);
            if (((x ^ old) & value_mask) == 0)
                break;
            e->version++;
            if (!p.global || !e->crew) {
                write_word(p.host, x, bytes);
                break;
            }
        } while (!exchange_shared(p.host, &old, x, bytes));
        if (op->sub == PTX_CAS && ((old ^ b) & value_mask) != 0)
            failed |= 1u << lane;
        if (op->has_result)
            write_word(vm_lane(f, op->rows[0], lane, op->wide[0]), old, op->wide[0] ? 8 : 4);
    }
    if (w->bounced)
        vm_mem_write_back(w, op, m);
    if (undefined)
        vm_report_uninitialized(w, op, undefined);
    vm_watch_atomic(w, op, global, shared);
    if (w->clocks)
        note_order(w, op, global, shared, failed);
    return true;
}
