/* Where something is said: names of files from the root of a repository, and what in a compiler's
 * output is a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/report/compile_log.h"
#include "judge/report/entries.h"
#include "judge/report/notes.h"

#include <string.h>

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *submission, *here, *root, *expected;
    } ROWS[] = {
        {"a.cu", "/w/r", "/w/r", "a.cu"},
        {"./alice//a.cu", "/w/r", "/w/r", "alice/a.cu"},
        {"a.cu", "/w/r/alice", "/w/r", "alice/a.cu"},
        {"../bob/a.cu", "/w/r/alice", "/w/r", "bob/a.cu"},
        {"../../x/a.cu", "/w/r/alice", "/w/r", "../../x/a.cu"},
        {"/w/r/a.cu", "/elsewhere", "/w/r", "a.cu"},
        {"/w/r/a.cu", "/elsewhere", "/w/r/", "a.cu"},
        {"/w/rr/a.cu", "/elsewhere", "/w/r", "/w/rr/a.cu"},
        {"/w/r/../x/a.cu", "/elsewhere", "/w/r", "/w/x/a.cu"},
        {"a.cu", "/", "/", "a.cu"},
        {"/../../a.cu", "/", "/", "/a.cu"},
        {"alice/../a.cu", NULL, NULL, "a.cu"},
        {"../../a.cu", NULL, NULL, "../../a.cu"},
        {"a b/\xff.cu", "/w", "/w", "a b/\xff.cu"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct report_options o = {.here = ROWS[i].here, .root = ROWS[i].root};
        assert_string_equal(report_path(ROWS[i].submission, &o, &arena), ROWS[i].expected);
    }
}

static void compilers(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        unsigned line, column;
        bool is_error, in_source;
        const char *text;
    } ROWS[] = {
        {"a.cu(12): error: no x\n    x\n    ^\n", 12, 0, true, true, "no x"},
        {"a.cu(3): warning #177-D: unused\n", 3, 0, false, true, "warning #177-D: unused"},
        {"a.cu:7:12: error: no y", 7, 12, true, true, "no y"},
        {"a.cu:7: warning: y", 7, 0, false, true, "y"},
        {"a.cu(4): error: wrong\n  expected: f\n  to change: g\n\nmore", 4, 0, true, true,
         "wrong\n  expected: f\n  to change: g"},
        {"a.cu: error: there is no f\n", 0, 0, true, true, "there is no f"},
        {"b.cuh(9): error: no z\n", 0, 0, true, false, "b.cuh(9): error: no z"},
        {"ptxas error   : too much\n", 0, 0, true, false, "ptxas error   : too much"},
        {"nvcc fatal   : no\n", 0, 0, true, false, "nvcc fatal   : no"},
        {"In file included from a.cu:1:\na.cu(0): error: x\na.cu(5): error: y", 5, 0, true, true,
         "y"},
        {"a.cu(99999999999): error: x\na.cu(2): error: y", 2, 0, true, true, "y"},
        {"error\nerrors\na.cu(1): erroneous\na.cu(\na.cu:\na.cu(1): error: last", 1, 0, true, true,
         "last"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct compile_message m;
        const char *at = ROWS[i].log;
        assert_true(compile_log_next(&at, "a.cu", &m));
        assert_string_equal(arena_strndup(&arena, m.text, m.length), ROWS[i].text);
        assert_int_equal(m.line, ROWS[i].line);
        assert_int_equal(m.column, ROWS[i].column);
        assert_int_equal(m.is_error, ROWS[i].is_error);
        assert_int_equal(m.in_source, ROWS[i].in_source);
        assert_false(compile_log_next(&at, "a.cu", &m));
    }
}

/* Whoever passes everything has all the points, however they are added up. */
static void points(void **state)
{
    (void)state;
    for (unsigned count = 1; count < 200; count++)
        for (unsigned worth = 0; worth <= 10; worth += 5) {
            struct result_case *cases = arena_array(&arena, count, sizeof *cases);
            struct result r = {.problem = "p",
                               .submission = "a.cu",
                               .device = "cpu",
                               .compile = {.ok = true},
                               .cases = cases,
                               .case_count = count};
            for (unsigned i = 0; i < count; i++)
                cases[i].name = arena_printf(&arena, "%u", i);
            struct report_options o = {.points = worth};
            struct entries all = entries_of(&r, &o, &arena);
            double backwards = 0;
            for (unsigned i = count; i-- > 0;)
                backwards += all.items[i].points;
            assert_true(all.points == (worth ? worth : ENTRY_POINTS));
            assert_true(all.points == all.most_points && all.points == backwards);
        }
}

/* A name that is taken, also by one that was given a number. */
static void names(void **state)
{
    (void)state;
    struct result_case cases[] = {{.name = "n (2)"}, {.name = "n"}, {.name = "n"}, {.name = "n\n"}};
    struct result r = {.problem = "p",
                       .submission = "a.cu",
                       .device = "cpu",
                       .compile = {.ok = true},
                       .cases = cases,
                       .case_count = 4};
    struct report_options o = {0};
    struct entries all = entries_of(&r, &o, &arena);
    assert_string_equal(all.items[0].name, "n (2)");
    assert_string_equal(all.items[1].name, "n");
    assert_string_equal(all.items[2].name, "n (3)");
    assert_string_equal(all.items[3].name, "n\\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compilers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
