/* The table: a block per size, the fastest first. */
#include "judge/report/bench.h"

#include "judge/report/report.h"
#include "judge/report/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 32 };

static void add_label(struct text *out, const struct bench_entrant *e)
{
    struct text label;
    text_init(&label);
    report_add_name(&label, e->label);
    text_add(out, "  ");
    text_add(out, text_str(&label));
    for (unsigned i = utf8_columns(text_str(&label)); i < LABEL_COLUMNS; i++)
        text_addc(out, ' ');
    text_addf(out, " %-10s", e->role);
    text_release(&label);
}

static void add_point(struct text *out, const struct bench_point *p)
{
    text_addf(out, " %10.4f %9.1f", p->ms, p->gb_per_s);
    if (p->of_copy > 0)
        text_addf(out, " %8.3f", p->of_copy);
    else
        text_addf(out, " %8s", "-");
    if (p->too_noisy)
        text_add(out, "   too noisy to tell");
    else if (p->ratio > 0 && p->ratio_low == 1 && p->ratio_high == 1)
        text_add(out, "   1"); /* the reference itself */
    else if (p->ratio > 0)
        text_addf(out, "   %.3f (%.3f to %.3f)", p->ratio, p->ratio_low, p->ratio_high);
    if (p->flags[0])
        text_addf(out, "  in doubt: %s", p->flags);
    text_addc(out, '\n');
}

/* The entrants that have a number at this size, by time. */
static unsigned order(const struct bench *b, unsigned size, unsigned *indices)
{
    unsigned count = 0;
    for (unsigned i = 0; i < b->entrant_count; i++) {
        if (b->entrants[i].failed || !b->entrants[i].points[size].known)
            continue;
        unsigned k = count++;
        for (;
             k > 0 && b->entrants[indices[k - 1]].points[size].ms > b->entrants[i].points[size].ms;
             k--)
            indices[k] = indices[k - 1];
        indices[k] = i;
    }
    return count;
}

static void add_size(struct text *out, const struct bench *b, unsigned size, unsigned *indices)
{
    const struct bench_size *s = &b->sizes[size];
    text_addf(out, "\n%s, %" PRIu64 " bytes", s->name, s->bytes);
    if (s->note) {
        text_addf(out, ": %s\n", s->note);
        return;
    }
    text_addf(out, "\n  %-*s %-10s %10s %9s %8s   %s\n", LABEL_COLUMNS, "entrant", "", "ms", "GB/s",
              "of copy", "time, in times of the reference's");
    unsigned count = order(b, size, indices);
    for (unsigned k = 0; k < count; k++) {
        add_label(out, &b->entrants[indices[k]]);
        add_point(out, &b->entrants[indices[k]].points[size]);
    }
}

void report_bench_text(const struct bench *b, struct text *out)
{
    unsigned *indices = calloc(b->entrant_count + 1, sizeof *indices);
    if (!indices)
        BUG("out of memory");
    text_addf(out, "bench: %s on %s, driver %s, seed %" PRIu64 "\n", b->problem, b->card, b->driver,
              b->seed);
    for (unsigned i = 0; i < b->size_count; i++)
        add_size(out, b, i, indices);
    for (unsigned i = 0; i < b->entrant_count; i++) {
        const struct bench_entrant *e = &b->entrants[i];
        if (!e->failed)
            continue;
        text_add(out, "\nnot timed: ");
        report_add_name(out, e->label);
        text_add(out, ": ");
        report_add_escaped(out, e->failed);
        text_addc(out, '\n');
    }
    free(indices);
}
