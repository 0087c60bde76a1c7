#include "judge/report/bench.h"

#include "judge/report/json_tree.h"

#include <math.h>
#include <string.h>

/* ---- writing ---- */

static json_t *point(const struct bench_point *p)
{
    json_t *o = tree_object();
    tree_set(o, "ms", json_real(p->ms));
    tree_set(o, "gb_per_s", json_real(p->gb_per_s));
    tree_set(o, "of_copy", json_real(p->of_copy));
    tree_set(o, "ratio", json_real(p->ratio));
    tree_set(o, "ratio_low", json_real(p->ratio_low));
    tree_set(o, "ratio_high", json_real(isfinite(p->ratio_high) ? p->ratio_high : 0));
    tree_set(o, "too_noisy", json_boolean(p->too_noisy));
    tree_set(o, "flags", tree_string(p->flags));
    return o;
}

static json_t *entrant(const struct bench *b, const struct bench_entrant *e)
{
    json_t *o = tree_object(), *points = tree_object();
    tree_set(o, "label", tree_string(e->label));
    tree_set(o, "role", tree_string(e->role));
    if (e->failed)
        tree_set(o, "failed", tree_string(e->failed));
    for (unsigned i = 0; i < b->size_count && !e->failed; i++)
        if (e->points[i].known)
            tree_set(points, b->sizes[i].name, point(&e->points[i]));
    tree_set(o, "sizes", points);
    return o;
}

void report_bench_json(const struct bench *b, struct text *out)
{
    json_t *o = tree_object(), *sizes = tree_array(), *entrants = tree_array();
    tree_set(o, "bench", tree_string(b->problem));
    tree_set(o, "card", tree_string(b->card));
    tree_set(o, "driver", tree_string(b->driver));
    tree_set(o, "seed", json_integer((json_int_t)b->seed));
    for (unsigned i = 0; i < b->size_count; i++) {
        json_t *size = tree_object();
        tree_set(size, "name", tree_string(b->sizes[i].name));
        tree_set(size, "n", json_integer(b->sizes[i].n));
        tree_set(size, "bytes", json_integer((json_int_t)b->sizes[i].bytes));
        if (b->sizes[i].note)
            tree_set(size, "note", tree_string(b->sizes[i].note));
        tree_append(sizes, size);
    }
    for (unsigned i = 0; i < b->entrant_count; i++)
        tree_append(entrants, entrant(b, &b->entrants[i]));
    tree_set(o, "sizes", sizes);
    tree_set(o, "entrants", entrants);
    tree_write(o, TREE_INDENTED, out);
}

/* ---- reading ---- */

static const char *text_of(const json_t *o, const char *key, struct arena *arena)
{
    const char *s = json_string_value(json_object_get(o, key));
    return arena_strdup(arena, s ? s : "");
}

static double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void read_entrant(const json_t *from, const struct bench *b, struct arena *arena,
                         struct bench_entrant *e)
{
    const json_t *failed = json_object_get(from, "failed");
    *e = (struct bench_entrant){.label = text_of(from, "label", arena),
                                .role = text_of(from, "role", arena),
                                .failed = failed ? text_of(from, "failed", arena) : NULL,
                                .points = arena_array(arena, b->size_count, sizeof *e->points)};
    for (unsigned i = 0; i < b->size_count; i++) {
        const json_t *p = json_object_get(json_object_get(from, "sizes"), b->sizes[i].name);
        e->points[i] = (struct bench_point){
            .known = json_is_object(p),
            .too_noisy = json_is_true(json_object_get(p, "too_noisy")),
            .ms = real_of(p, "ms"),
            .gb_per_s = real_of(p, "gb_per_s"),
            .of_copy = real_of(p, "of_copy"),
            .ratio = real_of(p, "ratio"),
            .ratio_low = real_of(p, "ratio_low"),
            .ratio_high = real_of(p, "ratio_high"),
            .flags = text_of(p, "flags", arena),
        };
    }
}

int report_bench_read(const char *name, const char *json, struct arena *arena, struct bench *b,
                      struct err *e)
{
    json_error_t error;
    json_t *o = json_loads(json, 0, &error);
    *b = (struct bench){0};
    if (!o)
        return err_set(e, "%s:%d: %s: it should be what `bench --format json` writes", name,
                       error.line, error.text);
    const json_t *sizes = json_object_get(o, "sizes"), *entrants = json_object_get(o, "entrants");
    if (!json_is_string(json_object_get(o, "bench")) || !json_is_array(sizes) ||
        !json_is_array(entrants)) {
        json_decref(o);
        return err_set(e,
                       "%s is not what `bench --format json` writes: it has no \"bench\", "
                       "\"sizes\" and \"entrants\"",
                       name);
    }
    *b = (struct bench){.problem = text_of(o, "bench", arena),
                        .card = text_of(o, "card", arena),
                        .driver = text_of(o, "driver", arena),
                        .size_count = (unsigned)json_array_size(sizes),
                        .entrant_count = (unsigned)json_array_size(entrants)};
    b->sizes = arena_array(arena, b->size_count, sizeof *b->sizes);
    b->entrants = arena_array(arena, b->entrant_count, sizeof *b->entrants);
    for (unsigned i = 0; i < b->size_count; i++) {
        const json_t *s = json_array_get(sizes, i);
        b->sizes[i].name = text_of(s, "name", arena);
        b->sizes[i].n = json_integer_value(json_object_get(s, "n"));
    }
    for (unsigned i = 0; i < b->entrant_count; i++)
        read_entrant(json_array_get(entrants, i), b, arena, &b->entrants[i]);
    json_decref(o);
    return 0;
}
