/* Gathers what the recognisers need (where it is wrong, what was never written, which buffer the
 * output is a scan of) once, then asks them in the order of diagnoses.def. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct diagnosis_row {
    diagnosis_function *recognise;
    bool positional;
};

static const struct diagnosis_row DIAGNOSES[] = {
#define DIAGNOSIS(id, positional, shows) {diagnose_##id, positional},
#include "judge/check/diagnoses.def"
#undef DIAGNOSIS
};

bool diagnosis_adds_up(const struct series *a, uint64_t i, const struct series *b, uint64_t j,
                       const struct series *sum, uint64_t k)
{
    if (series_is_float(sum))
        return series_double(a, i) + series_double(b, j) == series_double(sum, k);
    uint64_t mask = UINT64_MAX >> (64 - 8 * sum->size);
    uint64_t got = (uint64_t)series_int(a, i) + (uint64_t)series_int(b, j);
    return (got & mask) == series_bits(sum, k);
}

const char *diagnosis_amount(const struct diagnosis_context *c, int64_t error)
{
    const char *amount = difference_print(&c->got, error, c->arena);
    return arena_printf(c->arena, "%s by %s",
                        difference_sign(&c->got, error) > 0 ? "short" : "too large", amount);
}

uint64_t diagnosis_power_of_two(uint64_t x)
{
    return x & (0 - x);
}

const char *diagnosis_index(const struct diagnosis_context *c, uint64_t index)
{
    uint64_t power = index ? diagnosis_power_of_two(index) : 0;
    if (power < 32)
        return arena_printf(c->arena, "%" PRIu64, index);
    return arena_printf(c->arena, "%" PRIu64 " (a multiple of %" PRIu64 ")", index, power);
}

static enum relation relation_to(const struct series *expected, uint64_t n, const struct series *in)
{
    bool exclusive = series_double(expected, 0) == 0;
    bool inclusive = series_double(expected, 0) == series_double(in, 0);
    for (uint64_t i = 0; i + 1 < n && (exclusive || inclusive); i++) {
        exclusive = exclusive && diagnosis_adds_up(expected, i, in, i, expected, i + 1);
        inclusive = inclusive && diagnosis_adds_up(expected, i, in, i + 1, expected, i + 1);
    }
    return exclusive ? RELATION_EXCLUSIVE : inclusive ? RELATION_INCLUSIVE : RELATION_NONE;
}

/* Which input, or which other output, is `expected` a scan of? Tried on the data itself, so that a
 * spec need not say it. */
static void find_scanned(struct diagnosis_context *c)
{
    const struct problem *p = c->data->problem;
    for (unsigned i = 0; i < p->param_count && c->n > 0; i++) {
        const struct case_buffer *buffer = &c->data->buffers[i];
        if (p->params[i].kind != PARAM_BUFFER || buffer->count < c->n)
            continue;
        const void *bytes = buffer->input ? buffer->input : buffer->expected;
        if (!bytes || bytes == c->expected.bytes)
            continue;
        struct series in = series_of(bytes, p->params[i].type, buffer->count);
        if (series_is_float(&in) != series_is_float(&c->expected))
            continue;
        enum relation relation = relation_to(&c->expected, c->n, &in);
        if (relation == RELATION_NONE)
            continue;
        c->in = in;
        c->in_name = p->params[i].name;
        c->relation = relation;
        return;
    }
}

static void mark_untouched(const struct output_view *view, uint64_t n, uint8_t *untouched)
{
    unsigned size = view->got.size;
    uint8_t *bytes = malloc(n * size + 1);
    if (!bytes)
        BUG("no memory to look for unwritten elements");
    view_untouched_bytes(view, 0, n, bytes);
    for (uint64_t i = 0; i < n; i++)
        untouched[i] = memcmp(bytes + i * size, view->got.bytes + i * size, size) == 0;
    free(bytes);
}

const char *diagnose(const struct case_data *data, const struct output_view *views,
                     const struct difference *differences, unsigned view_count, unsigned wrong,
                     struct arena *arena)
{
    const struct output_view *view = &views[wrong];
    uint64_t n = view->compared;
    /* The box may still change its outputs: the recognisers get a copy that stays as it is. */
    uint8_t *frozen = malloc(view->got.count * view->got.size + 1);
    uint8_t *marks = calloc(view->got.count + n + 1, 1);
    if (!frozen || !marks)
        BUG("no memory to explain a wrong answer");
    memcpy(frozen, view->got.bytes, view->got.count * view->got.size);
    struct output_view copy = *view;
    copy.got.bytes = frozen;
    struct difference again = {.wrong_at = marks};
    compare_output(&copy, &again);
    mark_untouched(&copy, n, marks + view->got.count);

    struct diagnosis_cache cache = {0};
    struct diagnosis_context c = {
        .data = data,
        .views = views,
        .differences = differences,
        .view_count = view_count,
        .wrong = wrong,
        .view = &copy,
        .got = copy.got,
        .expected = view->expected,
        .n = n,
        .first = again.first,
        .wrong_count = again.count,
        .wrong_at = marks,
        .untouched = marks + view->got.count,
        .cache = &cache,
        .arena = arena,
    };
    c.got.count = c.expected.count = n;
    find_scanned(&c);
    bool free_order = check_order_is_free(view->check);
    const char *sentence = NULL;
    for (size_t i = 0; again.count && !sentence && i < sizeof DIAGNOSES / sizeof DIAGNOSES[0]; i++)
        if (!DIAGNOSES[i].positional || !free_order)
            sentence = DIAGNOSES[i].recognise(&c);
    free(frozen);
    free(marks);
    return sentence;
}
