/* Running one operation: addresses were checked by the call that made it, but the memory may be
 * gone by now (a stream-ordered free that nothing orders with it), so device addresses are looked
 * up again. */
#include "cpu/cudart/work.h"

#include "cpu/cudart/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *duplicate(const void *bytes, size_t count)
{
    void *copy = malloc(count + 1);
    if (!copy)
        BUG("out of memory for %zu bytes of queued work", count);
    memcpy(copy, bytes, count);
    return copy;
}

static size_t box_bytes(struct rt_box box)
{
    return box.width * box.height * box.depth;
}

void work_clone(struct rt_work *to, const struct rt_work *from)
{
    *to = *from;
    if (from->kind == WORK_KERNEL && from->kernel.params)
        to->kernel.params = duplicate(from->kernel.params, from->kernel.function->info.param_bytes);
    if (from->kind == WORK_COPY && from->copy.staged)
        to->copy.staged = duplicate(from->copy.staged, box_bytes(from->copy.box));
    if (from->kind == WORK_RECORD)
        event_keep(from->record.event);
}

void work_release(struct rt_work *work)
{
    if (work->kind == WORK_KERNEL)
        free(work->kernel.params);
    if (work->kind == WORK_COPY)
        free(work->copy.staged);
    if (work->kind == WORK_RECORD)
        event_drop(work->record.event);
    *work = (struct rt_work){.kind = WORK_NOTHING};
}

char *work_describe(const struct rt_work *work, const char *stream, char *out, size_t out_bytes)
{
    if (work->kind == WORK_KERNEL)
        snprintf(out, out_bytes, "kernel `%s` on %s",
                 work->kernel.function ? work->kernel.function->info.people_name : "?", stream);
    else
        snprintf(out, out_bytes, "%s on %s", work->call ? work->call : "an empty node", stream);
    return out;
}

bool work_matters(const struct rt_work *work)
{
    return work->kind == WORK_KERNEL || work->kind == WORK_COPY || work->kind == WORK_FILL ||
           work->kind == WORK_HOST || work->kind == WORK_CALLBACK;
}

/* ---- copies and fills ---- */

static size_t row_count(struct rt_box box)
{
    return box.height * box.depth;
}

/* Row `k` of row_count(), counted through all slices. */
static char *row_of(struct rt_pitched p, struct rt_box box, size_t k)
{
    return (char *)p.at + k / box.height * p.slice + k % box.height * p.pitch;
}

static bool is_dense(struct rt_pitched p, struct rt_box box)
{
    return (box.height <= 1 || p.pitch == box.width) &&
           (box.depth <= 1 || p.slice == box.width * box.height);
}

/* Calls `visit` for the rows of one side, or once if they lie together. */
static void tell(struct rt_pitched p, struct rt_box box,
                 void (*visit)(struct vm *vm, uint64_t address, uint64_t bytes))
{
    if (is_dense(p, box)) {
        visit(rt.vm, (uint64_t)(uintptr_t)p.at, box_bytes(box));
        return;
    }
    for (size_t k = 0; k < row_count(box); k++)
        visit(rt.vm, (uint64_t)(uintptr_t)row_of(p, box, k), box.width);
}

/* The bytes behind [at, at + bytes), NULL if it was device memory and is gone. */
static unsigned char *bytes_at(void *at, size_t bytes, bool on_device)
{
    return on_device ? vm_bytes(rt.vm, (uint64_t)(uintptr_t)at, bytes) : at;
}

static void report_gone(const char *what, const void *at)
{
    rt_report(FINDING_use_after_free, WIRE_ERROR, NULL,
              "%s uses %p, which was freed meanwhile: nothing orders the two", what, at);
}

/* An input belongs to the caller, even if it is put back. */
static void report_input(const char *what, const void *to, struct rt_box box)
{
    struct vm_memory_info info;
    vm_memory_info(rt.vm, (uint64_t)(uintptr_t)to, &info);
    if (info.is_input && box_bytes(box) > 0)
        rt_report(FINDING_input_written, WIRE_ERROR, NULL,
                  "%s writes to `%s`, which is an input: it is the caller's, and has to stay as it "
                  "is all the time",
                  what, info.name ? info.name : "?");
}

