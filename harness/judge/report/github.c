/* The log of a GitHub Actions job. Annotations are commands of the log: lines that begin with "::"
 * after any blanks, and anywhere in a line "##[...]". Everything that is not ours to say as a
 * command stands where the runner is told not to look for any, until it sees a token that is not in
 * there: the hash of that text. (Whoever wanted to print it would have to know the hash of a text
 * that holds it.) */
#include "base/hash.h"
#include "judge/report/entries.h"
#include "judge/report/notes.h"

#include <inttypes.h>
#include <string.h>

report_function report_github, report_text;

/* The runner keeps ten of each severity in a step; what else there is, the text has. */
enum { ANNOTATIONS_MAX = 10 };

static void add_data(struct text *out, const char *s)
{
    for (; *s; s++)
        if (*s == '%' || *s == '\r' || *s == '\n')
            text_addf(out, "%%%02X", *s);
        else
            text_addc(out, *s);
}

/* ` key=value`, or with a comma before it; nothing without a value. */
static void add_property(struct text *out, bool *first, const char *key, const char *value)
{
    if (!value || !value[0])
        return;
    text_addf(out, "%c%s=", *first ? ' ' : ',', key);
    *first = false;
    for (const char *s = value; *s; s++)
        if (*s == '%' || *s == ':' || *s == ',' || *s == '\r' || *s == '\n')
            text_addf(out, "%%%02X", *s);
        else
            text_addc(out, *s);
}

static void add_annotation(struct text *out, const char *command, const struct note *n,
                           struct arena *a)
{
    bool first = true;
    text_addf(out, "::%s", command);
    if (n->path)
        add_property(out, &first, "file", entry_clean(n->path, true, a));
    if (n->line)
        add_property(out, &first, "line", arena_printf(a, "%" PRIu32, n->line));
    if (n->line && n->column)
        add_property(out, &first, "col", arena_printf(a, "%" PRIu32, n->column));
    add_property(out, &first, "title", n->title);
    text_add(out, "::");
    add_data(out, n->message);
    text_addc(out, '\n');
}

static void add_annotations(struct text *out, const struct notes *all, bool errors, struct arena *a)
{
    unsigned told = 0;
    for (unsigned i = 0; i < all->count; i++)
        if (all->items[i].is_error == errors && told++ < ANNOTATIONS_MAX)
            add_annotation(out, errors ? "error" : "warning", &all->items[i], a);
}

void report_add_unheeded(struct text *out, const char *s)
{
    struct hash h;
    char token[HASH_HEX_BYTES];
    hash_init(&h);
    hash_str(&h, s);
    hash_hex(&h, token);
    text_addf(out, "::stop-commands::%s\n%s%s::%s::\n", token, s,
              s[0] && s[strlen(s) - 1] != '\n' ? "\n" : "", token);
}

void report_github(const struct result *const *results, unsigned count,
                   const struct report_options *options, struct text *out)
{
    struct report_options plain = *options;
    plain.colour = false;
    struct text text;
    struct arena a;
    text_init(&text);
    arena_init(&a);
    struct notes notes = notes_of(results, count, options, &a);
    add_annotations(out, &notes, true, &a);
    add_annotations(out, &notes, false, &a);
    for (unsigned i = 0; i < count; i++)
        if (results[i]->skipped)
            add_annotation(out, "notice",
                           &(struct note){.path = report_path(results[i]->submission, options, &a),
                                          .title = "not judged",
                                          .message = entry_clean(results[i]->skipped, false, &a)},
                           &a);
    report_text(results, count, &plain, &text);
    report_add_unheeded(out, text_str(&text));
    arena_release(&a);
    text_release(&text);
}
