/* The short ways of the race detector, for accesses that meet nothing; check_race.c and
 * race_global.c have the long ones. For exec_reach.h only. */
#ifndef CPU_VM_EXEC_RACE_H
#define CPU_VM_EXEC_RACE_H

#include "cpu/vm/exec.h"
#include "cpu/vm/race.h"

/* The shadow of shared memory for the two commonest shapes, one word for all lanes and a word per
 * lane in a row, as long as nobody else touched them since the last barrier. false: nothing was
 * recorded, vm_race_access() has to do it. */
static inline bool race_quick(struct warp *w, const struct mem_op *op, uint32_t m, uint32_t first,
                              int64_t stride)
{
    struct race_block *r = w->block->races;
    if (op->strength != VM_PLAIN || op->total != 4)
        return false;
    const uint64_t since = (uint64_t)r->base << RACE_TIME_SHIFT, lane = 1ull << RACE_WHO_SHIFT;
    const uint64_t base =
        race_entry(w->sync_events, VM_PLAIN, op->pc) + (uint64_t)w->index * VM_LANES * lane;
    uint32_t unit = first >> 2;
    if (stride == 0 || (m & (m - 1)) == 0) {
        unsigned low = LANE(m), high = 31u - (unsigned)__builtin_clz(m);
        unit = (uint32_t)((int64_t)first + stride * low) >> 2;
        uint64_t mine = base + low * lane;
        if (r->narrow && r->split[unit] == r->base)
            return false;
        if (op->write) {
            if (low != high || race_meets(r->write[unit], mine, since) ||
                race_meets(r->first_read[unit], mine, since) ||
                race_meets(r->last_read[unit], mine, since))
                return false;
            r->write[unit] = mine;
            return true;
        }
        if (race_meets(r->write[unit], mine, since))
            return false;
        if (low != high && r->write[unit] >= since)
            return false; /* its own write, but others read it too */
        if (!race_meets(r->first_read[unit], mine, since))
            r->first_read[unit] = mine;
        else
            r->last_read[unit] = mine;
        if (low != high)
            r->last_read[unit] = base + high * lane;
        return true;
    }
    if (stride != 4 || m != VM_FULL || unit + VM_LANES > r->word_count)
        return false;
    if (r->narrow) {
        uint32_t split = 0;
        for (unsigned l = 0; l < VM_LANES; l++)
            split |= r->split[unit + l] == r->base;
        if (split)
            return false;
    }
    r64 *written = r->write + unit, *one = r->first_read + unit, *other = r->last_read + unit;
    uint64_t met = 0;
    if (op->write) {
        for (unsigned l = 0; l < VM_LANES; l++) {
            uint64_t mine = base + l * lane;
            met |= (uint64_t)race_meets(written[l], mine, since) |
                   (uint64_t)race_meets(one[l], mine, since) |
                   (uint64_t)race_meets(other[l], mine, since);
        }
        if (met)
            return false;
        EACH_LANE(l)
        written[l] = base + l * lane;
        return true;
    }
    for (unsigned l = 0; l < VM_LANES; l++)
        met |= (uint64_t)race_meets(written[l], base + l * lane, since);
    if (met)
        return false;
    EACH_LANE(l)
    {
        uint64_t mine = base + l * lane, old = one[l], last = other[l];
        bool somebody = race_meets(old, mine, since);
        one[l] = somebody ? old : mine;
        other[l] = somebody ? mine : last;
    }
    return true;
}

/* What an access of several lanes met, and what it is called if it met nothing. */
static inline uint64_t race_met(const struct race_block *r, uint32_t unit, uint64_t mine,
                                uint64_t since, bool write)
{
    uint64_t met = (uint64_t)race_meets(r->write[unit], mine, since);
    if (write)
        met |= (uint64_t)race_meets(r->first_read[unit], mine, since) |
               (uint64_t)race_meets(r->last_read[unit], mine, since);
    return met;
}

static inline void race_record(struct race_block *r, uint32_t unit, uint64_t mine, uint64_t since,
                               bool write)
{
    if (write)
        r->write[unit] = mine;
    else if (race_meets(r->first_read[unit], mine, since))
        r->last_read[unit] = mine;
    else
        r->first_read[unit] = mine;
}

/* Lanes that each access `count` units from offset >> shift on, which begin at r->write[from]:
 * whole words, or bytes of words that are split. Looks at everything before it records anything:
 * lanes of one store do not race with each other here. */
