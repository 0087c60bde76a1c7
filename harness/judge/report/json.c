/* The JSON object of design/README.md, fields in its order. What does not apply is left out.
 * Strings are made valid UTF-8 first; jansson escapes what JSON asks for. */
#include "judge/report/report.h"
#include "judge/report/utf8.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

report_function report_json;

/* Every jansson call here fails only for want of memory or for a string that is not UTF-8. */
static json_t *checked(json_t *value)
{
    if (!value)
        BUG("json: a value could not be made");
    return value;
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, checked(value)) != 0)
        BUG("json: cannot set '%s'", key);
}

static void append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, checked(value)) != 0)
        BUG("json: cannot append");
}

static json_t *string(const char *s)
{
    struct text valid;
    text_init(&valid);
    utf8_add_valid(&valid, s ? s : "");
    json_t *value = checked(json_string(text_str(&valid)));
    text_release(&valid);
    return value;
}

/* Left out when there is nothing to say. */
static void set_text(json_t *object, const char *key, const char *s)
{
    if (s && s[0])
        set(object, key, string(s));
}

/* Microseconds are as fine as a wall clock is worth. */
static json_t *milliseconds(double ms)
{
    bool sane = isfinite(ms) && ms > 0 && ms < 1e12;
    return json_real(sane ? (double)(uint64_t)(ms * 1000 + 0.5) / 1000 : 0.0);
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *triple(const int32_t v[3])
{
    json_t *array = checked(json_array());
    for (int i = 0; i < 3; i++)
        append(array, json_integer(v[i] < 0 ? 0 : v[i]));
    return array;
}

static json_t *finding(const struct wire_finding *f)
{
    json_t *o = checked(json_object());
    set(o, "severity", string(f->severity == WIRE_ERROR ? "error" : "warning"));
    set(o, "kind", string(finding_name((enum finding_kind)f->kind)));
    set_text(o, "file", f->file);
    if (f->line)
        set(o, "line", json_integer(f->line));
    if (f->block[0] >= 0)
        set(o, "block", triple(f->block));
    if (f->thread[0] >= 0)
        set(o, "thread", triple(f->thread));
    set_text(o, "kernel", f->kernel);
    if (f->count > 1)
        set(o, "count", json_integer(f->count));
    set(o, "message", string(f->message));
    return o;
}

static json_t *findings(const struct wire_finding *all, unsigned count)
{
    json_t *array = checked(json_array());
    for (unsigned i = 0; i < count; i++)
        append(array, finding(&all[i]));
    return array;
}

static json_t *mismatch(const struct result_mismatch *m)
{
    json_t *o = checked(json_object());
    set(o, "output", string(m->output));
    set(o, "index", json_integer((json_int_t)m->index));
    set(o, "expected", string(m->expected));
    set(o, "got", string(m->got));
    set(o, "count", json_integer((json_int_t)m->count));
    return o;
}

static json_t *counters(const struct wire_counters *values)
{
    json_t *o = checked(json_object());
    for (int k = 0; k < COUNTER_COUNT; k++)
        set(o, counter_name((enum counter)k), json_integer((json_int_t)values->value[k]));
    return o;
}

static json_t *failing_pass(const struct result_pass *p)
{
    json_t *o = checked(json_object());
    set(o, "schedule", string(p->schedule));
    set(o, "seed", json_integer((json_int_t)p->seed));
    set(o, "delay_stores", json_boolean(p->delay_stores));
    set(o, "resident_blocks", json_integer(p->resident_blocks));
    set_text(o, "stream_order", p->stream_order);
    set(o, "found_by_search", json_boolean(p->found_by_search));
    return o;
}

/* Counters that are 0 are left out: a line has few of them. */
static json_t *profile_line(const struct wire_profile *p, const struct wire_profile_line *l)
{
    json_t *o = checked(json_object());
    set(o, "kernel", string(p->kernels[l->kernel].name));
    set(o, "file", string(p->files[l->file]));
    set(o, "line", json_integer(l->line));
    json_t *values = checked(json_object());
    for (int k = 0; k < COUNTER_COUNT; k++)
        if (l->counters.value[k])
            set(values, counter_name((enum counter)k),
                json_integer((json_int_t)l->counters.value[k]));
    set(o, "counters", values);
    return o;
}

static json_t *profile(const struct wire_profile *p)
{
    json_t *o = checked(json_object()), *kernels = checked(json_array());
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        const struct wire_profile_kernel *k = &p->kernels[i];
        json_t *kernel = checked(json_object());
        set(kernel, "name", string(k->name));
        set(kernel, "launches", json_integer((json_int_t)k->launches));
        set(kernel, "blocks", json_integer((json_int_t)k->blocks));
        set(kernel, "threads", json_integer((json_int_t)k->threads));
        append(kernels, kernel);
    }
    set(o, "kernels", kernels);
    json_t *lines = checked(json_array());
    for (uint32_t i = 0; i < p->line_count; i++)
        append(lines, profile_line(p, &p->lines[i]));
    set(o, "lines", lines);
    return o;
}

