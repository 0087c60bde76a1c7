/* Directives of the top level: versions, variables and their values, signatures, source lines. */
#include "ptx_test.h"

static void version_and_target(void **state)
{
    (void)state;
    struct parsed *p = parse_text("// comment\n/* two\nlines */ .version 8.10\n"
                                  ".target sm_90a, debug\n.address_size 64\n");
    assert_int_equal(p->result, 0);
    assert_int_equal(p->module.version_major, 8);
    assert_int_equal(p->module.version_minor, 10);
    assert_int_equal(p->module.target, 90);
    assert_int_equal(p->module.address_size, 64);
    done(p);
}

static void trailing_nuls_are_ignored(void **state)
{
    (void)state;
    static const char text[] = HEADER ".global .u32 x;\n\0\0\0";
    struct arena arena;
    struct ptx_module module;
    struct err e;
    arena_init(&arena);
    assert_int_equal(ptx_parse(text, sizeof text, &arena, &module, &e), 0);
    assert_int_equal(module.symbol_count, 1);
    arena_release(&arena);
}

static void parameter_layout(void **state)
{
    (void)state;
    struct parsed *p = parse_good(
        ".visible .entry k(\n\t.param .u8 a,\n\t.param .u64 .ptr .global .align 16 b,\n"
        "\t.param .align 4 .b8 c[6],\n\t.param .u16 d\n)\n"
        ".maxntid 256, 2\n.reqntid 32\n.minnctapersm 3\n.maxnreg 64\n.reqnctapercluster 2, 1, 1\n"
        "{ ret; }\n");
    const struct ptx_function *f = function(p, "k");
    static const uint64_t offsets[] = {0, 8, 16, 22};
    assert_true(f->is_entry);
    assert_int_equal(f->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(f->param_count, 4);
    for (int i = 0; i < 4; i++) {
        const struct ptx_symbol *s = &p->module.symbols[f->params[i]];
        assert_int_equal(s->offset, offsets[i]);
        assert_int_equal(s->space, PTX_PARAM);
        assert_false(s->is_call_param);
        assert_int_equal(s->function, ptx_find_function(&p->module, "k"));
    }
    assert_int_equal(p->module.symbols[f->params[1]].align, 8);
    assert_int_equal(f->param_bytes, 24);
    assert_int_equal(f->maxntid[0], 256);
    assert_int_equal(f->maxntid[1], 2);
    assert_int_equal(f->maxntid[2], 1);
    assert_int_equal(f->reqntid[0], 32);
    assert_int_equal(f->minnctapersm, 3);
    assert_int_equal(f->ptx_line, 4);
    done(p);
}

static void block_layout(void **state)
{
    (void)state;
    struct parsed *p = parse_good(".extern .shared .align 16 .b8 dynamic[];\n"
                                  ".shared .align 8 .b8 common[20];\n.shared .u64 word;\n"
                                  ".entry k() {\n.shared .b8 a[3]; .shared .align 16 .b8 b[8];\n"
                                  ".local .align 4 .b8 depot[28]; .local .u64 x, y;\n ret; }\n");
    const struct ptx_function *f = function(p, "k");
    assert_int_equal(symbol(p, "dynamic")->bytes, 0);
    assert_int_equal(symbol(p, "dynamic")->linkage, PTX_LINK_EXTERN);
    assert_int_equal(symbol(p, "dynamic")->function, -1);
    assert_int_equal(symbol(p, "word")->offset, 24);
    assert_int_equal(symbol(p, "b")->offset, 16);
    assert_int_equal(symbol(p, "y")->offset, 40);
    assert_int_equal(f->shared_bytes, 24);
    assert_int_equal(f->local_bytes, 48);
    assert_int_equal(ptx_find_symbol(&p->module, "a"), -1); /* not of the module */
    assert_true(ptx_find_symbol(&p->module, "word") >= 0);
    done(p);
}

static void initial_values(void **state)
{
    (void)state;
    struct parsed *p = parse_good(".global .align 4 .b8 bytes[6] = {1, 0xff, 3};\n"
                                  ".global .u32 matrix[2][3] = {{1}, {4, 5, 6}};\n"
                                  ".const .f32 floats[4] = {0f3F800000, 1.5, 2, -0.5};\n"
                                  ".global .f64 d = 0.25;\n"
                                  ".global .u16 open[] = {1, 2, 3};\n"
                                  ".global .s64 minus = -1;\n"
                                  ".global .v2 .u32 pair = {7, 8};\n"
                                  ".visible .global .attribute(.managed) .align 8 .u32 managed;\n");
    static const uint8_t bytes[6] = {1, 0xff, 3};
    static const uint32_t matrix[6] = {1, 0, 0, 4, 5, 6};
    static const float floats[4] = {1, 1.5f, 2, -0.5f};
    static const double d = 0.25;
    static const uint16_t open[3] = {1, 2, 3};
    static const int64_t minus = -1;
    static const uint32_t pair[2] = {7, 8};
    assert_memory_equal(symbol(p, "bytes")->init, bytes, sizeof bytes);
    assert_int_equal(symbol(p, "matrix")->bytes, 24);
    assert_memory_equal(symbol(p, "matrix")->init, matrix, sizeof matrix);
    assert_memory_equal(symbol(p, "floats")->init, floats, sizeof floats);
    assert_int_equal(symbol(p, "floats")->space, PTX_CONST);
    assert_memory_equal(symbol(p, "d")->init, &d, sizeof d);
    assert_int_equal(symbol(p, "open")->bytes, 6);
    assert_memory_equal(symbol(p, "open")->init, open, sizeof open);
    assert_memory_equal(symbol(p, "minus")->init, &minus, sizeof minus);
    assert_memory_equal(symbol(p, "pair")->init, pair, sizeof pair);
    assert_null(symbol(p, "managed")->init);
    done(p);
}

static void addresses_as_initial_values(void **state)
{
    (void)state;
    struct parsed *p = parse_good(
        ".func f();\n.global .align 1 .b8 s[3] = {104, 105};\n"
        ".global .align 8 .u64 list[4] = {generic(s)+8, s, f, generic(s+2)};\n"
        ".global .u64 one = generic(s);\n"
        ".global .align 1 .b8 packed[10] = {9, 0xFF(s), 0xFF00(s), 0xFF0000(s), 0xFF000000(s), "
        "0xFF00000000(s), 0xFF0000000000(s), 0xFF000000000000(s), 0xFF00000000000000(s), 7};\n");
    const struct ptx_symbol *list = symbol(p, "list");
    int s = ptx_find_symbol(&p->module, "s");
    assert_int_equal(list->reloc_count, 4);
    assert_int_equal(list->relocs[0].symbol, s);
    assert_int_equal(list->relocs[0].addend, 8);
    assert_true(list->relocs[0].generic);
    assert_int_equal(list->relocs[0].bytes, 8);
    assert_int_equal(list->relocs[1].offset, 8);
    assert_false(list->relocs[1].generic);
    assert_int_equal(list->relocs[2].symbol, -1);
    assert_int_equal(list->relocs[2].function, ptx_find_function(&p->module, "f"));
    assert_int_equal(list->relocs[3].addend, 2);
    assert_int_equal(symbol(p, "one")->reloc_count, 1);
    const struct ptx_symbol *packed = symbol(p, "packed");
    assert_int_equal(packed->reloc_count, 1);
    assert_int_equal(packed->relocs[0].offset, 1);
    assert_int_equal(packed->init[0], 9);
    assert_int_equal(packed->init[9], 7);
    done(p);
}

static void extern_declarations_merge(void **state)
{
    (void)state;
    struct parsed *p = parse_good(".extern .global .u32 x;\n.extern .global .u32 x;\n"
                                  ".visible .global .u32 x = 5;\n.extern .global .u32 x;\n");
    assert_int_equal(p->module.symbol_count, 1);
    assert_int_equal(symbol(p, "x")->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(symbol(p, "x")->init[0], 5);
    done(p);
}

static void aliases(void **state)
{
    (void)state;
    struct parsed *p = parse_good(".func a(.param .b32 x);\n.func b(.param .b32 x) { exit; }\n"
                                  ".alias a, b;\n");
    assert_false(function(p, "a")->is_declaration);
    assert_int_equal(function(p, "a")->instr_count, 1);
    assert_string_equal(function(p, "a")->name, "a");
    done(p);
}

static const struct ptx_loc *loc_of(const struct parsed *p, unsigned index)
{
    return &p->module.locs[instr(p, index)->loc];
}

static void source_lines(void **state)
{
    (void)state;
    struct parsed *p = parse_good(
        ".entry k() {\n.reg .b32 %r<9>;\nmov.u32 %r0, 0;\n"
        ".loc 1 10 3\nmov.u32 %r1, 1;\n"
        ".loc 2 20 1, function_name $L__info_string0, inlined_at 1 10 3\nmov.u32 %r2, 2;\n"
        ".loc 3 30 1, function_name $L__info_string1+4, inlined_at 2 20 1\nmov.u32 %r3, 3;\n"
        ".loc 1 11 3\n.loc 2 20 1, function_name $L__info_string0, inlined_at 1 11 3\n"
        ".loc 3 30 1, function_name $L__info_string1, inlined_at 2 20 1\nmov.u32 %r4, 4;\n"
        ".loc 3 31 1, function_name $L__info_string1, inlined_at 9 9 9\nmov.u32 %r5, 5;\n"
        "ret;\n}\n"
        "\t.file\t2 \"b.cuh\", 12345, 678\n\t.file\t1 \"/tmp/a.cu\"\n"
        "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 95\n.b8 90\n\t}\n");
    assert_int_equal(instr(p, 0)->loc, 0);
    assert_int_equal(p->module.locs[0].file, 0);
    assert_string_equal(p->module.files[0], "");
    assert_string_equal(p->module.files[loc_of(p, 1)->file], "/tmp/a.cu");
    assert_int_equal(loc_of(p, 1)->line, 10);
    assert_int_equal(loc_of(p, 1)->column, 3);
    assert_int_equal(loc_of(p, 1)->inlined_at, -1);
    assert_string_equal(p->module.files[loc_of(p, 2)->file], "b.cuh");
    assert_int_equal(loc_of(p, 2)->inlined_at, (int)instr(p, 1)->loc);
    assert_int_equal(loc_of(p, 3)->file, 0); /* .file 3 is missing */
    assert_int_equal(loc_of(p, 3)->inlined_at, (int)instr(p, 2)->loc);
    /* The second chain goes through line 11. */
    const struct ptx_loc *outer = &p->module.locs[loc_of(p, 4)->inlined_at];
    assert_int_equal(outer->line, 20);
    assert_int_equal(p->module.locs[outer->inlined_at].line, 11);
    /* A call site that no .loc has named is made. */
    outer = &p->module.locs[loc_of(p, 5)->inlined_at];
    assert_int_equal(outer->line, 9);
    assert_int_equal(outer->inlined_at, -1);
    done(p);
}

/* A chain that names itself must neither loop nor grow with every repetition. */
static void recursive_inlining_ends(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    char *text = arena_alloc(&a, 1 << 20), *at = text;
    at += sprintf(at, ".entry k() {\n.loc 1 5 1\n");
    for (int i = 0; i < 5000; i++)
        at += sprintf(at, ".loc 1 5 1, function_name f, inlined_at 1 5 1\n"
                          ".loc 1 6 1, function_name f, inlined_at 1 7 1\n"
                          ".loc 1 7 1, function_name f, inlined_at 1 6 1\n");
    sprintf(at, "ret;\n}\n");
    struct parsed *p = parse_good(text);
    assert_true(p->module.loc_count < 1000);
    for (uint32_t i = 0; i < p->module.loc_count; i++)
        assert_true(p->module.locs[i].inlined_at < (int)i);
    done(p);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_and_target),
        cmocka_unit_test(trailing_nuls_are_ignored),
        cmocka_unit_test(parameter_layout),
        cmocka_unit_test(block_layout),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(addresses_as_initial_values),
        cmocka_unit_test(extern_declarations_merge),
        cmocka_unit_test(aliases),
        cmocka_unit_test(source_lines),
        cmocka_unit_test(recursive_inlining_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
