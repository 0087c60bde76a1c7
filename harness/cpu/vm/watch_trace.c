/* Every access to global or shared memory, with its value, into one struct wire_trace. Loads and
 * stores are told before the bytes move, so what a load reads is looked up in memory and what a
 * store writes in registers. Asynchronous copies are noted when they are done. */
#include "cpu/vm/watch.h"

#include "base/file.h"
#include "wire/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a block is, by the slot it runs in. */
struct trace_block {
    uint64_t launch, index;
    uint32_t phase;
};

struct trace_run {
    struct wire_trace *out;
    uint32_t launch, kernel, request;
    bool full; /* of tables: nothing of this launch fits */
    struct trace_block *blocks;
    uint32_t block_capacity;
};

/* ---- tables; each returns the limit when it is full ---- */

static uint32_t find_name(char (*names)[128], uint32_t *count, uint32_t most, const char *name)
{
    for (uint32_t k = 0; k < *count; k++)
        if (strncmp(names[k], name, sizeof names[k] - 1) == 0)
            return k;
    if (*count == most)
        return most;
    snprintf(names[*count], sizeof names[0], "%s", name);
    return (*count)++;
}

static uint32_t find_file(struct wire_trace *t, const char *name)
{
    for (uint32_t k = 0; k < t->file_count; k++)
        if (strncmp(t->files[k], name, sizeof t->files[k] - 1) == 0)
            return k;
    if (t->file_count == WIRE_TRACE_FILES)
        return 0;
    snprintf(t->files[t->file_count], sizeof t->files[0], "%s", name);
    return t->file_count++;
}

static uint32_t find_site(const struct vm_engine *e, const struct ptx_instr *in)
{
    struct wire_trace *t = e->trace->out;
    const char *name = "";
    uint32_t line = 0;
    if (vm_shown_line(e->vm, e->code->module, in ? in->loc : 0, &name, &line))
        name = file_base_name(name);
    uint32_t file = find_file(t, name);
    for (uint32_t k = 0; k < t->site_count; k++)
        if (t->sites[k].file == file && t->sites[k].line == line)
            return k;
    if (t->site_count == WIRE_TRACE_SITES)
        return WIRE_TRACE_SITES;
    t->sites[t->site_count] = (struct wire_trace_site){.file = file, .line = line};
    return t->site_count++;
}

static uint32_t find_buffer(struct trace_run *r, const char *name, uint64_t bytes, bool shared)
{
    struct wire_trace *t = r->out;
    struct wire_trace_buffer wanted = {
        .bytes = bytes, .shared = shared, .kernel = shared ? r->kernel : 0};
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    for (uint32_t k = 0; k < t->buffer_count; k++)
        if (strcmp(t->buffers[k].name, wanted.name) == 0 && t->buffers[k].bytes == bytes &&
            t->buffers[k].shared == wanted.shared && t->buffers[k].kernel == wanted.kernel)
            return k;
    if (t->buffer_count == WIRE_TRACE_BUFFERS)
        return WIRE_TRACE_BUFFERS;
    t->buffers[t->buffer_count] = wanted;
    return t->buffer_count++;
}

/* ---- places ---- */

struct place {
    uint32_t buffer;
    uint64_t offset;
    const uint8_t *host;
};

/* Memory without a name is told apart by its number among the allocations. */
static struct place global_place(const struct vm_engine *e, uint64_t address)
{
    const struct vm_allocation *a = vm_find_allocation(e->vm, address);
    if (!a || a->freed)
        return (struct place){.buffer = WIRE_TRACE_BUFFERS};
    char name[WIRE_NAME_BYTES];
    snprintf(name, sizeof name, "%s", a->name);
    for (size_t k = 0; !name[0] && k < e->vm->device_count; k++)
        if (e->vm->device[k] == a)
            snprintf(name, sizeof name, "allocation %zu", k + 1);
    return (struct place){.buffer = find_buffer(e->trace, name, a->high - a->low, false),
                          .offset = address - a->low,
                          .host = a->host + (address - a->base)};
}

static struct place shared_place(const struct warp *w, uint64_t offset)
{
    const struct vm_code *code = w->engine->code;
    for (uint32_t k = 0; k < code->shared_count; k++) {
        const struct shared_range *s = &code->shared[k];
        uint32_t high = s->dynamic ? w->block->shared_end : s->high;
        if (offset < s->low || offset >= high)
            continue;
        const char *name = s->name && s->name[0] ? s->name : "shared";
        return (struct place){.buffer = find_buffer(w->engine->trace, name, high - s->low, true),
                              .offset = offset - s->low,
                              .host = w->block->shared + offset};
    }
    return (struct place){.buffer = WIRE_TRACE_BUFFERS};
}

/* ---- records ---- */

static struct trace_block *block_of(struct trace_run *r, const struct block *b)
{
    if (b->slot >= r->block_capacity) {
        uint32_t capacity = b->slot + 16;
        r->blocks = realloc(r->blocks, capacity * sizeof *r->blocks);
        if (!r->blocks)
            BUG("out of memory for a trace");
        memset(r->blocks + r->block_capacity, 0,
               (capacity - r->block_capacity) * sizeof *r->blocks);
        r->block_capacity = capacity;
    }
    struct trace_block *t = &r->blocks[b->slot];
    if (t->launch != b->engine->vm->launch_count || t->index != b->index)
        *t = (struct trace_block){.launch = b->engine->vm->launch_count, .index = b->index};
    return t;
}

static uint64_t bits_at(const uint8_t *host, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, host, bytes);
    return v;
}

