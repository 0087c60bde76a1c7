/* Each diagnosis: a fault as a function on the right answer, and words that it must bring up. A
 * fault may not be explained as another one, so the rows also hold look-alikes. */
#include "fake.h"

#include <math.h>

/* ---- exclusive scans of int32 ---- */

typedef void fault_function(int32_t *got, const int32_t *right, const int32_t *in, unsigned n);

static void inclusive(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        got[i] = right[i] + in[i];
}

static void carry_lost_once(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 1024; i < n; i++)
        got[i] = right[i] - right[1024];
}

static void tiles_alone(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 0; i < n; i++)
        got[i] = right[i] - right[i / 256 * 256];
}

static void warps_alone(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 0; i < n; i++)
        got[i] = right[i] - right[i / 32 * 32];
}

static void offset_one_tile_old(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 256; i < n; i++)
        got[i] = right[i] - (right[i / 256 * 256] - right[(i / 256 - 1) * 256]);
}

static void tile_sums_inclusive(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned end = (i / 256 + 1) * 256;
        int32_t after = end < n ? right[end] : right[n - 1] + in[n - 1];
        got[i] = right[i] + after - right[i / 256 * 256];
    }
}

static void part_of_carry_lost(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 512; i < n; i++)
        got[i] = right[i] - 11;
}

static void element_left_out(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    for (unsigned i = 778; i < n; i++)
        got[i] = right[i] - in[777];
}

static void last_tile(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)right;
    (void)in;
    for (unsigned i = n / 256 * 256; i < n; i++)
        got[i] = (int32_t)(i * 77777 % 1000);
}

static void last_only(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)right;
    (void)in;
    got[n - 1] = -123456;
}

static void zeros(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)right;
    (void)in;
    memset(got, 0, n * sizeof *got);
}

static void copied(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)right;
    memcpy(got, in, n * sizeof *got);
}

static void total_first(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    got[0] = right[n - 1] + in[n - 1];
}

static void doubled(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 0; i < n; i++)
        got[i] = 2 * right[i];
}

static void late(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 2; i < n; i++)
        got[i] = right[i - 1];
    got[1] = right[0];
    got[0] = 99;
}

static void past_1024(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)right;
    (void)in;
    for (unsigned i = 1024; i < n; i++)
        got[i] = (int32_t)(i * 12345 % 100000);
}

static void every_32nd(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 31; i < n; i += 32)
        got[i] = right[i] * 3 + 5 + (int32_t)(i * i);
}

static void one_tile(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    (void)n;
    for (unsigned i = 520; i < 533; i += 3)
        got[i] = right[i] + (int32_t)(i * i) + 1;
}

static void bytes_only(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 0; i < n; i++)
        got[i] = right[i] & 0xff;
}

static void noise(int32_t *got, const int32_t *right, const int32_t *in, unsigned n)
{
    (void)in;
    for (unsigned i = 3; i < n; i += 5)
        got[i] = right[i] + (int32_t)(i * 2654435761u >> 20);
}

static const struct scan_row {
    const char *name;
    fault_function *fault;
    unsigned n;
    const char *says;
} SCANS[] = {
    {"inclusive", inclusive, 2000, "inclusive for exclusive"},
    {"carry lost at the last element", carry_lost_once, 1025,
     "block carry lost: wrong from index 1024"},
    {"carry lost", carry_lost_once, 2000, "every wrong value is short by the same amount"},
    {"tiles alone", tiles_alone, 1000, "each tile of 256 elements starts again from 0"},
    {"warps alone", warps_alone, 1000, "warp carry lost: each tile of 32"},
    {"offset one tile old", offset_one_tile_old, 1200, "lacks the sum of the tile just before"},
    {"inclusive tile sums", tile_sums_inclusive, 1200, "scanned inclusively"},
    {"part of the carry", part_of_carry_lost, 700, "block carry lost: wrong from index 512"},
    {"element left out", element_left_out, 1000, "in[777]: that element was left out"},
    {"last tile", last_tile, 1000, "768 = 3 * 256"},
    {"last element", last_only, 1000, "only the last element"},
    {"zeros", zeros, 100, "every element of `out` is 0"},
    {"input copied", copied, 100, "plain copy of `in`"},
    {"total in front", total_first, 500, "out[0] holds the total"},
    {"doubled", doubled, 500, "2 times the right one"},
    {"one place late", late, 500, NULL},
    {"past 1024", past_1024, 3000,
     "right up to index 1024 = 2^10, which is where two levels of 32"},
    {"every 32nd", every_32nd, 1000, "index % 32 == 31"},
    {"one tile", one_tile, 1000, "every wrong element lies in one tile of 32: indices 520 to 532"},
    {"bytes", bytes_only, 1000, "modulo 2^8"},
    {"noise", noise, 1000, NULL},
};

