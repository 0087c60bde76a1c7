/* Structural errors: what is refused, and the sentence that says so. */
#include "ptx_test.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *text; /* behind HEADER: starts on line 4 */
    const char *message;
} cases[] = {
    {"x", "PTX line 4: 'x' was found; expected a directive"},
    {".entrance k() { ret; }",
     "PTX line 4: '.entrance' was found; expected a directive such as .entry or .global"},
    {".entry k(\n.param .u32 a\n.param .u32 b) { ret; }",
     "PTX line 6: '.' was found; expected ')'"},
    {".entry k(.param .pred p) { ret; }",
     "PTX line 4: '.pred' was found; expected a type that memory can hold"},
    {".entry k(.reg .u32 p) { ret; }", "PTX line 4: '.reg' was found; expected .param"},
    {".entry k() {\nret;\n", "PTX line 6: the text ends; expected a statement or '}'"},
    {".entry k() {\n.loca 1 2 3\n}", "PTX line 5: '.loca' was found in a function body; expected a "
                                     "directive such as .reg or .loc"},
    {".entry k() {\nbra L;\n}",
     "PTX line 5: the label 'L' is not defined; expected one of this function"},
    {".entry k() {\n{ L: ret; }\nbra L;\n}",
     "PTX line 6: the label 'L' is not defined; expected one of this function"},
    {".entry k() {\nL: ret;\nL: ret;\n}",
     "PTX line 6: 'L' is declared twice in one scope; expected a new name"},
    {".entry k() {\n.reg .b32 a;\n.reg .b64 a;\n}",
     "PTX line 6: 'a' is declared twice in one scope; expected a new name"},
    {".entry k() {\n.reg .b32 a, b;\nmov.u32 a, b\nmov.u32 b, a;\n}",
     "PTX line 7: 'mov' was found; expected ',' or ';' behind an operand"},
    {".entry k() {\n.reg .b32 a;\nfoo a\n}", "PTX line 7: '}' was found; expected ';'"},
    {".entry k() {\n@p ret;\n}",
     "PTX line 5: 'p' was found behind '@'; expected a predicate register"},
    {".entry k() {\n.reg .b32 a; @a ret;\n}",
     "PTX line 5: 'a' was found behind '@'; expected a predicate register"},
    {".entry k() {\n.reg .b99 a;\n}",
     "PTX line 5: '.b99' was found; expected the type of a register"},
    {".entry k() { ret; }\n.entry k() { ret; }", "PTX line 5: the function 'k' is defined twice"},
    {".global .align 3 .b8 x[4];", "PTX line 4: alignment 3 was found; expected a power of two"},
    {".global .b8 x[2] = {1, 2, 3};",
     "PTX line 4: there are more initial values than elements; expected '}'"},
    {".global .b8 x[2] = {1, y};", "PTX line 4: 'y' was found; expected a variable or a function"},
    {".global .b8 x[2] = {1, {2}};",
     "PTX line 4: '{' was found; expected a value: the array has fewer dimensions"},
    {".global .b8 x;\n.global .u32 y[1] = {x};\n.global .b16 z = x;",
     "PTX line 6: an address was found; expected a value of 2 bytes"},
    {".global .b8 x;\n.shared .b8 x;", "PTX line 5: 'x' was declared in another space"},
    {".global .b8 x[99999999999999999];",
     "PTX line 4: '99999999999999999' was found; expected an array size up to 1099511627776"},
    {".global .b8 x[1099511627776][2];", "PTX line 4: 'x' is larger than 1099511627776 bytes"},
    {".global .b8 x[1099511627776] = {1};",
     "PTX line 4: the initial values of the module are larger than 1073741824 bytes"},
    {".global .b8 x[2][];", "PTX line 4: an inner dimension of 'x' has no size"},
    {".global .b8 x;\n.global .b8 y[9] = {1, 0xFF(x), 0xFF00(x), 7};",
     "PTX line 5: a masked address was found; expected the eight bytes of one address in order"},
    {".global .b8 x;\n.global .b8 y[2] = {0xFF(x), 0xFF00(x)};",
     "PTX line 5: a masked address was found; expected the eight bytes of one address in order"},
    {".file 1 \"a", "PTX line 4: a string does not end on its line; expected '\"'"},
    {".file 70000 \"a\"", "PTX line 4: '70000' was found; expected a file number up to 65535"},
    {".section .debug_str {\n.b8 1\n", "PTX line 4: the section is not closed; expected '}'"},
    {"/* never closed", NULL},
    {".global .u32 x; /* \n\n */ ?", "PTX line 6: '?' was found; expected a directive"},
    {".global .u32 \x01;", "PTX line 4: byte 0x01 was found; expected a name"},
    {".alias a, b;", "PTX line 4: 'a' was found; expected two functions"},
};

