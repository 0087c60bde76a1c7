/* A process that opens boxes has a folder scanjudge-PID in each hierarchy, with one folder for each
 * box. Version 1 has memory and processes apart, or together; version 2 has one hierarchy, and
 * wants both controllers handed on by the folder above. A keeper (the launcher once more) removes
 * what is left when this process is gone. If both were killed, the next process that makes such a
 * folder beside it does: nobody holds its lock any more (a PID would say nothing between
 * containers). */
#include "sandbox/parts.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HIERARCHIES = 2, VALUE_BYTES = 4096, ATTEMPTS = 200, ATTEMPT_NS = 1000000 };
static const char PREFIX[] = "scanjudge-";

static struct {
    unsigned version; /* 0 = no control groups */
    unsigned count;
    char folders[HIERARCHIES][PATH_MAX]; /* of this process; [0] has memory */
    int locks[HIERARCHIES];              /* held on those folders; -1 = not to be opened */
    int keeper_fd;
    atomic_uint last;
} groups = {.keeper_fd = -1};

/* ---- finding a place ---- */

static bool has_word(const char *list, const char *word, const char *separators)
{
    size_t length = strlen(word);
    while (*list) {
        size_t here = strcspn(list, separators);
        if (here == length && strncmp(list, word, length) == 0)
            return true;
        list += here + (list[here] != '\0');
    }
    return false;
}

/* Our own folder in the hierarchy of this controller, as /proc/self/cgroup says. */
static bool own_path(const char *controller, char path[PATH_MAX])
{
    FILE *list = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    bool found = false;
    while (list && !found && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;
        if (!at)
            continue;
        *at = '\0';
        found = controller[0] ? has_word(names + 1, controller, ",") : names[1] == '\0';
        if (found)
            snprintf(path, PATH_MAX, "%s", at + 1);
    }
    if (list)
        fclose(list);
    return found;
}

/* Where that hierarchy is mounted ("" = version 2), and its folder that is the mount's root. */
static bool mount_point(const char *controller, char root[PATH_MAX], char at[PATH_MAX])
{
    FILE *list = fopen("/proc/self/mountinfo", "re");
    char line[3 * PATH_MAX];
    bool found = false;
    while (list && !found && fgets(line, sizeof line, list)) {
        char type[64], options[512];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, at) != 2 ||
            sscanf(rest, " - %63s %*s %511s", type, options) != 2)
            continue;
        found = controller[0] ? strcmp(type, "cgroup") == 0 && has_word(options, controller, ",")
                              : strcmp(type, "cgroup2") == 0;
    }
    if (list)
        fclose(list);
    return found;
}

/* The file system's path of our own folder. */
static bool own_folder(const char *controller, char folder[PATH_MAX])
{
    char root[PATH_MAX], at[PATH_MAX], own[PATH_MAX];
    if (!own_path(controller, own) || !mount_point(controller, root, at))
        return false;
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    /* Seen from a namespace, the mount's root may be the only name of where we are. */
    const char *below = strncmp(own, root, length) == 0 ? own + length : "";
    if (strcmp(below, "/") == 0)
        below = "";
    return snprintf(folder, PATH_MAX, "%s%s", at, below) < PATH_MAX && file_is_dir(folder);
}

