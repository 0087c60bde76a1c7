/* Variables, parameters and checks: what the entry takes and how its answers are compared.
 *
 * Parameters are read twice: first only names and types, so that bytes(x) may name any buffer,
 * then everything. What must and must not be given depends on the kind of the parameter, so that is
 * checked when its mapping has been read. */
#include "judge/problem/call.h"
#include "judge/problem/number.h"
#include "judge/problem/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- variables ---- */

int set_variables(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    struct problem *p = l->p;
    p->variables = arena_array(l->arena, value->count, sizeof *p->variables);
    if (load_mapping(l, WHERE_VARIABLES, value, key_node->text, NULL) != 0)
        return -1;
    const char **names = arena_array(l->arena, p->variable_count, sizeof *names);
    for (unsigned i = 0; i < p->variable_count; i++)
        names[i] = p->variables[i].name;
    l->names.variables = names;
    l->names.variable_count = p->variable_count;
    return 0;
}

int set_variable(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    const char *name = key_node->text;
    if (!spec_is_identifier(name) || strcmp(name, "name") == 0 || strcmp(name, "public") == 0)
        return spec_fail_value(l, key_node, "variables",
                               "a C identifier that is not reserved, nor name or public");
    struct problem_variable *v = &l->p->variables[l->p->variable_count];
    *v = (struct problem_variable){.name = name, .type = WIRE_int64, .near = true};
    v->min = number_min(v->type);
    v->max = number_max(v->type);
    if (load_mapping(l, WHERE_VARIABLE, value, name, v) != 0)
        return -1;
    if (v->min > v->max)
        return spec_fail(l, value, name, "a min above max", "min up to max");
    l->p->variable_count++;
    return 0;
}

int set_variable_type(struct loader *l, const struct node *key_node, const struct node *value,
                      void *to)
{
    struct problem_variable *v = to;
    v->type = wire_type_find(value->text, strlen(value->text));
    if (v->type == WIRE_TYPE_COUNT || v->type == WIRE_void || number_is_float(v->type))
        return spec_fail_value(l, value, key_node->text, "an integer type such as int32 or int64");
    v->min = number_min(v->type);
    v->max = number_max(v->type);
    return 0;
}

int set_variable_min(struct loader *l, const struct node *key_node, const struct node *value,
                     void *to)
{
    struct problem_variable *v = to;
    return spec_integer(l, value, key_node->text, number_min(v->type), number_max(v->type),
                        &v->min);
}

int set_variable_max(struct loader *l, const struct node *key_node, const struct node *value,
                     void *to)
{
    struct problem_variable *v = to;
    return spec_integer(l, value, key_node->text, number_min(v->type), number_max(v->type),
                        &v->max);
}

int set_variable_near(struct loader *l, const struct node *key_node, const struct node *value,
                      void *to)
{
    return spec_flag(l, value, key_node->text, &((struct problem_variable *)to)->near);
}

/* ---- parameters ---- */

static int finish_buffer(struct loader *l, const struct node *n, struct problem_param *m)
{
    struct node *key = NULL;
    if (!node_get(n, "role", NULL))
        return spec_fail(l, n, "role", "nothing",
                         "input, output, inout or workspace for a pointer");
    if (node_get(n, "value", &key))
        return spec_fail(l, key, "value", "a value for a pointer", "role and shape");
    bool workspace = m->role == WIRE_WORKSPACE;
    if (workspace && !m->bytes)
        return spec_fail(l, n, "bytes", "nothing", "an expression: the size of the workspace");
    if (workspace && node_get(n, "shape", &key))
        return spec_fail(l, key, "shape", "a shape for a workspace", "bytes");
    if (!workspace && !m->shape_rank)
        return spec_fail(l, n, "shape", "nothing", "a list of one to four expressions");
    if (!workspace && node_get(n, "bytes", &key))
        return spec_fail(l, key, "bytes", "a size for an array", "shape");
    if (!workspace && m->type == WIRE_void)
        return spec_fail_value(l, node_get(n, "type", NULL), "type",
                               "an element type such as int32*; void* is for a workspace");
    m->is_const = m->role == WIRE_INPUT;
    return 0;
}

