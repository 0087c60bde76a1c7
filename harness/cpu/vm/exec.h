/* exec: what the handlers have in common. Included by exec*.c only, which are compiled once per
 * instruction set (VM_ISA): every external name carries the set's name.
 *
 * A handler does its instruction for the lanes in m and goes on with the next one. With sibling
 * calls (any optimising build) that is a jump; otherwise the handler leaves the next instruction in
 * w->resume and returns to run(). RESUME goes on with what the scheduler left there, unless it
 * halts the warp. Results for inactive lanes are computed too, into w->temp, and dropped by a
 * blend: one loop serves both cases and has no branch in it. */
#ifndef CPU_VM_EXEC_H
#define CPU_VM_EXEC_H

#include "cpu/vm/engine.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef VM_ISA
#error "exec*.c need VM_ISA"
#endif
#define VM_JOIN2(a, b) vm_##a##_##b
#define VM_JOIN1(a, b) VM_JOIN2(a, b)
#define VM_NAME(name)  VM_JOIN1(name, VM_ISA)

/* Rows are read as what an instruction says they are, whatever wrote them. */
typedef uint32_t __attribute__((may_alias)) r32;
typedef int32_t __attribute__((may_alias)) i32;
typedef uint64_t __attribute__((may_alias)) r64;
typedef int64_t __attribute__((may_alias)) i64;
typedef float __attribute__((may_alias)) f32;
typedef double __attribute__((may_alias)) f64;

#if defined(__OPTIMIZE__) && !defined(SJ_SANITIZED) && !defined(__clang__)
#define VM_THREADED 1
#define RUN(insn)   return (insn)->run((insn), f, u, m, w)
#define RESUME                                                                                     \
    do {                                                                                           \
        if (w->halt)                                                                               \
            return;                                                                                \
        return w->resume->run(w->resume, w->frame, u, w->mask, w);                                 \
    } while (0)
#else
#define VM_THREADED 0
#define RUN(insn)                                                                                  \
    do {                                                                                           \
        (void)f, (void)u;                                                                          \
        w->resume = (insn);                                                                        \
        w->mask = m;                                                                               \
        return;                                                                                    \
    } while (0)
#define RESUME return
#endif
#define NEXT RUN(i + 1)

#define HANDLER(name)                                                                              \
    void VM_NAME(name)(const struct insn *i __attribute__((unused)),                               \
                       uint8_t *f __attribute__((unused)),                                         \
                       const uint8_t *u __attribute__((unused)),                                   \
                       uint32_t m __attribute__((unused)), struct warp *w)

/* What a handler goes on with when its short way is barred. */
typedef void continued(const struct insn *i, uint8_t *f, const uint8_t *u, uint32_t m,
                       struct warp *w);
#define CONTINUED(name)                                                                            \
    static __attribute__((noinline)) void name(const struct insn *i __attribute__((unused)),       \
                                               uint8_t *f __attribute__((unused)),                 \
                                               const uint8_t *u __attribute__((unused)),           \
                                               uint32_t m __attribute__((unused)), struct warp *w)

