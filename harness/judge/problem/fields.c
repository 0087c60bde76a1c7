/* How it works: load_mapping() first refuses keys without a row, then goes through the rows of
 * that mapping in table order, finds the key, checks the kind of its value and calls the setter.
 * The setters of the parts that are more than a value or a list of texts are in params.c and
 * cases.c. */
#include "judge/problem/spec.h"
#include "judge/problem/suggest.h"
#include "judge/problem/target.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { S = NODE_SCALAR, L = NODE_LIST, M = NODE_MAPPING };

static const struct field {
    enum where where;
    const char *key;
    bool required;
    unsigned kinds;
    const char *allowed;
    field_setter set;
} FIELDS[] = {
#define FIELD(where, key, required, kinds, allowed, setter)                                        \
    {WHERE_##where, key, required, kinds, allowed, setter},
#include "judge/problem/fields.def"
#undef FIELD
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

/* ---- errors ---- */

static int fail_at(struct loader *l, unsigned line, unsigned column, const char *key,
                   const char *found, const char *allowed)
{
    err_set(l->e, "%s:%u:%u: %s: found %s; allowed: %s", l->file, line, column,
            node_label(key, l->arena), found, allowed);
    for (char *c = l->e ? l->e->text : NULL; c && *c; c++) /* one line, whatever was quoted */
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    return -1;
}

int spec_fail(struct loader *l, const struct node *at, const char *key, const char *found,
              const char *allowed)
{
    return fail_at(l, at->line, at->column, key, found, allowed);
}

int spec_fail_value(struct loader *l, const struct node *value, const char *key,
                    const char *allowed)
{
    return spec_fail(l, value, key, node_describe(value, l->arena), allowed);
}

int spec_fail_inside(struct loader *l, const struct node *value, const char *key,
                     const struct expr_error *error)
{
    /* Inside one line the offset is a column; in a folded text only its start is known. */
    unsigned column = value->column;
    if (!strchr(value->text, '\n'))
        column += (unsigned)error->offset + value->quoted;
    const char *found =
        arena_printf(l->arena, "%s in %s", error->found, node_describe(value, l->arena));
    return fail_at(l, value->line, column, key, found, error->allowed);
}

int spec_fail_unknown(struct loader *l, const struct node *at, const char *key, const char *found,
                      const char *const *names, unsigned count, const char *allowed)
{
    const char *near = suggest(at->text ? at->text : key, names, count);
    if (near)
        found = arena_printf(l->arena, "%s (did you mean '%s'?)", found, near);
    return spec_fail(l, at, key, found, allowed);
}

/* ---- the walk ---- */

static const struct field *find_field(enum where where, const char *key)
{
    const struct field *any = NULL;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (FIELDS[i].where != where)
            continue;
        if (strcmp(FIELDS[i].key, key) == 0 && key[0] != '*')
            return &FIELDS[i];
        if (FIELDS[i].key[0] == '*')
            any = &FIELDS[i];
    }
    return any;
}

static int refuse_unknown(struct loader *l, enum where where, const struct node *key)
{
    const char *names[FIELD_COUNT];
    unsigned count = 0;
    const char *list = "";
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (FIELDS[i].where != where)
            continue;
        list = arena_printf(l->arena, "%s%s%s", list, count ? ", " : "", FIELDS[i].key);
        names[count++] = FIELDS[i].key;
    }
    return spec_fail_unknown(l, key, key->text, "an unknown key", names, count, list);
}

static int take_value(struct loader *l, const struct field *f, const struct node *key,
                      const struct node *value, void *to)
{
    if (!(f->kinds & value->kind) || (value->kind == NODE_SCALAR && value->text[0] == '\0'))
        return spec_fail_value(l, value, key->text, f->allowed);
    return f->set(l, key, value, to);
}

int load_mapping(struct loader *l, enum where where, const struct node *n, const char *key,
                 void *to)
{
    if (n->kind != NODE_MAPPING)
        return spec_fail_value(l, n, key, "a mapping");
    for (unsigned i = 0; i < n->count; i++)
        if (!find_field(where, n->keys[i]->text))
            return refuse_unknown(l, where, n->keys[i]);
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        const struct field *f = &FIELDS[i];
        if (f->where != where)
            continue;
        if (f->key[0] == '*') {
            for (unsigned j = 0; j < n->count; j++)
                if (find_field(where, n->keys[j]->text) == f &&
                    take_value(l, f, n->keys[j], n->items[j], to) != 0)
                    return -1;
            continue;
        }
        struct node *key_node = NULL;
        const struct node *value = node_get(n, f->key, &key_node);
        if (value && take_value(l, f, key_node, value, to) != 0)
            return -1;
        if (!value && f->required)
            return spec_fail(l, n, f->key, "nothing", f->allowed);
    }
    return 0;
}

