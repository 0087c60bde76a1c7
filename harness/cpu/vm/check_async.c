/* Asynchronous copies and mbarriers.
 *
 * A copy is done as late as the program allows: when the thread waits for its group, or when
 * somebody tests the mbarrier that the copy completes. A program that forgets to wait reads what
 * was there before, as it may on a GPU. Copies that nobody waits for are done when their thread
 * exits.
 *
 * An mbarrier is 64 bits of shared memory of our own making: pending arrivals (20 bits), expected
 * arrivals of a phase (20), bytes still to come (22, two's complement), the phase (1), and a bit
 * that says initialised. */
#include "cpu/vm/check.h"
#include "cpu/vm/watch.h"

#include <stdlib.h>
#include <string.h>

struct async_copy {
    const struct async_op *op;
    uint64_t to, from, barrier; /* addresses; barrier 0 = none */
    uint32_t bytes, source_bytes;
    uint32_t group; /* per lane, bulk groups apart */
    uint8_t lane;
};

/* ---- operands ---- */

static uint64_t value(const struct warp *w, const struct async_value *v, unsigned lane)
{
    uint64_t x = 0;
    if (v->slot)
        memcpy(&x, w->bank + v->at, 8);
    else
        memcpy(&x, vm_lane(w->frame, v->at, lane, v->wide), v->wide ? 8 : 4);
    return v->slot && !v->wide ? (uint32_t)x : x;
}

static uint64_t address(const struct warp *w, const struct mem_op *op, unsigned lane)
{
    struct async_value v = {
        .slot = op->form == VM_ADDRESS_SLOT, .wide = op->form != VM_ADDRESS_32, .at = op->address};
    uint64_t a = value(w, &v, lane) + (uint64_t)op->offset;
    return op->narrow ? (uint32_t)a : a;
}

/* ---- mbarriers ---- */

enum { COUNT_BITS = 20, TX_BITS = 22 };
#define COUNT_MASK ((1ull << COUNT_BITS) - 1)
#define PHASE      (1ull << 62)
#define VALID      (1ull << 63)

static uint64_t pending_of(uint64_t word)
{
    return word & COUNT_MASK;
}

static uint64_t expected_of(uint64_t word)
{
    return word >> COUNT_BITS & COUNT_MASK;
}

static int64_t tx_of(uint64_t word)
{
    return (int64_t)(word << 2) >> (64 - TX_BITS);
}

/* The word with a phase completed if nothing is missing any more. */
static uint64_t make(uint64_t pending, uint64_t expected, int64_t tx, uint64_t phase)
{
    if (pending == 0 && tx == 0) {
        pending = expected;
        phase ^= PHASE;
    }
    return VALID | phase | ((uint64_t)tx & ((1ull << TX_BITS) - 1)) << (2 * COUNT_BITS) |
           expected << COUNT_BITS | pending;
}

/* Where the object is. NULL: a fault was reported. */
static uint8_t *object(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t at,
                       bool must_be_valid)
{
    struct check_target t = {0};
    uint64_t word;
    if (!check_resolve(w, op, lane, at, 8, &t))
        return NULL;
    uint8_t *host = t.host ? t.host : w->bounce.bytes[lane];
    memcpy(&word, host, 8);
    w->lane_address[lane] = t.offset;
    if (must_be_valid && (!check_defined(&t, w, 0xff, false) || !(word & VALID))) {
        vm_report_uninitialized(w, op, 1u << lane);
        word = make(1, 1, 0, 0);
        memcpy(host, &word, 8);
    }
    check_defined(&t, w, 0xff, true);
    return host;
}

static void complete_tx(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t at,
                        uint64_t bytes)
{
    uint8_t *host = object(w, op, lane, at, true);
    uint64_t word;
    if (!host)
        return;
    memcpy(&word, host, 8);
    word = make(pending_of(word), expected_of(word), tx_of(word) - (int64_t)bytes, word & PHASE);
    memcpy(host, &word, 8);
    w->engine->version++;
}

