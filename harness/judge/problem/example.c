/* Lines become lists of words first (collect), one list per name; then variables are numbers, the
 * sizes follow from them, and inputs and outputs are literal generators of those sizes (make). */
#include "judge/problem/example.h"

#include "base/file.h"
#include "judge/problem/spec.h"
#include "judge/problem/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES_MAX = 32, WORDS_MAX = 4096, NAMES_MAX = 512 };

struct words { /* behind one name */
    const char **items;
    unsigned count;
    unsigned line; /* 0 = the name does not occur */
    bool open;     /* ends with … */
};

struct reader {
    const struct problem *p;
    const char *file;
    struct arena *arena;
    struct err *e;
    unsigned line, block_line;
    struct words variables[NAMES_MAX], params[WIRE_PARAMS_MAX];
};

static int fail_at(const struct reader *r, unsigned line, const char *sentence)
{
    return err_set(r->e, "%s:%u: %s", r->file, line, sentence);
}

/* ---- names and words ---- */

static bool is_given(const struct problem_param *m)
{
    return m->kind == PARAM_BUFFER && m->role != WIRE_WORKSPACE;
}

static struct words *find_words(struct reader *r, const char *name)
{
    for (unsigned i = 0; i < r->p->variable_count && i < NAMES_MAX; i++)
        if (strcmp(r->p->variables[i].name, name) == 0)
            return &r->variables[i];
    for (unsigned i = 0; i < r->p->param_count; i++)
        if (is_given(&r->p->params[i]) && strcmp(r->p->params[i].name, name) == 0)
            return &r->params[i];
    return NULL;
}

static int unknown_name(const struct reader *r, const char *name)
{
    const char *names[NAMES_MAX + WIRE_PARAMS_MAX], *list = "";
    unsigned count = 0;
    for (unsigned i = 0; i < r->p->variable_count && i < NAMES_MAX; i++)
        names[count++] = r->p->variables[i].name;
    for (unsigned i = 0; i < r->p->param_count; i++)
        if (is_given(&r->p->params[i]))
            names[count++] = r->p->params[i].name;
    for (unsigned i = 0; i < count; i++)
        list = arena_printf(r->arena, "%s%s%s", list, i ? ", " : "", names[i]);
    const char *near = suggest(name, names, count);
    return fail_at(r, r->line,
                   arena_printf(r->arena,
                                "an example names '%s'%s%s%s; allowed are the variables, inputs "
                                "and outputs: %s",
                                name, near ? " (did you mean '" : "", near ? near : "",
                                near ? "'?)" : "", list));
}

static int add_words(const struct reader *r, struct words *w, const char *text)
{
    char *copy = arena_strdup(r->arena, text), *state;
    for (char *word = strtok_r(copy, " \t\r", &state); word;
         word = strtok_r(NULL, " \t\r", &state)) {
        if (w->open)
            return fail_at(r, r->line, "nothing may follow '…': it stands for all that is left");
        w->open = strcmp(word, "…") == 0 || strcmp(word, "...") == 0;
        if (w->open)
            continue;
        if (w->count == WORDS_MAX)
            return fail_at(r, r->line, "more than 4096 values; an example is to be read");
        w->items[w->count++] = word;
    }
    return 0;
}

/* One line of a block; *last is where words without a name go. */
static int read_line(struct reader *r, const char *text, struct words **last)
{
    char *line = arena_strdup(r->arena, text);
    line[strcspn(line, "#")] = '\0';
    if (line[strspn(line, " \t\r")] == '\0')
        return 0;
    char *equals = strchr(line, '=');
    if (!equals && !*last)
        return fail_at(r, r->line, "an example begins with a name, such as 'n = 8'");
    if (!equals)
        return add_words(r, *last, line);
    *equals = '\0';
    char *name = line + strspn(line, " \t");
    name[strcspn(name, " \t\r")] = '\0';
    struct words *w = find_words(r, name);
    if (!w)
        return unknown_name(r, name);
    if (w->line)
        return fail_at(
            r, r->line,
            arena_printf(r->arena, "'%s' a second time (first in line %u)", name, w->line));
    w->line = r->line;
    w->items = arena_array(r->arena, WORDS_MAX, sizeof w->items[0]);
    *last = w;
    return add_words(r, w, equals + 1);
}

/* ---- from words to a case ---- */

static int missing(const struct reader *r, const char *name)
{
    return fail_at(r, r->block_line,
                   arena_printf(r->arena,
                                "the example does not say '%s'; every variable, input and output "
                                "has a line",
                                name));
}

static int make_variable(const struct reader *r, unsigned i, int64_t *value)
{
    const struct problem_variable *v = &r->p->variables[i];
    const struct words *w = &r->variables[i];
    if (!w->line)
        return missing(r, v->name);
    char *end = NULL;
    errno = 0;
    *value = w->count == 1 ? strtoll(w->items[0], &end, 10) : 0;
    if (w->count != 1 || w->open || *end || errno || *value < v->min || *value > v->max)
        return fail_at(r, w->line,
                       arena_printf(r->arena, "%s: one whole number from %lld to %lld", v->name,
                                    (long long)v->min, (long long)v->max));
    return 0;
}

static bool is_prefix(const struct problem *p, unsigned param)
{
    for (unsigned i = 0; i < p->check_count; i++)
        if (p->checks[i].param == param)
            return p->checks[i].count_param >= 0;
    return false;
}

