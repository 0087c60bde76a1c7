/* Cost limits: what is compared with what, and what is said. */
#include "judge/costs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char SPEC[] =
    "format: 1\n"
    "title: {en: A scan}\n"
    "difficulty: easy\n"
    "entry: exclusive_scan\n"
    "variables:\n"
    "  n: {type: int32, min: 0}\n"
    "parameters:\n"
    "  - {name: in, type: int32*, role: input, shape: [n]}\n"
    "  - {name: out, type: int32*, role: output, shape: [n]}\n"
    "  - {name: n, type: int32, value: n}\n"
    "  - {name: stream, type: stream}\n"
    "check: {out: exact}\n"
    "oracle: exclusive_scan\n"
    "cases:\n"
    "  - {name: small, n: 10, in: uniform(-9, 9)}\n"
    "  - {name: large, n: 1000, in: uniform(-9, 9)}\n"
    "cost:\n"
    "  - {case: large, counter: global_bytes_per_item, max: 8.1, why: one pass is enough}\n"
    "  - {case: large, counter: additions, max: \"2 * n + 10\", why: a tree makes 2n}\n"
    "  - {case: small, counter: kernel_launches, max: 1, why: it fits into one block}\n";

struct fixture {
    struct arena arena;
    struct problem problem;
    struct case_data data[2];
    struct wire_counters counters;
};

static void open_spec(struct fixture *f)
{
    struct err e;
    *f = (struct fixture){0};
    arena_init(&f->arena);
    if (problem_parse("spec", SPEC, sizeof SPEC - 1, &f->arena, &f->problem, &e) != 0)
        fail_msg("%s", e.text);
    for (int i = 0; i < 2; i++)
        if (problem_case_sizes(&f->problem, &f->problem.cases[i], 1, &f->arena, &f->data[i], &e) !=
            0)
            fail_msg("%s", e.text);
}

static void kept_limits_say_nothing(void **state)
{
    (void)state;
    struct fixture f;
    open_spec(&f);
    assert_true(costs_apply(&f.problem, "large"));
    assert_true(costs_apply(&f.problem, "small"));
    assert_false(costs_apply(&f.problem, "larger"));
    assert_int_equal(costs_checks(&f.problem, "large"), 0); /* counted anyway */
    f.problem.costs[0].counter = "global_sectors_per_request";
    assert_int_equal(costs_checks(&f.problem, "large"), WIRE_CHECK_COUNTERS);
    f.problem.costs[0].counter = "global_bytes_per_item";
    f.counters.value[COUNTER_global_bytes_read] = 4000;
    f.counters.value[COUNTER_global_bytes_written] = 4100; /* 8.1 per element: just allowed */
    f.counters.value[COUNTER_additions] = 2010;
    f.counters.value[COUNTER_kernel_launches] = 3; /* no limit in this case */
    assert_null(costs_exceeded(&f.data[1], &f.counters, &f.arena));
    arena_release(&f.arena);
}

static void each_exceeded_limit_has_a_sentence(void **state)
{
    (void)state;
    struct fixture f;
    open_spec(&f);
    f.counters.value[COUNTER_global_bytes_read] = 8000;
    f.counters.value[COUNTER_global_bytes_written] = 8000;
    f.counters.value[COUNTER_additions] = 2011;
    f.counters.value[COUNTER_kernel_launches] = 2;
    assert_string_equal(costs_exceeded(&f.data[1], &f.counters, &f.arena),
                        "reads and writes 16 bytes of global memory per element; at most 8.1 are "
                        "allowed: one pass is enough\n"
                        "makes 2011 additions of data; at most 2010 are allowed: a tree makes 2n");
    assert_string_equal(costs_exceeded(&f.data[0], &f.counters, &f.arena),
                        "launches 2 kernels; at most 1 is allowed: it fits into one block");
    arena_release(&f.arena);
}

/* Rounding must not make it look as if the limit were kept. */
static void a_value_just_above_looks_above(void **state)
{
    (void)state;
    struct fixture f;
    open_spec(&f);
    f.problem.costs[0].max = 8.0001;
    f.counters.value[COUNTER_global_bytes_read] = 8001;
    const char *sentence = costs_exceeded(&f.data[1], &f.counters, &f.arena);
    assert_non_null(sentence);
    assert_non_null(strstr(sentence, "writes 8.001 bytes"));
    f.problem.costs[0].max = 8.00099;
    sentence = costs_exceeded(&f.data[1], &f.counters, &f.arena);
    assert_non_null(sentence);
    assert_non_null(strstr(sentence, "writes 8.001 bytes"));
    assert_non_null(strstr(sentence, "at most 8.00099 are"));
    arena_release(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_limits_say_nothing),
        cmocka_unit_test(each_exceeded_limit_has_a_sentence),
        cmocka_unit_test(a_value_just_above_looks_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
