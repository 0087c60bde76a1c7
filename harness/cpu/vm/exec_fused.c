/* Superinstructions, see lower_fuse.c. The instructions that are done along are i[1], i[2]. */
#include "cpu/vm/exec.h"
#include "cpu/vm/exec_warp.h"

HANDLER(scan_step)
{
    const struct warp_op *op = (const struct warp_op *)(uintptr_t)i->imm;
    if (__builtin_expect(m != VM_FULL || !all_here(op, f, u, m, w), 0))
        return VM_NAME(shfl)(i, f, u, m, w);
    const struct insn *select = i + 1, *add = i + 2;
    const uint32_t p = PRED(select->c) ^ select->x;
    const r32 otherwise = SLOT(r32, select->b);
    const r32 *v = ROW(r32, op->a);
    r32 *n = ROW(r32, op->d), *chosen = ROW(r32, select->d), *sum = ROW(r32, add->d);
#if defined(__AVX512F__)
    const __m512i low = _mm512_load_si512(v), high = _mm512_load_si512(v + 16);
    const __m512i other = _mm512_set1_epi32((int32_t)otherwise);
#pragma GCC unroll 2
    for (unsigned k = 0; k < VM_LANES; k += 16) {
        __m512i from = _mm512_permutex2var_epi32(low, _mm512_load_si512(op->source + k), high);
        __m512i x = _mm512_mask_mov_epi32(other, (__mmask16)(p >> k), from);
        _mm512_store_si512(n + k, from);
        _mm512_store_si512(chosen + k, x);
        _mm512_store_si512(sum + k, _mm512_add_epi32(x, k ? high : low));
    }
#else
    _Alignas(64) uint32_t own[VM_LANES], from[VM_LANES];
    memcpy(own, v, sizeof own);
    for (unsigned l = 0; l < VM_LANES; l++)
        from[l] = own[op->source[l]];
    for (unsigned l = 0; l < VM_LANES; l++) {
        const uint32_t x = p & (1u << l) ? from[l] : otherwise;
        n[l] = from[l];
        chosen[l] = x;
        sum[l] = x + own[l];
    }
#endif
    sync_clocks(w, m);
    RUN(i + 3);
}

#define ADDRESS(name, T, first)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        if (__builtin_expect(m != VM_FULL, 0))                                                     \
            return VM_NAME(first)(i, f, u, m, w);                                                  \
        const T *index = ROW(T, i->a);                                                             \
        const T size = SLOT(T, i->b);                                                              \
        const r64 base = SLOT(r64, i[1].b);                                                        \
        r64 *product = ROW(r64, i->d), *address = ROW(r64, i[1].d);                                \
        EACH_LANE(l)                                                                               \
        {                                                                                          \
            const uint64_t x = (uint64_t)(index[l] * (int64_t)size);                               \
            product[l] = x;                                                                        \
            address[l] = base + x;                                                                 \
        }                                                                                          \
        RUN(i + 2);                                                                                \
    }

ADDRESS(address_s32, i32, mulw_s32_vs)
ADDRESS(address_u32, r32, mulw_u32_vs)
