/* The way back from json.c, so that results which were kept can be told in any format later. What a
 * field lacks is what its absence means there; a field of the wrong kind counts as absent, except
 * for what makes the object a result at all. */
#include "judge/report/json_tree.h"
#include "judge/report/report.h"

#include <stdio.h>
#include <string.h>

/* The string behind `key` in the arena; NULL if there is none. */
static const char *string_of(const json_t *o, const char *key, struct arena *a)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? arena_strdup(a, s) : NULL;
}

static const char *text_of(const json_t *o, const char *key, struct arena *a)
{
    const char *s = string_of(o, key, a);
    return s ? s : "";
}

static double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static uint64_t count_of(const json_t *o, const char *key)
{
    json_int_t x = json_integer_value(json_object_get(o, key));
    return x > 0 ? (uint64_t)x : 0;
}

static uint32_t small_count_of(const json_t *o, const char *key)
{
    uint64_t x = count_of(o, key);
    return x < UINT32_MAX ? (uint32_t)x : UINT32_MAX;
}

static bool is_true(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

static void read_triple(const json_t *array, int32_t v[3])
{
    for (size_t i = 0; i < 3; i++) {
        const json_t *item = json_array_get(array, i);
        json_int_t x = json_integer_value(item);
        v[i] = item && x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
    }
}

static void read_finding(const json_t *o, struct wire_finding *f)
{
    const char *kind = json_string_value(json_object_get(o, "kind"));
    const char *severity = json_string_value(json_object_get(o, "severity"));
    const char *file = json_string_value(json_object_get(o, "file"));
    const char *kernel = json_string_value(json_object_get(o, "kernel"));
    const char *message = json_string_value(json_object_get(o, "message"));
    enum finding_kind found = finding_find(kind ? kind : "");
    *f = (struct wire_finding){
        .kind = found < FINDING_COUNT ? (uint16_t)found : FINDING_unsupported,
        .severity = severity && strcmp(severity, "warning") == 0 ? WIRE_WARNING : WIRE_ERROR,
        .line = small_count_of(o, "line"),
        .count = json_object_get(o, "count") ? small_count_of(o, "count") : 1,
    };
    read_triple(json_object_get(o, "block"), f->block);
    read_triple(json_object_get(o, "thread"), f->thread);
    snprintf(f->file, sizeof f->file, "%s", file ? file : "");
    snprintf(f->kernel, sizeof f->kernel, "%s", kernel ? kernel : "");
    snprintf(f->message, sizeof f->message, "%s", message ? message : "");
}

static struct wire_finding *read_findings(const json_t *array, struct arena *a, unsigned *count)
{
    *count = (unsigned)json_array_size(array);
    struct wire_finding *all = arena_array(a, *count, sizeof *all);
    for (unsigned i = 0; i < *count; i++)
        read_finding(json_array_get(array, i), &all[i]);
    return all;
}

static void read_failing_pass(const json_t *o, struct arena *a, struct result_pass *p)
{
    if (!json_is_object(o))
        return;
    *p = (struct result_pass){
        .has_pass = true,
        .schedule = text_of(o, "schedule", a),
        .seed = count_of(o, "seed"),
        .found_by_search = is_true(o, "found_by_search"),
        .delay_stores = is_true(o, "delay_stores"),
        .resident_blocks = small_count_of(o, "resident_blocks"),
        .stream_order = string_of(o, "stream_order", a),
    };
}

static enum verdict verdict_of(const json_t *o)
{
    const char *name = json_string_value(json_object_get(o, "verdict"));
    return name ? verdict_find(name) : VERDICT_COUNT;
}

static int read_case(const char *name, const json_t *o, struct arena *a, struct result_case *c,
                     struct err *e)
{
    const json_t *mismatch = json_object_get(o, "mismatch"),
                 *counters = json_object_get(o, "counters");
    *c = (struct result_case){
        .name = text_of(o, "name", a),
        .verdict = verdict_of(o),
        .is_public = is_true(o, "public"),
        .ms = real_of(o, "ms"),
        .passes = small_count_of(o, "passes"),
        .failing_schedule = string_of(o, "failing_schedule", a),
        .mismatch = {.output = string_of(mismatch, "output", a),
                     .index = count_of(mismatch, "index"),
                     .count = count_of(mismatch, "count"),
                     .expected = text_of(mismatch, "expected", a),
                     .got = text_of(mismatch, "got", a)},
        .diagnosis = string_of(o, "diagnosis", a),
        .has_counters = json_is_object(counters),
        .profile_note = string_of(o, "profile_note", a),
        .sanitized = string_of(o, "sanitized", a),
        .reproduce = string_of(o, "reproduce", a),
        .stdout_text = text_of(o, "stdout", a),
        .stderr_text = text_of(o, "stderr", a),
    };
    if (c->verdict == VERDICT_COUNT)
        return err_set(e, "%s: the case '%s' has no \"verdict\" of those that there are", name,
                       c->name);
    c->findings = read_findings(json_object_get(o, "findings"), a, &c->finding_count);
    read_failing_pass(json_object_get(o, "failing_pass"), a, &c->failing);
    for (int k = 0; k < COUNTER_COUNT; k++)
        c->counters.value[k] = count_of(counters, counter_name((enum counter)k));
    return 0;
}

/* NULL unless there is one for each round. */
static const double *read_samples(const json_t *array, unsigned rounds, struct arena *a)
{
    if (rounds == 0 || json_array_size(array) != rounds)
        return NULL;
    double *samples = arena_array(a, rounds, sizeof *samples);
    for (unsigned i = 0; i < rounds; i++)
        samples[i] = json_number_value(json_array_get(array, i));
    return samples;
}

static void read_timing(const json_t *o, struct arena *a, struct result_timing *t)
{
    const json_t *clocks = json_object_get(o, "clocks");
    *t = (struct result_timing){
        .n = json_integer_value(json_object_get(o, "n")),
        .size = text_of(o, "size", a),
        .note = string_of(o, "note", a),
        .ms = real_of(o, "ms"),
        .reference_ms = real_of(o, "reference_ms"),
        .ratio = real_of(o, "ratio"),
        .ratio_low = real_of(o, "ratio_low"),
        .ratio_high = real_of(o, "ratio_high"),
        .gb_per_s = real_of(o, "gb_per_s"),
        .of_copy = real_of(o, "of_copy"),
        .copy_ms = real_of(o, "copy_ms"),
        .deviation_ms = real_of(o, "deviation_ms"),
        .rounds = small_count_of(o, "rounds"),
        .too_noisy = is_true(o, "too_noisy"),
        .has_clocks = json_is_object(clocks),
        .sm_mhz_low = small_count_of(clocks, "sm_mhz_low"),
        .sm_mhz_high = small_count_of(clocks, "sm_mhz_high"),
        .memory_mhz = small_count_of(clocks, "memory_mhz"),
        .throttled = string_of(clocks, "throttled", a),
    };
    t->findings = read_findings(json_object_get(o, "findings"), a, &t->finding_count);
    t->samples = read_samples(json_object_get(o, "samples_ms"), t->rounds, a);
    t->reference_samples = read_samples(json_object_get(o, "reference_samples_ms"), t->rounds, a);
}

static const struct sandbox_isolation *read_isolation(const json_t *o, struct arena *a)
{
    const json_t *layers = json_object_get(o, "layers");
    if (!json_is_object(o))
        return NULL;
    struct sandbox_isolation *i = arena_alloc(a, sizeof *i);
    i->name = text_of(o, "tier", a);
    i->tier = strcmp(i->name, "none") == 0       ? SANDBOX_NONE
              : strcmp(i->name, "landlock") == 0 ? SANDBOX_LANDLOCK
                                                 : SANDBOX_NAMESPACES;
    i->layer_count = (unsigned)json_array_size(layers);
    struct sandbox_layer *all = arena_array(a, i->layer_count, sizeof *all);
    for (unsigned k = 0; k < i->layer_count; k++) {
        const json_t *layer = json_array_get(layers, k);
        all[k] = (struct sandbox_layer){.key = text_of(layer, "layer", a),
                                        .in_use = is_true(layer, "in_use"),
                                        .weaker = is_true(layer, "weaker")};
        snprintf(all[k].got, sizeof all[k].got, "%s", text_of(layer, "got", a));
    }
    i->layers = all;
    return i;
}

static void read_head(const json_t *o, struct arena *a, struct result *r)
{
    const json_t *card = json_object_get(o, "card"), *compile = json_object_get(o, "compile"),
                 *not_judged = json_object_get(o, "not_judged");
    *r = (struct result){
        .problem = text_of(o, "problem", a),
        .submission = text_of(o, "submission", a),
        .device = text_of(o, "device", a),
        .card = string_of(card, "name", a),
        .card_uuid = string_of(card, "uuid", a),
        .verdict = verdict_of(o),
        .message = string_of(o, "message", a),
        .skipped = string_of(o, "skipped", a),
        .seed = count_of(o, "seed"),
        .isolation = read_isolation(json_object_get(o, "isolation"), a),
        .compile = {.ok = is_true(compile, "ok"),
                    .cached = is_true(compile, "cached"),
                    .ms = real_of(compile, "ms"),
                    .log = text_of(compile, "log", a)},
        .timing_ms = real_of(o, "timing_ms"),
        .timing_spent_ms = string_of(o, "timing_spent_ms", a),
        .total_ms = real_of(o, "ms"),
        .case_count = (unsigned)json_array_size(json_object_get(o, "cases")),
        .not_judged_count = (unsigned)json_array_size(not_judged),
        .timing_count = (unsigned)json_array_size(json_object_get(o, "timing")),
    };
    r->cases = arena_array(a, r->case_count, sizeof *r->cases);
    r->timing = arena_array(a, r->timing_count, sizeof *r->timing);
    r->not_judged = arena_array(a, r->not_judged_count, sizeof *r->not_judged);
    for (unsigned i = 0; i < r->not_judged_count; i++) {
        const char *name = json_string_value(json_array_get(not_judged, i));
        r->not_judged[i] = arena_strdup(a, name ? name : "");
    }
}

static int read_result(const char *name, const json_t *o, struct arena *a, struct result *r,
                       struct err *e)
{
    if (!json_is_string(json_object_get(o, "problem")) ||
        !json_is_string(json_object_get(o, "submission")) ||
        !json_is_array(json_object_get(o, "cases")) || verdict_of(o) == VERDICT_COUNT)
        return err_set(e,
                       "%s is not what `run --format json` writes: it wants \"problem\", "
                       "\"submission\", \"verdict\" and \"cases\"",
                       name);
    read_head(o, a, r);
    for (unsigned i = 0; i < r->case_count; i++)
        if (read_case(name, json_array_get(json_object_get(o, "cases"), i), a, &r->cases[i], e) !=
            0)
            return -1;
    for (unsigned i = 0; i < r->timing_count; i++)
        read_timing(json_array_get(json_object_get(o, "timing"), i), a, &r->timing[i]);
    return 0;
}

int report_read(const char *name, const char *json, struct arena *arena, struct result *r,
                struct err *e)
{
    json_error_t error;
    json_t *o = json_loads(json, 0, &error);
    *r = (struct result){0};
    if (!o)
        return err_set(e, "%s:%d: %s: it should be what `run --format json` writes", name,
                       error.line, error.text);
    int status = read_result(name, o, arena, r, e);
    json_decref(o);
    return status;
}

/* The object at *at, which then stands behind it; NULL if there is none. */
static json_t *next_object(const char **at, const char *end, json_error_t *error)
{
    json_t *o = json_loadb(*at, (size_t)(end - *at), JSON_DISABLE_EOF_CHECK, error);
    if (o)
        *at += error->position;
    while (*at < end && strchr(" \t\r\n", **at))
        (*at)++;
    return o;
}

int report_read_all(const char *name, const char *json, size_t bytes, struct arena *arena,
                    struct result **results, unsigned *count, struct err *e)
{
    const char *at = json, *end = json + bytes;
    unsigned room = 0;
    *count = 0;
    *results = NULL;
    do {
        json_error_t error;
        json_t *o = next_object(&at, end, &error);
        if (!o)
            return err_set(e,
                           "%s: result %u: line %d: %s: it should be what `run --format json` "
                           "writes",
                           name, *count + 1, error.line, error.text);
        if (*count == room) {
            room = room ? 2 * room : 16;
            struct result *more = arena_array(arena, room, sizeof *more);
            if (*count)
                memcpy(more, *results, *count * sizeof *more);
            *results = more;
        }
        int status = read_result(name, o, arena, &(*results)[*count], e);
        json_decref(o);
        if (status != 0)
            return -1;
        (*count)++;
    } while (at < end);
    return 0;
}
