/* Recognisers about what was written at all: untouched elements, copies, constants, counts. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <string.h>

const char *diagnose_touched_beyond(const struct diagnosis_context *c)
{
    if (c->first < c->n)
        return NULL;
    return arena_printf(c->arena,
                        "the first %" PRIu64 " elements of `%s` are right, but %" PRIu64
                        " of those after them were written too, and they must be left alone",
                        c->n, c->view->name, c->wrong_count);
}

static uint64_t count_marks(const uint8_t *marks, uint64_t n)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++)
        count += marks[i];
    return count;
}

const char *diagnose_never_written(const struct diagnosis_context *c)
{
    if (c->n == 0 || count_marks(c->untouched, c->n) != c->n)
        return NULL;
    return arena_printf(
        c->arena, "`%s` was never written: it still holds what was there before the call%s",
        c->view->name, c->n == 1 ? "" : "; did the kernel run, and with enough blocks?");
}

/* The output whose length this one is; NULL if it is no such thing. */
static const struct output_view *counted_view(const struct diagnosis_context *c)
{
    for (unsigned v = 0; v < c->view_count; v++)
        if (c->views[v].check->count_param == (int)c->view->check->param)
            return &c->views[v];
    return NULL;
}

/* Is the input's last element the last one that is kept? Seen from the expected output alone. */
static bool last_input_is_kept(const struct diagnosis_context *c, const struct output_view *kept)
{
    const struct problem *p = c->data->problem;
    if (kept->compared == 0)
        return false;
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct case_buffer *buffer = &c->data->buffers[i];
        if (p->params[i].kind != PARAM_BUFFER || !buffer->input || buffer->count == 0 ||
            p->params[i].type != kept->expected.type)
            continue;
        struct series in = series_of(buffer->input, p->params[i].type, buffer->count);
        return series_bits(&in, in.count - 1) == series_bits(&kept->expected, kept->compared - 1);
    }
    return false;
}

const char *diagnose_count_off_by_one(const struct diagnosis_context *c)
{
    const struct output_view *kept = counted_view(c);
    if (!kept || c->n != 1)
        return NULL;
    int64_t error = diagnosis_error(c, 0);
    if (error == -1)
        return "the count is one too many";
    if (error != 1)
        return NULL;
    if (last_input_is_kept(c, kept))
        return "the count is one short, and the last input element is one that is kept: so it "
               "looks "
               "when the count is the last exclusive prefix, without the last element's own flag";
    return "the count is one short";
}

const char *diagnose_count_wrong(const struct diagnosis_context *c)
{
    const struct output_view *kept = counted_view(c);
    if (!kept || c->n != 1)
        return NULL;
    int64_t got = series_int(&c->got, 0), expected = series_int(&c->expected, 0);
    if (got == 0)
        return "the count is 0, although elements are kept";
    if (expected > 0 && got == 2 * expected)
        return "the count is twice the right one: counted twice, or not reset before the call";
    if (got == (int64_t)kept->got.count)
        return "the count is the number of all elements, kept or not";
    if (got < 0 || got > (int64_t)kept->got.count)
        return "the count is more than there are elements: added to a value that was not reset, or "
               "never written by the final step";
    return arena_printf(c->arena, "the count is %s", diagnosis_amount(c, diagnosis_error(c, 0)));
}

const char *diagnose_not_a_number(const struct diagnosis_context *c)
{
    uint64_t count = 0, first = 0;
    if (!series_is_float(&c->got))
        return NULL;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->wrong_at[i] && series_is_nan(&c->got, i) && !series_is_nan(&c->expected, i) &&
            !c->untouched[i] && count++ == 0)
            first = i;
    if (count == 0)
        return NULL;
    return arena_printf(c->arena,
                        "%" PRIu64
                        " element%s NaN where a number should be, the first at index %" PRIu64
                        "; infinity minus infinity gives NaN, as in \"inclusive minus own value\"",
                        count, count == 1 ? " is" : "s are", first);
}

const char *diagnose_input_copied(const struct diagnosis_context *c)
{
    const struct problem *p = c->data->problem;
    for (unsigned i = 0; i < p->param_count && c->n >= 2; i++) {
        const struct case_buffer *buffer = &c->data->buffers[i];
        if (p->params[i].kind == PARAM_BUFFER && buffer->input && buffer->count >= c->n &&
            wire_type_bytes(p->params[i].type) == c->got.size &&
            memcmp(buffer->input, c->got.bytes, c->n * c->got.size) == 0)
            return arena_printf(c->arena, "`%s` is a plain copy of `%s`", c->view->name,
                                p->params[i].name);
    }
    return NULL;
}

const char *diagnose_all_the_same(const struct diagnosis_context *c)
{
    uint64_t bits = c->n ? series_bits(&c->got, 0) : 0;
    for (uint64_t i = 1; i < c->n; i++)
        if (series_bits(&c->got, i) != bits)
            return NULL;
    if (c->n < 3)
        return NULL;
    return arena_printf(c->arena, "every element of `%s` is %s", c->view->name,
                        value_print(c->got.type, bits, c->arena));
}

const char *diagnose_tail_unwritten(const struct diagnosis_context *c)
{
    uint64_t from = c->n;
    while (from > 0 && c->untouched[from - 1])
        from--;
    if (from == 0 || from == c->n || c->first < from)
        return NULL;
    return arena_printf(c->arena,
                        "everything before index %s is right, from there to the end (%" PRIu64
                        " element%s) nothing was written",
                        diagnosis_index(c, from), c->n - from, c->n - from == 1 ? "" : "s");
}

const char *diagnose_some_unwritten(const struct diagnosis_context *c)
{
    uint64_t count = 0, first = 0;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->untouched[i] && c->wrong_at[i] && count++ == 0)
            first = i;
    if (count == 0)
        return NULL;
    return arena_printf(
        c->arena,
        "%" PRIu64 " of %" PRIu64 " elements were never written, the first at index %s; %s", count,
        c->n, diagnosis_index(c, first),
        count == c->wrong_count ? "all others are right" : "others were written with wrong values");
}

const char *diagnose_count_right_data_wrong(const struct diagnosis_context *c)
{
    if (c->view->check->count_param < 0)
        return NULL;
    for (unsigned v = 0; v < c->view_count; v++)
        if ((int)c->views[v].check->param == c->view->check->count_param &&
            c->differences[v].count == 0)
            return arena_printf(c->arena,
                                "the count is right (%" PRIu64 "), but %" PRIu64
                                " of the elements that it counts are not",
                                c->n, c->wrong_count);
    return NULL;
}
