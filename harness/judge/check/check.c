/* Guards, then inputs, then outputs. The outputs region is shared with the box, which may go on
 * changing it: nothing here relies on two reads of it agreeing.
 *
 * Outputs that other outputs depend on (the count of a compaction, the offsets of groups) are
 * looked at first: when the count is wrong, that is the news, not the element that moved because of
 * it. */
#include "judge/check/check.h"

#include "judge/check/compare.h"
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where the parts of parameter `i` are in the outputs region. */
struct whole_buffer {
    const uint8_t *start; /* first guard */
    const uint8_t *payload;
    uint64_t before, bytes; /* guard and misalign; payload */
};

static struct whole_buffer whole_buffer(const struct wire_request *request, unsigned i,
                                        const uint8_t *outputs)
{
    const struct wire_param *p = &request->params[i];
    uint64_t before = (uint64_t)WIRE_GUARD_BYTES + p->misalign;
    const uint8_t *start = outputs + p->out_offset;
    return (struct whole_buffer){start, start + before, before, p->bytes};
}

static __attribute__((format(printf, 3, 4))) void
add_finding(struct check_result *result, enum finding_kind kind, const char *format, ...)
{
    if (result->finding_count == CHECK_FINDINGS_MAX)
        return;
    va_list args;
    va_start(args, format);
    wire_finding_vset(&result->findings[result->finding_count++], kind, WIRE_ERROR, format, args);
    va_end(args);
    result->ok = false;
}

/* Bytes of one guard that changed; `first` and `last` of them. */
static uint64_t guard_changes(const uint8_t *at, uint64_t from, uint64_t bytes, uint64_t seed,
                              unsigned buffer, uint64_t *first, uint64_t *last)
{
    uint64_t change = wire_poison_find_change(at, from, bytes, seed, buffer), count = 0;
    if (change == bytes)
        return 0;
    uint8_t pattern[WIRE_GUARD_BYTES + 64];
    if (bytes > sizeof pattern)
        bytes = sizeof pattern;
    wire_poison(pattern, from, bytes, seed, buffer);
    *first = change;
    *last = change;
    for (uint64_t i = change; i < bytes; i++)
        if (at[i] != pattern[i]) {
            count++;
            *last = i;
        }
    return count ? count : 1;
}

static void check_guards(const struct case_data *data, const struct wire_request *request,
                         unsigned i, const struct whole_buffer *w, struct check_result *result)
{
    const char *name = data->problem->params[i].name;
    uint64_t seed = request->poison_seed, first, last;
    uint64_t count = guard_changes(w->start, 0, w->before, seed, i, &first, &last);
    if (count)
        add_finding(
            result, FINDING_guard_overwritten,
            "%" PRIu64 " byte%s before the start of `%s` were overwritten, the nearest %" PRIu64
            " byte%s before it",
            count, count == 1 ? "" : "s", name, w->before - last, w->before - last == 1 ? "" : "s");
    uint64_t end = w->before + w->bytes;
    count = guard_changes(w->start + end, end, WIRE_GUARD_BYTES, seed, i, &first, &last);
    if (!count)
        return;
    unsigned size = wire_type_bytes(data->problem->params[i].type);
    add_finding(result, FINDING_guard_overwritten,
                "%" PRIu64
                " byte%s after the end of `%s` were overwritten, the first where element %" PRIu64
                " would be; the buffer has %" PRIu64,
                count, count == 1 ? "" : "s", name, (w->bytes + first) / size, w->bytes / size);
}

static void check_input(const struct case_data *data, unsigned i, const struct whole_buffer *w,
                        struct arena *arena, struct check_result *result)
{
    const struct case_buffer *buffer = &data->buffers[i];
    if (!buffer->input || memcmp(w->payload, buffer->input, w->bytes) == 0)
        return;
    struct series now = series_of(w->payload, data->problem->params[i].type, buffer->count);
    struct series was = series_of(buffer->input, data->problem->params[i].type, buffer->count);
    uint64_t count = 0, first = 0;
    for (uint64_t k = 0; k < now.count; k++)
        if (series_bits(&now, k) != series_bits(&was, k) && count++ == 0)
            first = k;
    const char *before, *after;
    value_print_pair(now.type, series_bits(&was, first), series_bits(&now, first), arena, &before,
                     &after);
    add_finding(result, FINDING_input_changed,
                "`%s` is an input, but the call changed %" PRIu64 " of its elements; %s[%" PRIu64
                "] was %s and is %s now",
                data->problem->params[i].name, count, data->problem->params[i].name, first, before,
                after);
}

