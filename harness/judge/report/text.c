/* For a person: the verdict, then the first failing case with all that is known about it, then the
 * warnings, then a table of the cases. A sentence should tell a student what to look at next. */
#include "base/file.h"
#include "judge/report/card.h"
#include "judge/report/profile.h"
#include "judge/report/report.h"
#include "judge/report/utf8.h"

#include <inttypes.h>
#include <string.h>

report_function report_text;

enum {
    TABLE_ROWS_MAX = 20, /* failing cases listed unless verbose */
    LOG_BYTES_MAX = 6000,
    PRINTED_BYTES_MAX = 1000,
};

enum paint { PLAIN, BOLD, RED, GREEN, YELLOW, DIM };

static void paint(struct text *out, const struct report_options *o, enum paint p, const char *s)
{
    static const char *const CODES[] = {"", "1", "1;31", "1;32", "1;33", "2"};
    if (!o->colour || p == PLAIN) {
        text_add(out, s);
        return;
    }
    text_addf(out, "\x1b[%sm%s\x1b[0m", CODES[p], s);
}

static enum paint verdict_paint(enum verdict v)
{
    if (v == VERDICT_accepted)
        return GREEN;
    return v == VERDICT_judge_error ? YELLOW : RED;
}

/* `s` escaped, every line indented, cut after `bytes_max` bytes, a newline at its end. */
static void add_block(struct text *out, const char *indent, const char *s, size_t bytes_max)
{
    struct text escaped;
    text_init(&escaped);
    report_add_escaped(&escaped, s);
    const char *line = text_str(&escaped);
    size_t length = escaped.length, shown = 0;
    while (*line) {
        size_t bytes = strcspn(line, "\n");
        if (shown + bytes > bytes_max) {
            text_addf(out, "%s[%zu more bytes]\n", indent, length - shown);
            break;
        }
        text_add(out, indent);
        text_addn(out, line, bytes);
        text_addc(out, '\n');
        bytes += line[bytes] == '\n';
        shown += bytes;
        line += bytes;
    }
    text_release(&escaped);
}

static void add_duration(struct text *out, double ms)
{
    if (ms >= 1000)
        text_addf(out, "%.2f s", ms / 1000);
    else
        text_addf(out, "%.3g ms", ms);
}

static void add_place(struct text *out, const char *what, const int32_t v[3])
{
    if (v[0] < 0)
        return;
    if (v[1] > 0 || v[2] > 0)
        text_addf(out, ", %s (%d,%d,%d)", what, v[0], v[1] < 0 ? 0 : v[1], v[2] < 0 ? 0 : v[2]);
    else
        text_addf(out, ", %s %d", what, v[0]);
}

static void add_finding(struct text *out, const struct report_options *o,
                        const struct wire_finding *f)
{
    bool is_error = f->severity == WIRE_ERROR;
    text_add(out, "  ");
    if (f->file[0]) {
        report_add_name(out, f->file);
        if (f->line)
            text_addf(out, ":%" PRIu32, f->line);
        text_add(out, ": ");
    }
    paint(out, o, is_error ? RED : YELLOW, is_error ? "error: " : "warning: ");
    text_add(out, finding_name((enum finding_kind)f->kind));
    add_place(out, "block", f->block);
    add_place(out, "thread", f->thread);
    if (f->kernel[0]) {
        text_add(out, ", in ");
        report_add_name(out, f->kernel);
    }
    if (f->count > 1)
        text_addf(out, " (%" PRIu32 " times)", f->count);
    text_addc(out, '\n');
    add_block(out, "    ", f->message, sizeof f->message);
}

static void add_mismatch(struct text *out, const struct result_mismatch *m)
{
    text_add(out, "  ");
    report_add_name(out, m->output);
    text_addf(out, "[%" PRIu64 "]: expected ", m->index);
    report_add_name(out, m->expected);
    text_add(out, ", got ");
    report_add_name(out, m->got);
    if (m->count > 1)
        text_addf(out, "; %" PRIu64 " elements are wrong, this is the first", m->count);
    text_addc(out, '\n');
}

static void add_counters(struct text *out, const struct wire_counters *counters)
{
    for (int k = 0; k < COUNTER_COUNT; k++)
        if (counters->value[k])
            text_addf(out, "    %-24s %15" PRIu64 "\n", counter_name((enum counter)k),
                      counters->value[k]);
}