static int finish_param(struct loader *l, const struct node *n, struct problem_param *m)
{
    if (m->kind == PARAM_BUFFER)
        return finish_buffer(l, n, m);
    static const char *const BUFFER_KEYS[] = {"role", "shape", "bytes", "misalign"};
    struct node *key = NULL;
    for (unsigned i = 0; i < 4; i++)
        if (node_get(n, BUFFER_KEYS[i], &key))
            return spec_fail(l, key, BUFFER_KEYS[i], "a key of pointers", "name, type and value");
    if (m->kind == PARAM_SCALAR && !m->value)
        return spec_fail(l, n, "value", "nothing", "an expression: what is passed");
    if (m->kind == PARAM_STREAM && m->value)
        return spec_fail(l, n, "value", "a value for a stream", "name and type");
    return 0;
}

/* The names for bytes(), before anything is known to be right. */
static void collect_buffer_names(struct loader *l, const struct node *list)
{
    const char **names = arena_array(l->arena, list->count, sizeof *names);
    for (unsigned i = 0; i < list->count; i++) {
        if (list->items[i]->kind != NODE_MAPPING)
            continue;
        const struct node *name = node_get(list->items[i], "name", NULL);
        const struct node *type = node_get(list->items[i], "type", NULL);
        if (name && type && name->kind == NODE_SCALAR && type->kind == NODE_SCALAR &&
            strchr(type->text, '*'))
            names[i] = name->text;
    }
    l->names.buffers = names;
    l->names.buffer_count = list->count;
}

int set_parameters(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    (void)to;
    struct problem *p = l->p;
    if (value->count == 0 || value->count > WIRE_PARAMS_MAX)
        return spec_fail(l, value, key_node->text,
                         arena_printf(l->arena, "%u parameters", value->count), "1 to 32");
    collect_buffer_names(l, value);
    p->params = arena_array(l->arena, value->count, sizeof *p->params);
    for (unsigned i = 0; i < value->count; i++) {
        const struct node *n = value->items[i];
        struct problem_param *m = &p->params[i];
        if (load_mapping(l, WHERE_PARAMETER, n, key_node->text, m) != 0 ||
            finish_param(l, n, m) != 0)
            return -1;
        for (unsigned j = 0; j < i; j++) {
            if (strcmp(p->params[j].name, m->name) == 0)
                return spec_fail_value(l, node_get(n, "name", NULL), "name",
                                       "a name that no other parameter has");
            if (m->kind == PARAM_STREAM && p->params[j].kind == PARAM_STREAM)
                return spec_fail(l, n, key_node->text, "a second stream", "one");
        }
        if (m->kind == PARAM_BUFFER)
            for (unsigned j = 0; j < p->variable_count; j++)
                if (strcmp(p->variables[j].name, m->name) == 0)
                    return spec_fail_value(l, node_get(n, "name", NULL), "name",
                                           "a name that no variable has: cases give both");
        p->param_count++;
    }
    return 0;
}

int set_param_name(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    if (!spec_is_identifier(value->text) || strcmp(value->text, "name") == 0 ||
        strcmp(value->text, "public") == 0)
        return spec_fail_value(l, value, key_node->text,
                               "a C identifier that is not reserved, nor name or public");
    ((struct problem_param *)to)->name = value->text;
    return 0;
}

int set_param_type(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    struct problem_param *m = to;
    size_t length = strlen(value->text);
    if (strcmp(value->text, "stream") == 0) {
        m->kind = PARAM_STREAM;
        return 0;
    }
    bool pointer = value->text[length - 1] == '*';
    if (pointer)
        length--;
    while (length && value->text[length - 1] == ' ')
        length--;
    m->kind = pointer ? PARAM_BUFFER : PARAM_SCALAR;
    m->type = wire_type_find(value->text, length);
    if (m->type != WIRE_TYPE_COUNT && (pointer || m->type != WIRE_void))
        return 0;
    const char *names[WIRE_TYPE_COUNT + 1];
    const char *list = "";
    for (unsigned t = 0; t < WIRE_TYPE_COUNT; t++) {
        names[t] = wire_type_name((enum wire_type)t);
        if (t != WIRE_void)
            list = arena_printf(l->arena, "%s%s, ", list, names[t]);
    }
    names[WIRE_void] = "void*";
    names[WIRE_TYPE_COUNT] = "stream";
    return spec_fail_unknown(l, value, key_node->text, node_describe(value, l->arena), names,
                             WIRE_TYPE_COUNT + 1,
                             arena_printf(l->arena, "%seach also with *; void*, stream", list));
}

