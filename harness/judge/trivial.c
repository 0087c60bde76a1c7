#include "judge/trivial.h"

#include "judge/check/check.h"
#include "judge/check/value.h"
#include "judge/problem/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t CASE_BYTES_MAX = (uint64_t)1 << 22;

/* Writes one output; it holds poison (OUTPUT) or the input (INOUT) before. */
typedef void answer_function(const struct case_data *data, unsigned param, uint8_t *out);

static void answer_zeros(const struct case_data *data, unsigned param, uint8_t *out)
{
    memset(out, 0, data->buffers[param].bytes);
}

/* Of the first input with bytes, as much as fits. */
static void answer_input(const struct case_data *data, unsigned param, uint8_t *out)
{
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
static void answer_untouched(const struct case_data *data, unsigned param, uint8_t *out)
{
    (void)data;
    (void)param;
    (void)out;
}

static void answer_nan(const struct case_data *data, unsigned param, uint8_t *out)
{
    memset(out, 0xff, data->buffers[param].bytes); /* a quiet NaN in every float type */
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

static void answer_half_precision(const struct case_data *data, unsigned param, uint8_t *out)
{
    enum wire_type type = data->problem->params[param].type;
    const struct case_buffer *b = &data->buffers[param];
    struct series expected = series_of(b->expected, type, b->count);
    memcpy(out, b->expected, b->bytes);
    for (uint64_t i = 0; i < b->count; i++)
        store(type, to_half(series_double(&expected, i)), out + i * expected.size);
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

static bool is_output(const struct problem_param *p)
{
    return p->kind == PARAM_BUFFER && (p->role == WIRE_OUTPUT || p->role == WIRE_INOUT);
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

static void try_case(const struct case_data *data, enum trivial t, struct arena *arena,
                     struct trivial_tally *tally)
{
    struct wire_request *request = arena_alloc(arena, sizeof *request);
    request_init(request, data);
    request->poison_seed = request_seed(data, 0, "poison");
    uint8_t *outputs = untouched_outputs(data, request);
    uint64_t elements = 0;
    for (unsigned i = 0; i < request->param_count; i++) {
        if (!is_output(&data->problem->params[i]))
            continue;
        const struct wire_param *w = &request->params[i];
        elements += data->buffers[i].count;
        TRIVIALS[t].answer(data, i, outputs + w->out_offset + WIRE_GUARD_BYTES + w->misalign);
    }
    struct check_result *result = arena_alloc(arena, sizeof *result);
    check_case(data, request, outputs, arena, result);
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

/* Points every buffer at memory of the arena. */
static void give_memory(struct case_data *data, struct arena *arena)
{
    for (unsigned i = 0; i < data->problem->param_count; i++) {
        const struct problem_param *p = &data->problem->params[i];
        struct case_buffer *b = &data->buffers[i];
        if (p->kind == PARAM_BUFFER && (p->role == WIRE_INPUT || p->role == WIRE_INOUT))
            b->input = arena_alloc(arena, b->bytes + 64);
        if (is_output(p))
            b->expected = arena_alloc(arena, b->bytes + 64);
    }
}

int trivial_try(const struct problem *p, enum trivial t, uint64_t seed, struct trivial_tally *tally,
                struct err *e)
{
    *tally = (struct trivial_tally){0};
    int status = 0;
    for (unsigned i = 0; i < p->case_count && status == 0; i++) {
        struct arena arena;
        struct case_data data;
        arena_init(&arena);
        status = problem_case_sizes(p, &p->cases[i], seed, &arena, &data, e);
        uint64_t bytes = 0;
        for (unsigned k = 0; status == 0 && k < p->param_count; k++)
            bytes += data.buffers[k].bytes;
        if (status == 0 && bytes <= CASE_BYTES_MAX) {
            give_memory(&data, &arena);
            problem_case_fill(&data);
            status = oracle_expected(&data, e);
            if (status == 0)
                try_case(&data, t, &arena, tally);
        }
        arena_release(&arena);
    }
    return status;
}
