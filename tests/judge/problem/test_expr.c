/* Expressions: values, precedence, errors with their column, overflow. */
#include "judge/problem/call.h"
#include "judge/problem/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const VARIABLES[] = {"n", "m"};
static const char *const BUFFERS[] = {"in", NULL, "workspace"};
static const struct expr_names NAMES = {VARIABLES, 2, BUFFERS, 3, true};

struct valued {
    const char *text;
    int64_t value; /* for n = 1000, m = -7, in of 4000 bytes, workspace of 256 */
};

static void values_and_precedence(void **state)
{
    (void)state;
    static const struct valued TABLE[] = {
        {"0", 0},
        {"n", 1000},
        {" n + m ", 993},
        {"2 + 3 * 4", 14},
        {"(2 + 3) * 4", 20},
        {"20 - 5 - 3", 12},
        {"100 / 7 / 2", 7},
        {"100 % 7 * 2", 4},
        {"-n + 1", -999},
        {"--n", 1000},
        {"2 * -3", -6},
        {"m / 2", -3},
        {"m % 4", -3},
        {"n == 1000", 1},
        {"n + 1 < 1000", 0},
        {"n != m", 1},
        {"n >= 1000", 1},
        {"n <= 999", 0},
        {"n > m", 1},
        {"4 * (n == 1000) + (m > 0)", 4},
        {"min(n, m)", -7},
        {"max(n, m) + 1", 1001},
        {"ceil_div(n, 256)", 4},
        {"ceil_div(0, 256)", 0},
        {"ceil_div(256, 256)", 1},
        {"align_up(n, 256)", 1024},
        {"align_up(1024, 256)", 1024},
        {"align_up(4 * ceil_div(n, 256) + 1024, 256)", 1280},
        {"bytes(in) + bytes( workspace )", 4256},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"ceil_div(9223372036854775807, 2)", 4611686018427387904},
        {"min(\n n, 3)", 3},
    };
    static const int64_t variables[] = {1000, -7};
    static const uint64_t bytes[] = {4000, 0, 256};
    struct expr_values values = {variables, bytes};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
        struct expr_error error;
        struct expr *x = expr_parse(TABLE[i].text, &NAMES, &arena, &error);
        if (!x)
            fail_msg("'%s': found %s at %zu", TABLE[i].text, error.found, error.offset);
        int64_t v = 0;
        struct err e;
        assert_int_equal(expr_eval(x, &values, &v, &e), 0);
        if (v != TABLE[i].value)
            fail_msg("'%s' is %lld", TABLE[i].text, (long long)v);
        assert_string_equal(expr_text(x), TABLE[i].text);
    }
    arena_release(&arena);
}

static void errors_name_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
        const char *found;
    } TABLE[] = {
        {"", 0, "the end of the expression"},
        {"n +", 3, "the end of the expression"},
        {"n + * 2", 4, "'*'"},
        {"k", 0, "'k'"},
        {"2 * nn", 4, "'nn'"},
        {"n m", 2, "'m'"},
        {"(n", 2, "the end of the expression"},
        {"n)", 1, "')'"},
        {"min(n)", 5, "')'"},
        {"min(n, m, 3)", 8, "','"},
        {"min n", 4, "'n'"},
        {"bytes(n)", 6, "'n'"},
        {"bytes in", 6, "'in'"},
        {"1.5", 1, "'.'"},
        {"0x10", 1, "'x10'"},
        {"12n", 2, "'n'"},
        {"n << 2", 3, "'<'"},
        {"1 < 2 < 3", 6, "'<'"},
        {"9223372036854775808", 0, "'9223372036854775808'"},
        {"n × 2", 2, "'×'"},
        {"n = 2", 2, "'='"},
        {"!n", 0, "'!'"},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
        struct expr_error error = {0};
        if (expr_parse(TABLE[i].text, &NAMES, &arena, &error))
            fail_msg("'%s' was accepted", TABLE[i].text);
        if (error.offset != TABLE[i].offset || strcmp(error.found, TABLE[i].found) != 0)
            fail_msg("'%s': found %s at %zu", TABLE[i].text, error.found, error.offset);
        assert_true(error.allowed[0] != '\0');
    }
    arena_release(&arena);
}

