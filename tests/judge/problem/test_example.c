/* Examples of statements: what is read, what is refused with its line, and what differs. */
#include "judge/problem/example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static struct problem problem;

static const char SPEC[] =
    "format: 1\ntitle: T\ndifficulty: easy\nentry: f\nvariables: {n: {min: 0}}\n"
    "parameters:\n"
    "  - {name: in, type: float32*, role: input, shape: [n]}\n"
    "  - {name: out, type: float32*, role: output, shape: [n]}\n"
    "  - {name: count, type: int32*, role: output, shape: [1]}\n"
    "check: {out: prefix(count), count: exact}\noracle: compact_positive\n"
    "cases: [{name: a, n: 0}]\n";

static int start(void **state)
{
    (void)state;
    struct err e;
    arena_init(&arena);
    return problem_parse("problems/x/problem.yaml", SPEC, strlen(SPEC), &arena, &problem, &e);
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static int read_text(const char *text, struct problem_case **cases, unsigned *count, struct err *e)
{
    return examples_read(&problem, "problems/x/statement.md", text, &arena, cases, count, e);
}

#define GOOD "n = 3\nin = -1 inf\n  0.5 # the last\nout = inf 0.5 …\ncount = 2\n"

static void an_example_is_a_case_with_answers(void **state)
{
    (void)state;
    struct problem_case *c;
    struct case_data data;
    unsigned count;
    struct err e;
    if (read_text("# Title\n\n```cuda\nn = x\n```\n\n```example\n" GOOD "```\n", &c, &count, &e) !=
        0)
        fail_msg("%s", e.text);
    assert_int_equal(count, 1);
    assert_string_equal(c[0].name, "example 1 of statement.md");
    assert_int_equal(c[0].source_line, 7);
    assert_int_equal(problem_case_sizes(&problem, &c[0], 1, &arena, &data, &e), 0);
    float in[3], out[3];
    int kept = 0;
    data.buffers[0].input = in;
    data.buffers[1].expected = out;
    data.buffers[2].expected = &kept;
    problem_case_fill(&data);
    problem_case_answers(&data);
    assert_true(in[0] == -1 && in[1] > 1e38f && in[2] == 0.5f);
    assert_true(out[0] > 1e38f && out[1] == 0.5f && kept == 2);
}

static const struct refused {
    const char *body, *says;
} REFUSED[] = {
    {"n = 1\n", ":1: the example does not say 'in'"},
    {"n = 1\nn = 1\n", ":3: 'n' a second time (first in line 2)"},
    {"m = 1\n", ":2: an example names 'm'"},
    {"1 2 3\n", ":2: an example begins with a name"},
    {"n = x\nin = 1\nout = 1\ncount = 1\n", ":2: n: one whole number"},
    {"n = -1\nin = 1\nout = 1\ncount = 1\n", ":2: n: one whole number"},
    {"n = 2\nin = 1\nout = 1 …\ncount = 1\n", ":3: in: 1 values, and it has 2 elements"},
    {"n = 1\nin = x\nout = 1\ncount = 1\n", ":3: in: found 'x'; allowed: a number"},
    {"n = 1\nin = …\nout = 1\ncount = 1\n", ":3: in: '…' may only end an output"},
    {"n = 2\nin = 1 2\nout = … 1\ncount = 1\n", ":4: nothing may follow '…'"},
    {"n = 2\nin = 1 2\nout = 1 2\ncount = …\n", ":5: count: '…' may only end"},
};

static void what_is_wrong_is_said_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        struct problem_case *c;
        unsigned count;
        struct err e;
        const char *text = arena_printf(&arena, "```example\n%s```\n", REFUSED[i].body);
        if (read_text(text, &c, &count, &e) == 0)
            fail_msg("taken: %s", text);
        if (!strstr(e.text, REFUSED[i].says) ||
            strncmp(e.text, "problems/x/statement.md:", 24) != 0)
            fail_msg("'%s' instead of '%s'", e.text, REFUSED[i].says);
    }
    struct problem_case *c;
    unsigned count;
    struct err e;
    assert_int_equal(read_text("text\n```example\nn = 1\n", &c, &count, &e), -1);
    assert_non_null(strstr(e.text, ":2: a block that begins here has no end"));
}

static void lists_of_examples_are_compared(void **state)
{
    (void)state;
    static const char OTHER[] = "n = 1\nin = 2\nout = 2\ncount = 1\n";
    struct problem_case *a, *b, *c;
    unsigned n_a, n_b, n_c;
    struct err e;
    const char *both = arena_printf(&arena, "```example\n" GOOD "```\n```example\n%s```\n", OTHER);
    assert_int_equal(read_text(both, &a, &n_a, &e), 0);
    assert_int_equal(read_text("```example\n" GOOD "```\n", &b, &n_b, &e), 0);
    assert_int_equal(
        read_text("```example\nn = 1\nin = 2\nout = 3\ncount = 1\n```\n", &c, &n_c, &e), 0);
    assert_int_equal(examples_differ(&problem, a, n_a, a, n_a), 0);
    assert_int_equal(examples_differ(&problem, a, n_a, b, n_b), 2);
    assert_int_equal(examples_differ(&problem, b, n_b, c, n_c), 1);
    assert_int_equal(examples_differ(&problem, a + 1, 1, c, n_c), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_example_is_a_case_with_answers),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(lists_of_examples_are_compared),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
