/* Any bytes into ptx_parse(). What it accepts is checked against the invariants that ptx.h states,
 * because cpu/vm indexes its tables by them without looking again. */
#include "cpu/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

struct checked { /* what operands may point at */
    const struct ptx_module *m;
    const struct ptx_function *f;
};

static void check_operand(const struct checked *c, const struct ptx_operand *o, bool nested)
{
    must(o->reg >= -1 && o->reg < (int64_t)c->f->reg_count);
    must(o->reg2 >= -1 && o->reg2 < (int64_t)c->f->reg_count);
    must(o->symbol >= -1 && o->symbol < (int64_t)c->m->symbol_count);
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REG:
        must(o->reg >= 0);
        break;
    case PTX_OPERAND_SREG:
        must(o->imm >= 0 && o->imm < PTX_SREG_COUNT);
        break;
    case PTX_OPERAND_LABEL:
        must(o->imm >= 0 && o->imm < c->f->instr_count);
        break;
    case PTX_OPERAND_FUNC:
        must(o->imm >= 0 && o->imm < c->m->function_count);
        break;
    case PTX_OPERAND_VEC:
        must(!nested);
        for (uint32_t i = 0; i < o->element_count; i++)
            check_operand(c, &o->elements[i], true);
        break;
    case PTX_OPERAND_SYMBOL: /* symbol -1: the prototype of an indirect call */
        must(o->symbol >= 0 || (o->imm >= 0 && o->imm < c->m->function_count));
        break;
    case PTX_OPERAND_IMM:
    case PTX_OPERAND_ADDR:
    case PTX_OPERAND_SINK:
        break;
    }
}

static void check_function(const struct ptx_module *m, const struct ptx_function *f)
{
    static const struct {
        unsigned least, most;
    } arity[] = {
#define OP(name, least, most, who, meaning) {least, most},
#include "cpu/ptx/ops.def"
#undef OP
    };
    struct checked c = {m, f};
    must(f->name != NULL && (f->is_declaration || f->instr_count > 0));
    for (uint32_t i = 0; i < f->param_count; i++)
        must(f->params[i] >= 0 && (uint32_t)f->params[i] < m->symbol_count);
    for (uint32_t i = 0; i < f->result_count; i++)
        must(f->results[i] >= 0 && (uint32_t)f->results[i] < m->symbol_count);
    for (uint32_t i = 0; i < f->reg_count; i++)
        must(f->regs[i].name != NULL && f->regs[i].type != PTX_NONE);
    for (uint32_t i = 0; i < f->instr_count; i++) {
        const struct ptx_instr *in = &f->instrs[i];
        must(in->op < PTX_OP_COUNT && in->loc < m->loc_count && in->text != NULL);
        must(in->guard < (int64_t)f->reg_count && in->type < PTX_TYPE_COUNT);
        must(in->guard < 0 || f->regs[in->guard].type == PTX_PRED);
        if (in->op != PTX_OP_unknown)
            must(in->operand_count >= arity[in->op].least &&
                 in->operand_count <= arity[in->op].most);
        for (uint32_t j = 0; j < in->operand_count; j++)
            check_operand(&c, &in->operands[j], false);
    }
    if (!f->is_declaration) {
        uint16_t last = f->instrs[f->instr_count - 1].op;
        must(last == PTX_OP_ret || last == PTX_OP_exit || last == PTX_OP_bra || last == PTX_OP_brx);
    }
}

static void check_symbol(const struct ptx_module *m, const struct ptx_symbol *s)
{
    must(s->name != NULL && s->align > 0 && (s->align & (s->align - 1)) == 0);
    must(s->function < (int64_t)m->function_count);
    for (uint32_t i = 0; i < s->reloc_count; i++) {
        const struct ptx_reloc *r = &s->relocs[i];
        must(r->bytes == 4 || r->bytes == 8);
        must(r->offset + r->bytes <= s->bytes);
        must((r->symbol >= 0) != (r->function >= 0));
        must(r->symbol < (int64_t)m->symbol_count && r->function < (int64_t)m->function_count);
    }
    if (s->init && s->bytes > 0)
        must(s->init[0] + s->init[s->bytes - 1] >= 0); /* readable to its end */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct ptx_module m;
    struct err e = {""};
    arena_init(&arena);
    if (ptx_parse((const char *)data, size, &arena, &m, &e) == 0) {
        for (uint32_t i = 0; i < m.function_count; i++)
            check_function(&m, &m.functions[i]);
        for (uint32_t i = 0; i < m.symbol_count; i++)
            check_symbol(&m, &m.symbols[i]);
        for (uint32_t i = 0; i < m.loc_count; i++)
            must(m.locs[i].file < m.file_count && m.locs[i].inlined_at < (int64_t)i);
    } else {
        must(strncmp(e.text, "PTX line ", 9) == 0);
    }
    arena_release(&arena);
    return 0;
}
