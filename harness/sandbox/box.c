/* How it works: a launcher is started (by bubblewrap, or as it is), and everything that makes this
 * box differ from the next one goes to it in one message (order.c). So launchers can be started
 * before it is known what for: spares wait in a list, by bubblewrap's arguments. The launcher
 * answers when the program starts and when it has ended; that we hang up tells it to end
 * everything.
 *
 * Who sent an answer is told by the kernel: process numbers as we count them. */
#include "sandbox/parts.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const uint64_t END_LIMIT_NS = 10000000000u;   /* to kill and reap what it started */
static const uint64_t PROBE_LIMIT_NS = 20000000000u; /* for bubblewrap, on a busy machine */

enum { GROUP_MORE_BYTES = 32 << 20, SPARES_MAX = 8, SAID_BYTES = 600, SAID_READ_BYTES = 1 << 16 };

struct sandbox_inner {
    struct text arguments;
    struct proc process;
    int control_fd; /* -1 = closed */
    pid_t launcher, program;
    struct group group;
    uint64_t start_ns;
    bool has_folder, over, failed;
    struct launch_report end; /* `word` 0 until it came */
    struct launch_report failure;
    char folder[LAUNCH_FOLDER_BYTES];
    struct sandbox_take *takes;
    unsigned take_count;
    int taken[LAUNCH_TAKES_MAX];
};

static struct {
    pthread_mutex_t lock;
    unsigned count;
    struct sandbox_inner *items[SPARES_MAX];
} spares = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- starting a launcher ---- */

static void inner_free(struct sandbox_inner *inner)
{
    close_fd(&inner->control_fd);
    proc_kill(&inner->process);
    group_close(&inner->group);
    for (unsigned i = 0; i < LAUNCH_TAKES_MAX; i++)
        close_fd(&inner->taken[i]);
    text_release(&inner->arguments);
    free(inner);
}

static struct sandbox_inner *inner_new(void)
{
    struct sandbox_inner *inner = calloc(1, sizeof *inner);
    if (!inner)
        BUG("out of memory");
    text_init(&inner->arguments);
    inner->process = (struct proc){.pid = -1, .stdout_fd = -1, .stderr_fd = -1};
    inner->control_fd = -1;
    inner->group = (struct group){.join = {-1, -1}};
    for (unsigned i = 0; i < LAUNCH_TAKES_MAX; i++)
        inner->taken[i] = -1;
    return inner;
}

static int start(struct sandbox_inner *inner, const struct machine *m, int control_fd,
                 struct err *e)
{
    enum { LAUNCHER_NUMBER = 4, ARGUMENTS_NUMBER = 5 };
    static const char *const WRAPPED[] = {"bwrap", "--args", "5", "/proc/self/fd/4", NULL};
    const char *bare[] = {m->launcher, NULL};
    bool wrapped = inner->arguments.length > 0; /* bubblewrap's */
    int more[] = {m->launcher_fd, -1};
    struct proc_spec spec = {.argv = wrapped ? WRAPPED : bare,
                             .folder = "/",
                             .keep_fd = control_fd,
                             .more_fds = more,
                             .join_fds = inner->group.join,
                             .join_count = inner->group.count,
                             .survives = true};
    if (wrapped) {
        more[1] = memory_of_bytes(inner->arguments.data, inner->arguments.length, e);
        if (more[1] < 0 || lseek(more[1], 0, SEEK_SET) != 0)
            return -1;
        spec.more_count = 2;
    }
    int status = proc_start(&spec, &inner->process, e);
    close_fd(&more[1]);
    return status;
}

static struct sandbox_inner *launch(const struct machine *m, const struct text *arguments,
                                    struct err *e)
{
    struct sandbox_inner *inner = inner_new();
    int ends[2] = {-1, -1}, on = 1, status = -1;
    text_addn(&inner->arguments, arguments->data, arguments->length);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        err_set_errno(e, "no socket to a box");
        goto out;
    }
    inner->control_fd = ends[0];
    /* A launcher that bubblewrap left is ours to wait for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (group_open(&inner->group, e) != 0)
        goto out;
    status = start(inner, m, ends[1], e);
out:
    close_fd(&ends[1]);
    if (status == 0)
        return inner;
    inner_free(inner);
    return NULL;
}

/* ---- spares ---- */

