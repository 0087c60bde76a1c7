/* Initial values: nested lists of numbers and addresses. The bytes are collected in p->init_bytes,
 * which lives as long as the parser, and copied to the arena when the list is complete. What a
 * list leaves out is zero. Addresses become relocations; an address that is spread over single
 * bytes (`0xFF(x), 0xFF00(x), ...` in packed structs) becomes one relocation of eight. */
#include "cpu/ptx/parse.h"

#include <string.h>

/* Makes bytes [at, at + bytes) exist, zeroed. */
static int reach(struct parser *p, struct init *in, uint64_t at, uint64_t bytes, uint64_t limit)
{
    if (at + bytes > limit)
        return fail(p, "there are more initial values than elements; expected '}'");
    if (p->init_total + at + bytes > MAX_INIT_BYTES)
        return fail(p, "the initial values of the module are larger than %llu bytes",
                    (unsigned long long)MAX_INIT_BYTES);
    while (p->init_bytes.count < at + bytes)
        vec_push(&p->init_bytes, 1);
    if (in->end < at + bytes)
        in->end = at + bytes;
    return 0;
}

/* The bits of a number as an element of the variable's type. */
static int convert(struct parser *p, const struct init *in, const struct number *n, uint64_t *out)
{
    double value = 0;
    float f32 = 0;
    bool is_float = n->type == PTX_F32 || n->type == PTX_F64;
    if (n->type == PTX_F64)
        memcpy(&value, &n->bits, sizeof value);
    if (n->type == PTX_F32) {
        uint32_t bits = (uint32_t)n->bits;
        memcpy(&f32, &bits, sizeof f32);
        value = (double)f32;
    }
    *out = n->bits;
    if (in->type == PTX_F64) {
        if (!is_float)
            value = n->type == PTX_S64 ? (double)(int64_t)n->bits : (double)n->bits;
        memcpy(out, &value, sizeof value);
    } else if (in->type == PTX_F32) {
        if (!is_float)
            f32 = n->type == PTX_S64 ? (float)(int64_t)n->bits : (float)n->bits;
        else if (n->type == PTX_F64)
            f32 = (float)value;
        uint32_t bits;
        memcpy(&bits, &f32, sizeof bits);
        *out = bits;
    } else if (is_float && (n->type == PTX_F64) != (in->element_bytes == 8)) {
        return fail(p, "a floating-point number was found; expected a value of this type");
    }
    return 0;
}

/* [generic(] name [+ number] [)] */
static int read_target(struct parser *p, struct ptx_reloc *r)
{
    struct name *name = read_name(p);
    bool parenthesis = name && word_is(name->text, name->length, "generic");
    r->generic = parenthesis;
    if (parenthesis) {
        if (expect(p, '('))
            return -1;
        name = read_name(p);
    }
    struct binding *b = name ? lookup(p, name) : NULL;
    if (!name || !b || (b->kind != BOUND_SYMBOL && b->kind != BOUND_FUNCTION))
        return name ? fail(p, "'%.200s' was found; expected a variable or a function", name->text)
                    : fail_found(p, "an initial value");
    r->symbol = b->kind == BOUND_SYMBOL ? b->index : -1;
    r->function = b->kind == BOUND_FUNCTION ? b->index : -1;
    struct number n = {0};
    for (int i = 0; i < 2; i++) { /* the addend may stand inside or behind generic() */
        char c = next_char(p);
        if ((c == '+' || c == '-') && read_number(p, &n))
            return fail_found(p, "a number");
        r->addend += (int64_t)n.bits;
        n.bits = 0;
        if (parenthesis && i == 0 && expect(p, ')'))
            return -1;
    }
    return 0;
}

static int fail_masked(struct parser *p)
{
    return fail(p, "a masked address was found; expected the eight bytes of one address in order");
}

/* mask(target): one byte of an address. The first one makes the relocation. */
static int read_masked(struct parser *p, struct init *in, uint64_t mask, uint64_t at)
{
    struct ptx_reloc r = {.offset = at, .bytes = 8};
    if (expect(p, '(') || read_target(p, &r) || expect(p, ')'))
        return -1;
    if (in->element_bytes != 1)
        return fail_masked(p);
    if (in->mask_left == 0) {
        if (mask != 0xff)
            return fail_masked(p);
        *(struct ptx_reloc *)vec_push(&in->relocs, sizeof r) = r;
        in->mask_left = 7;
        return 0;
    }
    const struct ptx_reloc *first = (struct ptx_reloc *)in->relocs.data + in->relocs.count - 1;
    if (first->symbol != r.symbol || first->function != r.function || first->addend != r.addend ||
        first->offset + 8 != at + in->mask_left || mask != 0xffull << 8 * (8 - in->mask_left))
        return fail_masked(p);
    in->mask_left--;
    return 0;
}

