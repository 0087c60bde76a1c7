/* TAP 13: a line per case, and behind one that is not ok what is known of it, as YAML. A harness
 * takes every line for an order that looks like one, so nothing of a submission begins a line: it
 * stands behind " - " in a description, or between double quotes in the block. */
#include "judge/report/entries.h"

#include <inttypes.h>

report_function report_tap;

/* In a description a backslash takes the meaning from what follows, and '#' would begin a
 * directive. */
static void add_description(struct text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '\\' || *s == '#')
            text_addc(out, '\\');
        text_addc(out, *s);
    }
}

/* "  key: "value"", with the few escapes that every reader of YAML knows. */
static void add_value(struct text *out, const char *key, const char *value)
{
    if (!value[0])
        return;
    text_addf(out, "  %s: \"", key);
    for (const char *s = value; *s; s++)
        switch (*s) {
        case '\n':
            text_add(out, "\\n");
            break;
        case '\t':
            text_add(out, "\\t");
            break;
        case '"':
        case '\\':
            text_addc(out, '\\');
            text_addc(out, *s);
            break;
        default:
            text_addc(out, *s);
        }
    text_add(out, "\"\n");
}

static void add_entry(struct text *out, const struct result *r, const struct entry *e,
                      unsigned number, struct arena *a)
{
    bool ok = e->status == ENTRY_PASSED || e->status == ENTRY_SKIPPED;
    text_addf(out, "%sok %u - ", ok ? "" : "not ", number);
    add_description(out, r->problem);
    text_add(out, ", ");
    add_description(out, entry_clean(r->submission, true, a));
    text_add(out, ": ");
    add_description(out, e->name);
    if (e->status == ENTRY_SKIPPED) {
        text_add(out, " # SKIP ");
        add_description(out, e->headline);
    }
    text_addc(out, '\n');
    if (ok)
        return;
    text_add(out, "  ---\n");
    add_value(out, "verdict", e->kind);
    add_value(out, "message", e->headline);
    if (e->line)
        text_addf(out, "  line: %" PRIu32 "\n", e->line);
    text_addf(out, "  ms: %.3f\n", e->ms);
    add_value(out, "detail", e->detail);
    text_add(out, "  ...\n");
}

void report_tap(const struct result *const *results, unsigned count,
                const struct report_options *options, struct text *out)
{
    struct arena a;
    unsigned tests = 0, number = 0;
    arena_init(&a);
    struct entries *all = arena_array(&a, count, sizeof *all);
    for (unsigned i = 0; i < count; i++) {
        all[i] = entries_of(results[i], options, &a);
        tests += all[i].count;
    }
    text_addf(out, "TAP version 13\n1..%u\n", tests);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < all[i].count; k++)
            add_entry(out, results[i], &all[i].items[k], ++number, &a);
    arena_release(&a);
}
