/* What checks say to people: faults of accesses, reads of undefined bytes, warp-sync misuse. */
#include "cpu/vm/check.h"
#include "cpu/vm/refuse.h"

#include <stdio.h>
#include <string.h>

/* How far before the first buffer a 32-bit index of 32-byte elements can lead: no host memory. */
#define INDEX_REACH ((uint64_t)VM_ACCESS_MOST << 31)
/* The windows of shared and local memory end in space that nobody uses: an address so little before
 * the next window was meant for that one. */
#define BEFORE_WINDOW (1ull << 20)

/* "a buffer of 4096 bytes" or "`in`, which has 4096 bytes" */
static void allocation_name(const struct vm_allocation *a, char *out, size_t out_bytes)
{
    unsigned long long bytes = a->high > a->low ? a->high - a->low : a->bytes;
    if (a->name[0])
        snprintf(out, out_bytes, "`%s`, which has %llu bytes", a->name, bytes);
    else
        snprintf(out, out_bytes, "a buffer of %llu bytes", bytes);
}

/* ": element 1024 of 1024" where the buffer is a whole number of elements. */
static void element_note(uint64_t at, uint64_t bytes, unsigned element, char *out, size_t out_bytes)
{
    out[0] = '\0';
    if (element && at % element == 0 && bytes % element == 0 && at >= bytes)
        snprintf(out, out_bytes, ": element %llu of %llu, counted from 0 in units of %u bytes",
                 (unsigned long long)(at / element), (unsigned long long)(bytes / element),
                 element);
}

/* The allocation that an address most likely was meant for: the one whose red zone it is in, or the
 * next one if its start is nearer. */
static const struct vm_allocation *nearest_allocation(const struct vm *vm, uint64_t address)
{
    const struct vm_allocation *a = vm_find_allocation(vm, address);
    if (address < VM_NULL_BYTES || (a && address >= a->low && address < a->high))
        return a;
    for (uint64_t ahead = 256; ahead <= 65536; ahead *= 16) {
        const struct vm_allocation *b = vm_find_allocation(vm, address + ahead);
        if (b && b != a && !b->freed && b->low > address &&
            (!a || a->freed || b->low - address < address - a->high))
            return b;
    }
    return a;
}

/* Host memory that the device could reach once: pinned or managed, and freed. */
static const struct vm_allocation *gone_mapping(const struct vm *vm, uint64_t address)
{
    const struct vm_allocation *a = vm->unmapped;
    while (a && address - a->base >= a->bytes)
        a = a->next_unmapped;
    return a;
}

static void global_fault(struct warp *w, const struct mem_op *op, const struct vm_site *site,
                         const char *verb, uint64_t address, unsigned bytes)
{
    struct vm *vm = w->engine->vm;
    const struct vm_allocation *a = nearest_allocation(vm, address);
    if (!a)
        a = gone_mapping(vm, address);
    enum finding_kind kind = op->write ? FINDING_out_of_bounds_write : FINDING_out_of_bounds_read;
    char name[160], note[120];
    if (address < VM_NULL_BYTES) {
        vm_report(vm, FINDING_null_pointer, WIRE_ERROR, site,
                  "%s %u bytes at address 0x%llx: a null pointer, or an index from one", verb,
                  bytes, (unsigned long long)address);
        return;
    }
    if (a)
        allocation_name(a, name, sizeof name);
    if (a && (a->freed || a == gone_mapping(vm, address))) {
        vm_report(vm, FINDING_use_after_free, WIRE_ERROR, site,
                  "%s %u bytes at byte %llu of freed memory: %s", verb, bytes,
                  (unsigned long long)(address - a->base), name);
        return;
    }
    if (a && a->read_only && op->write && address - a->base < a->bytes) {
        vm_report(vm, FINDING_read_only_write, WIRE_ERROR, site,
                  "writes %u bytes to the constant %s", bytes, name);
        return;
    }
    if (a && address < a->low) {
        vm_report(vm, kind, WIRE_ERROR, site, "%s %u bytes, %llu bytes before the start of %s",
                  verb, bytes, (unsigned long long)(a->low - address), name);
        return;
    }
    if (a) {
        element_note(address - a->low, a->high - a->low, op->bytes, note, sizeof note);
        vm_report(vm, kind, WIRE_ERROR, site, "%s %u bytes at byte %llu of %s%s", verb, bytes,
                  (unsigned long long)(address - a->low), name, note);
        return;
    }
    if (address - (vm->window - INDEX_REACH) < VM_WINDOW_BYTES + INDEX_REACH) {
        vm_report(vm, kind, WIRE_ERROR, site,
                  "%s %u bytes at 0x%llx, which belongs to no buffer, nor is one near: an index "
                  "that is negative or overflowed 32 bits?",
                  verb, bytes, (unsigned long long)address);
        return;
    }
    vm_report(vm, FINDING_host_pointer, WIRE_ERROR, site,
              "%s %u bytes at 0x%llx, which is no device memory: a host pointer, or a wild one",
              verb, bytes, (unsigned long long)address);
}

