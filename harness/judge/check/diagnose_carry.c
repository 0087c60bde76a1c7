/* Recognisers about sums that went missing or came in twice: inclusive and exclusive, carries
 * between tiles. They look at the error expected[i] - got[i] along the index: a lost carry makes it
 * piecewise constant, and where it changes tells the tile. */
#include "judge/check/diagnose.h"

#include <inttypes.h>

static bool every_value_is_off_by_its_own(const struct diagnosis_context *c,
                                          const struct series *in, bool included)
{
    for (uint64_t i = 0; i < c->n; i++)
        if (included ? !diagnosis_adds_up(&c->expected, i, in, i, &c->got, i)
                     : !diagnosis_adds_up(&c->got, i, in, i, &c->expected, i))
            return false;
    return c->n > 0;
}

const char *diagnose_inclusive_for_exclusive(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = diagnosis_find_rows(c);
    if (rows->relation != RELATION_EXCLUSIVE || !every_value_is_off_by_its_own(c, &rows->in, true))
        return NULL;
    return arena_printf(
        c->arena,
        "inclusive for exclusive: every %s[i] includes %s[i] itself, and should hold "
        "the sum of those before it only",
        c->view->name, rows->in_name);
}

const char *diagnose_exclusive_for_inclusive(const struct diagnosis_context *c)
{
    const struct diagnosis_rows *rows = diagnosis_find_rows(c);
    if (rows->relation != RELATION_INCLUSIVE || !every_value_is_off_by_its_own(c, &rows->in, false))
        return NULL;
    return arena_printf(c->arena, "exclusive for inclusive: every %s[i] lacks %s[i] itself",
                        c->view->name, rows->in_name);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct diagnosis_steps find_steps(const struct diagnosis_context *c)
{
    struct diagnosis_steps *steps = &c->cache->steps;
    if (c->cache->has_steps)
        return *steps;
    c->cache->has_steps = true;
    int64_t before = c->n ? diagnosis_error(c, 0) : 0;
    for (uint64_t i = 1; i < c->n && steps->tile != 1; i++) {
        int64_t error = diagnosis_error(c, i);
        if (error == before)
            continue;
        before = error;
        if (steps->count++ == 0)
            steps->first = i;
        steps->tile = gcd(steps->tile, i);
    }
    return *steps;
}

/* The sum of in[0 .. at), as a difference token, from the expected answer itself. */
static int64_t sum_before(const struct diagnosis_context *c, uint64_t at)
{
    /* expected[at] - expected[0] is that sum for an exclusive scan; an inclusive one is a place on,
     * and its first value is in[0] itself, so a series of one zero is subtracted. */
    static const uint8_t zero[8];
    struct series nothing = series_of(zero, c->expected.type, 1);
    if (c->relation == RELATION_EXCLUSIVE)
        return series_difference(&c->expected, at, &nothing, 0);
    return at == 0 ? 0 : series_difference(&c->expected, at - 1, &nothing, 0);
}

const char *diagnose_tiles_alone(const struct diagnosis_context *c)
{
    struct diagnosis_steps steps = find_steps(c);
    if (c->relation == RELATION_NONE || steps.count == 0 || steps.tile < 2 || c->first == 0)
        return NULL;
    for (uint64_t at = 0; at < c->n; at += steps.tile)
        if (diagnosis_error(c, at) != sum_before(c, at))
            return NULL;
    if (steps.count == 1)
        return arena_printf(
            c->arena,
            "block carry lost: wrong from index %s on, and every wrong value is short by the same "
            "amount (%s), the sum of everything before that index",
            diagnosis_index(c, c->first),
            difference_print_signed(&c->got, diagnosis_error(c, c->first), c->arena));
    return arena_printf(c->arena,
                        "%s carry lost: each tile of %" PRIu64
                        " elements starts again from 0, as if what lies before it did not exist; "
                        "wrong from index %" PRIu64 " on",
                        steps.tile <= 32 ? "warp" : "block", steps.tile, c->first);
}

const char *diagnose_carry_lost(const struct diagnosis_context *c)
{
    struct diagnosis_steps steps = find_steps(c);
    if (steps.count != 1 || c->first != steps.first || c->n - c->first < 2 ||
        diagnosis_power_of_two(c->first) < 8)
        return NULL;
    return arena_printf(
        c->arena, "%s carry lost: wrong from index %s on, and every wrong value is %s",
        diagnosis_power_of_two(c->first) <= 32 ? "warp" : "block", diagnosis_index(c, c->first),
        diagnosis_amount(c, diagnosis_error(c, c->first)));
}

/* Do the errors of all tiles follow one rule? -1: each lacks the tile just before it; 1: each has
 * its own sum in it; 0: neither. */
static int tile_rule(const struct diagnosis_context *c, uint64_t tile)
{
    bool lacks_previous = true, has_own = true;
    if (c->relation == RELATION_NONE)
        return 0;
    for (uint64_t at = 0; at < c->n && (lacks_previous || has_own); at += tile) {
        uint64_t error = (uint64_t)diagnosis_error(c, at);
        uint64_t here = (uint64_t)sum_before(c, at);
        if (series_is_float(&c->got))
            return 0;
        uint64_t mask = UINT64_MAX >> (64 - 8 * c->got.size);
        uint64_t previous = at ? here - (uint64_t)sum_before(c, at - tile) : 0;
        lacks_previous = lacks_previous && ((error - previous) & mask) == 0;
        /* The sum of the last tile lies past the end: it is not looked at. */
        if (at + tile < c->n)
            has_own = has_own && ((error + (uint64_t)sum_before(c, at + tile) - here) & mask) == 0;
    }
    return lacks_previous ? -1 : has_own && c->n > tile ? 1 : 0;
}

const char *diagnose_carry_per_tile(const struct diagnosis_context *c)
{
    struct diagnosis_steps steps = find_steps(c);
    if (steps.count == 0 || steps.tile < 8)
        return NULL;
    int rule = tile_rule(c, steps.tile);
    if (rule == 0 && steps.count < 2)
        return NULL;
    const char *how = rule < 0 ? ": each tile lacks the sum of the tile just before it, as if its "
                                 "offset were one tile old"
                      : rule > 0 ? ": each tile has its own sum in it already, as if the tile sums "
                                   "were scanned inclusively"
                                 : "";
    return arena_printf(c->arena,
                        "wrong carry between tiles: inside each tile of %" PRIu64
                        " elements all values are off by one amount, and the amount changes only "
                        "from tile to tile%s; wrong from index %" PRIu64 " on",
                        steps.tile, how, c->first);
}

const char *diagnose_same_amount(const struct diagnosis_context *c)
{
    if (c->wrong_count < 2)
        return NULL;
    int64_t error = diagnosis_error(c, c->first);
    bool to_the_end = true;
    for (uint64_t i = c->first; i < c->n; i++) {
        if (!c->wrong_at[i])
            to_the_end = false;
        else if (diagnosis_error(c, i) != error)
            return NULL;
    }
    const char *where =
        !to_the_end ? arena_printf(c->arena, "%" PRIu64 " of %" PRIu64 " values are wrong",
                                   c->wrong_count, c->n)
        : c->first == 0
            ? "every value is wrong"
            : arena_printf(c->arena, "wrong from index %s on", diagnosis_index(c, c->first));
    const char *dropped = "";
    if (to_the_end && c->relation != RELATION_NONE && c->first + 1 < c->n) {
        uint64_t lost = c->relation == RELATION_INCLUSIVE ? c->first : c->first - 1;
        if (lost < c->n &&
            diagnosis_adds_up(&c->got, c->first, &c->in, lost, &c->expected, c->first))
            dropped =
                arena_printf(c->arena, ", which is %s[%" PRIu64 "]: that element was left out",
                             c->in_name, lost);
    }
    return arena_printf(c->arena, "%s, each of them %s%s", where, diagnosis_amount(c, error),
                        dropped);
}

const char *diagnose_total_placed(const struct diagnosis_context *c)
{
    if (c->relation != RELATION_EXCLUSIVE || c->n < 2 || c->wrong_count != 1 ||
        !diagnosis_adds_up(&c->expected, c->n - 1, &c->in, c->n - 1, &c->got, c->first))
        return NULL;
    return arena_printf(c->arena,
                        "%s[%" PRIu64 "] holds the total of all elements; the rest is right",
                        c->view->name, c->first);
}

const char *diagnose_multiple(const struct diagnosis_context *c)
{
    for (unsigned factor = 2; factor <= 4; factor++) {
        uint64_t telling = 0, i = 0;
        for (; i < c->n; i++) {
            bool fits = series_is_float(&c->got)
                            ? series_double(&c->expected, i) * factor == series_double(&c->got, i)
                            : (uint64_t)series_int(&c->expected, i) * factor ==
                                  (uint64_t)series_int(&c->got, i);
            if (!fits)
                break;
            telling += series_double(&c->expected, i) != 0;
        }
        if (i == c->n && telling >= 2)
            return arena_printf(
                c->arena,
                "every value is %u times the right one: added more than once, or added "
                "to what an earlier call left behind",
                factor);
    }
    return NULL;
}

const char *diagnose_other_output_right(const struct diagnosis_context *c)
{
    for (unsigned v = 0; v < c->view_count; v++)
        if (c->relation != RELATION_NONE && c->views[v].expected.bytes == c->in.bytes &&
            c->differences[v].count == 0)
            return arena_printf(c->arena,
                                "`%s` is right and `%s`, its %s scan, is not: the scan is at fault",
                                c->in_name, c->view->name,
                                c->relation == RELATION_EXCLUSIVE ? "exclusive" : "inclusive");
    return NULL;
}
