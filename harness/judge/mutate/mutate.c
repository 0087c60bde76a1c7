/* Each row of the table is asked at each token. */
#include "judge/mutate/mutations.h"

#include <ctype.h>
#include <string.h>

static const struct mutation_row {
    const char *name, *people;
    mutation_function *apply;
} MUTATIONS[] = {
#define MUTATION(id, people) {#id, people, mutation_##id},
#include "judge/mutate/mutations.def"
#undef MUTATION
};
enum { MUTATION_COUNT = sizeof MUTATIONS / sizeof MUTATIONS[0] };

const char *mutation_for_people(const char *mutation)
{
    for (int k = 0; k < MUTATION_COUNT; k++)
        if (strcmp(MUTATIONS[k].name, mutation) == 0)
            return MUTATIONS[k].people;
    return NULL;
}

/* The line that byte `at` is in, without blanks at both ends. */
static const char *line_at(const char *source, size_t length, size_t at, struct arena *arena)
{
    size_t from = at, to = at;
    while (from > 0 && source[from - 1] != '\n')
        from--;
    while (to < length && source[to] != '\n')
        to++;
    while (from < to && isspace((unsigned char)source[from]))
        from++;
    while (to > from && isspace((unsigned char)source[to - 1]))
        to--;
    return arena_strndup(arena, source + from, to - from);
}

static size_t line_ends(const char *s, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += s[i] == '\n';
    return count;
}

void mutate_apply(const char *source, size_t length, const struct mutant *m, struct text *out)
{
    size_t at = 0;
    for (unsigned k = 0; k < m->edit_count; k++) {
        const struct edit *e = &m->edits[k];
        text_addn(out, source + at, e->from - at);
        text_add(out, e->text);
        /* What is replaced may hold line ends; later lines keep their numbers. */
        for (size_t i = line_ends(e->text, strlen(e->text));
             i < line_ends(source + e->from, e->to - e->from); i++)
            text_addc(out, '\n');
        at = e->to;
    }
    text_addn(out, source + at, length - at);
}

static void finish(struct mutant *m, const struct tokens *t, size_t i, struct arena *arena)
{
    struct text changed;
    text_init(&changed);
    m->line = t->items[i].line;
    m->before = line_at(t->source, t->length, t->items[i].at, arena);
    mutate_apply(t->source, t->length, m, &changed);
    /* The first edit is at or before the token; so its line is where it was. */
    m->after = line_at(text_str(&changed), changed.length, m->edits[0].from, arena);
    text_release(&changed);
}

void mutate_list(const char *source, size_t length, struct arena *arena, struct mutants *mutants)
{
    struct tokens t;
    tokens_read(source, length, arena, &t);
    size_t capacity = 256;
    *mutants = (struct mutants){.items = arena_array(arena, capacity, sizeof *mutants->items)};
    for (size_t i = 0; i < t.count; i++)
        for (int k = 0; k < MUTATION_COUNT; k++) {
            struct mutant m = {.mutation = MUTATIONS[k].name};
            MUTATIONS[k].apply(&t, i, arena, &m);
            if (!m.edit_count)
                continue;
            finish(&m, &t, i, arena);
            if (mutants->count == capacity) {
                struct mutant *more = arena_array(arena, 2 * capacity, sizeof *more);
                memcpy(more, mutants->items, capacity * sizeof *more);
                mutants->items = more;
                capacity *= 2;
            }
            mutants->items[mutants->count++] = m;
        }
}
