/* Four words per thread that lie next to each other in memory (items of a thread, fields of a
 * struct): every instruction touches one word in four, a column of the 512 bytes that belong to the
 * warp. lower_fuse.c says which instructions belong together. The first load of such a group
 * fetches all 512 bytes, and the others find their column in engine->columns; stores leave their
 * columns there until the fourth one is, and then all go to memory in one stretch.
 *
 * What was loaded is used only as long as nothing can have changed it: until a store of this host
 * thread (engine->version tells; a store to one of the very columns updates it), until the warp
 * does anything strong, which may show it what other host threads stored (vm_columns_forget()), or
 * until its turn ends. What was stored reaches memory before the warp makes any other access to
 * global memory that is not a column of a group, before everything that may make it known to
 * others, and before its turn ends (vm_columns_settle()). So only a race could tell the difference,
 * and where races are looked for all of this is not done. For exec_mem.c only. */
#ifndef CPU_VM_EXEC_COLUMNS_H
#define CPU_VM_EXEC_COLUMNS_H

#include "cpu/vm/exec.h"

enum { COLUMNS_BYTES = VM_COLUMNS * VM_ROW32 };

/* Which column of the group that begins at `base` a word at `host` is; VM_COLUMNS or more: none. */
static inline uint64_t column_of(const uint8_t *base, const uint8_t *host)
{
    return (uint64_t)((uintptr_t)host - (uintptr_t)base) / 4;
}

static inline bool columns_hold(const struct vm_engine *e, const uint8_t *host)
{
    return column_of(e->columns.from, host) < VM_COLUMNS && e->columns.version == e->version;
}

/* Fetches the group that begins at `base`. */
static inline void columns_fetch(struct vm_engine *e, const uint8_t *base)
{
    struct vm_columns *k = &e->columns;
    const r32 *from = (const r32 *)(const void *)base;
    k->from = base;
    k->version = e->version;
    EACH_LANE(l)
    {
        k->loaded[0][l] = from[4ul * l];
        k->loaded[1][l] = from[4ul * l + 1];
        k->loaded[2][l] = from[4ul * l + 2];
        k->loaded[3][l] = from[4ul * l + 3];
    }
}

/* A store of words 16 bytes apart is done, or waits; the version is counted. */
static inline void columns_update(struct vm_engine *e, const uint8_t *host, const r32 *s)
{
    struct vm_columns *k = &e->columns;
    if (k->version + 1 != e->version)
        return;
    const uint64_t column = column_of(k->from, host);
    if (column < VM_COLUMNS)
        memcpy(k->loaded[column], s, VM_ROW32);
    else if (host < k->from + COLUMNS_BYTES && k->from < host + COLUMNS_BYTES)
        return; /* it may have hit any of them */
    k->version = e->version;
}

static inline void take_every_4(r32 *d, const uint8_t *from)
{
#if defined(__AVX512F__)
    const __m512i pick = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i pick_last =
        _mm512_setr_epi32(0, 4, 8, 12, 19, 23, 27, 31, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512i part[4];
#pragma GCC unroll 4
    for (unsigned k = 0; k < 4; k++) {
        /* No byte past the last lane's word is touched: it may be the last of its page. */
        __m512i low = _mm512_loadu_si512(from + 128ul * k);
        __m512i high = _mm512_loadu_si512(from + 128ul * k + (k < 3 ? 64 : 52));
        part[k] = _mm512_permutex2var_epi32(low, k < 3 ? pick : pick_last, high);
    }
    _mm512_store_si512(d, _mm512_inserti64x4(part[0], _mm512_castsi512_si256(part[1]), 1));
    _mm512_store_si512(d + 16, _mm512_inserti64x4(part[2], _mm512_castsi512_si256(part[3]), 1));
#else
    EACH_LANE(l)
    d[l] = ((const r32 *)(const void *)from)[4ul * l];
#endif
}

static inline void put_every_4(uint8_t *to, const r32 *s)
{
#if defined(__AVX512F__)
#pragma GCC unroll 8
    for (unsigned k = 0; k < 8; k++) {
        __m512i four = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)(s + 4ul * k)));
        _mm512_mask_storeu_epi32(to + 64ul * k, 0x1111, _mm512_maskz_expand_epi32(0x1111, four));
    }
#else
#pragma GCC unroll 32
    for (unsigned l = 0; l < VM_LANES; l++)
        ((r32 *)(void *)to)[4ul * l] = s[l];
#endif
}

/* Writes what waits. */
static inline void columns_write(struct vm_engine *e)
{
    struct vm_columns *k = &e->columns;
    if (k->waiting == (1u << VM_COLUMNS) - 1) {
        r32 *to = (r32 *)(void *)k->to;
        EACH_LANE(l)
        {
            to[4ul * l] = k->stored[0][l];
            to[4ul * l + 1] = k->stored[1][l];
            to[4ul * l + 2] = k->stored[2][l];
            to[4ul * l + 3] = k->stored[3][l];
        }
    } else {
        for (uint32_t rest = k->waiting; rest; rest &= rest - 1)
            put_every_4(k->to + 4ul * LANE(rest), k->stored[LANE(rest)]);
    }
    k->waiting = 0;
}

/* One column of the group that begins at `base`. */
static inline void columns_put(struct vm_engine *e, uint8_t *base, uint32_t column, const r32 *s)
{
    struct vm_columns *k = &e->columns;
    const uint32_t bit = 1u << column;
    if (k->waiting && (k->to != base || k->waiting & bit))
        columns_write(e);
    k->to = base;
    k->waiting |= bit;
    memcpy(k->stored[column], s, VM_ROW32);
    if (k->waiting == (1u << VM_COLUMNS) - 1)
        columns_write(e);
}

#endif
