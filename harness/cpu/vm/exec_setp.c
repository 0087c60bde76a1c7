/* Comparisons: 32 lanes in, one bit per lane out. Vectors are spelled out here, because compilers
 * do not turn "bit l |= a[l] < b[l]" into a compare and a move-mask. Float forms are the ordered
 * ones; lowering makes the others from them. */
#include "cpu/vm/exec.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define CHUNK 64
#elif defined(__AVX2__)
#define CHUNK 32
#elif defined(__x86_64__)
#define CHUNK 16
#else
#define CHUNK 0
#endif

#if CHUNK
#define VECTOR(T) typedef T v_##T __attribute__((vector_size(CHUNK), aligned(CHUNK), may_alias))
VECTOR(r32);
VECTOR(i32);
VECTOR(r64);
VECTOR(i64);
VECTOR(f32);
VECTOR(f64);

/* The sign bits of a comparison's result: all ones or zero per element. */
static inline uint32_t mask_of_32(v_i32 c)
{
#if CHUNK == 64
    return (uint32_t)_mm512_movepi32_mask((__m512i)c);
#elif CHUNK == 32
    return (uint32_t)_mm256_movemask_ps((__m256)c);
#else
    return (uint32_t)_mm_movemask_ps((__m128)c);
#endif
}

static inline uint32_t mask_of_64(v_i64 c)
{
#if CHUNK == 64
    return (uint32_t)_mm512_movepi64_mask((__m512i)c);
#elif CHUNK == 32
    return (uint32_t)_mm256_movemask_pd((__m256d)c);
#else
    return (uint32_t)_mm_movemask_pd((__m128d)c);
#endif
}

#define MASK_OF(T, c) (sizeof(T) == 4 ? mask_of_32((v_i32)(c)) : mask_of_64((v_i64)(c)))

#define COMPARE(T, op, b_of_chunk)                                                                 \
    enum { PER_CHUNK = CHUNK / sizeof(T), CHUNKS = VM_LANES / PER_CHUNK };                         \
    const v_##T *ra = (const v_##T *)(const void *)(f + i->a);                                     \
    uint32_t r = 0;                                                                                \
    _Pragma("GCC unroll 16") for (unsigned k = 0; k < CHUNKS; k++)                                 \
    {                                                                                              \
        r |= MASK_OF(T, ra[k] op(b_of_chunk)) << (k * PER_CHUNK);                                  \
    }

#define ROWS(T, op)                                                                                \
    const v_##T *rb = (const v_##T *)(const void *)(f + i->b);                                     \
    COMPARE(T, op, rb[k])                                                                          \
    vm_set_pred(&PRED(i->d), m, r)
#define ROW_SLOT(T, op)                                                                            \
    const v_##T sb = SLOT(T, i->b) - (v_##T){0};                                                   \
    COMPARE(T, op, sb)                                                                             \
    vm_set_pred(&PRED(i->d), m, r)
#else
#define COMPARE(T, op, b_of_lane)                                                                  \
    const T *ra = ROW(T, i->a);                                                                    \
    uint32_t r = 0;                                                                                \
    for (unsigned l = 0; l < VM_LANES; l++)                                                        \
        r |= (uint32_t)(ra[l] op(b_of_lane)) << l;                                                 \
    vm_set_pred(&PRED(i->d), m, r)
#define ROWS(T, op)                                                                                \
    const T *rb = ROW(T, i->b);                                                                    \
    COMPARE(T, op, rb[l])
#define ROW_SLOT(T, op)                                                                            \
    const T sb = SLOT(T, i->b);                                                                    \
    COMPARE(T, op, sb)
#endif

#define VM_SETP(name, T, op)                                                                       \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ROWS(T, op);                                                                               \
        NEXT;                                                                                      \
    }                                                                                              \
    HANDLER(name##_vs)                                                                             \
    {                                                                                              \
        ROW_SLOT(T, op);                                                                           \
        NEXT;                                                                                      \
    }                                                                                              \
    HANDLER(name##_bra)                                                                            \
    {                                                                                              \
        ROWS(T, op);                                                                               \
        BRANCH_IF(r ^ i->c);                                                                       \
    }                                                                                              \
    HANDLER(name##_vs_bra)                                                                         \
    {                                                                                              \
        ROW_SLOT(T, op);                                                                           \
        BRANCH_IF(r ^ i->c);                                                                       \
    }

#define VM_BIN(name, D, A, B, expr)
#define VM_BINC(name, D, A, B, expr)
#define VM_UN(name, D, A, expr)
#define VM_TER(name, D, A, B, C, expr)
#define VM_SPECIAL(name)
#include "cpu/vm/exec_ops.def"