static json_t *card_profile(const struct card_profile *p)
{
    json_t *kernels = checked(json_array());
    for (unsigned i = 0; i < p->count; i++) {
        const struct card_kernel *k = &p->kernels[i];
        json_t *o = checked(json_object());
        set(o, "kernel", string(k->name));
        set(o, "launches", json_integer((json_int_t)k->launches));
        set(o, "ns", number(k->ns));
        set(o, "global_requests", number(k->requests));
        set(o, "global_sectors", number(k->sectors));
        set(o, "shared_bank_conflicts", number(k->bank_conflicts));
        set(o, "warp_instructions", number(k->warp_instructions));
        set(o, "instructions", number(k->instructions));
        set(o, "dram_bytes", number(k->dram_bytes));
        set(o, "dram_percent_of_peak", number(k->dram_percent));
        set(o, "sm_percent_of_peak", number(k->sm_percent));
        append(kernels, o);
    }
    return kernels;
}

static json_t *one_case(const struct result_case *c)
{
    json_t *o = checked(json_object());
    set(o, "name", string(c->name));
    set(o, "verdict", string(verdict_name(c->verdict)));
    set(o, "public", json_boolean(c->is_public));
    set(o, "ms", milliseconds(c->ms));
    set(o, "passes", json_integer(c->passes));
    set_text(o, "failing_schedule", c->failing_schedule);
    if (c->failing.has_pass)
        set(o, "failing_pass", failing_pass(&c->failing));
    if (c->mismatch.output)
        set(o, "mismatch", mismatch(&c->mismatch));
    set_text(o, "diagnosis", c->diagnosis);
    set(o, "findings", findings(c->findings, c->finding_count));
    if (c->has_counters)
        set(o, "counters", counters(&c->counters));
    if (c->profile)
        set(o, "profile", profile(c->profile));
    set_text(o, "profile_note", c->profile_note);
    if (c->card_profile)
        set(o, "card_profile", card_profile(c->card_profile));
    set_text(o, "sanitized", c->sanitized);
    set_text(o, "stdout", c->stdout_text);
    set_text(o, "stderr", c->stderr_text);
    set_text(o, "reproduce", c->reproduce);
    return o;
}

/* Ten digits are finer than any clock, and short enough for two hundred of them. */
static json_t *samples(const double *ms, unsigned count)
{
    json_t *array = checked(json_array());
    for (unsigned i = 0; i < count; i++)
        append(array, number(ms[i]));
    return array;
}

static json_t *clocks(const struct result_timing *t)
{
    json_t *o = checked(json_object());
    set(o, "sm_mhz_low", json_integer(t->sm_mhz_low));
    set(o, "sm_mhz_high", json_integer(t->sm_mhz_high));
    set(o, "memory_mhz", json_integer(t->memory_mhz));
    set_text(o, "throttled", t->throttled);
    return o;
}

