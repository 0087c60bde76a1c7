/* launcher: the first process in a box. See sandbox/launch.h for what it is told and answers.
 *
 * Linked statically and small, because it starts with every box: system calls and little else. It
 * trusts the judge, and nothing of what it starts. */
#ifndef SANDBOX_LAUNCHER_LAUNCHER_H
#define SANDBOX_LAUNCHER_LAUNCHER_H

#include "sandbox/launch.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* An order, taken apart. Everything lies in the memory that it came in. */
struct launch {
    const struct launch_order *order;
    const struct sock_filter *filter;
    const char **argv, **environment;
    const char *file_names[LAUNCH_FILES_MAX];
    const char *file_bytes;
    const char *take_names[LAUNCH_TAKES_MAX];
    int program_fd, socket_fd, rules_fd; /* -1 = none */
    int parts[LAUNCH_FDS_MAX];
    char folder[LAUNCH_FOLDER_BYTES]; /* the private one; "" = none */
};

/* Sends a report; descriptors beside it, -1 = not this one. The other end may be gone. */
void launch_tell(int control_fd, struct launch_report *report, const int *fds, unsigned count);

/* LAUNCH_FAILED with this step and errno. */
void launch_fail(int control_fd, const char *step);

/* Becomes the program, after LAUNCH_STARTED; after LAUNCH_FAILED returns. */
void child_become(struct launch *l, int control_fd);

/* Becomes that user, with no other groups and nothing that root may do. false: errno. */
bool child_drop(unsigned user);

/* Removes a folder and everything in it, without following links. */
void clear_folder(const char *path);

/* Waits until descriptor 3 is at its end; then kills whoever is in the control groups below these
 * folders and removes them. */
int keep_groups(char **folders);

#endif
