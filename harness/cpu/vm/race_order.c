/* Operations - launches, copies, fills - that nothing orders: several streams, and a host that does
 * not wait.
 *
 * Kernels leave their accesses in the shadows, where an entry's segment tells the operation. What
 * the host does to a range of memory is kept as a range, for the last RACE_RANGES of them. An
 * operation that has unordered ones before it is compared with what those touched; one that comes
 * after everything, which is nearly always so, costs nothing. */
#include "cpu/vm/check.h"
#include "cpu/vm/race.h"

#include <stdio.h>
#include <string.h>

static bool wanted(const struct vm *vm)
{
    const uint32_t both = WIRE_CHECK_GLOBAL_RACES | WIRE_CHECK_RACES;
    return (vm->config.checks & both) == both;
}

/* Is an earlier operation ordered before the current one? */
static bool is_before(const struct vm *vm, uint32_t number)
{
    const struct vm_operation *o = &vm->operation;
    return !o->oldest_unordered || number < o->oldest_unordered || number >= vm->operation_count ||
           !o->comes_before || o->comes_before(o->context, number);
}

void race_order_launch(struct vm *vm, struct race_global *g)
{
    g->first = g->launch_first;
    g->foreign_count = 0;
    uint32_t oldest = vm->operation.oldest_unordered;
    for (uint32_t k = 0; oldest && k < RACE_OPERATIONS; k++) {
        struct race_operation *o = &g->operations[k];
        o->before = !o->number || is_before(vm, o->number);
        if (!o->before && o->first >= g->rows_from && o->first < g->first)
            g->first = o->first;
    }
    for (uint32_t k = 0; oldest && k < RACE_RANGES; k++)
        if (g->ranges[k].number && !is_before(vm, g->ranges[k].number))
            g->foreign[g->foreign_count++] = g->ranges[k];
    struct race_operation *mine = &g->operations[g->operation_at++ % RACE_OPERATIONS];
    *mine = (struct race_operation){.number = vm->operation_count, .first = g->launch_first};
    snprintf(mine->what, sizeof mine->what, "%s", vm->operation_what);
}

/* The operation that made a segment before this launch; NULL: forgotten. */
static struct race_operation *operation_of(struct race_global *g, uint32_t segment)
{
    struct race_operation *best = NULL;
    for (uint32_t k = 0; k < RACE_OPERATIONS; k++) {
        struct race_operation *o = &g->operations[k];
        if (o->number && o->first <= segment && (!best || o->first > best->first))
            best = o;
    }
    return best;
}

/* "kernel `scan` on stream 2", or something like it. */
static const char *name_of(const char *what)
{
    return what[0] ? what : "an earlier operation";
}

static void tell(struct vm *vm, const struct vm_site *site, bool mine_writes, const char *place,
                 const char *other, bool other_writes)
{
    vm_report(
        vm, FINDING_data_race, WIRE_ERROR, site,
        "%s %s %s, and %s %s it: nothing orders the two (put both into one stream, or let one "
        "wait: cudaStreamWaitEvent, cudaStreamSynchronize)",
        name_of(vm->operation_what), mine_writes ? "writes" : "reads", place, name_of(other),
        other_writes ? "writes" : "reads");
}

static void tell_access(struct warp *w, const struct mem_op *op, unsigned lane, const char *other,
                        bool other_writes, uint32_t number)
{
    struct vm_site site;
    char place[160];
    if (!race_first_time(w->engine, op->pc, number | 1u << 28))
        return;
    vm_site_of(w, op->pc, (int)lane, &site);
    check_describe(w, op, w->lane_address[lane], place, sizeof place);
    tell(w->engine->vm, &site, op->write, place, other, other_writes);
}

void race_order_entry(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t entry,
                      bool writes)
{
    struct race_operation *o = operation_of(w->engine->global_races, race_time_of(entry));
    if (!o || o->before || race_tolerated(race_strength_of(entry), op->strength, false))
        return;
    tell_access(w, op, lane, o->what, writes, o->number);
}

