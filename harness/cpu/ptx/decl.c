/* Variables of the state spaces and the parameters of functions. Both are read into a struct
 * declaration first; where it goes (module, function, signature) decides the offset. */
#include "cpu/ptx/parse.h"

#include <string.h>

struct declaration {
    uint64_t align; /* 0 = natural */
    uint8_t type;
    unsigned element_bytes; /* of a vector: all of it */
    unsigned vector;        /* 1, 2, 4, 8 */
    bool is_texture;
    struct name *name;
    uint64_t dimensions[MAX_DIMENSIONS]; /* 0 = open, only the first */
    uint32_t dimension_count;
};

struct ptx_symbol *symbol_at(struct parser *p, int32_t index)
{
    return (struct ptx_symbol *)p->symbols.data + index;
}

struct ptx_function *function_at(struct parser *p, int32_t index)
{
    return (struct ptx_function *)p->functions.data + index;
}

/* .align 8 .v4 .ptr .global .attribute(.managed) .b32: everything in front of the name. */
static int read_modifiers(struct parser *p, struct declaration *d)
{
    *d = (struct declaration){.vector = 1};
    bool pointer = false;
    while (accept(p, '.')) {
        const char *w;
        size_t length = read_word(p, &w);
        enum ptx_type type = type_by_name(w, length);
        uint64_t align;
        if (type != PTX_NONE) {
            if (type == PTX_PRED)
                return fail(p, "'.pred' was found; expected a type that memory can hold");
            d->type = (uint8_t)type;
        } else if (word_is(w, length, "align")) {
            if (read_unsigned(p, 1u << 20, "an alignment", &align))
                return -1;
            if (align == 0 || (align & (align - 1)))
                return fail(p, "alignment %llu was found; expected a power of two",
                            (unsigned long long)align);
            if (!pointer) /* behind .ptr it describes what the pointer points at */
                d->align = align;
        } else if (length == 2 && w[0] == 'v' && (w[1] == '2' || w[1] == '4' || w[1] == '8')) {
            d->vector = (unsigned)(w[1] - '0');
        } else if (word_is(w, length, "ptr")) {
            pointer = true;
        } else if (word_is(w, length, "texref") || word_is(w, length, "samplerref") ||
                   word_is(w, length, "surfref")) {
            d->is_texture = true;
            d->type = PTX_B64;
        } else if (word_is(w, length, "attribute")) {
            if (next_char(p) == '(' && skip_parentheses(p))
                return -1;
        } else if (!pointer || !length) {
            return fail(p, "'.%.*s' was found; expected a type or .align",
                        (int)(length < 60 ? length : 60), w);
        }
    }
    if (d->type == PTX_NONE)
        return fail_found(p, "a type");
    d->element_bytes = ptx_type_bytes((enum ptx_type)d->type) * d->vector;
    return 0;
}

/* name[4][8] */
static int read_declarator(struct parser *p, struct declaration *d)
{
    d->dimension_count = 0;
    d->name = read_name(p);
    if (!d->name)
        return fail_found(p, "a name");
    while (accept(p, '[')) {
        if (d->dimension_count == MAX_DIMENSIONS)
            return fail(p, "'%.200s' has more than %d dimensions", d->name->text, MAX_DIMENSIONS);
        uint64_t size = 0;
        if (next_char(p) != ']' && read_unsigned(p, MAX_VARIABLE_BYTES, "an array size", &size))
            return -1;
        if (size == 0 && d->dimension_count > 0)
            return fail(p, "an inner dimension of '%.200s' has no size", d->name->text);
        d->dimensions[d->dimension_count++] = size;
        if (expect(p, ']'))
            return -1;
    }
    return 0;
}

/* The symbol that a declaration describes, without its place. */
static int make_symbol(struct parser *p, const struct declaration *d, uint8_t space,
                       struct ptx_symbol *out)
{
    uint64_t bytes = d->element_bytes;
    for (uint32_t i = 0; i < d->dimension_count; i++) {
        if (__builtin_mul_overflow(bytes, d->dimensions[i], &bytes) || bytes > MAX_VARIABLE_BYTES)
            return fail(p, "'%.200s' is larger than %llu bytes", d->name->text,
                        (unsigned long long)MAX_VARIABLE_BYTES);
    }
    *out = (struct ptx_symbol){
        .name = d->name->text,
        .space = space,
        .type = d->type,
        .align = (uint32_t)(d->align ? d->align : d->element_bytes),
        .bytes = bytes,
        .is_texture = d->is_texture,
        .function = p->function,
    };
    return 0;
}

/* The next aligned place in a block of variables. */
static int place(struct parser *p, struct ptx_symbol *s, uint64_t *block)
{
    s->offset = (*block + s->align - 1) & ~((uint64_t)s->align - 1);
    *block = s->offset + s->bytes;
    if (*block > MAX_BLOCK_BYTES)
        return fail(p, "the variables up to '%.200s' are larger than %llu bytes", s->name,
                    (unsigned long long)MAX_BLOCK_BYTES);
    return 0;
}

