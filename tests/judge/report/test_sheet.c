/* The tables of a class: which attempt counts, what a spreadsheet and a terminal get to see. */
#include "judge/report/sheet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct sheet_row row(const char *student, enum verdict verdict, unsigned passed)
{
    return (struct sheet_row){.student = student,
                              .problem = "warp-scan",
                              .file = "x.cu",
                              .is_judged = true,
                              .verdict = verdict,
                              .reason = "",
                              .judged_at = "",
                              .card = "",
                              .key = "",
                              .passed = passed,
                              .cases = 10};
}

static void has(const struct text *t, const char *part)
{
    if (!strstr(text_str(t), part))
        fail_msg("no '%s' in:\n%s", part, text_str(t));
}

static void the_best_attempt_counts(void **state)
{
    (void)state;
    struct sheet_row rows[] = {
        row("anna", VERDICT_wrong_answer, 9), row("bob", VERDICT_wrong_answer, 3),
        row("anna", VERDICT_accepted, 1),     row("bob", VERDICT_run_time_error, 4),
        row("bob", VERDICT_compile_error, 0), {.student = "cy", .problem = "warp-scan"},
    };
    struct sheet s = {.rows = rows, .row_count = 6};
    struct sheet_counts counts;
    struct text out;
    text_init(&out);
    sheet_choose_best(&s);
    static const bool BEST[] = {false, false, true, true, false, true};
    for (int i = 0; i < 6; i++)
        assert_int_equal(rows[i].is_best, BEST[i]);
    sheet_count(&s, &counts);
    assert_int_equal(counts.students, 3);
    assert_int_equal(counts.accepted, 1);
    assert_int_equal(counts.not_judged, 1);
    report_sheet_text(&s, &out);
    has(&out, "1 of 3 accepted, 1 run-time error, 1 not judged yet");
    has(&out, "bob                             0 of 1    4/10");
    text_release(&out);
}

static void no_cell_is_a_formula(void **state)
{
    (void)state;
    static const char *const NAMES[][2] = {
        {"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\","},
        {"+1", "\"'+1\","},
        {"-rf", "\"'-rf\","},
        {"@SUM(A1)", "\"'@SUM(A1)\","},
        {"\tx", "\"'\tx\","},
        {"a,\"b\"", "\"a,\"\"b\"\"\","},
        {"a\nb", "\"a\nb\","},
        {"anna", "anna,"},
        {"\x1b[2J", "\\x1b[2J,"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        struct sheet_row one = row(NAMES[i][0], VERDICT_accepted, 10);
        struct sheet s = {.rows = &one, .row_count = 1};
        struct text out;
        text_init(&out);
        report_sheet_csv(&s, &out);
        const char *second = strstr(text_str(&out), "\r\n") + 2;
        if (strncmp(second, NAMES[i][1], strlen(NAMES[i][1])) != 0)
            fail_msg("%s became %s", NAMES[i][0], second);
        text_release(&out);
    }
}

static void lines_have_names_as_they_are(void **state)
{
    (void)state;
    struct sheet_row one = row("=a\nb\xc2\x9b", VERDICT_accepted, 10);
    struct sheet_left_out none = {"x.cu", "why"};
    struct sheet s = {.rows = &one, .row_count = 1, .left_out = &none, .left_out_count = 1};
    struct text out;
    text_init(&out);
    report_sheet_jsonl(&s, &out);
    has(&out, "{\"student\":\"=a\\nb\\u009B\",");
    has(&out, "{\"file\":\"x.cu\",\"not_graded\":\"why\"}\n");
    text_clear(&out);
    report_sheet_text(&s, &out);
    has(&out, "=a b");
    assert_null(strstr(text_str(&out), "\xc2\x9b"));
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_attempt_counts),
        cmocka_unit_test(no_cell_is_a_formula),
        cmocka_unit_test(lines_have_names_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
