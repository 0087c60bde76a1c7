/* Gradescope's results.json. Students see the output of a case only if the case is public, and of
 * hidden cases nothing at all; so the text about the whole tells nothing of a case either. After a
 * failure of the judge there is no score: Gradescope then says that the autograder failed, and
 * nobody loses points. */
#include "judge/report/entries.h"
#include "judge/report/json_tree.h"

report_function report_gradescope;

static json_t *test_of(const struct entry *e)
{
    static const char *const STATUS[ENTRY_STATUS_COUNT] = {"passed", "failed", "failed", "failed"};
    json_t *o = tree_object();
    tree_set(o, "name", tree_string(e->name));
    tree_set(o, "status", tree_string(STATUS[e->status]));
    tree_set(o, "score", tree_number(e->points));
    tree_set(o, "max_score", tree_number(e->most_points));
    tree_set(o, "output_format", tree_string("text"));
    tree_set_text(o, "output", e->detail[0] ? e->detail : e->headline);
    tree_set(o, "visibility", tree_string(e->is_public ? "visible" : "hidden"));
    json_t *tags = tree_array();
    tree_append(tags, tree_string(e->kind));
    tree_set(o, "tags", tags);
    return o;
}

/* Times, where there was a card to take them on. */
static json_t *leaderboard_of(const struct result *r, struct arena *a)
{
    json_t *rows = tree_array();
    for (unsigned i = 0; i < r->timing_count; i++) {
        const struct result_timing *t = &r->timing[i];
        if (t->note || !(t->ms > 0))
            continue;
        json_t *row = tree_object();
        tree_set(row, "name", tree_string(arena_printf(a, "ms, %s", t->size)));
        tree_set(row, "value", tree_number(t->ms));
        tree_set(row, "order", tree_string("asc"));
        tree_append(rows, row);
    }
    return rows;
}

static json_t *document_of(const struct result *r, const struct report_options *options,
                           struct arena *a)
{
    struct entries all = entries_of(r, options, a);
    bool judged = r->verdict != VERDICT_judge_error;
    json_t *o = tree_object(), *tests = tree_array();
    if (judged)
        tree_set(o, "score", tree_number(all.points));
    tree_set(o, "execution_time", tree_number(r->total_ms > 0 ? r->total_ms / 1000 : 0));
    tree_set(o, "output_format", tree_string("text"));
    tree_set(o, "output", tree_string(all.summary));
    tree_set(o, "visibility", tree_string("visible"));
    tree_set(o, "stdout_visibility", tree_string("hidden"));
    for (unsigned i = 0; i < all.count && judged; i++)
        tree_append(tests, test_of(&all.items[i]));
    tree_set(o, "tests", tests);
    if (r->verdict == VERDICT_accepted && r->timing_count)
        tree_set(o, "leaderboard", leaderboard_of(r, a));
    return o;
}

void report_gradescope(const struct result *const *results, unsigned count,
                       const struct report_options *options, struct text *out)
{
    struct arena a;
    arena_init(&a);
    for (unsigned i = 0; i < count; i++)
        tree_write(document_of(results[i], options, &a), TREE_INDENTED, out);
    arena_release(&a);
}