static void scans(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof SCANS / sizeof SCANS[0]; row++) {
        const struct scan_row *r = &SCANS[row];
        int32_t *in = calloc(r->n, sizeof *in), *right = calloc(r->n, sizeof *right);
        for (unsigned i = 0; i < r->n; i++) {
            in[i] = (int32_t)(i * 7919 % 13) + 1;
            right[i] = i ? right[i - 1] + in[i - 1] : 0;
        }
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, r->n);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, r->n);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 1);
        r->fault(fake_payload(&f, 1), right, in, r->n);
        assert_false(fake_judge(&f)->ok);
        if (r->says)
            assert_says(r->name, f.result.diagnosis, r->says);
        else if (f.result.diagnosis && strstr(f.result.diagnosis, "carry"))
            fail_msg("%s: %s", r->name, f.result.diagnosis);
        fake_release(&f);
        free(in);
        free(right);
    }
}

static void unwritten_parts(void **state)
{
    (void)state;
    enum { N = 1500 };
    static int32_t in[N], right[N];
    for (unsigned i = 0; i < N; i++) {
        in[i] = (int32_t)(i % 5) + 1;
        right[i] = i ? right[i - 1] + in[i - 1] : 0;
    }
    for (int k = 0; k < 2; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, N);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, N);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        int32_t *got = fake_payload(&f, 1);
        for (unsigned i = 0; i < N; i++)
            if (k == 0 ? i < 1024 : i % 4 != 3)
                got[i] = right[i];
        assert_false(fake_judge(&f)->ok);
        assert_says("unwritten", f.result.diagnosis,
                    k == 0 ? "from there to the end (476 elements) nothing was written"
                           : "375 of 1500 elements were never written");
        fake_release(&f);
    }
}

static void sums_of_2_to_the_30(void **state)
{
    (void)state;
    enum { N = 400 };
    static int32_t in[N], right[N];
    for (unsigned i = 0; i < N; i++) {
        in[i] = 10000000;
        right[i] = (int32_t)(i * 10000000u);
    }
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, N);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, N);
    fake_check(&f, 1, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    int32_t *got = fake_payload(&f, 1);
    for (unsigned i = 0; i < N; i++)
        got[i] = right[i] & 0x3fffffff;
    assert_false(fake_judge(&f)->ok);
    assert_says("packed flag", f.result.diagnosis, "2^30");
    fake_release(&f);
}

static void float_scans(void **state)
{
    (void)state;
    enum { N = 600 };
    static float in[N], right[N];
    for (unsigned i = 0; i < N; i++) {
        in[i] = (float)(i % 9);
        right[i] = (i ? right[i - 1] : 0.0f) + in[i]; /* inclusive */
    }
    const char *const says[] = {"exclusive for inclusive", "2 elements are NaN",
                                "block carry lost"};
    for (int k = 0; k < 3; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_float32, in, N);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_float32, right, N);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 1);
        float *got = fake_payload(&f, 1);
        for (unsigned i = 0; i < N; i++)
            got[i] -= k == 0 ? in[i] : k == 2 && i >= 256 ? right[255] : 0.0f;
        if (k == 1)
            got[10] = got[400] = NAN;
        assert_false(fake_judge(&f)->ok);
        assert_says("floats", f.result.diagnosis, says[k]);
        fake_release(&f);
    }
}

/* ---- compaction ---- */

enum { KEEP_N = 500 };

static void compaction(struct fake *f, bool last_kept)
{
    static float in[KEEP_N], right[KEEP_N];
    int32_t count = 0;
    for (unsigned i = 0; i < KEEP_N; i++) {
        in[i] = i % 3 ? (float)i + 0.5f : -1.0f;
        if (i == KEEP_N - 1)
            in[i] = last_kept ? 999.0f : -1.0f;
        if (in[i] > 0)
            right[count++] = in[i];
    }
    fake_init(f);
    fake_buffer(f, "in", WIRE_INPUT, WIRE_float32, in, KEEP_N);
    fake_buffer(f, "out", WIRE_OUTPUT, WIRE_float32, right, KEEP_N);
    fake_buffer(f, "count", WIRE_OUTPUT, WIRE_int32, &count, 1);
    fake_check(f, 1, COMPARE_prefix, 2, -1);
    fake_check(f, 2, COMPARE_exact, -1, -1);
    fake_untouched(f);
    memcpy(fake_payload(f, 1), right, (size_t)count * sizeof right[0]);
    fake_answer(f, 2);
}

