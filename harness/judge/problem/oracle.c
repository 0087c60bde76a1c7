/* The right answers by the plainest serial method, on the host, from the inputs of a case.
 *
 * An oracle states what it needs as slots (oracles.def); its function is in oracle_scan.c,
 * oracle_move.c or oracle_moe.c. Binding slots to a problem's parameters happens at load time, to
 * refuse a spec that does not fit, and again for each case. */
#include "judge/problem/oracle.h"
#include "judge/problem/problem.h"
#include "judge/problem/spec.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS_MAX = 12 };

/* What a slot asks of a type: a row of wire/types.def, or a family. */
enum slot_type {
#define TYPE(id, bytes, c_name, kind) SLOT_##id = WIRE_##id,
#include "wire/types.def"
#undef TYPE
    SLOT_any = 1000,
    SLOT_integer,
    SLOT_real,
    SLOT_same, /* as the first slot */
};

struct slot {
    bool is_value; /* a scalar parameter; neither role nor type */
    enum wire_role role;
    enum slot_type type;
    const char *name;
};

/* ---- elements as numbers ---- */

static uint64_t read_bits(const struct oracle_operand *o, uint64_t i)
{
    unsigned size = wire_type_bytes(o->type);
    uint64_t bits = 0; /* little-endian: the low bytes come first */
    memcpy(&bits, (const uint8_t *)o->in + i * size, size);
    return bits;
}

