/* The tests of this folder see what they are there to see: something of each kind left behind, and
 * the words of an attack's first comment. */
#include "source.h"
#include "traces.h"

#include "base/err.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[256], cache[300];
    struct traces traces;
    struct text why;
};

static int setup(void **state)
{
    static struct fixture f;
    struct err e;
    char path[300];
    if (file_make_temp_dir(f.folder, sizeof f.folder, "traces", &e) != 0)
        return -1;
    snprintf(f.cache, sizeof f.cache, "%s/cache", f.folder);
    snprintf(path, sizeof path, "%s/tmp", f.folder);
    if (mkdir(f.cache, 0755) != 0 || mkdir(path, 0755) != 0)
        return -1;
    text_init(&f.why);
    traces_init(&f.traces, f.folder, f.cache, false);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    traces_release(&f->traces);
    text_release(&f->why);
    return file_remove_tree(f->folder, NULL);
}

/* Is it reported, and gone when one looks again? */
static void expect(struct fixture *f, const char *words)
{
    traces_look(&f->traces, &f->why);
    if (!strstr(text_str(&f->why), words))
        fail_msg("no '%s' in: %s", words, text_str(&f->why));
    text_clear(&f->why);
    traces_look(&f->traces, &f->why);
    assert_string_equal(text_str(&f->why), "");
}

static void nothing_is_nothing(void **state)
{
    struct fixture *f = *state;
    traces_look(&f->traces, &f->why);
    assert_string_equal(text_str(&f->why), "");
}

static void a_process_that_hides_is_found(void **state)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() == 0) {
            alarm(30);
            for (;;)
                pause();
        }
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    expect(*state, "left behind: process");
}

static void a_process_that_is_about_to_go_is_not(void **state)
{
    struct fixture *f = *state;
    if (fork() == 0) {
        usleep(300000);
        _exit(0);
    }
    traces_look(&f->traces, &f->why);
    assert_string_equal(text_str(&f->why), "");
}

static void files_are_found(void **state)
{
    struct fixture *f = *state;
    struct err e;
    char paths[4][400];
    snprintf(paths[0], sizeof paths[0], "/dev/shm/sj_attack_test_%d", (int)getpid());
    snprintf(paths[1], sizeof paths[1], "%s/tmp/anything", f->folder);
    snprintf(paths[2], sizeof paths[2], "%s/sj_attack_note", f->folder);
    snprintf(paths[3], sizeof paths[3], "%s/compile/work.aBcD", f->cache);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(file_write(paths[i], "x", 1, &e), 0);
        expect(f, paths[i]);
    }
    assert_int_equal(file_make_dirs(paths[3], &e), 0);
    expect(f, "left behind: unfinished compilation");
}

static void segments_are_found(void **state)
{
    if (shmget(TRACES_KEY, 4096, IPC_CREAT | 0600) < 0)
        skip(); /* no such memory in this kernel */
    expect(*state, "segment of shared memory");
}

static void an_attack_says_what_is_expected(void **state)
{
    struct fixture *f = *state;
    static const char TEXT[] = "// expect: accepted or run_time_error\n"
                               "// judgings: 2\n"
                               "// as: -o\n"
                               "// What it does.\n"
                               "// options: --seed 7\n"
                               "#include \"attack.cuh\"\n"
                               "// never: this\n"
                               "int last;\n";
    const struct places places = {TEST_FOLDER "/root", f->cache, f->folder, "name"};
    struct arena arena;
    struct attack a;
    struct err e;
    char path[400];
    arena_init(&arena);
    snprintf(path, sizeof path, "%s/kind", f->folder);
    assert_int_equal(file_make_dirs(path, &e), 0);
    snprintf(path, sizeof path, "%s/kind/one.cu", f->folder);
    assert_int_equal(file_write(path, TEXT, sizeof TEXT - 1, &e), 0);
    if (source_read(path, &places, &arena, &a, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(a.name, "kind/one");
    assert_string_equal(a.problem, "scan");
    assert_string_equal(a.as, "-o");
    assert_string_equal(a.options, "--seed 7");
    assert_int_equal(a.judgings, 2);
    assert_null(a.never); /* not in the first comment */
    assert_true(source_one_of(a.label.verdict, "accepted"));
    assert_true(source_one_of(a.label.verdict, "run_time_error"));
    assert_false(source_one_of(a.label.verdict, "run_time"));
    assert_false(source_one_of(a.label.verdict, ""));
    assert_non_null(strstr(a.text, "#define SUBMISSION"));
    assert_null(strstr(a.text, "#include \"attack.cuh\""));
    assert_non_null(strstr(a.text, "int last;"));
    assert_int_equal(file_write(path, "// What it does.\n", 17, &e), 0);
    assert_int_equal(source_read(path, &places, &arena, &a, &e), -1);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_that_hides_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_that_is_about_to_go_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(segments_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(an_attack_says_what_is_expected, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
