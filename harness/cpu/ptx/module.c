/* The top level: version and target, variables, functions, sections, and ptx_parse() around it. */
#include "cpu/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

int ptx_find_function(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (strcmp(module->functions[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

int ptx_find_symbol(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const struct ptx_symbol *s = &module->symbols[i];
        if (s->function < 0 && strcmp(s->name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* Results follow the parameters in a function's block. */
int place_results(struct parser *p, struct ptx_function *f)
{
    for (uint32_t i = 0; i < f->result_count; i++) {
        struct ptx_symbol *s = symbol_at(p, f->results[i]);
        s->offset = (f->param_bytes + s->align - 1) & ~((uint64_t)s->align - 1);
        f->param_bytes = s->offset + s->bytes;
        if (f->param_bytes > MAX_BLOCK_BYTES)
            return fail(p, "the parameters of '%.200s' are too large", f->name);
    }
    return 0;
}

/* "256, 1, 1" */
static int read_shape(struct parser *p, uint32_t out[3])
{
    uint32_t count = 0;
    do {
        uint64_t value;
        if (count == 3)
            return fail(p, "a fourth dimension was found; expected '.', '{' or ';'");
        if (read_unsigned(p, INT32_MAX, "a number", &value))
            return -1;
        out[count++] = (uint32_t)value;
    } while (accept(p, ','));
    while (count < 3)
        out[count++] = 1;
    return 0;
}

/* What may stand between a signature and its body. */
static int read_attributes(struct parser *p, struct ptx_function *f)
{
    while (accept(p, '.')) {
        const char *w;
        uint32_t shape[3];
        size_t n = read_word(p, &w);
        if (word_is(w, n, "maxntid")) {
            if (read_shape(p, f->maxntid))
                return -1;
        } else if (word_is(w, n, "reqntid")) {
            if (read_shape(p, f->reqntid))
                return -1;
        } else if (word_is(w, n, "minnctapersm")) {
            if (read_shape(p, shape))
                return -1;
            f->minnctapersm = shape[0];
        } else if (word_is(w, n, "noreturn")) {
            f->is_noreturn = true;
        } else if (word_is(w, n, "pragma")) {
            if (read_pragma(p))
                return -1;
        } else if (n == 0) {
            return fail_found(p, "a directive");
        } else if (is_class(next_char(p), CHAR_DIGIT) && read_shape(p, shape)) {
            return -1;
        }
    }
    return 0;
}

/* The entry of a function in the table: the one a declaration made, or a new one. */
static int function_entry(struct parser *p, struct name *name)
{
    struct binding *b = name->bound;
    if (b && b->kind == BOUND_FUNCTION) {
        p->function = b->index;
        return 0;
    }
    p->function = (int32_t)p->functions.count;
    vec_push(&p->functions, sizeof(struct ptx_function));
    function_at(p, p->function)->is_declaration = true;
    return bind(p, name, BOUND_FUNCTION, p->function, NULL);
}

/* The signature's names live in a scope that the caller has opened; the function's own name is
 * read after the results but must be bound outside. */
static int read_signature(struct parser *p, struct ptx_function *f, bool is_entry)
{
    uint64_t result_bytes = 0;
    size_t first_symbol = p->symbols.count;
    if (!is_entry && next_char(p) == '(' &&
        read_parameters(p, &f->results, &f->result_count, &result_bytes))
        return -1;
    struct name *name = read_name(p);
    if (!name)
        return fail_found(p, "the name of a function");
    f->name = name->text;
    f->is_entry = is_entry;
    p->depth--;
    int result = function_entry(p, name);
    p->depth++;
    if (result)
        return -1;
    if (next_char(p) == '(' && read_parameters(p, &f->params, &f->param_count, &f->param_bytes))
        return -1;
    for (size_t i = first_symbol; i < p->symbols.count; i++)
        symbol_at(p, (int32_t)i)->function = p->function;
    return place_results(p, f) ? -1 : read_attributes(p, f);
}

static int read_function(struct parser *p, bool is_entry, uint8_t linkage)
{
    struct ptx_function f = {.linkage = linkage, .ptx_line = p->line, .is_declaration = true};
    if (next_char(p) == '.') { /* .func .attribute(...) name */
        const char *w;
        p->at++;
        size_t n = read_word(p, &w);
        if (!word_is(w, n, "attribute") || next_char(p) != '(' || skip_parentheses(p))
            return fail_found(p, "the name of a function");
    }
    if (open_scope(p) || read_signature(p, &f, is_entry))
        return -1;
    struct ptx_function *old = function_at(p, p->function);
    if (accept(p, '{')) {
        if (old->name && !old->is_declaration)
            return fail(p, "the function '%.200s' is defined twice", f.name);
        f.is_declaration = false;
        *old = f;
        if (read_body(p))
            return -1;
    } else {
        if (expect(p, ';'))
            return -1;
        if (!old->name) /* a declaration behind the definition, or a second one, adds nothing */
            *old = f;
    }
    p->function = -1;
    return close_scope(p);
}

static int read_version(struct parser *p)
{
    uint64_t major, minor;
    const char *w;
    if (!accept(p, '.'))
        return fail_found(p, ".version");
    size_t n = read_word(p, &w);
    if (!word_is(w, n, "version"))
        return fail(p, "'.%.*s' was found; expected .version", (int)(n < 60 ? n : 60), w);
    /* "9.0" is two numbers here, not a decimal fraction. */
    char *after;
    skip_space(p);
    if (!is_class(*p->at, CHAR_DIGIT))
        return fail_found(p, "a version such as 9.0");
    major = strtoull(p->at, &after, 10);
    if (*after != '.' || !is_class(after[1], CHAR_DIGIT))
        return fail_found(p, "a version such as 9.0");
    minor = strtoull(after + 1, &after, 10);
    if (major > 1000 || minor > 1000)
        return fail_found(p, "a version such as 9.0");
    p->at = after;
    p->module->version_major = (unsigned)major;
    p->module->version_minor = (unsigned)minor;
    return 0;
}

/* sm_90a, texmode_independent, debug */
static int read_target(struct parser *p)
{
    do {
        const char *w;
        size_t n = read_word(p, &w);
        if (n == 0)
            return fail_found(p, "a target such as sm_75");
        if (n > 3 && memcmp(w, "sm_", 3) == 0) {
            unsigned target = 0;
            for (size_t i = 3; i < n && i < 7 && is_class(w[i], CHAR_DIGIT); i++)
                target = target * 10 + (unsigned)(w[i] - '0');
            p->module->target = target;
        }
    } while (accept(p, ','));
    return 0;
}

/* .alias new, old; settled at the end, when both are complete. */
static int read_alias(struct parser *p)
{
    struct alias a = {.line = p->line};
    a.alias = read_name(p);
    if (!a.alias || expect(p, ',') || !(a.aliasee = read_name(p)))
        return fail_found(p, "two function names");
    *(struct alias *)vec_push(&p->aliases, sizeof a) = a;
    return expect(p, ';');
}

static int settle_aliases(struct parser *p)
{
    for (size_t i = 0; i < p->aliases.count; i++) {
        struct alias *a = (struct alias *)p->aliases.data + i;
        struct binding *from = a->aliasee->bound, *to = a->alias->bound;
        if (!from || !to || from->kind != BOUND_FUNCTION || to->kind != BOUND_FUNCTION)
            return err_set(p->e, "PTX line %u: '%.200s' was found; expected two functions", a->line,
                           a->alias->text);
        struct ptx_function *alias = function_at(p, to->index);
        const char *name = alias->name;
        *alias = *function_at(p, from->index);
        alias->name = name;
    }
    return 0;
}

/* .section .debug_str { ... } */
static int read_section(struct parser *p)
{
    while (next_char(p) != '{') {
        const char *w;
        accept(p, '.');
        if (!read_word(p, &w))
            return fail_found(p, "'{'");
    }
    const char *close = memchr(p->at, '}', (size_t)(p->end - p->at));
    if (!close)
        return fail(p, "the section is not closed; expected '}'");
    const char *newline = p->at;
    while ((newline = memchr(newline, '\n', (size_t)(close - newline)))) {
        p->line++;
        newline++;
    }
    p->at = close + 1;
    return 0;
}

static bool read_linkage(const char *w, size_t n, uint8_t *linkage)
{
    static const char *const names[] = {"", "visible", "extern", "weak", "common"};
    for (uint8_t i = 1; i < 5; i++) {
        if (word_is(w, n, names[i])) {
            *linkage = i;
            return true;
        }
    }
    return false;
}

/* Behind a '.' at the top level. */
static int read_top(struct parser *p)
{
    const char *w;
    size_t n = read_word(p, &w);
    uint8_t linkage = PTX_LINK_NONE;
    uint64_t size;
    while (read_linkage(w, n, &linkage)) {
        if (expect(p, '.'))
            return -1;
        n = read_word(p, &w);
    }
    if (word_is(w, n, "entry"))
        return read_function(p, true, linkage);
    if (word_is(w, n, "func"))
        return read_function(p, false, linkage);
    if (word_is(w, n, "global"))
        return read_variables(p, PTX_GLOBAL, linkage);
    if (word_is(w, n, "const"))
        return read_variables(p, PTX_CONST, linkage);
    if (word_is(w, n, "shared"))
        return read_variables(p, PTX_SHARED, linkage);
    if (word_is(w, n, "local"))
        return read_variables(p, PTX_LOCAL, linkage);
    if (word_is(w, n, "tex"))
        return skip_statement(p);
    if (word_is(w, n, "file"))
        return read_file(p);
    if (word_is(w, n, "loc"))
        return read_loc(p);
    if (word_is(w, n, "target"))
        return read_target(p);
    if (word_is(w, n, "section"))
        return read_section(p);
    if (word_is(w, n, "pragma"))
        return read_pragma(p);
    if (word_is(w, n, "alias"))
        return read_alias(p);
    if (word_is(w, n, "address_size")) {
        if (read_unsigned(p, 64, "32 or 64", &size))
            return -1;
        p->module->address_size = (unsigned)size;
        return 0;
    }
    return fail(p, "'.%.*s' was found; expected a directive such as .entry or .global",
                (int)(n < 60 ? n : 60), w);
}

static int read_module(struct parser *p)
{
    if (read_version(p))
        return -1;
    for (;;) {
        if (next_char(p) == '\0' && p->at == p->end)
            return settle_aliases(p);
        if (accept(p, ';'))
            continue;
        if (!accept(p, '.'))
            return fail_found(p, "a directive");
        if (read_top(p))
            return -1;
    }
}

static void *copy_out(struct arena *arena, const struct vec *v, size_t bytes)
{
    void *items = arena_array(arena, v->count, bytes);
    if (v->count > 0)
        memcpy(items, v->data, v->count * bytes);
    return items;
}

int ptx_parse(const char *text, size_t length, struct arena *arena, struct ptx_module *module,
              struct err *e)
{
    while (length > 0 && text[length - 1] == '\0')
        length--;
    if (length >= INT32_MAX)
        return err_set(e, "PTX line 1: the text is longer than 2 GB");
    struct parser *p = calloc(1, sizeof *p);
    char *copy = malloc(length + 1);
    if (!p || !copy)
        BUG("out of memory for %zu bytes of PTX", length);
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    *module = (struct ptx_module){.address_size = 64};
    *p = (struct parser){.at = copy,
                         .end = copy + length,
                         .line = 1,
                         .arena = arena,
                         .e = e,
                         .module = module,
                         .function = -1,
                         .used_bytes = ~0u};
    arena_init(&p->scratch);
    locs_init(p);

    int result = read_module(p);
    if (result == 0) {
        locs_finish(p);
        module->symbols = copy_out(arena, &p->symbols, sizeof *module->symbols);
        module->symbol_count = (uint32_t)p->symbols.count;
        module->functions = copy_out(arena, &p->functions, sizeof *module->functions);
        module->function_count = (uint32_t)p->functions.count;
    }

    locs_release(p);
    vec_release(&p->symbols);
    vec_release(&p->functions);
    vec_release(&p->aliases);
    vec_release(&p->init_bytes);
    vec_release(&p->regs);
    vec_release(&p->instrs);
    vec_release(&p->elements);
    arena_release(&p->scratch);
    free(p->table);
    free(p);
    free(copy);
    return result;
}