/* One element; what does not fit is counted. */
static void add_record(struct warp *w, const struct wire_trace_record *base, struct place p,
                       uint64_t value, uint64_t old)
{
    struct trace_run *r = w->engine->trace;
    struct wire_trace *t = r->out;
    if (r->full || t->record_count == WIRE_TRACE_RECORDS || base->site == WIRE_TRACE_SITES ||
        p.buffer == WIRE_TRACE_BUFFERS || w->block->index > UINT32_MAX) {
        t->lost++;
        return;
    }
    struct wire_trace_record *to = &t->records[t->record_count++];
    *to = *base;
    to->launch = r->launch;
    to->block = (uint32_t)w->block->index;
    to->phase = block_of(r, w->block)->phase;
    to->request = r->request;
    to->warp = w->index;
    to->buffer = (uint16_t)p.buffer;
    to->offset = p.offset;
    to->value = value;
    to->old = old;
}

static uint64_t register_bits(const struct warp *w, const struct mem_op *op, unsigned element,
                              unsigned lane)
{
    const bool wide = op->wide[element];
    uint64_t v = bits_at(vm_lane(w->frame, op->rows[element], lane, wide), wide ? 8 : 4);
    return op->bytes == 8 ? v : v & ((1ull << (8 * op->bytes)) - 1);
}

void watch_trace(struct warp *w, const struct mem_op *op, const struct watch_access *a)
{
    struct trace_run *r = w->engine->trace;
    const bool atomic = op->in->op == PTX_OP_atom || op->in->op == PTX_OP_red;
    struct wire_trace_record base = {
        .site = (uint16_t)find_site(w->engine, op->in),
        .kind = atomic      ? WIRE_TRACE_ATOMIC
                : op->write ? WIRE_TRACE_WRITE
                            : WIRE_TRACE_READ,
        .bytes = op->bytes > 8 ? 8 : op->bytes,
        .is_float = op->type == PTX_F32 || op->type == PTX_F64,
        .has_old = atomic && op->has_result && op->bytes <= 8,
    };
    r->request++;
    for (uint32_t rest = a->global | a->shared; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        struct place first = a->shared >> l & 1 ? shared_place(w, w->lane_address[l])
                                                : global_place(w->engine, w->lane_address[l]);
        base.lane = (uint8_t)l;
        for (unsigned k = 0; k < op->total / base.bytes; k++) {
            struct place p = first;
            p.offset += (uint64_t)k * base.bytes;
            if (!p.host) {
                add_record(w, &base, p, 0, 0);
                continue;
            }
            bool from_register = base.kind == WIRE_TRACE_WRITE && op->bytes <= 8;
            add_record(w, &base, p,
                       from_register ? register_bits(w, op, k, l)
                                     : bits_at(p.host + (size_t)k * base.bytes, base.bytes),
                       base.has_old ? register_bits(w, op, 0, l) : 0);
        }
    }
}

void watch_trace_copied(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t at,
                        bool shared, uint32_t bytes)
{
    struct trace_run *r = w->engine->trace;
    struct place p = shared ? shared_place(w, at) : global_place(w->engine, at);
    struct wire_trace_record base = {.site = (uint16_t)find_site(w->engine, op->in),
                                     .kind = op->write ? WIRE_TRACE_WRITE : WIRE_TRACE_READ,
                                     .bytes = 4,
                                     .lane = (uint8_t)lane};
    r->request++;
    for (uint32_t k = 0; p.host && k + 4 <= bytes; k += 4) {
        add_record(w, &base, p, bits_at(p.host, 4), 0);
        p.offset += 4;
        p.host += 4;
    }
}

void watch_trace_barrier(struct block *b)
{
    block_of(b->engine->trace, b)->phase++;
}

/* ---- launches ---- */

void watch_trace_start(struct vm_engine *e)
{
    struct trace_run *r = e->trace_room;
    if (!r && !(r = e->trace_room = calloc(1, sizeof *r)))
        BUG("out of memory for a trace");
    struct wire_trace *t = r->out = e->vm->trace;
    e->trace = r;
    r->kernel = find_name(t->kernels, &t->kernel_count, WIRE_TRACE_KERNELS, e->kernel->people_name);
    r->full = r->kernel == WIRE_TRACE_KERNELS || t->launch_count == WIRE_TRACE_LAUNCHES;
    if (r->full)
        return;
    r->launch = t->launch_count++;
    struct wire_trace_launch *launch = &t->launches[r->launch];
    launch->kernel = r->kernel;
    memcpy(launch->grid, e->launch->grid, sizeof launch->grid);
    memcpy(launch->block, e->launch->block, sizeof launch->block);
}

void watch_trace_free(struct vm_engine *e)
{
    if (e->trace_room)
        free(e->trace_room->blocks);
    free(e->trace_room);
}

void watch_trace_configure(struct vm *vm)
{
    if (!(vm->config.checks & WIRE_CHECK_TRACE)) {
        free(vm->trace);
        vm->trace = NULL;
        return;
    }
    if (!vm->trace && !(vm->trace = malloc(WIRE_TRACE_BYTES)))
        BUG("out of memory for a trace");
    memset(vm->trace, 0, sizeof *vm->trace);
    vm->trace->magic = WIRE_TRACE_MAGIC;
    vm->trace->file_count = 1; /* "" */
}

size_t vm_trace(const struct vm *vm, void *out, size_t bytes)
{
    if (!vm->trace)
        return 0;
    size_t size = sizeof *vm->trace + vm->trace->record_count * sizeof vm->trace->records[0];
    if (bytes >= size)
        memcpy(out, vm->trace, size);
    return size;
}
