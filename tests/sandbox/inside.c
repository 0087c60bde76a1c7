/* Runs in a box and tries one thing: inside WHAT [ARGUMENT]. Exit status 0: it was possible, 1: it
 * was refused; both are printed with what came of it. Everything here bounds itself, in case the
 * box does not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS_MOST = 400, FDS_MOST = 5000 };

static int said(const char *what, long result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "yes");
    return result < 0;
}

static int touch_memory(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return said("memory", -1);
    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
    return said("memory", 0);
}

static int count_forks(void)
{
    int count = 0;
    pid_t pid = 0;
    while (count < FORKS_MOST && (pid = fork()) > 0)
        count++;
    if (pid == 0) {
        alarm(5);
        pause();
        _exit(0);
    }
    printf("%d\n", count);
    return 0;
}

static int count_descriptors(void)
{
    int count = 0;
    while (count < FDS_MOST && dup(0) >= 0)
        count++;
    printf("%d\n", count);
    return 0;
}

/* Which descriptors are open when the program starts. */
static int list_descriptors(void)
{
    for (int fd = 0; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    return 0;
}

/* Away from its parent, its session and its group, with the socket in hand. */
static int hide(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            alarm(20);
            for (;;)
                pause();
        }
        _exit(0);
    }
    return 0;
}

/* Half as much memory again and again, each in a process of its own. */
static int share_memory(size_t bytes)
{
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            touch_memory(bytes);
            alarm(5);
            pause();
            _exit(0);
        }
    int status, killed = 0;
    alarm(5);
    while (wait(&status) > 0)
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
            killed = 1;
            break;
        }
    return killed;
}

static int fill(const char *path, size_t most)
{
    static char block[65536];
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    size_t done = 0;
    signal(SIGXFSZ, SIG_IGN);
    while (fd >= 0 && done < most) {
        ssize_t put = write(fd, block, sizeof block);
        if (put <= 0)
            break;
        done += (size_t)put;
    }
    printf("%zu\n", done);
    return 0;
}

static int call(const char *name)
{
    struct rlimit limit = {1, 1};
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    char no_time[64] = {0};
#define TRY(x, result)                                                                             \
    if (strcmp(name, #x) == 0)                                                                     \
        return said(#x, result);
    TRY(ptrace, ptrace(PTRACE_TRACEME, 0, NULL, NULL))
    TRY(mount, syscall(SYS_mount, "none", "/proc", "tmpfs", 0, NULL))
    TRY(unshare, syscall(SYS_unshare, CLONE_NEWUSER))
    TRY(setns, syscall(SYS_setns, 0, 0))
    TRY(clone, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0))
    TRY(clone3, syscall(SYS_clone3, &arguments, sizeof arguments))
    TRY(bpf, syscall(SYS_bpf, 0, NULL, 0))
    TRY(perf_event_open, syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))
    TRY(userfaultfd, syscall(SYS_userfaultfd, 0))
    TRY(keyctl, syscall(SYS_keyctl, 0, 0, 0, 0, 0))
    TRY(io_uring, syscall(SYS_io_uring_setup, 8, no_time))
    TRY(inet, socket(AF_INET, SOCK_STREAM, 0))
    TRY(inet6, socket(AF_INET6, SOCK_DGRAM, 0))
    TRY(netlink, socket(AF_NETLINK, SOCK_RAW, 0))
    TRY(tiocsti, ioctl(0, TIOCSTI, "x"))
    TRY(reboot, syscall(SYS_reboot, 1, 2, 3, NULL))
    TRY(settimeofday, syscall(SYS_settimeofday, no_time, NULL))
    TRY(swapon, syscall(SYS_swapon, "/dev/null", 0))
    TRY(chroot, chroot("/"))
    TRY(sethostname, sethostname("x", 1))
    TRY(shm, shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600))
    TRY(prlimit, prlimit(getppid(), RLIMIT_NOFILE, &limit, NULL))
    TRY(setuid, setuid(0))
#undef TRY
    fprintf(stderr, "no such call: %s\n", name);
    return 2;
}

static int attempt(const char *what, const char *argument)
{
    if (strcmp(what, "call") == 0)
        return call(argument);
    if (strcmp(what, "read") == 0) {
        int fd = open(argument, O_RDONLY);
        char byte;
        return said(argument, fd < 0 ? -1 : read(fd, &byte, 1));
    }
    if (strcmp(what, "list") == 0)
        return said(argument, open(argument, O_RDONLY | O_DIRECTORY));
    if (strcmp(what, "write") == 0)
        return said(argument, open(argument, O_WRONLY | O_CREAT, 0600));
    if (strcmp(what, "append") == 0)
        return said(argument, open(argument, O_RDWR | O_APPEND));
    if (strcmp(what, "chmod") == 0)
        return said(argument, chmod(argument, 0777));
    if (strcmp(what, "kill") == 0)
        return said(argument, kill(atoi(argument), SIGKILL));
    if (strcmp(what, "memory") == 0)
        return touch_memory((size_t)atoll(argument));
    if (strcmp(what, "share") == 0)
        return share_memory((size_t)atoll(argument));
    if (strcmp(what, "reserve") == 0)
        return said("reserve",
                    mmap(NULL, (size_t)atoll(argument), PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
                        ? -1
                        : 0);
    if (strcmp(what, "fill") == 0)
        return fill(argument, (size_t)100 << 20);
    if (strcmp(what, "signal") == 0) {
        raise(atoi(argument));
        return 2;
    }
    if (strcmp(what, "sleep") == 0) {
        sleep((unsigned)atoi(argument));
        return 0;
    }
    if (strcmp(what, "exit") == 0)
        return atoi(argument);
    if (strcmp(what, "echo") == 0) {
        char text[64];
        ssize_t got;
        while ((got = read(3, text, sizeof text)) > 0)
            if (write(3, text, (size_t)got) != got)
                return 2;
        return 0;
    }
    if (strcmp(what, "spin") == 0)
        for (volatile long i = 0;; i++)
            continue;
    if (strcmp(what, "print") == 0) {
        for (long i = 0; i < atol(argument); i++)
            puts("0123456789012345678901234567890");
        return 0;
    }
    fprintf(stderr, "no such thing: %s\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "forks") == 0)
        return count_forks();
    if (strcmp(what, "descriptors") == 0)
        return count_descriptors();
    if (strcmp(what, "open") == 0)
        return list_descriptors();
    if (strcmp(what, "hide") == 0)
        return hide();
    if (strcmp(what, "who") == 0) {
        printf("%d %d", (int)getuid(), (int)getpid());
        return 0;
    }
    if (strcmp(what, "environment") == 0) {
        extern char **environ;
        for (char **v = environ; *v; v++)
            puts(*v);
        return 0;
    }
    /* One or more of a kind: the status is that of the last; 0 as soon as one was possible. */
    int status = 2;
    for (int i = 2; i < argc && status; i++)
        status = attempt(what, argv[i]);
    return status;
}
