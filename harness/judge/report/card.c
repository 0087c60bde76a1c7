#include "judge/report/card.h"

#include "judge/report/report.h"

#include <inttypes.h>

enum { NAME_COLUMNS = 40 };

static void add_number(struct text *out, double value)
{
    text_addf(out, " %14.0f", value);
}

static void add_kernels(struct text *out, const struct card_profile *p)
{
    text_addf(out, "  %-*s %8s %10s %14s %14s %14s %7s %7s\n", NAME_COLUMNS, "kernel", "launches",
              "us", "sectors", "requests", "conflicts", "dram", "sm");
    for (unsigned i = 0; i < p->count; i++) {
        const struct card_kernel *k = &p->kernels[i];
        struct text name;
        text_init(&name);
        report_add_escaped(&name, k->name);
        text_addf(out, "  %-*.*s %8" PRIu64 " %10.2f", NAME_COLUMNS, NAME_COLUMNS, text_str(&name),
                  k->launches, k->ns / 1e3);
        add_number(out, k->sectors);
        add_number(out, k->requests);
        add_number(out, k->bank_conflicts);
        text_addf(out, " %6.1f%% %6.1f%%\n", k->dram_percent, k->sm_percent);
        text_release(&name);
    }
    if (p->dropped)
        text_addf(out, "  and more kernels than the %d that are kept\n", CARD_KERNELS_MAX);
}

static double sum_of(const struct card_profile *p, size_t field)
{
    double sum = 0;
    for (unsigned i = 0; i < p->count; i++)
        sum += *(const double *)(const void *)((const char *)&p->kernels[i] + field);
    return sum;
}

/* What both count, and what only the card tells. */
static const struct row {
    enum counter counter; /* COUNTER_COUNT: only the card's */
    size_t field;
    const char *name, *note;
} ROWS[] = {
    {COUNTER_global_requests, offsetof(struct card_kernel, requests), "global_requests", ""},
    {COUNTER_global_sectors, offsetof(struct card_kernel, sectors), "global_sectors", ""},
    {COUNTER_shared_bank_conflicts, offsetof(struct card_kernel, bank_conflicts),
     "shared_bank_conflicts", ""},
    {COUNTER_warp_instructions, offsetof(struct card_kernel, warp_instructions),
     "warp_instructions", "  PTX here, machine code there"},
    {COUNTER_instructions, offsetof(struct card_kernel, instructions), "instructions",
     "  the same"},
    {COUNTER_COUNT, offsetof(struct card_kernel, dram_bytes), "dram_bytes",
     "  read and written, past the caches"},
};

void report_card_profile(const struct result_case *c, struct text *out)
{
    const struct card_profile *p = c->card_profile;
    add_kernels(out, p);
    text_addf(out, "\n  %-24s %14s %14s\n", "all kernels together", "CPU device", "card");
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *r = &ROWS[i];
        text_addf(out, "  %-24s", r->name);
        if (r->counter == COUNTER_COUNT || !c->has_counters)
            text_addf(out, " %14s", "-");
        else
            add_number(out, (double)c->counters.value[r->counter]);
        add_number(out, sum_of(p, r->field));
        text_addf(out, "%s\n", r->note);
    }
}
