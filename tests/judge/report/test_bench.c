/* The record of a bench: table, JSON and back, two side by side, a script for gnuplot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "judge/report/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;

enum { SIZES = 2, ENTRANTS = 4 };

static struct bench_size sizes[SIZES] = {
    {.name = "n=65536", .n = 65536, .bytes = 524288},
    {.name = "n=1048576", .n = 1048576, .bytes = 8388608},
};

static void make(struct bench *b, struct bench_entrant entrants[ENTRANTS],
                 struct bench_point points[ENTRANTS][SIZES])
{
    static const char *const NAMES[][2] = {{"copy", "copy"},
                                           {"look_back.cu", "reference"},
                                           {"a.cu", "submission"},
                                           {"b\"`$.cu", "submission"}};
    for (unsigned i = 0; i < ENTRANTS; i++) {
        entrants[i] = (struct bench_entrant){NAMES[i][0], NAMES[i][1], NULL, points[i]};
        for (unsigned k = 0; k < SIZES; k++)
            points[i][k] = (struct bench_point){.known = true,
                                                .ms = 0.01 * (ENTRANTS - i) * (k + 1),
                                                .gb_per_s = 100.0 * (i + 1),
                                                .of_copy = 0.5,
                                                .ratio = 2,
                                                .ratio_low = 1.9,
                                                .ratio_high = 2.1,
                                                .flags = ""};
    }
    *b = (struct bench){.problem = "multi-block-scan",
                        .card = "NVIDIA H200",
                        .driver = "580.1",
                        .seed = 7,
                        .entrants = entrants,
                        .entrant_count = ENTRANTS,
                        .sizes = sizes,
                        .size_count = SIZES};
}

static void table(void **state)
{
    (void)state;
    struct bench b;
    struct bench_entrant entrants[ENTRANTS];
    struct bench_point points[ENTRANTS][SIZES];
    struct text out;
    text_init(&out);
    make(&b, entrants, points);
    points[2][0].too_noisy = true;
    points[1][1].flags = "timer_mismatch";
    entrants[3].failed = "wrong at n=65536: out[1] is 0, expected 1";
    points[0][1].known = false;
    report_bench_text(&b, &out);
    const char *s = text_str(&out);
    assert_non_null(strstr(s, "bench: multi-block-scan on NVIDIA H200, driver 580.1, seed 7"));
    assert_non_null(strstr(s, "n=65536, 524288 bytes"));
    assert_non_null(strstr(s, "too noisy to tell"));
    assert_non_null(strstr(s, "2.000 (1.900 to 2.100)  in doubt: timer_mismatch"));
    assert_non_null(strstr(s, "not timed: b\"`$.cu: wrong at n=65536"));
    /* The fastest first. */
    assert_true(strstr(s, "a.cu ") < strstr(s, "look_back.cu "));
    assert_true(strstr(s, "look_back.cu ") < strstr(s, "  copy        "));
    /* What is not known is not told. */
    assert_null(strstr(strstr(s, "n=1048576"), "  copy        "));
    text_release(&out);
}

static void json_and_back(void **state)
{
    (void)state;
    struct bench b, again;
    struct bench_entrant entrants[ENTRANTS];
    struct bench_point points[ENTRANTS][SIZES];
    struct text out;
    struct err e;
    text_init(&out);
    make(&b, entrants, points);
    points[1][0].ratio_high = INFINITY;
    points[2][1].known = false;
    entrants[3].failed = "it does not compile";
    report_bench_json(&b, &out);
    assert_int_equal(report_bench_read("a.json", text_str(&out), &arena, &again, &e), 0);
    assert_int_equal(again.entrant_count, ENTRANTS);
    assert_int_equal(again.size_count, SIZES);
    assert_string_equal(again.card, "NVIDIA H200");
    assert_string_equal(again.sizes[1].name, "n=1048576");
    assert_string_equal(again.entrants[1].label, "look_back.cu");
    /* A file may have any name. */
    entrants[3].label = "\xff.cu";
    text_clear(&out);
    report_bench_json(&b, &out);
    assert_int_equal(report_bench_read("a.json", text_str(&out), &arena, &again, &e), 0);
    assert_string_equal(again.entrants[3].label, "\xef\xbf\xbd.cu");
    assert_true(again.entrants[1].points[1].ms == points[1][1].ms);
    assert_true(again.entrants[1].points[1].ratio_low == 1.9);
    assert_false(again.entrants[2].points[1].known);
    assert_string_equal(again.entrants[3].failed, "it does not compile");
    text_release(&out);
}

