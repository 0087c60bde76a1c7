/* Operands, registers, labels, nested scopes, calls. */
#include "ptx_test.h"

static void operand_shapes(void **state)
{
    (void)state;
    struct parsed *p = parse_body("mov.u32 %r1, %tid.x;\n"               /* 0 */
                                  "mov.u32 %r1, -5;\n"                   /* 1 */
                                  "mov.u32 %r1, 0xFFFFFFFFU;\n"          /* 2 */
                                  "mov.f32 %f1, 0fBF800000;\n"           /* 3 */
                                  "mov.f64 %d1, 0d3FF0000000000000;\n"   /* 4 */
                                  "mov.u64 %d1, table+8;\n"              /* 5 */
                                  "ld.global.u32 %r1, [%d1+-12];\n"      /* 6 */
                                  "ld.shared.u32 %r1, [tile+16];\n"      /* 7 */
                                  "ld.global.u32 %r1, [4096];\n"         /* 8 */
                                  "mov.b64 {%r1, _}, %d1;\n"             /* 9 */
                                  "setp.eq.s32 _|%p1, %r1, WARP_SZ;\n"   /* 10 */
                                  "mov.f32 %f1, 1.5;\n"                  /* 11 */
                                  "mov.u32 %r1, 0b101;\n"                /* 12 */
                                  "mov.u32 %r1, 017;\n"                  /* 13 */
                                  "mov.b32 %r1, %envreg2;\n"             /* 14 */
                                  "mov.u64 %d1, k;\n"                    /* 15 */
                                  "ld.global.u32 %r1, [%d1 - 4];\n"      /* 16 */
                                  "mov.f32 %f1, -1e3;\n"                 /* 17 */
                                  "mov.u64 %d1, 18446744073709551615;"); /* 18 */
    const struct ptx_operand *o = &instr(p, 0)->operands[1];
    assert_int_equal(o->kind, PTX_OPERAND_SREG);
    assert_int_equal(o->imm, PTX_SREG_tid_x);
    o = &instr(p, 1)->operands[1];
    assert_int_equal(o->kind, PTX_OPERAND_IMM);
    assert_int_equal(o->imm, -5);
    assert_int_equal(o->imm_type, PTX_S64);
    o = &instr(p, 2)->operands[1];
    assert_int_equal(o->imm, 0xffffffff);
    assert_int_equal(o->imm_type, PTX_U64);
    o = &instr(p, 3)->operands[1];
    assert_int_equal(o->imm, 0xbf800000);
    assert_int_equal(o->imm_type, PTX_F32);
    o = &instr(p, 4)->operands[1];
    assert_int_equal(o->imm, 0x3ff0000000000000);
    assert_int_equal(o->imm_type, PTX_F64);
    o = &instr(p, 5)->operands[1];
    assert_int_equal(o->kind, PTX_OPERAND_SYMBOL);
    assert_string_equal(p->module.symbols[o->symbol].name, "table");
    assert_int_equal(o->imm, 8);
    o = &instr(p, 6)->operands[1];
    assert_int_equal(o->kind, PTX_OPERAND_ADDR);
    assert_true(o->reg >= 0 && o->symbol == -1);
    assert_int_equal(o->imm, -12);
    o = &instr(p, 7)->operands[1];
    assert_true(o->reg == -1 && o->symbol >= 0);
    assert_int_equal(o->imm, 16);
    o = &instr(p, 8)->operands[1];
    assert_true(o->reg == -1 && o->symbol == -1 && o->imm == 4096);
    o = &instr(p, 9)->operands[0];
    assert_int_equal(o->kind, PTX_OPERAND_VEC);
    assert_int_equal(o->element_count, 2);
    assert_string_equal(reg_name(p, &o->elements[0]), "%r1");
    assert_int_equal(o->elements[1].kind, PTX_OPERAND_SINK);
    o = &instr(p, 10)->operands[0];
    assert_string_equal(reg_name(p, o), "_");
    assert_int_equal(function(p, "k")->regs[o->reg].type, PTX_PRED);
    assert_string_equal(function(p, "k")->regs[o->reg2].name, "%p1");
    assert_int_equal(instr(p, 10)->operands[2].imm, 32);
    double value = 1.5;
    assert_memory_equal(&instr(p, 11)->operands[1].imm, &value, sizeof value);
    assert_int_equal(instr(p, 11)->operands[1].imm_type, PTX_F64);
    assert_int_equal(instr(p, 12)->operands[1].imm, 5);
    assert_int_equal(instr(p, 13)->operands[1].imm, 15);
    assert_int_equal(instr(p, 14)->operands[1].imm, PTX_SREG_envreg2);
    assert_int_equal(instr(p, 15)->operands[1].kind, PTX_OPERAND_FUNC);
    assert_int_equal(instr(p, 16)->operands[1].imm, -4);
    value = -1000;
    assert_memory_equal(&instr(p, 17)->operands[1].imm, &value, sizeof value);
    assert_int_equal(instr(p, 18)->operands[1].imm, -1);
    assert_int_equal(instr(p, 18)->operands[1].imm_type, PTX_U64);
    done(p);
}

