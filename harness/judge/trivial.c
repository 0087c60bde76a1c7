#include "judge/trivial.h"

#include "judge/check/check.h"
#include "judge/check/value.h"
#include "judge/problem/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One case, and what was right in an earlier one. */
struct attempt {
    const struct case_data *data;
    const struct case_data *earlier; /* of the same sizes if there is one; NULL = the first case */
};

/* Writes one output; it holds poison (OUTPUT) or the input (INOUT) before. */
typedef void answer_function(const struct attempt *a, unsigned param, uint8_t *out);

static void answer_zeros(const struct attempt *a, unsigned param, uint8_t *out)
{
    memset(out, 0, a->data->buffers[param].bytes);
}

/* Of the first input with bytes, as much as fits. */
static void answer_input(const struct attempt *a, unsigned param, uint8_t *out)
{
    const struct case_data *data = a->data;
    for (unsigned i = 0; i < data->problem->param_count; i++) {
        const struct case_buffer *b = &data->buffers[i];
        if (!b->input || b->bytes == 0)
            continue;
        memcpy(out, b->input,
               b->bytes < data->buffers[param].bytes ? b->bytes : data->buffers[param].bytes);
        return;
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it has the shape of its table */
static void answer_untouched(const struct attempt *a, unsigned param, uint8_t *out)
{
    (void)a;
    (void)param;
    (void)out;
}

static void answer_nan(const struct attempt *a, unsigned param, uint8_t *out)
{
    memset(out, 0xff, a->data->buffers[param].bytes); /* a quiet NaN in every float type */
}

/* Rounded to the 11 significant bits of float16, which holds nothing past 65504. */
static double to_half(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent);
    if (!isfinite(x) || fabs(x) < 0x1p-14)
        return isfinite(x) ? rint(x * 0x1p24) * 0x1p-24 : x;
    double rounded = ldexp(rint(fraction * 2048), exponent - 11);
    return fabs(rounded) > 65504 ? copysign((double)INFINITY, x) : rounded;
}

static void store(enum wire_type type, double value, uint8_t *at)
{
    if (type == WIRE_float32) {
        float f = (float)value;
        memcpy(at, &f, sizeof f);
    } else if (type == WIRE_float64) {
        memcpy(at, &value, sizeof value);
    } else if (wire_type_kind(type) != 'f') {
        int64_t whole = value >= 0x1p62 ? INT64_MAX : value <= -0x1p62 ? INT64_MIN : (int64_t)value;
        memcpy(at, &whole, wire_type_bytes(type));
    }
}

static void answer_half_precision(const struct attempt *a, unsigned param, uint8_t *out)
{
    enum wire_type type = a->data->problem->params[param].type;
    const struct case_buffer *b = &a->data->buffers[param];
    struct series expected = series_of(b->expected, type, b->count);
    memcpy(out, b->expected, b->bytes);
    for (uint64_t i = 0; i < b->count; i++)
        store(type, to_half(series_double(&expected, i)), out + i * expected.size);
}

/* What the call before this one should have written, as far as it goes. */
static void answer_previous(const struct attempt *a, unsigned param, uint8_t *out)
{
    const struct case_buffer *now = &a->data->buffers[param];
    const struct case_buffer *then = a->earlier ? &a->earlier->buffers[param] : NULL;
    if (then && then->bytes)
        memcpy(out, then->expected, then->bytes < now->bytes ? then->bytes : now->bytes);
}

static const struct trivial_row {
    const char *people;
    answer_function *answer;
} TRIVIALS[TRIVIAL_COUNT] = {
#define TRIVIAL(id, people) {people, answer_##id},
#include "judge/trivials.def"
#undef TRIVIAL
};

const char *trivial_for_people(enum trivial t)
{
    return TRIVIALS[t].people;
}

/* What the box would send back if the submission did nothing. */
static uint8_t *untouched_outputs(const struct case_data *data, const struct wire_request *request)
{
    uint8_t *outputs = calloc(request->out_bytes + 1, 1);
    if (!outputs)
        BUG("no memory for the buffers of a case");
    for (unsigned i = 0; i < request->param_count; i++) {
        const struct wire_param *w = &request->params[i];
        if (w->kind != WIRE_PARAM_BUFFER)
            continue;
        uint8_t *whole = outputs + w->out_offset;
        wire_poison(whole, 0, wire_buffer_bytes(w), request->poison_seed, i);
        if (data->buffers[i].input && w->bytes)
            memcpy(whole + WIRE_GUARD_BYTES + w->misalign, data->buffers[i].input, w->bytes);
    }
    return outputs;
}

static void try_case(const struct attempt *a, enum trivial t, const struct trivial_judge *judge,
                     struct arena *arena, struct trivial_tally *tally)
{
    const struct case_data *data = a->data;
    struct wire_request *request = arena_alloc(arena, sizeof *request);
    request_init(request, data);
    request->poison_seed = request_seed(data, 0, "poison");
    uint8_t *outputs = untouched_outputs(data, request);
    uint64_t elements = 0;
    for (unsigned i = 0; i < request->param_count; i++) {
        if (!problem_is_output(&data->problem->params[i]))
            continue;
        const struct wire_param *w = &request->params[i];
        elements += data->buffers[i].count;
        TRIVIALS[t].answer(a, i, outputs + w->out_offset + WIRE_GUARD_BYTES + w->misalign);
    }
    struct check_result *result = arena_alloc(arena, sizeof *result);
    check_case(data, request, outputs, arena, result);
    if (elements && result->ok && judge)
        result->ok = judge->accepts(judge->context, data, request, outputs);
    free(outputs);
    if (elements == 0)
        return;
    tally->cases++;
    if (!result->ok)
        return;
    tally->passed++;
    tally->larger_passed += elements > 32;
    if (!tally->example)
        tally->example = data->instance->name;
}

static bool same_sizes(const struct case_data *a, const struct case_data *b)
{
    for (unsigned i = 0; i < a->problem->param_count; i++)
        if (a->buffers[i].bytes != b->buffers[i].bytes)
            return false;
    return true;
}

/* The latest case before `index` whose answers are kept, rather one of the same sizes. */
static const struct case_data *find_earlier(const struct answers *answers, const struct problem *p,
                                            unsigned index, uint64_t seed,
                                            const struct case_data *data, struct arena *arena)
{
    struct case_data *found = NULL;
    for (unsigned k = index; k-- > 0;) {
        struct case_data *one = arena_alloc(arena, sizeof *one);
        if (!answers_sizes(answers, p, k, seed, arena, one))
            continue;
        found = found ? found : one;
        if (same_sizes(one, data)) {
            found = one;
            break;
        }
    }
    return found;
}

void trivial_try(const struct problem *p, const struct answers *answers, enum trivial t,
                 uint64_t seed, const struct trivial_judge *judge, struct trivial_tally *tally)
{
    *tally = (struct trivial_tally){0};
    for (unsigned i = 0; i < p->case_count; i++) {
        struct arena arena;
        struct case_data data;
        arena_init(&arena);
        if (answers_case(answers, p, i, seed, &arena, &data)) {
            struct attempt a = {.data = &data};
            if (t == TRIVIAL_previous)
                a.earlier = find_earlier(answers, p, i, seed, &data, &arena);
            try_case(&a, t, judge, &arena, tally);
        }
        arena_release(&arena);
    }
}