int set_param_role(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    static const struct {
        const char *name;
        enum wire_role role;
    } ROLES[] = {{"input", WIRE_INPUT},
                 {"output", WIRE_OUTPUT},
                 {"inout", WIRE_INOUT},
                 {"workspace", WIRE_WORKSPACE}};
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(ROLES[i].name, value->text) == 0) {
            ((struct problem_param *)to)->role = ROLES[i].role;
            return 0;
        }
    }
    const char *const names[] = {"input", "output", "inout", "workspace"};
    return spec_fail_unknown(l, value, key_node->text, node_describe(value, l->arena), names, 4,
                             "input, output, inout or workspace");
}

int set_param_shape(struct loader *l, const struct node *key_node, const struct node *value,
                    void *to)
{
    struct problem_param *m = to;
    if (value->count == 0 || value->count > PROBLEM_SHAPE_MAX)
        return spec_fail(l, value, key_node->text,
                         arena_printf(l->arena, "%u dimensions", value->count), "1 to 4");
    for (unsigned i = 0; i < value->count; i++)
        if (spec_expression(l, value->items[i], key_node->text, &m->shape[i]) != 0)
            return -1;
    m->shape_rank = value->count;
    return 0;
}

int set_param_bytes(struct loader *l, const struct node *key_node, const struct node *value,
                    void *to)
{
    return spec_expression(l, value, key_node->text, &((struct problem_param *)to)->bytes);
}

int set_param_value(struct loader *l, const struct node *key_node, const struct node *value,
                    void *to)
{
    l->names.allow_bytes = true;
    int status = spec_expression(l, value, key_node->text, &((struct problem_param *)to)->value);
    l->names.allow_bytes = false;
    return status;
}

int set_param_misalign(struct loader *l, const struct node *key_node, const struct node *value,
                       void *to)
{
    return spec_expression(l, value, key_node->text, &((struct problem_param *)to)->misalign);
}

/* ---- checks ---- */

static const struct {
    const char *name, *argument;
} COMPARES[COMPARE_COUNT] = {
#define COMPARE(id, yaml_name, arguments, meaning) {yaml_name, arguments},
#include "judge/problem/compare.def"
#undef COMPARE
};