int64_t oracle_int(const struct oracle_operand *o, uint64_t i)
{
    if (number_is_float(o->type))
        return (int64_t)oracle_real(o, i);
    unsigned shift = 64 - 8 * wire_type_bytes(o->type);
    uint64_t bits = read_bits(o, i);
    return wire_type_kind(o->type) == 's' ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

double oracle_real(const struct oracle_operand *o, uint64_t i)
{
    if (number_is_float(o->type))
        return number_to_double(o->type, read_bits(o, i));
    return wire_type_kind(o->type) == 's' ? (double)oracle_int(o, i) : (double)read_bits(o, i);
}

void oracle_put_int(const struct oracle_operand *o, uint64_t i, int64_t value)
{
    number_store_integers(o->type, o->out, i, &value, 1);
}

void oracle_put_real(const struct oracle_operand *o, uint64_t i, double value)
{
    number_store_reals(o->type, o->out, i, &value, 1);
}

void oracle_move(const struct oracle_operand *to, uint64_t i, const struct oracle_operand *from,
                 uint64_t j)
{
    unsigned size = wire_type_bytes(from->type);
    memcpy((uint8_t *)to->out + i * size, (const uint8_t *)from->in + j * size, size);
}

/* ---- the table ---- */

static const struct oracle {
    const char *name;
    struct slot slots[SLOTS_MAX]; /* ends with a NULL name */
    oracle_function *run;
} ORACLES[] = {
#define SLOT(role, type, name)     {false, WIRE_##role, SLOT_##type, name},
#define VALUE(name)                {true, WIRE_INPUT, SLOT_any, name},
#define ORACLE(id, slots, meaning) {#id, {slots}, oracle_##id},
#include "judge/problem/oracles.def"
#undef ORACLE
#undef VALUE
#undef SLOT
};
enum { ORACLE_COUNT = sizeof ORACLES / sizeof ORACLES[0] };

unsigned oracle_names(const char *const **names)
{
    static const char *const NAMES[] = {
#define ORACLE(id, slots, meaning) #id,
#include "judge/problem/oracles.def"
#undef ORACLE
    };
    *names = NAMES;
    return ORACLE_COUNT;
}

static const struct oracle *find_oracle(const char *name)
{
    for (unsigned i = 0; i < ORACLE_COUNT; i++)
        if (strcmp(ORACLES[i].name, name) == 0)
            return &ORACLES[i];
    return NULL;
}

/* `first` is the type that the first slot took; WIRE_void before it took one. */
static bool type_fits(enum wire_type type, enum slot_type wanted, enum wire_type first)
{
    if (wanted == SLOT_any || wanted == SLOT_integer || wanted == SLOT_real)
        return type != WIRE_void &&
               (wanted == SLOT_any || number_is_float(type) == (wanted == SLOT_real));
    return wanted == SLOT_same ? type == first : type == (enum wire_type)wanted;
}

static bool fits(const struct problem_param *m, const struct slot *s, enum wire_type first)
{
    if (s->is_value)
        return m->kind == PARAM_SCALAR;
    return m->kind == PARAM_BUFFER && (m->role == s->role || m->role == WIRE_INOUT) &&
           type_fits(m->type, s->type, first);
}

/* Which parameter each slot takes; the first slot without one, or NULL when all have one. */
static const struct slot *bind(const struct problem *p, const struct oracle *o, unsigned *params)
{
    bool taken[WIRE_PARAMS_MAX] = {false};
    unsigned slot_count = 0;
    while (slot_count < SLOTS_MAX && o->slots[slot_count].name)
        slot_count++;
    bool bound[SLOTS_MAX] = {false};
    enum wire_type first = WIRE_void;
    for (int by_name = 1; by_name >= 0; by_name--) {
        for (unsigned s = 0; s < slot_count; s++) {
            for (unsigned i = 0; i < p->param_count && !bound[s]; i++) {
                const struct problem_param *m = &p->params[i];
                /* An inout may be the input of one slot and the output of another. */
                bool available = !taken[i] || m->role == WIRE_INOUT;
                if (!available || !fits(m, &o->slots[s], first) ||
                    (by_name && strcmp(m->name, o->slots[s].name) != 0))
                    continue;
                params[s] = i;
                taken[i] = bound[s] = true;
                first = s == 0 ? m->type : first;
            }
        }
    }
    for (unsigned s = 0; s < slot_count; s++)
        if (!bound[s])
            return &o->slots[s];
    return NULL;
}

/* "int32*", "of any integer type", "of the same type" */
static const char *slot_type_for_people(enum slot_type t, struct arena *arena)
{
    if (t == SLOT_any)
        return "of any type";
    if (t == SLOT_same)
        return "of the same type";
    if (t == SLOT_integer || t == SLOT_real)
        return t == SLOT_real ? "of any float type" : "of any integer type";
    return arena_printf(arena, "%s*", wire_type_name((enum wire_type)t));
}

const char *oracle_misfit(const struct problem *p, const char *oracle, struct arena *arena)
{
    const struct oracle *o = find_oracle(oracle);
    unsigned params[SLOTS_MAX];
    if (!o || !bind(p, o, params))
        return NULL;
    const char *needs = "parameters";
    for (unsigned s = 0; s < SLOTS_MAX && o->slots[s].name; s++) {
        const struct slot *t = &o->slots[s];
        const char *role = t->role == WIRE_INPUT ? "input" : "output";
        needs = arena_printf(arena, t->is_value ? "%s%s a number (%s)" : "%s%s %s %s (%s)", needs,
                             s ? "," : "", t->is_value ? t->name : role,
                             slot_type_for_people(t->type, arena), t->name);
    }
    return needs;
}

static struct oracle_operand operand_of(const struct case_data *data, const struct slot *s,
                                        unsigned param, const char *oracle)
{
    const struct problem_param *m = &data->problem->params[param];
    const struct case_buffer *b = &data->buffers[param];
    struct oracle_operand o = {.type = m->type, .count = s->is_value ? 1 : b->count};
    if (s->is_value) {
        struct oracle_operand bits = {.type = m->type, .count = 1, .in = &data->scalars[param]};
        o.value = oracle_int(&bits, 0);
        o.real = oracle_real(&bits, 0);
        return o;
    }
    if (s->role == WIRE_INPUT)
        o.in = b->input;
    else
        o.out = b->expected;
    if (b->count && !o.in && !o.out)
        BUG("oracle %s: no memory for %s", oracle, m->name);
    return o;
}

static int find_operands(const struct case_data *data, const struct oracle **oracle,
                         struct oracle_operand operands[SLOTS_MAX], struct err *e)
{
    const struct problem *p = data->problem;
    const struct oracle *o = p->oracle ? find_oracle(p->oracle) : NULL;
    if (!o)
        return err_set(e, "the problem %s has no oracle", p->id ? p->id : p->file);
    unsigned params[SLOTS_MAX];
    if (bind(p, o, params))
        return err_set(e, "the oracle %s does not fit the problem %s", o->name, p->id);
    for (unsigned s = 0; s < SLOTS_MAX && o->slots[s].name; s++)
        operands[s] = operand_of(data, &o->slots[s], params[s], o->name);
    *oracle = o;
    return 0;
}

int oracle_expected(struct case_data *data, struct err *e)
{
    const struct oracle *o;
    struct oracle_operand operands[SLOTS_MAX] = {0};
    if (find_operands(data, &o, operands, e) != 0)
        return -1;
    o->run(operands);
    return 0;
}

/* ---- in parts ---- */

static const struct parts {
    const char *name;
    oracle_sum_function *sum;
    oracle_fill_function *fill;
} PARTS[] = {
#define PARTS(id) {#id, oracle_sum_##id, oracle_fill_##id},
#include "judge/problem/oracle_parts.def"
#undef PARTS
};

static const struct parts *find_parts(const struct problem *p)
{
    for (unsigned i = 0; p->oracle && i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (strcmp(PARTS[i].name, p->oracle) == 0)
            return &PARTS[i];
    return NULL;
}

uint64_t oracle_part_elements(const struct case_data *data)
{
    const struct problem *p = data->problem;
    unsigned params[SLOTS_MAX];
    if (!find_parts(p) || bind(p, find_oracle(p->oracle), params))
        return 0;
    return data->buffers[params[0]].count;
}

/* Who asks for parts has been told that there are elements. */
static const struct parts *need_parts(const struct case_data *data,
                                      struct oracle_operand operands[SLOTS_MAX])
{
    const struct oracle *unused;
    const struct parts *parts = find_parts(data->problem);
    struct err e = {"its oracle does not work in parts"};
    if (!parts || find_operands(data, &unused, operands, &e) != 0)
        BUG("%s: %s", data->problem->file, e.text);
    return parts;
}

uint64_t oracle_part_sum(const struct case_data *data, uint64_t from, uint64_t to)
{
    struct oracle_operand operands[SLOTS_MAX] = {0};
    return need_parts(data, operands)->sum(operands, from, to);
}

void oracle_part_fill(struct case_data *data, uint64_t from, uint64_t to, uint64_t before)
{
    struct oracle_operand operands[SLOTS_MAX] = {0};
    need_parts(data, operands)->fill(operands, from, to, before);
}
