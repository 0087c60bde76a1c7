/* --output FILE. A regular file, or a new one, is replaced as a whole, so that a reader sees the
 * old report or the new. Anything else - a device, a FIFO, what stdout is - is written straight
 * into: to rename over it would put a file in its place. */
#include "cli/cli.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *path, const char *bytes, size_t count, struct err *e)
{
    while (count) {
        ssize_t put = write(fd, bytes, count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set_errno(e, "cannot write %s", path);
        bytes += put;
        count -= (size_t)put;
    }
    return 0;
}

static int write_straight(const char *path, int flags, const char *bytes, size_t count,
                          struct err *e)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return err_set_errno(e, "cannot open %s", path);
    int status = write_all(fd, path, bytes, count, e);
    if (close(fd) != 0 && status == 0)
        status = err_set_errno(e, "cannot write %s", path);
    return status;
}

/* /dev/stdout and /dev/stderr with a file behind them: theirs is the place in it. */
static int same_as_ours(const struct stat *st)
{
    struct stat ours;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &ours) == 0 && ours.st_dev == st->st_dev && ours.st_ino == st->st_ino)
            return fd;
    return -1;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* The folder that a path leads into: "a/b.json" -> "a", "b.json" -> ".". */
static void folder_of(const char *path, char *folder, size_t bytes)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(folder, bytes, ".");
    else
        snprintf(folder, bytes, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int cli_check_output(const struct cli *cli, const char *option, const char *path,
                     const char *submission)
{
    struct stat st;
    char folder[PATH_MAX], target[PATH_MAX];
    if (!path)
        return STATUS_DONE;
    if (submission && cli_same_file(path, submission))
        return cli_usage(cli, "--%s %s would overwrite the submission.", option, path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return cli_usage(cli, "--%s %s is a folder; name a file in it.", option, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return STATUS_DONE; /* a device, a FIFO: what stands behind it shows when it is opened */
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && !realpath(path, target))
        return STATUS_DONE; /* a link into nothing, the same */
    folder_of(S_ISLNK(st.st_mode) ? target : path, folder, sizeof folder);
    if (stat(folder, &st) != 0)
        return cli_usage(cli, "--%s %s cannot be written: there is no folder %s (%s).", option,
                         path, folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return cli_usage(cli, "--%s %s cannot be written: %s is no folder.", option, path, folder);
    if (access(folder, W_OK | X_OK) != 0)
        return cli_usage(cli, "--%s %s cannot be written: the folder %s does not allow it (%s).",
                         option, path, folder, strerror(errno));
    return STATUS_DONE;
}

int cli_write_output(const char *path, const char *bytes, size_t count, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        bool dangling = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
        return dangling ? write_straight(path, O_CREAT | O_TRUNC, bytes, count, e)
                        : file_write(path, bytes, count, e);
    }
    int fd = same_as_ours(&st);
    if (fd >= 0)
        return write_all(fd, path, bytes, count, e);
    if (!S_ISREG(st.st_mode))
        return write_straight(path, 0, bytes, count, e);
    char *target = realpath(path, NULL); /* a link stays a link */
    if (!target)
        return err_set_errno(e, "cannot resolve %s", path);
    int status = file_write(target, bytes, count, e);
    free(target);
    return status;
}
