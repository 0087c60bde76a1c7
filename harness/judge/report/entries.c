/* Points: equal shares, rounded along the sum to 1/64 of a point, which a double adds up exactly.
 * So a submission that passes everything has exactly the points that there are, whoever adds. */
#include "judge/report/entries.h"

#include "base/file.h"
#include "judge/report/utf8.h"

#include <inttypes.h>
#include <string.h>

const char *entry_clean(const char *s, bool one_line, struct arena *arena)
{
    struct text t;
    text_init(&t);
    if (one_line)
        report_add_name(&t, s ? s : "");
    else
        report_add_escaped(&t, s ? s : "");
    const char *clean = arena_strdup(arena, text_str(&t));
    text_release(&t);
    return clean;
}

static const char *first_line(const char *s, struct arena *a)
{
    return arena_strndup(a, s, strcspn(s, "\n"));
}

static const struct wire_finding *first_error(const struct result_case *c)
{
    for (unsigned i = 0; i < c->finding_count; i++)
        if (c->findings[i].severity == WIRE_ERROR)
            return &c->findings[i];
    return NULL;
}

/* Why the case failed: what explains most of it first. */
static const char *headline_of(const struct result_case *c, struct arena *a)
{
    const struct wire_finding *f = first_error(c);
    const char *why = "";
    if (c->diagnosis && c->diagnosis[0])
        why = first_line(c->diagnosis, a);
    else if (f)
        why = f->message;
    else if (c->mismatch.output)
        why = arena_printf(a, "%s[%" PRIu64 "]: expected %s, got %s", c->mismatch.output,
                           c->mismatch.index, c->mismatch.expected, c->mismatch.got);
    return entry_clean(why, true, a);
}

static uint32_t line_of(const struct result *r, const struct result_case *c)
{
    for (unsigned i = 0; i < c->finding_count; i++)
        if (c->findings[i].severity == WIRE_ERROR && c->findings[i].line &&
            strcmp(c->findings[i].file, file_base_name(r->submission)) == 0)
            return c->findings[i].line;
    return 0;
}

static const char *detail_of(const struct result_case *c, const struct report_options *o,
                             struct arena *a)
{
    struct report_options plain = *o;
    plain.colour = false;
    bool is_silent = c->verdict == VERDICT_accepted && c->finding_count == 0;
    if (is_silent)
        return "";
    struct text t;
    text_init(&t);
    report_add_case(&t, &plain, c);
    const char *detail = arena_strdup(a, text_str(&t));
    text_release(&t);
    return detail;
}

static struct entry entry_of_case(const struct result *r, const struct result_case *c,
                                  const struct report_options *o, struct arena *a)
{
    enum entry_status status = c->verdict == VERDICT_accepted      ? ENTRY_PASSED
                               : c->verdict == VERDICT_judge_error ? ENTRY_ERROR
                                                                   : ENTRY_FAILED;
    return (struct entry){.name = entry_clean(c->name, true, a),
                          .status = status,
                          .kind = verdict_name(c->verdict),
                          .headline = status == ENTRY_PASSED ? "" : headline_of(c, a),
                          .detail = detail_of(c, o, a),
                          .c = c,
                          .is_public = c->is_public,
                          .ms = c->ms > 0 ? c->ms : 0,
                          .line = line_of(r, c)};
}

/* Of what is not a case's: whether it compiles, and the judging itself. */
static struct entry entry_of_whole(const struct result *r, struct arena *a)
{
    bool compile = r->verdict == VERDICT_compile_error;
    bool error = compile || r->verdict == VERDICT_judge_error;
    const char *log = compile && r->compile.log ? r->compile.log : "";
    const char *message = r->skipped ? r->skipped : r->message ? r->message : "";
    return (struct entry){.name = compile ? "compiles" : "is judged",
                          .status = r->skipped                       ? ENTRY_SKIPPED
                                    : error                          ? ENTRY_ERROR
                                    : r->verdict == VERDICT_accepted ? ENTRY_PASSED
                                                                     : ENTRY_FAILED,
                          .kind = r->skipped ? "not_judged" : verdict_name(r->verdict),
                          .headline = entry_clean(message, true, a),
                          .detail = entry_clean(log, false, a),
                          .is_public = true,
                          .ms = compile && r->compile.ms > 0 ? r->compile.ms : 0};
}

/* Names become unique; the second 'n=8' is 'n=8 (2)'. */
static void number_names(struct entries *all, struct arena *a)
{
    for (unsigned i = 0; i < all->count; i++) {
        const char *name = all->items[i].name;
        unsigned same = 1;
        for (unsigned k = 0; k < i; k++) {
            if (strcmp(all->items[k].name, all->items[i].name) != 0)
                continue;
            all->items[i].name = arena_printf(a, "%s (%u)", name, ++same);
            k = (unsigned)-1; /* that name may be taken as well */
        }
    }
}

static void share_points(struct entries *all, const struct report_options *o)
{
    enum { PARTS = 64 };
    uint64_t worth = (uint64_t)(o->points ? o->points : ENTRY_POINTS) * PARTS, before = 0;
    for (unsigned i = 0; i < all->count; i++) {
        struct entry *e = &all->items[i];
        uint64_t up_to = (worth * (i + 1) + all->count / 2) / all->count;
        e->most_points = (double)(up_to - before) / PARTS;
        e->points = e->status == ENTRY_PASSED ? e->most_points : 0;
        all->most_points += e->most_points;
        all->points += e->points;
        before = up_to;
    }
}

static const char *summary_of(const struct result *r, const struct entries *all, struct arena *a)
{
    struct text t;
    text_init(&t);
    text_add(&t, r->skipped ? "not judged" : verdict_for_people(r->verdict));
    unsigned cases = r->case_count + r->not_judged_count;
    if (r->case_count)
        text_addf(&t, ": %u of %u case%s accepted", all->with[ENTRY_PASSED], cases,
                  cases == 1 ? "" : "s");
    const char *message = r->skipped ? r->skipped : r->message;
    if (message && message[0])
        text_addf(&t, "%s %s", r->case_count ? "." : ":", message);
    const char *summary = entry_clean(text_str(&t), true, a);
    text_release(&t);
    return summary;
}

struct entries entries_of(const struct result *r, const struct report_options *o,
                          struct arena *arena)
{
    struct entries all = {0};
    all.items =
        arena_array(arena, (size_t)r->case_count + r->not_judged_count + 1, sizeof *all.items);
    for (unsigned i = 0; i < r->case_count; i++)
        all.items[all.count++] = entry_of_case(r, &r->cases[i], o, arena);
    for (unsigned i = 0; i < r->not_judged_count; i++)
        all.items[all.count++] = (struct entry){
            .name = entry_clean(r->not_judged[i], true, arena),
            .status = ENTRY_SKIPPED,
            .kind = "not_judged",
            .headline = entry_clean(r->message ? r->message : "not judged", true, arena),
            .detail = ""};
    bool blamed = false;
    for (unsigned i = 0; i < all.count; i++)
        blamed |= all.items[i].status == ENTRY_FAILED || all.items[i].status == ENTRY_ERROR;
    if (all.count == 0 || (r->verdict != VERDICT_accepted && !blamed))
        all.items[all.count++] = entry_of_whole(r, arena);
    number_names(&all, arena);
    share_points(&all, o);
    for (unsigned i = 0; i < all.count; i++)
        all.with[all.items[i].status]++;
    all.summary = summary_of(r, &all, arena);
    return all;
}
