/* How it works: the child is made with clone(CLONE_VM | CLONE_VFORK), as posix_spawn does, because
 * a judge with gigabytes of cases mapped must not copy its page tables for every start. Until it
 * execs, the child runs in our memory on a stack of its own and makes nothing but system calls;
 * what fails there is left in struct start for the parent, which sleeps until the exec. */
#include "base/proc.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHILD_STACK_BYTES = 64 * 1024,
    FIRST_FREE_FD = 10, /* the child parks descriptors from here on before it numbers them */
    READ_BYTES = 65536,
    FDS_MOST = 4 + PROC_MORE_FDS,
};

/* What the child needs, all of it prepared before it exists. */
struct start {
    const struct proc_spec *spec;
    const char *path;
    int fds[FDS_MOST]; /* what becomes 0, 1, 2, 3 ...; -1 = left alone */
    int fd_count;      /* whatever is above is closed */
    pid_t parent;
    sigset_t mask; /* for the program: that of the caller */
    const char *failed_step;
    int failed_errno;
};

/* A frame that is never left would stay poisoned in the shadow memory of AddressSanitizer. */
#define IN_CHILD __attribute__((no_sanitize_address)) static int

IN_CHILD child_fail(struct start *s, const char *step)
{
    s->failed_step = step;
    s->failed_errno = errno;
    return 127;
}

/* Numbers the descriptors. Each is first copied out of the way, since our own pipe may have
 * got a number that another one is to have. */
IN_CHILD child_descriptors(struct start *s)
{
    int parked[FDS_MOST];
    for (int i = 0; i < s->fd_count; i++) {
        parked[i] = -1;
        if (s->fds[i] < 0)
            continue;
        parked[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (parked[i] < 0)
            return child_fail(s, "copy a descriptor");
    }
    for (int i = 0; i < s->fd_count; i++)
        if (parked[i] >= 0 && dup2(parked[i], i) < 0)
            return child_fail(s, "number a descriptor");
    if (close_range((unsigned)s->fd_count, ~0U, 0) != 0)
        return child_fail(s, "close descriptors");
    return 0;
}

IN_CHILD child_main(void *argument)
{
    struct start *s = argument;
    const struct proc_spec *spec = s->spec;
    if (setpgid(0, 0) != 0)
        return child_fail(s, "make a process group");
    if (!spec->survives && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return child_fail(s, "ask for a parent-death signal");
    if (getppid() != s->parent) {
        errno = ESRCH;
        return child_fail(s, "find its parent");
    }
    /* Before the descriptors are closed, and before a limit on processes counts. */
    for (unsigned i = 0; i < spec->join_count; i++)
        if (write(spec->join_fds[i], "0", 1) != 1)
            return child_fail(s, "enter its control group");
    int status = child_descriptors(s);
    if (status != 0)
        return status;
    if (spec->folder && chdir(spec->folder) != 0)
        return child_fail(s, "enter its folder");
    for (size_t i = 0; i < spec->limit_count; i++) {
        struct rlimit limit = {spec->limits[i].value, spec->limits[i].value};
        if (setrlimit((__rlimit_resource_t)spec->limits[i].resource, &limit) != 0)
            return child_fail(s, "set a resource limit");
    }
    /* exec resets handlers, but keeps what is ignored and what is blocked. */
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int n = 1; n < NSIG; n++)
        if (n != SIGKILL && n != SIGSTOP)
            sigaction(n, &plain, NULL); /* fails for those libc keeps: nothing to reset there */
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    static const char *const NOTHING[] = {NULL};
    const char *const *environment = spec->environment ? spec->environment : NOTHING;
    execve(s->path, (char *const *)(uintptr_t)spec->argv, (char *const *)(uintptr_t)environment);
    return child_fail(s, "execute the program");
}

/* The file that argv[0] means, into `path`. */
static int find_program(const char *name, char path[PATH_MAX], struct err *e)
{
    if (strchr(name, '/')) {
        if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
            return err_set(e, "the path %s is too long", name);
        return 0;
    }
    const char *folders = getenv("PATH");
    if (!folders || !folders[0])
        folders = "/usr/local/bin:/usr/bin:/bin";
    for (const char *at = folders;;) {
        size_t length = strcspn(at, ":");
        int put = length ? snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name)
                         : snprintf(path, PATH_MAX, "./%s", name);
        if (put < PATH_MAX && access(path, X_OK) == 0)
            return 0;
        if (!at[length])
            return err_set(e, "the program %s is not in PATH", name);
        at += length + 1;
    }
}

/* Runs child_main() in our memory. All signals are blocked meanwhile: a handler of ours must not
 * run in the child. */
