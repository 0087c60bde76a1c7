/* Every way in which editors save a file, and what only looks like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "cli/saves.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[200], path[300], other[300], third[300];

static int set_up(void **state)
{
    (void)state;
    struct err e;
    if (file_make_temp_dir(folder, sizeof folder, "test-saves", &e) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/a.cu", folder);
    snprintf(other, sizeof other, "%s/a.cu~", folder);
    snprintf(third, sizeof third, "%s/b.cu", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

/* In place, as open, truncate, write, close. */
static void write_in_place(const char *name, const char *s)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, s, strlen(s)), strlen(s));
    close(fd);
}

/* Is a save told within so long, woken by inotify alone? */
static bool is_told(struct saves *s, int ms)
{
    struct pollfd fd = {.fd = s->fd, .events = POLLIN};
    while (poll(&fd, 1, ms) > 0)
        if (saves_look(s, true))
            return true;
    return false;
}

enum { LONG = 10000, SHORT = 150 };

static void written_in_place(void **state)
{
    (void)state;
    struct saves s;
    write_in_place(path, "1");
    saves_init(&s, path);
    assert_false(is_told(&s, SHORT));
    write_in_place(path, "22");
    assert_true(is_told(&s, LONG));
    assert_false(is_told(&s, SHORT)); /* once */
    saves_release(&s);
}

static void renamed_over(void **state)
{
    (void)state;
    struct saves s;
    write_in_place(path, "1");
    saves_init(&s, path);
    write_in_place(third, "2");
    assert_false(is_told(&s, SHORT)); /* another file */
    assert_int_equal(rename(third, path), 0);
    assert_true(is_told(&s, LONG));
    saves_release(&s);
}

/* As vim does with backupcopy=no: the file is away for a moment, then a new one. */
static void put_aside_and_written_anew(void **state)
{
    (void)state;
    struct saves s;
    write_in_place(path, "1");
    saves_init(&s, path);
    assert_int_equal(rename(path, other), 0);
    assert_false(is_told(&s, SHORT));
    assert_false(saves_look(&s, false)); /* absent */
    write_in_place(path, "2");
    unlink(other);
    assert_true(is_told(&s, LONG));
    saves_release(&s);
}

static void through_a_link(void **state)
{
    (void)state;
    struct saves s;
    char sub[300], target[400];
    struct err e;
    snprintf(sub, sizeof sub, "%s/sub", folder);
    snprintf(target, sizeof target, "%s/real.cu", sub);
    assert_int_equal(file_make_dirs(sub, &e), 0);
    write_in_place(target, "1");
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
    saves_init(&s, path);
    write_in_place(target, "2");
    assert_true(is_told(&s, LONG));
    saves_release(&s);
    unlink(path);
}

/* What a checkout does to a folder; also what inotify cannot hear: looking is enough. */
static void the_folder_is_another(void **state)
{
    (void)state;
    struct saves s;
    char sub[300], aside[300], name[400];
    struct err e;
    snprintf(sub, sizeof sub, "%s/work", folder);
    snprintf(aside, sizeof aside, "%s/aside", folder);
    snprintf(name, sizeof name, "%s/a.cu", sub);
    assert_int_equal(file_make_dirs(sub, &e), 0);
    write_in_place(name, "1");
    saves_init(&s, name);
    assert_int_equal(rename(sub, aside), 0);
    assert_false(saves_look(&s, false));
    assert_int_equal(file_make_dirs(sub, &e), 0);
    write_in_place(name, "2");
    assert_false(saves_look(&s, false)); /* it may still be being written */
    assert_true(saves_look(&s, false));
    write_in_place(name, "33");
    assert_true(is_told(&s, LONG)); /* the new folder is watched by now */
    saves_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_in_place),           cmocka_unit_test(renamed_over),
        cmocka_unit_test(put_aside_and_written_anew), cmocka_unit_test(through_a_link),
        cmocka_unit_test(the_folder_is_another),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