/* false: a side is gone. */
static bool copy_row(char *to, char *from, size_t bytes, const struct rt_work *w,
                     const unsigned char *staged)
{
    uint64_t target = (uint64_t)(uintptr_t)to;
    if (w->copy.to_device && w->copy.from_device)
        return vm_copy(rt.vm, target, (uint64_t)(uintptr_t)from, bytes);
    unsigned char *into = bytes_at(to, bytes, w->copy.to_device);
    const unsigned char *source = staged ? staged : bytes_at(from, bytes, w->copy.from_device);
    if (!into || !source)
        return false;
    memmove(into, source, bytes);
    if (w->copy.to_device)
        vm_mark_defined(rt.vm, target, bytes);
    return true;
}

static void run_copy(const struct rt_work *w, const char *what)
{
    struct rt_box box = w->copy.box;
    const unsigned char *staged = w->copy.staged;
    if (w->copy.from_reachable)
        tell(w->copy.from, box, vm_operation_reads);
    if (w->copy.to_reachable)
        tell(w->copy.to, box, vm_operation_writes);
    if (is_dense(w->copy.to, box) && is_dense(w->copy.from, box))
        box = (struct rt_box){box_bytes(box), 1, 1};
    if (w->copy.to_device)
        report_input(what, w->copy.to.at, box);
    for (size_t k = 0; k < row_count(box); k++) {
        char *to = row_of(w->copy.to, box, k), *from = row_of(w->copy.from, box, k);
        if (!copy_row(to, from, box.width, w, staged)) {
            bool target = w->copy.to_device && !vm_bytes(rt.vm, (uint64_t)(uintptr_t)to, box.width);
            report_gone(what, target ? to : from);
            return;
        }
        if (staged)
            staged += box.width;
    }
}

void work_stage(struct rt_work *w)
{
    struct rt_box box = w->copy.box;
    size_t bytes = box_bytes(box);
    if (w->copy.staged || bytes == 0)
        return;
    unsigned char *at = malloc(bytes);
    if (!at)
        BUG("out of memory to stage a copy of %zu bytes", bytes);
    w->copy.staged = at;
    for (size_t k = 0; k < row_count(box); k++, at += box.width)
        memcpy(at, row_of(w->copy.from, box, k), box.width);
}

static void fill_row(unsigned char *to, size_t bytes, unsigned value, unsigned element)
{
    if (element == 1) {
        memset(to, (int)(value & 0xff), bytes);
        return;
    }
    for (size_t i = 0; i + element <= bytes; i += element)
        memcpy(to + i, &value, element);
}

static void run_fill(const struct rt_work *w, const char *what)
{
    struct rt_box box = w->fill.box;
    tell(w->fill.to, box, vm_operation_writes);
    if (w->fill.on_device)
        report_input(what, w->fill.to.at, box);
    for (size_t k = 0; k < row_count(box); k++) {
        char *to = row_of(w->fill.to, box, k);
        unsigned char *bytes = bytes_at(to, box.width, w->fill.on_device);
        if (!bytes) {
            report_gone(what, to);
            return;
        }
        fill_row(bytes, box.width, w->fill.value, w->fill.element);
        vm_mark_defined(rt.vm, (uint64_t)(uintptr_t)to, box.width);
    }
}

/* ---- pinned memory that a copy is going to write ---- */

enum { OBSCURE = 0xa5 }; /* negative as an int, tiny as a float: neither a count nor a sum */

/* From the first byte of the first row behind the last byte of the last one. */
static uint64_t extent(struct rt_pitched p, struct rt_box box)
{
    return (box.depth - 1) * p.slice + (box.height - 1) * p.pitch + box.width;
}

