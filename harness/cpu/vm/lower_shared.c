/* Which functions a kernel may reach, and where the shared variables that they name lie. */
#include "cpu/vm/lower.h"

#include <stdlib.h>
#include <string.h>

/* Functions that calls may reach, however deep. */
void lower_find_wanted(const struct ptx_module *ptx, uint32_t index, bool *found)
{
    if (found[index] || ptx->functions[index].is_declaration)
        return;
    found[index] = true;
    const struct ptx_function *f = &ptx->functions[index];
    for (uint32_t k = 0; k < f->instr_count; k++)
        for (unsigned o = 0; o < f->instrs[k].operand_count; o++)
            if (f->instrs[k].operands[o].kind == PTX_OPERAND_FUNC)
                lower_find_wanted(ptx, (uint32_t)f->instrs[k].operands[o].imm, found);
    /* Through a pointer: whatever a variable's initialiser names. */
    for (uint32_t k = 0; k < f->instr_count; k++) {
        if (f->instrs[k].op != PTX_OP_call || f->instrs[k].operands[1].kind != PTX_OPERAND_REG)
            continue;
        for (uint32_t s = 0; s < ptx->symbol_count; s++)
            for (uint32_t r = 0; r < ptx->symbols[s].reloc_count; r++)
                if (ptx->symbols[s].relocs[r].symbol < 0)
                    lower_find_wanted(ptx, (uint32_t)ptx->symbols[s].relocs[r].function, found);
    }
}

/* "_ZZ4scanPiE5total" -> "total": the last name of a nested one. */
static const char *variable_name(struct lower *l, const char *mangled)
{
    if (strncmp(mangled, "_Z", 2) != 0)
        return mangled;
    const char *best = NULL;
    size_t best_length = 0, length = strlen(mangled);
    for (size_t k = 2; k < length; k++) {
        if (mangled[k] < '1' || mangled[k] > '9')
            continue;
        char *end;
        unsigned long n = strtoul(mangled + k, &end, 10);
        size_t at = (size_t)(end - mangled);
        if (n == 0 || at + n > length || (*end >= '0' && *end <= '9'))
            continue;
        best = end;
        best_length = n;
        k = at + n - 1;
    }
    return best ? arena_strndup(&l->code->arena, best, best_length) : mangled;
}

static void want_symbol(const struct ptx_operand *o, bool *used)
{
    if (o->kind == PTX_OPERAND_VEC)
        for (uint32_t k = 0; k < o->element_count; k++)
            want_symbol(&o->elements[k], used);
    else if ((o->kind == PTX_OPERAND_SYMBOL || o->kind == PTX_OPERAND_ADDR) && o->symbol >= 0)
        used[o->symbol] = true;
}

/* Marks the variables that some function of the set names. */
static void want_symbols(const struct ptx_module *p, const bool *functions, bool *used)
{
    for (uint32_t f = 0; f < p->function_count; f++)
        for (uint32_t k = 0; functions[f] && k < p->functions[f].instr_count; k++) {
            const struct ptx_instr *in = &p->functions[f].instrs[k];
            for (unsigned o = 0; o < in->operand_count; o++)
                want_symbol(&in->operands[o], used);
        }
}

/* Does any of the functions ask where the reserved part is? */
static bool want_reserved(const struct ptx_module *p, const bool *functions)
{
    bool any = false;
    for (uint32_t f = 0; f < p->function_count; f++)
        for (uint32_t k = 0; functions[f] && k < p->functions[f].instr_count; k++) {
            const struct ptx_instr *in = &p->functions[f].instrs[k];
            for (unsigned o = 0; o < in->operand_count; o++)
                any |= in->operands[o].kind == PTX_OPERAND_SREG &&
                       (in->operands[o].imm == PTX_SREG_reserved_smem_0 ||
                        in->operands[o].imm == PTX_SREG_reserved_smem_1);
        }
    return any;
}

/* Lays the shared variables that the wanted functions name out in the block's window. Between two
 * lies a gap that belongs to nobody, a multiple of 128 bytes so that banks stay as they were. */
void lower_place_shared(struct lower *l, const bool *functions)
{
    const struct ptx_module *p = l->ptx;
    bool *used = arena_array(&l->scratch, p->symbol_count + 1, sizeof *used);
    want_symbols(p, functions, used);
    l->code->shared =
        arena_array(&l->code->arena, p->symbol_count + 2, sizeof(struct shared_range));
    uint32_t at = VM_SHARED_START;
    if (want_reserved(p, functions)) {
        l->code->reserved_shared = VM_SHARED_START - VM_RESERVED_0;
        l->code->shared[l->code->shared_count++] =
            (struct shared_range){.low = VM_RESERVED_0,
                                  .high = VM_SHARED_START,
                                  .name = "shared memory reserved for cooperative groups"};
    }
    for (int dynamic = 0; dynamic <= 1; dynamic++) {
        for (uint32_t s = 0; s < p->symbol_count; s++) {
            const struct ptx_symbol *v = &p->symbols[s];
            if (!used[s] || v->space != PTX_SHARED || (v->bytes == 0) != (dynamic == 1))
                continue;
            uint32_t align = v->align ? v->align : 1;
            if (dynamic && align < 16)
                align = 16;
            at = (at + align - 1) & ~(align - 1);
            l->shared_at[s] = at;
            l->code->shared[l->code->shared_count++] =
                (struct shared_range){.low = at,
                                      .high = at + (uint32_t)v->bytes,
                                      .name = variable_name(l, v->name),
                                      .dynamic = dynamic == 1};
            if (!dynamic)
                at += (uint32_t)v->bytes + 128;
        }
        if (!dynamic)
            l->code->shared_static_end = at;
        else if (l->code->shared_count == 0 || !l->code->shared[l->code->shared_count - 1].dynamic)
            at = (at + 15) & ~15u;
    }
    l->code->shared_dynamic_at = at;
}

uint64_t vm_static_shared(const struct vm_kernel *kernel)
{
    const struct ptx_module *p = &kernel->module->ptx;
    struct arena scratch;
    arena_init(&scratch);
    bool *found = arena_array(&scratch, p->function_count + 1, sizeof *found);
    bool *used = arena_array(&scratch, p->symbol_count + 1, sizeof *used);
    lower_find_wanted(p, kernel->function_index, found);
    want_symbols(p, found, used);
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < p->symbol_count; s++) {
        const struct ptx_symbol *v = &p->symbols[s];
        uint64_t align = v->align ? v->align : 1;
        if (used[s] && v->space == PTX_SHARED)
            bytes = (bytes + align - 1) / align * align + v->bytes;
    }
    arena_release(&scratch);
    return bytes;
}
