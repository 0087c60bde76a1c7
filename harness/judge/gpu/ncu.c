/* How it works: the report is a CSV table with one row per launch and metric, after lines of ncu's
 * own that begin with "==". Columns are found by their names in the heading. */
#include "judge/gpu/ncu.h"

#include "wire/wire.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, CELL_BYTES = 512 };

static const struct row {
    const char *metric;
    size_t field;
} ROWS[] = {
#define METRIC(metric, field) {metric, offsetof(struct card_kernel, field)},
#include "judge/gpu/ncu.def"
#undef METRIC
};
enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

const char *ncu_metrics(void)
{
    static const char LIST[] =
#define METRIC(metric, field) "," metric
#include "judge/gpu/ncu.def"
#undef METRIC
        ;
    return LIST + 1;
}

/* One cell, without its quotes; `at` moves behind it and its comma. */
static void read_cell(const char **at, char cell[CELL_BYTES])
{
    const char *s = *at;
    size_t used = 0;
    bool quoted = *s == '"';
    s += quoted;
    while (*s && *s != '\n' && *s != '\r') {
        if (quoted && *s == '"') {
            if (s[1] != '"')
                break;
            s++;
        } else if (!quoted && *s == ',') {
            break;
        }
        if (used + 1 < CELL_BYTES)
            cell[used++] = *s;
        s++;
    }
    cell[used] = '\0';
    s += quoted && *s == '"';
    s += *s == ',';
    *at = s;
}

struct table {
    int id, kernel, metric, value; /* columns */
};

static bool read_heading(const char *line, struct table *t)
{
    static const char *const NAMES[] = {"ID", "Kernel Name", "Metric Name", "Metric Value"};
    int *const columns[] = {&t->id, &t->kernel, &t->metric, &t->value};
    char cell[CELL_BYTES];
    *t = (struct table){-1, -1, -1, -1};
    for (int c = 0; c < COLUMNS_MAX && *line && *line != '\n' && *line != '\r'; c++) {
        read_cell(&line, cell);
        for (int k = 0; k < 4; k++)
            if (strcmp(cell, NAMES[k]) == 0)
                *columns[k] = c;
    }
    return t->id >= 0 && t->kernel >= 0 && t->metric >= 0 && t->value >= 0;
}

static struct card_kernel *find_kernel(struct card_profile *p, char *name)
{
    wire_clean_text(name, strlen(name));
    for (unsigned i = 0; i < p->count; i++)
        if (strncmp(p->kernels[i].name, name, sizeof p->kernels[i].name - 1) == 0)
            return &p->kernels[i];
    if (p->count == CARD_KERNELS_MAX) {
        p->dropped = true;
        return NULL;
    }
    struct card_kernel *k = &p->kernels[p->count++];
    snprintf(k->name, sizeof k->name, "%.*s", (int)sizeof k->name - 1, name);
    return k;
}

/* "1,234.5" -> 1234.5; anything that is no number -> 0. */
static double read_number(const char *cell)
{
    char digits[64];
    size_t used = 0;
    for (; *cell && used + 1 < sizeof digits; cell++)
        if (*cell != ',')
            digits[used++] = *cell;
    digits[used] = '\0';
    double value = strtod(digits, NULL);
    return isfinite(value) && value >= 0 ? value : 0;
}

static bool is_share(size_t field)
{
    return field == offsetof(struct card_kernel, dram_percent) ||
           field == offsetof(struct card_kernel, sm_percent);
}

/* The values of one launch, until its last row is read. */
struct launch {
    char id[32];
    struct card_kernel *kernel;
    struct card_kernel values;
};

static double *field_of(struct card_kernel *k, size_t field)
{
    return (double *)(void *)((char *)k + field);
}

static void finish_launch(struct launch *l)
{
    if (!l->kernel)
        return;
    double before = l->kernel->ns, time = l->values.ns, all = before + time;
    for (int i = 0; i < ROW_COUNT; i++)
        if (is_share(ROWS[i].field) && all > 0) {
            double *mean = field_of(l->kernel, ROWS[i].field);
            *mean = (*mean * before + *field_of(&l->values, ROWS[i].field) * time) / all;
        }
    l->kernel->ns += l->values.ns;
    l->kernel->requests += l->values.requests;
    l->kernel->sectors += l->values.sectors;
    l->kernel->bank_conflicts += l->values.bank_conflicts;
    l->kernel->warp_instructions += l->values.warp_instructions;
    l->kernel->instructions += l->values.instructions;
    l->kernel->dram_bytes += l->values.dram_bytes;
    l->kernel->launches++;
    *l = (struct launch){0};
}

static void read_row(const struct table *t, const char *line, struct card_profile *p,
                     struct launch *l)
{
    char id[CELL_BYTES] = "", kernel[CELL_BYTES] = "", metric[CELL_BYTES] = "",
         value[CELL_BYTES] = "", cell[CELL_BYTES];
    for (int c = 0; c < COLUMNS_MAX && *line && *line != '\n' && *line != '\r'; c++)
        read_cell(&line, c == t->id       ? id
                         : c == t->kernel ? kernel
                         : c == t->metric ? metric
                         : c == t->value  ? value
                                          : cell);
    if (!id[0] || !kernel[0])
        return;
    if (!l->kernel || strncmp(l->id, id, sizeof l->id - 1) != 0) {
        finish_launch(l);
        l->kernel = find_kernel(p, kernel);
        snprintf(l->id, sizeof l->id, "%.*s", (int)sizeof l->id - 1, id);
    }
    for (int i = 0; i < ROW_COUNT; i++)
        if (strcmp(ROWS[i].metric, metric) == 0)
            *field_of(&l->values, ROWS[i].field) += read_number(value);
}

/* Why there is nothing: ncu's own words, and what helps. */
static int explain(const char *report, struct err *e)
{
    const char *error = strstr(report, "==ERROR==");
    size_t length = error ? strcspn(error, "\n") : 0;
    if (strstr(report, "ERR_NVGPUCTRPERM"))
        return err_set(e, "ncu may not read the counters of this card. Its owner can allow it: as "
                          "root, or with the module option NVreg_RestrictProfilingToAdminUsers=0; "
                          "see https://developer.nvidia.com/ERR_NVGPUCTRPERM");
    if (strstr(report, "No kernels were profiled"))
        return err_set(e, "no kernel was launched, so there is nothing to profile");
    return err_set(e, "ncu tells of no kernel: %.*s", error ? (int)length : 9,
                   error ? error : "no reason");
}

int ncu_read(const char *report, struct card_profile *p, struct err *e)
{
    struct table t = {-1, -1, -1, -1};
    struct launch l = {0};
    bool in_table = false;
    *p = (struct card_profile){0};
    for (const char *at = report; *at;) {
        if (strncmp(at, "==", 2) != 0) {
            if (!in_table)
                in_table = read_heading(at, &t);
            else
                read_row(&t, at, p, &l);
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    finish_launch(&l);
    return p->count ? 0 : explain(report, e);
}
