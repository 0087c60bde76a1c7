/* Cases and benchmark sizes: reading them, and expanding sweeps into concrete cases.
 *
 * A case gives every variable one value or several; the product of all lists, the first variable
 * varying slowest, makes the concrete cases, whose names come from the template. Each is then laid
 * out and its generators are checked, so that a spec that loads can be run. */
#include "base/text.h"
#include "judge/problem/call.h"
#include "judge/problem/spec.h"

#include <stdio.h>
#include <string.h>

enum { CASE_NAME_MAX = 100 };

/* ---- values of a variable ---- */

static int sweep_add(struct loader *l, struct sweep *s, const struct node *at, const char *key,
                     int64_t v)
{
    if (s->count == PROBLEM_CASES_MAX)
        return spec_fail(l, at, key, "more than 4096 values", "4096 cases");
    if (s->count == s->capacity) {
        unsigned capacity = s->capacity ? s->capacity * 2 : 16;
        int64_t *values = arena_array(l->arena, capacity, sizeof *values);
        if (s->count)
            memcpy(values, s->values, s->count * sizeof *values);
        s->values = values;
        s->capacity = capacity;
    }
    s->values[s->count++] = v;
    return 0;
}

/* `range(first, last, step=1)`, both ends included. */
static int sweep_range(struct loader *l, struct sweep *s, const struct node *value,
                       const struct problem_variable *v, const struct call *call)
{
    static const char FORM[] = "range(first, last, step) of whole numbers, step at least 1";
    if (call->arg_count < 2 || call->arg_count > 3)
        return spec_fail_value(l, value, v->name, FORM);
    int64_t args[3] = {0, 0, 1};
    for (unsigned i = 0; i < call->arg_count; i++) {
        struct node argument = {.kind = NODE_SCALAR,
                                .text = call->args[i],
                                .line = value->line,
                                .column =
                                    value->column + value->quoted + (unsigned)call->offsets[i]};
        int64_t lo = i == 2 ? 1 : v->min;
        if (spec_integer(l, &argument, v->name, lo, v->max, &args[i]) != 0)
            return -1;
    }
    if (args[0] > args[1])
        return spec_fail_value(l, value, v->name, FORM);
    for (int64_t x = args[0];;) {
        if (sweep_add(l, s, value, v->name, x) != 0)
            return -1;
        if (__builtin_add_overflow(x, args[2], &x) || x > args[1])
            return 0;
    }
}

static int sweep_item(struct loader *l, struct sweep *s, const struct node *value,
                      const struct problem_variable *v)
{
    struct call call;
    if (value->kind == NODE_SCALAR && strncmp(value->text, "range", 5) == 0 &&
        !call_parse(value->text, l->arena, &call) && strcmp(call.name, "range") == 0)
        return sweep_range(l, s, value, v, &call);
    int64_t x;
    if (spec_integer(l, value, v->name, v->min, v->max, &x) != 0)
        return -1;
    return sweep_add(l, s, value, v->name, x);
}

static int read_sweep(struct loader *l, struct sweep *s, const struct node *value,
                      const struct problem_variable *v)
{
    if (value->kind == NODE_SCALAR)
        return sweep_item(l, s, value, v);
    if (value->count == 0)
        return spec_fail(l, value, v->name, "an empty list", "at least one value");
    for (unsigned i = 0; i < value->count; i++)
        if (sweep_item(l, s, value->items[i], v) != 0)
            return -1;
    return 0;
}

/* ---- setters ---- */