static int make_list(const struct reader *r, unsigned param, uint64_t count, struct generator **g)
{
    const struct problem_param *m = &r->p->params[param];
    const struct words *w = &r->params[param];
    if (!w->line)
        return missing(r, m->name);
    if (problem_is_output(m) && w->count == 1 && !w->open && strcmp(w->items[0], "?") == 0)
        return 0;
    if (w->open && !is_prefix(r->p, param))
        return fail_at(r, w->line,
                       arena_printf(r->arena,
                                    "%s: '…' may only end an output that is compared as a prefix",
                                    m->name));
    if (w->open ? w->count > count : w->count != count)
        return fail_at(r, w->line,
                       arena_printf(r->arena, "%s: %u values, and it has %llu elements", m->name,
                                    w->count, (unsigned long long)count));
    *g = generator_literal((unsigned)count, r->arena);
    for (unsigned i = 0; i < count; i++) {
        const char *word = i < w->count ? w->items[i] : "0";
        const char *allowed = generator_literal_add(*g, m->type, word);
        if (allowed)
            return fail_at(
                r, w->line,
                arena_printf(r->arena, "%s: found '%s'; allowed: %s", m->name, word, allowed));
    }
    return 0;
}

static int make_case(const struct reader *r, struct problem_case *c)
{
    const struct problem *p = r->p;
    struct case_buffer buffers[WIRE_PARAMS_MAX] = {0};
    uint64_t scalars[WIRE_PARAMS_MAX] = {0};
    struct err inner;
    c->values = arena_array(r->arena, p->variable_count, sizeof *c->values);
    for (unsigned i = 0; i < p->variable_count; i++)
        if (make_variable(r, i, &c->values[i]) != 0)
            return -1;
    if (layout_evaluate(p, c->values, buffers, scalars, &inner) != 0)
        return fail_at(r, r->block_line, inner.text);
    c->inputs = arena_array(r->arena, p->param_count, sizeof(struct generator *));
    c->answers = arena_array(r->arena, p->param_count, sizeof(struct generator *));
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *m = &p->params[i];
        if (!is_given(m))
            continue;
        if (buffers[i].count > WORDS_MAX)
            return fail_at(r, r->block_line,
                           arena_printf(r->arena, "%s would have %llu elements; at most 4096",
                                        m->name, (unsigned long long)buffers[i].count));
        struct generator **g = problem_is_output(m) ? &c->answers[i] : &c->inputs[i];
        if (make_list(r, i, buffers[i].count, g) != 0)
            return -1;
    }
    return 0;
}

/* ---- all blocks of a file ---- */

static void begin(struct reader *r)
{
    memset(r->variables, 0, sizeof r->variables);
    memset(r->params, 0, sizeof r->params);
    r->block_line = r->line;
}

int examples_read(const struct problem *p, const char *file, const char *text, struct arena *arena,
                  struct problem_case **cases, unsigned *count, struct err *e)
{
    struct reader *r = arena_alloc(arena, sizeof *r);
    *r = (struct reader){.p = p, .file = file, .arena = arena, .e = e};
    struct problem_case *found = arena_array(arena, EXAMPLES_MAX, sizeof *found);
    struct words *last = NULL;
    bool in_block = false, is_example = false;
    unsigned n = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        const char *line = arena_strndup(arena, at, length);
        at += length + (at[length] == '\n');
        r->line++;
        if (strncmp(line, "```", 3) != 0) {
            if (in_block && is_example && read_line(r, line, &last) != 0)
                return -1;
            continue;
        }
        in_block = !in_block;
        if (in_block) {
            const char *info = line + 3 + strspn(line + 3, " ");
            is_example =
                strncmp(info, "example", 7) == 0 && strspn(info + 7, " \r") == strlen(info + 7);
            last = NULL;
            begin(r);
        } else if (is_example) {
            if (n == EXAMPLES_MAX)
                return fail_at(r, r->line, "more than 32 examples");
            found[n].name = arena_printf(arena, "example %u of %s", n + 1, file_base_name(file));
            found[n].is_public = true;
            found[n].source_line = r->block_line;
            if (make_case(r, &found[n]) != 0)
                return -1;
            n++;
        }
    }
    if (in_block)
        return fail_at(r, r->block_line, "a block that begins here has no end");
    *cases = found;
    *count = n;
    return 0;
}

bool example_is_complete(const struct problem *p, const struct problem_case *example)
{
    for (unsigned i = 0; i < p->param_count; i++)
        if (problem_is_output(&p->params[i]) && !example->answers[i])
            return false;
    return true;
}

static bool same_lists(struct generator *const *a, struct generator *const *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!a[i] != !b[i] || (a[i] && !generator_same_literal(a[i], b[i])))
            return false;
    return true;
}

unsigned examples_differ(const struct problem *p, const struct problem_case *a, unsigned a_count,
                         const struct problem_case *b, unsigned b_count)
{
    unsigned both = a_count < b_count ? a_count : b_count;
    for (unsigned k = 0; k < both; k++)
        if (memcmp(a[k].values, b[k].values, p->variable_count * sizeof *a[k].values) != 0 ||
            !same_lists(a[k].inputs, b[k].inputs, p->param_count) ||
            !same_lists(a[k].answers, b[k].answers, p->param_count))
            return k + 1;
    return a_count == b_count ? 0 : both + 1;
}
