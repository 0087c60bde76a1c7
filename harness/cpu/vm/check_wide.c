/* What is too rare for a fast path: atomics of 16 bytes, and stack memory whose size is known at
 * run time only. */
#include "cpu/vm/check.h"
#include "cpu/vm/lower.h"
#include "cpu/vm/watch.h"

#include <string.h>

/* A register of 128 bits is two rows of 64: the low half, the high half. */
static void read_pair(const struct warp *w, uint32_t row, unsigned lane, uint64_t to[2])
{
    for (unsigned half = 0; half < 2; half++)
        memcpy(&to[half], vm_lane(w->frame, row + half * VM_ROW64, lane, true), 8);
}

/* exch and cas. */
bool vm_atomic_128(struct warp *w, const struct mem_op *op, uint8_t *f, uint32_t m)
{
    struct vm_engine *e = w->engine;
    uint32_t undefined = 0, global = 0, shared = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        struct check_target t = {0};
        uint64_t old[2], b[2], c[2] = {0};
        uint8_t local[16];
        if (!check_resolve(w, op, lane, w->lane_address[lane], 16, &t))
            return false;
        if (t.place == CHECK_LOCAL)
            check_local_read(w, lane, t.offset, local, 16);
        uint8_t *host = t.place == CHECK_LOCAL ? local : t.host;
        if (!check_defined(&t, w, 0xffff, false) && op->sub != PTX_EXCH)
            undefined |= 1u << lane;
        check_defined(&t, w, 0xffff, true);
        shared |= (uint32_t)(t.place == CHECK_SHARED) << lane;
        global |= (uint32_t)(t.place == CHECK_GLOBAL) << lane;
        if (t.place == CHECK_SHARED)
            w->lane_address[lane] = t.offset;
        memcpy(old, host, 16);
        read_pair(w, op->b, lane, b);
        if (op->sub == PTX_CAS)
            read_pair(w, op->c, lane, c);
        const uint64_t *to = op->sub == PTX_EXCH ? b : memcmp(old, b, 16) == 0 ? c : old;
        if (memcmp(to, old, 16) != 0) {
            memcpy(host, to, 16);
            e->version++;
        }
        if (t.place == CHECK_LOCAL)
            check_local_write(w, lane, t.offset, local, 16);
        for (unsigned half = 0; op->has_result && half < 2; half++)
            memcpy(vm_lane(f, op->rows[0] + half * VM_ROW64, lane, true), &old[half], 8);
    }
    if (undefined)
        vm_report_uninitialized(w, op, undefined);
    if (shared && w->clocks)
        vm_race_access(w, op, shared);
    vm_watch_atomic(w, op, global, shared);
    if (global && w->clocks)
        vm_race_flags(w, op, global);
    return true;
}

/* Local memory that one thread may have on a GPU. */
#define STACK_MOST (512ull << 10)

bool vm_alloca(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint64_t align = i->x ? i->x : 16;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t base, used, bytes = 0;
        memcpy(&base, vm_lane(w->frame, FRAME_LOCAL_BASE, l, true), 8);
        memcpy(&used, vm_lane(w->frame, i->c, l, true), 8);
        memcpy(&bytes, vm_lane(w->frame, i->a, l, true), 8);
        if (w->depth == 0)
            base = VM_LOCAL_START;
        uint64_t at = (base + used + align - 1) / align * align, end = at + bytes;
        if (bytes > STACK_MOST || end > STACK_MOST) {
            vm_report_stack_overflow(w, vm_pc(w, i), 1u << l);
            return false;
        }
        if (end > w->local_bytes)
            vm_local_reserve(w, end);
        for (uint64_t k = at; w->local_defined && k < end; k++) { /* nobody has written it yet */
            uint64_t bit = (k / 4 * VM_LANES + l) * 4 + (k & 3);
            w->local_defined[bit / 64] &= ~(1ull << (bit & 63));
        }
        used = end - base;
        memcpy(vm_lane(w->frame, i->c, l, true), &used, 8);
        memcpy(vm_lane(w->frame, i->d, l, true), &at, 8);
    }
    return true;
}