/* The variable that ends before the offset, or the one that begins after it. */
static const struct shared_range *nearest_shared(const struct warp *w, uint64_t offset)
{
    const struct vm_code *code = w->engine->code;
    const struct shared_range *best = NULL;
    for (uint32_t k = 0; k < code->shared_count; k++)
        if (code->shared[k].low <= offset && (!best || code->shared[k].low > best->low))
            best = &code->shared[k];
    return best ? best : code->shared_count ? &code->shared[0] : NULL;
}

static void shared_fault(struct warp *w, const struct mem_op *op, const struct vm_site *site,
                         const char *verb, uint64_t offset, unsigned bytes)
{
    struct vm *vm = w->engine->vm;
    enum finding_kind kind = op->write ? FINDING_out_of_bounds_write : FINDING_out_of_bounds_read;
    const struct shared_range *r = nearest_shared(w, offset);
    char note[120];
    if (!r) {
        vm_report(vm, kind, WIRE_ERROR, site,
                  "%s %u bytes of shared memory, but the kernel has none", verb, bytes);
        return;
    }
    uint32_t high = r->dynamic ? w->block->shared_end : r->high, size = high - r->low;
    if (offset < r->low) {
        vm_report(vm, kind, WIRE_ERROR, site,
                  "%s %u bytes of shared memory, %lld bytes before the start of `%s`", verb, bytes,
                  (long long)r->low - (long long)(int32_t)offset, r->name);
        return;
    }
    element_note(offset - r->low, size, op->bytes, note, sizeof note);
    vm_report(vm, kind, WIRE_ERROR, site,
              "%s %u bytes at byte %llu of the shared array `%s`, which has %u bytes%s%s", verb,
              bytes, (unsigned long long)(offset - r->low), r->name, size,
              r->dynamic ? " in this launch" : "", note);
}

/* nvcc lays the arrays of a function side by side in one, whose name says nothing. */
static void local_fault(struct warp *w, const struct mem_op *op, const struct vm_site *site,
                        const char *verb, uint64_t offset, unsigned bytes)
{
    struct vm *vm = w->engine->vm;
    enum finding_kind kind = op->write ? FINDING_out_of_bounds_write : FINDING_out_of_bounds_read;
    int64_t at = (int64_t)offset - VM_LOCAL_START;
    uint32_t size = w->local_bytes > VM_LOCAL_START ? w->local_bytes - VM_LOCAL_START : 0;
    char note[120];
    if (op->space == PTX_LOCAL)
        at = (int64_t)(int32_t)(uint32_t)offset - VM_LOCAL_START;
    if (at < 0) {
        vm_report(vm, kind, WIRE_ERROR, site,
                  "%s %u bytes, %lld bytes before the start of the thread's local arrays", verb,
                  bytes, -(long long)at);
        return;
    }
    element_note((uint64_t)at, size, op->bytes, note, sizeof note);
    vm_report(vm, kind, WIRE_ERROR, site,
              "%s %u bytes at byte %lld of the thread's local arrays, which have %u bytes%s", verb,
              bytes, (long long)at, size, note);
}

