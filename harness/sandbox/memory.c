/* Programs and libraries go into a box as sealed memory, not as files: the user of the box may not
 * be able to reach them, and where that user is the judge's own, a descriptor of the file itself
 * would let a box change its mode, or open it again to write. A copy costs once per process. */
#include "sandbox/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPIES_MAX = 64 };

static struct {
    pthread_mutex_t lock;
    unsigned count, next;
    struct {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec time;
        int fd;
    } items[COPIES_MAX];
} copies = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int seal(int fd, struct err *e)
{
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return fd;
    err_set_errno(e, "cannot seal memory for a box");
    close(fd);
    return -1;
}

static int make(struct err *e)
{
    int fd = memfd_create("box", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd >= 0 ? fd : err_set_errno(e, "no memory for a box");
}

int memory_of_bytes(const void *bytes, size_t count, struct err *e)
{
    int fd = make(e);
    for (size_t done = 0; fd >= 0 && done < count;) {
        ssize_t put = write(fd, (const char *)bytes + done, count - done);
        if (put < 0 && errno != EINTR) {
            err_set_errno(e, "no memory for a box");
            close(fd);
            return -1;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return fd < 0 ? fd : seal(fd, e);
}

static int copy(int from, const struct stat *st, const char *path, struct err *e)
{
    int fd = make(e);
    off_t at = 0;
    while (fd >= 0 && at < st->st_size) {
        ssize_t put = sendfile(fd, from, &at, (size_t)(st->st_size - at));
        if (put > 0 || (put < 0 && errno == EINTR))
            continue;
        if (put == 0)
            err_set(e, "%s became shorter while it was read", path);
        else
            err_set_errno(e, "cannot copy %s for a box", path);
        close(fd);
        return -1;
    }
    if (fd >= 0 && fchmod(fd, 0555) != 0) {
        err_set_errno(e, "cannot copy %s for a box", path);
        close(fd);
        return -1;
    }
    return fd < 0 ? fd : seal(fd, e);
}

/* The lock is held. */
static int find(const struct stat *st)
{
    for (unsigned i = 0; i < copies.count; i++)
        if (copies.items[i].device == st->st_dev && copies.items[i].inode == st->st_ino &&
            copies.items[i].size == st->st_size &&
            memcmp(&copies.items[i].time, &st->st_mtim, sizeof st->st_mtim) == 0)
            return copies.items[i].fd;
    return -1;
}

/* In the place of the oldest one, when there are many. */
static void keep(const struct stat *st, int fd)
{
    unsigned slot = copies.next++ % COPIES_MAX;
    if (slot < copies.count)
        close(copies.items[slot].fd);
    else
        copies.count = slot + 1;
    copies.items[slot].device = st->st_dev;
    copies.items[slot].inode = st->st_ino;
    copies.items[slot].size = st->st_size;
    copies.items[slot].time = st->st_mtim;
    copies.items[slot].fd = fd;
}

int memory_of_file(const char *path, struct err *e)
{
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (from < 0)
        return err_set_errno(e, "cannot read %s", path);
    int fd = -1;
    pthread_mutex_lock(&copies.lock);
    if (fstat(from, &st) != 0 || !S_ISREG(st.st_mode))
        err_set(e, "%s is not a regular file", path);
    else if ((fd = find(&st)) < 0 && (fd = copy(from, &st, path, e)) >= 0)
        keep(&st, fd);
    if (fd >= 0 && (fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
        err_set_errno(e, "no descriptor for %s", path);
    pthread_mutex_unlock(&copies.lock);
    close(from);
    return fd;
}
