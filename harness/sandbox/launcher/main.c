/* How it works: one order, one child, then a loop that waits for the child to end or for the judge
 * to hang up, and reaps meanwhile what became an orphan. In either case everything that is left is
 * killed and reaped before the answer goes out, so that LAUNCH_ENDED means: nothing runs any more.
 * As process 1 of a namespace one kill() reaches all of it. Elsewhere orphans come to us because we
 * are a subreaper: killing our children until there are none reaches those who hide, too. */
#define _GNU_SOURCE
#include "sandbox/launcher/launcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_tell(int control_fd, struct launch_report *report, const int *fds, unsigned count)
{
    report->magic = LAUNCH_MAGIC;
    struct iovec part = {.iov_base = report, .iov_len = sizeof *report};
    union {
        char bytes[CMSG_SPACE(LAUNCH_TAKES_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    unsigned passed = 0;
    for (unsigned i = 0; i < count; i++)
        if (fds[i] >= 0)
            memcpy(CMSG_DATA(&control.align) + passed++ * sizeof(int), &fds[i], sizeof(int));
    if (passed) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(passed * sizeof(int));
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(passed * sizeof(int));
    }
    while (sendmsg(control_fd, &header, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

void launch_fail(int control_fd, const char *step)
{
    struct launch_report report = {.word = LAUNCH_FAILED, .failed_errno = errno};
    snprintf(report.step, sizeof report.step, "%s", step);
    launch_tell(control_fd, &report, NULL, 0);
}

/* ---- the order ---- */

/* The descriptors of one message; their number, -1 when the judge has hung up. */
static int receive(int fds[LAUNCH_FDS_MAX])
{
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    union {
        char bytes[CMSG_SPACE(LAUNCH_FDS_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do
        got = recvmsg(LAUNCH_FD, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return 0;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(c), count * sizeof(int));
    return (int)count;
}

static const char *next_string(const char **at)
{
    const char *string = *at;
    *at += strlen(string) + 1;
    return string;
}

/* A NULL-terminated list with room for one more. */
static const char **take_list(const char **at, unsigned count)
{
    const char **list = calloc(count + 2, sizeof *list);
    for (unsigned i = 0; list && i < count; i++)
        list[i] = next_string(at);
    return list;
}

static bool read_order(struct launch *l)
{
    int fds[LAUNCH_FDS_MAX], count = receive(fds), used = 1;
    if (count < 1)
        return false;
    struct stat st;
    if (fstat(fds[0], &st) != 0)
        return false;
    const char *memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fds[0], 0);
    close(fds[0]);
    if (memory == MAP_FAILED)
        return false;
    const struct launch_order *o = l->order = (const void *)memory;
    if (o->magic != LAUNCH_MAGIC)
        return false;
    l->program_fd = o->flags & LAUNCH_PROGRAM ? fds[used++] : -1;
    l->socket_fd = o->flags & LAUNCH_SOCKET ? fds[used++] : -1;
    l->rules_fd = o->flags & LAUNCH_RULES ? fds[used++] : -1;
    for (unsigned i = 0; i < o->part_count; i++)
        l->parts[i] = fds[used++];
    l->filter = (const void *)(memory + sizeof *o);
    const char *at = (const char *)(l->filter + o->filter_count);
    l->file_bytes = at + o->string_bytes;
    l->argv = take_list(&at, o->word_count);
    l->environment = take_list(&at, o->variable_count);
    for (unsigned i = 0; i < o->file_count; i++)
        l->file_names[i] = next_string(&at);
    for (unsigned i = 0; i < o->take_count; i++)
        l->take_names[i] = next_string(&at);
    return l->argv && l->environment && used == count;
}

/* ---- the private folder ---- */

static const char *prepare_folder(struct launch *l)
{
    const struct launch_order *o = l->order;
    bool make = o->flags & LAUNCH_FOLDER_MAKE, give = o->flags & LAUNCH_DROP && make;
    if (!make && !(o->flags & LAUNCH_FOLDER_IN))
        return NULL;
    strcpy(l->folder, make ? "/tmp/scanjudge-box-XXXXXX" : LAUNCH_FOLDER);
    if (make && !mkdtemp(l->folder)) {
        l->folder[0] = '\0';
        return "make a private folder in /tmp";
    }
    int folder = open(l->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || (give && fchown(folder, o->user, o->user) != 0))
        return "give its private folder to its user";
    const char *bytes = l->file_bytes;
    for (unsigned i = 0; i < o->file_count; i++) {
        int fd = openat(folder, l->file_names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0 || (give && fchown(fd, o->user, o->user) != 0))
            return "make a file in its private folder";
        for (uint64_t done = 0; done < o->file_bytes[i];) {
            ssize_t put = write(fd, bytes + done, o->file_bytes[i] - done);
            if (put < 0 && errno != EINTR)
                return "fill a file in its private folder";
            done += put > 0 ? (uint64_t)put : 0;
        }
        close(fd);
        bytes += o->file_bytes[i];
    }
    close(folder);
    return NULL;
}

/* What was asked for and is there: opened without following links and without waiting. */
static void take_files(const struct launch *l, struct launch_report *report, int *fds)
{
    int folder = l->folder[0] ? open(l->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (unsigned i = 0; i < l->order->take_count; i++) {
        const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        fds[i] = folder >= 0 ? openat(folder, l->take_names[i], flags) : -1;
        if (fds[i] >= 0)
            report->taken |= 1u << i;
    }
    if (folder >= 0)
        close(folder);
}

/* ---- the end of everything ---- */

/* Of a user that is nobody else's: all of its processes at once, by one of its own. */
static void kill_user(unsigned user)
{
    pid_t helper = fork();
    if (helper == 0) {
        if (child_drop(user))
            kill(-1, SIGKILL);
        _exit(0);
    }
    while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Kills our children, those that we adopted among them; false: there are none. */
static bool kill_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "re");
    int pid;
    bool any = false;
    while (list && fscanf(list, "%d", &pid) == 1) {
        any = true;
        kill(pid, SIGKILL);
    }
    if (list)
        fclose(list);
    return any;
}

struct child {
    pid_t pid;
    bool ended;
    int status;
};

/* false: no child is left. */
static bool reap(struct child *child, int flags)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, flags)) > 0 || (pid < 0 && errno == EINTR))
        if (pid == child->pid) {
            child->ended = true;
            child->status = status;
        }
    return pid == 0;
}

static void end_all(const struct launch *l, struct child *child)
{
    const unsigned flags = l->order->flags;
    if (flags & LAUNCH_INIT) {
        kill(-1, SIGKILL);
        reap(child, 0);
        return;
    }
    if (child->pid > 0 && !child->ended)
        kill(child->pid, SIGKILL); /* where /proc does not list children, at least this one */
    if (flags & LAUNCH_ALONE)
        kill_user(l->order->user);
    while (reap(child, WNOHANG)) {
        kill_children();
        usleep(200);
    }
}

/* Until the child has ended or the judge hangs up. */
static void wait_for_end(struct child *child, int signal_fd)
{
    while (!child->ended) {
        struct pollfd fds[2] = {{.fd = LAUNCH_FD, .events = POLLIN | POLLRDHUP},
                                {.fd = signal_fd, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[1].revents) {
            struct signalfd_siginfo unused;
            if (read(signal_fd, &unused, sizeof unused) > 0)
                reap(child, WNOHANG);
        }
        if (fds[0].revents)
            return;
    }
}

static uint64_t microseconds(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

static void tell_end(const struct launch *l, const struct child *child)
{
    struct launch_report report = {.word = LAUNCH_ENDED};
    struct rusage usage;
    int fds[LAUNCH_TAKES_MAX];
    getrusage(RUSAGE_CHILDREN, &usage);
    report.signalled = WIFSIGNALED(child->status);
    report.code = report.signalled ? WTERMSIG(child->status) : WEXITSTATUS(child->status);
    report.processor_ns = (microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1000;
    report.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    take_files(l, &report, fds);
    if (l->order->flags & LAUNCH_FOLDER_MAKE && l->folder[0])
        clear_folder(l->folder);
    launch_tell(LAUNCH_FD, &report, fds, l->order->take_count);
}

static int carry_out(struct launch *l)
{
    const unsigned flags = l->order->flags;
    if (flags & LAUNCH_INIT && flags & LAUNCH_DROP && !child_drop(l->order->user)) {
        launch_fail(LAUNCH_FD, "become its user");
        return 1;
    }
    struct child child = {.pid = -1};
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    int signal_fd = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    const char *failed = signal_fd < 0 ? "watch its processes" : prepare_folder(l);
    if (!failed) {
        child.pid = fork();
        failed = child.pid < 0 ? "make a process" : NULL;
    }
    if (child.pid == 0) {
        sigprocmask(SIG_UNBLOCK, &ended, NULL);
        child_become(l, LAUNCH_FD);
        _exit(127);
    }
    if (failed)
        launch_fail(LAUNCH_FD, failed);
    else
        wait_for_end(&child, signal_fd);
    end_all(l, &child);
    tell_end(l, &child);
    return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "keep") == 0)
        return keep_groups(argv + 2);
    struct stat st;
    if (fstat(LAUNCH_FD, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        fprintf(stderr, "launcher: started by the judge, with a socket as descriptor 3\n");
        return 2;
    }
    static struct launch l;
    struct launch_report hello = {.word = LAUNCH_HELLO};
    syscall(SYS_close_range, LAUNCH_FD + 1, ~0U, 0);
    fcntl(LAUNCH_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    launch_tell(LAUNCH_FD, &hello, NULL, 0);
    return read_order(&l) ? carry_out(&l) : 0;
}
