/* A PTX module becomes a vm_module: its variables get device memory and their initial values, its
 * entries become kernels. */
#include "cpu/vm/module.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the C++ runtime, which every nvcc-built program links anyway (Itanium C++ ABI, 3.4). */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* A name that is too long, as those of templates of libraries are, loses what is in its outermost
 * angle brackets, and if need be its beginning: what is called says more than with what. */
static void fit_name(const char *name, char *out, size_t out_bytes)
{
    if ((size_t)snprintf(out, out_bytes, "%s", name) < out_bytes)
        return;
    struct text brief;
    int depth = 0;
    text_init(&brief);
    for (const char *p = name; *p; p++) {
        depth -= *p == '>';
        if (depth == 0)
            text_addc(&brief, *p);
        if (*p == '<' && depth++ == 0)
            text_add(&brief, "...");
    }
    if (brief.length < out_bytes)
        snprintf(out, out_bytes, "%s", text_str(&brief));
    else
        snprintf(out, out_bytes, "...%s", text_str(&brief) + brief.length - (out_bytes - 4));
    text_release(&brief);
}

/* "void ns::kernel<256>(int*, int)" -> "ns::kernel<256>". */
static void people_name(const char *mangled, char *out, size_t out_bytes)
{
    int status = -1;
    char *full = __cxa_demangle(mangled, NULL, NULL, &status);
    if (status != 0 || !full) {
        snprintf(out, out_bytes, "%s", mangled);
        free(full);
        return;
    }
    char *end = strrchr(full, ')');
    int depth = 0;
    for (char *p = end; p && p >= full; p--) {
        depth += *p == ')';
        depth -= *p == '(';
        if (depth == 0) {
            if (p > full)
                *p = '\0';
            break;
        }
    }
    const char *start = strncmp(full, "void ", 5) == 0 ? full + 5 : full;
    fit_name(start, out, out_bytes);
    free(full);
}

/* A managed variable lives in host memory that kernels reach under the host's address. */
static uint64_t place_managed(struct vm *vm, const struct ptx_symbol *s)
{
    enum { PAGE = 4096 };
    uint8_t *host = aligned_alloc(PAGE, (s->bytes + PAGE - 1) / PAGE * PAGE);
    if (!host || !vm_map_host(vm, host, s->bytes, true)) {
        free(host);
        return 0;
    }
    return (uint64_t)(uintptr_t)host;
}

static int place_symbol(struct vm *vm, struct vm_module *module, uint32_t index, struct err *e)
{
    const struct ptx_symbol *s = &module->ptx.symbols[index];
    bool variable = s->space == PTX_GLOBAL || s->space == PTX_CONST;
    if (!variable || s->is_texture || s->bytes == 0 || s->linkage == PTX_LINK_EXTERN)
        return 0;
    uint64_t address = s->is_managed ? place_managed(vm, s) : vm_malloc(vm, s->bytes);
    if (!address)
        return err_set(e, "no device memory for the %llu bytes of the variable %s",
                       (unsigned long long)s->bytes, s->name);
    module->addresses[index] = address;
    struct vm_allocation *a = vm_find_allocation(vm, address);
    char people[WIRE_NAME_BYTES];
    people_name(s->name, people, sizeof people);
    snprintf(a->name, sizeof a->name, "%s", people);
    if (s->init)
        memcpy(a->host, s->init, s->bytes);
    else
        memset(a->host, 0, s->bytes);
    if (a->defined)
        vm_bits_set(a->defined, 0, s->bytes); /* variables without an initialiser hold zeros */
    a->read_only = s->space == PTX_CONST;
    return 0;
}

static int apply_relocs(struct vm *vm, struct vm_module *module, uint32_t index, struct err *e)
{
    const struct ptx_symbol *s = &module->ptx.symbols[index];
    if (!module->addresses[index])
        return 0;
    uint8_t *bytes = vm_bytes(vm, module->addresses[index], s->bytes);
    for (uint32_t i = 0; i < s->reloc_count; i++) {
        const struct ptx_reloc *r = &s->relocs[i];
        if (r->bytes > 8 || r->offset + r->bytes > s->bytes)
            return err_set(e, "the initialiser of %s reaches past its end", s->name);
        uint64_t value = r->symbol >= 0 ? module->addresses[r->symbol]
                                        : vm->window + VM_CODE_OFFSET + 16 * (uint64_t)r->function;
        value += (uint64_t)r->addend;
        memcpy(bytes + r->offset, &value, r->bytes);
    }
    return 0;
}

