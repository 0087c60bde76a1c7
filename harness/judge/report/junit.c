/* JUnit XML: what Jenkins, GitLab and the reporters of GitHub agree on. A suite per result, a test
 * case per case. Who reads it tells tests apart by class name and name, and Jenkins takes what
 * stands before the last dot of a class name for a package: "<problem>.<submission>".
 *
 * All text is escaped, nothing is quoted as CDATA; what XML 1.0 has no character for has been made
 * visible by entries_of(). */
#include "judge/report/entries.h"
#include "judge/report/notes.h"

#include <inttypes.h>
#include <string.h>

report_function report_junit;

enum { PRINTED_BYTES_MAX = 8000 };

static void add_xml(struct text *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&':
            text_add(out, "&amp;");
            break;
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        default:
            text_addc(out, *s);
        }
}

/* ` name="value"`; a reader makes a space of a newline in an attribute unless it is a reference. */
static void add_attribute(struct text *out, const char *name, const char *value)
{
    text_addf(out, " %s=\"", name);
    for (const char *at = value; *at;) {
        size_t plain = strcspn(at, "\n\t");
        struct text part;
        text_init(&part);
        text_addn(&part, at, plain);
        add_xml(out, text_str(&part));
        text_release(&part);
        at += plain;
        if (*at)
            text_addf(out, "&#%d;", *at++);
    }
    text_addc(out, '"');
}

static void add_seconds(struct text *out, double ms)
{
    text_addf(out, " time=\"%.6f\"", ms > 0 && ms < 1e12 ? ms / 1000 : 0);
}

static void add_counts(struct text *out, unsigned tests, const unsigned with[ENTRY_STATUS_COUNT],
                       double ms)
{
    text_addf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"", tests,
              with[ENTRY_FAILED], with[ENTRY_ERROR], with[ENTRY_SKIPPED]);
    add_seconds(out, ms);
    text_add(out, ">\n");
}

static void add_property(struct text *out, const char *name, const char *value)
{
    text_add(out, "      <property");
    add_attribute(out, "name", name);
    add_attribute(out, "value", value);
    text_add(out, "/>\n");
}

static void add_properties(struct text *out, const struct result *r, struct arena *a)
{
    text_add(out, "    <properties>\n");
    add_property(out, "verdict", r->skipped ? "not judged" : verdict_for_people(r->verdict));
    add_property(out, "device", r->device);
    if (r->card)
        add_property(out, "card", entry_clean(r->card, true, a));
    add_property(out, "seed", arena_printf(a, "%" PRIu64, r->seed));
    text_add(out, "    </properties>\n");
}

static void add_printed(struct text *out, const char *element, const char *s, struct arena *a)
{
    if (!s || !s[0])
        return;
    const char *clean = entry_clean(arena_strndup(a, s, strnlen(s, PRINTED_BYTES_MAX)), false, a);
    text_addf(out, "      <%s>", element);
    add_xml(out, clean);
    text_addf(out, "</%s>\n", element);
}

/* <failure>, <error> or <skipped>: what is wrong in an attribute, all about it inside. */
static void add_outcome(struct text *out, const struct entry *e, struct arena *a)
{
    static const char *const ELEMENTS[ENTRY_STATUS_COUNT] = {NULL, "failure", "error", "skipped"};
    const char *element = ELEMENTS[e->status];
    if (!element)
        return;
    const char *what = e->status == ENTRY_SKIPPED ? "" : verdict_for_people(verdict_find(e->kind));
    text_addf(out, "      <%s", element);
    if (e->status != ENTRY_SKIPPED)
        add_attribute(out, "type", e->kind);
    add_attribute(
        out, "message",
        arena_printf(a, "%s%s%s", what, what[0] && e->headline[0] ? ": " : "", e->headline));
    if (!e->detail[0] || e->status == ENTRY_SKIPPED) {
        text_add(out, "/>\n");
        return;
    }
    text_addc(out, '>');
    add_xml(out, e->detail);
    text_addf(out, "</%s>\n", element);
}

static void add_entry(struct text *out, const struct entry *e, const char *class_name,
                      const char *path, struct arena *a)
{
    text_add(out, "    <testcase");
    add_attribute(out, "classname", class_name);
    add_attribute(out, "name", e->name);
    add_attribute(out, "file", path);
    if (e->line)
        text_addf(out, " line=\"%" PRIu32 "\"", e->line);
    add_seconds(out, e->ms);
    text_add(out, ">\n");
    add_outcome(out, e, a);
    if (e->status == ENTRY_PASSED && e->detail[0])
        add_printed(out, "system-out", e->detail, a); /* its warnings */
    else if (e->c)
        add_printed(out, "system-out", e->c->stdout_text, a);
    if (e->c)
        add_printed(out, "system-err", e->c->stderr_text, a);
    text_add(out, "    </testcase>\n");
}

/* "multi-block-scan.alice/a": dots elsewhere would be packages of their own. */
static const char *class_name_of(const struct result *r, const char *path, struct arena *a)
{
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".cu") == 0)
        length -= 3;
    char *name = arena_strndup(a, path, length);
    for (char *at = name; (at = strchr(at, '.'));)
        *at = '_';
    return arena_printf(a, "%s.%s", r->problem, name);
}

/* The second result about the same file is "... (2)". */
static const char *numbered(const char *name, const char *const *before, unsigned count,
                            struct arena *a)
{
    unsigned same = 1;
    for (unsigned i = 0; i < count; i++)
        same += strcmp(before[i], name) == 0;
    return same > 1 ? arena_printf(a, "%s (%u)", name, same) : name;
}

void report_junit(const struct result *const *results, unsigned count,
                  const struct report_options *options, struct text *out)
{
    struct arena a;
    arena_init(&a);
    struct entries *all = arena_array(&a, count, sizeof *all);
    const char **names = arena_array(&a, count, sizeof *names);
    unsigned with[ENTRY_STATUS_COUNT] = {0}, tests = 0;
    double ms = 0;
    for (unsigned i = 0; i < count; i++) {
        all[i] = entries_of(results[i], options, &a);
        tests += all[i].count;
        ms += results[i]->total_ms;
        for (unsigned k = 0; k < ENTRY_STATUS_COUNT; k++)
            with[k] += all[i].with[k];
    }
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"scanjudge\"");
    add_counts(out, tests, with, ms);
    for (unsigned i = 0; i < count; i++) {
        const struct result *r = results[i];
        const char *path = entry_clean(report_path(r->submission, options, &a), true, &a);
        names[i] = class_name_of(r, path, &a);
        const char *class_name = numbered(names[i], names, i, &a);
        text_add(out, "  <testsuite");
        add_attribute(out, "name", class_name);
        add_counts(out, all[i].count, all[i].with, r->total_ms);
        add_properties(out, r, &a);
        for (unsigned k = 0; k < all[i].count; k++)
            add_entry(out, &all[i].items[k], class_name, path, &a);
        text_add(out, "  </testsuite>\n");
    }
    text_add(out, "</testsuites>\n");
    arena_release(&a);
}
