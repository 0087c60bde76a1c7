/* Markdown, for the summary page of a job ($GITHUB_STEP_SUMMARY) and for comments. In a line every
 * character that could mean anything to Markdown or HTML is escaped; text of several lines stands
 * in <pre>, which only its end tag ends, and no '<' of it remains. */
#include "judge/report/entries.h"
#include "judge/report/notes.h"

#include <string.h>

report_function report_markdown;

enum {
    ROWS_MAX = 50,          /* cases in a table; the page may have a megabyte */
    DETAIL_BYTES_MAX = 3000 /* of one case */
};

static void add_html(struct text *out, char c)
{
    switch (c) {
    case '<':
        text_add(out, "&lt;");
        break;
    case '>':
        text_add(out, "&gt;");
        break;
    case '&':
        text_add(out, "&amp;");
        break;
    default:
        text_addc(out, c);
    }
}

/* A sentence inside of a line or a cell. '@' as a reference mentions nobody. */
static void add_inline(struct text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '@')
            text_add(out, "&#64;");
        else if (*s == '\n')
            text_addc(out, ' ');
        else if (strchr("<>&", *s))
            add_html(out, *s);
        else if (strchr("!\"#$%'()*+,-./:;=?[\\]^_`{|}~", *s))
            text_addf(out, "\\%c", *s);
        else
            text_addc(out, *s);
    }
}

static void add_block(struct text *out, const char *s)
{
    size_t length = strlen(s), shown = length <= DETAIL_BYTES_MAX ? length : DETAIL_BYTES_MAX;
    while (shown < length && shown > 0 && ((unsigned char)s[shown] & 0xc0) == 0x80)
        shown--; /* not in the middle of a character */
    text_add(out, "<pre>\n");
    for (size_t i = 0; i < shown; i++)
        if (s[i] == '@')
            text_add(out, "&#64;");
        else
            add_html(out, s[i]);
    if (shown < length)
        text_addf(out, "\n[%zu more bytes]", length - shown);
    text_add(out, "\n</pre>\n\n");
}

static const char *status_of(const struct entry *e)
{
    enum verdict v = verdict_find(e->kind);
    return v < VERDICT_COUNT ? verdict_for_people(v) : "not judged";
}

/* The cases that did not pass. */
static void add_table(struct text *out, const struct entries *all)
{
    unsigned rows = 0;
    if (all->with[ENTRY_PASSED] == all->count)
        return;
    text_add(out, "| case | verdict | why |\n|---|---|---|\n");
    for (unsigned i = 0; i < all->count; i++) {
        const struct entry *e = &all->items[i];
        if (e->status == ENTRY_PASSED || rows++ >= ROWS_MAX)
            continue;
        text_add(out, "| ");
        add_inline(out, e->name);
        text_addf(out, " | %s | ", status_of(e));
        add_inline(out, e->headline);
        text_add(out, " |\n");
    }
    text_addc(out, '\n');
    if (rows > ROWS_MAX)
        text_addf(out, "and %u more\n\n", rows - ROWS_MAX);
}

static void add_timing(struct text *out, const struct result *r)
{
    if (!r->timing_count)
        return;
    text_add(out, "| size | ms | GB/s | times the reference |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < r->timing_count; i++) {
        const struct result_timing *t = &r->timing[i];
        text_add(out, "| ");
        add_inline(out, t->size);
        if (t->note) {
            text_add(out, " | ");
            add_inline(out, t->note);
            text_add(out, " | | |\n");
            continue;
        }
        text_addf(out, " | %.4f | %.0f | ", t->ms, t->gb_per_s);
        if (t->reference_ms > 0 && t->too_noisy)
            text_add(out, "too noisy to tell");
        else if (t->reference_ms > 0)
            text_addf(out, "%.3f (%.3f to %.3f)", t->ratio, t->ratio_low, t->ratio_high);
        text_add(out, " |\n");
    }
    text_addc(out, '\n');
}

static void add_result(struct text *out, const struct result *r, const struct report_options *o,
                       struct arena *a)
{
    struct entries all = entries_of(r, o, a);
    text_addf(out, "### %s ",
              r->skipped                          ? "⏭️"
              : r->verdict == VERDICT_accepted    ? "✅"
              : r->verdict == VERDICT_judge_error ? "⚠️"
                                                  : "❌");
    add_inline(out, r->problem);
    text_add(out, ": ");
    add_inline(out, entry_clean(report_path(r->submission, o, a), true, a));
    text_add(out, "\n\n");
    add_inline(out, all.summary);
    text_add(out, "\n\n");
    if (r->case_count)
        add_table(out, &all);
    for (unsigned i = 0; i < all.count; i++)
        if (all.items[i].status == ENTRY_FAILED || all.items[i].status == ENTRY_ERROR) {
            if (all.items[i].detail[0])
                add_block(out, all.items[i].detail);
            break; /* one at a time, as the text does */
        }
    add_timing(out, r);
}

/* Of many, first a line each. */
static void add_overview(struct text *out, const struct result *const *results, unsigned count,
                         const struct report_options *o, struct arena *a)
{
    unsigned accepted = 0;
    for (unsigned i = 0; i < count; i++)
        accepted += results[i]->verdict == VERDICT_accepted;
    text_addf(out, "## %u of %u submissions accepted\n\n", accepted, count);
    text_add(out, "| problem | submission | verdict |\n|---|---|---|\n");
    for (unsigned i = 0; i < count; i++) {
        const struct result *r = results[i];
        text_add(out, "| ");
        add_inline(out, r->problem);
        text_add(out, " | ");
        add_inline(out, entry_clean(report_path(r->submission, o, a), true, a));
        text_addf(out, " | %s |\n", r->skipped ? "not judged" : verdict_for_people(r->verdict));
    }
    text_addc(out, '\n');
}

void report_markdown(const struct result *const *results, unsigned count,
                     const struct report_options *options, struct text *out)
{
    struct arena a;
    arena_init(&a);
    if (count > 1)
        add_overview(out, results, count, options, &a);
    for (unsigned i = 0; i < count; i++)
        if (count == 1 || results[i]->verdict != VERDICT_accepted)
            add_result(out, results[i], options, &a);
    arena_release(&a);
}
