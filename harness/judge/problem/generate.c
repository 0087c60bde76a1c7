/* How it works: elements are made in blocks of BLOCK values, as int64, double or bit patterns, by
 * one function per generator, and stored in the element type by number_store_*(); so neither the
 * kind of generator nor the type is looked at per element. Every value comes from (key, index)
 * alone.
 *
 * generator_check() evaluates the arguments and asks the row's check for the span of values that it
 * can make; the span must fit the type. */
#include "judge/problem/generate.h"

#include "judge/problem/call.h"
#include "judge/problem/makers.h"
#include "judge/problem/number.h"
#include "judge/problem/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct argument {
    struct expr *expr; /* NULL: a number */
    double number;
    bool whole; /* `number` was written without a decimal point */
};

struct generator {
    enum generator_kind kind;
    unsigned arg_count;
    struct argument args[CALL_ARGS_MAX];
    int64_t *integers; /* LITERAL, of an integer type */
    double *reals;     /* LITERAL, of a float type */
    unsigned length, capacity;
};

/* ---- parsing ---- */

static struct generator *refuse(struct expr_error *error, size_t offset, const char *found,
                                const char *allowed)
{
    error->offset = offset;
    snprintf(error->found, sizeof error->found, strlen(found) > 100 ? "%.100s..." : "%.100s",
             found);
    snprintf(error->allowed, sizeof error->allowed, "%s", allowed);
    return NULL;
}

/* A whole text as a finite number. */
static bool read_number(const char *text, double *v, bool *whole)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!((*digits >= '0' && *digits <= '9') || *digits == '.') || strpbrk(digits, "xX"))
        return false;
    char *end;
    *v = strtod(text, &end);
    *whole = strpbrk(text, ".eE") == NULL;
    return *end == '\0' && isfinite(*v);
}

static bool parse_argument(char kind, const char *text, const struct expr_names *names,
                           struct arena *arena, struct argument *a, struct expr_error *error)
{
    bool number = read_number(text, &a->number, &a->whole);
    char found[128];
    snprintf(found, sizeof found, "'%.100s'", text);
    if (kind == 'p' && !(number && a->number >= 0 && a->number <= 1)) {
        refuse(error, 0, found, "a number from 0 to 1");
        return false;
    }
    if (kind == 'r' && !number) {
        refuse(error, 0, found, "a number");
        return false;
    }
    if (kind == 'p' || kind == 'r' || (kind == 'n' && number && !a->whole))
        return true;
    a->whole = true;
    a->expr = expr_parse(text, names, arena, error);
    return a->expr != NULL;
}

static const struct row *find_row(const char *name, enum wire_type type, struct expr_error *error)
{
    const char *names[GENERATOR_COUNT];
    for (unsigned i = 0; i < GENERATOR_COUNT; i++) {
        names[i] = GENERATOR_ROWS[i].name;
        if (strcmp(GENERATOR_ROWS[i].name, name) != 0)
            continue;
        char needed = GENERATOR_ROWS[i].types;
        char kind = wire_type_kind(type);
        if (needed == '*' || needed == kind)
            return &GENERATOR_ROWS[i];
        char found[128];
        snprintf(found, sizeof found, "'%s' for elements of type %s", name, wire_type_name(type));
        refuse(error, 0, found,
               needed == 'f' ? "a float type here, or another generator"
                             : "a signed integer type here, or another generator");
        return NULL;
    }
    char found[128], allowed[256];
    const char *near = suggest(name, names, GENERATOR_COUNT);
    if (near)
        snprintf(found, sizeof found, "'%.60s' (did you mean '%s'?)", name, near);
    else
        snprintf(found, sizeof found, "'%.100s'", name);
    int used = snprintf(allowed, sizeof allowed, "a list of values, or one of");
    for (unsigned i = 0; i < GENERATOR_COUNT && used < (int)sizeof allowed; i++)
        used += snprintf(allowed + used, sizeof allowed - (size_t)used, " %s", names[i]);
    refuse(error, 0, found, allowed);
    return NULL;
}

