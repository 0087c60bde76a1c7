#include "sandbox/parts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NO_RLIMIT = -1, PER_PROCESSOR = 4, OURS = 2 /* bubblewrap and the launcher */ };

enum limit_row {
#define LIMIT(field, resource, unit, usual, why) ROW_##field,
#include "sandbox/limits.def"
#undef LIMIT
    ROW_COUNT
};

static const struct {
    int resource;
    uint64_t unit, usual;
    size_t offset;
} ROWS[ROW_COUNT] = {
#define LIMIT(field, resource, unit, usual, why)                                                   \
    {resource, unit, usual, offsetof(struct sandbox_limits, field)},
#include "sandbox/limits.def"
#undef LIMIT
};

static uint64_t value_of(const struct sandbox_limits *limits, enum limit_row row)
{
    uint64_t value;
    memcpy(&value, (const char *)limits + ROWS[row].offset, sizeof value);
    return value ? value : ROWS[row].usual;
}

/* Threads count, and who computes wants as many as there are processors. */
uint64_t limits_processes(const struct sandbox_limits *limits)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t more = limits->processes || processors < 1 ? 0 : (uint64_t)processors * PER_PROCESSOR;
    return value_of(limits, ROW_processes) + more + OURS;
}

/* Since Linux 5.14 a user namespace counts its own. */
static bool namespaces_count(void)
{
    struct utsname kernel;
    int major = 0, minor = 0;
    return uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

static uint64_t threads_of(const char *process)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%.20s/task", process);
    /* one link for each folder in it, and two more */
    return stat(path, &st) == 0 && st.st_uid == getuid() && st.st_nlink > 2 ? st.st_nlink - 2 : 0;
}

/* What the limit counts as well: everything else that this user runs. */
static uint64_t others_of_user(void)
{
    DIR *list = opendir("/proc");
    uint64_t count = 0;
    for (struct dirent *d; list && (d = readdir(list));)
        if (isdigit((unsigned char)d->d_name[0]))
            count += threads_of(d->d_name);
    if (list)
        closedir(list);
    return count;
}

unsigned limits_fill(const struct sandbox_limits *limits, enum sandbox_tier tier, bool alone,
                     struct launch_limit to[LAUNCH_LIMITS_MAX])
{
    unsigned count = 0;
    for (unsigned row = 0; row < ROW_COUNT; row++) {
        uint64_t value = value_of(limits, row);
        if (ROWS[row].resource == NO_RLIMIT || value == 0)
            continue;
        if (row == ROW_processes) {
            value = limits_processes(limits);
            if (!alone && !(tier == SANDBOX_NAMESPACES && namespaces_count()))
                value += others_of_user();
        }
        if (ROWS[row].unit > 1)
            value = value / ROWS[row].unit + 1;
        to[count++] = (struct launch_limit){(uint64_t)ROWS[row].resource, value};
    }
    to[count++] = (struct launch_limit){RLIMIT_CORE, 0};
    return count;
}