static json_t *timing(const struct result_timing *t)
{
    json_t *o = checked(json_object());
    set(o, "n", json_integer(t->n));
    set_text(o, "size", t->size);
    set_text(o, "note", t->note);
    if (t->note)
        return o;
    set(o, "ms", number(t->ms));
    if (t->reference_ms > 0) {
        set(o, "reference_ms", number(t->reference_ms));
        set(o, "ratio", t->too_noisy ? json_null() : number(t->ratio));
        set(o, "ratio_low", number(t->ratio_low));
        set(o, "ratio_high", number(t->ratio_high));
        set(o, "too_noisy", json_boolean(t->too_noisy));
    }
    set(o, "gb_per_s", number(t->gb_per_s));
    set(o, "of_copy", number(t->of_copy));
    set(o, "copy_ms", number(t->copy_ms));
    set(o, "deviation_ms", number(t->deviation_ms));
    set(o, "rounds", json_integer(t->rounds));
    set(o, "samples_ms", samples(t->samples, t->samples ? t->rounds : 0));
    if (t->reference_samples)
        set(o, "reference_samples_ms", samples(t->reference_samples, t->rounds));
    set(o, "findings", findings(t->findings, t->finding_count));
    if (t->has_clocks)
        set(o, "clocks", clocks(t));
    return o;
}

static json_t *compile_part(const struct result_compile *c)
{
    json_t *o = checked(json_object());
    set(o, "ok", json_boolean(c->ok));
    set(o, "ms", milliseconds(c->ms));
    set(o, "cached", json_boolean(c->cached));
    set(o, "log", string(c->log));
    return o;
}

/* jansson leaves DEL, C1 controls and overrides of direction as they are; somebody will look at the
 * file on a terminal. They stand in strings only, where an escape means the same. */
static void add_escaped(struct text *out, const char *dump)
{
    while (*dump) {
        uint32_t c;
        unsigned length = utf8_read(dump, &c);
        if (length == 0)
            BUG("json: the output is not UTF-8");
        if (c == 0x7f || utf8_is_invisible(c))
            text_addf(out, "\\u%04x", c);
        else
            text_addn(out, dump, length);
        dump += length;
    }
    text_addc(out, '\n');
}

static json_t *isolation(const struct sandbox_isolation *i)
{
    json_t *o = checked(json_object()), *layers = checked(json_array());
    set(o, "tier", string(i->name));
    for (unsigned k = 0; k < i->layer_count; k++) {
        json_t *layer = checked(json_object());
        set(layer, "layer", string(i->layers[k].key));
        set(layer, "in_use", json_boolean(i->layers[k].in_use));
        set(layer, "weaker", json_boolean(i->layers[k].weaker));
        set(layer, "got", string(i->layers[k].got));
        append(layers, layer);
    }
    set(o, "layers", layers);
    return o;
}

void report_json(const struct result *r, const struct report_options *options, struct text *out)
{
    (void)options;
    json_t *o = checked(json_object());
    set(o, "problem", string(r->problem));
    set(o, "submission", string(r->submission));
    set(o, "device", string(r->device));
    if (r->card) {
        json_t *card = checked(json_object());
        set(card, "name", string(r->card));
        set(card, "uuid", string(r->card_uuid));
        set(o, "card", card);
    }
    set(o, "verdict", string(verdict_name(r->verdict)));
    set_text(o, "message", r->message);
    set(o, "seed", json_integer((json_int_t)r->seed));
    if (r->isolation)
        set(o, "isolation", isolation(r->isolation));
    set(o, "compile", compile_part(&r->compile));
    json_t *cases = checked(json_array());
    for (unsigned i = 0; i < r->case_count; i++)
        append(cases, one_case(&r->cases[i]));
    set(o, "cases", cases);
    if (r->not_judged_count) {
        json_t *names = checked(json_array());
        for (unsigned i = 0; i < r->not_judged_count; i++)
            append(names, string(r->not_judged[i]));
        set(o, "not_judged", names);
    }
    json_t *timings = checked(json_array());
    for (unsigned i = 0; i < r->timing_count; i++)
        append(timings, timing(&r->timing[i]));
    set(o, "timing", timings);
    if (r->timing_count) {
        set(o, "timing_ms", milliseconds(r->timing_ms));
        set_text(o, "timing_spent_ms", r->timing_spent_ms);
    }
    set(o, "ms", milliseconds(r->total_ms));
    char *dump = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    if (!dump)
        BUG("json: out of memory");
    add_escaped(out, dump);
    free(dump);
    json_decref(o);
}
