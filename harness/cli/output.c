/* --output FILE. A regular file, or a new one, is replaced as a whole, so that a reader sees the
 * old report or the new. Anything else - a device, a FIFO, what stdout is - is written straight
 * into: to rename over it would put a file in its place. */
#include "cli/cli.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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
