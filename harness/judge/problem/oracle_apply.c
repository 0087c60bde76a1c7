/* Scans put to use: sums over rectangles of an image, what later steps are worth to earlier ones.
 */
#include "judge/problem/oracle.h"

/* The sum of the first `right` columns of the first `below` rows. */
static uint64_t corner(const struct oracle_operand *table, uint64_t columns, uint64_t below,
                       uint64_t right)
{
    if (below == 0 || right == 0)
        return 0;
    return (uint64_t)oracle_int(table, (below - 1) * columns + right - 1);
}

/* 64-bit sums are kept apart from the table, whose type may be narrower: wrapping them late or
 * early is the same. */
void oracle_summed_area_table(const struct oracle_operand *o)
{
    uint64_t columns = o[3].value > 0 ? (uint64_t)o[3].value : 0;
    uint64_t radius = o[4].value > 0 ? (uint64_t)o[4].value : 0;
    uint64_t count = oracle_common(&o[0], &o[1]);
    uint64_t rows = columns ? count / columns : 0;
    struct oracle_operand table = o[1];
    table.in = table.out; /* read back what is written */
    for (uint64_t y = 0; y < rows; y++) {
        uint64_t sum = 0;
        for (uint64_t x = 0; x < columns; x++) {
            sum += (uint64_t)oracle_int(&o[0], y * columns + x);
            oracle_put_int(&table, y * columns + x,
                           (int64_t)(sum + corner(&table, columns, y, x + 1)));
        }
    }
    for (uint64_t i = 0; i < rows * columns && i < o[2].count; i++) {
        uint64_t y = i / columns, x = i % columns;
        uint64_t above = y > radius ? y - radius : 0, left = x > radius ? x - radius : 0;
        uint64_t below = radius < rows - y ? y + radius + 1 : rows;
        uint64_t right = radius < columns - x ? x + radius + 1 : columns;
        uint64_t sum = corner(&table, columns, below, right) -
                       corner(&table, columns, above, right) -
                       corner(&table, columns, below, left) + corner(&table, columns, above, left);
        oracle_put_int(&o[2], i, (int64_t)sum);
    }
}

void oracle_linear_recurrence(const struct oracle_operand *o)
{
    uint64_t n = oracle_common(&o[0], &o[1]);
    n = n < o[2].count ? n : o[2].count;
    n = n < o[3].count ? n : o[3].count;
    double y = 0; /* of the item behind */
    for (uint64_t i = n; i-- > 0;) {
        bool goes_on = i + 1 < n && oracle_int(&o[0], i) == oracle_int(&o[0], i + 1);
        y = oracle_real(&o[1], i) + (goes_on ? oracle_real(&o[2], i) * y : 0);
        oracle_put_real(&o[3], i, y);
    }
}

struct sample {
    uint64_t kept, token;
    float mass;
};

/* One row. Sums are those of whole numbers, exact in float64; the targets are rounded to float, as
 * the statement says. */
static struct sample sample_row(const float *weights, uint64_t vocabulary, float p, float u)
{
    struct sample s = {0};
    double total = 0, sum = 0;
    for (uint64_t j = 0; j < vocabulary; j++)
        total += weights[j];
    const float share = p * (float)total;
    do
        sum += weights[s.kept++];
    while (s.kept < vocabulary && sum < share);
    s.mass = (float)sum;
    const float target = u * s.mass;
    for (sum = weights[0]; sum <= target && s.token + 1 < s.kept; sum += weights[s.token])
        s.token++;
    return s;
}

void oracle_top_p_sampling(const struct oracle_operand *o)
{
    const float *weights = o[0].in, *p = o[1].in, *u = o[2].in;
    int32_t *kept = o[3].out, *token = o[5].out;
    float *mass = o[4].out;
    uint64_t vocabulary = o[6].value > 0 ? (uint64_t)o[6].value : 0;
    uint64_t rows = vocabulary ? o[0].count / vocabulary : 0;
    for (unsigned k = 1; k < 6; k++)
        rows = rows < o[k].count ? rows : o[k].count;
    for (uint64_t r = 0; r < rows; r++) {
        struct sample s = sample_row(weights + r * vocabulary, vocabulary, p[r], u[r]);
        kept[r] = (int32_t)s.kept;
        mass[r] = s.mass;
        token[r] = (int32_t)s.token;
    }
}
