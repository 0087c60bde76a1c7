/* The tables of problems/README.md, from the tables that the judge itself is made of.
 * usage: problems_readme FILE         exits 1, and says so, if FILE is not up to date
 *        problems_readme FILE --write brings it up to date */
#include "base/file.h"
#include "judge/problem/problem.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char BEGIN[] =
    "<!-- generated from the judge's tables; ninja problems_readme_update -->\n";
static const char END[] = "<!-- end of what is generated -->\n";
enum { README_BYTES_MAX = 1 << 20 };

/* A cell: a bar would end it. */
static void cell(struct text *t, const char *s)
{
    text_add(t, " ");
    for (; *s; s++) {
        if (*s == '|')
            text_addc(t, '\\');
        text_addc(t, *s);
    }
    text_add(t, " |");
}

static void head(struct text *t, const char *const *titles)
{
    text_add(t, "\n|");
    for (int i = 0; titles[i]; i++)
        cell(t, titles[i]);
    text_add(t, "\n|");
    for (int i = 0; titles[i]; i++)
        text_add(t, "---|");
    text_addc(t, '\n');
}

static void row(struct text *t, const char *const *cells)
{
    text_addc(t, '|');
    for (int i = 0; cells[i]; i++)
        cell(t, cells[i]);
    text_addc(t, '\n');
}

#define HEAD(t, ...) head(t, (const char *const[]){__VA_ARGS__, NULL})
#define ROW(t, ...)  row(t, (const char *const[]){__VA_ARGS__, NULL})

/* ---- keys ---- */

static const struct place {
    const char *where, *people;
} PLACES[] = {
    {"TOP", "the file"},        {"LOCALIZED", "title, hints"}, {"VARIABLES", "variables"},
    {"VARIABLE", "a variable"}, {"PARAMETER", "a parameter"},  {"CHECK", "check"},
    {"CASE", "a case"},         {"BENCHMARK", "benchmark"},    {"SIZE", "a size of benchmark"},
    {"COST", "a cost limit"},   {"LIMITS", "limits"},          {"RULES", "rules"},
};

static const char *place_of(const char *where)
{
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++)
        if (strcmp(PLACES[i].where, where) == 0)
            return PLACES[i].people;
    fprintf(stderr, "problems_readme: say what %s is\n", where);
    exit(EXIT_FAILURE);
}