/* ---- values ---- */

int spec_integer(struct loader *l, const struct node *value, const char *key, int64_t lo,
                 int64_t hi, int64_t *out)
{
    const char *allowed = lo == hi ? arena_printf(l->arena, "%lld", (long long)lo)
                                   : arena_printf(l->arena, "a whole number from %lld to %lld",
                                                  (long long)lo, (long long)hi);
    if (value->kind != NODE_SCALAR)
        return spec_fail_value(l, value, key, allowed);
    const char *digits = value->text + (value->text[0] == '-');
    size_t length = strspn(digits, "0123456789");
    errno = 0;
    long long v = strtoll(value->text, NULL, 10);
    if (length == 0 || digits[length] || errno || v < lo || v > hi)
        return spec_fail_value(l, value, key, allowed);
    *out = v;
    return 0;
}

int spec_flag(struct loader *l, const struct node *value, const char *key, bool *out)
{
    *out = strcmp(value->text, "true") == 0;
    if (*out || strcmp(value->text, "false") == 0)
        return 0;
    return spec_fail_value(l, value, key, "true or false");
}

int spec_expression(struct loader *l, const struct node *value, const char *key, struct expr **out)
{
    if (value->kind != NODE_SCALAR)
        return spec_fail_value(l, value, key, "an expression");
    struct expr_error error;
    *out = expr_parse(value->text, &l->names, l->arena, &error);
    return *out ? 0 : spec_fail_inside(l, value, key, &error);
}

bool spec_is_identifier(const char *s)
{
    static const char *const RESERVED[] = {
        "alignas",   "alignof", "and",       "and_eq",   "asm",       "auto",     "bitand",
        "bitor",     "bool",    "break",     "case",     "catch",     "char",     "class",
        "compl",     "const",   "constexpr", "continue", "decltype",  "default",  "delete",
        "do",        "double",  "else",      "enum",     "explicit",  "export",   "extern",
        "false",     "float",   "for",       "friend",   "goto",      "if",       "inline",
        "int",       "long",    "main",      "mutable",  "namespace", "new",      "noexcept",
        "not",       "not_eq",  "nullptr",   "operator", "or",        "or_eq",    "private",
        "protected", "public",  "register",  "return",   "short",     "signed",   "sizeof",
        "static",    "struct",  "switch",    "template", "this",      "throw",    "true",
        "try",       "typedef", "typeid",    "typename", "union",     "unsigned", "using",
        "virtual",   "void",    "volatile",  "while",    "xor",       "xor_eq",   "size_t",
    };
    size_t length = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (length == 0 || s[length] || length >= WIRE_NAME_BYTES || (s[0] >= '0' && s[0] <= '9') ||
        strstr(s, "__"))
        return false;
    for (unsigned i = 0; i < sizeof RESERVED / sizeof RESERVED[0]; i++)
        if (strcmp(RESERVED[i], s) == 0)
            return false;
    return true;
}

int spec_texts(struct loader *l, const struct node *list, const char *key, const char *allowed,
               bool (*is_allowed)(const char *), const char ***texts, unsigned *count)
{
    *texts = arena_array(l->arena, list->count, sizeof **texts);
    for (unsigned i = 0; i < list->count; i++) {
        const struct node *item = list->items[i];
        if (item->kind != NODE_SCALAR || !is_allowed(item->text))
            return spec_fail_value(l, item, key, allowed);
        for (unsigned j = 0; j < i; j++)
            if (strcmp((*texts)[j], item->text) == 0)
                return spec_fail(l, item, key,
                                 arena_printf(l->arena, "%s twice", node_describe(item, l->arena)),
                                 "each once");
        (*texts)[i] = item->text;
    }
    *count = list->count;
    return 0;
}

/* ---- setters: what the problem is called and where it stands ---- */

int set_format(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    int64_t v;
    return spec_integer(l, value, key_node->text, 1, 1, &v);
}

static int load_localized(struct loader *l, const struct node *value, const char *key,
                          struct localized *to)
{
    if (value->kind == NODE_MAPPING)
        return load_mapping(l, WHERE_LOCALIZED, value, key, to);
    if (value->kind != NODE_SCALAR || value->text[0] == '\0')
        return spec_fail_value(l, value, key, "a text, or {en: ..., zh: ...}");
    to->en = value->text;
    return 0;
}

int set_localized_en(struct loader *l, const struct node *key_node, const struct node *value,
                     void *to)
{
    (void)l;
    (void)key_node;
    ((struct localized *)to)->en = value->text;
    return 0;
}

int set_localized_zh(struct loader *l, const struct node *key_node, const struct node *value,
                     void *to)
{
    (void)l;
    (void)key_node;
    ((struct localized *)to)->zh = value->text;
    return 0;
}

int set_title(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    return load_localized(l, value, key_node->text, &l->p->title);
}

