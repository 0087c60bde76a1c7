/* Lines of several kernels, and of several instances of a template, are told together: a reader
 * looks at source. The JSON has them apart. */
#include "judge/report/profile.h"

#include "judge/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORST_LINES = 5,
    GAP_LINES = 4, /* without costs, left out where there are more */
    COST_OF_SECTOR = 6,
    COST_OF_PASS = 4,
};

struct line {
    const char *file;
    uint32_t number;
    struct wire_counters counters;
};

struct lines {
    struct line *list;
    uint32_t count;
    struct wire_counters all;
    double cost;
};

static uint64_t value(const struct wire_counters *c, enum counter counter)
{
    return c->value[counter];
}

double report_line_cost(const struct wire_counters *c)
{
    return (double)value(c, COUNTER_warp_instructions) +
           COST_OF_SECTOR * (double)value(c, COUNTER_global_sectors) +
           COST_OF_PASS * (double)value(c, COUNTER_shared_bank_conflicts);
}

static void add(struct wire_counters *to, const struct wire_counters *from)
{
    for (int k = 0; k < COUNTER_COUNT; k++)
        to->value[k] += from->value[k];
}

static struct lines collect(const struct wire_profile *p)
{
    struct lines all = {.list = calloc(p->line_count + 1u, sizeof *all.list)};
    if (!all.list)
        BUG("out of memory for %u lines", p->line_count);
    for (uint32_t i = 0; i < p->line_count; i++) {
        const struct wire_profile_line *l = &p->lines[i];
        uint32_t k = 0;
        while (k < all.count &&
               (all.list[k].file != p->files[l->file] || all.list[k].number != l->line))
            k++;
        if (k == all.count)
            all.list[all.count++] = (struct line){.file = p->files[l->file], .number = l->line};
        add(&all.list[k].counters, &l->counters);
        add(&all.all, &l->counters);
    }
    all.cost = report_line_cost(&all.all);
    return all;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* At most 5 characters. */
static void add_count(struct text *out, int width, uint64_t n)
{
    static const char UNITS[] = "kMGTPE";
    double x = (double)n;
    size_t unit = 0;
    if (n < 100000) {
        text_addf(out, "%*" PRIu64, width, n);
        return;
    }
    x /= 1000;
    while (x >= 999.5 && UNITS[unit + 1]) {
        x /= 1000;
        unit++;
    }
    text_addf(out, "%*.*f%c", width - 1, x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, UNITS[unit]);
}

static void add_count_or_blank(struct text *out, int width, uint64_t n)
{
    if (n)
        add_count(out, width, n);
    else
        text_addf(out, "%*s", width, "");
}

/* ---- the worst lines ---- */

static int by_cost(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    double p = report_line_cost(&x->counters), q = report_line_cost(&y->counters);
    if (p != q)
        return p > q ? -1 : 1;
    int files = strcmp(x->file, y->file);
    if (files != 0)
        return files;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void add_place(struct text *out, const struct line *l)
{
    if (!l->file[0]) {
        text_add(out, "without a line");
        return;
    }
    report_add_escaped(out, l->file);
    text_addf(out, ":%" PRIu32, l->number);
}

/* Line `number` of the text, without what it is indented by; its length is 0 if there is none. */
static const char *text_of_line(const char *source, uint32_t number, size_t *length)
{
    *length = 0;
    for (uint32_t k = 1; source && *source; k++) {
        size_t all = strcspn(source, "\n");
        if (k == number) {
            size_t indent = strspn(source, " \t");
            *length = all > indent ? all - indent : 0;
            return source + (all > indent ? indent : all);
        }
        source += all + (source[all] == '\n');
    }
    return NULL;
}

static void add_source(struct text *out, const char *text, size_t length)
{
    struct text copy;
    text_init(&copy);
    text_addn(&copy, text, length);
    report_add_escaped(out, text_str(&copy));
    text_release(&copy);
}

/* "; 16 sectors per access, 4 would hold the bytes; 31 extra passes per access of shared memory" */
static void add_reasons(struct text *out, const struct lines *all, const struct line *l)
{
    const struct wire_counters *c = &l->counters;
    uint64_t requests = value(c, COUNTER_global_requests);
    uint64_t sectors = value(c, COUNTER_global_sectors);
    uint64_t bytes = value(c, COUNTER_global_bytes_read) + value(c, COUNTER_global_bytes_written);
    uint64_t passes = value(c, COUNTER_shared_bank_conflicts);
    text_addf(out, "%.3g%% of the instructions",
              percent((double)value(c, COUNTER_warp_instructions),
                      (double)value(&all->all, COUNTER_warp_instructions)));
    if (sectors) {
        double each = (double)sectors / (double)requests;
        double needed = (double)bytes / (double)requests / 32;
        text_addf(out, ", %.3g%% of the sectors",
                  percent((double)sectors, (double)value(&all->all, COUNTER_global_sectors)));
        if (requests && each > 1.2 * needed && each > 1.2)
            text_addf(out, " (%.3g per access, where %.3g would hold the bytes)", each,
                      needed < 1 ? 1 : needed);
    }
    if (passes)
        text_addf(out, ", %.3g%% of the bank conflicts (%.3g extra passes per access)",
                  percent((double)passes, (double)value(&all->all, COUNTER_shared_bank_conflicts)),
                  (double)passes / (double)value(c, COUNTER_shared_requests));
    if (value(c, COUNTER_atomics) + value(c, COUNTER_shared_atomics))
        text_addf(out, ", %" PRIu64 " atomics",
                  value(c, COUNTER_atomics) + value(c, COUNTER_shared_atomics));
}

static void add_worst(struct text *out, const struct lines *all, const char *file,
                      const char *source)
{
    for (uint32_t k = 0; k < all->count && k < WORST_LINES; k++) {
        const struct line *l = &all->list[k];
        size_t length = 0;
        const char *text = strcmp(l->file, file) == 0 && l->file[0]
                               ? text_of_line(source, l->number, &length)
                               : NULL;
        text_addf(out, "  %5.1f%%  ", percent(report_line_cost(&l->counters), all->cost));
        add_place(out, l);
        if (text) {
            text_add(out, "  ");
            add_source(out, text, length);
        }
        text_add(out, "\n          ");
        add_reasons(out, all, l);
        text_addc(out, '\n');
    }
}

/* ---- the annotated source ---- */

static const struct line *find(const struct lines *all, const char *file, uint32_t number)
{
    for (uint32_t k = 0; k < all->count; k++)
        if (all->list[k].number == number && strcmp(all->list[k].file, file) == 0)
            return &all->list[k];
    return NULL;
}

static const char HEADER[] = "   cost  instr  bytes sect/acc  banks  adds barr part\n";

static void add_columns(struct text *out, const struct lines *all, const struct line *l)
{
    if (!l) {
        text_addf(out, "%52s", "");
        return;
    }
    const struct wire_counters *c = &l->counters;
    uint64_t requests = value(c, COUNTER_global_requests);
    text_addf(out, "%6.1f%% ", percent(report_line_cost(c), all->cost));
    add_count(out, 6, value(c, COUNTER_warp_instructions));
    text_addc(out, ' ');
    add_count_or_blank(
        out, 6, value(c, COUNTER_global_bytes_read) + value(c, COUNTER_global_bytes_written));
    if (requests)
        text_addf(out, " %8.1f", (double)value(c, COUNTER_global_sectors) / (double)requests);
    else
        text_addf(out, "%9s", "");
    text_addc(out, ' ');
    add_count_or_blank(out, 6, value(c, COUNTER_shared_bank_conflicts));
    text_addc(out, ' ');
    add_count_or_blank(out, 5, value(c, COUNTER_additions));
    text_addc(out, ' ');
    add_count_or_blank(out, 4, value(c, COUNTER_barriers));
    text_addc(out, ' ');
    add_count_or_blank(out, 4, value(c, COUNTER_divergent_branches));
}

static uint32_t last_line(const struct lines *all, const char *file)
{
    uint32_t last = 0;
    for (uint32_t k = 0; k < all->count; k++)
        if (all->list[k].number > last && strcmp(all->list[k].file, file) == 0)
            last = all->list[k].number;
    return last;
}

/* Lines from `number` on until the next one with costs. */
static uint32_t gap_after(const struct lines *all, const char *file, uint32_t number, uint32_t last)
{
    uint32_t gap = 0;
    while (number + gap <= last && !find(all, file, number + gap))
        gap++;
    return gap;
}

static void add_listing(struct text *out, const struct lines *all, const char *file,
                        const char *source)
{
    uint32_t last = last_line(all, file), number = 1;
    for (const char *at = source; *at && number <= last; number++) {
        const struct line *l = find(all, file, number);
        size_t length = strcspn(at, "\n");
        uint32_t gap = l ? 0 : gap_after(all, file, number, last);
        if (gap > GAP_LINES) {
            text_addf(out, "%52s  ...\n", "");
            for (; gap > 2 && *at; gap--, number++)
                at += strcspn(at, "\n") + 1;
            number--;
            continue;
        }
        add_columns(out, all, l);
        text_addf(out, " %4" PRIu32 "  ", number);
        add_source(out, at, length);
        text_addc(out, '\n');
        at += length + (at[length] == '\n');
    }
}

/* What is elsewhere: headers, or no line at all. */
static void add_others(struct text *out, const struct lines *all, const char *file)
{
    for (uint32_t k = 0; k < all->count; k++) {
        const struct line *l = &all->list[k];
        if (l->file[0] && strcmp(l->file, file) == 0)
            continue;
        add_columns(out, all, l);
        text_add(out, "       ");
        add_place(out, l);
        text_addc(out, '\n');
    }
}

static void add_kernels(struct text *out, const struct wire_profile *p)
{
    for (uint32_t k = 0; k < p->kernel_count; k++) {
        const struct wire_profile_kernel *kernel = &p->kernels[k];
        text_add(out, "  ");
        report_add_escaped(out, kernel->name);
        text_addf(out, ": %" PRIu64 " launch%s, %" PRIu64 " block%s, %" PRIu64 " threads\n",
                  kernel->launches, kernel->launches == 1 ? "" : "es", kernel->blocks,
                  kernel->blocks == 1 ? "" : "s", kernel->threads);
    }
}

void report_profile(const struct wire_profile *profile, const char *file, const char *source,
                    struct text *out)
{
    struct lines all = collect(profile);
    qsort(all.list, all.count, sizeof *all.list, by_cost);
    add_kernels(out, profile);
    if (all.count == 0) {
        text_add(out, "  no kernel has run\n");
        free(all.list);
        return;
    }
    text_add(out, "\nworst lines (cost: warp instructions, a sector of global memory counts as 6, "
                  "an extra pass for a bank conflict as 4)\n");
    add_worst(out, &all, file, source);
    text_addf(out, "\n%s", HEADER);
    if (source && file[0])
        add_listing(out, &all, file, source);
    add_others(out, &all, source ? file : "");
    if (profile->dropped)
        text_addf(out, "%" PRIu64 " events happened on lines that no longer fitted\n",
                  profile->dropped);
    free(all.list);
}
