/* Counters per source line. The result, one struct wire_profile, lives in the vm from the
 * configuration that asks for it on; every launch adds to it.
 *
 * What instructions cost by being executed is known once a launch is over, from the points that
 * lower_profile.c left in the code. What depends on addresses and on the other lanes is added to
 * its line as it happens. */
#include "cpu/vm/watch.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct profile_run {
    struct wire_profile *out;
    struct point_count *counts; /* per point of the code */
    uint32_t count_capacity;
    uint32_t *line_of_loc; /* index into out->lines, ~0 = not looked up yet */
    uint32_t loc_capacity;
    uint16_t kernel;
    struct wire_profile_line lost; /* for lines that do not fit */
};

/* ---- the tables ---- */

static uint16_t find_kernel(struct profile_run *r, const char *name)
{
    struct wire_profile *p = r->out;
    for (uint32_t k = 0; k < p->kernel_count; k++)
        if (strncmp(p->kernels[k].name, name, sizeof p->kernels[k].name - 1) == 0)
            return (uint16_t)k;
    if (p->kernel_count == WIRE_PROFILE_KERNELS)
        return WIRE_PROFILE_KERNELS;
    snprintf(p->kernels[p->kernel_count].name, sizeof p->kernels[0].name, "%s", name);
    return (uint16_t)p->kernel_count++;
}

static uint16_t find_file(struct wire_profile *p, const char *name)
{
    for (uint32_t k = 0; k < p->file_count; k++)
        if (strncmp(p->files[k], name, sizeof p->files[k] - 1) == 0)
            return (uint16_t)k;
    if (p->file_count == WIRE_PROFILE_FILES)
        return 0;
    snprintf(p->files[p->file_count], sizeof p->files[0], "%s", name);
    return (uint16_t)p->file_count++;
}

static uint32_t find_line(struct profile_run *r, const struct vm_engine *e, uint32_t loc)
{
    struct wire_profile *p = r->out;
    const char *name = "";
    uint32_t line = 0;
    if (r->kernel == WIRE_PROFILE_KERNELS)
        return WIRE_PROFILE_LINES;
    if (vm_shown_line(e->vm, e->code->module, loc, &name, &line))
        name = file_base_name(name);
    uint16_t file = find_file(p, name);
    for (uint32_t k = 0; k < p->line_count; k++)
        if (p->lines[k].kernel == r->kernel && p->lines[k].file == file && p->lines[k].line == line)
            return k;
    if (p->line_count == WIRE_PROFILE_LINES)
        return WIRE_PROFILE_LINES;
    p->lines[p->line_count] =
        (struct wire_profile_line){.kernel = r->kernel, .file = file, .line = line};
    return p->line_count++;
}

static struct wire_counters *line_of(struct vm_engine *e, const struct ptx_instr *in)
{
    struct profile_run *r = e->profile;
    uint32_t loc = in && in->loc < e->code->module->ptx.loc_count ? in->loc : 0;
    if (r->line_of_loc[loc] == ~0u)
        r->line_of_loc[loc] = find_line(r, e, loc);
    uint32_t at = r->line_of_loc[loc];
    if (at < WIRE_PROFILE_LINES)
        return &r->out->lines[at].counters;
    r->out->dropped++;
    return &r->lost.counters;
}

struct wire_counters *watch_line(struct vm_engine *e, uint32_t pc)
{
    return line_of(e, e->code->origins[pc]);
}

/* ---- a launch ---- */

static void *grown(void *memory, size_t bytes)
{
    free(memory);
    memory = malloc(bytes);
    if (!memory)
        BUG("out of memory for a profile");
    return memory;
}