int set_difficulty(struct loader *l, const struct node *key_node, const struct node *value,
                   void *to)
{
    (void)to;
    static const char *const NAMES[] = {"easy", "medium", "hard"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(value->text, NAMES[i]) == 0) {
            l->p->difficulty = (enum difficulty)i;
            return 0;
        }
    }
    return spec_fail_value(l, value, key_node->text, "easy, medium or hard");
}

/* Small letters, digits and inner hyphens: tags, problem ids. */
static bool is_slug(const char *s)
{
    size_t length = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return length > 0 && length < WIRE_NAME_BYTES && s[length] == '\0' && s[0] != '-' &&
           s[length - 1] != '-';
}

int set_target(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    l->p->target = target_find(value->text);
    return l->p->target ? 0 : spec_fail_value(l, value, key_node->text, targets_allowed());
}

int set_tags(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    return spec_texts(l, value, key_node->text, "words of small letters, digits and hyphens",
                      is_slug, &l->p->tags, &l->p->tag_count);
}

int set_after(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    return spec_texts(l, value, key_node->text, "problem ids of small letters, digits and hyphens",
                      is_slug, &l->p->after, &l->p->after_count);
}

int set_entry(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    if (!spec_is_identifier(value->text))
        return spec_fail_value(l, value, key_node->text, "a C identifier that is not reserved");
    l->p->entry = value->text;
    return 0;
}

int set_oracle(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    const char *const *names;
    unsigned count = oracle_names(&names);
    const char *list = "";
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], value->text) == 0) {
            const char *needs = oracle_misfit(l->p, value->text, l->arena);
            if (needs)
                return spec_fail(
                    l, value, key_node->text,
                    arena_printf(l->arena, "'%s', which does not fit the parameters", value->text),
                    needs);
            l->p->oracle = value->text;
            return 0;
        }
        list = arena_printf(l->arena, "%s%s%s", list, i ? ", " : "", names[i]);
    }
    return spec_fail_unknown(l, value, key_node->text, node_describe(value, l->arena), names, count,
                             list);
}

int set_reference(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    const char *s = value->text;
    size_t length = strlen(s);
    size_t plain = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    if (plain != length || length < 4 || length > 100 || s[0] == '.' || s[0] == '-' ||
        strcmp(s + length - 3, ".cu") != 0)
        return spec_fail_value(l, value, key_node->text, "a plain file name that ends in .cu");
    l->p->reference = s;
    l->p->reference_line = value->line;
    l->p->reference_column = value->column;
    return 0;
}

/* ---- setters: limits, rules, hints ---- */

static const struct unit {
    char kind; /* of limits.def */
    const char *name;
    double factor;
} UNITS[] = {
    {'t', "ms", 1e6},     {'t', "s", 1e9},      {'t', "min", 60e9},   {'b', "B", 1},
    {'b', "KiB", 0x1p10}, {'b', "MiB", 0x1p20}, {'b', "GiB", 0x1p30},
};

static int read_quantity(struct loader *l, const struct node *value, const char *key, char kind,
                         uint64_t most, uint64_t *out)
{
    char allowed[80];
    if (kind == 't')
        snprintf(allowed, sizeof allowed,
                 "a time above 0 such as 500 ms, 10 s or 2 min, at most %.0f hour%s",
                 (double)most / 3600e9, most > 3600000000000 ? "s" : "");
    else
        snprintf(allowed, sizeof allowed, "a size above 0 such as 512 B, 64 KiB, 1 MiB or 2 GiB");
    const char *s = value->text;
    char *end = NULL;
    double number = s[0] >= '0' && s[0] <= '9' && !strpbrk(s, "xX") ? strtod(s, &end) : 0;
    if (end && *end == ' ') {
        for (unsigned i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
            if (UNITS[i].kind != kind || strcmp(end + 1, UNITS[i].name) != 0)
                continue;
            double v = number * UNITS[i].factor;
            if (!(v >= 1 && v <= (double)most))
                break;
            *out = (uint64_t)v;
            return 0;
        }
    }
    return spec_fail_value(l, value, key, allowed);
}

int set_limits(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    return load_mapping(l, WHERE_LIMITS, value, key_node->text, &l->p->limits);
}