/* ---- copies ---- */

static void add_copy(struct warp *w, const struct async_copy *copy)
{
    if (w->copy_count == w->copy_capacity) {
        w->copy_capacity = w->copy_capacity ? 2 * w->copy_capacity : 64;
        w->copies = realloc(w->copies, w->copy_capacity * sizeof *w->copies);
        if (!w->copies)
            BUG("out of memory for %u asynchronous copies", w->copy_capacity);
    }
    w->copies[w->copy_count++] = *copy;
}

/* cp.reduce: element by element as red does it. */
static void reduce_into(const struct async_op *op, uint8_t *to, const uint8_t *from, unsigned bytes)
{
    struct mem_op one = {.sub = op->reduction,
                         .type = op->in->type,
                         .bytes = (uint8_t)ptx_type_bytes((enum ptx_type)op->in->type)};
    for (unsigned k = 0; k + one.bytes <= bytes; k += one.bytes) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, to + k, one.bytes);
        memcpy(&operand, from + k, one.bytes);
        uint64_t x = vm_atomic_value(&one, old, operand, 0);
        memcpy(to + k, &x, one.bytes);
    }
}

/* false: a fault. */
static bool do_copy(struct warp *w, const struct async_copy *c)
{
    unsigned step = c->bytes < 16 ? c->bytes : 16;
    struct mem_op read = c->op->from, write = c->op->to;
    read.total = write.total = (uint8_t)step;
    for (uint32_t at = 0; at < c->bytes; at += step) {
        uint8_t bytes[16] = {0};
        struct check_target from = {0}, to = {0};
        uint32_t left = c->source_bytes > at ? c->source_bytes - at : 0;
        unsigned taken = left < step ? left : step;
        for (unsigned k = 0; k < taken; k += 4) { /* what is left out need not be readable */
            if (!check_resolve(w, &read, c->lane, c->from + at + k, taken < 4 ? 1 : 4, &from))
                return false;
            memcpy(bytes + k, from.host, taken - k < 4 ? taken - k : 4);
            w->lane_address[c->lane] = from.offset;
            if (!check_defined(&from, w, 0xf, false))
                vm_report_uninitialized(w, &read, 1u << c->lane);
        }
        if (!check_resolve(w, &write, c->lane, c->to + at, step, &to))
            return false;
        if (c->op->reduction)
            reduce_into(c->op, to.host, bytes, step);
        else
            memcpy(to.host, bytes, step);
        check_defined(&to, w, (1ull << step) - 1, true);
        w->lane_address[c->lane] = to.offset;
        /* The engine that does bulk copies is no thread: it is ordered by its mbarrier or group. */
        if (to.place == CHECK_SHARED && w->clocks && c->op->kind == VM_ASYNC_COPY)
            vm_race_access(w, &write, 1u << c->lane);
        if (w->engine->trace && taken)
            watch_trace_copied(w, &read, c->lane, from.offset - (taken - 1) / 4 * 4ull,
                               from.place == CHECK_SHARED, taken);
        if (w->engine->trace)
            watch_trace_copied(w, &write, c->lane, to.offset, to.place == CHECK_SHARED, step);
    }
    w->engine->version++;
    if (c->barrier)
        complete_tx(w, &c->op->barrier, c->lane, c->barrier, c->bytes);
    return !w->engine->stopped;
}

/* Does the copies for which `due` is true, in order. false: a fault. */
typedef bool due_function(const struct warp *w, const struct async_copy *c, uint64_t what);

static bool do_copies(struct warp *w, due_function *due, uint64_t what)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < w->copy_count; k++) {
        struct async_copy c = w->copies[k];
        if (!due(w, &c, what))
            w->copies[kept++] = c;
        else if (!do_copy(w, &c))
            return false;
    }
    w->copy_count = kept;
    return true;
}

static bool of_lanes(const struct warp *w, const struct async_copy *c, uint64_t lanes)
{
    (void)w;
    return lanes >> c->lane & 1;
}