void check_fault(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                 unsigned bytes)
{
    struct vm *vm = w->engine->vm;
    struct vm_site site;
    vm_site_of(w, op->pc, (int)lane, &site);
    bool atomic = op->strength >= VM_STRONG && op->sub != PTX_SUB_NONE;
    const char *verb = atomic ? "updates" : op->write ? "writes" : "reads";
    if (address & (bytes - 1)) {
        vm_report(vm, FINDING_misaligned, WIRE_ERROR, &site,
                  "%s %u bytes at an address that is not a multiple of %u (0x%llx)", verb, bytes,
                  bytes, (unsigned long long)address);
        vm_fault(w, VM_MISALIGNED);
        return;
    }
    bool shared = op->space == PTX_SHARED || op->space == PTX_SHARED_CLUSTER;
    bool local = op->space == PTX_LOCAL, generic = op->space == PTX_GENERIC;
    uint64_t in_shared = address - (vm->window + VM_SHARED_OFFSET);
    uint64_t in_local = address - (vm->window + VM_LOCAL_OFFSET);
    if (shared || (generic && in_shared + BEFORE_WINDOW < VM_SHARED_BYTES))
        shared_fault(w, op, &site, verb, shared ? address : in_shared, bytes);
    else if (local || (generic && in_local + BEFORE_WINDOW < VM_LOCAL_BYTES + BEFORE_WINDOW))
        local_fault(w, op, &site, verb, local ? address : in_local, bytes);
    else
        global_fault(w, op, &site, verb, address, bytes);
    vm_fault(w, VM_ILLEGAL_ADDRESS);
}

void check_input_written(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                         unsigned bytes)
{
    struct vm_site site;
    char place[160];
    vm_site_of(w, op->pc, (int)lane, &site);
    vm_report(w->engine->vm, FINDING_input_written, WIRE_ERROR, &site,
              "writes %u bytes at %s, which is an input: it is the caller's, and has to stay as it "
              "is all the time",
              bytes, check_describe(w, op, address, place, sizeof place));
}

char *check_describe(const struct warp *w, const struct mem_op *op, uint64_t address, char *out,
                     size_t out_bytes)
{
    bool shared = op->space == PTX_SHARED || op->space == PTX_SHARED_CLUSTER ||
                  (op->space == PTX_GENERIC && address < VM_SHARED_BYTES);
    if (op->space == PTX_LOCAL) {
        snprintf(out, out_bytes, "a local array");
        return out;
    }
    if (shared) {
        const struct shared_range *r = nearest_shared(w, address);
        if (r)
            snprintf(out, out_bytes, "byte %llu of the shared array `%s`",
                     (unsigned long long)(address - r->low), r->name);
        else
            snprintf(out, out_bytes, "shared memory");
        return out;
    }
    const struct vm_allocation *a = vm_find_allocation(w->engine->vm, address);
    if (a && a->name[0])
        snprintf(out, out_bytes, "byte %llu of `%s`", (unsigned long long)(address - a->low),
                 a->name);
    else if (a)
        snprintf(out, out_bytes, "byte %llu of a buffer of %llu bytes",
                 (unsigned long long)(address - a->low), (unsigned long long)(a->high - a->low));
    else
        snprintf(out, out_bytes, "memory");
    return out;
}

/* Does the line that a finding shows lie in a library, not in the submission? */
static bool in_library(const struct warp *w, uint32_t loc)
{
    const struct vm *vm = w->engine->vm;
    const char *source = vm->config.source_file;
    char line[256];
    vm_describe_loc(vm, w->engine->code->module, loc, line, sizeof line);
    size_t length = strlen(source);
    return length && !(strncmp(line, source, length) == 0 && line[length] == ':') &&
           strchr(line, ':');
}

static const char TOOLKIT[] = "/cccl/"; /* in the path of every file of CUB, Thrust and libcu++ */

/* The frame around `frame`, NULL = the outermost, or none. Begins with the instruction's own. */
static const struct ptx_loc *outer_frame(const struct warp *w, uint32_t pc,
                                         const struct ptx_loc *frame)
{
    const struct vm_code *code = w->engine->code;
    const struct ptx_module *ptx = &code->module->ptx;
    const struct ptx_instr *in = code->origins[pc];
    if (!frame)
        return in && in->loc && in->loc < ptx->loc_count ? &ptx->locs[in->loc] : NULL;
    return frame->inlined_at < 0 ? NULL : &ptx->locs[frame->inlined_at];
}

bool check_in_toolkit(const struct warp *w, uint32_t pc)
{
    const struct vm_code *code = w->engine->code;
    const struct ptx_module *ptx = &code->module->ptx;
    const struct ptx_instr *in = code->origins[pc];
    return in && in->loc && in->loc < ptx->loc_count &&
           strstr(ptx->files[ptx->locs[in->loc].file], TOOLKIT);
}