int set_limit(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    struct problem_limits *limits = to;
    const char *key = key_node->text;
#define LIMIT(name, field, unit, standard, most)                                                   \
    if (strcmp(key, #name) == 0)                                                                   \
        return read_quantity(l, value, key, unit, most, &limits->field);
#include "judge/problem/limits.def"
#undef LIMIT
    static const char *const NAMES[] = {
#define LIMIT(name, field, unit, standard, most) #name,
#include "judge/problem/limits.def"
#undef LIMIT
    };
    return spec_fail_unknown(l, key_node, key, "an unknown limit", NAMES,
                             sizeof NAMES / sizeof NAMES[0], "time, memory, compile_time, output");
}

int set_rules(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    return load_mapping(l, WHERE_RULES, value, key_node->text, &l->p->rules);
}

static bool is_header_prefix(const char *s)
{
    size_t length =
        strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+");
    return length > 0 && length < 200 && s[length] == '\0' && s[0] != '/';
}

int set_forbid_headers(struct loader *l, const struct node *key_node, const struct node *value,
                       void *to)
{
    struct problem_rules *rules = to;
    return spec_texts(l, value, key_node->text, "header prefixes as included, such as cub/",
                      is_header_prefix, &rules->forbid_headers, &rules->forbid_header_count);
}

static bool is_kernel_prefix(const char *s)
{
    size_t length = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
    return length > 0 && length < 200 && s[length] == '\0' && s[0] != ':';
}

int set_forbid_kernels(struct loader *l, const struct node *key_node, const struct node *value,
                       void *to)
{
    struct problem_rules *rules = to;
    return spec_texts(l, value, key_node->text,
                      "beginnings of kernel names, such as cub::", is_kernel_prefix,
                      &rules->forbid_kernels, &rules->forbid_kernel_count);
}

int set_hints(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    l->p->hints = arena_array(l->arena, value->count, sizeof *l->p->hints);
    for (unsigned i = 0; i < value->count; i++)
        if (load_localized(l, value->items[i], key_node->text, &l->p->hints[i].text) != 0)
            return -1;
    l->p->hint_count = value->count;
    return 0;
}

/* ---- setters: cost ---- */

int set_cost(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)to;
    l->p->costs = arena_array(l->arena, value->count, sizeof *l->p->costs);
    for (unsigned i = 0; i < value->count; i++)
        if (load_mapping(l, WHERE_COST, value->items[i], key_node->text, &l->p->costs[i]) != 0)
            return -1;
    l->p->cost_count = value->count;
    return 0;
}

int set_cost_case(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    const char **names = arena_array(l->arena, l->p->case_count, sizeof *names);
    for (unsigned i = 0; i < l->p->case_count; i++) {
        names[i] = l->p->cases[i].name;
        if (strcmp(names[i], value->text) == 0) {
            ((struct problem_cost *)to)->case_name = value->text;
            return 0;
        }
    }
    return spec_fail_unknown(l, value, key_node->text, node_describe(value, l->arena), names,
                             l->p->case_count, "the name of a case");
}

int set_cost_counter(struct loader *l, const struct node *key_node, const struct node *value,
                     void *to)
{
    if (cost_counter_known(value->text)) {
        ((struct problem_cost *)to)->counter = value->text;
        return 0;
    }
    const char *const *known = cost_counter_names(l->arena);
    unsigned count = 0;
    const char *list = "";
    while (known[count])
        count++;
    const char **names = arena_array(l->arena, 2 * (size_t)count, sizeof *names);
    for (unsigned i = 0; i < count; i++) {
        names[i] = known[i];
        names[count + i] = arena_printf(l->arena, "%s_per_item", known[i]);
        list = arena_printf(l->arena, "%s%s, ", list, known[i]);
    }
    count *= 2;
    return spec_fail_unknown(l, value, key_node->text, node_describe(value, l->arena), names, count,
                             arena_printf(l->arena, "%seach also with _per_item", list));
}

/* Can the expression be computed for its case? The rows above have set case and counter. */
static int check_limit(struct loader *l, const struct node *value, const char *key,
                       const struct problem_cost *cost)
{
    for (unsigned i = 0; i < l->p->case_count; i++) {
        struct err inner;
        double limit;
        if (strcmp(l->p->cases[i].name, cost->case_name) != 0)
            continue;
        if (cost_limit(cost, l->p->cases[i].values, &limit, &inner) != 0)
            return spec_fail(l, value, key, inner.text, "an expression that this case can compute");
        if (limit < 0)
            return spec_fail(l, value, key, arena_printf(l->arena, "%.0f in this case", limit),
                             "a number of at least 0");
    }
    return 0;
}

int set_cost_max(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    char *end = NULL;
    double v = value->text[0] >= '0' && value->text[0] <= '9' && !strpbrk(value->text, "xX")
                   ? strtod(value->text, &end)
                   : 0;
    struct problem_cost *cost = to;
    if (end && !*end && isfinite(v)) {
        cost->max = v;
        return 0;
    }
    if (spec_expression(l, value, key_node->text, &cost->most) != 0)
        return -1;
    return check_limit(l, value, key_node->text, cost);
}

int set_cost_why(struct loader *l, const struct node *key_node, const struct node *value, void *to)
{
    (void)l;
    (void)key_node;
    ((struct problem_cost *)to)->why = value->text;
    return 0;
}
