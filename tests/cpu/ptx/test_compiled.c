/* What nvcc 13 printed for three small programs of ours, one per target generation (data/). */
#include "ptx_test.h"

#include "base/file.h"

static struct parsed *parse_file(const char *name)
{
    struct text text;
    struct err e;
    struct arena a;
    arena_init(&a);
    text_init(&text);
    if (file_read(arena_printf(&a, "%s/data/%s", TEST_FOLDER, name), 1 << 20, &text, &e))
        fail_msg("%s", e.text);
    struct parsed *p = parse_text(text_str(&text));
    if (p->result)
        fail_msg("%s: %s", name, p->e.text);
    for (uint32_t i = 0; i < p->module.function_count; i++) {
        const struct ptx_function *f = &p->module.functions[i];
        for (uint32_t j = 0; j < f->instr_count; j++) {
            if (f->instrs[j].op == PTX_OP_unknown)
                fail_msg("%s:%u: unknown: %s", name, f->instrs[j].ptx_line, f->instrs[j].text);
        }
    }
    text_release(&text);
    arena_release(&a);
    return p;
}

static void a_block_scan(void **state)
{
    (void)state;
    struct parsed *p = parse_file("scan_75.ptx");
    const struct ptx_function *f = function(p, "_Z10block_scanPKiPii");
    unsigned shuffles = 0;
    assert_int_equal(p->module.target, 75);
    assert_int_equal(f->param_bytes, 20);
    assert_int_equal(f->shared_bytes, 32);
    for (uint32_t i = 0; i < f->instr_count; i++) {
        if (f->instrs[i].op != PTX_OP_shfl)
            continue;
        shuffles++;
        /* Line 4 of the helper, inlined at line 14 of the kernel. */
        const struct ptx_loc *loc = &p->module.locs[f->instrs[i].loc];
        assert_string_equal(file_base_name(p->module.files[p->module.locs[loc->inlined_at].file]),
                            "scan.cu");
        while (loc->inlined_at >= 0)
            loc = &p->module.locs[loc->inlined_at];
        assert_int_equal(loc->line, 14);
    }
    assert_int_equal(shuffles, 5);
    done(p);
}

static void inline_assembly(void **state)
{
    (void)state;
    struct parsed *p = parse_file("inline_asm_100.ptx");
    const struct ptx_function *f = function(p, "_Z10inline_asmPii");
    assert_int_equal(p->module.target, 100);
    unsigned own = 0;
    for (uint32_t i = 0; i < f->reg_count; i++)
        own += strcmp(f->regs[i].name, "p") == 0;
    assert_int_equal(own, 2); /* each scope has a p of its own */
    done(p);
}

static void calls_and_pointers(void **state)
{
    (void)state;
    struct parsed *p = parse_file("calls_90.ptx");
    const struct ptx_symbol *inside = symbol(p, "inside"), *steps = symbol(p, "steps");
    assert_int_equal(inside->reloc_count, 1);
    assert_int_equal(inside->relocs[0].symbol, ptx_find_symbol(&p->module, "table"));
    assert_int_equal(inside->relocs[0].addend, 8);
    assert_int_equal(steps->reloc_count, 2);
    assert_int_equal(steps->relocs[1].function, ptx_find_function(&p->module, "_Z3twoi"));
    const struct ptx_function *f = function(p, "_Z5callsPii");
    unsigned direct = 0, indirect = 0;
    for (uint32_t i = 0; i < f->instr_count; i++) {
        if (f->instrs[i].op != PTX_OP_call)
            continue;
        direct += f->instrs[i].operand_count == 3;
        indirect += f->instrs[i].operand_count == 4;
    }
    assert_int_equal(direct, 1);
    assert_int_equal(indirect, 1);
    done(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_scan),
        cmocka_unit_test(inline_assembly),
        cmocka_unit_test(calls_and_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
