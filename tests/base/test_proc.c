/* proc: hostile little shell commands, each of which has to end in time and leave nothing behind.
 */
#include "base/clock.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)

struct shell {
    struct text out, errors;
    struct proc_end end;
    struct err e;
    int status;
};

static void shell_run(struct shell *s, const char *command, uint64_t limit_ns, size_t output_bytes)
{
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    const char *environment[] = {"PATH=/usr/bin:/bin", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    text_init(&s->out);
    text_init(&s->errors);
    s->status = proc_run(&spec, limit_ns, output_bytes, &s->out, &s->errors, &s->end, &s->e);
    assert_int_equal(s->status, 0);
}

static void shell_release(struct shell *s)
{
    text_release(&s->out);
    text_release(&s->errors);
}

/* Whether the process goes away within two seconds: a kill takes effect a little later. */
static int is_gone(pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        char path[64], line[512] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *f = fopen(path, "re");
        if (!f)
            return 1;
        char *got = fgets(line, sizeof line, f);
        fclose(f);
        const char *after_name = got ? strrchr(line, ')') : NULL;
        if (!after_name || after_name[2] == 'Z')
            return 1;
        usleep(10000);
    }
    return 0;
}

static void test_captures_both_streams(void **state)
{
    (void)state;
    struct shell s;
    shell_run(&s, "echo out; echo err >&2; exit 7", 10 * SECOND_NS, 1000);
    assert_int_equal(s.end.how, PROC_EXITED);
    assert_int_equal(s.end.code, 7);
    assert_string_equal(text_str(&s.out), "out\n");
    assert_string_equal(text_str(&s.errors), "err\n");
    assert_true(s.end.wall_ns > 0 && s.end.wall_ns < 10 * SECOND_NS);
    shell_release(&s);
}

static void test_tells_signals(void **state)
{
    (void)state;
    struct shell s;
    shell_run(&s, "kill -SEGV $$", 10 * SECOND_NS, 1000);
    assert_int_equal(s.end.how, PROC_SIGNALLED);
    assert_int_equal(s.end.code, SIGSEGV);
    shell_release(&s);
}

