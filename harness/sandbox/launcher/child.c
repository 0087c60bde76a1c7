/* The way from a copy of the launcher to the program. Landlock before the filter, since it opens
 * files; the filter last, since from there on even we may do no more than the program. */
#define _GNU_SOURCE
#include "sandbox/launcher/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PARKED = 64 }; /* above every number that a descriptor is to get */

bool child_drop(unsigned user)
{
    return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, user, user, user) == 0 &&
           syscall(SYS_setresuid, user, user, user) == 0;
}

static bool park(int *fd)
{
    if (*fd < 0)
        return true;
    *fd = fcntl(*fd, F_DUPFD_CLOEXEC, PARKED);
    return *fd >= 0;
}

/* The socket and the parts get their numbers; everything else closes with exec, or now. */
static bool number_descriptors(struct launch *l, int *control_fd)
{
    const struct launch_order *o = l->order;
    bool ok = park(control_fd) && park(&l->program_fd) && park(&l->socket_fd) && park(&l->rules_fd);
    for (unsigned i = 0; ok && i < o->part_count; i++)
        ok = park(&l->parts[i]);
    if (!ok || syscall(SYS_close_range, STDERR_FILENO + 1, PARKED - 1, 0) != 0)
        return false;
    if (l->socket_fd >= 0 && dup2(l->socket_fd, (int)o->socket_number) < 0)
        return false;
    for (unsigned i = 0; i < o->part_count; i++)
        if (dup2(l->parts[i], (int)(o->part_number + i)) < 0)
            return false;
    return true;
}

static bool set_limits(const struct launch_order *o)
{
    for (unsigned i = 0; i < o->limit_count; i++) {
        struct rlimit limit = {o->limits[i].value, o->limits[i].value};
        if (setrlimit((__rlimit_resource_t)o->limits[i].resource, &limit) != 0)
            return false;
    }
    return true;
}

static bool allow_below(int rules_fd, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return false;
    long status = syscall(SYS_landlock_add_rule, rules_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return status == 0;
}

/* Its own entry in /proc has a name only now. */
static bool restrict_files(const struct launch *l)
{
    const struct launch_order *o = l->order;
    if (l->rules_fd < 0)
        return true;
    char self[32], tasks[40];
    snprintf(self, sizeof self, "/proc/%d", (int)getpid());
    snprintf(tasks, sizeof tasks, "%s/task", self);
    return allow_below(l->rules_fd, self, o->rules_read) &&
           (!o->rules_tasks || allow_below(l->rules_fd, tasks, o->rules_tasks)) &&
           (!l->folder[0] || allow_below(l->rules_fd, l->folder, o->rules_write)) &&
           syscall(SYS_landlock_restrict_self, l->rules_fd, 0) == 0;
}

static bool load(const struct sock_filter *filter, unsigned count)
{
    struct sock_fprog program = {.len = (unsigned short)count,
                                 .filter = (struct sock_filter *)(uintptr_t)filter};
    return !count || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* Where neither namespaces nor Landlock keep signals in and the user is the judge's own. libseccomp
 * wrote the other filter before there was a process with a number. The architecture is checked
 * there, and all filters apply. */
static bool load_own_signals(void)
{
    const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
    const struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tkill, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigqueueinfo, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_tgsigqueueinfo, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, refused),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return load(filter, sizeof filter / sizeof filter[0]);
}

static bool load_filter(const struct launch *l)
{
    const struct launch_order *o = l->order;
    return (!(o->flags & LAUNCH_OWN_SIGNALS) || load_own_signals()) &&
           load(l->filter, o->filter_count);
}

/* What it finds in TMPDIR is the private folder, wherever that is. */
static void name_folder(struct launch *l)
{
    static char variable[LAUNCH_FOLDER_BYTES + 8];
    if (!l->folder[0])
        return;
    snprintf(variable, sizeof variable, "TMPDIR=%s", l->folder);
    l->environment[l->order->variable_count] = variable;
}

/* When memory is short, it goes before the launcher and before anybody outside. */
static void offer_for_memory(void)
{
    prctl(PR_SET_DUMPABLE, 1); /* else the file is root's; what becomes of it, exec decides */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "1000", 4) != 4)
        errno = 0; /* a wish */
    if (fd >= 0)
        close(fd);
}

/* NULL, or what could not be done. */
static const char *prepare(struct launch *l, int *control_fd)
{
    const struct launch_order *o = l->order;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int n = 1; n < NSIG; n++)
        if (n != SIGKILL && n != SIGSTOP)
            sigaction(n, &plain, NULL); /* fails for those libc keeps: nothing to reset there */
    setsid();
    offer_for_memory();
    if (!number_descriptors(l, control_fd))
        return "number its descriptors";
    if (!set_limits(o))
        return "set a resource limit";
    if (o->flags & LAUNCH_DROP && !(o->flags & LAUNCH_INIT) && !child_drop(o->user))
        return "become its user";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return "give up new privileges";
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which resets it */
    if (chdir(l->folder[0] ? l->folder : "/") != 0)
        return "enter its folder";
    if (!restrict_files(l))
        return "restrict its files (Landlock)";
    name_folder(l);
    return NULL;
}

void child_become(struct launch *l, int control_fd)
{
    const char *failed = prepare(l, &control_fd);
    if (failed) {
        launch_fail(control_fd, failed);
        return;
    }
    struct launch_report started = {.word = LAUNCH_STARTED};
    memcpy(started.folder, l->folder, sizeof started.folder);
    launch_tell(control_fd, &started, NULL, 0);
    if (!load_filter(l)) {
        launch_fail(control_fd, "load its filter (seccomp)");
        return;
    }
    char *const *argv = (char *const *)(uintptr_t)l->argv;
    char *const *environment = (char *const *)(uintptr_t)l->environment;
    if (l->program_fd >= 0)
        syscall(SYS_execveat, l->program_fd, "", argv, environment, AT_EMPTY_PATH);
    else
        execve(l->argv[0], argv, environment);
    launch_fail(control_fd, "execute the program");
}
