/* Help fits a screen of 24 lines and 80 columns, and `COMMAND --help` is `help COMMAND`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/proc.h"

#include <string.h>

enum { LINES_MAX = 24, COLUMNS_MAX = 80 };

static const char *const SUBJECTS[] = {
#define COMMAND(id, name, arguments, does) name,
#include "cli/commands.def"
#undef COMMAND
    "test",
    /* topics */
    "checks", "formats", "isolation", "schedules"};
enum { TOPICS = 5 };

static void call(const char *first, const char *second, struct text *out)
{
    const char *argv[] = {JUDGE, first, second, NULL};
    const char *environment[] = {"SCANJUDGE_ROOT=" SOURCE_ROOT, "PATH=/usr/bin:/bin", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct proc_end end;
    struct text errors;
    struct err e;
    text_init(&errors);
    if (proc_run(&spec, 30000000000u, 1 << 20, out, &errors, &end, &e) != 0)
        fail_msg("%s", e.text);
    if (end.how != PROC_EXITED || end.code != 0 || errors.length)
        fail_msg("%s %s: status %d, '%s'", first, second ? second : "", end.code,
                 text_str(&errors));
    text_release(&errors);
}

static void check_size(const char *subject, const char *s)
{
    unsigned lines = 0;
    for (; *s; lines++) {
        size_t length = strcspn(s, "\n");
        if (length > COLUMNS_MAX)
            fail_msg("help %s: %zu columns: %.*s", subject, length, (int)length, s);
        s += length + (s[length] == '\n');
    }
    if (lines == 0 || lines > LINES_MAX)
        fail_msg("help %s: %u lines", subject, lines);
}

static void fits(void **state)
{
    (void)state;
    struct text out;
    text_init(&out);
    call("help", NULL, &out);
    check_size("", text_str(&out));
    for (size_t i = 0; i < sizeof SUBJECTS / sizeof SUBJECTS[0]; i++) {
        text_clear(&out);
        call("help", SUBJECTS[i], &out);
        check_size(SUBJECTS[i], text_str(&out));
    }
    text_release(&out);
}

static void both_ways(void **state)
{
    (void)state;
    struct text one, other;
    text_init(&one);
    text_init(&other);
    for (size_t i = 0; i < sizeof SUBJECTS / sizeof SUBJECTS[0] - TOPICS; i++) {
        text_clear(&one);
        text_clear(&other);
        call("help", SUBJECTS[i], &one);
        call(SUBJECTS[i], "--help", &other);
        assert_string_equal(text_str(&one), text_str(&other));
    }
    text_release(&one);
    text_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),
        cmocka_unit_test(both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
