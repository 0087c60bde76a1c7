/* Operations across the lanes of a warp. A *.sync operation whose mask is that of the lanes that
 * execute it runs at once; otherwise vm_sync_slow() parks lanes until the mask has arrived, and
 * calls warp_op() per set of lanes with the same mask. */
#include "cpu/vm/exec_warp.h"
#include "cpu/vm/exec.h"
#include "cpu/vm/race.h"
#include "cpu/vm/watch.h"

static inline void permute(r32 *to, const r32 *from, const r32 *source)
{
#if defined(__AVX512F__)
    __m512i low = _mm512_load_si512(from), high = _mm512_load_si512(from + 16);
    __m512i a = _mm512_permutex2var_epi32(low, _mm512_load_si512(source), high);
    __m512i b = _mm512_permutex2var_epi32(low, _mm512_load_si512(source + 16), high);
    _mm512_store_si512(to, a);
    _mm512_store_si512(to + 16, b);
#else
    uint32_t copy[VM_LANES];
    memcpy(copy, from, sizeof copy);
    for (unsigned l = 0; l < VM_LANES; l++)
        to[l] = copy[source[l]];
#endif
}

static __attribute__((noinline)) void shfl_any(struct warp *w, const struct warp_op *op, uint8_t *f,
                                               const uint8_t *u, uint32_t m)
{
    _Alignas(64) uint32_t source[VM_LANES];
    uint32_t in_range = 0;
    const r32 *rb = op->b_slot ? NULL : ROW(r32, op->b), *rc = op->c_slot ? NULL : ROW(r32, op->c);
    if (!rb && !rc) { /* the same for all lanes: one loop without branches */
        const uint32_t b = SLOT(r32, op->b), c = SLOT(r32, op->c);
        for (unsigned l = 0; l < VM_LANES; l++) {
            bool ok;
            vm_shfl_source((enum ptx_sub)op->sub, l, b, c, &source[l], &ok);
            in_range |= (uint32_t)ok << l;
        }
    } else {
        for (unsigned l = 0; l < VM_LANES; l++) {
            bool ok;
            vm_shfl_source((enum ptx_sub)op->sub, l, rb ? rb[l] : SLOT(r32, op->b),
                           rc ? rc[l] : SLOT(r32, op->c), &source[l], &ok);
            in_range |= (uint32_t)ok << l;
        }
    }
    if (m != VM_FULL)
        vm_check_shfl(w, op, m, in_range, source);
    if (op->has_d) {
        r32 *d = ROW(r32, op->d), *o = m == VM_FULL ? d : (r32 *)(void *)w->temp;
        permute(o, ROW(r32, op->a), source);
        if (m != VM_FULL)
            vm_blend32(d, o, m);
    }
    if (op->has_pred)
        vm_set_pred(&PRED(op->pred), m, in_range);
}

static inline void do_shfl(struct warp *w, const struct warp_op *op, uint8_t *f, const uint8_t *u,
                           uint32_t m)
{
    if (m != VM_FULL || !op->source) {
        shfl_any(w, op, f, u, m);
        return;
    }
    if (op->has_d)
        permute(ROW(r32, op->d), ROW(r32, op->a), op->source);
    if (op->has_pred)
        PRED(op->pred) = op->in_range;
}

static void do_vote(const struct warp_op *op, uint8_t *f, uint32_t m)
{
    uint32_t votes = (PRED(op->a) ^ op->flip) & m, r;
    switch ((int)op->sub) {
    case PTX_ALL:
        r = votes == m ? ~0u : 0;
        break;
    case PTX_ANY:
        r = votes ? ~0u : 0;
        break;
    case PTX_UNI_VOTE:
        r = votes == m || votes == 0 ? ~0u : 0;
        break;
    default: /* ballot */
        r = votes;
        break;
    }
    if (op->d_is_pred) {
        vm_set_pred(&PRED(op->d), m, r);
        return;
    }
    r32 *d = ROW(r32, op->d);
    EACH_LANE(l)
    d[l] = m & (1u << l) ? r : d[l];
}

static inline uint32_t equal_lanes(const uint64_t *value, uint64_t x)
{
#if defined(__AVX512F__)
    uint32_t r = 0;
    for (unsigned k = 0; k < VM_LANES; k += 8)
        r |= (uint32_t)_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(value + k),
                                               _mm512_set1_epi64((int64_t)x))
             << k;
    return r;
#else
    uint32_t r = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        r |= (uint32_t)(value[l] == x) << l;
    return r;
#endif
}

