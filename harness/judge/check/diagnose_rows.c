/* Recognisers about scans of many rows, each on its own: groups of 32, tiles, rows of a matrix; and
 * about the steps of the two textbook methods inside a row. A whole array that is scanned counts as
 * one row. Integers only: their sums are exact, so an equation that holds everywhere is no
 * accident.
 *
 * What is known is what the numbers are; why they came out so is worded as likely. */
#include "judge/check/diagnose.h"

#include <inttypes.h>

/* Lengths of rows that are fixed by an exercise and stand in no parameter. */
static const uint64_t LENGTHS[] = {32, 1024, 4096};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof LENGTHS[0] };

static uint64_t mask_of(const struct diagnosis_context *c)
{
    return UINT64_MAX >> (64 - 8 * c->got.size);
}

static uint64_t sum_at(const struct series *s, uint64_t i)
{
    return (uint64_t)series_int(s, i);
}

static enum relation relation_in_rows(const struct diagnosis_context *c, const struct series *in,
                                      uint64_t length)
{
    bool exclusive = true, inclusive = true;
    for (uint64_t i = 0; i < c->n && (exclusive || inclusive); i++) {
        if (i % length == 0) {
            exclusive = exclusive && series_bits(&c->expected, i) == 0;
            inclusive = inclusive && series_int(&c->expected, i) == series_int(in, i);
            continue;
        }
        exclusive = exclusive && diagnosis_adds_up(&c->expected, i - 1, in, i - 1, &c->expected, i);
        inclusive = inclusive && diagnosis_adds_up(&c->expected, i - 1, in, i, &c->expected, i);
    }
    return exclusive ? RELATION_EXCLUSIVE : inclusive ? RELATION_INCLUSIVE : RELATION_NONE;
}

/* The first of the fixed lengths and of the numbers among the parameters that fits. */
static bool find_in(const struct diagnosis_context *c, unsigned param, struct diagnosis_rows *rows)
{
    const struct problem *p = c->data->problem;
    const struct case_buffer *buffer = &c->data->buffers[param];
    rows->in = series_of(buffer->input, p->params[param].type, buffer->count);
    rows->in_name = p->params[param].name;
    for (unsigned k = 0; k < LENGTH_COUNT + p->param_count; k++) {
        if (k >= LENGTH_COUNT && p->params[k - LENGTH_COUNT].kind != PARAM_SCALAR)
            continue;
        rows->length = k < LENGTH_COUNT ? LENGTHS[k] : c->data->scalars[k - LENGTH_COUNT];
        if (rows->length < 2 || rows->length >= c->n)
            continue;
        rows->relation = relation_in_rows(c, &rows->in, rows->length);
        if (rows->relation != RELATION_NONE)
            return true;
    }
    return false;
}

const struct diagnosis_rows *diagnosis_find_rows(const struct diagnosis_context *c)
{
    struct diagnosis_rows *rows = &c->cache->rows;
    const struct problem *p = c->data->problem;
    if (c->cache->has_rows)
        return rows;
    c->cache->has_rows = true;
    *rows = (struct diagnosis_rows){
        .length = c->n, .relation = c->relation, .in = c->in, .in_name = c->in_name};
    if (c->relation != RELATION_NONE || series_is_float(&c->expected))
        return rows;
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct case_buffer *buffer = &c->data->buffers[i];
        if (p->params[i].kind != PARAM_BUFFER || !buffer->input || buffer->count < c->n ||
            p->params[i].type == WIRE_void)
            continue;
        struct series in = series_of(buffer->input, p->params[i].type, buffer->count);
        if (!series_is_float(&in) && find_in(c, i, rows))
            return rows;
    }
    rows->relation = RELATION_NONE;
    return rows;
}

/* Rows of integers that are scanned, or NULL. */
static const struct diagnosis_rows *integer_rows(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = diagnosis_find_rows(c);
    return rows->relation == RELATION_NONE || series_is_float(&c->got) ? NULL : rows;
}