static void compactions(void **state)
{
    (void)state;
    struct fake f;
    compaction(&f, true);
    assert_true(fake_judge(&f)->ok);
    int32_t *count = fake_payload(&f, 2), kept = *count;
    *count = kept - 1;
    fake_judge(&f);
    assert_says("one short", f.result.diagnosis, "the last input element is one that is kept");
    *count = KEEP_N;
    fake_judge(&f);
    assert_says("all", f.result.diagnosis, "number of all elements");
    *count = 2 * kept;
    fake_judge(&f);
    assert_says("twice", f.result.diagnosis, "twice");
    *count = 0;
    fake_judge(&f);
    assert_says("zero", f.result.diagnosis, "the count is 0");
    *count = kept;
    float *out = fake_payload(&f, 1), swap = out[10];
    out[10] = out[90];
    out[90] = swap;
    fake_judge(&f);
    assert_says("order", f.result.diagnosis, "right set in wrong order");
    out[10] = -5;
    out[90] = -6;
    out[201] = -7;
    fake_judge(&f);
    assert_says("data", f.result.diagnosis, "the count is right (333)");
    fake_release(&f);
    compaction(&f, false);
    *(int32_t *)fake_payload(&f, 2) -= 1;
    fake_judge(&f);
    assert_string_equal(f.result.diagnosis, "the count is one short");
    fake_release(&f);
}

/* ---- counts and offsets ---- */

enum { IDS = 3000, EXPERTS = 1100 };

static void experts(struct fake *f, bool some_outside, int32_t *ids)
{
    static int32_t counts[EXPERTS], offsets[EXPERTS];
    memset(counts, 0, sizeof counts);
    for (unsigned i = 0; i < IDS; i++) {
        ids[i] = (int32_t)(i * 7919 % EXPERTS);
        if (some_outside && i % 10 == 0)
            ids[i] = i % 20 ? -1 : EXPERTS;
        if (ids[i] >= 0 && ids[i] < EXPERTS)
            counts[ids[i]]++;
    }
    for (unsigned e = 0; e < EXPERTS; e++)
        offsets[e] = e ? offsets[e - 1] + counts[e - 1] : 0;
    fake_init(f);
    fake_buffer(f, "topk_ids", WIRE_INPUT, WIRE_int32, ids, IDS);
    fake_buffer(f, "counts", WIRE_OUTPUT, WIRE_int32, counts, EXPERTS);
    fake_buffer(f, "offsets", WIRE_OUTPUT, WIRE_int32, offsets, EXPERTS);
    fake_check(f, 1, COMPARE_exact, -1, -1);
    fake_check(f, 2, COMPARE_exact, -1, -1);
    fake_untouched(f);
    fake_answer(f, 1);
    fake_answer(f, 2);
}

static void counts_and_offsets(void **state)
{
    (void)state;
    static int32_t ids[IDS];
    struct fake f;
    experts(&f, false, ids);
    assert_true(fake_judge(&f)->ok);
    int32_t *counts = fake_payload(&f, 1), *offsets = fake_payload(&f, 2);
    for (unsigned e = 0; e < EXPERTS; e++)
        offsets[e] += counts[e];
    fake_judge(&f);
    assert_says("inclusive", f.result.diagnosis, "every offsets[i] includes counts[i] itself");
    fake_answer(&f, 2);
    offsets[500] += 7;
    offsets[700] -= 3;
    offsets[31] += 1000;
    fake_judge(&f);
    assert_says("scan", f.result.diagnosis, "`counts` is right and `offsets`");
    fake_answer(&f, 2);
    for (unsigned i = 1024; i < IDS; i++) /* one block of 1024 threads counted */
        counts[ids[i]]--;
    fake_judge(&f);
    assert_says("part", f.result.diagnosis, "only the first 1024 (a multiple of 1024) of 3000");
    fake_answer(&f, 1);
    counts[3]--;
    counts[800]--;
    counts[200]--;
    fake_judge(&f);
    assert_says("lost", f.result.diagnosis, "3 of 3000 elements are missing from the counts");
    fake_release(&f);
    experts(&f, true, ids);
    counts = fake_payload(&f, 1);
    counts[0] += 150;
    fake_judge(&f);
    assert_says("outside", f.result.diagnosis, "300 values outside of [0, 1100)");
    fake_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans),
        cmocka_unit_test(unwritten_parts),
        cmocka_unit_test(sums_of_2_to_the_30),
        cmocka_unit_test(float_scans),
        cmocka_unit_test(compactions),
        cmocka_unit_test(counts_and_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