static void cache_policies_are_dropped(void **state)
{
    (void)state;
    struct parsed *p = parse_body("ld.global.L2::cache_hint.u32 %r1, [%d1], %d2;\n"
                                  "st.global.L2::cache_hint.u32 [%d1], %r1, %d2;");
    assert_int_equal(instr(p, 0)->operand_count, 2);
    assert_int_equal(instr(p, 1)->operand_count, 2);
    done(p);
}

static void registers_are_numbered_by_use(void **state)
{
    (void)state;
    struct parsed *p = parse_good(".entry k() {\n"
                                  ".reg .b32 %r<4000000000>, x, y;\n"
                                  ".reg .b64 %r1<10>;\n" /* %r10 .. %r19 again: in one scope */
                                  "mov.u32 %r7, %r123456;\nmov.u32 x, %r7;\nret;\n}\n");
    const struct ptx_function *f = function(p, "k");
    assert_int_equal(f->reg_count, 4); /* x and y have their own, %r7, %r123456 */
    assert_string_equal(reg_name(p, &instr(p, 0)->operands[1]), "%r123456");
    assert_int_equal(instr(p, 0)->operands[0].reg, instr(p, 1)->operands[1].reg);
    done(p);
    p = parse_body("mov.u32 %r20, %r1;\nmov.u32 %r01, %r1;"); /* %r<20> ends at %r19 */
    assert_int_equal(instr(p, 0)->op, PTX_OP_unknown);
    assert_int_equal(instr(p, 1)->op, PTX_OP_unknown);
    done(p);
}

/* Inline assembly: scopes with their own registers and labels, as nvcc prints them. */
static void scopes_shadow(void **state)
{
    (void)state;
    struct parsed *p = parse_body("mov.u32 %r1, 1;\n"
                                  "{ .reg .pred %p1; .reg .b32 t; mov.u32 t, 2;\n"
                                  "@%p1 bra L1; bra L2; L1: mov.u32 %r2, t; L2:\n}\n"
                                  "{ .reg .b64 t; mov.u64 t, 3;\n"
                                  "L1: @%p1 bra L1;\n}\n"
                                  "{ .reg .b32 %r<2>; mov.u32 %r1, %r5; }\n"
                                  "mov.u32 %r1, 4;\n"
                                  "mov.u32 %r9, t;");
    const struct ptx_function *f = function(p, "k");
    assert_string_equal(reg_name(p, &instr(p, 1)->operands[0]), "t");
    assert_int_equal(f->regs[instr(p, 1)->operands[0].reg].type, PTX_B32);
    assert_int_equal(instr(p, 2)->operands[0].imm, 4); /* L1 of the first scope */
    assert_int_equal(instr(p, 3)->operands[0].imm, 5); /* L2: the first one behind the scope */
    assert_int_equal(f->regs[instr(p, 5)->operands[0].reg].type, PTX_B64);
    assert_int_equal(instr(p, 6)->operands[0].imm, 6); /* L1 of the second scope */
    assert_int_not_equal(instr(p, 2)->guard, instr(p, 6)->guard);
    assert_int_equal(instr(p, 0)->operands[0].reg, instr(p, 8)->operands[0].reg);
    assert_int_not_equal(instr(p, 7)->operands[0].reg, instr(p, 8)->operands[0].reg);
    assert_int_equal(instr(p, 9)->op, PTX_OP_unknown); /* t is gone */
    done(p);
}