bool check_toolkit_only(const struct warp *w, uint32_t pc)
{
    const struct ptx_loc *frame = outer_frame(w, pc, NULL);
    bool toolkit = frame != NULL;
    for (; frame && toolkit; frame = outer_frame(w, pc, frame))
        toolkit = strstr(w->engine->code->module->ptx.files[frame->file], TOOLKIT);
    return toolkit;
}

/* Undefined bytes that NVIDIA's own libraries read and throw away, so that even a warning would
 * accuse people of what they did not write: one row per file, and the padding of structures that
 * are copied as words anywhere in the toolkit. */
static bool known_habit(const struct warp *w, const struct mem_op *op, bool padding)
{
    static const char *const FILES[] = {
        "/cub/block/block_merge_sort.cuh", /* the serial merge: a key past its tile */
        "/cub/block/block_exchange.cuh",   /* scattering fewer items than slots */
        "/cub/warp/specializations/warp_exchange_smem.cuh", /* the same */
        "/cub/warp/specializations/warp_scan_smem.cuh",     /* lanes before the first */
        "/thrust/system/cuda/detail/set_operations.h",      /* a key past its tile */
    };
    bool habit = false;
    const struct ptx_loc *frame = outer_frame(w, op->pc, NULL);
    for (; frame && !habit; frame = outer_frame(w, op->pc, frame)) {
        const char *file = w->engine->code->module->ptx.files[frame->file];
        size_t length = strlen(file);
        if (!strstr(file, TOOLKIT))
            break; /* the submission's own lines, and who called them */
        habit = padding;
        for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
            size_t end = strlen(FILES[i]);
            habit |= length >= end && strcmp(file + length - end, FILES[i]) == 0;
        }
    }
    return habit;
}

uint32_t check_really_undefined(const struct warp *w, const struct mem_op *op, uint32_t m)
{
    uint32_t left = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (check_undefined(w, op, lane, 0, op->total) & op->used_bytes)
            left |= 1u << lane;
    }
    return left;
}

static bool only_padding(const struct warp *w, const struct mem_op *op, uint32_t m)
{
    bool padding = true;
    for (uint32_t rest = m; rest && padding; rest &= rest - 1)
        padding = check_padding(w, op, (unsigned)__builtin_ctz(rest));
    return padding;
}

/* No word is undefined as a whole. */
static bool partly_defined(const struct warp *w, const struct mem_op *op, uint32_t m)
{
    uint64_t undefined = check_undefined(w, op, (unsigned)__builtin_ctz(m), 0, op->total);
    uint64_t word = (1ull << op->bytes) - 1;
    for (unsigned k = 0; k < op->count; k++)
        if ((undefined >> (op->bytes * k) & word) == word)
            return false;
    return true;
}

void vm_report_uninitialized(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct mem_cache *c = &w->engine->caches[op->index];
    if (!(w->engine->checks & WIRE_CHECK_UNINITIALIZED) || c->reported)
        return;
    bool is_atomic = op->in->op == PTX_OP_atom || op->in->op == PTX_OP_red; /* asked already */
    if (w->engine->crew && op->space != PTX_LOCAL && !is_atomic) {
        m = check_really_undefined(w, op, m);
        if (!m)
            return;
    }
    if (only_padding(w, op, m))
        return;
    c->reported = true; /* once per instruction and launch */
    struct vm_site site;
    char place[160];
    unsigned lane = (unsigned)__builtin_ctz(m);
    if (known_habit(w, op, partly_defined(w, op, m)))
        return;
    vm_site_of(w, op->pc, (int)lane, &site);
    /* A library may read what it throws away; what people hand to it is told all the same. */
    enum wire_severity severity = in_library(w, site.loc) ? WIRE_WARNING : WIRE_ERROR;
    vm_report(w->engine->vm, FINDING_uninitialized_read, severity, &site,
              "reads %u bytes %s, at %s", op->total,
              partly_defined(w, op, m) ? "of which nobody wrote some" : "that nobody wrote",
              check_describe(w, op, w->lane_address[lane], place, sizeof place));
}

/* ---- operations across lanes ---- */