static bool overlaps(struct rt_pitched p, struct rt_box box, uint64_t low, uint64_t high)
{
    uint64_t at = (uint64_t)(uintptr_t)p.at;
    return box_bytes(box) > 0 && at < high && at + extent(p, box) > low;
}

bool work_pinned_target(const struct rt_work *w, uint64_t *low, uint64_t *high)
{
    if (w->kind != WORK_COPY || w->copy.to_device || !w->copy.to_reachable ||
        box_bytes(w->copy.box) == 0)
        return false;
    if (!rt_is_pinned(rt_allocation_at(w->copy.to.at)))
        return false;
    *low = (uint64_t)(uintptr_t)w->copy.to.at;
    *high = *low + extent(w->copy.to, w->copy.box);
    return true;
}

/* Kernels reach pinned memory by its address: is one of the allocation among the arguments? */
static bool names_allocation(const struct rt_work *w, uint64_t low)
{
    const struct rt_allocation *a = rt_allocation_at((const void *)(uintptr_t)low);
    if (!w->kernel.function || !w->kernel.params || !a)
        return true;
    for (size_t at = 0; at + 8 <= w->kernel.function->info.param_bytes; at += 8) {
        uint64_t word;
        memcpy(&word, w->kernel.params + at, sizeof word);
        if (word - (uint64_t)(uintptr_t)a->base < a->bytes)
            return true;
    }
    return false;
}

bool work_may_touch(const struct rt_work *w, uint64_t low, uint64_t high)
{
    switch (w->kind) {
    case WORK_KERNEL:
        return names_allocation(w, low);
    case WORK_COPY:
        return overlaps(w->copy.to, w->copy.box, low, high) ||
               (!w->copy.staged && overlaps(w->copy.from, w->copy.box, low, high));
    case WORK_FILL:
        return overlaps(w->fill.to, w->fill.box, low, high);
    case WORK_HOST:
    case WORK_CALLBACK:
        return true;
    case WORK_NOTHING:
    case WORK_ALLOCATE:
    case WORK_FREE:
    case WORK_RECORD:
        break;
    }
    return false;
}

void work_obscure(const struct rt_work *w)
{
    for (size_t k = 0; k < row_count(w->copy.box); k++)
        memset(row_of(w->copy.to, w->copy.box, k), OBSCURE, w->copy.box.width);
}

/* ---- the rest ---- */

static void run_kernel(const struct rt_work *w)
{
    struct rt_function *f = w->kernel.function;
    const struct rt_launch *shape = &w->kernel.shape;
    struct vm_launch run = {
        .grid = {shape->grid.x, shape->grid.y, shape->grid.z},
        .block = {shape->block.x, shape->block.y, shape->block.z},
        .dynamic_shared = shape->dynamic_shared,
        .params = w->kernel.params,
        .cooperative = shape->cooperative,
    };
    /* A fault is sticky in the machine; like on a GPU the launch itself has succeeded. */
    if (f && f->kernel)
        (void)vm_launch(rt.vm, f->kernel, &run);
}

void work_run(const struct rt_work *work, const char *what)
{
    if (work->kind == WORK_RECORD) /* an event is recorded even so: waiting for it must end */
        event_happened(work->record.event, work->record.record);
    if (rt_fault() != cudaSuccess)
        return;
    switch (work->kind) {
    case WORK_KERNEL:
        run_kernel(work);
        break;
    case WORK_COPY:
        run_copy(work, what);
        break;
    case WORK_FILL:
        run_fill(work, what);
        break;
    case WORK_ALLOCATE:
        vm_operation_writes(rt.vm, (uint64_t)(uintptr_t)work->memory.base, work->memory.bytes);
        rt_graph_memory_begins(work->memory.base);
        break;
    case WORK_FREE:
        vm_operation_writes(rt.vm, (uint64_t)(uintptr_t)work->memory.base, work->memory.bytes);
        rt_free_now(work->memory.base);
        break;
    case WORK_NOTHING:
    case WORK_HOST:
    case WORK_CALLBACK:
    case WORK_RECORD:
        break;
    }
}
