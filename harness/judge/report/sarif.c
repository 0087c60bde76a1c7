/* SARIF 2.1.0, for code scanning and editors: what the compiler said and what was found, each at
 * its place. Paths are those of the repository, as URIs; a result without a place of its own points
 * at the file, since readers leave out what points nowhere. */
#include "judge/report/json_tree.h"
#include "judge/report/notes.h"

#include <string.h>

report_function report_sarif;

static json_t *message_of(const char *s)
{
    json_t *o = tree_object();
    tree_set(o, "text", tree_string(s));
    return o;
}

/* The path as a relative reference: what is not plain becomes %XX. An absolute one gets its scheme.
 */
static const char *uri_of(const char *path, struct arena *a)
{
    struct text uri;
    text_init(&uri);
    if (path[0] == '/')
        text_add(&uri, "file://");
    for (const unsigned char *s = (const unsigned char *)path; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                     (*s >= '0' && *s <= '9') || strchr("-._~/", *s);
        text_addf(&uri, plain ? "%c" : "%%%02X", *s);
    }
    const char *s = arena_strdup(a, text_str(&uri));
    text_release(&uri);
    return s;
}

static json_t *location_of(const struct note *n, struct arena *a)
{
    json_t *location = tree_object(), *physical = tree_object(), *artifact = tree_object();
    tree_set(artifact, "uri", tree_string(uri_of(n->path, a)));
    if (n->path[0] != '/')
        tree_set(artifact, "uriBaseId", tree_string("%SRCROOT%"));
    tree_set(physical, "artifactLocation", artifact);
    if (n->line) {
        json_t *region = tree_object();
        tree_set(region, "startLine", json_integer(n->line));
        if (n->column)
            tree_set(region, "startColumn", json_integer(n->column));
        tree_set(physical, "region", region);
    }
    tree_set(location, "physicalLocation", physical);
    return location;
}

static json_t *result_of(const struct note *n, unsigned rule, struct arena *a)
{
    json_t *o = tree_object(), *locations = tree_array(), *properties = tree_object();
    tree_set(o, "ruleId", tree_string(n->rule));
    tree_set(o, "ruleIndex", json_integer(rule));
    tree_set(o, "level", tree_string(n->is_error ? "error" : "warning"));
    tree_set(o, "message", message_of(arena_printf(a, "%s: %s", n->title, n->message)));
    tree_append(locations, location_of(n, a));
    tree_set(o, "locations", locations);
    tree_set(properties, "problem", tree_string(n->result->problem));
    tree_set(properties, "verdict", tree_string(verdict_name(n->result->verdict)));
    tree_set_text(properties, "case", n->case_name);
    tree_set(o, "properties", properties);
    return o;
}

/* Where the rule stands in `rules`, which gets it if it is new. */
static unsigned rule_index(json_t *rules, const struct note *n)
{
    size_t count = json_array_size(rules);
    for (size_t i = 0; i < count; i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(rules, i), "id")), n->rule) ==
            0)
            return (unsigned)i;
    json_t *rule = tree_object();
    tree_set(rule, "id", tree_string(n->rule));
    tree_set(rule, "shortDescription", message_of(n->rule_says));
    tree_append(rules, rule);
    return (unsigned)count;
}

/* A failure of the judge is none of the program's: it is told of the run. */
static json_t *invocation_of(const struct result *r)
{
    bool successful = r->verdict != VERDICT_judge_error;
    json_t *o = tree_object();
    tree_set(o, "executionSuccessful", json_boolean(successful));
    if (successful)
        return o;
    json_t *list = tree_array(), *n = tree_object();
    tree_set(n, "level", tree_string(r->skipped ? "note" : "error"));
    tree_set(n, "message",
             message_of(r->skipped   ? r->skipped
                        : r->message ? r->message
                                     : "the judge failed"));
    tree_append(list, n);
    tree_set(o, "toolExecutionNotifications", list);
    return o;
}

void report_sarif(const struct result *const *results, unsigned count,
                  const struct report_options *options, struct text *out)
{
    struct arena a;
    arena_init(&a);
    struct notes notes = notes_of(results, count, options, &a);
    json_t *document = tree_object(), *runs = tree_array(), *run = tree_object(),
           *tool = tree_object(), *driver = tree_object(), *rules = tree_array(),
           *found = tree_array(), *invocations = tree_array();
    for (unsigned i = 0; i < notes.count; i++) {
        const struct note *n = &notes.items[i];
        if (strcmp(n->rule, verdict_name(VERDICT_judge_error)) != 0)
            tree_append(found, result_of(n, rule_index(rules, n), &a));
    }
    for (unsigned i = 0; i < count; i++)
        tree_append(invocations, invocation_of(results[i]));
    tree_set(driver, "name", tree_string("scanjudge"));
    tree_set(driver, "rules", rules);
    tree_set(tool, "driver", driver);
    tree_set(run, "tool", tool);
    tree_set(run, "invocations", invocations);
    tree_set(run, "results", found);
    tree_append(runs, run);
    tree_set(document, "$schema", tree_string("https://json.schemastore.org/sarif-2.1.0.json"));
    tree_set(document, "version", tree_string("2.1.0"));
    tree_set(document, "runs", runs);
    tree_write(document, TREE_INDENTED, out);
    arena_release(&a);
}