static bool same(const struct text *a, const struct text *b)
{
    return a->length == b->length && (!a->length || memcmp(a->data, b->data, a->length) == 0);
}

static struct sandbox_inner *take_spare(const struct text *arguments)
{
    struct sandbox_inner *found = NULL;
    pthread_mutex_lock(&spares.lock);
    for (unsigned i = 0; i < spares.count && !found; i++)
        if (same(&spares.items[i]->arguments, arguments)) {
            found = spares.items[i];
            spares.items[i] = spares.items[--spares.count];
        }
    pthread_mutex_unlock(&spares.lock);
    return found;
}

static void keep_spare(struct sandbox_inner *inner)
{
    pthread_mutex_lock(&spares.lock);
    bool room = spares.count < SPARES_MAX;
    if (room)
        spares.items[spares.count++] = inner;
    pthread_mutex_unlock(&spares.lock);
    if (!room)
        inner_free(inner);
}

void box_drop_wrapped(void)
{
    pthread_mutex_lock(&spares.lock);
    unsigned kept = 0;
    for (unsigned i = 0; i < spares.count; i++)
        if (spares.items[i]->arguments.length)
            inner_free(spares.items[i]);
        else
            spares.items[kept++] = spares.items[i];
    spares.count = kept;
    pthread_mutex_unlock(&spares.lock);
}

static void arguments_of(const struct sandbox_spec *spec, const struct machine *m,
                         enum sandbox_tier tier, struct text *to)
{
    text_init(to);
    if (tier == SANDBOX_NAMESPACES && spec->profile != SANDBOX_TOOL)
        view_arguments(spec, m->is_root, to);
}

void sandbox_prepare(const struct sandbox_spec *spec)
{
    struct text arguments;
    enum sandbox_tier tier;
    if (machine_begin(&tier, NULL) != 0)
        return; /* sandbox_open() is going to say why */
    arguments_of(spec, machine_found(), tier, &arguments);
    struct sandbox_inner *inner = launch(machine_found(), &arguments, NULL);
    if (inner)
        keep_spare(inner);
    text_release(&arguments);
}

/* ---- opening ---- */

/* Is it there, and was it not killed since it was started? */
static bool is_alive(const struct sandbox_inner *inner)
{
    struct pollfd p = {.fd = inner->control_fd};
    return poll(&p, 1, 0) == 0 || !(p.revents & (POLLHUP | POLLERR));
}

static int dispatch(const struct sandbox_spec *spec, const struct machine *m,
                    struct sandbox_inner **inner, const struct cargo *c, struct err *e)
{
    struct text arguments;
    arguments_of(spec, m, m->tier, &arguments);
    int status = -1;
    /* The group also counts what the kernel needs for it, and the folder. */
    uint64_t memory = spec->limits.memory_bytes;
    memory += memory ? GROUP_MORE_BYTES + spec->folder_bytes : 0;
    uint64_t processes = limits_processes(&spec->limits);
    *inner = take_spare(&arguments);
    if (*inner && !is_alive(*inner)) {
        inner_free(*inner);
        *inner = NULL;
    }
    if (!*inner)
        *inner = launch(m, &arguments, e);
    if (*inner && group_limit(&(*inner)->group, memory, processes, e) == 0) {
        /* A launcher that is gone already shows as the end of its socket, later. */
        order_send((*inner)->control_fd, c);
        status = 0;
    } else if (*inner) {
        inner_free(*inner);
    }
    text_release(&arguments);
    return status;
}

static void check_spec(const struct sandbox_spec *spec)
{
    if ((spec->file_count || spec->take_count) && !spec->folder_bytes)
        BUG("files of a box without a folder");
    _Static_assert((int)SANDBOX_FILES_MAX == (int)LAUNCH_FILES_MAX, "callers are told the one");
    if (spec->file_count > LAUNCH_FILES_MAX || spec->take_count > LAUNCH_TAKES_MAX)
        BUG("%u files into, %u out of a box", spec->file_count, spec->take_count);
}

