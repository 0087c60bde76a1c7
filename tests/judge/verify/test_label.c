/* Labels: what is read, and what is refused rather than silently not checked. */
#include "judge/verify/label.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    char folder[256], path[300];
    struct arena arena;
    struct label label;
    struct err e;
};

static int setup(void **state)
{
    static struct fixture fx;
    arena_init(&fx.arena);
    *state = &fx;
    int status = file_make_temp_dir(fx.folder, sizeof fx.folder, "scanjudge-label", &fx.e);
    snprintf(fx.path, sizeof fx.path, "%s/a.cu", fx.folder);
    return status;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;
    arena_release(&fx->arena);
    return file_remove_tree(fx->folder, &fx->e);
}

static int read_label(struct fixture *fx, const char *source)
{
    assert_int_equal(file_write(fx->path, source, strlen(source), &fx->e), 0);
    return label_read(fx->path, &fx->arena, &fx->label, &fx->e);
}

static void reads_all_labels(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(read_label(fx, "// expect: run_time_error\n"
                                    "// expect-finding: data_race\n"
                                    "// expect-diagnosis: right set in wrong order\n"
                                    "// Why it is wrong.\n"
                                    "\n"
                                    "int a; // <-- data_race\n"
                                    "int b;\n"
                                    "int c; // <-- data_race\n"),
                     0);
    assert_string_equal(fx->label.verdict, "run_time_error");
    assert_string_equal(fx->label.finding, "data_race");
    assert_string_equal(fx->label.diagnosis, "right set in wrong order");
    assert_int_equal(fx->label.line_count, 2);
    assert_int_equal(fx->label.lines[0], 6);
    assert_int_equal(fx->label.lines[1], 8);
}

static void labels_stand_in_the_first_comment_only(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(read_label(fx, "int a;\n// expect: accepted\n"), 0);
    assert_null(fx->label.verdict);
}

static void a_mark_needs_its_finding(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(read_label(fx, "// expect: wrong_answer\nint a; // <-- data_race\n"), -1);
    assert_non_null(strstr(fx->e.text, "a.cu:2"));
    assert_int_equal(read_label(fx, "// expect: wrong_answer\n// expect-finding: deadlock\n"
                                    "int a; // <-- data_race\n"),
                     -1);
}

static void an_unknown_label_is_refused(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(read_label(fx, "// expect: wrong_answer\n// expect-findings: deadlock\n"), -1);
    assert_int_equal(read_label(fx, "// expect: wrong_answer\n// expect: accepted\n"), -1);
    assert_int_equal(label_read("/nowhere/a.cu", &fx->arena, &fx->label, &fx->e), -1);
}

static void a_card_s_verdict_has_a_reason(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(read_label(fx, "// expect: run_time_error\n// gpu: accepted - luck\n"), 0);
    assert_string_equal(fx->label.gpu, "accepted - luck");
    assert_int_equal(read_label(fx, "// expect: run_time_error\n// gpu: any - luck\n"), 0);
    assert_int_equal(read_label(fx, "// expect: run_time_error\n// gpu: accepted\n"), -1);
    assert_int_equal(read_label(fx, "// expect: run_time_error\n// gpu: accepted - \n"), -1);
    assert_int_equal(read_label(fx, "// expect: run_time_error\n// gpu: acepted - luck\n"), -1);
    assert_int_equal(read_label(fx, "// gpu: any - a\n// gpu: any - b\n"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_all_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(labels_stand_in_the_first_comment_only, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mark_needs_its_finding, setup, teardown),
        cmocka_unit_test_setup_teardown(an_unknown_label_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_card_s_verdict_has_a_reason, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