/* Prototypes of every handler. */
#define VM_BIN(name, D, A, B, expr)                                                                \
    HANDLER(name);                                                                                 \
    HANDLER(name##_vs);                                                                            \
    HANDLER(name##_sv);
#define VM_BINC(name, D, A, B, expr)                                                               \
    HANDLER(name);                                                                                 \
    HANDLER(name##_vs);
#define VM_UN(name, D, A, expr) HANDLER(name);
#define VM_TER(name, D, A, B, C, expr)                                                             \
    HANDLER(name);                                                                                 \
    HANDLER(name##_vvs);                                                                           \
    HANDLER(name##_vsv);                                                                           \
    HANDLER(name##_vss);
#define VM_SETP(name, T, op)                                                                       \
    HANDLER(name);                                                                                 \
    HANDLER(name##_vs);                                                                            \
    HANDLER(name##_bra);                                                                           \
    HANDLER(name##_vs_bra);
#define VM_SPECIAL(name) HANDLER(name);
#include "cpu/vm/exec_ops.def"
#undef VM_BIN
#undef VM_BINC
#undef VM_UN
#undef VM_TER
#undef VM_SETP
#undef VM_SPECIAL

void VM_NAME(warp_op)(struct warp *w, const struct warp_op *op, uint8_t *f, const uint8_t *u,
                      uint32_t m);

#define ROW(T, offset)  ((T *)(void *)__builtin_assume_aligned(f + (offset), 64))
#define SLOT(T, offset) (*(const T *)(const void *)(u + (offset)))
#define PRED(offset)    (*(uint32_t *)(void *)(f + (offset)))

/* Lanes are independent: an operand row is the same as the result's or another one. */
#if defined(__clang__)
#define EACH_LANE(l)                                                                               \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < VM_LANES; l++)
#else
#define EACH_LANE(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < VM_LANES; l++)
#endif

/* The active lanes, ascending: for (uint32_t rest = m; rest; rest &= rest - 1) with this lane. */
#define LANE(rest) ((unsigned)__builtin_ctz(rest))

/* As an instruction: gcc drops loops of nothing but __builtin_prefetch(). */
#if defined(__x86_64__)
#define PREFETCH(address) __asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)(address)))
#elif defined(__aarch64__)
#define PREFETCH(address) __asm__ volatile("prfm pldl1keep, %0" : : "Q"(*(const char *)(address)))
#else
#define PREFETCH(address) __builtin_prefetch(address)
#endif

static inline uint32_t vm_popcount(uint32_t x)
{
#if defined(__POPCNT__)
    return (uint32_t)__builtin_popcount(x);
#else
    return vm_count_lanes(x);
#endif
}

/* to[l] = from[l] for lanes in m. */
static inline void vm_blend32(r32 *to, const r32 *from, uint32_t m)
{
    EACH_LANE(l)
    to[l] = m & (1u << l) ? from[l] : to[l];
}

static inline void vm_blend64(r64 *to, const r64 *from, uint32_t m)
{
    EACH_LANE(l)
    to[l] = m & (1u << l) ? from[l] : to[l];
}

#define BLEND(to, from, m)                                                                         \
    do {                                                                                           \
        if (sizeof *(to) == 4)                                                                     \
            vm_blend32((r32 *)(void *)(to), (const r32 *)(const void *)(from), m);                 \
        else                                                                                       \
            vm_blend64((r64 *)(void *)(to), (const r64 *)(const void *)(from), m);                 \
    } while (0)

static inline void vm_set_pred(uint32_t *p, uint32_t m, uint32_t value)
{
    *p = (*p & ~m) | (value & m);
}

static inline uint32_t vm_bits_of32(float x)
{
    union {
        float x;
        uint32_t bits;
    } v = {.x = x};
    return v.bits;
}

static inline float vm_of_bits32(uint32_t bits)
{
    union {
        uint32_t bits;
        float x;
    } v = {.bits = bits};
    return v.x;
}

/* Single precision: every NaN that an operation makes is this one (PTX ISA, "Floating point"). */
static inline uint32_t vm_reverse(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

/* Towards zero, saturating, NaN is 0. */
static inline int32_t vm_to_s32(float x)
{
    return x >= 2147483648.0f    ? INT32_MAX
           : x >= -2147483648.0f ? (int32_t)x
           : x != x              ? 0
                                 : INT32_MIN;
}

static inline uint32_t vm_to_u32(float x)
{
    return x >= 4294967296.0f ? UINT32_MAX : x > 0.0f ? (uint32_t)x : 0;
}

static inline uint32_t vm_field(uint32_t a, uint32_t at, uint32_t length)
{
    at &= 255;
    length &= 255;
    uint32_t field = at > 31 ? 0 : a >> (at & 31);
    return length > 31 ? field : field & ((1u << (length & 31)) - 1);
}

static inline float vm_nan32(float x)
{
    return x != x ? vm_of_bits32(0x7fffffffu) : x;
}

static inline float vm_min32(float a, float b)
{
    float equal = vm_of_bits32(vm_bits_of32(a) | vm_bits_of32(b)); /* -0 < +0 */
    float r = a < b ? a : (b < a ? b : equal);
    r = a != a ? b : (b != b ? a : r);
    return vm_nan32(r);
}

static inline float vm_max32(float a, float b)
{
    float equal = vm_of_bits32(vm_bits_of32(a) & vm_bits_of32(b));
    float r = a > b ? a : (b > a ? b : equal);
    r = a != a ? b : (b != b ? a : r);
    return vm_nan32(r);
}

static inline double vm_min64(double a, double b)
{
    double zero = __builtin_signbit(a) ? a : b;
    double r = a < b ? a : (b < a ? b : zero);
    return a != a ? b : (b != b ? a : r);
}

static inline double vm_max64(double a, double b)
{
    double zero = __builtin_signbit(a) ? b : a;
    double r = a > b ? a : (b > a ? b : zero);
    return a != a ? b : (b != b ? a : r);
}

/* Where a branch goes. x: how far from here, in instructions. */
#define TARGET (i + (int32_t)i->x)

/* Goes on at a block head: does its work here, which saves a jump, unless the warp has to look
 * around first. */
#define ENTER(head)                                                                                \
    do {                                                                                           \
        const struct insn *enter_at = (head);                                                      \
        if (__builtin_expect((w->budget < 0) | (enter_at->b >= w->join_pc), 0))                    \
            RUN(enter_at);                                                                         \
        w->budget -= (int32_t)enter_at->a;                                                         \
        w->lane_count += enter_at->imm * vm_popcount(m);                                           \
        RUN(enter_at + 1);                                                                         \
    } while (0)

/* A forward branch of the lanes in `condition`. The next instruction and the target are heads. */
#define BRANCH_IF(condition)                                                                       \
    do {                                                                                           \
        const uint32_t taken = (condition)&m;                                                      \
        if (taken == m)                                                                            \
            ENTER(TARGET);                                                                         \
        if (taken == 0)                                                                            \
            ENTER(i + 1);                                                                          \
        PART(taken);                                                                               \
    } while (0)

/* Some lanes take the branch and some do not. A function of its own, which goes on by itself: a
 * handler that makes calls would have to save registers each time that it makes none. */
HANDLER(part);
#define PART(lanes)                                                                                \
    do {                                                                                           \
        w->taken = (lanes);                                                                        \
        return VM_NAME(part)(i, f, u, m, w);                                                       \
    } while (0)

#endif
