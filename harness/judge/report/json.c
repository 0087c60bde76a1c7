/* The JSON object of result.schema.json, fields in its order. What does not apply is left out.
 * Fields may be added, never renamed: json_read.c and other people's programs read them. */
#include "judge/report/json_tree.h"
#include "judge/report/report.h"

report_function report_json;

static json_t *triple(const int32_t v[3])
{
    json_t *array = tree_array();
    for (int i = 0; i < 3; i++)
        tree_append(array, json_integer(v[i] < 0 ? 0 : v[i]));
    return array;
}

static json_t *finding(const struct wire_finding *f)
{
    json_t *o = tree_object();
    tree_set(o, "severity", tree_string(f->severity == WIRE_ERROR ? "error" : "warning"));
    tree_set(o, "kind", tree_string(finding_name((enum finding_kind)f->kind)));
    tree_set_text(o, "file", f->file);
    if (f->line)
        tree_set(o, "line", json_integer(f->line));
    if (f->block[0] >= 0)
        tree_set(o, "block", triple(f->block));
    if (f->thread[0] >= 0)
        tree_set(o, "thread", triple(f->thread));
    tree_set_text(o, "kernel", f->kernel);
    if (f->count > 1)
        tree_set(o, "count", json_integer(f->count));
    tree_set(o, "message", tree_string(f->message));
    return o;
}

static json_t *findings(const struct wire_finding *all, unsigned count)
{
    json_t *array = tree_array();
    for (unsigned i = 0; i < count; i++)
        tree_append(array, finding(&all[i]));
    return array;
}

static json_t *mismatch(const struct result_mismatch *m)
{
    json_t *o = tree_object();
    tree_set(o, "output", tree_string(m->output));
    tree_set(o, "index", json_integer((json_int_t)m->index));
    tree_set(o, "expected", tree_string(m->expected));
    tree_set(o, "got", tree_string(m->got));
    tree_set(o, "count", json_integer((json_int_t)m->count));
    return o;
}

static json_t *counters(const struct wire_counters *values)
{
    json_t *o = tree_object();
    for (int k = 0; k < COUNTER_COUNT; k++)
        tree_set(o, counter_name((enum counter)k), json_integer((json_int_t)values->value[k]));
    return o;
}

static json_t *failing_pass(const struct result_pass *p)
{
    json_t *o = tree_object();
    tree_set(o, "schedule", tree_string(p->schedule));
    tree_set(o, "seed", json_integer((json_int_t)p->seed));
    tree_set(o, "delay_stores", json_boolean(p->delay_stores));
    tree_set(o, "resident_blocks", json_integer(p->resident_blocks));
    tree_set_text(o, "stream_order", p->stream_order);
    tree_set(o, "found_by_search", json_boolean(p->found_by_search));
    return o;
}

/* Counters that are 0 are left out: a line has few of them. */
static json_t *profile_line(const struct wire_profile *p, const struct wire_profile_line *l)
{
    json_t *o = tree_object();
    tree_set(o, "kernel", tree_string(p->kernels[l->kernel].name));
    tree_set(o, "file", tree_string(p->files[l->file]));
    tree_set(o, "line", json_integer(l->line));
    json_t *values = tree_object();
    for (int k = 0; k < COUNTER_COUNT; k++)
        if (l->counters.value[k])
            tree_set(values, counter_name((enum counter)k),
                     json_integer((json_int_t)l->counters.value[k]));
    tree_set(o, "counters", values);
    return o;
}

static json_t *profile(const struct wire_profile *p)
{
    json_t *o = tree_object(), *kernels = tree_array();
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        const struct wire_profile_kernel *k = &p->kernels[i];
        json_t *kernel = tree_object();
        tree_set(kernel, "name", tree_string(k->name));
        tree_set(kernel, "launches", json_integer((json_int_t)k->launches));
        tree_set(kernel, "blocks", json_integer((json_int_t)k->blocks));
        tree_set(kernel, "threads", json_integer((json_int_t)k->threads));
        tree_append(kernels, kernel);
    }
    tree_set(o, "kernels", kernels);
    json_t *lines = tree_array();
    for (uint32_t i = 0; i < p->line_count; i++)
        tree_append(lines, profile_line(p, &p->lines[i]));
    tree_set(o, "lines", lines);
    return o;
}