static int find_variable(const struct problem *p, const char *name)
{
    for (unsigned i = 0; i < p->variable_count; i++)
        if (strcmp(p->variables[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool is_input(const struct problem_param *m)
{
    return m->kind == PARAM_BUFFER && (m->role == WIRE_INPUT || m->role == WIRE_INOUT);
}

int set_case_name(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)l;
    (void)key_node;
    ((struct case_source *)to)->name = value->text;
    return 0;
}

int set_case_public(struct loader *l, const struct node *key_node, const struct node *value,
                    void *to)
{
    return spec_flag(l, value, key_node->text, &((struct case_source *)to)->is_public);
}

static int read_input(struct loader *l, const struct node *value, const struct problem_param *m,
                      struct generator **g)
{
    if (value->kind == NODE_SCALAR) {
        struct expr_error error;
        *g = generator_parse(value->text, m->type, &l->names, l->arena, &error);
        return *g ? 0 : spec_fail_inside(l, value, m->name, &error);
    }
    *g = generator_literal(value->count, l->arena);
    for (unsigned i = 0; i < value->count; i++) {
        const struct node *item = value->items[i];
        const char *allowed =
            item->kind == NODE_SCALAR ? generator_literal_add(*g, m->type, item->text) : "a number";
        if (allowed)
            return spec_fail_value(l, item, m->name, allowed);
    }
    return 0;
}

/* A key of a case that is neither name nor public. */
int set_case_value(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    struct case_source *c = to;
    struct problem *p = l->p;
    const char *key = key_node->text;
    int variable = find_variable(p, key);
    if (variable >= 0)
        return read_sweep(l, &c->sweeps[variable], value, &p->variables[variable]);
    const char *list = "name, public";
    const char *names[512 + WIRE_PARAMS_MAX + 2] = {"name",
                                                    "public"}; /* variables: keys of a mapping */
    unsigned count = 2;
    for (unsigned i = 0; i < p->variable_count; i++) {
        names[count++] = p->variables[i].name;
        list = arena_printf(l->arena, "%s, %s", list, p->variables[i].name);
    }
    for (unsigned i = 0; i < p->param_count; i++) {
        if (!is_input(&p->params[i]))
            continue;
        if (strcmp(p->params[i].name, key) == 0) {
            c->input_nodes[i] = value;
            return read_input(l, value, &p->params[i], &c->inputs[i]);
        }
        names[count++] = p->params[i].name;
        list = arena_printf(l->arena, "%s, %s", list, p->params[i].name);
    }
    return spec_fail_unknown(l, key_node, key, "an unknown key", names, count, list);
}

/* ---- expanding ---- */

/* The template with {variable} replaced. */
static int render_name(struct loader *l, const struct case_source *c, const int64_t *values,
                       const char **name)
{
    const struct node *at = node_get(c->node, "name", NULL);
    struct text t;
    text_init(&t);
    int status = -1;
    for (const char *s = c->name; *s; s++) {
        if ((unsigned char)*s < 0x20 || strchr("\"'`$\\", *s)) {
            spec_fail_value(l, at, "name", "printable characters but no quotes, $ or backslash");
            goto out;
        }
        if (*s != '{' && *s != '}') {
            text_addc(&t, *s);
            continue;
        }
        size_t length = strcspn(s + 1, "}");
        const char *variable = arena_strndup(l->arena, s + 1, length);
        int index = *s == '{' && s[length + 1] ? find_variable(l->p, variable) : -1;
        if (index < 0) {
            spec_fail_value(l, at, "name", "braces around the name of a variable");
            goto out;
        }
        text_addf(&t, "%lld", (long long)values[index]);
        s += length + 1;
    }
    if (t.length > CASE_NAME_MAX) {
        spec_fail_value(l, at, "name", "at most 100 bytes");
        goto out;
    }
    *name = arena_strdup(l->arena, text_str(&t));
    status = 0;
out:
    text_release(&t);
    return status;
}

static int check_concrete(struct loader *l, const struct case_source *s,
                          const struct problem_case *c)
{
    const struct problem *p = l->p;
    struct case_buffer buffers[WIRE_PARAMS_MAX] = {0};
    uint64_t scalars[WIRE_PARAMS_MAX] = {0};
    struct err inner;
    if (layout_evaluate(p, c->values, buffers, scalars, &inner) != 0 ||
        layout_check_memory(p, buffers, &inner) != 0)
        return spec_fail(l, s->node, "cases",
                         arena_printf(l->arena, "'%s': %.600s", c->name, inner.text),
                         "sizes within the limits");
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *m = &p->params[i];
        if (!is_input(m))
            continue;
        if (!c->inputs[i] && buffers[i].count)
            return spec_fail(l, s->node, m->name, "nothing",
                             arena_printf(l->arena, "%llu values or a generator for case '%s'",
                                          (unsigned long long)buffers[i].count, c->name));
        if (c->inputs[i] &&
            generator_check(c->inputs[i], m->type, buffers[i].count, c->values, &inner) != 0)
            return spec_fail(l, s->input_nodes[i], m->name,
                             arena_printf(l->arena, "%.600s", inner.text),
                             arena_printf(l->arena, "what fits case '%s'", c->name));
    }
    for (unsigned i = 0; i < p->check_count; i++) {
        int count_param = p->checks[i].count_param;
        if (count_param >= 0 && buffers[count_param].count != 1)
            return spec_fail(l, s->node, p->params[count_param].name,
                             arena_printf(l->arena, "%llu elements in case '%s'",
                                          (unsigned long long)buffers[count_param].count, c->name),
                             "one element, since prefix() takes its length from it");
    }
    return 0;
}

static int add_concrete(struct loader *l, const struct case_source *s, const unsigned *at)
{
    struct problem *p = l->p;
    if (p->case_count == PROBLEM_CASES_MAX)
        return spec_fail(l, s->node, "cases", "more than 4096 cases", "4096");
    struct problem_case *c = &p->cases[p->case_count];
    *c = (struct problem_case){
        .is_public = s->is_public, .inputs = s->inputs, .source_line = s->node->line};
    c->values = arena_array(l->arena, p->variable_count, sizeof *c->values);
    for (unsigned v = 0; v < p->variable_count; v++)
        c->values[v] = s->sweeps[v].values[at[v]];
    if (render_name(l, s, c->values, &c->name) != 0)
        return -1;
    for (unsigned i = 0; i < p->case_count; i++)
        if (strcmp(p->cases[i].name, c->name) == 0)
            return spec_fail(l, node_get(s->node, "name", NULL), "name",
                             arena_printf(l->arena, "'%s' a second time (first in line %u)",
                                          c->name, p->cases[i].source_line),
                             "each name once; a sweep needs {variable} in it");
    p->case_count++;
    return check_concrete(l, s, c);
}

static int expand(struct loader *l, const struct case_source *s)
{
    const struct problem *p = l->p;
    for (unsigned v = 0; v < p->variable_count; v++)
        if (s->sweeps[v].count == 0)
            return spec_fail(l, s->node, p->variables[v].name, "nothing",
                             "a value for every variable");
    unsigned *at = arena_array(l->arena, p->variable_count, sizeof *at);
    for (;;) {
        if (add_concrete(l, s, at) != 0)
            return -1;
        unsigned v = p->variable_count; /* the last variable varies fastest */
        while (v && ++at[v - 1] == s->sweeps[v - 1].count)
            at[--v] = 0;
        if (v == 0)
            return 0;
    }
}

int set_cases(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    struct problem *p = l->p;
    p->cases = arena_array(l->arena, PROBLEM_CASES_MAX, sizeof *p->cases);
    for (unsigned i = 0; i < value->count; i++) {
        struct case_source s = {.node = value->items[i]};
        s.sweeps = arena_array(l->arena, p->variable_count, sizeof *s.sweeps);
        s.inputs = arena_array(l->arena, p->param_count, sizeof(struct generator *));
        s.input_nodes = arena_array(l->arena, p->param_count, sizeof(const struct node *));
        if (load_mapping(l, WHERE_CASE, s.node, key_node->text, &s) != 0 || expand(l, &s) != 0)
            return -1;
    }
    if (p->case_count == 0)
        return spec_fail(l, value, key_node->text, "an empty list", "at least one case");
    return 0;
}

/* ---- benchmark ---- */

int set_benchmark(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    return load_mapping(l, WHERE_BENCHMARK, value, key_node->text, NULL);
}

int set_benchmark_sizes(struct loader *l, const struct node *key_node, const struct node *value,
                        void *to)
{
    (void)to;
    struct problem *p = l->p;
    p->benchmark = arena_array(l->arena, value->count, sizeof *p->benchmark);
    for (unsigned i = 0; i < value->count; i++) {
        const struct node *size = value->items[i];
        p->benchmark[i] = arena_array(l->arena, p->variable_count, sizeof **p->benchmark);
        if (load_mapping(l, WHERE_SIZE, size, key_node->text, p->benchmark[i]) != 0)
            return -1;
        for (unsigned v = 0; v < p->variable_count; v++)
            if (!node_get(size, p->variables[v].name, NULL))
                return spec_fail(l, size, p->variables[v].name, "nothing",
                                 "a value for every variable");
        struct case_buffer buffers[WIRE_PARAMS_MAX];
        uint64_t scalars[WIRE_PARAMS_MAX];
        struct err inner;
        if (layout_evaluate(p, p->benchmark[i], buffers, scalars, &inner) != 0)
            return spec_fail(l, size, key_node->text, arena_printf(l->arena, "%.600s", inner.text),
                             "sizes that can be computed");
    }
    p->benchmark_count = value->count;
    return 0;
}

int set_size_value(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    const struct problem *p = l->p;
    int variable = find_variable(p, key_node->text);
    if (variable < 0)
        return spec_fail_unknown(l, key_node, key_node->text, "no variable", l->names.variables,
                                 l->names.variable_count, "the variables of this problem");
    const struct problem_variable *v = &p->variables[variable];
    return spec_integer(l, value, v->name, v->min, v->max, (int64_t *)to + variable);
}

int set_benchmark_bytes(struct loader *l, const struct node *key_node, const struct node *value,
                        void *to)
{
    (void)to;
    struct problem *p = l->p;
    if (spec_expression(l, value, key_node->text, &p->benchmark_bytes) != 0)
        return -1;
    for (unsigned i = 0; i < p->benchmark_count; i++) {
        struct expr_values values = {.variables = p->benchmark[i]};
        struct err inner;
        int64_t v;
        if (expr_eval(p->benchmark_bytes, &values, &v, &inner) != 0)
            return spec_fail(l, value, key_node->text, inner.text, "what fits every size");
        if (v <= 0)
            return spec_fail(l, value, key_node->text,
                             arena_printf(l->arena, "%lld bytes for a size", (long long)v),
                             "more than 0 for every size");
    }
    return 0;
}