/* An inner scope may use a label and a register of the outer one before they are defined. */
static void inner_scopes_see_outer_names(void **state)
{
    (void)state;
    struct parsed *p = parse_body("{ mov.u32 %r3, 1; bra out; }\n"
                                  "mov.u32 %r3, 2;\n"
                                  "out: ret;");
    assert_int_equal(instr(p, 1)->operands[0].imm, 3);
    assert_int_equal(instr(p, 0)->operands[0].reg, instr(p, 2)->operands[0].reg);
    done(p);
}

/* An inner label hides an outer one even for a branch that stands before it. */
static void inner_labels_hide_outer_ones(void **state)
{
    (void)state;
    struct parsed *p = parse_body("L: mov.u32 %r1, 1;\n{ bra L; mov.u32 %r1, 2; L: ret; }\nbra L;");
    assert_int_equal(instr(p, 1)->operands[0].imm, 3);
    assert_int_equal(instr(p, 4)->operands[0].imm, 0);
    done(p);
}

static void labels_at_the_end_are_in_range(void **state)
{
    (void)state;
    struct parsed *p = parse_body("@%p1 bra END;\nret;\nEND:");
    assert_int_equal(instr(p, 0)->operands[0].imm, 2);
    assert_int_equal(instr(p, 2)->op, PTX_OP_ret);
    assert_int_equal(function(p, "k")->instr_count, 3);
    done(p);
    p = parse_body("mov.u32 %r1, 1;");
    assert_int_equal(instr(p, 1)->op, PTX_OP_ret);
    done(p);
    p = parse_body("");
    assert_int_equal(function(p, "k")->instr_count, 1);
    done(p);
}

static void guards(void **state)
{
    (void)state;
    struct parsed *p = parse_body("@%p1 bra L; @!%p2 ret; L: exit;");
    assert_string_equal(function(p, "k")->regs[instr(p, 0)->guard].name, "%p1");
    assert_false(instr(p, 0)->guard_negated);
    assert_true(instr(p, 1)->guard_negated);
    assert_int_equal(instr(p, 2)->guard, -1);
    done(p);
}

static void indexed_branches(void **state)
{
    (void)state;
    struct parsed *p = parse_body("ts: .branchtargets A, B, A;\nbrx.idx.uni %r1, ts;\n"
                                  "A: ret;\nB: exit;");
    const struct ptx_instr *i = instr(p, 0);
    assert_int_equal(i->op, PTX_OP_brx);
    assert_int_equal(i->operands[1].element_count, 3);
    assert_int_equal(i->operands[1].elements[0].imm, 1);
    assert_int_equal(i->operands[1].elements[1].imm, 2);
    assert_int_equal(i->operands[1].elements[2].kind, PTX_OPERAND_LABEL);
    done(p);
}

