#include "traces.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A driver that wakes keeps some megabytes for itself. */
enum { DEPTH_MAX = 5, STEP_US = 20000, LIST_BYTES = 1 << 20, CARD_SLACK_MIB = 64 };
static const uint64_t GRACE_NS = 2000000000u;

static const char MARK[] = "sj_attack";
static const char GROUP[] = "scanjudge-";

/* ---- lists: one thing per line ---- */

static void add_mounts(struct text *to)
{
    char line[8192];
    FILE *f = fopen("/proc/self/mountinfo", "re");
    while (f && fgets(line, sizeof line, f))
        text_addf(to, "mount %s", line);
    if (f)
        fclose(f);
}

/* The folders of judges that are gone. */
static bool is_orphaned_group(const char *name)
{
    return strncmp(name, GROUP, sizeof GROUP - 1) == 0 &&
           kill((pid_t)strtol(name + sizeof GROUP - 1, NULL, 10), 0) != 0 && errno == ESRCH;
}

static bool is_marked_file(const char *name)
{
    return strncmp(name, MARK, sizeof MARK - 1) == 0;
}

static void walk(const char *folder, unsigned depth, const char *what,
                 bool (*is_one)(const char *name), struct text *to)
{
    DIR *dir = depth ? opendir(folder) : NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[4096];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        if (is_one(entry->d_name))
            text_addf(to, "%s %s\n", what, path);
        else if (entry->d_type == DT_DIR)
            walk(path, depth - 1, what, is_one, to);
    }
    if (dir)
        closedir(dir);
}

static bool is_any(const char *name)
{
    (void)name;
    return true;
}

static bool is_work_folder(const char *name)
{
    return strncmp(name, "work.", 5) == 0;
}

static void add_files(const struct traces *t, struct text *to)
{
    static const char *const PLACES[] = {"/tmp",      "/var/tmp", "/dev", "/run",
                                         "/var/lock", "/root",    "/home"};
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++)
        walk(PLACES[i], 2, "file", is_marked_file, to);
    walk("/", 1, "file", is_marked_file, to);
    walk(t->folder, 2, "file", is_marked_file, to);
    walk(t->cache, DEPTH_MAX, "file", is_marked_file, to);
    walk(t->cache, DEPTH_MAX, "unfinished compilation", is_work_folder, to);
    char path[4096];
    snprintf(path, sizeof path, "%s/tmp", t->folder);
    walk(path, 1, "temporary file", is_any, to);
}

static void add_things(const struct traces *t, struct text *to)
{
    add_mounts(to);
    walk("/sys/fs/cgroup", DEPTH_MAX, "control group", is_orphaned_group, to);
    add_files(t, to);
    if (shmget(TRACES_KEY, 1, 0) >= 0)
        text_add(to, "segment of shared memory\n");
}

/* ---- what is new ---- */

static bool has_line(const struct text *list, const char *line, size_t length)
{
    for (const char *at = text_str(list); *at;) {
        size_t here = strcspn(at, "\n");
        if (here == length && strncmp(at, line, length) == 0)
            return true;
        at += here + (at[here] == '\n');
    }
    return false;
}

static void add_new(const struct traces *t, struct text *why)
{
    struct text now;
    text_init(&now);
    add_things(t, &now);
    for (const char *at = text_str(&now); *at;) {
        size_t length = strcspn(at, "\n");
        if (!has_line(&t->before, at, length))
            text_addf(why, "left behind: %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
    text_release(&now);
}

/* Megabytes in use on all cards; 0 where there is none. */
static unsigned long card_memory(const struct traces *t)
{
    unsigned long all = 0, mib;
    FILE *list = !t->on_card ? NULL
                             : popen("nvidia-smi --query-gpu=memory.used "
                                     "--format=csv,noheader,nounits 2>/dev/null",
                                     "re");
    while (list && fscanf(list, "%lu", &mib) == 1)
        all += mib;
    if (list)
        pclose(list);
    return all;
}

/* The first line of a file, "" if there is none. */
static const char *first_line(const char *path, char *line, size_t bytes)
{
    FILE *f = fopen(path, "re");
    if (!f || !fgets(line, (int)bytes, f))
        line[0] = '\0';
    if (f)
        fclose(f);
    return line;
}

/* Reaps; how many children live on. With `why` each is named there, and ended. */
static unsigned living_children(struct text *why)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    char path[64], line[4096], words[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    first_line(path, line, sizeof line);
    for (char *at = line, *end;; at = end, count++) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at || pid <= 0)
            return count;
        if (!why)
            continue;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        text_addf(why, "left behind: process %s\n", first_line(path, words, sizeof words));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static void remove_new(const struct text *why)
{
    for (const char *at = text_str(why); *at;) {
        size_t length = strcspn(at, "\n");
        const char *path = memchr(at, '/', length);
        if (path && (strstr(at, "file ") || strstr(at, "compilation "))) {
            struct text name;
            text_init(&name);
            text_addf(&name, "%.*s", (int)(length - (size_t)(path - at)), path);
            file_remove_tree(text_str(&name), NULL);
            text_release(&name);
        }
        at += length + (at[length] == '\n');
    }
    int segment = shmget(TRACES_KEY, 1, 0);
    if (segment >= 0)
        shmctl(segment, IPC_RMID, NULL);
}

void traces_look(struct traces *t, struct text *why)
{
    struct text found;
    uint64_t until = clock_now_ns() + GRACE_NS;
    text_init(&found);
    for (;;) {
        text_clear(&found);
        unsigned alive = living_children(NULL);
        add_new(t, &found);
        if ((alive == 0 && found.length == 0) || clock_now_ns() > until)
            break;
        usleep(STEP_US);
    }
    unsigned long mib = card_memory(t);
    while (mib > t->card_mib + CARD_SLACK_MIB && clock_now_ns() <= until) {
        usleep(STEP_US);
        mib = card_memory(t);
    }
    if (mib > t->card_mib + CARD_SLACK_MIB)
        text_addf(&found, "left behind: %lu MiB of graphics memory\n", mib - t->card_mib);
    while (living_children(&found)) /* those of one that was ended here are ours next */
        continue;
    remove_new(&found);
    text_add(why, text_str(&found));
    text_release(&found);
}

void traces_init(struct traces *t, const char *folder, const char *cache, bool on_card)
{
    *t = (struct traces){.folder = folder, .cache = cache, .on_card = on_card};
    text_init(&t->before);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        BUG("this kernel lets nobody wait for what others leave behind");
    add_things(t, &t->before);
    t->card_mib = card_memory(t);
}

void traces_release(struct traces *t)
{
    text_release(&t->before);
}

const char *traces_no_card(void)
{
    return file_exists("/dev/nvidia0") ? NULL : "there is no NVIDIA card here (no /dev/nvidia0)";
}
