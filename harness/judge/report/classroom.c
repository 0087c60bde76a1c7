/* GitHub Classroom: the JSON that its grader actions hand to its reporter, in base64 as they do, on
 * one line: `echo "result=$(judge run ... --format classroom)" >> "$GITHUB_OUTPUT"`. After a
 * failure of the judge there are no points to be had, which the reporter leaves out of the sum. */
#include "judge/report/entries.h"
#include "judge/report/json_tree.h"
#include "judge/report/notes.h"

report_function report_classroom;

static void add_base64(struct text *out, const unsigned char *bytes, size_t count)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < count ? bytes[i + 2] : 0;
        text_addc(out, DIGITS[three >> 18]);
        text_addc(out, DIGITS[three >> 12 & 63]);
        text_addc(out, i + 1 < count ? DIGITS[three >> 6 & 63] : '=');
        text_addc(out, i + 2 < count ? DIGITS[three & 63] : '=');
    }
}

static const char *status_of(enum entry_status s)
{
    return s == ENTRY_PASSED ? "pass" : s == ENTRY_FAILED ? "fail" : "error";
}

static json_t *test_of(const struct result *r, const struct entry *e, const char *path, bool judged)
{
    json_t *o = tree_object();
    tree_set(o, "name", tree_string(e->name));
    tree_set(o, "status", tree_string(status_of(e->status)));
    tree_set(o, "score", tree_number(judged ? e->points : 0));
    tree_set(o, "message", tree_string(e->detail[0] ? e->detail : e->headline));
    tree_set(o, "test_code", tree_string(e->c && e->c->reproduce ? e->c->reproduce : r->problem));
    tree_set(o, "filename", tree_string(path));
    tree_set(o, "line_no", json_integer(e->line));
    tree_set(o, "duration", tree_number(e->ms / 1000));
    return o;
}

static json_t *document_of(const struct result *r, const struct report_options *options,
                           struct arena *a)
{
    struct entries all = entries_of(r, options, a);
    bool judged = r->verdict != VERDICT_judge_error;
    const char *path = entry_clean(report_path(r->submission, options, a), true, a);
    json_t *o = tree_object(), *tests = tree_array();
    tree_set(o, "version", json_integer(1));
    tree_set(o, "status",
             tree_string(r->verdict == VERDICT_accepted                  ? "pass"
                         : judged && r->verdict != VERDICT_compile_error ? "fail"
                                                                         : "error"));
    tree_set(o, "max_score", tree_number(judged ? all.most_points : 0));
    for (unsigned i = 0; i < all.count; i++)
        tree_append(tests, test_of(r, &all.items[i], path, judged));
    tree_set(o, "tests", tests);
    return o;
}

void report_classroom(const struct result *const *results, unsigned count,
                      const struct report_options *options, struct text *out)
{
    struct arena a;
    arena_init(&a);
    for (unsigned i = 0; i < count; i++) {
        struct text json;
        text_init(&json);
        tree_write(document_of(results[i], options, &a), TREE_ONE_LINE, &json);
        add_base64(out, (const unsigned char *)json.data, json.length);
        text_addc(out, '\n');
        text_release(&json);
    }
    arena_release(&a);
}