static json_t *card_profile(const struct card_profile *p)
{
    json_t *kernels = tree_array();
    for (unsigned i = 0; i < p->count; i++) {
        const struct card_kernel *k = &p->kernels[i];
        json_t *o = tree_object();
        tree_set(o, "kernel", tree_string(k->name));
        tree_set(o, "launches", json_integer((json_int_t)k->launches));
        tree_set(o, "ns", tree_number(k->ns));
        tree_set(o, "global_requests", tree_number(k->requests));
        tree_set(o, "global_sectors", tree_number(k->sectors));
        tree_set(o, "shared_bank_conflicts", tree_number(k->bank_conflicts));
        tree_set(o, "warp_instructions", tree_number(k->warp_instructions));
        tree_set(o, "instructions", tree_number(k->instructions));
        tree_set(o, "dram_bytes", tree_number(k->dram_bytes));
        tree_set(o, "dram_percent_of_peak", tree_number(k->dram_percent));
        tree_set(o, "sm_percent_of_peak", tree_number(k->sm_percent));
        tree_append(kernels, o);
    }
    return kernels;
}

static json_t *one_case(const struct result_case *c)
{
    json_t *o = tree_object();
    tree_set(o, "name", tree_string(c->name));
    tree_set(o, "verdict", tree_string(verdict_name(c->verdict)));
    tree_set(o, "public", json_boolean(c->is_public));
    tree_set(o, "ms", tree_milliseconds(c->ms));
    tree_set(o, "passes", json_integer(c->passes));
    tree_set_text(o, "failing_schedule", c->failing_schedule);
    if (c->failing.has_pass)
        tree_set(o, "failing_pass", failing_pass(&c->failing));
    if (c->mismatch.output)
        tree_set(o, "mismatch", mismatch(&c->mismatch));
    tree_set_text(o, "diagnosis", c->diagnosis);
    tree_set(o, "findings", findings(c->findings, c->finding_count));
    if (c->has_counters)
        tree_set(o, "counters", counters(&c->counters));
    if (c->profile)
        tree_set(o, "profile", profile(c->profile));
    tree_set_text(o, "profile_note", c->profile_note);
    if (c->card_profile)
        tree_set(o, "card_profile", card_profile(c->card_profile));
    tree_set_text(o, "sanitized", c->sanitized);
    tree_set_text(o, "stdout", c->stdout_text);
    tree_set_text(o, "stderr", c->stderr_text);
    tree_set_text(o, "reproduce", c->reproduce);
    return o;
}

/* Ten digits are finer than any clock, and short enough for two hundred of them. */
static json_t *samples(const double *ms, unsigned count)
{
    json_t *array = tree_array();
    for (unsigned i = 0; i < count; i++)
        tree_append(array, tree_number(ms[i]));
    return array;
}

static json_t *clocks(const struct result_timing *t)
{
    json_t *o = tree_object();
    tree_set(o, "sm_mhz_low", json_integer(t->sm_mhz_low));
    tree_set(o, "sm_mhz_high", json_integer(t->sm_mhz_high));
    tree_set(o, "memory_mhz", json_integer(t->memory_mhz));
    tree_set_text(o, "throttled", t->throttled);
    return o;
}