static void add_printed(struct text *out, const char *what, const char *s)
{
    if (!s || !s[0])
        return;
    text_addf(out, "  what it wrote to %s:\n", what);
    add_block(out, "    | ", s, PRINTED_BYTES_MAX);
}

void report_add_case(struct text *out, const struct report_options *o, const struct result_case *c)
{
    text_add(out, "case '");
    report_add_name(out, c->name);
    text_add(out, "': ");
    paint(out, o, verdict_paint(c->verdict), verdict_for_people(c->verdict));
    if (c->failing_schedule) {
        text_add(out, ", schedule: ");
        text_add(out, c->failing_schedule);
        if (c->failing.found_by_search)
            text_addf(out, " with seed %" PRIu64, c->failing.seed);
        if (c->failing.delay_stores)
            text_add(out, ", stores seen late");
    }
    text_addc(out, '\n');
    if (c->mismatch.output)
        add_mismatch(out, &c->mismatch);
    if (c->diagnosis)
        add_block(out, "  ", c->diagnosis, PRINTED_BYTES_MAX);
    for (unsigned i = 0; i < c->finding_count; i++)
        add_finding(out, o, &c->findings[i]);
    add_printed(out, "stdout", c->stdout_text);
    add_printed(out, "stderr", c->stderr_text);
    if (o->verbose && c->has_counters)
        add_counters(out, &c->counters);
    if (c->reproduce) {
        text_add(out, "  again: ");
        report_add_name(out, c->reproduce);
        text_addc(out, '\n');
    }
}

static const struct result_case *first_failing(const struct result *r)
{
    for (unsigned i = 0; i < r->case_count; i++)
        if (r->cases[i].verdict != VERDICT_accepted)
            return &r->cases[i];
    return NULL;
}