static void add_keys(struct text *t)
{
    text_add(t, "### Keys\n");
    HEAD(t, "in", "key", "must be there", "what is allowed");
#define FIELD(where, key, required, kinds, allowed, setter)                                        \
    ROW(t, place_of(#where), strcmp(key, "*") ? "`" key "`" : "any name", (required) ? "yes" : "", \
        allowed);
#include "judge/problem/fields.def"
#undef FIELD
}

/* ---- the rest ---- */

static void add_types(struct text *t)
{
    text_add(t, "\n### Element types\n");
    HEAD(t, "type", "in C", "bytes");
    for (int k = 0; k < WIRE_TYPE_COUNT; k++) {
        char name[64], c_name[64], bytes[16];
        enum wire_type type = (enum wire_type)k;
        snprintf(name, sizeof name, "`%s`", wire_type_name(type));
        snprintf(c_name, sizeof c_name, "`%s`", wire_type_c_name(type));
        snprintf(bytes, sizeof bytes, "%u", wire_type_bytes(type));
        if (strcmp(wire_type_name(type), "void") == 0)
            ROW(t, name, c_name, "workspaces only, `void*`");
        else
            ROW(t, name, c_name, bytes);
    }
}

static void add_generators(struct text *t)
{
    text_add(t, "\n### What an input may be made of (or a list of values)\n");
    HEAD(t, "generator", "what it makes", "types");
#define GENERATOR(name, arguments, required, makes, types, form, meaning)                          \
    ROW(t, "`" form "`", meaning,                                                                  \
        (types) == '*'   ? "any"                                                                   \
        : (types) == 'f' ? "float types"                                                           \
                         : "signed integers");
#include "judge/problem/generators.def"
#undef GENERATOR
}

static void add_comparisons(struct text *t)
{
    text_add(t, "\n### How an output is compared\n");
    HEAD(t, "comparison", "what passes");
#define COMPARE(id, yaml_name, arguments, meaning)                                                 \
    ROW(t, arguments[0] ? "`" yaml_name "(" arguments ")`" : "`" yaml_name "`", meaning);
#include "judge/problem/compare.def"
#undef COMPARE
}

static void limit_text(char *to, size_t bytes, char unit, unsigned long long value)
{
    static const struct {
        char unit;
        unsigned long long size;
        const char *name;
    } UNITS[] = {{'t', 3600000000000u, "h"}, {'t', 60000000000u, "min"},
                 {'t', 1000000000u, "s"},    {'t', 1000000u, "ms"},
                 {'b', 1u << 30, "GiB"},     {'b', 1u << 20, "MiB"},
                 {'b', 1u << 10, "KiB"},     {'b', 1, "B"}};
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
        if (UNITS[i].unit == unit && value && value % UNITS[i].size == 0) {
            snprintf(to, bytes, "%llu %s", value / UNITS[i].size, UNITS[i].name);
            return;
        }
    snprintf(to, bytes, "as the judge sees fit");
}

static void add_limits(struct text *t)
{
    char usual[64], most[64];
    text_add(t, "\n### Limits\n");
    HEAD(t, "limit", "without it", "at most");
#define LIMIT(key, field, unit, standard, highest)                                                 \
    limit_text(usual, sizeof usual, unit, standard);                                               \
    limit_text(most, sizeof most, unit, highest);                                                  \
    ROW(t, "`" #key "`", usual, most);
#include "judge/problem/limits.def"
#undef LIMIT
}

static void add_counters(struct text *t)
{
    struct arena arena;
    arena_init(&arena);
    text_add(t, "\n### Counters of cost limits (each also with `_per_item`)\n");
    HEAD(t, "counter", "what is counted, in one call");
#define COUNTER(id, phrase, meaning) ROW(t, "`" #id "`", meaning);
#include "wire/counters.def"
#undef COUNTER
    const char *const *names = cost_counter_names(&arena);
    for (unsigned i = COUNTER_COUNT; names[i]; i++) {
        char name[128];
        snprintf(name, sizeof name, "`%s`", names[i]);
        ROW(t, name, "made of those above, as its name says");
    }
    arena_release(&arena);
}

static void add_oracles(struct text *t)
{
    text_add(t, "\n### Serial oracles (`oracle:`; without one the reference gives the answers)\n");
    HEAD(t, "oracle", "what it computes");
#define SLOT(role, type, name)
#define VALUE(name)
#define ORACLE(name, slots, meaning) ROW(t, "`" #name "`", meaning);
#include "judge/problem/oracles.def"
#undef ORACLE
#undef VALUE
#undef SLOT
}

static void add_everything(struct text *t)
{
    add_keys(t);
    add_types(t);
    add_generators(t);
    add_comparisons(t);
    add_limits(t);
    add_counters(t);
    add_oracles(t);
}

int main(int argc, char **argv)
{
    struct text old, fresh;
    struct err e;
    text_init(&old);
    text_init(&fresh);
    if (argc < 2 || file_read(argv[1], README_BYTES_MAX, &old, &e) != 0) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: problems_readme FILE [--write]" : e.text);
        return EXIT_FAILURE;
    }
    const char *begin = strstr(text_str(&old), BEGIN), *end = strstr(text_str(&old), END);
    if (!begin || !end || end < begin) {
        fprintf(stderr, "%s has not the two lines\n%s%s", argv[1], BEGIN, END);
        return EXIT_FAILURE;
    }
    text_addn(&fresh, old.data, (size_t)(begin - old.data) + strlen(BEGIN));
    add_everything(&fresh);
    text_add(&fresh, end);
    bool same = strcmp(text_str(&old), text_str(&fresh)) == 0;
    if (!same && argc > 2 && file_write(argv[1], text_str(&fresh), fresh.length, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return EXIT_FAILURE;
    }
    if (!same && argc == 2)
        fprintf(stderr, "%s is older than the judge's tables: ninja problems_readme_update\n",
                argv[1]);
    text_release(&old);
    text_release(&fresh);
    return same || argc > 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