static void refuses_other_files(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {{"", "x.json:"},
                                          {"{", "x.json:1"},
                                          {"[]", "x.json is not what"},
                                          {"{\"problem\": \"p\", \"cases\": []}", "it has no"},
                                          {"{\"bench\": \"p\", \"sizes\": 3}", "it has no"}};
    struct bench b;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct err e = {""};
        assert_int_equal(report_bench_read("x.json", ROWS[i][0], &arena, &b, &e), -1);
        if (!strstr(e.text, ROWS[i][1]))
            fail_msg("%s: %s", ROWS[i][0], e.text);
    }
    struct err e;
    static const char ODD[] = "{\"bench\": \"p\", \"sizes\": [1, {\"name\": \"s\"}], \"entrants\": "
                              "[2, {\"label\": 5, \"sizes\": {\"s\": {\"ms\": \"x\"}}}]}";
    assert_int_equal(report_bench_read("x.json", ODD, &arena, &b, &e), 0);
    assert_int_equal(b.entrant_count, 2);
}

static void two_side_by_side(void **state)
{
    (void)state;
    struct bench before, after;
    struct bench_entrant entrants[2][ENTRANTS];
    struct bench_point points[2][ENTRANTS][SIZES];
    struct text out;
    text_init(&out);
    make(&before, entrants[0], points[0]);
    make(&after, entrants[1], points[1]);
    points[1][2][0].ms = points[0][2][0].ms / 2;
    points[1][2][0].ratio = 1;
    points[1][2][0].ratio_low = 0.95;
    points[1][2][0].ratio_high = 1.05;
    points[1][2][1].ratio_low = 2.2;
    points[1][2][1].ratio_high = 2.4;
    points[1][1][1].too_noisy = true;
    entrants[1][3].label = "new.cu";
    report_bench_compare(&before, &after, &out);
    const char *s = text_str(&out);
    const char *fast = strstr(s, "a.cu"), *slow = strstr(fast + 1, "  a.cu");
    assert_non_null(memmem(fast, strcspn(fast, "\n"), "-50.0%", 6));
    assert_non_null(memmem(fast, strcspn(fast, "\n"), "faster", 6));
    assert_non_null(memmem(slow, strcspn(slow + 2, "\n") + 2, "slower", 6));
    assert_non_null(strstr(s, "the same"));
    assert_non_null(strstr(s, "too noisy to tell"));
    assert_null(strstr(s, "new.cu"));
    after.size_count = 0;
    text_clear(&out);
    report_bench_compare(&before, &after, &out);
    assert_non_null(strstr(text_str(&out), "no entrant and size in common"));
    text_release(&out);
}

static void script(void **state)
{
    (void)state;
    struct bench b;
    struct bench_entrant entrants[ENTRANTS];
    struct bench_point points[ENTRANTS][SIZES];
    struct text out;
    text_init(&out);
    make(&b, entrants, points);
    entrants[2].failed = "x";
    report_bench_plot(&b, "svg", "a \"b.svg", &out);
    const char *s = text_str(&out);
    assert_non_null(strstr(s, "set terminal svg"));
    assert_non_null(strstr(s, "set output \"a ?b.svg\""));
    assert_non_null(strstr(s, "set title \"multi-block-scan on NVIDIA H200\""));
    assert_non_null(strstr(s, "65536 200\n1048576 200\nEND"));
    assert_non_null(strstr(s, "title \"b???.cu\"")); /* nothing that gnuplot would execute */
    assert_null(strstr(s, "a.cu"));
    text_release(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(json_and_back),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(two_side_by_side),
        cmocka_unit_test(script),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
