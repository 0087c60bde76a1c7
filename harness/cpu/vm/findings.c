/* Findings: what, where in the source, which block and thread. The same kind at the same line is
 * one finding with a count. A line is looked for along the inlining chain: a fault inside cub or
 * cooperative_groups is shown at the line of the submission that called it. */
#include "cpu/vm/machine.h"

#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS_KEPT = 256, CHAIN_MOST = 64 };

/* The loc to show: the first frame that lies in the submission's file, else the innermost. */
static const struct ptx_loc *shown_loc(const struct vm *vm, const struct vm_module *module,
                                       uint32_t loc)
{
    const struct ptx_module *ptx = &module->ptx;
    if (loc == 0 || loc >= ptx->loc_count)
        return NULL;
    const struct ptx_loc *innermost = &ptx->locs[loc];
    if (!vm->config.source_file[0])
        return innermost;
    const struct ptx_loc *frame = innermost;
    for (int depth = 0; depth < CHAIN_MOST; depth++) {
        if (frame->line &&
            strcmp(file_base_name(ptx->files[frame->file]), vm->config.source_file) == 0)
            return frame;
        if (frame->inlined_at < 0)
            break;
        frame = &ptx->locs[frame->inlined_at];
    }
    return innermost;
}

bool vm_shown_line(const struct vm *vm, const struct vm_module *module, uint32_t loc,
                   const char **file, uint32_t *line)
{
    const struct ptx_loc *at = shown_loc(vm, module, loc);
    if (!at || !at->line)
        return false;
    *file = module->ptx.files[at->file];
    *line = at->line;
    return true;
}

char *vm_describe_loc(const struct vm *vm, const struct vm_module *module, uint32_t loc, char *out,
                      size_t out_bytes)
{
    const struct ptx_loc *at = shown_loc(vm, module, loc);
    if (at && at->line)
        snprintf(out, out_bytes, "%s:%u", file_base_name(module->ptx.files[at->file]), at->line);
    else
        snprintf(out, out_bytes, "an unknown line");
    return out;
}

static void add(struct vm *vm, const struct wire_finding *finding)
{
    for (size_t i = 0; i < vm->finding_count; i++) {
        struct wire_finding *old = &vm->findings[i];
        if (old->kind == finding->kind && old->line == finding->line &&
            strcmp(old->file, finding->file) == 0 &&
            (finding->line || strcmp(old->message, finding->message) == 0)) {
            old->count++;
            return;
        }
    }
    if (vm->finding_count == FINDINGS_KEPT)
        return;
    if (vm->finding_count == vm->finding_capacity) {
        vm->finding_capacity = vm->finding_capacity ? 2 * vm->finding_capacity : 16;
        struct wire_finding *grown = realloc(vm->findings, vm->finding_capacity * sizeof *grown);
        if (!grown)
            BUG("out of memory for %zu findings", vm->finding_capacity);
        vm->findings = grown;
    }
    struct wire_finding *added = &vm->findings[vm->finding_count++];
    *added = *finding;
    if (!added->count)
        added->count = 1;
}

void vm_add_finding(struct vm *vm, const struct wire_finding *finding)
{
    pthread_mutex_lock(&vm->lock);
    add(vm, finding);
    pthread_mutex_unlock(&vm->lock);
}

static void compose(const struct vm *vm, struct wire_finding *f, enum finding_kind kind,
                    enum wire_severity severity, const struct vm_site *site, const char *format,
                    va_list args)
{
    *f = (struct wire_finding){.kind = (uint16_t)kind, .severity = (uint16_t)severity, .count = 1};
    memcpy(f->block, site->block, sizeof f->block);
    memcpy(f->thread, site->thread, sizeof f->thread);
    if (site->kernel)
        snprintf(f->kernel, sizeof f->kernel, "%s", site->kernel->people_name);
    const struct ptx_loc *at = site->module ? shown_loc(vm, site->module, site->loc) : NULL;
    if (at && at->line) {
        f->line = at->line;
        snprintf(f->file, sizeof f->file, "%s", file_base_name(site->module->ptx.files[at->file]));
    }
    vsnprintf(f->message, sizeof f->message, format, args);
}

void vm_compose(const struct vm *vm, struct wire_finding *f, enum finding_kind kind,
                enum wire_severity severity, const struct vm_site *site, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    compose(vm, f, kind, severity, site, format, args);
    va_end(args);
}

void vm_report(struct vm *vm, enum finding_kind kind, enum wire_severity severity,
               const struct vm_site *site, const char *format, ...)
{
    struct wire_finding f;
    va_list args;
    va_start(args, format);
    compose(vm, &f, kind, severity, site, format, args);
    va_end(args);
    vm_add_finding(vm, &f);
}

/* What stopped the kernel first, then errors, then warnings; within a class as they came. */
static int rank(const struct wire_finding *f)
{
    if (f->severity == WIRE_WARNING)
        return 2;
    return finding_is_fatal((enum finding_kind)f->kind) ? 0 : 1;
}

size_t vm_findings(const struct vm *vm, struct wire_finding *out, size_t capacity)
{
    size_t put = 0;
    for (int wanted = 0; wanted <= 2; wanted++)
        for (size_t i = 0; i < vm->finding_count && put < capacity; i++)
            if (rank(&vm->findings[i]) == wanted)
                out[put++] = vm->findings[i];
    return vm->finding_count;
}
