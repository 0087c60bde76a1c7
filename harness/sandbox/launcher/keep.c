/* The judge removes its control groups itself. If it was killed, nobody else would: they are not
 * bound to any process. */
#define _GNU_SOURCE
#include "sandbox/launcher/launcher.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* A truncated name is the name of nothing. */
static bool join(char *path, size_t bytes, const char *folder, const char *name)
{
    int length = snprintf(path, bytes, "%s/%s", folder, name);
    return length > 0 && (size_t)length < bytes;
}

/* Ten seconds; launchers get the first of them to end what they started and to tidy up. */
enum { ATTEMPTS = 2000, ATTEMPT_US = 5000, PATIENCE = 200 };

static void kill_members(const char *group)
{
    char path[PATH_MAX];
    FILE *list = join(path, sizeof path, group, "cgroup.procs") ? fopen(path, "re") : NULL;
    int pid;
    while (list && fscanf(list, "%d", &pid) == 1)
        if (pid > 1)
            kill(pid, SIGKILL);
    if (list)
        fclose(list);
}

/* true: it is gone. */
static bool remove_group(const char *folder, bool kill_first)
{
    DIR *list = opendir(folder);
    for (struct dirent *d; list && (d = readdir(list));) {
        char group[PATH_MAX];
        if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
            !join(group, sizeof group, folder, d->d_name))
            continue;
        if (kill_first)
            kill_members(group);
        rmdir(group);
    }
    if (list)
        closedir(list);
    return rmdir(folder) == 0 || errno == ENOENT;
}

int keep_groups(char **folders)
{
    char byte;
    ssize_t got;
    do
        got = read(LAUNCH_FD, &byte, 1);
    while (got > 0 || (got < 0 && errno == EINTR));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool gone = true;
        for (char **f = folders; *f; f++)
            gone &= remove_group(*f, attempt >= PATIENCE);
        if (gone)
            return 0;
        usleep(ATTEMPT_US);
    }
    return 1;
}