static int find_param(const struct problem *p, const char *name)
{
    for (unsigned i = 0; i < p->param_count; i++)
        if (strcmp(p->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

int set_checker(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    const char *s = value->text;
    size_t length = strlen(s), plain = strspn(s, "abcdefghijklmnopqrstuvwxyz"
                                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    bool is_c = length > 2 && strcmp(s + length - 2, ".c") == 0;
    bool is_cu = length > 3 && strcmp(s + length - 3, ".cu") == 0;
    if (plain != length || s[0] == '.' || s[0] == '-' || !(is_c || is_cu))
        return spec_fail_value(l, value, key_node->text,
                               "a plain file name that ends in .c or .cu");
    l->p->checker = s;
    return 0;
}

int set_check(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    struct problem *p = l->p;
    p->checks = arena_array(l->arena, value->count, sizeof *p->checks);
    if (load_mapping(l, WHERE_CHECK, value, key_node->text, NULL) != 0)
        return -1;
    for (unsigned i = 0; i < p->param_count; i++)
        if (problem_is_output(&p->params[i]) && !node_get(value, p->params[i].name, NULL))
            return spec_fail(l, value, p->params[i].name, "nothing", "a comparison of this output");
    if (p->check_count == 0)
        return spec_fail(l, value, key_node->text, "no output", "at least one");
    bool is_asked = false;
    for (unsigned i = 0; i < p->check_count; i++)
        is_asked |= p->checks[i].compare == COMPARE_checker;
    if (p->checker && !is_asked)
        return spec_fail(l, value, key_node->text, "no output that is left to the checker",
                         "'checker' as the comparison of at least one");
    return 0;
}

static int compare_find(struct loader *l, const struct node *value, const char *key,
                        const char *name)
{
    const char *names[COMPARE_COUNT];
    const char *list = "";
    for (int i = 0; i < COMPARE_COUNT; i++) {
        names[i] = COMPARES[i].name;
        if (strcmp(names[i], name) == 0)
            return i;
        list = arena_printf(l->arena, "%s%s%s", list, i ? ", " : "", names[i]);
        if (COMPARES[i].argument[0])
            list = arena_printf(l->arena, "%s(%s)", list, COMPARES[i].argument);
    }
    return spec_fail_unknown(l, value, key, node_describe(value, l->arena), names, COMPARE_COUNT,
                             list);
}

/* The argument of a comparison that has one. */
static int set_check_argument(struct loader *l, const struct node *value, const char *key,
                              const char *argument, struct problem_check *c)
{
    struct problem *p = l->p;
    if (c->compare == COMPARE_ulp) {
        char *end;
        long long n = strtoll(argument, &end, 10);
        if (*end || n < 1 || n > 1000000)
            return spec_fail_value(l, value, key, "ulp(n) with n from 1 to 1000000");
        c->ulps = n;
        return 0;
    }
    bool prefix = c->compare == COMPARE_prefix || c->compare == COMPARE_prefix_any_order;
    int index = find_param(p, argument);
    const struct problem_param *m = index >= 0 ? &p->params[index] : NULL;
    if (!m || m->kind != PARAM_BUFFER || m->role == WIRE_WORKSPACE || number_is_float(m->type) ||
        index == (int)c->param || (prefix && !problem_is_output(m)))
        return spec_fail_value(l, value, key,
                               arena_printf(l->arena, "%s(x) where x is another %s",
                                            COMPARES[c->compare].name,
                                            prefix ? "output, an integer" : "integer array"));
    if (prefix)
        c->count_param = index;
    else
        c->group_param = index;
    return 0;
}

int set_check_output(struct loader *l, const struct node *key_node, const struct node *value,
                     void *to)
{
    (void)to;
    struct problem *p = l->p;
    const char *key = key_node->text;
    int param = find_param(p, key);
    if (param < 0 || !problem_is_output(&p->params[param])) {
        const char *names[WIRE_PARAMS_MAX];
        for (unsigned i = 0; i < p->param_count; i++)
            names[i] = problem_is_output(&p->params[i]) ? p->params[i].name : NULL;
        return spec_fail_unknown(l, key_node, key, param < 0 ? "no such parameter" : "no output",
                                 names, p->param_count, "the name of an output or inout parameter");
    }
    struct problem_check *c = &p->checks[p->check_count];
    *c = (struct problem_check){.param = (unsigned)param, .count_param = -1, .group_param = -1};
    struct call call;
    const char *wrong = call_parse(value->text, l->arena, &call);
    if (wrong)
        return spec_fail(l, value, key, wrong, "a comparison such as exact or prefix(count)");
    int compare = compare_find(l, value, key, call.name);
    if (compare < 0)
        return -1;
    c->compare = (enum compare_kind)compare;
    if (c->compare == COMPARE_checker && !p->checker)
        return spec_fail_value(l, value, key,
                               "checker only where a key 'checker: FILE' names the program");
    const char *argument = COMPARES[compare].argument;
    unsigned needed = argument[0] != '\0';
    if (call.arg_count != needed)
        return spec_fail_value(l, value, key,
                               needed ? arena_printf(l->arena, "%s(%s)", call.name, argument)
                                      : call.name);
    if (needed && set_check_argument(l, value, key, call.args[0], c) != 0)
        return -1;
    enum wire_type type = p->params[param].type;
    if ((c->compare == COMPARE_ulp || c->compare == COMPARE_scan_error_bound) &&
        !number_is_float(type))
        return spec_fail(
            l, value, key,
            arena_printf(l->arena, "%s for elements of type %s", call.name, wire_type_name(type)),
            "exact, any_order or prefix(count) for integers");
    p->check_count++;
    return 0;
}