static void fill_kernel(struct vm_module *module, struct vm_kernel *k, uint32_t function_index)
{
    const struct ptx_function *f = &module->ptx.functions[function_index];
    k->module = module;
    k->function = f;
    k->function_index = function_index;
    people_name(f->name, k->people_name, sizeof k->people_name);
    k->param_offsets = arena_array(&module->arena, f->param_count, sizeof *k->param_offsets);
    k->param_sizes = arena_array(&module->arena, f->param_count, sizeof *k->param_sizes);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const struct ptx_symbol *p = &module->ptx.symbols[f->params[i]];
        k->param_offsets[i] = (uint32_t)p->offset;
        k->param_sizes[i] = (uint32_t)p->bytes;
    }
}

void vm_module_release(struct vm_module *module)
{
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        for (int kind = 0; kind < VM_CODE_KINDS; kind++)
            vm_code_free(module->kernels[i].code[kind]);
    }
    arena_release(&module->arena);
    free(module);
}

struct vm_module *vm_module_load(struct vm *vm, const struct ptx_module *ptx, struct arena *arena,
                                 struct err *e)
{
    struct vm_module *module = calloc(1, sizeof *module);
    if (!module)
        BUG("out of memory for a module");
    module->vm = vm;
    module->arena = *arena;
    module->ptx = *ptx;
    arena_init(arena);
    module->addresses = arena_array(&module->arena, ptx->symbol_count, sizeof *module->addresses);
    for (uint32_t i = 0; i < ptx->symbol_count; i++)
        if (ptx->symbols[i].function < 0 && place_symbol(vm, module, i, e) != 0)
            goto fail;
    for (uint32_t i = 0; i < ptx->symbol_count; i++)
        if (apply_relocs(vm, module, i, e) != 0)
            goto fail;
    for (uint32_t i = 0; i < ptx->function_count; i++)
        module->kernel_count += ptx->functions[i].is_entry && !ptx->functions[i].is_declaration;
    module->kernels = arena_array(&module->arena, module->kernel_count, sizeof *module->kernels);
    uint32_t next = 0;
    for (uint32_t i = 0; i < ptx->function_count; i++)
        if (ptx->functions[i].is_entry && !ptx->functions[i].is_declaration)
            fill_kernel(module, &module->kernels[next++], i);
    module->next = vm->modules;
    vm->modules = module;
    return module;
fail:
    module->kernel_count = 0;
    vm_module_release(module);
    return NULL;
}

static void free_managed(struct vm *vm, uint64_t address)
{
    void *host = (void *)(uintptr_t)address;
    if (vm_unmap_host(vm, host))
        free(host);
}

void vm_module_unload(struct vm *vm, struct vm_module *module)
{
    for (struct vm_module **m = &vm->modules; *m; m = &(*m)->next) {
        if (*m != module)
            continue;
        *m = module->next;
        for (uint32_t i = 0; i < module->ptx.symbol_count; i++)
            if (module->addresses[i] && !vm_free_memory(vm, module->addresses[i]))
                free_managed(vm, module->addresses[i]);
        vm_module_release(module);
        return;
    }
}

bool vm_module_symbol(struct vm_module *module, const char *name, uint64_t *address,
                      uint64_t *bytes)
{
    int index = ptx_find_symbol(&module->ptx, name);
    if (index < 0 || !module->addresses[index])
        return false;
    *address = module->addresses[index];
    *bytes = module->ptx.symbols[index].bytes;
    return true;
}

struct vm_kernel *vm_module_kernel(struct vm_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].function->name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

void vm_kernel_info(const struct vm_kernel *kernel, struct vm_kernel_info *info)
{
    const struct ptx_function *f = kernel->function;
    const struct vm_limits *limits = &kernel->module->vm->limits;
    *info = (struct vm_kernel_info){
        .name = f->name,
        .people_name = kernel->people_name,
        .param_count = f->param_count,
        .param_offsets = kernel->param_offsets,
        .param_sizes = kernel->param_sizes,
        .param_bytes = (uint32_t)f->param_bytes,
        .shared_bytes = (uint32_t)f->shared_bytes,
        .local_bytes = (uint32_t)f->local_bytes,
        .regs = 32, /* PTX does not tell; a plain kernel's number */
        .max_threads = limits->max_threads_per_block,
        .ptx_version = kernel->module->ptx.target,
    };
    const uint32_t *bound = f->reqntid[0] ? f->reqntid : f->maxntid;
    if (bound[0]) {
        uint64_t threads =
            (uint64_t)bound[0] * (bound[1] ? bound[1] : 1) * (bound[2] ? bound[2] : 1);
        if (threads < info->max_threads)
            info->max_threads = (uint32_t)threads;
    }
}