int sandbox_open(const struct sandbox_spec *spec, struct sandbox_box *box, struct err *e)
{
    *box = (struct sandbox_box){.process = {.pid = -1, .stdout_fd = -1, .stderr_fd = -1},
                                .watch_fd = -1};
    check_spec(spec);
    bool is_known = machine_is_known();
    if (!is_known)
        sandbox_prepare(spec); /* comes up beside the launcher that it is found out by */
    if (sandbox_setup(e) != 0 || machine_allows(spec->profile, e) != 0)
        return -1;
    if (!is_known && machine_found()->tier != SANDBOX_NAMESPACES)
        box_drop_wrapped(); /* that was for nothing */
    uint64_t start_ns = clock_now_ns();
    struct cargo c;
    struct sandbox_inner *inner = NULL;
    int status = order_pack(spec, machine_found(), &c, e);
    if (status == 0)
        status = dispatch(spec, machine_found(), &inner, &c, e);
    order_release(&c);
    if (status != 0)
        return -1;
    inner->start_ns = start_ns;
    inner->takes = spec->takes;
    inner->take_count = spec->take_count;
    inner->has_folder = spec->folder_bytes != 0;
    box->process = inner->process;
    inner->process = (struct proc){.pid = -1, .stdout_fd = -1, .stderr_fd = -1};
    box->inner = inner;
    box->watch_fd = inner->control_fd;
    return 0;
}

/* ---- answers ---- */

static void take_descriptors(struct sandbox_inner *inner, const struct launch_report *report,
                             const struct cmsghdr *c)
{
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), used = 0;
    for (unsigned i = 0; i < LAUNCH_TAKES_MAX && used < count; i++)
        if (report->word == LAUNCH_ENDED && report->taken & 1u << i && inner->taken[i] < 0)
            memcpy(&inner->taken[i], CMSG_DATA(c) + used++ * sizeof(int), sizeof(int));
    for (; used < count; used++) {
        int fd;
        memcpy(&fd, CMSG_DATA(c) + used * sizeof fd, sizeof fd);
        close(fd);
    }
}

static void take_report(struct sandbox_inner *inner, struct launch_report *report, pid_t sender)
{
    report->step[sizeof report->step - 1] = report->folder[sizeof report->folder - 1] = '\0';
    switch ((enum launch_word)report->word) {
    case LAUNCH_HELLO:
        inner->launcher = sender;
        return;
    case LAUNCH_STARTED:
        inner->program = sender;
        memcpy(inner->folder, report->folder, sizeof inner->folder);
        return;
    case LAUNCH_FAILED:
        inner->failed = true;
        inner->failure = *report;
        return;
    case LAUNCH_ENDED:
        inner->end = *report;
        inner->over = true;
        return;
    }
    inner->over = true; /* nothing that our launcher says */
}

