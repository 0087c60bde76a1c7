/* The line that tells what is waited for: on a terminal, from a second on; never into a pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/cli.h"

#include <pty.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool cli_is_terminal(int fd)
{
    return isatty(fd);
}

/* What a child writes to stderr that is busy for so long with each of two cases. */
static void watch(bool terminal, useconds_t busy_us, struct text *seen)
{
    int ends[2];
    if (terminal)
        assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
    else
        assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        progress_show(NULL, "compiling", 0, 1);
        usleep(busy_us);
        progress_show(NULL, "n=\x1b[31m7", 2, 40);
        usleep(busy_us);
        progress_clear();
        _exit(0);
    }
    close(ends[1]);
    char bytes[512];
    ssize_t got;
    while ((got = read(ends[0], bytes, sizeof bytes)) > 0)
        text_addn(seen, bytes, (size_t)got);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void a_line_on_a_terminal(void **state)
{
    (void)state;
    struct text seen;
    text_init(&seen);
    watch(true, 1400000, &seen);
    assert_non_null(strstr(text_str(&seen), "compiling, 1 s"));
    assert_non_null(strstr(text_str(&seen), "[3/40] n="));
    assert_null(strstr(text_str(&seen), "\x1b[31m")); /* a name gives no orders to a terminal */
    static const char WIPED[] = "\r\x1b[K";
    assert_string_equal(text_str(&seen) + seen.length - strlen(WIPED), WIPED);
    text_release(&seen);
}

static void nothing_for_what_is_short(void **state)
{
    (void)state;
    struct text seen;
    text_init(&seen);
    watch(true, 50000, &seen);
    assert_int_equal(seen.length, 0);
    text_release(&seen);
}

static void nothing_into_a_pipe(void **state)
{
    (void)state;
    struct text seen;
    text_init(&seen);
    watch(false, 600000, &seen);
    assert_int_equal(seen.length, 0);
    text_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_on_a_terminal),
        cmocka_unit_test(nothing_for_what_is_short),
        cmocka_unit_test(nothing_into_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
