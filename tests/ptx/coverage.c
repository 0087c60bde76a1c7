/* ptx_coverage FORMS...: every form of the instruction lists, one line each: does it work, or what
 * does the device say instead? With --api also every name of libcudart.
 *
 *   add.s16                  works, tested
 *   tex.1d.v4.f32.s32        refuses: textures are not there: ...
 *
 * A form works if it parses and the machine has code for it; `tested`: a file of cases/ (--cases)
 * has an instruction of exactly this spelling. The output is committed as coverage.txt, and a test
 * compares the two, so that the list cannot go stale. */
#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "cpu/ptx/ptx.h"
#include "cpu/vm/engine.h"
#include "cpu/vm/refuse.h"
#include "cpu/vm/vm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS_MAX = 8192, LINE_BYTES = 512, FILE_BYTES_MAX = 16 << 20 };

struct form {
    char opcode[160];
    const char *statement; /* NULL: only seen in a case */
};

struct list {
    struct arena arena;
    struct form forms[FORMS_MAX];
    size_t count;
    struct form tested[FORMS_MAX];
    size_t tested_count;
};

static const char KERNEL[] =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
    ".global .align 128 .b8 global[4096];\n"
    ".visible .entry k(.param .b64 param, .param .b64 other)\n{\n"
    ".reg .pred %%p<40>; .reg .b16 %%h<40>; .reg .b32 %%r<64>; .reg .b64 %%d<40>;\n"
    ".reg .b128 %%q<20>; .shared .align 128 .b8 shared[1024]; .local .align 16 .b8 local[64];\n"
    "%s\nLABEL:\nret;\n}\n";

static int by_opcode(const void *a, const void *b)
{
    return strcmp(((const struct form *)a)->opcode, ((const struct form *)b)->opcode);
}

/* The opcode that starts a statement; false if it is too long to be one. */
static bool opcode_of(const char *statement, char out[160])
{
    size_t n = 0;
    while (isalnum((unsigned char)statement[n]) || statement[n] == '.' || statement[n] == '_' ||
           (statement[n] == ':' && (statement[n + 1] == ':' || (n && statement[n - 1] == ':'))))
        n++;
    if (n == 0 || n >= 160)
        return false;
    memcpy(out, statement, n);
    out[n] = '\0';
    return true;
}

static int read_file(const char *path, struct text *out)
{
    struct err e;
    if (file_read(path, FILE_BYTES_MAX, out, &e) == 0)
        return 0;
    fprintf(stderr, "%s\n", e.text);
    return -1;
}

static int add_forms(struct list *l, const char *path)
{
    struct text text;
    text_init(&text);
    int status = read_file(path, &text);
    for (const char *s = text_str(&text); status == 0 && *s; s += strcspn(s, "\n") + 1) {
        struct form *f = &l->forms[l->count];
        if (*s == '#' || *s == '\n' || l->count == FORMS_MAX || !opcode_of(s, f->opcode))
            continue;
        f->statement = arena_strndup(&l->arena, s, strcspn(s, "\n"));
        l->count++;
    }
    text_release(&text);
    return status;
}

/* Every word of an indented line that stands where an instruction may begin. */
static int add_tested(struct list *l, const char *path)
{
    struct text text;
    text_init(&text);
    int status = read_file(path, &text);
    const char *s = text_str(&text);
    bool start = false;
    for (; status == 0 && *s && l->tested_count < FORMS_MAX; s++) {
        struct form *f = &l->tested[l->tested_count];
        if (*s == '\n' || *s == ';' || *s == '{' || *s == '}')
            start = true;
        else if (start && *s == '@')
            s += strcspn(s, " \n");
        else if (start && isalpha((unsigned char)*s)) {
            if (opcode_of(s, f->opcode))
                l->tested_count++;
            start = false;
        } else if (!isspace((unsigned char)*s))
            start = *s == ':';
    }
    qsort(l->tested, l->tested_count, sizeof *l->tested, by_opcode);
    size_t kept = 0;
    for (size_t k = 0; k < l->tested_count; k++)
        if (k == 0 || by_opcode(&l->tested[k], &l->tested[kept - 1]) != 0)
            l->tested[kept++] = l->tested[k];
    l->tested_count = kept;
    text_release(&text);
    return status;
}