static void nothing_wraps(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } TABLE[] = {
        {"9223372036854775807 + 1", "overflows"},
        {"-9223372036854775807 - 2", "overflows"},
        {"n * 9223372036854775807", "overflows"},
        {"-(-9223372036854775807 - 1)", "overflows"},
        {"(-9223372036854775807 - 1) / -1", "overflows"},
        {"(-9223372036854775807 - 1) % -1", "overflows"},
        {"align_up(9223372036854775807, 2)", "overflows"},
        {"n / (m + 7)", "divides by zero"},
        {"n % (m + 7)", "divides by zero"},
        {"ceil_div(m, 2)", "at least 0"},
        {"ceil_div(n, 0)", "at least 1"},
        {"align_up(n, -4)", "at least 1"},
        {"0 * (1 / 0)", "divides by zero"},
    };
    static const int64_t variables[] = {1000, -7};
    struct expr_values values = {variables, NULL};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
        struct expr_error error;
        struct expr *x = expr_parse(TABLE[i].text, &NAMES, &arena, &error);
        assert_non_null(x);
        int64_t v;
        struct err e = {{0}};
        assert_int_equal(expr_eval(x, &values, &v, &e), -1);
        assert_non_null(strstr(e.text, TABLE[i].part));
        assert_non_null(strstr(e.text, TABLE[i].text));
    }
    arena_release(&arena);
}

static void long_and_deep_ones_are_refused(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct expr_error error;
    char text[4096];
    memset(text, '-', 2000);
    memcpy(text + 2000, "n", 2);
    assert_null(expr_parse(text, &NAMES, &arena, &error));
    assert_int_equal(error.offset, EXPR_DEPTH_MAX);
    size_t used = 0;
    for (int i = 0; i < 300; i++)
        used += (size_t)sprintf(text + used, "n + ");
    sprintf(text + used, "n");
    assert_null(expr_parse(text, &NAMES, &arena, &error));
    assert_non_null(strstr(error.allowed, "256"));
    arena_release(&arena);
}

static void bytes_only_where_allowed(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct expr_names names = NAMES;
    names.allow_bytes = false;
    struct expr_error error;
    assert_null(expr_parse("bytes(in)", &names, &arena, &error));
    assert_null(strstr(error.allowed, "bytes"));
    arena_release(&arena);
}

static void calls_are_cut_at_their_commas(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct call c;
    assert_null(call_parse("uniform( -9 ,max(n, 3))", &arena, &c));
    assert_string_equal(c.name, "uniform");
    assert_int_equal(c.arg_count, 2);
    assert_string_equal(c.args[0], "-9");
    assert_int_equal(c.offsets[0], 9);
    assert_string_equal(c.args[1], "max(n, 3)");
    assert_int_equal(c.offsets[1], 13);
    assert_null(call_parse("permutation ", &arena, &c));
    assert_string_equal(c.name, "permutation");
    assert_int_equal(c.arg_count, 0);
    assert_null(call_parse("permutation( )", &arena, &c));
    assert_int_equal(c.arg_count, 0);
    assert_non_null(call_parse("f(", &arena, &c));
    assert_non_null(call_parse("f(1", &arena, &c));
    assert_non_null(call_parse("f(1,)", &arena, &c));
    assert_non_null(call_parse("f(1))", &arena, &c));
    assert_non_null(call_parse("f(1) x", &arena, &c));
    assert_non_null(call_parse("f(1, 2, 3, 4, 5)", &arena, &c));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_precedence),
        cmocka_unit_test(errors_name_their_place),
        cmocka_unit_test(nothing_wraps),
        cmocka_unit_test(long_and_deep_ones_are_refused),
        cmocka_unit_test(bytes_only_where_allowed),
        cmocka_unit_test(calls_are_cut_at_their_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
