/* What the PTX parser tests share: parse a text, look at the first function's instructions. */
#ifndef TESTS_PTX_TEST_H
#define TESTS_PTX_TEST_H

#include "cpu/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEADER ".version 9.0\n.target sm_75\n.address_size 64\n" /* lines 1 to 3 */

struct parsed {
    struct arena arena;
    struct ptx_module module;
    struct err e;
    int result;
};

static inline struct parsed *parse_text(const char *text)
{
    static struct parsed p;
    arena_init(&p.arena);
    p.e.text[0] = '\0';
    p.result = ptx_parse(text, strlen(text), &p.arena, &p.module, &p.e);
    return &p;
}

/* HEADER and `text`; the test fails if it does not parse. */
static inline struct parsed *parse_good(const char *text)
{
    struct arena a;
    arena_init(&a);
    struct parsed *p = parse_text(arena_printf(&a, "%s%s", HEADER, text));
    if (p->result)
        fail_msg("%s", p->e.text);
    arena_release(&a);
    return p;
}

/* A kernel with some registers whose body is `body`; the first line of `body` is line 11. */
static inline struct parsed *parse_body(const char *body)
{
    struct arena a;
    arena_init(&a);
    struct parsed *p = parse_good(arena_printf(&a,
                                               ".global .align 4 .b8 table[64];\n"
                                               ".visible .entry k(.param .u64 in, .param .u32 n)\n"
                                               "{\n"
                                               ".reg .pred %%p<9>; .reg .b16 %%h<9>;\n"
                                               ".reg .b32 %%r<20>; .reg .f32 %%f<9>;\n"
                                               ".reg .b64 %%d<20>;\n"
                                               ".shared .align 8 .b8 tile[256];\n%s\n}\n",
                                               body));
    arena_release(&a);
    return p;
}

static inline void done(struct parsed *p)
{
    arena_release(&p->arena);
}

/* Expects that the text is refused with exactly this message. */
static inline void refuses(const char *text, const char *message)
{
    struct parsed *p = parse_text(text);
    assert_int_equal(p->result, -1);
    assert_string_equal(p->e.text, message);
    done(p);
}

static inline const struct ptx_function *function(const struct parsed *p, const char *name)
{
    int index = ptx_find_function(&p->module, name);
    assert_true(index >= 0);
    return &p->module.functions[index];
}

static inline const struct ptx_instr *instr(const struct parsed *p, unsigned index)
{
    const struct ptx_function *f = function(p, "k");
    assert_true(index < f->instr_count);
    return &f->instrs[index];
}

static inline const char *reg_name(const struct parsed *p, const struct ptx_operand *o)
{
    assert_int_equal(o->kind, PTX_OPERAND_REG);
    return function(p, "k")->regs[o->reg].name;
}

static inline const struct ptx_symbol *symbol(const struct parsed *p, const char *name)
{
    for (uint32_t i = 0; i < p->module.symbol_count; i++) {
        if (strcmp(p->module.symbols[i].name, name) == 0)
            return &p->module.symbols[i];
    }
    fail_msg("no symbol %s", name);
    return NULL;
}

#endif
