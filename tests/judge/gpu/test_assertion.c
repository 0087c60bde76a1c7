/* What an H200 printed when an assert failed, and lines that only look so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/gpu/assertion.h"

#include <stdio.h>
#include <string.h>

#define SCAN "/tmp/x/assert_left_in.cu:52: void scan_tiles(const int *, int *, int *, int): block: "
#define SAID " Assertion `base + kItems <= n` failed.\n"

static void reads_what_a_card_prints(void **state)
{
    (void)state;
    struct wire_finding f;
    static const char ERRORS[] =
        "starting: 3\n" SCAN "[1,0,0], thread: [128,0,0]" SAID SCAN
        "[1,0,0], thread: [129,0,0]" SAID
        "other.cu:7: k(): block: [0,0,0], thread: [0,0,0] Assertion `x` failed.\n";
    assert_true(assertion_read(ERRORS, &f));
    assert_int_equal(f.kind, FINDING_assertion);
    assert_int_equal(f.severity, WIRE_ERROR);
    assert_string_equal(f.file, "assert_left_in.cu");
    assert_int_equal(f.line, 52);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.block[0], 1);
    assert_int_equal(f.thread[0], 128);
    assert_string_equal(f.kernel, "void scan_tiles(const int *, int *, int *, int)");
    assert_string_equal(f.message, "the assertion `base + kItems <= n` failed");
}

static void leaves_the_rest_alone(void **state)
{
    (void)state;
    static const char *const OTHERS[] = {
        "",
        "\n\n",
        "a.cu:52: k(): block: [0,0,0], thread: [0,0,0] nothing failed.\n",
        "a.cu:52: k(): block: [0,0], thread: [0,0,0] Assertion `x` failed.\n",
        "a.cu:x: k(): block: [0,0,0], thread: [0,0,0] Assertion `x` failed.\n",
        "a.cu: block: [0,0,0], thread: [0,0,0] Assertion `x` failed.\n",
        "program: a.cpp:3: main: Assertion `x' failed.\n", /* the host's */
        ": block: [0,0,0], thread: [0,0,0] Assertion `",
        " Assertion `x` failed. a.cu:1: k(): block: [0,0,0], thread: [0,0,0]",
    };
    struct wire_finding f;
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (assertion_read(OTHERS[i], &f))
            fail_msg("%s: %s", OTHERS[i], f.message);
}

static void long_lines_end(void **state)
{
    (void)state;
    static char line[8192];
    struct wire_finding f;
    memset(line, 'x', sizeof line - 1);
    assert_false(assertion_read(line, &f));
    int used = snprintf(line, sizeof line,
                        "a.cu:1: %0300d: block: [0,0,0], thread: [-5,0,0] Assertion `", 7);
    memset(line + used, '\x1b', 500);
    strcpy(line + used + 500, "` failed.");
    assert_true(assertion_read(line, &f));
    assert_int_equal(strlen(f.kernel), sizeof f.kernel - 1);
    assert_int_equal(f.thread[0], -1);
    assert_null(strchr(f.message, '\x1b'));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_a_card_prints),
        cmocka_unit_test(leaves_the_rest_alone),
        cmocka_unit_test(long_lines_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