/* The sum of the whole row that begins at `at`. */
static uint64_t row_total(const struct diagnosis_context *c, const struct diagnosis_rows *rows,
                          uint64_t at)
{
    uint64_t last = (at + rows->length < c->n ? at + rows->length : c->n) - 1;
    uint64_t sum = sum_at(&c->expected, last);
    return rows->relation == RELATION_INCLUSIVE ? sum : sum + sum_at(&rows->in, last);
}

/* got[i] = expected[i] - expected[i - reach], or expected[i] where the row has no element there. */
static bool reaches_back(const struct diagnosis_context *c, uint64_t length, uint64_t reach)
{
    for (uint64_t i = 0; i < c->n; i++) {
        bool whole = i % length < reach;
        if (whole ? series_bits(&c->got, i) != series_bits(&c->expected, i)
                  : !diagnosis_adds_up(&c->got, i, &c->expected, i - reach, &c->expected, i))
            return false;
    }
    return true;
}

const char *diagnose_last_step_missing(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = integer_rows(c);
    if (!rows || c->n < 4)
        return NULL;
    for (uint64_t reach = 2; reach < rows->length; reach *= 2)
        if (reaches_back(c, rows->length, reach))
            return arena_printf(c->arena,
                                "every value is the sum of the last %" PRIu64
                                " elements only: likely the steps end too early, and those with a "
                                "distance of %" PRIu64 " and more are missing",
                                reach, reach);
    return NULL;
}

/* The shuffle hands the lowest lanes their own value back; who adds it doubles it in every step. */
const char *diagnose_own_value_added(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = integer_rows(c);
    uint64_t factor = 0, first = 0;
    if (!rows || rows->relation != RELATION_INCLUSIVE)
        return NULL;
    for (uint64_t at = 0; at < c->n; at += rows->length) {
        uint64_t got = series_bits(&c->got, at), item = sum_at(&rows->in, at) & mask_of(c);
        if (got == item)
            continue;
        if (factor == 0)
            for (uint64_t f = 2; f <= 4096 && factor == 0; f *= 2)
                factor = ((item * f) & mask_of(c)) == got ? f : 0;
        if (factor == 0 || ((item * factor) & mask_of(c)) != got)
            return NULL;
        first = first ? first : at + 1;
    }
    if (factor == 0)
        return NULL;
    return arena_printf(c->arena,
                        "`%s[%" PRIu64 "]`, where nothing stands before, is %" PRIu64
                        " times `%s[%" PRIu64 "]`: likely a thread adds its own value where there "
                        "is nothing at that distance before it",
                        c->view->name, first - 1, factor, rows->in_name, first - 1);
}

/* The values of a row are off by what the row before is off by and its sum, or by nothing. */
const char *diagnose_rows_run_on(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = integer_rows(c);
    uint64_t before = 0, mask = mask_of(c);
    if (!rows || rows->length >= c->n)
        return NULL;
    for (uint64_t at = 0; at < c->n; at += rows->length) {
        uint64_t error = (series_bits(&c->got, at) - series_bits(&c->expected, at)) & mask;
        uint64_t carried = at ? (before + row_total(c, rows, at - rows->length)) & mask : 0;
        if (error != 0 && error != carried)
            return NULL;
        for (uint64_t i = at; i < c->n && i < at + rows->length; i++)
            if (((series_bits(&c->got, i) - series_bits(&c->expected, i)) & mask) != error)
                return NULL;
        before = error;
    }
    return arena_printf(c->arena,
                        "the sums run on from row to row: every %" PRIu64
                        " elements they should start again from nothing, and from index %" PRIu64
                        " on they hold rows before theirs",
                        rows->length, c->first);
}

const char *diagnose_root_kept(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = integer_rows(c);
    if (!rows || rows->relation != RELATION_EXCLUSIVE || c->n < 2)
        return NULL;
    uint64_t total = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        if (i % rows->length == 0)
            total = row_total(c, rows, i);
        if (((series_bits(&c->expected, i) + total - series_bits(&c->got, i)) & mask_of(c)) != 0)
            return NULL;
    }
    return arena_printf(c->arena,
                        "every value is too large by the sum of all elements%s: likely the root of "
                        "the tree was not set to 0 before the way down",
                        rows->length < c->n ? " of its row" : "");
}