static bool plain_of_lanes(const struct warp *w, const struct async_copy *c, uint64_t lanes)
{
    return c->op->kind == VM_ASYNC_COPY && of_lanes(w, c, lanes);
}

static bool of_barrier(const struct warp *w, const struct async_copy *c, uint64_t barrier)
{
    (void)w;
    return c->barrier == barrier;
}

/* what: lanes | groups that may stay open << 32 */
static bool of_old_groups(const struct warp *w, const struct async_copy *c, uint64_t what)
{
    return c->op->kind == VM_ASYNC_COPY && (what >> c->lane & 1) &&
           c->group + (what >> 32) < w->copy_group[c->lane];
}

static bool of_old_bulk_groups(const struct warp *w, const struct async_copy *c, uint64_t what)
{
    return c->op->kind == VM_ASYNC_BULK && !c->barrier && (what >> c->lane & 1) &&
           c->group + (what >> 32) < w->bulk_group[c->lane];
}

bool vm_async_exit(struct warp *w, uint32_t m)
{
    return w->copy_count == 0 || do_copies(w, of_lanes, m);
}

/* Copies of the whole block that complete the mbarrier: now is when that shows. */
static bool arrive_at(struct block *b, uint64_t barrier)
{
    for (uint32_t k = 0; k < b->warp_count; k++)
        if (b->warps[k].copy_count && !do_copies(&b->warps[k], of_barrier, barrier))
            return false;
    return true;
}

/* ---- instructions ---- */

static void start_copies(struct warp *w, const struct async_op *op, uint32_t m)
{
    struct watch_side to = {.op = &op->to}, from = {.op = &op->from};
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        struct async_copy c = {.op = op, .lane = (uint8_t)l};
        c.to = address(w, &op->to, l);
        c.from = address(w, &op->from, l);
        c.bytes = (uint32_t)value(w, &op->size, l);
        c.source_bytes = op->has_source_size ? (uint32_t)value(w, &op->source_size, l) : c.bytes;
        if (c.source_bytes > c.bytes)
            c.source_bytes = c.bytes;
        if (op->may_ignore) {
            uint32_t ignored;
            memcpy(&ignored, w->frame + op->ignore, 4);
            if ((ignored ^ op->ignore_flip) >> l & 1)
                c.source_bytes = 0;
        }
        c.group = op->kind == VM_ASYNC_BULK ? w->bulk_group[l] : w->copy_group[l];
        if (op->has_barrier)
            c.barrier = address(w, &op->barrier, l);
        unsigned whole = c.bytes < 16 ? c.bytes : 16; /* both ends are aligned to it */
        if (whole && (c.from & (whole - 1))) {
            check_fault(w, &op->from, l, c.from, whole);
            return;
        }
        to.address[l] = c.to, to.bytes[l] = c.bytes;
        from.address[l] = c.from, from.bytes[l] = c.source_bytes;
        add_copy(w, &c);
    }
    vm_watch_copy(w, &from, m, op->kind == VM_ASYNC_BULK);
    vm_watch_copy(w, &to, m, op->kind == VM_ASYNC_BULK);
}

