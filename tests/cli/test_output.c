/* Where --output writes: never a file in the place of a device, a FIFO or a link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char said[512]; /* by cli_usage() */
int cli_usage(const struct cli *cli, const char *format, ...)
{
    (void)cli;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format,
              arguments); /* NOLINT(clang-analyzer-valist.*): it is set */
    va_end(arguments);
    return STATUS_USAGE;
}

static char folder[256], path[512], other[512];
static const char REPORT[] = "a report\n";

static int set_up(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(file_make_temp_dir(folder, sizeof folder, "test-output", &e), 0);
    snprintf(path, sizeof path, "%s/report", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

static void expect_report(const char *file)
{
    struct text content;
    struct err e;
    text_init(&content);
    if (file_read(file, 1000, &content, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(text_str(&content), REPORT);
    text_release(&content);
}

static mode_t kind_of(const char *file)
{
    struct stat st;
    assert_int_equal(lstat(file, &st), 0);
    return st.st_mode & S_IFMT;
}

static void new_and_old_files(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(cli_write_output(path, REPORT, strlen(REPORT), &e), 0);
    expect_report(path);
    assert_int_equal(file_write(path, "something longer than a report", 30, &e), 0);
    assert_int_equal(cli_write_output(path, REPORT, strlen(REPORT), &e), 0);
    expect_report(path);
}

static void links_stay(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(symlink("other", path), 0);
    for (int i = 0; i < 2; i++) { /* at first it leads nowhere */
        assert_int_equal(cli_write_output(path, REPORT, strlen(REPORT), &e), 0);
        assert_int_equal(kind_of(path), S_IFLNK);
        assert_int_equal(kind_of(other), S_IFREG);
        expect_report(other);
    }
}

static void fifos_stay(void **state)
{
    (void)state;
    struct err e;
    char got[64];
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(cli_write_output(path, REPORT, strlen(REPORT), &e), 0);
    assert_int_equal(read(fd, got, sizeof got), (int)strlen(REPORT));
    assert_int_equal(kind_of(path), S_IFIFO);
    close(fd);
}

/* A node like /dev/full where that may be made, so that a fault does not take the machine's. */
static void devices_stay(void **state)
{
    (void)state;
    struct err e;
    if (mknod(path, S_IFCHR | 0600, makedev(1, 7)) != 0)
        skip();
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) /* a file system without devices */
        skip();
    close(fd);
    assert_int_equal(cli_write_output(path, REPORT, strlen(REPORT), &e), -1);
    assert_non_null(strstr(e.text, "No space left on device"));
    assert_int_equal(kind_of(path), S_IFCHR);
}

static void faults(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(cli_write_output(folder, REPORT, strlen(REPORT), &e), -1);
    snprintf(path, sizeof path, "%s/nowhere/report", folder);
    assert_int_equal(cli_write_output(path, REPORT, strlen(REPORT), &e), -1);
    assert_false(cli_same_file(path, path));
    assert_true(cli_same_file(folder, folder));
}

static void expect_refusal(const char *file, const char *why)
{
    assert_int_equal(cli_check_output(NULL, "output", file, NULL), STATUS_USAGE);
    if (!strstr(said, why))
        fail_msg("says \"%s\"", said);
}

static void asked_beforehand(void **state)
{
    (void)state;
    struct err e;
    char at[600];
    assert_int_equal(cli_check_output(NULL, "output", NULL, NULL), STATUS_DONE);
    assert_int_equal(cli_check_output(NULL, "output", path, NULL), STATUS_DONE);
    assert_int_equal(cli_check_output(NULL, "output", "plain_name", NULL), STATUS_DONE);
    assert_int_equal(cli_check_output(NULL, "output", "/dev/null", NULL), STATUS_DONE);
    assert_int_equal(file_exists(path), false); /* nothing is made by asking */
    expect_refusal(folder, "is a folder");
    snprintf(at, sizeof at, "%s/nowhere/report", folder);
    expect_refusal(at, "there is no folder");
    assert_int_equal(file_write(other, REPORT, strlen(REPORT), &e), 0);
    snprintf(at, sizeof at, "%s/report", other);
    expect_refusal(at, "other is no folder");
    assert_int_equal(cli_check_output(NULL, "output", other, other), STATUS_USAGE);
    assert_non_null(strstr(said, "would overwrite the submission"));
    assert_int_equal(symlink("gone/report", path), 0);
    assert_int_equal(cli_check_output(NULL, "output", path, NULL), STATUS_DONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(new_and_old_files), TEST(links_stay), TEST(fifos_stay),
        TEST(devices_stay),      TEST(faults),     TEST(asked_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
