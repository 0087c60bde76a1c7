#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read(const char *path, size_t max_bytes, struct text *out, struct err *e)
{
    text_clear(out);
    /* O_NONBLOCK: opening a FIFO somebody left there must not hang. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(e, "cannot open %s", path);
    int status = -1;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        err_set_errno(e, "cannot read %s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        err_set(e, "%s is not a regular file", path);
        goto out;
    }
    for (;;) {
        char block[65536];
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            err_set_errno(e, "cannot read %s", path);
            goto out;
        }
        if (got == 0)
            break;
        if (out->length + (size_t)got > max_bytes) {
            err_set(e, "%s is larger than the %zu bytes allowed", path, max_bytes);
            goto out;
        }
        text_addn(out, block, (size_t)got);
    }
    status = 0;
out:
    close(fd);
    return status;
}

int file_write(const char *path, const void *bytes, size_t count, struct err *e)
{
    char temp[4096];
    if (snprintf(temp, sizeof temp, "%s.XXXXXX", path) >= (int)sizeof temp)
        return err_set(e, "the path %s is too long", path);
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(e, "cannot create %s", temp);
    const char *p = bytes;
    size_t left = count;
    while (left) {
        ssize_t put = write(fd, p, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            err_set_errno(e, "cannot write %s", temp);
            goto fail;
        }
        p += put;
        left -= (size_t)put;
    }
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0 || rename(temp, path) != 0) {
        err_set_errno(e, "cannot write %s", path);
        goto fail;
    }
    close(fd);
    return 0;
fail:
    close(fd);
    unlink(temp);
    return -1;
}

int file_make_dirs(const char *path, struct err *e)
{
    char part[4096];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return err_set(e, "cannot create a folder named '%s'", path);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return err_set_errno(e, "cannot create the folder %s", part);
        part[i] = kept;
    }
    if (!file_is_dir(path))
        return err_set(e, "%s exists and is not a folder", path);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

int file_remove_tree(const char *path, struct err *e)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return err_set_errno(e, "cannot remove %s", path);
    return 0;
}

int file_copy(const char *from, const char *to, struct err *e)
{
    struct text content;
    text_init(&content);
    int status = file_read(from, (size_t)1 << 32, &content, e);
    if (status == 0)
        status = file_write(to, text_str(&content), content.length, e);
    text_release(&content);
    return status;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int file_make_temp_dir(char *path, size_t path_bytes, const char *prefix, struct err *e)
{
    const char *top = getenv("TMPDIR");
    if (!top || !top[0])
        top = "/tmp";
    if (snprintf(path, path_bytes, "%s/%s.XXXXXX", top, prefix) >= (int)path_bytes)
        return err_set(e, "the path of the temporary folder %s is too long", top);
    if (!mkdtemp(path))
        return err_set_errno(e, "cannot create a temporary folder in %s", top);
    return 0;
}