static uint64_t compared_elements(const struct case_data *data, const struct problem_check *check)
{
    uint64_t count = data->buffers[check->param].count;
    if (check->count_param < 0)
        return count;
    const struct case_buffer *holder = &data->buffers[check->count_param];
    const void *bytes = holder->expected ? holder->expected : holder->input;
    if (!bytes || holder->count == 0)
        return count;
    struct series length =
        series_of(bytes, data->problem->params[check->count_param].type, holder->count);
    int64_t kept = series_int(&length, 0);
    return kept < 0 ? 0 : (uint64_t)kept < count ? (uint64_t)kept : count;
}

static struct output_view view_of(const struct case_data *data, const struct wire_request *request,
                                  const struct problem_check *check, const uint8_t *outputs)
{
    const struct problem_param *param = &data->problem->params[check->param];
    const struct case_buffer *buffer = &data->buffers[check->param];
    struct whole_buffer w = whole_buffer(request, check->param, outputs);
    if (!buffer->expected && buffer->bytes)
        BUG("no expected answer for the output '%s'", param->name);
    return (struct output_view){
        .data = data,
        .check = check,
        .name = param->name,
        .got = series_of(w.payload, param->type, buffer->count),
        .expected = series_of(buffer->expected, param->type, buffer->count),
        .compared = compared_elements(data, check),
        .original = param->role == WIRE_INOUT ? buffer->input : NULL,
        .poison_from = w.before,
        .poison_seed = request->poison_seed,
    };
}

/* Checks in the order in which their mismatches are reported: what others depend on first. */
static unsigned order_checks(const struct problem *p, const struct problem_check **ordered)
{
    unsigned count = 0;
    for (int wanted = 1; wanted >= 0; wanted--)
        for (unsigned c = 0; c < p->check_count; c++) {
            bool is_needed = false;
            for (unsigned other = 0; other < p->check_count; other++)
                is_needed |= p->checks[other].count_param == (int)p->checks[c].param ||
                             p->checks[other].group_param == (int)p->checks[c].param;
            if (is_needed == (wanted == 1))
                ordered[count++] = &p->checks[c];
        }
    return count;
}

static bool is_wholly_untouched(const struct output_view *view)
{
    uint64_t bytes = view->compared * view->got.size;
    if (view->original)
        return memcmp(view->got.bytes, view->original, bytes) == 0;
    return wire_poison_find_change(view->got.bytes, view->poison_from, bytes, view->poison_seed,
                                   view->check->param) == bytes;
}

static void describe_mismatch(const struct output_view *view, const struct difference *difference,
                              struct arena *arena, struct check_mismatch *mismatch)
{
    uint64_t i = difference->first, got = series_bits(&view->got, i);
    mismatch->output = view->name;
    mismatch->index = i;
    mismatch->count = difference->count;
    if (i >= view->compared) {
        mismatch->expected = "untouched";
        mismatch->got = value_print(view->got.type, got, arena);
        return;
    }
    value_print_pair(view->got.type, series_bits(&view->expected, i), got, arena,
                     &mismatch->expected, &mismatch->got);
    if (!view->original && view_is_untouched(view, i))
        mismatch->got = arena_printf(arena, "%s (never written)", mismatch->got);
}

static void check_outputs(const struct case_data *data, const struct wire_request *request,
                          const uint8_t *outputs, struct arena *arena, struct check_result *result)
{
    const struct problem *p = data->problem;
    const struct problem_check *checks[WIRE_PARAMS_MAX];
    struct output_view views[WIRE_PARAMS_MAX];
    struct difference differences[WIRE_PARAMS_MAX] = {0};
    unsigned count = order_checks(p, checks), wrong = count;
    for (unsigned c = 0; c < count; c++) {
        views[c] = view_of(data, request, checks[c], outputs);
        compare_output(&views[c], &differences[c]);
        if (differences[c].count == 0)
            continue;
        if (wrong == count)
            wrong = c;
        if (views[c].compared && is_wholly_untouched(&views[c]))
            add_finding(result, FINDING_output_untouched, "`%s` was not written at all",
                        views[c].name);
    }
    if (wrong == count)
        return;
    result->ok = false;
    describe_mismatch(&views[wrong], &differences[wrong], arena, &result->mismatch);
    result->diagnosis = diagnose(data, views, differences, count, wrong, arena);
}