static void report_sync(struct warp *w, uint32_t pc, unsigned lane, const char *text)
{
    struct vm_site site;
    if (!(w->engine->checks & WIRE_CHECK_SYNC))
        return;
    vm_site_of(w, pc, (int)lane, &site);
    vm_report(w->engine->vm, FINDING_warp_sync, WIRE_ERROR, &site, "%s", text);
}

static uint32_t pc_of(const struct warp *w, const struct warp_op *op)
{
    (void)w;
    return op->pc;
}

static const char *people_op(const struct warp_op *op)
{
    static const char *const NAMES[] = {"shuffle", "vote",       "match",           "reduction",
                                        "elect",   "__syncwarp", "matrix operation"};
    return NAMES[op->kind];
}

void vm_check_own_mask(struct warp *w, const struct warp_op *op, uint32_t m)
{
    char text[256];
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t named = vm_slot_or_row(w, op->mask_slot, op->mask, l);
        if (named >> l & 1)
            continue;
        snprintf(text, sizeof text,
                 "lane %u executes a %s with the mask 0x%08x, which does not name the lane itself",
                 l, people_op(op), named);
        report_sync(w, pc_of(w, op), l, text);
        return;
    }
}

/* Where a lane that is missing stands. */
static void where_is(const struct warp *w, unsigned lane, char *out, size_t out_bytes)
{
    const struct vm_engine *e = w->engine;
    out[0] = '\0';
    for (uint32_t k = 0; k < w->group_count; k++) {
        const struct group *g = &w->groups[k];
        if (!(g->mask >> lane & 1))
            continue;
        uint32_t pc = g->state == VM_AT_BARRIER ? g->pc - 1 : g->pc;
        const struct ptx_instr *in = e->code->origins[pc];
        char line[96];
        snprintf(out, out_bytes, " (it waits at %s%s)",
                 vm_describe_loc(e->vm, e->code->module, in ? in->loc : 0, line, sizeof line),
                 g->state == VM_AT_BARRIER ? ", a block barrier" : "");
    }
}

void vm_report_stuck_sync(struct warp *w, const struct warp_op *op, uint32_t m)
{
    unsigned first = (unsigned)__builtin_ctz(m);
    uint32_t named = vm_slot_or_row(w, op->mask_slot, op->mask, first);
    uint32_t missing = named & w->live & ~m;
    char text[400], where[160] = "";
    if (missing) {
        where_is(w, (unsigned)__builtin_ctz(missing), where, sizeof where);
        snprintf(
            text, sizeof text,
            "the mask 0x%08x of this %s names lane %d, which never executes it%s: lanes 0x%08x "
            "wait for ever on a GPU",
            named, people_op(op), __builtin_ctz(missing), where, m);
    } else {
        snprintf(text, sizeof text,
                 "lanes 0x%08x execute this %s together with different masks (lane %u names "
                 "0x%08x): each lane has to name the same set",
                 m, people_op(op), first, named);
    }
    report_sync(w, pc_of(w, op), first, text);
}

void vm_check_shfl(struct warp *w, const struct warp_op *op, uint32_t m, uint32_t in_range,
                   const uint32_t *source)
{
    if (!(w->engine->checks & WIRE_CHECK_SYNC) || !op->has_d)
        return;
    for (uint32_t rest = m & in_range; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        if (m >> source[l] & 1)
            continue;
        char text[256];
        bool exited = !(w->live >> source[l] & 1);
        snprintf(text, sizeof text,
                 "lane %u reads the value of lane %u, which %s: the value is undefined", l,
                 source[l], exited ? "has already exited" : "does not take part in this shuffle");
        report_sync(w, pc_of(w, op), l, text);
        return;
    }
}

/* ---- barriers that a part of a warp skips ---- */

void vm_report_passed_barrier(struct warp *w, uint32_t m)
{
    if (!(w->engine->checks & WIRE_CHECK_SYNC))
        return;
    for (uint32_t k = 0; k < w->group_count; k++) {
        const struct group *g = &w->groups[k];
        if (g->state != VM_AT_BARRIER)
            continue;
        struct vm_site site;
        vm_site_of(w, g->pc - 1, __builtin_ctz(g->mask), &site);
        vm_report(w->engine->vm, FINDING_divergent_barrier, WIRE_ERROR, &site,
                  "%d threads of a warp wait at this barrier while %d others of the same warp skip "
                  "it, do other work and end: every thread of a block has to reach it",
                  __builtin_popcount(g->mask), __builtin_popcount(m));
        return;
    }
}