static bool put(const char *folder, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool put(const char *folder, const char *name, const char *format, ...)
{
    char path[PATH_MAX], value[64];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(value, sizeof value, format, list);
    va_end(list);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX)
        return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, value, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The contents of a file of a group; "" if it is not there. */
static void get(const char *folder, const char *name, char value[VALUE_BYTES])
{
    char path[PATH_MAX];
    value[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, value, VALUE_BYTES - 1) : 0;
    if (fd >= 0)
        close(fd);
    value[got > 0 ? got : 0] = '\0';
}

/* A folder hands on what its subtree_control names, and may then have no processes of its own: the
 * one above ours, or the root of all. */
static bool hands_on(const char *folder)
{
    char value[VALUE_BYTES];
    put(folder, "cgroup.subtree_control", "+memory +pids");
    get(folder, "cgroup.subtree_control", value);
    return has_word(value, "memory", " \n") && has_word(value, "pids", " \n");
}

/* Removes a group without processes and the groups in it; one with processes stays. */
static void remove_empty(int above_fd, const char *name)
{
    int fd = openat(above_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fdopendir(fd) : NULL;
    if (!list) { /* in use, or just gone */
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *d; (d = readdir(list));)
        if (d->d_type == DT_DIR && d->d_name[0] != '.')
            unlinkat(fd, d->d_name, AT_REMOVEDIR);
    unlinkat(above_fd, name, AT_REMOVEDIR);
    closedir(list);
}

static void remove_abandoned(const char *above)
{
    DIR *list = opendir(above);
    for (const struct dirent *d; list && (d = readdir(list));)
        if (d->d_type == DT_DIR && strncmp(d->d_name, PREFIX, sizeof PREFIX - 1) == 0)
            remove_empty(dirfd(list), d->d_name);
    if (list)
        closedir(list);
}

/* Locks the folder; false if somebody thought it abandoned before we did, and is removing it or has
 * removed it. Nobody is waited for: whoever can read the folder can lock it. */
static bool lock_folder(const char *folder, int *lock)
{
    struct stat locked, there;
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return errno != ENOENT;
    bool held = flock(*lock, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (held && fstat(*lock, &locked) == 0 && stat(folder, &there) == 0 &&
        there.st_ino == locked.st_ino)
        return true;
    close(*lock);
    *lock = -1;
    return false;
}

static bool make_folder(unsigned index, const char *above)
{
    char *folder = groups.folders[index];
    if (snprintf(folder, PATH_MAX, "%s/%s%d", above, PREFIX, (int)getpid()) >= PATH_MAX)
        return false;
    remove_abandoned(above);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (mkdir(folder, 0755) != 0 && errno != EEXIST)
            return false;
        if (lock_folder(folder, &groups.locks[index]))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = ATTEMPT_NS}, NULL);
    }
    return false;
}

static void drop_folder(unsigned index)
{
    rmdir(groups.folders[index]);
    if (groups.locks[index] >= 0)
        close(groups.locks[index]);
}

static bool setup_second(void)
{
    char folder[PATH_MAX], root[PATH_MAX], at[PATH_MAX];
    if (!own_folder("", folder))
        return false;
    char *slash = strrchr(folder, '/');
    *slash = '\0'; /* beside us */
    bool found = slash != folder && hands_on(folder) && make_folder(0, folder);
    if (!found && mount_point("", root, at))
        found = hands_on(at) && make_folder(0, at);
    if (found && !hands_on(groups.folders[0])) {
        drop_folder(0);
        found = false;
    }
    if (found) {
        groups.version = 2;
        groups.count = 1;
    }
    return found;
}

static bool setup_first(void)
{
    char memory[PATH_MAX], processes[PATH_MAX];
    if (!own_folder("memory", memory) || !own_folder("pids", processes))
        return false;
    bool together = strcmp(memory, processes) == 0;
    if (!make_folder(0, memory))
        return false;
    if (!together && !make_folder(1, processes)) {
        drop_folder(0);
        return false;
    }
    groups.version = 1;
    groups.count = together ? 1 : 2;
    return true;
}

static void remove_folders(void)
{
    for (unsigned i = 0; i < groups.count; i++)
        rmdir(groups.folders[i]); /* the keeper does it if a box is still ending */
}

/* The keeper sees the end of this process as the end of its socket. */
static bool start_keeper(const struct machine *m, struct err *e)
{
    const char *argv[] = {m->launcher, "keep", groups.folders[0],
                          groups.count > 1 ? groups.folders[1] : NULL, NULL};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set_errno(e, "no socket to the keeper of the control groups") == 0;
    const struct proc_spec spec = {
        .argv = argv, .folder = "/", .keep_fd = ends[1], .survives = true};
    struct proc keeper;
    int status = proc_start(&spec, &keeper, e);
    close(ends[1]);
    if (status != 0) {
        close(ends[0]);
        return false;
    }
    close(keeper.stdout_fd);
    close(keeper.stderr_fd);
    groups.keeper_fd = ends[0];
    return true;
}

