/* PrairieLearn's results.json. What does not compile, and what the judge failed at, is not
 * gradable: it costs no attempt. The file may have a megabyte, so that what is told of a case is
 * cut. */
#include "judge/report/entries.h"
#include "judge/report/json_tree.h"

#include <string.h>

report_function report_prairielearn;

enum { BYTES_MAX = 600000 }; /* escapes make up to six characters of one */

static json_t *cut(const char *s, size_t *left, struct arena *a)
{
    size_t length = strlen(s), most = *left / 8 + 200;
    const char *shown = length <= most ? s : arena_printf(a, "%.*s\n[cut]\n", (int)most, s);
    size_t used = strlen(shown);
    *left -= used < *left ? used : *left;
    return tree_string(shown);
}

static json_t *test_of(const struct entry *e, size_t *left, struct arena *a)
{
    json_t *o = tree_object();
    tree_set(o, "name", tree_string(e->name));
    tree_set(o, "points", tree_number(e->points));
    tree_set(o, "max_points", tree_number(e->most_points));
    const char *said = verdict_find(e->kind) < VERDICT_COUNT
                           ? verdict_for_people(verdict_find(e->kind))
                           : "not judged";
    tree_set(
        o, "message",
        cut(arena_printf(a, "%s%s%s", said, e->headline[0] ? ": " : "", e->headline), left, a));
    if (e->detail[0])
        tree_set(o, "output", cut(e->detail, left, a));
    return o;
}

static json_t *document_of(const struct result *r, const struct report_options *options,
                           struct arena *a)
{
    struct entries all = entries_of(r, options, a);
    bool gradable = r->verdict != VERDICT_judge_error && r->verdict != VERDICT_compile_error;
    size_t left = BYTES_MAX / 6;
    json_t *o = tree_object(), *tests = tree_array();
    tree_set(o, "gradable", json_boolean(gradable));
    if (gradable)
        tree_set(o, "score", tree_number(all.most_points > 0 ? all.points / all.most_points : 0));
    tree_set(o, "message", cut(all.summary, &left, a));
    const char *log = r->compile.log ? r->compile.log : "";
    tree_set(o, "output", cut(entry_clean(log, false, a), &left, a));
    if (!gradable) {
        json_t *errors = tree_array();
        tree_append(errors, tree_string(all.summary));
        tree_set(o, "format_errors", errors);
    }
    for (unsigned i = 0; i < all.count && gradable; i++)
        tree_append(tests, test_of(&all.items[i], &left, a));
    tree_set(o, "tests", tests);
    return o;
}

void report_prairielearn(const struct result *const *results, unsigned count,
                         const struct report_options *options, struct text *out)
{
    struct arena a;
    arena_init(&a);
    for (unsigned i = 0; i < count; i++)
        tree_write(document_of(results[i], options, &a), TREE_INDENTED, out);
    arena_release(&a);
}