static int read_value(struct parser *p, struct init *in, uint64_t at, uint64_t limit)
{
    if (reach(p, in, at, in->element_bytes, limit))
        return -1;
    if (is_class(next_char(p), CHAR_IDENT_START)) {
        struct ptx_reloc r = {.offset = at, .bytes = (uint8_t)in->element_bytes};
        if (read_target(p, &r))
            return -1;
        if (r.bytes != 8 && r.bytes != 4)
            return fail(p, "an address was found; expected a value of %u bytes", in->element_bytes);
        *(struct ptx_reloc *)vec_push(&in->relocs, sizeof r) = r;
        return 0;
    }
    struct number n;
    if (read_number(p, &n))
        return fail_found(p, "an initial value");
    if (next_char(p) == '(')
        return read_masked(p, in, n.bits, at);
    if (in->mask_left > 0)
        return fail_masked(p);
    uint64_t bits;
    if (convert(p, in, &n, &bits))
        return -1;
    unsigned bytes = in->element_bytes < sizeof bits ? in->element_bytes : (unsigned)sizeof bits;
    memcpy((char *)p->init_bytes.data + at, &bits, bytes); /* little-endian, as the device is */
    return 0;
}

static uint64_t span_of(const struct init *in, uint32_t level)
{
    uint64_t span = in->element_bytes;
    for (uint32_t i = level; i < in->dimension_count; i++)
        span *= in->dimensions[i];
    return span;
}

/* Behind '{': the values of [at, limit). `level`: dimensions around the list's items. */
static int read_list(struct parser *p, struct init *in, uint64_t at, uint64_t limit, uint32_t level)
{
    uint64_t start = at, item = span_of(in, level);
    if (accept(p, '}'))
        return 0;
    do {
        if (next_char(p) != '{') {
            if (read_value(p, in, at, limit))
                return -1;
            at += in->element_bytes;
            continue;
        }
        if (level >= in->dimension_count)
            return fail(p, "'{' was found; expected a value: the array has fewer dimensions");
        p->at++;
        at = start + (at - start + item - 1) / item * item;
        if (at >= limit)
            return fail(p, "there are more initial values than elements; expected '}'");
        if (read_list(p, in, at, at + item, level + 1))
            return -1;
        at += item;
        if (in->unsized && in->end < at)
            in->end = at;
    } while (accept(p, ',') && next_char(p) != '}');
    return expect(p, '}');
}

int read_initialiser(struct parser *p, struct ptx_symbol *symbol, const uint64_t *dimensions,
                     uint32_t dimension_count, unsigned element_bytes)
{
    struct init in = {.dimensions = dimensions,
                      .dimension_count = dimension_count,
                      .element_bytes = element_bytes,
                      .type = symbol->type};
    in.unsized = dimension_count > 0 && dimensions[0] == 0;
    uint64_t limit = in.unsized ? MAX_INIT_BYTES : symbol->bytes;
    int result;
    p->init_bytes.count = 0;
    if (dimension_count > 0)
        result = expect(p, '{') ? -1 : read_list(p, &in, 0, limit, 1);
    else
        result = read_value(p, &in, 0, limit);
    if (result == 0 && in.mask_left > 0)
        result = fail_masked(p);
    if (in.unsized)
        symbol->bytes = in.end;
    if (result == 0 && p->init_total + symbol->bytes > MAX_INIT_BYTES)
        result = fail(p, "the initial values of the module are larger than %llu bytes",
                      (unsigned long long)MAX_INIT_BYTES);
    if (result == 0) {
        p->init_total += symbol->bytes;
        symbol->init = arena_alloc(p->arena, symbol->bytes);
        if (p->init_bytes.count > 0)
            memcpy(symbol->init, p->init_bytes.data, p->init_bytes.count);
        symbol->reloc_count = (uint32_t)in.relocs.count;
        symbol->relocs = arena_array(p->arena, in.relocs.count, sizeof *symbol->relocs);
        if (in.relocs.count > 0)
            memcpy(symbol->relocs, in.relocs.data, in.relocs.count * sizeof *symbol->relocs);
    }
    vec_release(&in.relocs);
    return result;
}
