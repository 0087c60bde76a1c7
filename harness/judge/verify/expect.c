#include "judge/verify/expect.h"

#include "base/file.h"

#include <string.h>

static const char *finding_at(const struct wire_finding *f, struct arena *arena)
{
    const char *kind = finding_name((enum finding_kind)f->kind);
    return f->line ? arena_printf(arena, "%s at %s:%u", kind, f->file, f->line) : kind;
}

const char *expect_describe(const struct result *r, struct arena *arena)
{
    if (r->message)
        return r->message;
    for (unsigned c = 0; c < r->case_count; c++) {
        const struct result_case *k = &r->cases[c];
        if (k->verdict == VERDICT_accepted)
            continue;
        const struct wire_finding *f = NULL;
        for (unsigned i = 0; i < k->finding_count && !f; i++)
            f = k->findings[i].severity == WIRE_ERROR ? &k->findings[i] : NULL;
        return arena_printf(arena, "case '%s'%s%s", k->name, f ? ", " : "",
                            f              ? finding_at(f, arena)
                            : k->diagnosis ? arena_printf(arena, ": %s", k->diagnosis)
                                           : "");
    }
    return "every case is accepted";
}

static bool names_line(const struct wire_finding *f, const struct expectation *x)
{
    const struct label *label = x->label;
    if (label->line_count == 0)
        return true;
    if (strcmp(f->file, file_base_name(x->source)) != 0)
        return false;
    for (size_t i = 0; i < label->line_count; i++)
        if (f->line == label->lines[i])
            return true;
    return false;
}

/* Of severity error; beside an accepted verdict it is a warning. */
static bool has_finding(const struct expectation *x, const struct result *r)
{
    uint32_t severity = x->verdict == VERDICT_accepted ? WIRE_WARNING : WIRE_ERROR;
    for (unsigned c = 0; c < r->case_count; c++)
        for (unsigned i = 0; i < r->cases[c].finding_count; i++) {
            const struct wire_finding *f = &r->cases[c].findings[i];
            if (f->severity == severity &&
                strcmp(finding_name((enum finding_kind)f->kind), x->label->finding) == 0 &&
                names_line(f, x))
                return true;
        }
    return false;
}

static bool has_diagnosis(const struct result *r, const char *wanted)
{
    for (unsigned c = 0; c < r->case_count; c++)
        if (r->cases[c].diagnosis && strcasestr(r->cases[c].diagnosis, wanted))
            return true;
    return false;
}

/* The first finding of a case of a file that may have none. */
static const char *unwanted(const struct result *r, struct arena *arena)
{
    for (unsigned c = 0; c < r->case_count; c++)
        if (r->cases[c].finding_count)
            return arena_printf(arena, "case '%s' has a finding: %s, %s", r->cases[c].name,
                                finding_at(&r->cases[c].findings[0], arena),
                                r->cases[c].findings[0].message);
    return NULL;
}

static const char *marked_lines(const struct label *label, struct arena *arena)
{
    const char *s = "";
    for (size_t i = 0; i < label->line_count; i++)
        s = arena_printf(arena, "%s%s%u", s, i ? " or " : " in line ", label->lines[i]);
    return s;
}

const char *expect_check(const struct expectation *x, const struct result *r, struct arena *arena)
{
    const struct label *label = x->label;
    const char *got = verdict_for_people(r->verdict);
    if (r->verdict != x->verdict)
        return arena_printf(arena, "%s instead of %s (%s)", got, verdict_for_people(x->verdict),
                            expect_describe(r, arena));
    if (label->finding && !has_finding(x, r))
        return arena_printf(arena, "%s, but without the finding %s%s (%s)", got, label->finding,
                            marked_lines(label, arena), expect_describe(r, arena));
    if (label->diagnosis && !has_diagnosis(r, label->diagnosis))
        return arena_printf(arena, "%s, but no diagnosis says '%s' (%s)", got, label->diagnosis,
                            expect_describe(r, arena));
    return x->clean ? unwanted(r, arena) : NULL;
}
