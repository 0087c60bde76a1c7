/* The tables of a class. Students and problems are few thousand at most: they are looked for by
 * going through the rows. */
#include "judge/report/sheet.h"

#include "judge/report/report.h"
#include "judge/report/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 28, CELL_COLUMNS = 10 };

/* ---- counting ---- */

static bool same_group(const struct sheet_row *a, const struct sheet_row *b)
{
    return strcmp(a->student, b->student) == 0 && strcmp(a->problem, b->problem) == 0;
}

static bool is_better(const struct sheet_row *a, const struct sheet_row *b)
{
    if (a->is_judged != b->is_judged)
        return a->is_judged;
    if (!a->is_judged)
        return false;
    bool solved_a = a->verdict == VERDICT_accepted, solved_b = b->verdict == VERDICT_accepted;
    if (solved_a != solved_b)
        return solved_a;
    return (uint64_t)a->passed * (b->cases ? b->cases : 1) >
           (uint64_t)b->passed * (a->cases ? a->cases : 1);
}

/* An order in which a group's rows stand together, whatever a manifest's order was. */
static int by_group(const void *a, const void *b)
{
    const struct sheet_row *x = *(struct sheet_row *const *)a, *y = *(struct sheet_row *const *)b;
    int order = strcmp(x->student, y->student);
    if (order == 0)
        order = strcmp(x->problem, y->problem);
    return order ? order : (x > y) - (x < y);
}

static struct sheet_row **sorted_rows(const struct sheet *s)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    struct sheet_row **rows = calloc(s->row_count + 1, sizeof *rows);
    if (!rows)
        BUG("out of memory");
    for (unsigned i = 0; i < s->row_count; i++)
        rows[i] = &s->rows[i];
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    qsort(rows, s->row_count, sizeof *rows, by_group);
    return rows;
}

void sheet_choose_best(struct sheet *s)
{
    struct sheet_row **rows = sorted_rows(s);
    for (unsigned i = 0, end; i < s->row_count; i = end) {
        struct sheet_row *best = rows[i];
        rows[i]->is_best = false;
        for (end = i + 1; end < s->row_count && same_group(rows[i], rows[end]); end++) {
            rows[end]->is_best = false;
            best = is_better(rows[end], best) ? rows[end] : best;
        }
        best->is_best = true;
    }
    free(rows);
}

/* The problems that occur, sorted; the caller frees the list. */
static const char **problems_of(const struct sheet *s, unsigned *count)
{
    const char **ids = calloc(s->row_count + 1, sizeof *ids);
    if (!ids)
        BUG("out of memory");
    *count = 0;
    for (unsigned i = 0; i < s->row_count; i++) {
        unsigned k = 0;
        while (k < *count && strcmp(ids[k], s->rows[i].problem) < 0)
            k++;
        if (k < *count && strcmp(ids[k], s->rows[i].problem) == 0)
            continue;
        memmove(&ids[k + 1], &ids[k], (*count - k) * sizeof *ids);
        ids[k] = s->rows[i].problem;
        ++*count;
    }
    return ids;
}

void sheet_count(const struct sheet *s, struct sheet_counts *c)
{
    struct sheet_row **rows = sorted_rows(s);
    const char **ids = problems_of(s, &c->problems);
    unsigned problems = c->problems;
    *c = (struct sheet_counts){.problems = problems};
    for (unsigned i = 0; i < s->row_count; i++) {
        const struct sheet_row *r = rows[i];
        c->students += i == 0 || strcmp(rows[i - 1]->student, r->student) != 0;
        c->not_judged += !r->is_judged;
        c->accepted += r->is_judged && r->verdict == VERDICT_accepted;
        c->judge_errors += r->is_judged && r->verdict == VERDICT_judge_error;
        c->copies += r->is_judged && r->same_as;
    }
    free(ids);
    free(rows);
}

/* ---- for a person ---- */

static void add_padded(struct text *out, const char *s, unsigned columns)
{
    struct text shown;
    text_init(&shown);
    report_add_escaped(&shown, s);
    for (char *p = shown.data; p && *p; p++) /* those two are left as they are */
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    text_add(out, text_str(&shown));
    for (unsigned i = utf8_columns(text_str(&shown)); i < columns; i++)
        text_addc(out, ' ');
    text_release(&shown);
}

