/* How it works: who holds a lock is asked of the kernel (/proc/locks), not of the file, whose
 * contents anybody may write and nobody takes back when a holder is killed.
 *
 * The file is opened for reading, which is all that flock() needs: in a sticky folder Linux refuses
 * to open another user's file with O_CREAT (fs.protected_regular), so it is made with O_EXCL and
 * found again without O_CREAT. Whoever cleans the folder may remove it in between: a lock counts
 * only if the name still leads to the file that was locked. */
#include "judge/gpu/lock.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { PROC_LOCKS_BYTES = 1 << 20, ATTEMPTS = 100 };
static const struct timespec POLL = {.tv_nsec = 20000000};

const char *card_lock_folder(void)
{
    static const char *const FOLDERS[] = {"/run/lock", "/var/lock", "/tmp"};
    /* By its mode, not by who we are: everybody must end up in the same folder. */
    const mode_t everybody = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO;
    struct stat st;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++)
        if (stat(FOLDERS[i], &st) == 0 && S_ISDIR(st.st_mode) &&
            (st.st_mode & everybody) == everybody)
            return FOLDERS[i];
    return NULL;
}

/* A descriptor of the lock's file, -1 with errno. */
static int open_file(const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (int i = 0; i < ATTEMPTS; i++) {
        int fd = open(path, flags);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        fd = open(path, flags | O_CREAT | O_EXCL, 0666);
        if (fd >= 0)
            fchmod(fd, 0666); /* whatever our umask is */
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

enum taken { TAKEN, HELD, FAILED };

static enum taken try_lock(const char *path, int *fd, struct err *e)
{
    struct stat ours, named;
    for (int i = 0; i < ATTEMPTS; i++) {
        *fd = open_file(path);
        if (*fd < 0 || fstat(*fd, &ours) != 0)
            break;
        if (!S_ISREG(ours.st_mode)) {
            close(*fd);
            err_set(e, "%s should be the lock of a card, and is no plain file: remove it", path);
            return FAILED;
        }
        if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
            bool held = errno == EWOULDBLOCK;
            if (!held)
                break;
            close(*fd);
            return HELD;
        }
        if (lstat(path, &named) == 0 && named.st_ino == ours.st_ino && named.st_dev == ours.st_dev)
            return TAKEN;
        close(*fd); /* removed meanwhile: what we locked is nobody's any more */
        *fd = -1;
    }
    err_set_errno(e, "the lock of the card, %s, cannot be taken", path);
    if (*fd >= 0)
        close(*fd);
    return FAILED;
}

/* ---- who holds it ---- */

/* The process that holds a flock() on this file; 0 if the kernel does not say. */
static long holder_of(const struct stat *st)
{
    struct text locks;
    text_init(&locks);
    long pid = 0;
    if (file_read("/proc/locks", PROC_LOCKS_BYTES, &locks, NULL) != 0)
        goto out;
    for (const char *line = text_str(&locks); *line && !pid;) {
        long candidate;
        unsigned device_major, device_minor;
        uint64_t inode;
        if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%" SCNu64, &candidate, &device_major,
                   &device_minor, &inode) == 4 &&
            inode == st->st_ino && device_major == major(st->st_dev) &&
            device_minor == minor(st->st_dev))
            pid = candidate;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
out:
    text_release(&locks);
    return pid;
}

/* "judge run multi-block-scan a.cu (process 123 of anna)" */
static const char *describe_process(long pid, struct arena *arena)
{
    struct text words;
    struct stat st;
    char path[64];
    text_init(&words);
    snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char line[256];
    ssize_t got = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0)
        close(fd);
    line[got > 0 ? got : 0] = '\0';
    const char *name = file_base_name(line); /* of the first word only */
    for (ssize_t i = 0; i < got - 1; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    snprintf(path, sizeof path, "/proc/%ld", pid);
    const struct passwd *user = stat(path, &st) == 0 ? getpwuid(st.st_uid) : NULL;
    text_addf(&words, "%s (process %ld", name[0] ? name : "another program", pid);
    if (user)
        text_addf(&words, " of %s", user->pw_name);
    text_addc(&words, ')');
    const char *result = arena_strdup(arena, text_str(&words));
    text_release(&words);
    return result;
}

static const char *describe(const struct cards *cards, const char *const *paths,
                            struct arena *arena)
{
    struct text all;
    struct stat st;
    text_init(&all);
    for (unsigned i = 0; i < cards->count; i++) {
        long pid = stat(paths[i], &st) == 0 ? holder_of(&st) : 0;
        text_addf(&all, "%scard %u (%s) is in use by %s", i ? ", " : "", cards->items[i].number,
                  cards->items[i].name, pid > 0 ? describe_process(pid, arena) : "another judging");
    }
    text_add(&all, "; waiting for it to end");
    const char *result = arena_strdup(arena, text_str(&all));
    text_release(&all);
    return result;
}

/* ---- taking one ---- */

/* The first free one of them. */
static enum taken take_any(const struct cards *cards, const char *const *paths,
                           struct card_lock *lock, struct err *e)
{
    for (unsigned i = 0; i < cards->count; i++) {
        enum taken taken = try_lock(paths[i], &lock->fd, e);
        if (taken == TAKEN)
            lock->card = &cards->items[i];
        else
            lock->fd = -1;
        if (taken != HELD)
            return taken;
    }
    return HELD;
}

int card_lock_take(const struct cards *cards, const char *folder, struct arena *arena,
                   void (*waiting)(void *context, const char *sentence), void *context,
                   struct card_lock *lock, struct err *e)
{
    *lock = (struct card_lock){.fd = -1};
    if (!folder)
        folder = card_lock_folder();
    if (!folder)
        return err_set(e, "neither /run/lock nor /tmp is a folder in which everybody may make "
                          "files: there is no place for the lock of a card");
    const char **paths = arena_array(arena, cards->count, sizeof *paths);
    for (unsigned i = 0; i < cards->count; i++)
        paths[i] = arena_printf(arena, "%s/scanjudge-%s.lock", folder, cards->items[i].uuid);
    enum taken taken = take_any(cards, paths, lock, e);
    if (taken == HELD && waiting)
        waiting(context, describe(cards, paths, arena));
    while (taken == HELD) {
        nanosleep(&POLL, NULL);
        taken = take_any(cards, paths, lock, e);
    }
    return taken == TAKEN ? 0 : -1;
}

void card_lock_release(struct card_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    *lock = (struct card_lock){.fd = -1};
}