/* One arrival or another change of an mbarrier. */
static bool change_barrier(struct warp *w, const struct async_op *op, unsigned l, uint64_t at)
{
    bool init = op->in->sub == PTX_MB_INIT;
    uint8_t *host = object(w, &op->barrier, l, at, !init);
    uint64_t word, count = op->has_size ? value(w, &op->size, l) : 1;
    if (!host)
        return false;
    memcpy(&word, host, 8);
    uint64_t pending = pending_of(word), expected = expected_of(word), phase = word & PHASE;
    int64_t tx = tx_of(word);
    if (op->has_result) {
        uint64_t token = word;
        memcpy(vm_lane(w->frame, op->result, l, true), &token, 8);
    }
    switch ((int)op->in->sub) {
    case PTX_MB_INIT:
        word = VALID | (count & COUNT_MASK) << COUNT_BITS | (count & COUNT_MASK);
        break;
    case PTX_MB_INVAL:
        word = 0;
        break;
    case PTX_MB_EXPECT_TX:
        word = make(pending, expected, tx + (int64_t)count, phase);
        break;
    case PTX_MB_COMPLETE_TX:
        word = make(pending, expected, tx - (int64_t)count, phase);
        break;
    case PTX_MB_ARRIVE_EXPECT_TX:
        word = make(pending - 1, expected, tx + (int64_t)count, phase);
        break;
    case PTX_CP_MBARRIER_ARRIVE:
        /* Without .noinc the arrival counts on top of the expected ones: nothing changes. */
        if (op->in->flags & PTX_F_NOINC)
            word = make(pending - 1, expected, tx, phase);
        break;
    case PTX_MB_ARRIVE_DROP:
        word = make(pending - count, expected - count, tx, phase);
        break;
    default:
        word = make(pending - count, expected, tx, phase);
        break;
    }
    memcpy(host, &word, 8);
    w->engine->version++;
    return true;
}

static bool change_barriers(struct warp *w, const struct async_op *op, uint32_t m)
{
    if (op->in->sub == PTX_CP_MBARRIER_ARRIVE && !do_copies(w, plain_of_lanes, m))
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        if (!change_barrier(w, op, l, address(w, &op->barrier, l)))
            return false;
    }
    if (w->clocks)
        vm_race_flags(w, &op->barrier, m);
    return true;
}

/* test_wait and try_wait: has the phase of the token, or of the parity, been completed? */
static bool test_barriers(struct warp *w, const struct async_op *op, uint32_t m)
{
    uint32_t truth = 0, old;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t at = address(w, &op->barrier, l), word;
        if (!arrive_at(w->block, at))
            return false;
        const uint8_t *host = object(w, &op->barrier, l, at, true);
        if (!host)
            return false;
        memcpy(&word, host, 8);
        uint64_t token = value(w, &op->size, l);
        uint64_t asked = op->in->flags & PTX_F_PARITY ? (token & 1 ? PHASE : 0) : token & PHASE;
        if ((word & PHASE) != asked)
            truth |= 1u << l;
    }
    memcpy(&old, w->frame + op->result, 4);
    old = (old & ~m) | truth;
    memcpy(w->frame + op->result, &old, 4);
    if (w->clocks && truth)
        vm_race_flags(w, &op->barrier, truth);
    return true;
}

static void commit(uint32_t *groups, uint32_t m)
{
    for (uint32_t rest = m; rest; rest &= rest - 1)
        groups[__builtin_ctz(rest)]++;
}

bool vm_async(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct async_op *op = (const struct async_op *)(uintptr_t)i->imm;
    uint64_t what = m | (op->has_size ? value(w, &op->size, 0) << 32 : 0);
    switch ((int)op->in->sub) {
    case PTX_CP_ASYNC:
    case PTX_CP_BULK:
    case PTX_CP_REDUCE_BULK:
        start_copies(w, op, m);
        return true;
    case PTX_CP_COMMIT_GROUP:
        commit(w->copy_group, m);
        return true;
    case PTX_CP_BULK_COMMIT_GROUP:
        commit(w->bulk_group, m);
        return true;
    case PTX_CP_WAIT_GROUP:
        return do_copies(w, of_old_groups, what);
    case PTX_CP_BULK_WAIT_GROUP:
        return do_copies(w, of_old_bulk_groups, what);
    case PTX_CP_WAIT_ALL:
        return do_copies(w, plain_of_lanes, m);
    case PTX_MB_TEST_WAIT:
    case PTX_MB_TRY_WAIT:
        return test_barriers(w, op, m);
    case PTX_MB_PENDING_COUNT:
        for (uint32_t rest = m; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            uint32_t count = (uint32_t)pending_of(value(w, &op->size, l));
            memcpy(vm_lane(w->frame, op->result, l, false), &count, 4);
        }
        return true;
    default:
        return change_barriers(w, op, m);
    }
}
