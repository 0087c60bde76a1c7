#include "cli/saves.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    LOOK_MS = 1000,
    LOOK_OFTEN_MS = 200, /* without inotify */
    QUIET_MS = 20,       /* editors do several things to a file at once */
    SETTLE_ROUNDS = 15,
};

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void watch_folder_of(const struct saves *s, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = !slash ? 0 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", slash ? length : 1, slash ? path : ".");
    /* Adding it once more changes nothing; a folder that took its place is another one. */
    inotify_add_watch(s->fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR);
}

static void watch_folders(const struct saves *s)
{
    char target[PATH_MAX];
    if (s->fd < 0)
        return;
    watch_folder_of(s, s->path);
    if (realpath(s->path, target))
        watch_folder_of(s, target);
}

void saves_init(struct saves *s, const char *path)
{
    *s = (struct saves){.path = path, .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    s->wait_ms = s->fd < 0 ? LOOK_OFTEN_MS : LOOK_MS;
    watch_folders(s);
    stat(path, &s->seen);
    s->changing = s->seen;
}

void saves_release(struct saves *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* What happened does not matter: the file is looked at. */
static void drain(const struct saves *s)
{
    char events[4096];
    while (read(s->fd, events, sizeof events) > 0)
        continue;
}

static void settle(const struct saves *s)
{
    struct pollfd more = {.fd = s->fd, .events = POLLIN};
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        drain(s);
        if (poll(&more, 1, QUIET_MS) <= 0)
            return;
    }
}

bool saves_look(struct saves *s, bool woken)
{
    struct stat now;
    if (woken)
        settle(s);
    watch_folders(s);
    if (stat(s->path, &now) != 0 || is_same(&now, &s->seen))
        return false;
    /* Nobody said that it is complete: only when it has stayed as it is from one look to the next.
     */
    if (!woken && !is_same(&now, &s->changing)) {
        s->changing = now;
        return false;
    }
    s->seen = s->changing = now;
    return true;
}