static void test_missing_program(void **state)
{
    (void)state;
    static const struct {
        const char *program, *folder, *wanted;
    } ROWS[] = {
        {"/no/such/program", NULL, "No such file"},
        {"no-such-program-in-path", NULL, "not in PATH"},
        {"/etc/passwd", NULL, "Permission denied"},
        {"/bin/true", "/no/such/folder", "enter its folder"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *argv[] = {ROWS[i].program, NULL};
        struct proc_spec spec = {.argv = argv, .folder = ROWS[i].folder, .keep_fd = -1};
        struct proc p;
        struct err e = {""};
        assert_int_equal(proc_start(&spec, &p, &e), -1);
        assert_non_null(strstr(e.text, ROWS[i].wanted));
        assert_int_equal(p.pid, -1);
        proc_kill(&p); /* nothing to do, and harmless */
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie of a failed start */
    assert_int_equal(errno, ECHILD);
}

static void test_flood_is_cut(void **state)
{
    (void)state;
    static const char *const FLOODS[] = {"yes", "yes >&2", "cat /dev/zero"};
    for (size_t i = 0; i < sizeof FLOODS / sizeof FLOODS[0]; i++) {
        struct shell s;
        shell_run(&s, FLOODS[i], 30 * SECOND_NS, 100000);
        assert_int_equal(s.end.how, PROC_OUTPUT_LIMIT);
        assert_true(s.out.length == 100000 || s.errors.length == 100000);
        assert_true(s.end.wall_ns < 10 * SECOND_NS);
        shell_release(&s);
    }
}

static void test_exactly_the_limit_is_allowed(void **state)
{
    (void)state;
    struct shell s;
    shell_run(&s, "head -c 200000 /dev/zero", 30 * SECOND_NS, 200000);
    assert_int_equal(s.end.how, PROC_EXITED);
    assert_int_equal(s.out.length, 200000);
    shell_release(&s);
}

static void test_time_limit(void **state)
{
    (void)state;
    static const char *const ENDLESS[] = {
        "exec sleep 1000",
        "while :; do :; done",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        "kill -STOP $$",
        "exec >&- 2>&-; exec sleep 1000",
    };
    for (size_t i = 0; i < sizeof ENDLESS / sizeof ENDLESS[0]; i++) {
        struct shell s;
        shell_run(&s, ENDLESS[i], SECOND_NS / 5, 1000);
        assert_int_equal(s.end.how, PROC_TIMED_OUT);
        assert_true(s.end.wall_ns >= SECOND_NS / 5);
        assert_true(s.end.wall_ns < SECOND_NS);
        shell_release(&s);
    }
}

/* A child in the background that holds the pipes: not waited for, and killed with its group. */
static void test_group_dies_with_the_leader(void **state)
{
    (void)state;
    struct shell s;
    shell_run(&s, "(trap '' TERM HUP; (sleep 1000 & echo $!)) ; exit 0", 20 * SECOND_NS, 1000);
    assert_int_equal(s.end.how, PROC_EXITED);
    assert_true(s.end.wall_ns < 10 * SECOND_NS);
    pid_t orphan = (pid_t)strtol(text_str(&s.out), NULL, 10);
    assert_true(orphan > 1);
    assert_true(is_gone(orphan));
    shell_release(&s);
}

static void test_environment_is_explicit(void **state)
{
    (void)state;
    setenv("JUDGE_SECRET", "42", 1);
    const char *argv[] = {"env", NULL}; /* found in our PATH, though the child has none */
    struct proc_spec spec = {.argv = argv, .keep_fd = -1};
    struct text out, errors;
    text_init(&out);
    text_init(&errors);
    struct proc_end end;
    struct err e;
    assert_int_equal(proc_run(&spec, 10 * SECOND_NS, 10000, &out, &errors, &end, &e), 0);
    assert_int_equal(end.code, 0);
    assert_string_equal(text_str(&out), "");
    text_release(&out);
    text_release(&errors);
    unsetenv("JUDGE_SECRET");
}

/* Only 0, 1, 2 and the kept one, and none of the inheritable descriptors that we have open. */
static void test_descriptors(void **state)
{
    (void)state;
    int leak = open("/dev/zero", O_RDONLY); /* on purpose without O_CLOEXEC */
    assert_true(leak > 2);
    for (int keep = 0; keep < 2; keep++) {
        int pipe_fds[2];
        assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
        const char *argv[] = {"/bin/sh", "-c", "echo kept >&3; ls /proc/$$/fd", NULL};
        const char *environment[] = {"PATH=/usr/bin:/bin", NULL};
        struct proc_spec spec = {
            .argv = argv, .environment = environment, .keep_fd = keep ? pipe_fds[1] : -1};
        struct text out, errors;
        text_init(&out);
        text_init(&errors);
        struct proc_end end;
        struct err e;
        assert_int_equal(proc_run(&spec, 10 * SECOND_NS, 10000, &out, &errors, &end, &e), 0);
        close(pipe_fds[1]);
        char block[16] = "";
        ssize_t got = read(pipe_fds[0], block, sizeof block - 1);
        assert_int_equal(got, keep ? 5 : 0);
        /* The shell itself may keep a copy of its script at 10 or 255, nothing below. */
        assert_string_equal(text_str(&out), keep ? "0\n1\n2\n3\n" : "0\n1\n2\n");
        close(pipe_fds[0]);
        text_release(&out);
        text_release(&errors);
    }
    close(leak);
}

static void test_limits_apply(void **state)
{
    (void)state;
    const char *argv[] = {"/bin/sh", "-c", "ulimit -n; ulimit -c", NULL};
    struct proc_limit limits[] = {{RLIMIT_NOFILE, 33}, {RLIMIT_CORE, 0}};
    struct proc_spec spec = {.argv = argv, .limits = limits, .limit_count = 2, .keep_fd = -1};
    struct text out, errors;
    text_init(&out);
    text_init(&errors);
    struct proc_end end;
    struct err e;
    assert_int_equal(proc_run(&spec, 10 * SECOND_NS, 10000, &out, &errors, &end, &e), 0);
    assert_string_equal(text_str(&out), "33\n0\n");
    text_release(&out);
    text_release(&errors);
}

static void test_kill_is_idempotent(void **state)
{
    (void)state;
    const char *argv[] = {"sleep", "1000", NULL};
    struct proc_spec spec = {.argv = argv, .keep_fd = -1, .folder = "/"};
    struct proc p;
    struct err e;
    assert_int_equal(proc_start(&spec, &p, &e), 0);
    pid_t pid = p.pid;
    proc_kill(&p);
    assert_int_equal(p.pid, -1);
    assert_int_equal(kill(pid, 0), -1);
    proc_kill(&p);
}

/* The judge itself killed: its child must not outlive it. */
static void test_dies_with_its_parent(void **state)
{
    (void)state;
    int pipe_fds[2];
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t judge = fork();
    if (judge == 0) {
        const char *argv[] = {"sleep", "1000", NULL};
        struct proc_spec spec = {.argv = argv, .keep_fd = -1};
        struct proc p;
        if (proc_start(&spec, &p, NULL) != 0 || write(pipe_fds[1], &p.pid, sizeof p.pid) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    pid_t child = 0;
    assert_int_equal(read(pipe_fds[0], &child, sizeof child), (int)sizeof child);
    assert_int_equal(kill(child, 0), 0);
    kill(judge, SIGKILL);
    waitpid(judge, NULL, 0);
    assert_true(is_gone(child));
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures_both_streams),
        cmocka_unit_test(test_tells_signals),
        cmocka_unit_test(test_missing_program),
        cmocka_unit_test(test_flood_is_cut),
        cmocka_unit_test(test_exactly_the_limit_is_allowed),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_group_dies_with_the_leader),
        cmocka_unit_test(test_environment_is_explicit),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_limits_apply),
        cmocka_unit_test(test_kill_is_idempotent),
        cmocka_unit_test(test_dies_with_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