bool group_setup(const struct machine *m, char *why, size_t why_bytes)
{
    struct err e;
    if (!setup_second() && !setup_first()) {
        snprintf(why, why_bytes, "none that we may divide");
        return false;
    }
    if (start_keeper(m, &e)) {
        atexit(remove_folders);
        return true;
    }
    remove_folders();
    groups.version = 0;
    snprintf(why, why_bytes, "%s", e.text);
    return false;
}

bool group_available(void)
{
    return groups.version != 0;
}

unsigned group_version(void)
{
    return groups.version;
}

/* ---- one box ---- */

static void folder_of(const struct group *g, unsigned index, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%u", groups.folders[index], g->number) >= PATH_MAX)
        BUG("a control group's name became too long");
}

int group_open(struct group *g, struct err *e)
{
    *g = (struct group){.join = {-1, -1}};
    if (!groups.version)
        return 0;
    g->number = atomic_fetch_add(&groups.last, 1) + 1;
    g->count = groups.count;
    for (unsigned i = 0; i < g->count; i++) {
        char path[PATH_MAX], file[PATH_MAX];
        folder_of(g, i, path);
        if (mkdir(path, 0755) != 0) {
            err_set_errno(e, "cannot make the control group %s", path);
            group_close(g);
            return -1;
        }
        snprintf(file, sizeof file, "%.*s/cgroup.procs", PATH_MAX - 16, path);
        g->join[i] = open(file, O_WRONLY | O_CLOEXEC);
        if (g->join[i] < 0) {
            err_set_errno(e, "cannot open %s", file);
            group_close(g);
            return -1;
        }
    }
    return 0;
}

int group_limit(const struct group *g, uint64_t memory_bytes, uint64_t processes, struct err *e)
{
    if (!g->number)
        return 0;
    char memory[PATH_MAX], pids[PATH_MAX];
    folder_of(g, 0, memory);
    folder_of(g, g->count - 1, pids);
    const char *name = groups.version == 2 ? "memory.max" : "memory.limit_in_bytes";
    bool ok = !processes || put(pids, "pids.max", "%llu", (unsigned long long)processes);
    if (ok && memory_bytes) {
        ok = put(memory, name, "%llu", (unsigned long long)memory_bytes);
        /* Nothing goes to swap instead, where there is any. */
        if (groups.version == 2)
            put(memory, "memory.swap.max", "0");
        else
            put(memory, "memory.memsw.limit_in_bytes", "%llu", (unsigned long long)memory_bytes);
    }
    return ok ? 0 : err_set_errno(e, "cannot set the limits of the control group %s", memory);
}

/* The number behind `word` in a file of "word number" lines. */
static unsigned long long number_behind(const char *value, const char *word)
{
    size_t length = strlen(word);
    for (const char *line = value; line && *line;) {
        if (strncmp(line, word, length) == 0 && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return 0;
}

void group_usage(const struct group *g, uint64_t *peak_bytes, bool *out_of_memory)
{
    if (!g->number)
        return;
    char folder[PATH_MAX], value[VALUE_BYTES];
    folder_of(g, 0, folder);
    bool second = groups.version == 2;
    get(folder, second ? "memory.events" : "memory.oom_control", value);
    *out_of_memory = number_behind(value, "oom_kill") > 0;
    get(folder, second ? "memory.peak" : "memory.max_usage_in_bytes", value);
    unsigned long long peak = strtoull(value, NULL, 10);
    if (peak)
        *peak_bytes = peak;
}

static void kill_members(const char *folder)
{
    char value[VALUE_BYTES];
    if (put(folder, "cgroup.kill", "1"))
        return;
    get(folder, "cgroup.procs", value);
    for (char *at = value, *end; *at; at = end + (*end != '\0')) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            return;
        if (pid > 1)
            kill((pid_t)pid, SIGKILL);
    }
}

void group_close(struct group *g)
{
    for (unsigned i = 0; i < g->count && g->number; i++) {
        char path[PATH_MAX];
        folder_of(g, i, path);
        if (g->join[i] >= 0)
            close(g->join[i]);
        for (int attempt = 0; attempt < ATTEMPTS && rmdir(path) != 0 && errno == EBUSY; attempt++) {
            kill_members(path);
            nanosleep(&(struct timespec){.tv_nsec = ATTEMPT_NS}, NULL);
        }
    }
    *g = (struct group){.join = {-1, -1}};
}
