/* Definedness of memory: a bit per byte. For a stride that is a power of two up to 64 bytes the
 * bits of all lanes are a pattern over a few words; otherwise lane by lane. For exec_reach.h only.
 */
#ifndef CPU_VM_EXEC_DEFINED_H
#define CPU_VM_EXEC_DEFINED_H

#include "cpu/vm/exec.h"

static inline void fill_addresses(struct warp *w, uint64_t first, int64_t stride)
{
    EACH_LANE(l)
    w->lane_address[l] = first + (uint64_t)stride * l;
}

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

/* The used bytes of one element sequence, as bits. */
static inline uint64_t used_mask(const struct mem_op *op, unsigned total)
{
    uint64_t all = (1ull << total) - 1;
    return all & op->used_bytes;
}

/* Definedness of an access that passed the bounds check. Bits are set in `mine`, which is `bits`
 * unless other host threads are at work, see vm_own_bits(). */
static inline void definedness(struct warp *w, const struct mem_op *op, uint32_t m, unsigned total,
                               bool write, const uint64_t *bits, uint64_t *mine, uint64_t base,
                               bool affine, uint64_t first, int64_t stride)
{
    uint64_t used = write ? (1ull << total) - 1 : used_mask(op, total);
    if (affine && m == VM_FULL && stride >= (int64_t)total && stride <= 64 &&
        (stride & (stride - 1)) == 0 && (write || used == (1ull << total) - 1)) {
        if (write) {
            if (mine != bits) {
                if (pattern_all(bits, first - base, total, (unsigned)stride))
                    return;
                vm_bits_touch(mine);
            }
            pattern_set(mine, first - base, total, (unsigned)stride);
            return;
        }
        if (__builtin_expect(pattern_all(bits, first - base, total, (unsigned)stride), 1))
            return;
    }
    if (write && mine != bits)
        vm_bits_touch(mine);
    if (affine && stride == 0) {
        uint64_t at = first - base;
        if (write) {
            mine[at / 64] |= used << (at & 63);
            return;
        }
        if ((~(bits_of(bits, at) | bits_of(mine, at)) & used) == 0)
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
            mine[at / 64] |= used << (at & 63);
        else if (~(bits_of(bits, at) | bits_of(mine, at)) & used)
            undefined |= 1u << l;
    }
    if (undefined)
        vm_report_uninitialized(w, op, undefined);
}

#endif