void vm_report_mixed_barrier(struct warp *w, uint32_t pc, uint32_t m, uint32_t other_pc,
                             uint32_t other_thread)
{
    const struct vm_engine *e = w->engine;
    const struct ptx_instr *here = e->code->origins[pc], *there = e->code->origins[other_pc];
    char a[96], b[96];
    if (!(e->checks & WIRE_CHECK_SYNC))
        return;
    vm_describe_loc(e->vm, e->code->module, here ? here->loc : 0, a, sizeof a);
    vm_describe_loc(e->vm, e->code->module, there ? there->loc : 0, b, sizeof b);
    if (strcmp(a, b) == 0 && here && here->loc)
        return; /* copies that the compiler made of one barrier */
    struct vm_site site;
    vm_site_of(w, pc, __builtin_ctz(m), &site);
    vm_report(e->vm, FINDING_divergent_barrier, WIRE_ERROR, &site,
              "waits at this barrier while thread %u of the block waits at another one, at %s",
              other_thread, b);
}

void vm_report_count(struct warp *w, uint32_t pc, uint32_t m, unsigned id, unsigned n, unsigned of)
{
    struct vm_site site;
    if (!(w->engine->checks & WIRE_CHECK_SYNC))
        return;
    vm_site_of(w, pc, __builtin_ctz(m), &site);
    if (n % VM_LANES)
        vm_report(w->engine->vm, FINDING_divergent_barrier, WIRE_ERROR, &site,
                  "barrier %u is to wait for %u threads: it counts whole warps, so the number has "
                  "to be a multiple of %d",
                  id, n, VM_LANES);
    else
        vm_report(w->engine->vm, FINDING_divergent_barrier, WIRE_ERROR, &site,
                  "barrier %u is to wait for %u threads here, and for %u where others wait: all of "
                  "them have to name the same number",
                  id, n, of);
}

/* ---- calls ---- */

void vm_report_stack_overflow(struct warp *w, uint32_t pc, uint32_t m)
{
    struct vm_site site;
    vm_site_of(w, pc, __builtin_ctz(m), &site);
    vm_report(w->engine->vm, FINDING_stack_overflow, WIRE_ERROR, &site,
              "more than %d nested calls: a recursion without end?", VM_CALL_DEPTH);
    vm_fault(w, VM_STACK_OVERFLOW);
}

void vm_report_bad_call(struct warp *w, uint32_t pc, uint32_t m)
{
    struct vm_site site;
    vm_site_of(w, pc, __builtin_ctz(m), &site);
    vm_report(w->engine->vm, FINDING_trap, WIRE_ERROR, &site,
              "jumps or calls through a pointer that is not a function of this program");
    vm_fault(w, VM_TRAP);
}

/* Does the kernel ask where the grid's barrier is, in a launch that has none? cooperative_groups
 * traps then. */
static bool misses_grid(const struct vm_engine *e)
{
    return !e->launch->cooperative &&
           (e->code->sreg_slots[PTX_SREG_envreg1] || e->code->sreg_slots[PTX_SREG_envreg2]);
}

void vm_trap(struct warp *w, const struct insn *i, uint32_t m)
{
    struct vm_site site;
    uint32_t pc = vm_pc(w, i);
    const struct ptx_instr *in = w->engine->code->origins[pc];
    vm_site_of(w, pc, __builtin_ctz(m), &site);
    const char *text = in && in->text ? in->text : "?", *why = vm_refusal(text);
    if (i->a)
        vm_report(w->engine->vm, FINDING_unsupported, WIRE_ERROR, &site,
                  "the CPU device does not have the instruction `%s` (PTX line %u)%s%s", text,
                  in ? in->ptx_line : 0, why ? ": " : "", why ? why : "");
    else
        vm_report(w->engine->vm, FINDING_trap, WIRE_ERROR, &site, "executes a trap%s",
                  misses_grid(w->engine)
                      ? ": grid.sync() wants a launch with "
                        "cudaLaunchCooperativeKernel(), and this is an ordinary one"
                      : "");
    vm_fault(w, VM_TRAP);
}
