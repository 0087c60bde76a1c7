/* One judging at a time per card: across processes, also when the holder is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "judge/gpu/lock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct card CARDS[] = {{.number = 0, .name = "Fake A", .uuid = "GPU-a"},
                                    {.number = 1, .name = "Fake B", .uuid = "GPU-b"}};
static const struct cards BOTH = {.items = CARDS, .count = 2};
static const struct cards FIRST = {.items = CARDS, .count = 1};

static struct arena arena;
static char folder[PATH_MAX];

/* What the last wait was told. */
static char told[1024];
static void note(void *context, const char *sentence)
{
    (void)context;
    snprintf(told, sizeof told, "%s", sentence);
}

static void take(const struct cards *cards, struct card_lock *lock)
{
    struct err e = {""};
    if (card_lock_take(cards, folder, &arena, note, NULL, lock, &e) != 0)
        fail_msg("%s", e.text);
}

/* A process that holds the first card for so long, or until it is killed. Returns once it does. */
static pid_t start_holder(unsigned milliseconds)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct card_lock lock;
        struct err e;
        char byte = card_lock_take(&FIRST, folder, &arena, NULL, NULL, &lock, &e) == 0 ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        usleep(milliseconds * 1000);
        _exit(0);
    }
    char byte = 0;
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(ready[0]);
    return pid;
}

static void waits_and_says_for_whom(void **state)
{
    (void)state;
    char process[32];
    struct card_lock lock;
    told[0] = '\0';
    uint64_t start = clock_now_ns();
    pid_t pid = start_holder(300);
    take(&FIRST, &lock);
    uint64_t waited = clock_now_ns() - start;
    assert_true(waited >= 290000000u);
    snprintf(process, sizeof process, "process %d", (int)pid);
    assert_non_null(strstr(told, "card 0 (Fake A) is in use by"));
    if (!strstr(told, process) && access("/proc/locks", R_OK) == 0)
        fail_msg("does not name %s: %s", process, told);
    assert_non_null(strstr(told, program_invocation_short_name));
    assert_ptr_equal(lock.card, &CARDS[0]);
    card_lock_release(&lock);
    waitpid(pid, NULL, 0);
}

static void takes_another_card_instead(void **state)
{
    (void)state;
    struct card_lock lock;
    told[0] = '\0';
    pid_t pid = start_holder(10000);
    take(&BOTH, &lock);
    assert_ptr_equal(lock.card, &CARDS[1]);
    assert_string_equal(told, "");
    card_lock_release(&lock);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void outlives_no_holder(void **state)
{
    (void)state;
    struct card_lock lock;
    pid_t pid = start_holder(600000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    told[0] = '\0';
    take(&FIRST, &lock);
    assert_string_equal(told, ""); /* at once */
    card_lock_release(&lock);
    card_lock_release(&lock);
}

/* The lock is not handed on to what the judge starts. */
static void is_no_child_s(void **state)
{
    (void)state;
    struct card_lock lock;
    take(&FIRST, &lock);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/bin/sleep", "sleep", "600", (char *)NULL);
        _exit(127);
    }
    usleep(100000); /* until it has executed */
    card_lock_release(&lock);
    told[0] = '\0';
    take(&FIRST, &lock);
    assert_string_equal(told, "");
    card_lock_release(&lock);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void everybody_may_open_it(void **state)
{
    (void)state;
    struct card_lock lock;
    struct stat st;
    char path[PATH_MAX + 64];
    mode_t before = umask(0077);
    snprintf(path, sizeof path, "%s/scanjudge-GPU-a.lock", folder);
    unlink(path);
    take(&FIRST, &lock);
    umask(before);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666);
    card_lock_release(&lock);
}

/* Removed by a cleaner while it is held: the next one makes a new file, and nobody hangs. */
static void survives_a_cleaner(void **state)
{
    (void)state;
    struct card_lock first, second;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/scanjudge-GPU-a.lock", folder);
    take(&FIRST, &first);
    unlink(path);
    take(&FIRST, &second);
    card_lock_release(&first);
    card_lock_release(&second);
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    struct card_lock lock;
    struct err e = {""};
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/scanjudge-GPU-a.lock", folder);
    unlink(path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(card_lock_take(&FIRST, folder, &arena, note, NULL, &lock, &e), -1);
    assert_non_null(strstr(e.text, path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(card_lock_take(&FIRST, folder, &arena, note, NULL, &lock, &e), -1);
    assert_non_null(strstr(e.text, "no plain file"));
    unlink(path);
    assert_int_equal(card_lock_take(&FIRST, "/nonexistent", &arena, note, NULL, &lock, &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent"));
}

static void has_a_folder_here(void **state)
{
    (void)state;
    struct stat st;
    const char *usual = card_lock_folder();
    assert_non_null(usual);
    assert_int_equal(stat(usual, &st), 0);
    assert_int_equal(st.st_mode & 01777, 01777);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_and_says_for_whom), cmocka_unit_test(takes_another_card_instead),
        cmocka_unit_test(outlives_no_holder),      cmocka_unit_test(is_no_child_s),
        cmocka_unit_test(everybody_may_open_it),   cmocka_unit_test(survives_a_cleaner),
        cmocka_unit_test(refuses_what_is_no_file), cmocka_unit_test(has_a_folder_here),
    };
    struct err e;
    arena_init(&arena);
    if (file_make_temp_dir(folder, sizeof folder, "test-lock", &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(folder, NULL);
    arena_release(&arena);
    return failed;
}
