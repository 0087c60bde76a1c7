/* like_docker PROGRAM [ARGUMENT...]
 *
 * Runs a program where a judge may do what it may in a container of Docker's, with its defaults,
 * and no more: no namespaces to be made, no mounts, control groups to look at only, processes of
 * its own, root with few capabilities. The files are those of this machine, so no image is needed.
 *
 * The capabilities and the calls that are refused are those of moby's default profile for a
 * container without CAP_SYS_ADMIN (profiles/seccomp/default.json there, an allow-list: what it
 * leaves out and a judge or an attack may try stands below). Exit status: the program's, 77 where
 * nothing of the kind can be set up. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, NOT_STARTED = 127, BY_SIGNAL = 128 };

static const int CAPABILITIES[] = {
    CAP_CHOWN,   CAP_DAC_OVERRIDE,     CAP_FSETID,     CAP_FOWNER,     CAP_MKNOD,
    CAP_NET_RAW, CAP_SETGID,           CAP_SETUID,     CAP_SETFCAP,    CAP_SETPCAP,
    CAP_KILL,    CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_AUDIT_WRITE};

static const char *const REFUSED[] = {"acct",
                                      "add_key",
                                      "bpf",
                                      "clock_adjtime",
                                      "clock_settime",
                                      "create_module",
                                      "delete_module",
                                      "fanotify_init",
                                      "finit_module",
                                      "fsconfig",
                                      "fsmount",
                                      "fsopen",
                                      "fspick",
                                      "get_mempolicy",
                                      "init_module",
                                      "io_uring_enter",
                                      "io_uring_setup",
                                      "ioperm",
                                      "iopl",
                                      "io_uring_register",
                                      "kcmp",
                                      "kexec_file_load",
                                      "kexec_load",
                                      "keyctl",
                                      "lookup_dcookie",
                                      "mbind",
                                      "mount",
                                      "mount_setattr",
                                      "move_mount",
                                      "move_pages",
                                      "open_tree",
                                      "open_by_handle_at",
                                      "perf_event_open",
                                      "pivot_root",
                                      "quotactl",
                                      "quotactl_fd",
                                      "reboot",
                                      "request_key",
                                      "set_mempolicy",
                                      "setdomainname",
                                      "sethostname",
                                      "setns",
                                      "settimeofday",
                                      "swapoff",
                                      "swapon",
                                      "syslog",
                                      "umount",
                                      "umount2",
                                      "unshare",
                                      "userfaultfd",
                                      "vhangup"};

/* CLONE_NEW...: of these a call of clone() may have none. */
#define NAMESPACES UINT64_C(0x7e020000)

static int skip(const char *why)
{
    printf("1..0 # skipped: %s: %s\n", why, strerror(errno));
    return SKIPPED;
}

/* A control group of its own to look at, which other judges of this machine have no part in. */
static bool show_control_groups(void)
{
    umount2("/sys/fs/cgroup", MNT_DETACH);
    return mount("cgroup2", "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ==
           0;
}

/* Everything that is mounted below and at `path`, to be read only. */
static bool make_read_only(const char *path)
{
    char line[8192];
    FILE *list = fopen("/proc/self/mountinfo", "re");
    size_t length = strlen(path);
    bool good = list != NULL;
    while (good && fgets(line, sizeof line, list)) {
        char at[4096];
        if (sscanf(line, "%*s %*s %*s %*s %4095s", at) == 1 && strncmp(at, path, length) == 0 &&
            (at[length] == '\0' || at[length] == '/'))
            good = mount(NULL, at, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0;
    }
    if (list)
        fclose(list);
    return good;
}

static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    uint64_t kept = 0;
    for (size_t i = 0; i < sizeof CAPABILITIES / sizeof CAPABILITIES[0]; i++)
        kept |= UINT64_C(1) << CAPABILITIES[i];
    for (int c = 0; c <= CAP_LAST_CAP; c++)
        if (!(kept >> c & 1) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0 && errno != EINVAL)
            return false;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        sets[i].effective = sets[i].permitted = (uint32_t)(kept >> (32 * i));
    return syscall(SYS_capset, &header, sets) == 0;
}

static bool refuse_calls(void)
{
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
    bool good = context != NULL;
    for (size_t i = 0; good && i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        int number = seccomp_syscall_resolve_name(REFUSED[i]);
        good = number < 0 || seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), number, 0) == 0;
    }
    /* Any bit of the mask: one rule for each. */
    for (uint64_t bit = 1; good && bit <= NAMESPACES; bit <<= 1)
        good =
            !(bit & NAMESPACES) || seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone),
                                                    1, SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit)) == 0;
    good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
    /* The filter stays for whoever is started, whatever it is allowed: as root there is no need to
     * give up new privileges for that, and Docker does not. */
    good = good && seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0) == 0 &&
           seccomp_load(context) == 0;
    if (context)
        seccomp_release(context);
    return good;
}

static int run(char **argv)
{
    pid_t program = fork();
    if (program == 0) {
        /* The capability that loading a filter takes goes last. */
        if (!refuse_calls() || !drop_capabilities()) {
            fprintf(stderr, "like_docker: %s\n", strerror(errno));
            _exit(NOT_STARTED);
        }
        execvp(argv[0], argv);
        fprintf(stderr, "like_docker: %s: %s\n", argv[0], strerror(errno));
        _exit(NOT_STARTED);
    }
    int status;
    pid_t pid;
    while ((pid = wait(&status)) > 0 || errno == EINTR) /* as process 1: of orphans, too */
        if (pid == program)
            return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
    return NOT_STARTED;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: like_docker PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return skip("a container can be made by root only");
    if (!show_control_groups() || !make_read_only("/sys"))
        return skip("the control groups cannot be made read only");
    pid_t init = fork();
    if (init == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
            _exit(skip("no /proc of its own"));
        _exit(run(argv + 1));
    }
    int status;
    while (waitpid(init, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_STARTED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}