/* "ok", "7/15" (cases that passed), "compile", "judge!" or "-" (nothing yet). */
static void add_cell(struct text *out, const struct sheet_row *r)
{
    char cell[32] = "-";
    if (r && r->is_judged) {
        const char *word = r->verdict == VERDICT_accepted        ? "ok"
                           : r->verdict == VERDICT_compile_error ? "compile"
                           : r->verdict == VERDICT_judge_error   ? "judge!"
                                                                 : NULL;
        if (word)
            snprintf(cell, sizeof cell, "%s", word);
        else
            snprintf(cell, sizeof cell, "%u/%u", r->passed, r->cases);
    }
    text_addf(out, "  %-*s", CELL_COLUMNS - 2, cell);
}

static void add_problem(struct text *out, const struct sheet *s, const char *id, unsigned number)
{
    unsigned students = 0, got[VERDICT_COUNT] = {0}, waiting = 0;
    for (unsigned i = 0; i < s->row_count; i++) {
        const struct sheet_row *r = &s->rows[i];
        if (!r->is_best || strcmp(r->problem, id) != 0)
            continue;
        students++;
        if (r->is_judged)
            got[r->verdict]++;
        else
            waiting++;
    }
    text_addf(out, "%3u  ", number);
    add_padded(out, id, NAME_COLUMNS);
    text_addf(out, "  %u of %u accepted", got[VERDICT_accepted], students);
    for (int k = 0; k < VERDICT_COUNT; k++)
        if (got[k] && k != VERDICT_accepted)
            text_addf(out, ", %u %s", got[k], verdict_for_people((enum verdict)k));
    if (waiting)
        text_addf(out, ", %u not judged yet", waiting);
    text_addc(out, '\n');
}

static void add_student(struct text *out, struct sheet_row **rows, unsigned count,
                        const char *const *ids, unsigned id_count)
{
    unsigned solved = 0, tried = 0;
    for (unsigned i = 0; i < count; i++) {
        tried += rows[i]->is_best;
        solved += rows[i]->is_best && rows[i]->is_judged && rows[i]->verdict == VERDICT_accepted;
    }
    add_padded(out, rows[0]->student, NAME_COLUMNS);
    text_addf(out, "  %3u of %-3u", solved, tried);
    for (unsigned k = 0; k < id_count; k++) {
        const struct sheet_row *best = NULL;
        for (unsigned i = 0; i < count; i++)
            if (rows[i]->is_best && strcmp(rows[i]->problem, ids[k]) == 0)
                best = rows[i];
        add_cell(out, best);
    }
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_addc(out, '\n');
}

static void add_students(struct text *out, const struct sheet *s, const char *const *ids,
                         unsigned id_count)
{
    struct sheet_row **rows = sorted_rows(s);
    text_addf(out, "\n%-*s  accepted ", NAME_COLUMNS, "student");
    for (unsigned k = 0; k < id_count; k++)
        text_addf(out, k + 1 < id_count ? "  %-*u" : "  %*u",
                  k + 1 < id_count ? CELL_COLUMNS - 2 : 1, k + 1);
    text_addc(out, '\n');
    for (unsigned i = 0, end; i < s->row_count; i = end) {
        for (end = i + 1; end < s->row_count && strcmp(rows[i]->student, rows[end]->student) == 0;)
            end++;
        add_student(out, rows + i, end - i, ids, id_count);
    }
    free(rows);
}

static void add_left_out(struct text *out, const struct sheet *s)
{
    if (s->left_out_count)
        text_add(out, "\nnot graded:\n");
    for (unsigned i = 0; i < s->left_out_count; i++) {
        text_add(out, "  ");
        add_padded(out, s->left_out[i].file, 0);
        text_add(out, ": ");
        add_padded(out, s->left_out[i].why, 0);
        text_addc(out, '\n');
    }
}

void report_sheet_text(const struct sheet *s, struct text *out)
{
    struct sheet_counts c;
    unsigned id_count;
    const char **ids = problems_of(s, &id_count);
    sheet_count(s, &c);
    for (unsigned k = 0; k < id_count; k++)
        add_problem(out, s, ids[k], k + 1);
    if (s->row_count)
        add_students(out, s, ids, id_count);
    add_left_out(out, s);
    text_addf(out, "\n%u submission%s of %u student%s: %u accepted", s->row_count,
              s->row_count == 1 ? "" : "s", c.students, c.students == 1 ? "" : "s", c.accepted);
    if (c.judge_errors)
        text_addf(out, ", %u judge error%s (judged again by the next call)", c.judge_errors,
                  c.judge_errors == 1 ? "" : "s");
    if (c.not_judged)
        text_addf(out, ", %u not judged yet", c.not_judged);
    if (c.copies)
        text_addf(out, "; %u the same as another one", c.copies);
    text_addf(out, "; %u judged now", s->judged_now);
    if (s->gathered)
        text_addf(out, ", %u gathered from tasks", s->gathered);
    text_addc(out, '\n');
    free(ids);
}
