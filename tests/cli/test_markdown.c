/* Statements on a terminal: marks go, long lines break between words, codes take no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/markdown.h"

#include <string.h>

static const struct row {
    const char *markdown, *shown;
    bool colour;
    unsigned columns;
} ROWS[] = {
    {"# Scan\ntext\n", "Scan\n====\ntext\n", false, 0},
    {"## 约定\n", "约定\n----\n", false, 0},
    {"a **b** and `c * d`, a * b, [x](y)\n", "a b and c * d, a * b, x\n", false, 0},
    {"a **b** `c`\n", "a \033[1mb\033[0m \033[36mc\033[0m\n", true, 0},
    {"a `b\n", "a \033[36mb\033[0m\n", true, 0},
    {"# A *b*\n", "\033[1mA b\n===\n\033[0m", true, 0},
    {"```example\nn = **4**\n```\n```example\ny\n```\nx\n", "    n = **4**\n\n    y\nx\n", false,
     20},
    {"| `a` | b |\n|---|---|\n| 1 | `22` |\n", "a  b\n-------\n1  22\n", false, 0},
    /* Broken lines. */
    {"one two three four\n", "one two\nthree four\n", false, 10},
    {"- one two three four\n", "- one two\n  three\n  four\n", false, 10},
    {"12. one two three\n", "12. one\n    two\n    three\n", false, 10},
    {"  - one two three\n", "  - one\n    two\n    three\n", false, 10},
    {"unbreakable words\n", "unbreakable\nwords\n", false, 5},
    {"前缀和前缀和\n", "前缀\n和前\n缀和\n", false, 5},
    {"a `b c` d e\n", "a \033[36mb c\033[0m\nd e\n", true, 5},
    {"one two three four\n", "one two three four\n", false, 0},
    {"", "", false, 10},
    {"no end of line", "no end of line\n", false, 0},
};

static void statements_are_readable(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct markdown_style style = {ROWS[i].colour, ROWS[i].columns};
        struct text out;
        text_init(&out);
        markdown_render(&out, ROWS[i].markdown, &style);
        if (strcmp(text_str(&out), ROWS[i].shown) != 0)
            fail_msg("'%s' became '%s' instead of '%s'", ROWS[i].markdown, text_str(&out),
                     ROWS[i].shown);
        text_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements_are_readable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