struct generator *generator_parse(const char *text, enum wire_type type,
                                  const struct expr_names *names, struct arena *arena,
                                  struct expr_error *error)
{
    struct call call;
    const char *wrong = call_parse(text, arena, &call);
    if (wrong)
        return refuse(error, 0, wrong, "a generator such as uniform(-9, 9)");
    const struct row *row = find_row(call.name, type, error);
    if (!row)
        return NULL;
    size_t most = strlen(row->args);
    if (call.arg_count < row->required || call.arg_count > most) {
        char found[128];
        snprintf(found, sizeof found, "'%s' with %u argument%s", row->name, call.arg_count,
                 call.arg_count == 1 ? "" : "s");
        return refuse(error, 0, found, row->form);
    }
    struct generator *g = arena_alloc(arena, sizeof *g);
    g->kind = (enum generator_kind)(row - GENERATOR_ROWS);
    g->arg_count = call.arg_count;
    bool reals = row->makes == 'r';
    for (unsigned i = 0; i < call.arg_count; i++) {
        if (!parse_argument(row->args[i], call.args[i], names, arena, &g->args[i], error)) {
            error->offset += call.offsets[i];
            return NULL;
        }
        if (row->args[i] == 'n' && !g->args[i].whole) {
            reals = true;
            error->offset = call.offsets[i];
        }
    }
    if (reals && !number_is_float(type)) {
        char found[128];
        snprintf(found, sizeof found, "a number with a decimal point for elements of type %s",
                 wire_type_name(type));
        return refuse(error, error->offset, found, "whole numbers");
    }
    return g;
}

struct generator *generator_literal(unsigned capacity, struct arena *arena)
{
    struct generator *g = arena_alloc(arena, sizeof *g);
    g->kind = LITERAL;
    g->capacity = capacity;
    g->integers = arena_array(arena, capacity, sizeof *g->integers);
    g->reals = arena_array(arena, capacity, sizeof *g->reals);
    return g;
}

const char *generator_literal_add(struct generator *g, enum wire_type type, const char *text)
{
    if (g->length == g->capacity)
        BUG("generator: more than %u literal values", g->capacity);
    if (number_is_float(type)) {
        static const struct {
            const char *name;
            double value;
        } NAMED[] = {{"nan", NAN},       {".nan", NAN},       {"inf", INFINITY},
                     {".inf", INFINITY}, {"-inf", -INFINITY}, {"-.inf", -INFINITY}};
        for (unsigned i = 0; i < sizeof NAMED / sizeof NAMED[0]; i++) {
            if (strcmp(NAMED[i].name, text) == 0) {
                g->reals[g->length++] = NAMED[i].value;
                return NULL;
            }
        }
        bool whole;
        double v;
        if (!read_number(text, &v, &whole) ||
            !isfinite(number_to_double(type, number_from_double(type, v))))
            return "a number that the type holds, nan, inf or -inf";
        g->reals[g->length++] = v;
        return NULL;
    }
    const char *digits = text + (*text == '-');
    size_t length = strspn(digits, "0123456789");
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (length == 0 || digits[length] || errno || v < number_min(type) || v > number_max(type))
        return "a whole number that the type holds";
    g->integers[g->length++] = v;
    return NULL;
}

/* ---- checking and filling ---- */

/* Arguments that were not given: arange starts at 0 and steps by 1, ids are all inside. */
static void set_defaults(struct run *r)
{
    if (r->kind == GENERATOR_arange)
        r->i[1] = 1;
    r->d[1] = (double)r->i[1];
}

