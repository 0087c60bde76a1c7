/* The sheet for programs. A student's name and everything that was made of a student's program may
 * hold whatever a spreadsheet runs: a cell that begins with = + - @, a tab or a carriage return
 * gets a ' in front of it, the way to say that it is text. JSON lines have the names as they are.
 */
#include "judge/report/sheet.h"

#include "judge/report/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void add_cell(struct text *out, const char *s)
{
    struct text clean;
    text_init(&clean);
    report_add_escaped(&clean, s ? s : "");
    s = text_str(&clean);
    bool formula = *s && strchr("=+-@\t\r", *s);
    if (!formula && !strpbrk(s, ",\"\r\n\t ")) {
        text_add(out, s);
    } else {
        text_add(out, formula ? "\"'" : "\"");
        for (; *s; s++)
            text_add(out, *s == '"' ? "\"\"" : (char[]){*s, '\0'});
        text_addc(out, '"');
    }
    text_release(&clean);
}

void report_sheet_csv(const struct sheet *s, struct text *out)
{
    text_add(out, "student,problem,file,verdict,passed,cases,counts,reason,same_as,seed,ms,card,"
                  "judged_at\r\n");
    for (unsigned i = 0; i < s->row_count; i++) {
        const struct sheet_row *r = &s->rows[i];
        add_cell(out, r->student);
        text_addc(out, ',');
        add_cell(out, r->problem);
        text_addc(out, ',');
        add_cell(out, r->file);
        text_addf(out, ",%s,%u,%u,%s,", r->is_judged ? verdict_name(r->verdict) : "", r->passed,
                  r->cases, r->is_best ? "yes" : "no");
        add_cell(out, r->reason);
        text_addc(out, ',');
        add_cell(out, r->same_as);
        text_addf(out, ",%" PRIu64 ",%.0f,", r->seed, r->ms);
        add_cell(out, r->card);
        text_addc(out, ',');
        add_cell(out, r->judged_at);
        text_add(out, "\r\n");
    }
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        BUG("cannot set '%s'", key);
}

static void set_text(json_t *object, const char *key, const char *s)
{
    if (s && s[0])
        set(object, key, json_string(s));
}

static void add_line(struct text *out, json_t *o)
{
    /* ASCII only: somebody will look at the file on a terminal. */
    char *line = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    if (!line)
        BUG("a row is no JSON");
    text_add(out, line);
    text_addc(out, '\n');
    free(line);
    json_decref(o);
}

static json_t *row_object(const struct sheet_row *r)
{
    json_t *o = json_object();
    set(o, "student", json_string(r->student));
    set(o, "problem", json_string(r->problem));
    set(o, "file", json_string(r->file));
    set(o, "counts", json_boolean(r->is_best));
    set_text(o, "key", r->key);
    if (!r->is_judged)
        return o;
    set(o, "verdict", json_string(verdict_name(r->verdict)));
    set(o, "passed", json_integer(r->passed));
    set(o, "cases", json_integer(r->cases));
    set_text(o, "reason", r->reason);
    set_text(o, "same_as", r->same_as);
    set(o, "seed", json_integer((json_int_t)r->seed));
    set(o, "ms", json_real(r->ms));
    set_text(o, "card", r->card);
    set_text(o, "judged_at", r->judged_at);
    return o;
}

void report_sheet_jsonl(const struct sheet *s, struct text *out)
{
    for (unsigned i = 0; i < s->row_count; i++)
        add_line(out, row_object(&s->rows[i]));
    for (unsigned i = 0; i < s->left_out_count; i++) {
        json_t *o = json_object();
        set(o, "file", json_string(s->left_out[i].file));
        set(o, "not_graded", json_string(s->left_out[i].why));
        add_line(out, o);
    }
}