static void each_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", HEADER, cases[i].text);
        struct parsed *p = parse_text(text);
        if (!cases[i].message && p->result)
            fail_msg("%s: %s", cases[i].text, p->e.text);
        if (cases[i].message && (!p->result || strcmp(p->e.text, cases[i].message) != 0))
            fail_msg("%s\n  got: %s\n  expected: %s", cases[i].text, p->e.text, cases[i].message);
        done(p);
    }
}

static void headers(void **state)
{
    (void)state;
    refuses("", "PTX line 1: the text ends; expected .version");
    refuses("\n\nhello", "PTX line 3: 'hello' was found; expected .version");
    refuses(".target sm_75", "PTX line 1: '.target' was found; expected .version");
    refuses(".version x", "PTX line 1: 'x' was found; expected a version such as 9.0");
    refuses(".version 9.0\n.target 75",
            "PTX line 2: '75' was found; expected a target such as sm_75");
}

static void nul_bytes_inside(void **state)
{
    (void)state;
    static const char text[] = HEADER ".global .u32 x;\0.global .u32 y;";
    struct arena arena;
    struct ptx_module module;
    struct err e;
    arena_init(&arena);
    assert_int_equal(ptx_parse(text, sizeof text - 1, &arena, &module, &e), -1);
    assert_string_equal(e.text, "PTX line 4: byte 0x00 was found; expected a directive");
    arena_release(&arena);
}

static void deep_nesting(void **state)
{
    (void)state;
    char text[1024] = HEADER ".entry k() {";
    size_t length = strlen(text);
    memset(text + length, '{', 500);
    refuses(text, "PTX line 4: blocks are nested more than 200 deep");
}

/* Every prefix of a text either parses or is refused with a message: nothing reads past the end. */
static void every_prefix(void **state)
{
    (void)state;
    static const char text[] =
        HEADER ".extern .func (.param .b32 r) f (.param .b64 a);\n"
               ".global .align 8 .u64 t[2] = {generic(t)+8, 0x1F};\n"
               ".visible .entry k(.param .u64 .ptr .align 1 in) .maxntid 32 {\n"
               ".reg .pred %p<3>; .reg .b32 %r<5>; .reg .f32 %f<3>;\n"
               "L: @!%p1 ld.global.v2.u32 {%r1, %r2}, [t+4]; /* c */ mov.f32 %f1, 0f3F800000;\n"
               ".loc 1 2 3, function_name x, inlined_at 1 1 1\n"
               "{ .param .b32 r; .param .b64 a; call.uni (r), f, (a); } .pragma \"x\"; bra L;\n}\n"
               ".file 1 \"a.cu\"\n.section .debug_str { .b8 1 }\n";
    for (size_t length = 0; length < sizeof text; length++) {
        char *exact = malloc(length ? length : 1); /* so that a sanitizer sees a read behind it */
        assert_non_null(exact);
        memcpy(exact, text, length);
        struct arena arena;
        struct ptx_module module;
        struct err e = {""};
        arena_init(&arena);
        int result = ptx_parse(exact, length, &arena, &module, &e);
        if (result)
            assert_memory_equal(e.text, "PTX line ", 9);
        if (length == sizeof text - 1)
            assert_string_equal(e.text, "");
        arena_release(&arena);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message),     cmocka_unit_test(headers),
        cmocka_unit_test(nul_bytes_inside), cmocka_unit_test(deep_nesting),
        cmocka_unit_test(every_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