/* The first instruction that the machine has no code for; NULL = all have. */
static const char *refused(struct vm *vm, const char *statement, struct arena *arena)
{
    struct text text;
    struct ptx_module ptx;
    struct err e = {""};
    const char *found = NULL;
    text_init(&text);
    text_addf(&text, KERNEL, statement);
    struct vm_module *module = NULL;
    if (ptx_parse(text_str(&text), text.length, arena, &ptx, &e) ||
        !(module = vm_module_load(vm, &ptx, arena, &e)))
        found = arena_strdup(arena, e.text);
    if (module) {
        const struct vm_exec *exec = vm_exec_choose();
        struct vm_code *code = vm_lower(vm_module_kernel(module, "k"), exec, false);
        for (uint32_t k = 0; k < code->insn_count && !found; k++)
            if (code->insns[k].run == exec->handlers[VM_OP_trap] && code->insns[k].a &&
                code->origins[k])
                found = arena_strdup(arena, code->origins[k]->text);
        vm_code_free(code);
        vm_module_unload(vm, module);
    }
    text_release(&text);
    return found;
}

static void print_form(struct list *l, struct vm *vm, const struct form *f)
{
    struct arena arena;
    arena_init(&arena);
    const char *text = refused(vm, f->statement, &arena), *why = text ? vm_refusal(text) : NULL;
    bool tested = bsearch(f, l->tested, l->tested_count, sizeof *l->tested, by_opcode) != NULL;
    printf("%-56s ", f->opcode);
    if (text)
        printf("refuses: %s\n", why ? why : "not there");
    else
        printf("works%s\n", tested ? ", tested" : "");
    arena_release(&arena);
}

static void print_api(void)
{
    static const struct {
        const char *name, *refusal; /* NULL = it has a body */
    } NAMES[] = {
#define BODY(name)         {#name, NULL},
#define STUB(name, reason) {#name, #reason},
#include "cpu/cudart/api.def"
#undef BODY
#undef STUB
    };
    static const struct {
        const char *id, *sentence;
    } REASONS[] = {
#define REASON(id, sentence) {#id, sentence},
#include "cpu/cudart/stub_reasons.def"
#undef REASON
    };
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        const char *why = NULL;
        for (size_t i = 0; NAMES[k].refusal && i < sizeof REASONS / sizeof *REASONS; i++)
            if (strcmp(REASONS[i].id, NAMES[k].refusal) == 0)
                why = REASONS[i].sentence;
        if (NAMES[k].refusal)
            printf("%-56s refuses: %s\n", NAMES[k].name, why ? why : "?");
        else
            printf("%-56s works\n", NAMES[k].name);
    }
}

int main(int argc, char **argv)
{
    struct list *l = calloc(1, sizeof *l);
    struct err e;
    struct vm *vm = l ? vm_new(&vm_limits_default, &e) : NULL;
    bool cases = false;
    int status = vm ? 0 : 2;
    if (vm)
        arena_init(&l->arena);
    if (argc == 2 && strcmp(argv[1], "--api") == 0 && vm)
        print_api();
    for (int k = 1; k < argc && status == 0; k++) {
        if (strcmp(argv[k], "--cases") == 0)
            cases = true;
        else if (argv[k][0] != '-' && (cases ? add_tested : add_forms)(l, argv[k]) != 0)
            status = 2;
    }
    if (status == 0 && l->count) {
        qsort(l->forms, l->count, sizeof *l->forms, by_opcode);
        for (size_t k = 0; k < l->count; k++)
            if (k == 0 || by_opcode(&l->forms[k], &l->forms[k - 1]) != 0)
                print_form(l, vm, &l->forms[k]);
    }
    if (vm) {
        arena_release(&l->arena);
        vm_free(vm);
    }
    free(l);
    return status;
}