static inline bool race_units(struct warp *w, const struct mem_op *op, uint32_t m, uint32_t from,
                              uint32_t shift, uint32_t count, bool write)
{
    struct race_block *r = w->block->races;
    const uint64_t since = (uint64_t)r->base << RACE_TIME_SHIFT;
    const uint64_t base = race_entry(w->sync_events, VM_PLAIN, op->pc) +
                          ((uint64_t)w->index * VM_LANES << RACE_WHO_SHIFT);
    uint64_t met = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        const unsigned l = LANE(rest);
        const uint32_t first = from + ((uint32_t)w->lane_address[l] >> shift);
        for (uint32_t k = 0; k < count; k++)
            met |= race_met(r, first + k, base + ((uint64_t)l << RACE_WHO_SHIFT), since, write);
    }
    if (met)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        const unsigned l = LANE(rest);
        const uint32_t first = from + ((uint32_t)w->lane_address[l] >> shift);
        for (uint32_t k = 0; k < count; k++)
            race_record(r, first + k, base + ((uint64_t)l << RACE_WHO_SHIFT), since, write);
    }
    return true;
}

/* Is one of the words that the lanes access split? An access of 1 or 2 bytes splits its own. */
static inline bool race_splits(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct race_block *r = w->block->races;
    uint32_t split = 0, words = op->total < 4 ? 1 : op->total >> 2;
    if (!r->narrow)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        const uint32_t word = (uint32_t)w->lane_address[LANE(rest)] >> 2;
        if (op->total < 4 && r->split[word] != r->base)
            race_split(r, word);
        for (uint32_t k = 0; k < words; k++)
            split |= r->split[word + k] == r->base;
    }
    return split;
}

/* The same for any addresses, which are in w->lane_address. */
static __attribute__((noinline)) bool race_lanes(struct warp *w, const struct mem_op *op,
                                                 uint32_t m)
{
    if (op->strength != VM_PLAIN)
        return false;
    const bool write = op->write;
    if (race_splits(w, op, m)) {
        const uint32_t from = w->block->races->word_count;
        if (op->total == 2)
            return write ? race_units(w, op, m, from, 0, 2, true)
                         : race_units(w, op, m, from, 0, 2, false);
        /* Wide accesses find some words whole and some split. */
        return op->total == 1 && race_units(w, op, m, from, 0, 1, write);
    }
    switch (op->total) { /* the commonest ones with numbers that the compiler knows */
    case 4:
        return write ? race_units(w, op, m, 0, 2, 1, true) : race_units(w, op, m, 0, 2, 1, false);
    case 8:
        return write ? race_units(w, op, m, 0, 2, 2, true) : race_units(w, op, m, 0, 2, 2, false);
    case 16:
        return write ? race_units(w, op, m, 0, 2, 4, true) : race_units(w, op, m, 0, 2, 4, false);
    default:
        return race_units(w, op, m, 0, 2, op->total >> 2, write);
    }
}

/* ---- global memory ---- */

/* One word per lane, every `step`-th one. false: somebody else was here. */
static inline bool race_global_row(r64 *written, r64 *one, const r64 *other, uint64_t mine,
                                   uint64_t since, uint64_t step, bool write)
{
    const uint64_t lane = 1ull << RACE_LANE_SHIFT;
    uint64_t met = 0;
    /* What differs from an entry of this thread, as bits; nothing where the entry is old. */
#define STRANGE(entry, l) (((entry) < since ? mine + (l)*lane : (entry)) ^ (mine + (l)*lane))
    if (write) {
        for (unsigned l = 0; l < VM_LANES; l++)
            met |= STRANGE(written[step * l], l) | STRANGE(one[step * l], l) |
                   STRANGE(other[step * l], l);
        if (met >> RACE_OWN_SHIFT)
            return false;
        EACH_LANE(l)
        written[step * l] = mine + l * lane;
        return true;
    }
    for (unsigned l = 0; l < VM_LANES; l++)
        met |= STRANGE(written[step * l], l) | STRANGE(one[step * l], l);
    if (met >> RACE_OWN_SHIFT)
        return false;
    EACH_LANE(l)
    one[step * l] = mine + l * lane;
    return true;
#undef STRANGE
}

#if defined(__AVX512F__)
enum { RACE_EVERY_4 = 0x11 }; /* of the 8 entries in a vector */

/* Adds to `met` how recent ones among two entries differ from what is expected. Not a word more
 * than the lanes touch is loaded: the shadow may end there. */
static inline __m512i race_strange(__m512i met, const r64 *from, __m512i since, __m512i expected)
{
    const __m512i entry = _mm512_maskz_loadu_epi64(RACE_EVERY_4, from);
    const __mmask8 recent = _mm512_mask_cmpge_epu64_mask(RACE_EVERY_4, entry, since);
    return _mm512_mask_ternarylogic_epi64(met, recent, entry, expected, 0xf6); /* a | (b ^ c) */
}
#endif