void watch_profile_start(struct vm_engine *e)
{
    struct profile_run *r = e->profile_room;
    uint32_t locs = e->code->module->ptx.loc_count + 1;
    if (!r) {
        r = e->profile_room = calloc(1, sizeof *r);
        if (!r)
            BUG("out of memory for a profile");
    }
    if (!r->counts || r->count_capacity < e->code->point_count + 1) {
        r->count_capacity = e->code->point_count + 1;
        r->counts = grown(r->counts, r->count_capacity * sizeof *r->counts);
    }
    if (!r->line_of_loc || r->loc_capacity < locs) {
        r->loc_capacity = locs;
        r->line_of_loc = grown(r->line_of_loc, locs * sizeof *r->line_of_loc);
    }
    memset(r->counts, 0, r->count_capacity * sizeof *r->counts);
    memset(r->line_of_loc, 0xff, r->loc_capacity * sizeof *r->line_of_loc);
    r->out = e->vm->profile;
    r->kernel = find_kernel(r, e->kernel->people_name);
    e->profile = r;
    e->points = r->counts;
    if (r->kernel == WIRE_PROFILE_KERNELS)
        return;
    struct wire_profile_kernel *k = &r->out->kernels[r->kernel];
    k->launches++;
    k->blocks += e->block_total;
    k->threads += e->block_total * e->block_threads;
}

void watch_profile_end(struct vm_engine *e)
{
    const struct vm_code *c = e->code;
    for (uint32_t k = 0; k < c->point_count; k++) {
        const struct profile_point *p = &c->points[k];
        const struct point_count *n = &e->points[k];
        if (!n->warps)
            continue;
        for (uint32_t j = 0; j < p->count; j++) {
            uint64_t *v = line_of(e, &p->first[j])->value;
            v[COUNTER_instructions] += n->lanes;
            v[COUNTER_warp_instructions] += n->warps;
            if (p->first[j].guard < 0)
                v[COUNTER_additions] += n->lanes * p->additions[j];
        }
        if (p->count == 0) /* behind a guard */
            line_of(e, p->first)->value[COUNTER_additions] += n->lanes * p->additions[0];
    }
    e->profile = NULL;
}

void watch_profile_free(struct vm_engine *e)
{
    if (!e->profile_room)
        return;
    free(e->profile_room->counts);
    free(e->profile_room->line_of_loc);
    free(e->profile_room);
}

void watch_profile(struct warp *w, const struct mem_op *op, const struct watch_access *a)
{
    uint64_t *v = line_of(w->engine, op->in)->value;
    bool atomic = op->in->op == PTX_OP_atom || op->in->op == PTX_OP_red;
    if (a->global) {
        v[COUNTER_global_requests]++;
        v[COUNTER_global_sectors] += a->sectors;
        if (atomic || !op->write)
            v[COUNTER_global_bytes_read] += a->bytes;
        if (op->write)
            v[COUNTER_global_bytes_written] += a->bytes;
    }
    if (a->shared) {
        v[COUNTER_shared_requests]++;
        v[COUNTER_shared_bank_conflicts] += a->conflicts;
    }
    if (atomic && a->global) {
        v[COUNTER_atomics] += vm_count_lanes(a->global);
        v[COUNTER_atomic_requests]++;
    }
    if (atomic && a->shared) {
        v[COUNTER_shared_atomics] += vm_count_lanes(a->shared);
        v[COUNTER_shared_atomic_requests]++;
    }
}

/* ---- the way out ---- */

void watch_profile_configure(struct vm *vm)
{
    if (!(vm->config.checks & WIRE_CHECK_PROFILE)) {
        free(vm->profile);
        vm->profile = NULL;
        return;
    }
    if (!vm->profile && !(vm->profile = malloc(sizeof *vm->profile)))
        BUG("out of memory for a profile");
    memset(vm->profile, 0, sizeof *vm->profile);
    vm->profile->magic = WIRE_PROFILE_MAGIC;
    vm->profile->file_count = 1; /* "" */
}

size_t vm_profile(const struct vm *vm, void *out, size_t bytes)
{
    if (!vm->profile)
        return 0;
    if (bytes >= sizeof *vm->profile)
        memcpy(out, vm->profile, sizeof *vm->profile);
    return sizeof *vm->profile;
}