static json_t *timing(const struct result_timing *t)
{
    json_t *o = tree_object();
    tree_set(o, "n", json_integer(t->n));
    tree_set_text(o, "size", t->size);
    tree_set_text(o, "note", t->note);
    if (t->note)
        return o;
    tree_set(o, "ms", tree_number(t->ms));
    if (t->reference_ms > 0) {
        tree_set(o, "reference_ms", tree_number(t->reference_ms));
        tree_set(o, "ratio", t->too_noisy ? json_null() : tree_number(t->ratio));
        tree_set(o, "ratio_low", tree_number(t->ratio_low));
        tree_set(o, "ratio_high", tree_number(t->ratio_high));
        tree_set(o, "too_noisy", json_boolean(t->too_noisy));
    }
    tree_set(o, "gb_per_s", tree_number(t->gb_per_s));
    tree_set(o, "of_copy", tree_number(t->of_copy));
    tree_set(o, "copy_ms", tree_number(t->copy_ms));
    tree_set(o, "deviation_ms", tree_number(t->deviation_ms));
    tree_set(o, "rounds", json_integer(t->rounds));
    tree_set(o, "samples_ms", samples(t->samples, t->samples ? t->rounds : 0));
    if (t->reference_samples)
        tree_set(o, "reference_samples_ms", samples(t->reference_samples, t->rounds));
    tree_set(o, "findings", findings(t->findings, t->finding_count));
    if (t->has_clocks)
        tree_set(o, "clocks", clocks(t));
    return o;
}

static json_t *compile_part(const struct result_compile *c)
{
    json_t *o = tree_object();
    tree_set(o, "ok", json_boolean(c->ok));
    tree_set(o, "ms", tree_milliseconds(c->ms));
    tree_set(o, "cached", json_boolean(c->cached));
    tree_set(o, "log", tree_string(c->log));
    return o;
}

static json_t *isolation(const struct sandbox_isolation *i)
{
    json_t *o = tree_object(), *layers = tree_array();
    tree_set(o, "tier", tree_string(i->name));
    for (unsigned k = 0; k < i->layer_count; k++) {
        json_t *layer = tree_object();
        tree_set(layer, "layer", tree_string(i->layers[k].key));
        tree_set(layer, "in_use", json_boolean(i->layers[k].in_use));
        tree_set(layer, "weaker", json_boolean(i->layers[k].weaker));
        tree_set(layer, "got", tree_string(i->layers[k].got));
        tree_append(layers, layer);
    }
    tree_set(o, "layers", layers);
    return o;
}

json_t *tree_result(const struct result *r)
{
    json_t *o = tree_object();
    tree_set(o, "problem", tree_string(r->problem));
    tree_set(o, "submission", tree_string(r->submission));
    tree_set(o, "device", tree_string(r->device));
    if (r->card) {
        json_t *card = tree_object();
        tree_set(card, "name", tree_string(r->card));
        tree_set(card, "uuid", tree_string(r->card_uuid));
        tree_set(o, "card", card);
    }
    tree_set(o, "verdict", tree_string(verdict_name(r->verdict)));
    tree_set_text(o, "message", r->message);
    tree_set_text(o, "skipped", r->skipped);
    tree_set(o, "seed", json_integer((json_int_t)r->seed));
    if (r->isolation)
        tree_set(o, "isolation", isolation(r->isolation));
    tree_set(o, "compile", compile_part(&r->compile));
    json_t *cases = tree_array();
    for (unsigned i = 0; i < r->case_count; i++)
        tree_append(cases, one_case(&r->cases[i]));
    tree_set(o, "cases", cases);
    if (r->not_judged_count) {
        json_t *names = tree_array();
        for (unsigned i = 0; i < r->not_judged_count; i++)
            tree_append(names, tree_string(r->not_judged[i]));
        tree_set(o, "not_judged", names);
    }
    json_t *timings = tree_array();
    for (unsigned i = 0; i < r->timing_count; i++)
        tree_append(timings, timing(&r->timing[i]));
    tree_set(o, "timing", timings);
    if (r->timing_count) {
        tree_set(o, "timing_ms", tree_milliseconds(r->timing_ms));
        tree_set_text(o, "timing_spent_ms", r->timing_spent_ms);
    }
    tree_set(o, "ms", tree_milliseconds(r->total_ms));
    return o;
}

void report_json(const struct result *const *results, unsigned count,
                 const struct report_options *options, struct text *out)
{
    (void)options;
    for (unsigned i = 0; i < count; i++)
        tree_write(tree_result(results[i]), TREE_INDENTED, out);
}