static void calls(void **state)
{
    (void)state;
    struct parsed *p = parse_good(
        ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 b[12]);\n"
        ".extern .func g () .noreturn;\n"
        ".entry k() {\n.reg .b32 %r<3>; .reg .b64 %d<3>;\n"
        "{ // callseq 0, 0\n.param .b32 p0;\n.param .align 8 .b8 p1[12];\n.param .b32 ret0;\n"
        "call.uni (ret0), f, (p0, p1);\n} // callseq 0\n"
        "call g;\n"
        "proto: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b64 _);\n"
        "{ .param .b32 q0; .param .b64 q1; .param .b64 out;\n"
        "call (out), %d1, (q0, q1), proto;\n call (out), %d1, (q0, 5), proto; }\n"
        "ret;\n}\n"
        ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 b[12]) { ret; }\n");
    const struct ptx_instr *i = instr(p, 0);
    assert_int_equal(i->operand_count, 3);
    assert_true(i->flags & PTX_F_UNI);
    assert_int_equal(i->operands[0].element_count, 1);
    assert_int_equal(i->operands[1].kind, PTX_OPERAND_FUNC);
    assert_ptr_equal(&p->module.functions[i->operands[1].imm], function(p, "f"));
    assert_int_equal(i->operands[2].element_count, 2);
    const struct ptx_symbol *p1 = &p->module.symbols[i->operands[2].elements[1].symbol];
    assert_string_equal(p1->name, "p1");
    assert_true(p1->is_call_param);
    assert_int_equal(p1->offset, 8);
    assert_int_equal(p1->bytes, 12);
    assert_int_equal(instr(p, 1)->operands[0].element_count, 0);
    assert_int_equal(instr(p, 1)->operands[2].element_count, 0);
    assert_true(function(p, "g")->is_noreturn);
    assert_true(function(p, "g")->is_declaration);
    i = instr(p, 2);
    assert_int_equal(i->operand_count, 4);
    assert_int_equal(i->operands[1].kind, PTX_OPERAND_REG);
    const struct ptx_function *prototype = &p->module.functions[i->operands[3].imm];
    assert_string_equal(prototype->name, "proto");
    assert_true(prototype->is_declaration);
    assert_int_equal(prototype->param_count, 2);
    assert_int_equal(p->module.symbols[prototype->params[1]].offset, 8);
    assert_int_equal(prototype->result_count, 1);
    assert_int_equal(instr(p, 3)->operands[2].elements[1].kind, PTX_OPERAND_IMM);
    const struct ptx_function *f = function(p, "f");
    assert_false(f->is_declaration);
    assert_int_equal(f->instr_count, 1);
    assert_int_equal(f->param_count, 2);
    assert_int_equal(p->module.symbols[f->results[0]].offset, 20);
    assert_int_equal(f->param_bytes, 24);
    assert_true(function(p, "k")->call_param_bytes >= 20);
    done(p);
}

static void pragmas(void **state)
{
    (void)state;
    struct parsed *p = parse_body(".pragma \"nounroll\";\nmov.u32 %r1, 1;\n"
                                  ".pragma \"used_bytes_mask 0xfff\";\n.loc 1 2 3\n"
                                  "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d1];\nmov.u32 %r1, 1;");
    assert_int_equal(instr(p, 0)->used_bytes, ~0u);
    assert_int_equal(instr(p, 1)->used_bytes, 0xfff);
    assert_int_equal(instr(p, 2)->used_bytes, ~0u);
    done(p);
}

static void vector_registers_are_unknown_where_used(void **state)
{
    (void)state;
    struct parsed *p = parse_body(".reg .v4 .f32 v;\nmov.v4.f32 v, {%f1,%f2,%f3,%f4};\nret;");
    assert_int_equal(instr(p, 0)->op, PTX_OP_unknown);
    assert_int_equal(instr(p, 1)->op, PTX_OP_ret);
    done(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operand_shapes),
        cmocka_unit_test(cache_policies_are_dropped),
        cmocka_unit_test(registers_are_numbered_by_use),
        cmocka_unit_test(scopes_shadow),
        cmocka_unit_test(inner_scopes_see_outer_names),
        cmocka_unit_test(inner_labels_hide_outer_ones),
        cmocka_unit_test(labels_at_the_end_are_in_range),
        cmocka_unit_test(guards),
        cmocka_unit_test(indexed_branches),
        cmocka_unit_test(calls),
        cmocka_unit_test(pragmas),
        cmocka_unit_test(vector_registers_are_unknown_where_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