void check_case(const struct case_data *data, const struct wire_request *request,
                const uint8_t *outputs, struct arena *arena, struct check_result *result)
{
    *result = (struct check_result){.ok = true};
    const struct problem *p = data->problem;
    for (unsigned i = 0; i < p->param_count; i++) {
        if (p->params[i].kind != PARAM_BUFFER)
            continue;
        struct whole_buffer w = whole_buffer(request, i, outputs);
        check_guards(data, request, i, &w, result);
        if (p->params[i].role == WIRE_INPUT)
            check_input(data, i, &w, arena, result);
    }
    check_outputs(data, request, outputs, arena, result);
}

void check_written(const struct case_data *data, const struct wire_request *request,
                   const uint8_t *outputs, struct arena *arena, struct check_result *result)
{
    *result = (struct check_result){.ok = true};
    const struct problem *p = data->problem;
    for (unsigned i = 0; i < p->param_count; i++) {
        if (p->params[i].kind != PARAM_BUFFER ||
            (p->params[i].role != WIRE_OUTPUT && p->params[i].role != WIRE_INOUT))
            continue;
        struct whole_buffer w = whole_buffer(request, i, outputs);
        check_guards(data, request, i, &w, result);
    }
    check_outputs(data, request, outputs, arena, result);
}

static bool part_is_untouched(const struct output_view *view, uint64_t from, uint64_t to)
{
    unsigned size = view->got.size;
    const uint8_t *got = view->got.bytes + from * size;
    if (view->original)
        return memcmp(got, view->original + from * size, (to - from) * size) == 0;
    return wire_poison_find_change(got, view->poison_from + from * size, (to - from) * size,
                                   view->poison_seed, view->check->param) == (to - from) * size;
}

static bool output_part_is_right(const struct output_view *view, unsigned part, unsigned parts)
{
    uint64_t count = view->got.count, step = count / parts + 1, from = part * step;
    uint64_t to = from + step < count ? from + step : count;
    if (from >= to)
        return true;
    uint64_t middle = view->compared < from ? from : view->compared < to ? view->compared : to;
    unsigned size = view->got.size;
    if (memcmp(view->got.bytes + from * size, view->expected.bytes + from * size,
               (middle - from) * size) != 0)
        return false;
    return middle == to || view->check->count_param < 0 || part_is_untouched(view, middle, to);
}

bool check_part(const struct case_data *data, const struct wire_request *request,
                const uint8_t *outputs, unsigned part, unsigned parts)
{
    const struct problem *p = data->problem;
    for (unsigned c = 0; c < p->check_count; c++) {
        if (p->checks[c].compare == COMPARE_checker)
            continue;
        struct output_view view = view_of(data, request, &p->checks[c], outputs);
        if (!output_part_is_right(&view, part, parts))
            return false;
    }
    struct check_result guards = {.ok = true};
    for (unsigned i = 0; part == 0 && i < p->param_count; i++)
        if (p->params[i].kind == PARAM_BUFFER &&
            (p->params[i].role == WIRE_OUTPUT || p->params[i].role == WIRE_INOUT)) {
            struct whole_buffer w = whole_buffer(request, i, outputs);
            check_guards(data, request, i, &w, &guards);
        }
    return guards.ok;
}

bool check_same_outputs(const struct case_data *data, const struct wire_request *request,
                        const uint8_t *a, const uint8_t *b)
{
    const struct problem *p = data->problem;
    for (unsigned c = 0; c < p->check_count; c++) {
        const struct problem_check *check = &p->checks[c];
        /* An order that is free, and the rounding of sums, may differ from run to run. */
        if (check_order_is_free(check) || check->compare == COMPARE_scan_error_bound)
            continue;
        struct whole_buffer in_a = whole_buffer(request, check->param, a);
        struct whole_buffer in_b = whole_buffer(request, check->param, b);
        uint64_t bytes =
            compared_elements(data, check) * wire_type_bytes(p->params[check->param].type);
        if (memcmp(in_a.payload, in_b.payload, bytes) != 0)
            return false;
    }
    return true;
}