static int run_init(struct run *r, const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, struct err *e)
{
    *r = (struct run){.kind = g->kind, .type = type, .count = count};
    if (g->kind == LITERAL)
        return 0;
    set_defaults(r);
    struct expr_values values = {.variables = variables};
    r->reals = GENERATOR_ROWS[g->kind].makes == 'r';
    for (unsigned i = 0; i < g->arg_count; i++) {
        const struct argument *a = &g->args[i];
        if (a->expr) {
            if (expr_eval(a->expr, &values, &r->i[i], e) != 0)
                return -1;
            r->d[i] = (double)r->i[i];
        } else {
            r->d[i] = a->number;
            r->reals |= GENERATOR_ROWS[g->kind].makes == 'a';
        }
    }
    return 0;
}

int generator_check(const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, struct err *e)
{
    struct run r;
    if (run_init(&r, g, type, count, variables, e) != 0)
        return -1;
    if (g->kind == LITERAL) {
        if (g->length != count)
            return err_set(e, "a list of %u values for an input of %llu elements", g->length,
                           (unsigned long long)count);
        return 0;
    }
    const struct row *row = &GENERATOR_ROWS[g->kind];
    struct span s = {0};
    const char *wrong = row->check(&r, &s);
    if (wrong)
        return err_set(e, "%s: %s", row->form, wrong);
    if (r.reals) {
        if (!isfinite(number_to_double(type, number_from_double(type, s.rlo))) ||
            !isfinite(number_to_double(type, number_from_double(type, s.rhi))))
            return err_set(e, "%s: makes values that %s does not hold", row->form,
                           wire_type_name(type));
    } else if (s.lo < number_min(type) || s.hi > number_max(type)) {
        return err_set(e, "%s: makes %lld..%lld, and %s holds %lld..%lld exactly", row->form,
                       (long long)s.lo, (long long)s.hi, wire_type_name(type),
                       (long long)number_min(type), (long long)number_max(type));
    }
    return 0;
}

static void fill_literal(const struct generator *g, enum wire_type type, void *out)
{
    if (number_is_float(type))
        number_store_reals(type, out, 0, g->reals, g->length);
    else
        number_store_integers(type, out, 0, g->integers, g->length);
}

/* Elements [at, at + count) of `block`, which begins with element `start`. */
static void store(const struct run *r, char makes, const union block *block, uint64_t start,
                  uint64_t at, unsigned count, void *out)
{
    uint64_t skip = at - start;
    if (makes == 'b')
        number_store_bits(r->type, out, at, block->u + skip, count);
    else if (r->reals)
        number_store_reals(r->type, out, at, block->d + skip, count);
    else
        number_store_integers(r->type, out, at, block->i + skip, count);
}

void generator_fill_part(const struct generator *g, enum wire_type type, uint64_t count,
                         const int64_t *variables, uint64_t key, uint64_t from, uint64_t to,
                         void *out)
{
    struct err e;
    struct run r;
    if (run_init(&r, g, type, count, variables, &e) != 0)
        BUG("generator: filled without a check: %s", e.text);
    if (g->kind == LITERAL) {
        fill_literal(g, type, out);
        return;
    }
    r.key = key;
    run_prepare(&r);
    const struct row *row = &GENERATOR_ROWS[g->kind];
    for (uint64_t start = from / BLOCK * BLOCK; start < to; start += BLOCK) {
        union block b;
        uint64_t at = start < from ? from : start, end = to - start < BLOCK ? to : start + BLOCK;
        row->make(&r, start, &b);
        store(&r, row->makes, &b, start, at, (unsigned)(end - at), out);
    }
    run_finish(&r);
}

void generator_fill(const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, uint64_t key, void *out)
{
    generator_fill_part(g, type, count, variables, key, 0, count, out);
}

bool generator_mixes(const struct generator *g)
{
    return g->kind != LITERAL && g->kind != GENERATOR_permutation;
}

bool generator_is_literal(const struct generator *g)
{
    return g->kind == LITERAL;
}

bool generator_same_literal(const struct generator *a, const struct generator *b)
{
    return a->length == b->length &&
           memcmp(a->integers, b->integers, a->length * sizeof *a->integers) == 0 &&
           memcmp(a->reals, b->reals, a->length * sizeof *a->reals) == 0;
}