/* Takes one answer; false: none is there yet, or none will come. */
static bool receive(struct sandbox_inner *inner)
{
    struct launch_report report = {0};
    struct iovec part = {.iov_base = &report, .iov_len = sizeof report};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(LAUNCH_TAKES_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do
        got = recvmsg(inner->control_fd, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return false;
    struct ucred sender = {0};
    for (struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&header) : NULL; c;
         c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            take_descriptors(inner, &report, c);
        else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
            memcpy(&sender, CMSG_DATA(c), sizeof sender);
    }
    if (got != sizeof report || report.magic != LAUNCH_MAGIC) {
        inner->over = true;
        return false;
    }
    take_report(inner, &report, sender.pid);
    return true;
}

bool sandbox_is_over(struct sandbox_box *box)
{
    struct sandbox_inner *inner = box->inner;
    while (!inner->over && receive(inner))
        continue;
    box->pid = inner->program;
    return inner->over;
}

uint64_t sandbox_processor_ns(const struct sandbox_box *box)
{
    clockid_t clock;
    struct timespec t;
    if (!box->inner || box->inner->program <= 0 ||
        clock_getcpuclockid(box->inner->program, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the end ---- */

static void wait_until_over(struct sandbox_box *box, uint64_t limit_ns)
{
    uint64_t until = clock_now_ns() + limit_ns, now;
    while (!sandbox_is_over(box) && (now = clock_now_ns()) < until) {
        struct pollfd p = {.fd = box->inner->control_fd, .events = POLLIN};
        poll(&p, 1, (int)((until - now) / 1000000) + 1);
    }
}

/* Reads one taken file within its budget. */
static void read_take(struct sandbox_take *take, int fd)
{
    struct stat st;
    text_clear(take->to);
    take->found = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 &&
                  (uint64_t)st.st_size <= take->most_bytes;
    char block[SAID_READ_BYTES];
    ssize_t got = 0;
    while (take->found && (got = read(fd, block, sizeof block)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        take->found = got > 0 && take->to->length + (size_t)got <= take->most_bytes;
        if (take->found)
            text_addn(take->to, block, (size_t)got);
    }
    if (!take->found)
        text_clear(take->to);
}

/* Why nothing ran: what the launcher could not do, or what bubblewrap printed. */
static int explain(struct sandbox_inner *inner, struct proc *process, struct err *e)
{
    if (inner->failed) {
        errno = inner->failure.failed_errno;
        return err_set_errno(e, "the box could not %s", inner->failure.step);
    }
    struct text said;
    text_init(&said);
    proc_read(&process->stderr_fd, &said, SAID_READ_BYTES);
    int length =
        said.length && said.data[said.length - 1] == '\n' ? (int)said.length - 1 : (int)said.length;
    err_set(e, "the box did not start%s%.*s", length ? ": " : "",
            length < SAID_BYTES ? length : SAID_BYTES, text_str(&said));
    text_release(&said);
    return -1;
}

int sandbox_finish(struct sandbox_box *box, struct sandbox_outcome *outcome, struct err *e)
{
    struct sandbox_inner *inner = box->inner;
    struct sandbox_outcome unused;
    if (!inner)
        return 0;
    struct sandbox_outcome *o = outcome ? outcome : &unused;
    *o = (struct sandbox_outcome){.code = SIGKILL, .how = SANDBOX_SIGNALLED};
    if (!sandbox_is_over(box)) {
        shutdown(inner->control_fd, SHUT_WR);
        wait_until_over(box, END_LIMIT_NS);
    }
    o->wall_ns = clock_now_ns() - inner->start_ns;
    bool ran = inner->end.word == LAUNCH_ENDED && !inner->failed;
    if (ran) {
        o->how = inner->end.signalled ? SANDBOX_SIGNALLED : SANDBOX_EXITED;
        o->code = inner->end.code;
        o->processor_ns = inner->end.processor_ns;
        o->peak_bytes = inner->end.peak_bytes;
    }
    memcpy(o->folder, inner->folder, sizeof o->folder);
    group_usage(&inner->group, &o->peak_bytes, &o->out_of_memory);
    for (unsigned i = 0; i < inner->take_count; i++)
        read_take(&inner->takes[i], inner->taken[i]);
    /* Short of memory, the kernel may have taken the launcher as well. */
    int status = ran || o->out_of_memory ? 0 : explain(inner, &box->process, e);
    proc_kill(&box->process);
    inner_free(inner);
    box->inner = NULL;
    box->watch_fd = -1;
    return status;
}

/* ---- trying ---- */

/* One for the whole process: machine.c sees to it that nobody else is here. */
static struct {
    struct sandbox_inner *inner;
    struct err error; /* where there is none */
} probe;

void box_probe_start(const struct machine *m)
{
    const struct sandbox_spec plain = {.profile = SANDBOX_PROGRAM};
    struct text arguments;
    arguments_of(&plain, m, SANDBOX_NAMESPACES, &arguments);
    probe.inner = launch(m, &arguments, &probe.error);
    text_release(&arguments);
}

int box_probe_wait(struct err *e)
{
    struct sandbox_inner *inner = probe.inner;
    if (!inner)
        return err_set(e, "%s", probe.error.text);
    probe.inner = NULL;
    uint64_t until = clock_now_ns() + PROBE_LIMIT_NS, now;
    while (!inner->launcher && !inner->over && (now = clock_now_ns()) < until) {
        struct pollfd p = {.fd = inner->control_fd, .events = POLLIN};
        if (poll(&p, 1, (int)((until - now) / 1000000) + 1) > 0)
            receive(inner);
    }
    if (inner->launcher) {
        keep_spare(inner);
        return 0;
    }
    int status = explain(inner, &inner->process, e);
    inner_free(inner);
    return status;
}

const char *sandbox_part(unsigned i)
{
    static const char *const NAMES[SANDBOX_PARTS_MAX] = {
        "/proc/self/fd/16", "/proc/self/fd/17", "/proc/self/fd/18", "/proc/self/fd/19",
        "/proc/self/fd/20", "/proc/self/fd/21", "/proc/self/fd/22", "/proc/self/fd/23"};
    _Static_assert(SANDBOX_PART_FD == 16, "the names say so");
    if (i >= SANDBOX_PARTS_MAX)
        BUG("part %u of a box", i);
    return NAMES[i];
}