static bool same_warning(const struct wire_finding *a, const struct wire_finding *b)
{
    return a->kind == b->kind && a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Was this finding already told for an earlier case that is told in full, or as a warning? */
static bool told_before(const struct result *r, const struct result_case *told, unsigned in_case,
                        const struct wire_finding *f)
{
    for (unsigned k = 0; k < r->case_count; k++) {
        const struct result_case *c = &r->cases[k];
        if (c != told && (k >= in_case || c->verdict != VERDICT_accepted))
            continue;
        for (unsigned i = 0; i < c->finding_count; i++)
            if (same_warning(&c->findings[i], f))
                return true;
    }
    return false;
}

/* Each warning of the cases that are not told in full, once. */
static void add_warnings(struct text *out, const struct report_options *o, const struct result *r,
                         const struct result_case *told)
{
    for (unsigned k = 0; k < r->case_count; k++) {
        const struct result_case *c = &r->cases[k];
        for (unsigned i = 0; i < c->finding_count; i++) {
            if (c == told || c->verdict != VERDICT_accepted ||
                told_before(r, told, k, &c->findings[i]))
                continue;
            text_add(out, "case '");
            report_add_name(out, c->name);
            text_add(out, "':\n");
            add_finding(out, o, &c->findings[i]);
        }
    }
}

static void add_row(struct text *out, const struct report_options *o, const struct result_case *c,
                    unsigned name_columns)
{
    struct text name;
    text_init(&name);
    report_add_name(&name, c->name);
    text_add(out, "  ");
    text_add(out, text_str(&name));
    for (unsigned i = utf8_columns(text_str(&name)); i < name_columns + 2; i++)
        text_addc(out, ' ');
    text_release(&name);
    struct text verdict;
    text_init(&verdict);
    text_addf(&verdict, "%-24s", verdict_for_people(c->verdict));
    paint(out, o, verdict_paint(c->verdict), text_str(&verdict));
    text_release(&verdict);
    text_addf(out, "%10.1f ms\n", c->ms);
    if (o->verbose && c->verdict == VERDICT_accepted && c->has_counters)
        add_counters(out, &c->counters);
}

/* "3 not judged: 'a', 'b', 'c'" */
static void add_not_judged(struct text *out, const struct report_options *o, const struct result *r)
{
    enum { NAMES_MAX = 8 };
    unsigned shown =
        o->verbose || r->not_judged_count <= NAMES_MAX ? r->not_judged_count : NAMES_MAX;
    if (r->not_judged_count == 0)
        return;
    text_addf(out, "%u not judged: ", r->not_judged_count);
    for (unsigned i = 0; i < shown; i++) {
        text_add(out, i ? ", '" : "'");
        report_add_name(out, r->not_judged[i]);
        text_addc(out, '\'');
    }
    if (shown < r->not_judged_count)
        text_addf(out, " and %u more", r->not_judged_count - shown);
    text_addc(out, '\n');
}

static void add_table(struct text *out, const struct report_options *o, const struct result *r)
{
    unsigned accepted = 0, columns = 0, rows = 0;
    for (unsigned i = 0; i < r->case_count; i++) {
        unsigned width = utf8_columns(r->cases[i].name);
        columns = width > columns ? width : columns;
        accepted += r->cases[i].verdict == VERDICT_accepted;
    }
    if (r->case_count == 0)
        return;
    bool all = o->verbose;
    unsigned total = r->case_count + r->not_judged_count;
    text_addf(out, "%u of %u case%s accepted\n", accepted, total, total == 1 ? "" : "s");
    for (unsigned i = 0; i < r->case_count; i++) {
        if (!all && r->cases[i].verdict == VERDICT_accepted)
            continue;
        if (!all && rows++ == TABLE_ROWS_MAX) {
            text_addf(out, "  and %u more\n", r->case_count - accepted - TABLE_ROWS_MAX);
            break;
        }
        add_row(out, o, &r->cases[i], columns);
    }
}

static void add_head(struct text *out, const struct report_options *o, const struct result *r)
{
    paint(out, o, verdict_paint(r->verdict),
          r->skipped ? "not judged" : verdict_for_people(r->verdict));
    text_add(out, ": ");
    report_add_name(out, r->problem);
    text_add(out, ", ");
    report_add_name(out, r->submission);
    text_addf(out, " (%s, ", r->device);
    if (r->card) {
        report_add_name(out, r->card);
        text_add(out, ", ");
    }
    text_addf(out, "seed %" PRIu64 ", ", r->seed);
    add_duration(out, r->total_ms);
    if (r->compile.ok && r->compile.cached)
        text_add(out, ", compiled before");
    if (r->compile.ok && !r->compile.cached) {
        text_add(out, ", of which nvcc ");
        add_duration(out, r->compile.ms);
    }
    text_add(out, ")\n");
    if (r->skipped)
        add_block(out, "  ", r->skipped, LOG_BYTES_MAX);
    /* A compile error's message is a line of the log, which follows. */
    if (r->message && !(r->verdict == VERDICT_compile_error && r->compile.log && r->compile.log[0]))
        add_block(out, "  ", r->message, LOG_BYTES_MAX);
}

static void add_profile(struct text *out, const struct result *r, const struct result_case *c)
{
    if (!c->profile && !c->profile_note && !c->card_profile)
        return;
    text_add(out, "\nprofile of case '");
    report_add_name(out, c->name);
    text_add(out, "'\n");
    if (c->card_profile)
        report_card_profile(c, out);
    else if (c->profile)
        report_profile(c->profile, file_base_name(r->submission), r->source, out);
    else
        add_block(out, "  ", c->profile_note, PRINTED_BYTES_MAX);
}

/* Which of NVIDIA's tools looked at which case; NULL if none did. */
static const char *add_sanitized(struct text *out, const struct result *r)
{
    for (unsigned i = 0; i < r->case_count; i++) {
        const struct result_case *c = &r->cases[i];
        if (!c->sanitized)
            continue;
        text_add(out, "compute-sanitizer, findings in case '");
        report_add_name(out, c->name);
        text_addf(out, "': %s\n", c->sanitized);
        return c->sanitized;
    }
    return NULL;
}

/* ---- timing ---- */

static void add_ratio(struct text *out, const struct result_timing *t)
{
    if (!(t->reference_ms > 0))
        return;
    if (t->too_noisy)
        text_addf(out, "   too noisy to tell, %.3g to %.3g", t->ratio_low, t->ratio_high);
    else
        text_addf(out, " %10.4f %9.3f  (%.3f to %.3f)", t->reference_ms, t->ratio, t->ratio_low,
                  t->ratio_high);
}

static void add_timing_row(struct text *out, const struct result_timing *t, unsigned columns)
{
    text_add(out, "  ");
    report_add_name(out, t->size);
    for (unsigned i = utf8_columns(t->size); i < columns + 2; i++)
        text_addc(out, ' ');
    if (t->note) {
        report_add_escaped(out, t->note);
        text_addc(out, '\n');
        return;
    }
    text_addf(out, "%10.4f %8.0f %8.2f", t->ms, t->gb_per_s, t->of_copy);
    add_ratio(out, t);
    if (t->throttled)
        text_addf(out, "   slowed down: %s", t->throttled);
    text_addc(out, '\n');
}

static void add_timing(struct text *out, const struct report_options *o, const struct result *r)
{
    if (r->timing_count == 0)
        return;
    unsigned columns = 4;
    bool referred = false;
    for (unsigned i = 0; i < r->timing_count; i++) {
        unsigned width = utf8_columns(r->timing[i].size);
        columns = width > columns ? width : columns;
        referred |= r->timing[i].reference_ms > 0;
    }
    text_addf(out, "\n  %-*s  %10s %8s %8s", (int)columns, "time", "ms", "GB/s", "of copy");
    text_add(out, referred ? "  reference     times  (95% interval)\n" : "\n");
    for (unsigned i = 0; i < r->timing_count; i++) {
        const struct result_timing *t = &r->timing[i];
        add_timing_row(out, t, columns);
        for (unsigned k = 0; k < t->finding_count; k++)
            add_finding(out, o, &t->findings[k]);
    }
    const struct result_timing *seen = NULL;
    for (unsigned i = 0; i < r->timing_count; i++)
        if (r->timing[i].has_clocks)
            seen = &r->timing[i];
    if (seen)
        text_addf(out, "  clocks: SM %u to %u MHz, memory %u MHz\n", seen->sm_mhz_low,
                  seen->sm_mhz_high, seen->memory_mhz);
    else
        text_add(out, "  clocks: not known (no NVML)\n");
    if (o->verbose && r->timing_spent_ms)
        text_addf(out, "  timing took %.0f ms: %s\n", r->timing_ms, r->timing_spent_ms);
}

/* With --verbose; and always where the programs had the run of the machine. */
static void add_isolation(struct text *out, const struct report_options *o,
                          const struct sandbox_isolation *i)
{
    if (!i || (!o->verbose && i->tier != SANDBOX_NONE))
        return;
    if (i->tier == SANDBOX_NONE)
        text_add(out, "What was judged was not shut in: it could read and change what you can.\n");
    text_addf(out, "isolation: %s", i->name);
    for (unsigned k = 0; k < i->layer_count; k++)
        if (i->layers[k].in_use)
            text_addf(out, "; %s: %s", i->layers[k].key, i->layers[k].got);
    text_addc(out, '\n');
}

static void add_result(const struct result *r, const struct report_options *o, struct text *out)
{
    add_head(out, o, r);
    if (r->compile.log && r->compile.log[0] &&
        (r->verdict == VERDICT_compile_error || o->verbose)) {
        text_add(out, "\nwhat the compiler said:\n");
        add_block(out, "  ", r->compile.log, LOG_BYTES_MAX);
    }
    const struct result_case *failing = first_failing(r);
    if (failing) {
        text_addc(out, '\n');
        report_add_case(out, o, failing);
    }
    size_t before = out->length;
    text_addc(out, '\n');
    size_t blank = out->length;
    add_warnings(out, o, r, failing);
    if (out->length == blank) {
        out->length = before;
        out->data[before] = '\0';
    }
    if (r->case_count || r->not_judged_count) {
        text_addc(out, '\n');
        add_table(out, o, r);
        add_not_judged(out, o, r);
    }
    /* The two devices do not see the same: whoever reads "accepted" should know. */
    const char *sanitized = add_sanitized(out, r);
    if (r->card && r->verdict == VERDICT_accepted && !sanitized)
        text_add(out, "A card does not notice races, uninitialised reads and most stray accesses; "
                      "--device cpu looks for them,\nand --sanitize has NVIDIA's tools look.\n");
    add_isolation(out, o, r->isolation);
    add_timing(out, o, r);
    for (unsigned i = 0; i < r->case_count; i++)
        add_profile(out, r, &r->cases[i]);
}

void report_text(const struct result *const *results, unsigned count,
                 const struct report_options *options, struct text *out)
{
    for (unsigned i = 0; i < count; i++) {
        if (i)
            text_addc(out, '\n');
        add_result(results[i], options, out);
    }
}