static void do_match(const struct warp_op *op, uint8_t *f, uint32_t m)
{
    uint64_t value[VM_LANES];
    for (unsigned l = 0; l < VM_LANES; l++)
        value[l] = op->a_wide ? ROW(r64, op->a)[l] : ROW(r32, op->a)[l];
    if (op->sub == PTX_ALL) {
        uint64_t first = value[LANE(m)];
        bool same = true;
        for (uint32_t rest = m; rest; rest &= rest - 1)
            same &= value[LANE(rest)] == first;
        for (uint32_t rest = m; op->has_d && rest; rest &= rest - 1)
            ROW(r32, op->d)[LANE(rest)] = same ? m : 0;
        if (op->has_pred)
            vm_set_pred(&PRED(op->pred), m, same ? ~0u : 0);
        return;
    }
    for (uint32_t todo = m; todo;) {
        uint32_t equal = todo & equal_lanes(value, value[LANE(todo)]);
        for (uint32_t rest = equal; rest; rest &= rest - 1)
            ROW(r32, op->d)[LANE(rest)] = equal;
        todo &= ~equal;
    }
}

/* min and max of floats: NaNs lose, or with .NaN win; -0 is less than +0. */
static uint32_t reduce_floats(const struct warp_op *op, uint32_t r, uint32_t x)
{
    float a = vm_of_bits32(r), b = vm_of_bits32(x);
    if ((op->in->flags & PTX_F_NAN) && (a != a || b != b))
        return 0x7fffffffu;
    return vm_bits_of32(op->sub == PTX_MIN ? vm_min32(a, b) : vm_max32(a, b));
}

static uint32_t reduce(const struct warp_op *op, uint32_t r, uint32_t x)
{
    switch ((int)op->sub) {
    case PTX_ADD:
        return r + x;
    case PTX_AND:
        return r & x;
    case PTX_OR:
        return r | x;
    case PTX_XOR:
        return r ^ x;
    default:
        break;
    }
    if (op->type == PTX_F32)
        return reduce_floats(op, r, x);
    bool less = op->type == PTX_S32 ? (int32_t)x < (int32_t)r : x < r;
    return less == (op->sub == PTX_MIN) ? x : r;
}

static void do_redux(const struct warp_op *op, uint8_t *f, uint32_t m)
{
    const r32 *a = ROW(r32, op->a);
    uint32_t sign = op->in->flags & PTX_F_ABS ? 0x7fffffffu : ~0u, r = a[LANE(m)] & sign;
    if (op->type == PTX_F32) /* a lone NaN becomes the one that operations make */
        r = reduce_floats(op, r, r);
    for (uint32_t rest = m & (m - 1); rest; rest &= rest - 1)
        r = reduce(op, r, a[LANE(rest)] & sign);
    for (uint32_t rest = m; rest; rest &= rest - 1)
        ROW(r32, op->d)[LANE(rest)] = r;
}

static void do_elect(const struct warp_op *op, uint8_t *f, uint32_t m)
{
    uint32_t leader = LANE(m);
    if (op->has_pred)
        vm_set_pred(&PRED(op->pred), m, 1u << leader);
    for (uint32_t rest = m; op->has_d && rest; rest &= rest - 1)
        ROW(r32, op->d)[LANE(rest)] = leader;
}

static inline void count_warp_sync(struct warp *w, const struct warp_op *op)
{
    vm_watch_event(w->engine, op->pc, COUNTER_warp_syncs);
}

void VM_NAME(warp_op)(struct warp *w, const struct warp_op *op, uint8_t *f, const uint8_t *u,
                      uint32_t m)
{
    switch ((enum warp_op_kind)op->kind) {
    case VM_SHFL:
        do_shfl(w, op, f, u, m);
        break;
    case VM_VOTE:
        do_vote(op, f, m);
        break;
    case VM_MATCH:
        do_match(op, f, m);
        break;
    case VM_REDUX:
        do_redux(op, f, m);
        break;
    case VM_ELECT:
        do_elect(op, f, m);
        break;
    case VM_WARP_SYNC:
        count_warp_sync(w, op);
        break;
    case VM_MATRIX:
        vm_matrix(w, op, m);
        break;
    }
    if (w->clocks)
        vm_race_warp_sync(w, m);
}

#define OP ((const struct warp_op *)(uintptr_t)i->imm)

#define SYNC_HANDLER(name, call)                                                                   \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        if (__builtin_expect(all_here(OP, f, u, m, w), 1)) {                                       \
            call;                                                                                  \
            sync_clocks(w, m);                                                                     \
            NEXT;                                                                                  \
        }                                                                                          \
        vm_sync_slow(w, i, m);                                                                     \
        RESUME;                                                                                    \
    }

SYNC_HANDLER(shfl, do_shfl(w, OP, f, u, m))
SYNC_HANDLER(vote, do_vote(OP, f, m))
SYNC_HANDLER(match, do_match(OP, f, m))
SYNC_HANDLER(redux, do_redux(OP, f, m))
SYNC_HANDLER(elect, do_elect(OP, f, m))
SYNC_HANDLER(warp_sync, count_warp_sync(w, OP))

HANDLER(matrix)
{
    if (all_here(OP, f, u, m, w)) {
        vm_matrix(w, OP, m);
        if (w->halt)
            return;
        sync_clocks(w, m);
        NEXT;
    }
    vm_sync_slow(w, i, m);
    RESUME;
}

HANDLER(activemask)
{
    r32 *d = ROW(r32, i->d);
    EACH_LANE(l)
    d[l] = m & (1u << l) ? m : d[l];
    NEXT;
}
