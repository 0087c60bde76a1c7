/* Diagnoses of scans of many rows: a fault as a function on the right answer, and words that it
 * must bring up. Each row of the table is tried with groups of 32 and with one row for the whole
 * array where that makes sense; the last ones are look-alikes that nobody may explain so. */
#include "fake.h"

enum { N = 100, ROW = 32 };

struct answer {
    int32_t *got;
    const int32_t *right, *in; /* `right` is exclusive or inclusive, by the row of the table */
    unsigned n, row;
};

static void inclusive(struct answer *a)
{
    for (unsigned i = 0; i < a->n; i++)
        a->got[i] = a->right[i] + a->in[i];
}

static void exclusive(struct answer *a)
{
    for (unsigned i = 0; i < a->n; i++)
        a->got[i] = a->right[i] - a->in[i];
}

static void last_16_only(struct answer *a)
{
    for (unsigned i = 0; i < a->n; i++)
        a->got[i] = a->right[i] - (i % a->row >= 16 ? a->right[i - 16] : 0);
}

static void own_value_in_every_step(struct answer *a)
{
    static int32_t next[N];
    memcpy(a->got, a->in, a->n * sizeof *next);
    for (unsigned d = 1; d < 32; d *= 2) {
        for (unsigned i = 0; i < a->n; i++)
            next[i] = a->got[i] + a->got[i % a->row >= d ? i - d : i];
        memcpy(a->got, next, a->n * sizeof *next);
    }
}

static void second_row_runs_on(struct answer *a)
{
    for (unsigned i = ROW; i < a->n; i++)
        a->got[i] = a->right[i] + (i < 2 * ROW ? a->right[ROW - 1] : 0);
}

static void all_rows_run_on(struct answer *a)
{
    for (unsigned i = 1; i < a->n; i++)
        a->got[i] = a->got[i - 1] + a->in[i];
}

static void root_kept(struct answer *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        unsigned end = (i / a->row + 1) * a->row;
        unsigned last = (end < a->n ? end : a->n) - 1;
        a->got[i] = a->right[i] + a->right[last] + a->in[last];
    }
}

static void off_by_seven_from_the_second_row(struct answer *a)
{
    for (unsigned i = ROW; i < a->n; i++)
        a->got[i] = a->right[i] + 7;
}

static void first_of_rows_wrong(struct answer *a)
{
    for (unsigned i = 0; i < a->n; i += ROW)
        a->got[i] = a->in[i] * 3 + 1;
}

static const struct row {
    const char *name;
    void (*fault)(struct answer *);
    bool inclusive; /* the right answer */
    unsigned row;
    const char *says, *never;
} ROWS[] = {
    {"inclusive", inclusive, false, ROW, "inclusive for exclusive", NULL},
    {"exclusive", exclusive, true, ROW, "exclusive for inclusive: every out[i] lacks in[i]", NULL},
    {"four steps", last_16_only, true, ROW, "sum of the last 16 elements only", NULL},
    {"four steps, one row", last_16_only, true, N, "sum of the last 16 elements only", NULL},
    {"four steps, exclusive", last_16_only, false, ROW, "distance of 16 and more", NULL},
    {"own value", own_value_in_every_step, true, ROW,
     "`out[0]`, where nothing stands before, is 32", NULL},
    {"own value, one row", own_value_in_every_step, true, N, "is 32 times `in[0]`", NULL},
    {"two rows in one", second_row_runs_on, true, ROW, "from index 32 on they hold rows before",
     NULL},
    {"one scan of all", all_rows_run_on, true, ROW, "every 32 elements they should start again",
     NULL},
    {"root kept", root_kept, false, ROW, "sum of all elements of its row: likely the root", NULL},
    {"root kept, one row", root_kept, false, N, "sum of all elements: likely the root", NULL},
    {"off by seven", off_by_seven_from_the_second_row, true, ROW, NULL, "run on"},
    {"first of rows", first_of_rows_wrong, true, ROW, NULL, "own value"},
};

static void rows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        const struct row *r = &ROWS[k];
        int32_t in[N], right[N];
        for (unsigned i = 0; i < N; i++) {
            in[i] = (int32_t)(i * 7919 % 101) + 1;
            int32_t before = i % r->row == 0 ? 0 : right[i - 1];
            right[i] = r->inclusive ? before + in[i] : i % r->row == 0 ? 0 : before + in[i - 1];
        }
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, N);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, N);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 1);
        struct answer a = {fake_payload(&f, 1), right, in, N, r->row};
        r->fault(&a);
        assert_false(fake_judge(&f)->ok);
        if (r->says)
            assert_says(r->name, f.result.diagnosis, r->says);
        else if (f.result.diagnosis && strstr(f.result.diagnosis, r->never))
            fail_msg("%s: %s", r->name, f.result.diagnosis);
        fake_release(&f);
    }
}

/* The length of a row is a parameter of the call. */
static void rows_of_a_parameter(void **state)
{
    (void)state;
    int32_t in[60], right[60];
    uint64_t scalars[FAKE_PARAMS_MAX] = {0};
    for (unsigned i = 0; i < 60; i++) {
        in[i] = (int32_t)i + 1;
        right[i] = in[i] + (i % 20 ? right[i - 1] : 0);
    }
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, 60);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, 60);
    unsigned length = f.problem.param_count++;
    f.params[length] =
        (struct problem_param){.name = "length", .kind = PARAM_SCALAR, .type = WIRE_int32};
    f.request.params[f.request.param_count++] = (struct wire_param){.kind = WIRE_PARAM_SCALAR};
    scalars[length] = 20;
    f.data.scalars = scalars;
    fake_check(&f, 1, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    fake_answer(&f, 1);
    int32_t *got = fake_payload(&f, 1);
    for (unsigned i = 20; i < 60; i++)
        got[i] = got[i - 1] + in[i];
    assert_false(fake_judge(&f)->ok);
    assert_says("rows of 20", f.result.diagnosis, "every 20 elements they should start again");
    fake_release(&f);
}

/* Sums of 64 bits over items of 32: one that wrapped on the way, and an item without its sign. */
static void low_halves_right(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    int32_t in[COUNT];
    int64_t right[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        in[i] = i % 7 == 6 ? -5 : 2000000000 + (int32_t)i;
        right[i] = (i ? right[i - 1] : 0) + in[i];
    }
    for (int fault = 0; fault < 3; fault++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, COUNT);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int64, right, COUNT);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 1);
        int64_t *got = fake_payload(&f, 1);
        for (unsigned i = 0; i < COUNT; i++)
            got[i] = fault == 0   ? (int32_t)(uint32_t)right[i]
                     : fault == 1 ? (i ? got[i - 1] : 0) + (int64_t)(uint32_t)in[i]
                                  : right[i] + (i > 30 ? 1ll << 31 : 0);
        assert_false(fake_judge(&f)->ok);
        if (fault < 2)
            assert_says("wide sums", f.result.diagnosis,
                        "the low 32 bits of every value are right");
        else if (f.result.diagnosis && strstr(f.result.diagnosis, "low 32 bits"))
            fail_msg("2^31: %s", f.result.diagnosis);
        fake_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(rows_of_a_parameter),
        cmocka_unit_test(low_halves_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
