/* Trivial answers must fail on every problem there is, and pass on one whose check cannot fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/trivial.h"

#include <string.h>

static void no_trivial_answer_passes(void **state)
{
    (void)state;
    struct arena arena;
    struct err e;
    const char **ids;
    arena_init(&arena);
    assert_int_equal(problem_list(SOURCE_ROOT, &arena, &ids, &e), 0);
    assert_non_null(ids[0]);
    for (size_t i = 0; ids[i]; i++) {
        struct problem p;
        if (problem_load(SOURCE_ROOT, ids[i], &arena, &p, &e) != 0)
            fail_msg("%s", e.text);
        struct answers answers;
        answers_init(&answers, &p);
        if (p.oracle && answers_by_oracle(&answers, &p, 3, &e) != 0)
            fail_msg("%s", e.text);
        for (int t = 0; p.oracle && t < TRIVIAL_COUNT; t++) {
            struct trivial_tally tally;
            trivial_try(&p, &answers, (enum trivial)t, 3, NULL, &tally);
            if (tally.cases < 10 || 2 * tally.passed > tally.cases)
                fail_msg("%s: %s passes in %u of %u cases", ids[i],
                         trivial_for_people((enum trivial)t), tally.passed, tally.cases);
        }
        answers_release(&answers);
    }
    arena_release(&arena);
}

/* All inputs zero: zeros and copies are right, and the tally has to say so. */
static void a_problem_that_cannot_fail_is_seen(void **state)
{
    (void)state;
    static const char SPEC[] =
        "format: 1\n"
        "title: {en: Scan}\n"
        "difficulty: easy\n"
        "entry: scan\n"
        "variables: {n: {type: int32, min: 0}}\n"
        "parameters:\n"
        "  - {name: in, type: int32*, role: input, shape: [n]}\n"
        "  - {name: out, type: int32*, role: output, shape: [n]}\n"
        "  - {name: n, type: int32, value: n}\n"
        "check: {out: exact}\n"
        "oracle: exclusive_scan\n"
        "cases:\n"
        "  - {name: \"n={n}\", n: [40, 41], in: constant(0)}\n"
        "limits: {time: 1 s, memory: 1 GiB, compile_time: 60 s, output: 1 MiB}\n";
    struct arena arena;
    struct problem p;
    struct trivial_tally tally;
    struct err e;
    arena_init(&arena);
    if (problem_parse("spec.yaml", SPEC, strlen(SPEC), &arena, &p, &e) != 0)
        fail_msg("%s", e.text);
    struct answers answers;
    answers_init(&answers, &p);
    if (answers_by_oracle(&answers, &p, 1, &e) != 0)
        fail_msg("%s", e.text);
    trivial_try(&p, &answers, TRIVIAL_zeros, 1, NULL, &tally);
    assert_int_equal(tally.passed, 2);
    assert_int_equal(tally.larger_passed, 2);
    trivial_try(&p, &answers, TRIVIAL_input, 1, NULL, &tally);
    assert_int_equal(tally.passed, 2);
    trivial_try(&p, &answers, TRIVIAL_untouched, 1, NULL, &tally);
    assert_int_equal(tally.passed, 0);
    trivial_try(&p, &answers, TRIVIAL_nan, 1, NULL, &tally);
    assert_int_equal(tally.passed, 0);
    /* The first case has none before it; in the second one the first's sums are right, as far as
     * they go: one element is missing. */
    trivial_try(&p, &answers, TRIVIAL_previous, 1, NULL, &tally);
    assert_int_equal(tally.passed, 0);
    answers_release(&answers);
    arena_release(&arena);
}

/* Two cases of one size that ask for the same: what the first should have written passes. */
static void an_answer_of_an_earlier_case_is_seen(void **state)
{
    (void)state;
    static const char SPEC[] = "format: 1\n"
                               "title: {en: Scan}\n"
                               "difficulty: easy\n"
                               "entry: scan\n"
                               "variables: {n: {type: int32, min: 0}}\n"
                               "parameters:\n"
                               "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                               "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                               "check: {out: exact}\n"
                               "oracle: exclusive_scan\n"
                               "cases:\n"
                               "  - {name: a, n: 40, in: constant(1)}\n"
                               "  - {name: b, n: 3, in: constant(9)}\n"
                               "  - {name: c, n: 40, in: constant(1)}\n"
                               "  - {name: d, n: 40, in: constant(2)}\n";
    struct arena arena;
    struct problem p;
    struct answers answers;
    struct trivial_tally tally;
    struct err e;
    arena_init(&arena);
    if (problem_parse("spec.yaml", SPEC, strlen(SPEC), &arena, &p, &e) != 0)
        fail_msg("%s", e.text);
    answers_init(&answers, &p);
    assert_int_equal(answers_by_oracle(&answers, &p, 1, &e), 0);
    trivial_try(&p, &answers, TRIVIAL_previous, 1, NULL, &tally);
    assert_int_equal(tally.cases, 4);
    assert_int_equal(tally.passed, 1);
    assert_string_equal(tally.example, "c");
    answers_release(&answers);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_trivial_answer_passes),
        cmocka_unit_test(a_problem_that_cannot_fail_is_seen),
        cmocka_unit_test(an_answer_of_an_earlier_case_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
