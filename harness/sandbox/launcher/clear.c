/* Descends by descriptors, never by paths: nobody can put a link in the way. */
#define _GNU_SOURCE
#include "sandbox/launcher/launcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 200 }; /* each level holds a descriptor */

static void clear_below(int parent, const char *name, int depth)
{
    fchmodat(parent, name, 0700, 0); /* a folder of ours may have been closed to us */
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0)
        close(fd);
    for (struct dirent *d; list && (d = readdir(list));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        struct stat st;
        if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
            if (depth < DEEPEST)
                clear_below(fd, d->d_name, depth + 1);
        } else {
            unlinkat(fd, d->d_name, 0);
        }
    }
    if (list)
        closedir(list);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void clear_folder(const char *path)
{
    clear_below(AT_FDCWD, path, 0);
}