/* The block a variable's offset counts in; NULL: the space has none (global, const). */
static uint64_t *block_of(struct parser *p, uint8_t space)
{
    struct ptx_function *f = p->function >= 0 ? function_at(p, p->function) : NULL;
    if (space == PTX_SHARED)
        return f ? &f->shared_bytes : &p->shared_bytes;
    if (space == PTX_LOCAL && f)
        return &f->local_bytes;
    if (space == PTX_PARAM && f)
        return &f->call_param_bytes;
    return NULL;
}

/* Gives the name its index: that of an earlier `.extern` (or of the definition, if the `.extern`
 * comes later), or a new one. *is_new says which. */
static int claim_index(struct parser *p, const struct declaration *d, uint8_t space, int32_t *index,
                       bool *is_new)
{
    const struct binding *b = d->name->bound;
    *is_new = !(b && p->depth == 0 && b->kind == BOUND_SYMBOL);
    if (*is_new) {
        *index = (int32_t)p->symbols.count;
        vec_push(&p->symbols, sizeof(struct ptx_symbol));
        return bind(p, d->name, BOUND_SYMBOL, *index, NULL);
    }
    *index = b->index;
    if (symbol_at(p, *index)->space != space)
        return fail(p, "'%.200s' was declared in another space", d->name->text);
    return 0;
}

static int read_value_of(struct parser *p, const struct declaration *d, struct ptx_symbol *symbol)
{
    uint64_t dimensions[MAX_DIMENSIONS + 1];
    uint32_t count = d->dimension_count;
    memcpy(dimensions, d->dimensions, sizeof d->dimensions);
    if (d->vector > 1)
        dimensions[count++] = d->vector;
    return read_initialiser(p, symbol, dimensions, count, d->element_bytes / d->vector);
}

static int read_variable(struct parser *p, struct declaration *d, uint8_t space, uint8_t linkage)
{
    struct ptx_symbol symbol = {0};
    int32_t index;
    bool is_new;
    if (read_declarator(p, d) || make_symbol(p, d, space, &symbol) ||
        claim_index(p, d, space, &index, &is_new))
        return -1;
    symbol.linkage = linkage;
    symbol.is_call_param = space == PTX_PARAM;
    /* The name is bound before its value is read: a value may hold its own address. */
    if (accept(p, '=') && read_value_of(p, d, &symbol))
        return -1;
    if (!is_new && linkage == PTX_LINK_EXTERN)
        return 0;
    symbol.offset = symbol_at(p, index)->offset;
    *symbol_at(p, index) = symbol;
    uint64_t *block = is_new || space == PTX_SHARED ? block_of(p, space) : NULL;
    return block ? place(p, symbol_at(p, index), block) : 0;
}

int read_variables(struct parser *p, uint8_t space, uint8_t linkage)
{
    struct declaration d;
    if (read_modifiers(p, &d))
        return -1;
    do {
        if (read_variable(p, &d, space, linkage))
            return -1;
    } while (accept(p, ','));
    return expect(p, ';');
}

static int read_parameter(struct parser *p, uint64_t *block)
{
    const char *w;
    struct declaration d;
    struct ptx_symbol symbol = {0};
    if (expect(p, '.'))
        return -1;
    size_t length = read_word(p, &w);
    if (!word_is(w, length, "param"))
        return fail(p, "'.%.*s' was found; expected .param", (int)(length < 60 ? length : 60), w);
    if (read_modifiers(p, &d) || read_declarator(p, &d) || make_symbol(p, &d, PTX_PARAM, &symbol) ||
        place(p, &symbol, block))
        return -1;
    bool anonymous = d.name->length == 1 && d.name->text[0] == '_'; /* of a prototype */
    if (!anonymous && bind(p, d.name, BOUND_SYMBOL, (int32_t)p->symbols.count, NULL))
        return -1;
    *(struct ptx_symbol *)vec_push(&p->symbols, sizeof symbol) = symbol;
    return 0;
}

int read_parameters(struct parser *p, int32_t **out, uint32_t *count, uint64_t *block)
{
    size_t first = p->symbols.count;
    if (expect(p, '('))
        return -1;
    if (!accept(p, ')')) {
        do {
            if (read_parameter(p, block))
                return -1;
        } while (accept(p, ','));
        if (expect(p, ')'))
            return -1;
    }
    *count = (uint32_t)(p->symbols.count - first);
    *out = arena_array(p->arena, *count, sizeof **out);
    for (uint32_t i = 0; i < *count; i++)
        (*out)[i] = (int32_t)(first + i);
    return 0;
}