/* The same for every fourth one. gcc would go word by word. */
static inline bool race_global_row_4(r64 *written, r64 *one, const r64 *other, uint64_t mine,
                                     uint64_t since, bool write)
{
#if defined(__AVX512F__)
    enum { VECTORS = 4 * VM_LANES / 8 };
    const int64_t lane = 1ll << RACE_LANE_SHIFT;
    const __m512i limit = _mm512_set1_epi64((int64_t)since);
    const __m512i first = _mm512_add_epi64(_mm512_set1_epi64((int64_t)mine),
                                           _mm512_setr_epi64(0, 0, 0, 0, lane, 0, 0, 0));
    const __m512i step = _mm512_set1_epi64(2 * lane);
    __m512i met = _mm512_setzero_si512(), expected = first;
    for (unsigned k = 0; k < VECTORS; k++, expected = _mm512_add_epi64(expected, step)) {
        met = race_strange(met, written + 8ul * k, limit, expected);
        met = race_strange(met, one + 8ul * k, limit, expected);
        if (write)
            met = race_strange(met, other + 8ul * k, limit, expected);
    }
    if (_mm512_test_epi64_mask(met, _mm512_set1_epi64((int64_t)(~0ull << RACE_OWN_SHIFT))))
        return false;
    r64 *to = write ? written : one;
    expected = first;
    for (unsigned k = 0; k < VECTORS; k++, expected = _mm512_add_epi64(expected, step))
        _mm512_mask_storeu_epi64(to + 8ul * k, RACE_EVERY_4, expected);
    return true;
#else
    return race_global_row(written, one, other, mine, since, 4, write);
#endif
}

/* One word that all lanes in m read. */
static inline bool race_global_one(struct warp *w, const struct mem_op *op, uint32_t m,
                                   const struct race_shadow *s, uint64_t address)
{
    const uint64_t since = (uint64_t)w->engine->global_races->first << RACE_TIME_SHIFT;
    const uint64_t mine = race_mine(w, op), unit = (address - s->base) >> 2;
    const unsigned low = LANE(m), high = 31u - (unsigned)__builtin_clz(m);
    if (s->write[unit] >= since || s->strong_last >= w->engine->global_races->first)
        return false;
    if (s->first_read[unit] < since)
        s->first_read[unit] = mine + ((uint64_t)low << RACE_LANE_SHIFT);
    if (!(s->last_read[unit] >= since && (s->last_read[unit] & RACE_READ_ONLY)) || op->read_only)
        s->last_read[unit] = mine + ((uint64_t)high << RACE_LANE_SHIFT);
    return true;
}

/* A full warp, plainly, with a constant stride not below the size of the access, all of it in one
 * shadow, where everything is older than the launch or the same thread's at the same time. false:
 * nothing was recorded. */
static inline bool race_global_quick(struct warp *w, const struct mem_op *op, uint32_t m,
                                     const struct race_shadow *s, uint64_t first, int64_t stride)
{
    if (__builtin_expect(w->engine->global_races->foreign_count, 0))
        return false;
    if (stride == 0 && !op->write && s && op->strength == VM_PLAIN && s->shift == 2 &&
        op->total == 4)
        return race_global_one(w, op, m, s, first);
    if (!s || m != VM_FULL || op->strength != VM_PLAIN || s->shift != 2 || stride < op->total ||
        (op->total & 3))
        return false;
    const uint64_t since = (uint64_t)w->engine->global_races->first << RACE_TIME_SHIFT;
    if (s->strong_last >= w->engine->global_races->first)
        return false;
    const uint64_t mine = race_mine(w, op);
    const uint64_t unit = (first - s->base) >> 2;
    const uint64_t step = (uint64_t)stride >> 2;
    if ((unit & 3) == 0) /* as prefetch_next() does with the words themselves */
        for (uint64_t k = 0; k < step * VM_LANES; k += 8) {
            const uint64_t at = unit + 4 * step * VM_LANES + k;
            PREFETCH(s->write + at);
            PREFETCH(s->first_read + at);
            if (op->write)
                PREFETCH(s->last_read + at);
        }
    for (unsigned k = 0; k < op->total / 4u; k++) {
        r64 *written = s->write + unit + k, *one = s->first_read + unit + k,
            *other = s->last_read + unit + k;
        bool done = step == 1 ? race_global_row(written, one, other, mine, since, 1, op->write)
                    : step == 4
                        ? race_global_row_4(written, one, other, mine, since, op->write)
                        : race_global_row(written, one, other, mine, since, step, op->write);
        if (!done)
            return false;
    }
    return true;
}

#endif