static pid_t spawn(struct start *s, struct err *e)
{
    pid_t pid = -1;
    char *stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return err_set_errno(e, "no memory to start %s", s->path);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &s->mask);
    pid = clone(child_main, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
    int clone_errno = errno;
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    munmap(stack, CHILD_STACK_BYTES);
    if (pid < 0) {
        errno = clone_errno;
        return err_set_errno(e, "cannot start %s: no new process", s->path);
    }
    if (s->failed_step) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        errno = s->failed_errno;
        return err_set_errno(e, "cannot start %s: the child could not %s", s->path, s->failed_step);
    }
    return pid;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int proc_start(const struct proc_spec *spec, struct proc *p, struct err *e)
{
    *p = (struct proc){.pid = -1, .stdout_fd = -1, .stderr_fd = -1};
    char path[PATH_MAX];
    if (find_program(spec->argv[0], path, e) != 0)
        return -1;
    int status = -1, out[2] = {-1, -1}, errors[2] = {-1, -1}, nothing = -1;
    if (!spec->pass_output || isatty(STDIN_FILENO)) {
        nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing < 0) {
            err_set_errno(e, "cannot open /dev/null");
            goto out;
        }
    }
    if (!spec->pass_output &&
        (pipe2(out, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0 ||
         fcntl(out[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(errors[0], F_SETFL, O_NONBLOCK) != 0)) {
        err_set_errno(e, "no pipe for the output of %s", spec->argv[0]);
        goto out;
    }
    struct start s = {.spec = spec,
                      .path = path,
                      .fds = {nothing, out[1], errors[1], spec->keep_fd},
                      .fd_count = spec->keep_fd < 0 ? 3 : 4,
                      .parent = getpid()};
    if (spec->more_count > PROC_MORE_FDS)
        BUG("%u more descriptors", spec->more_count);
    for (unsigned i = 0; i < spec->more_count; i++)
        s.fds[s.fd_count++] = spec->more_fds[i];
    p->pid = spawn(&s, e);
    if (p->pid < 0)
        goto out;
    p->stdout_fd = out[0];
    p->stderr_fd = errors[0];
    out[0] = errors[0] = -1;
    status = 0;
out:
    close_fd(&nothing);
    for (int i = 0; i < 2; i++) {
        close_fd(&out[i]);
        close_fd(&errors[i]);
    }
    return status;
}

void proc_finish(struct proc *p, struct proc_end *end)
{
    if (p->pid > 0) {
        /* Before reaping: until then the number of the group cannot be given to another one. */
        kill(-p->pid, SIGKILL);
        int status = 0;
        struct rusage usage = {0};
        while (wait4(p->pid, &status, 0, &usage) < 0 && errno == EINTR)
            continue;
        /* The rest of the group, if this process adopts orphans (PR_SET_CHILD_SUBREAPER): all of it
         * is dying, and a parent hands on its children before it ends. */
        while (waitpid(-p->pid, NULL, 0) > 0 || errno == EINTR)
            continue;
        end->how = WIFSIGNALED(status) ? PROC_SIGNALLED : PROC_EXITED;
        end->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
        end->usage = usage;
    }
    p->pid = -1;
    close_fd(&p->stdout_fd);
    close_fd(&p->stderr_fd);
}

void proc_kill(struct proc *p)
{
    struct proc_end unused = {0};
    proc_finish(p, &unused);
}

bool proc_read(int *fd, struct text *to, size_t limit_bytes)
{
    while (*fd >= 0) {
        char block[READ_BYTES];
        ssize_t got = read(*fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return true;
        if (got <= 0) {
            close_fd(fd);
            return true;
        }
        size_t room = to->length < limit_bytes ? limit_bytes - to->length : 0;
        text_addn(to, block, (size_t)got < room ? (size_t)got : room);
        if ((size_t)got > room)
            return false;
    }
    return true;
}

int proc_watch(const struct proc *p, struct err *e)
{
    /* Not glibc's wrapper: that one asks for glibc 2.36. */
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    return fd >= 0 ? fd : err_set_errno(e, "cannot watch process %d", (int)p->pid);
}

/* Collects output until the first process ends, or a limit does: PROC_EXITED means that it ended.
 */
static enum proc_how collect(struct proc *p, int watch_fd, uint64_t deadline_ns,
                             size_t output_bytes, struct text *out, struct text *errors)
{
    for (;;) {
        uint64_t now = clock_now_ns();
        if (now >= deadline_ns)
            return PROC_TIMED_OUT;
        uint64_t left = deadline_ns - now;
        struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        struct pollfd fds[3] = {{.fd = watch_fd, .events = POLLIN},
                                {.fd = p->stdout_fd, .events = POLLIN},
                                {.fd = p->stderr_fd, .events = POLLIN}};
        int ready = ppoll(fds, 3, &wait, NULL);
        if (ready < 0 && errno != EINTR)
            BUG("ppoll: %s", strerror(errno));
        if (ready <= 0)
            continue;
        /* What the process wrote is in the pipes by the time it has ended, so one more read is all
         * there is to come: others who hold the pipes open are not waited for. */
        if (!proc_read(&p->stdout_fd, out, output_bytes) ||
            !proc_read(&p->stderr_fd, errors, output_bytes))
            return PROC_OUTPUT_LIMIT;
        if (fds[0].revents)
            return PROC_EXITED;
    }
}

int proc_run(const struct proc_spec *spec, uint64_t limit_ns, size_t output_bytes, struct text *out,
             struct text *errors, struct proc_end *end, struct err *e)
{
    *end = (struct proc_end){0};
    uint64_t start = clock_now_ns();
    uint64_t deadline = limit_ns < UINT64_MAX - start ? start + limit_ns : UINT64_MAX;
    struct proc p;
    if (proc_start(spec, &p, e) != 0)
        return -1;
    int watch_fd = proc_watch(&p, e);
    if (watch_fd < 0) {
        proc_kill(&p);
        return -1;
    }
    enum proc_how how = collect(&p, watch_fd, deadline, output_bytes, out, errors);
    close(watch_fd);
    proc_finish(&p, end);
    if (how != PROC_EXITED)
        end->how = how;
    end->wall_ns = clock_now_ns() - start;
    return 0;
}
