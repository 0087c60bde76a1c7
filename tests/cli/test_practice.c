/* new, hint, reset and what is said to do next: what is remembered, and that no file of a student's
 * is ever touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/proc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 6 };

static char folder[PATH_MAX / 2]; /* of the student */

static int set_up(void **state)
{
    (void)state;
    struct err e;
    char made[PATH_MAX / 2];
    if (file_make_temp_dir(made, sizeof made, "test-practice", &e) != 0)
        return -1;
    char real[PATH_MAX];
    if (!realpath(made, real))
        return -1;
    snprintf(folder, sizeof folder, "%.*s", (int)sizeof folder - 1, real);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

/* `out` and `errors`: must be part of what is printed; NULL = nothing is. */
static void call(const char *const words[WORDS_MAX], int status, const char *out,
                 const char *errors)
{
    const char *argv[WORDS_MAX + 2] = {JUDGE};
    for (int i = 0; i < WORDS_MAX && words[i]; i++)
        argv[i + 1] = words[i];
    char memory[PATH_MAX + 32];
    snprintf(memory, sizeof memory, "SCANJUDGE_STATE=%s/state", folder);
    const char *environment[] = {"SCANJUDGE_ROOT=" SOURCE_ROOT, memory,
                                 "SCANJUDGE_CACHE=/nonexistent/cache", "PATH=/usr/bin:/bin", NULL};
    struct proc_spec spec = {
        .argv = argv, .environment = environment, .folder = folder, .keep_fd = -1};
    struct proc_end end;
    struct text printed, complained;
    struct err e;
    text_init(&printed);
    text_init(&complained);
    if (proc_run(&spec, 30000000000u, 1 << 20, &printed, &complained, &end, &e) != 0)
        fail_msg("%s", e.text);
    const char *first = words[0] ? words[0] : "(nothing)";
    if (end.how != PROC_EXITED || end.code != status)
        fail_msg("%s: status %d instead of %d: %s", first, end.code, status, text_str(&complained));
    if (out ? !strstr(text_str(&printed), out) : printed.length != 0)
        fail_msg("%s printed \"%s\", and not \"%s\"", first, text_str(&printed), out ? out : "");
    if (errors ? !strstr(text_str(&complained), errors) : complained.length != 0)
        fail_msg("%s complained \"%s\"", first, text_str(&complained));
    text_release(&printed);
    text_release(&complained);
}

#define CALL(status, out, errors, ...)                                                             \
    call((const char *const[WORDS_MAX]){__VA_ARGS__}, status, out, errors)

static void check_content(const char *name, const char *wanted_path, const char *wanted)
{
    struct text got, expected;
    struct err e;
    text_init(&got);
    text_init(&expected);
    assert_int_equal(file_read(name, 1 << 20, &got, &e), 0);
    if (wanted_path)
        assert_int_equal(file_read(wanted_path, 1 << 20, &expected, &e), 0);
    else
        text_add(&expected, wanted);
    assert_string_equal(text_str(&got), text_str(&expected));
    text_release(&got);
    text_release(&expected);
}

#define STARTER SOURCE_ROOT "/problems/warp-scan/starter.cu"

static void a_file_of_ones_own(void **state)
{
    (void)state;
    CALL(2, "begin:  ./judge.sh new warp-scan ", NULL, NULL);
    CALL(0, "wrote warp-scan.cu\n", NULL, "new", "warp-scan");
    check_content(in_folder("warp-scan.cu"), STARTER, NULL);
    CALL(2, "go on:  ./judge.sh watch warp-scan ", NULL, NULL);
    CALL(0, "next    warp-scan ", NULL, "list", "--lang", "en");
}

static void nothing_is_overwritten(void **state)
{
    (void)state;
    struct err e;
    const char *mine = in_folder("mine.cu");
    assert_int_equal(file_write(mine, "mine", 4, &e), 0);
    CALL(2, NULL, "mine.cu is already there, and stays as it is", "new", "warp-scan", "mine.cu");
    CALL(2, NULL, "./judge.sh new warp-scan mine-2.cu", "new", "warp-scan", "mine.cu");
    check_content(mine, NULL, "mine");
    /* A link into nothing is not followed to where a file would come. */
    assert_int_equal(symlink("nowhere.cu", in_folder("link.cu")), 0);
    CALL(2, NULL, "already there", "new", "warp-scan", "link.cu");
    assert_false(file_exists(in_folder("nowhere.cu")));
}

static void places(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(file_make_dirs(in_folder("my work"), &e), 0);
    CALL(0, "wrote 'my work/block-scan.cu'", NULL, "new", "block-scan", "my work");
    CALL(0, "wrote ./-x.cu\n", NULL, "new", "block-scan", "./-x.cu");
    CALL(0, "begun   block-scan ", NULL, "list", "--lang", "en");
    CALL(2, NULL, "Make it: mkdir -p no/where/", "new", "warp-scan", "no/where/a.cu");
    CALL(2, NULL, "ends in .cu", "new", "warp-scan", "a.txt");
    CALL(2, NULL, "Did you mean 'warp-scan'?", "new", "wrap-scan");
    CALL(2, NULL, "new wants a problem", "new");
}

static void hints_one_at_a_time(void **state)
{
    (void)state;
    CALL(0, "1/", NULL, "hint", "multi-block-scan");
    CALL(0, "2/", NULL, "hint", "multi-block-scan");
    CALL(0, "1/", NULL, "hint", "multi-block-scan", "1"); /* again */
    CALL(0, "3/", NULL, "hint", "multi-block-scan");
    CALL(0, "that was the last one", NULL, "hint", "multi-block-scan");
    CALL(0, "that was the last one", NULL, "hint", "multi-block-scan");
}

static void forgotten(void **state)
{
    (void)state;
    const char *mine = in_folder("warp-scan.cu");
    CALL(0, "your file stays: ", NULL, "reset", "warp-scan");
    check_content(mine, STARTER, NULL);
    CALL(0, "there was nothing to forget", NULL, "reset", "warp-scan");
    CALL(2, NULL, "reset wants problems", "reset");
    CALL(2, NULL, "reset wants problems", "reset", "--all", "warp-scan");
    CALL(0, "multi-block-scan: forgotten", NULL, "reset", "--all");
    CALL(0, "1/", NULL, "hint", "multi-block-scan");
    CALL(0, "0 of ", NULL, "list", "--lang", "en");
}

static void watch_wants_a_file(void **state)
{
    (void)state;
    CALL(2, NULL, "The starter goes there with: ./judge.sh new histogram histogram.cu", "watch",
         "histogram");
    CALL(2, NULL, "Did you mean --device?", "watch", "histogram", "--devise", "cpu");
    CALL(2, NULL, "is a folder", "watch", "histogram", "my work");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_ones_own),
        cmocka_unit_test(nothing_is_overwritten),
        cmocka_unit_test(places),
        cmocka_unit_test(hints_one_at_a_time),
        cmocka_unit_test(forgotten),
        cmocka_unit_test(watch_wants_a_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
