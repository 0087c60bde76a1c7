/* saves: tells when a file was saved, however an editor does that: written in place, put aside and
 * written anew, or renamed over. A moment without the file is no save.
 *
 * inotify on its folder, and on the folder that a link leads to, is what wakes us; whether
 * something was saved is decided by looking at the file. Where inotify hears nothing (a network's
 * folders, a folder that was exchanged, no instance left) looking alone does, a second later. */
#ifndef CLI_SAVES_H
#define CLI_SAVES_H

#include <stdbool.h>
#include <sys/stat.h>

struct saves {
    const char *path;           /* the caller's; lives as long as this */
    int fd;                     /* readable: look; -1 = there is no inotify */
    int wait_ms;                /* look at least this often */
    struct stat seen, changing; /* at the last save; at the last look, if that was another */
};

/* Takes the file as it is now as known. */
void saves_init(struct saves *s, const char *path);
void saves_release(struct saves *s);

/* After fd was readable (`woken`), or wait_ms have passed: was the file saved since the last time
 * this said so? Takes up to a third of a second, until an editor is through. */
bool saves_look(struct saves *s, bool woken);

#endif