void race_order_ranges(struct warp *w, const struct mem_op *op, unsigned lane)
{
    const struct race_global *g = w->engine->global_races;
    uint64_t at = w->lane_address[lane];
    for (uint32_t k = 0; k < g->foreign_count; k++) {
        const struct race_range *r = &g->foreign[k];
        if ((op->write || r->writes) && at < r->high && r->low < at + op->total)
            tell_access(w, op, lane, r->what, r->writes, r->number);
    }
}

/* ---- the host's side ---- */

static void describe(const struct vm *vm, uint64_t address, char *out, size_t out_bytes)
{
    const struct vm_allocation *a = vm_find_allocation(vm, address);
    if (a && a->name[0])
        snprintf(out, out_bytes, "byte %llu of `%s`", (unsigned long long)(address - a->low),
                 a->name);
    else if (a)
        snprintf(out, out_bytes, "byte %llu of a buffer of %llu bytes",
                 (unsigned long long)(address - a->base), (unsigned long long)a->bytes);
    else
        snprintf(out, out_bytes, "memory");
}

/* What unordered kernels did in [low, high). One that is found is enough. */
static bool meets_kernel(struct vm *vm, struct vm_allocation *a, uint64_t low, uint64_t high,
                         bool writes, const struct vm_site *site)
{
    struct race_global *g = vm->races;
    const struct race_shadow *s = a->shadow;
    uint32_t first = g->next;
    for (uint32_t k = 0; k < RACE_OPERATIONS; k++) {
        struct race_operation *o = &g->operations[k];
        o->before = !o->number || is_before(vm, o->number);
        if (!o->before && o->first < first)
            first = o->first;
    }
    if (!s || !s->write || first == g->next)
        return false;
    const uint64_t *lists[] = {s->write, s->strong, s->first_read, s->last_read};
    uint64_t end = (high - s->base + (1u << s->shift) - 1) >> s->shift;
    for (int k = 0; k < (writes ? 4 : 2); k++)
        for (uint64_t unit = (low - s->base) >> s->shift; unit < end; unit++) {
            uint32_t segment = race_time_of(lists[k][unit]);
            if (segment < first || segment < s->born)
                continue;
            struct race_operation *o = operation_of(g, segment);
            if (!o || o->before)
                continue;
            char place[160];
            describe(vm, s->base + (unit << s->shift), place, sizeof place);
            tell(vm, site, writes, place, o->what, k < 2);
            return true;
        }
    return false;
}

static void host_access(struct vm *vm, uint64_t address, uint64_t bytes, bool writes)
{
    struct vm_allocation *a = vm_find_allocation(vm, address);
    if (!wanted(vm) || !a || !bytes)
        return;
    struct race_global *g = vm_race_of(vm);
    uint64_t high = address + bytes < a->base + a->bytes ? address + bytes : a->base + a->bytes;
    struct vm_site site = {.block = {-1, -1, -1}, .thread = {-1, -1, -1}};
    bool told = vm->operation.oldest_unordered && !a->freed &&
                meets_kernel(vm, a, address, high, writes, &site);
    for (uint32_t k = 0; vm->operation.oldest_unordered && !told && k < RACE_RANGES; k++) {
        const struct race_range *r = &g->ranges[k];
        if (!r->number || (!writes && !r->writes) || address >= r->high || r->low >= high ||
            is_before(vm, r->number))
            continue;
        char place[160];
        describe(vm, address > r->low ? address : r->low, place, sizeof place);
        tell(vm, &site, writes, place, r->what, r->writes);
        told = true;
    }
    struct race_range *mine = &g->ranges[g->range_at++ % RACE_RANGES];
    *mine = (struct race_range){
        .low = address, .high = high, .number = vm->operation_count, .writes = writes};
    snprintf(mine->what, sizeof mine->what, "%s", vm->operation_what);
}

void vm_operation_reads(struct vm *vm, uint64_t address, uint64_t bytes)
{
    host_access(vm, address, bytes, false);
}

void vm_operation_writes(struct vm *vm, uint64_t address, uint64_t bytes)
{
    host_access(vm, address, bytes, true);
}
