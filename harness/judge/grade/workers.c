/* Parent and worker talk over a pair of sockets: a job is its seed, two lengths and two strings; an
 * answer is two lengths and two strings. A worker whose socket ends while it has a job has died of
 * that job: the answer is made here, and another worker takes its place. */
#include "judge/grade/workers.h"

#include "base/clock.h"
#include "judge/report/report.h"
#include "judge/verify/expect.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 1000, STRING_BYTES_MAX = 1 << 30 };
/* Every step of a judging has a limit of its own. This one is for a judge that has lost its way,
 * and for a card that others never give back. */
static const uint64_t JUDGING_LIMIT_NS = 3600 * UINT64_C(1000000000);

struct header {
    uint64_t seed;      /* of a job */
    uint32_t length[2]; /* problem and source; reason and result */
};

struct worker {
    pid_t pid; /* 0 = there is none */
    int fd;
    bool is_busy;
    unsigned job;
    uint64_t since_ns;
    struct text inbox;
};

struct crew {
    const struct workers_call *call;
    struct worker *workers;
    unsigned next, done;
};

/* ---- the worker's side ---- */

static bool read_all(int fd, void *bytes, size_t count)
{
    for (char *p = bytes; count;) {
        ssize_t got = read(fd, p, count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        count -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t count)
{
    for (const char *p = bytes; count;) {
        ssize_t put = send(fd, p, count, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        count -= (size_t)put;
    }
    return true;
}

static bool send_strings(int fd, uint64_t seed, const char *a, const char *b)
{
    struct header h = {.seed = seed, .length = {(uint32_t)strlen(a), (uint32_t)strlen(b)}};
    return write_all(fd, &h, sizeof h) && write_all(fd, a, h.length[0]) &&
           write_all(fd, b, h.length[1]);
}

/* The result as JSON on one line, without its end. */
static void on_one_line(const struct result *r, struct text *line)
{
    static const struct report_options OPTIONS = {0};
    report_find("jsonl")->write(&r, 1, &OPTIONS, line);
    while (line->length && line->data[line->length - 1] == '\n')
        line->data[--line->length] = '\0';
}

static bool answer(int fd, const struct result *r, struct arena *arena)
{
    struct text line;
    text_init(&line);
    on_one_line(r, &line);
    bool sent = send_strings(fd, 0, expect_describe(r, arena), text_str(&line));
    text_release(&line);
    return sent;
}

/* What is told where no judging came to an end. */
static struct result failed_result(const struct workers_call *call, const struct workers_job *job,
                                   const char *message)
{
    return (struct result){.problem = job->problem_id,
                           .submission = job->source,
                           .device = call->options->on_gpu ? "gpu" : "cpu",
                           .verdict = VERDICT_judge_error,
                           .message = message,
                           .seed = job->seed,
                           .compile = {.log = ""}};
}

static bool judge_one(const struct workers_call *call, int fd, const struct workers_job *job)
{
    struct arena arena;
    struct result result;
    struct err e;
    struct judge_options options = *call->options;
    arena_init(&arena);
    options.seed = job->seed;
    if (judge_submission(call->paths, job->problem_id, job->source, &options, &arena, &result,
                         &e) != 0)
        result = failed_result(call, job, e.text);
    bool sent = answer(fd, &result, &arena);
    arena_release(&arena);
    return sent;
}

_Noreturn static void work(const struct workers_call *call, int fd)
{
    for (;;) {
        struct header h;
        if (!read_all(fd, &h, sizeof h))
            _exit(0); /* no more jobs */
        char *strings[2] = {calloc(1, h.length[0] + 1), calloc(1, h.length[1] + 1)};
        if (!strings[0] || !strings[1])
            BUG("out of memory");
        if (!read_all(fd, strings[0], h.length[0]) || !read_all(fd, strings[1], h.length[1]))
            _exit(0);
        struct workers_job job = {strings[0], strings[1], h.seed};
        if (!judge_one(call, fd, &job))
            _exit(0);
        free(strings[0]);
        free(strings[1]);
    }
}

/* ---- our side ---- */

static int start(struct crew *c, struct worker *w, struct err *e)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return err_set_errno(e, "cannot make a socket for another judging");
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        close(fds[0]);
        close(fds[1]);
        return err_set_errno(e, "cannot start a process for another judging");
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
        close(fds[0]);
        for (unsigned i = 0; i < c->call->worker_count; i++)
            if (c->workers[i].pid)
                close(c->workers[i].fd);
        if (c->call->in_child)
            c->call->in_child(c->call->context);
        work(c->call, fds[1]);
    }
    close(fds[1]);
    w->pid = pid;
    w->fd = fds[0];
    return 0;
}

/* How it ended, as waitpid() says. One that waits for a job ends by itself. */
static int stop(struct worker *w, bool now)
{
    int status = 0;
    if (now)
        kill(w->pid, SIGKILL);
    close(w->fd);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    w->pid = 0;
    return status;
}

static int hand_out(struct crew *c, struct worker *w, struct err *e)
{
    const struct workers_job *job = &c->call->jobs[c->next];
    if (!w->pid && start(c, w, e) != 0)
        return -1;
    text_clear(&w->inbox);
    w->is_busy = true;
    w->job = c->next++;
    w->since_ns = clock_now_ns();
    /* If it is gone, its end is seen next. */
    send_strings(w->fd, job->seed, job->problem_id, job->source);
    return 0;
}

static int finish(struct crew *c, struct worker *w, const char *reason, const char *result,
                  struct err *e)
{
    w->is_busy = false;
    c->done++;
    return c->call->done(c->call->context, w->job, reason, result, e);
}

/* The worker is gone, or is made to go: its job has an answer all the same. */
static int bury(struct crew *c, struct worker *w, bool late, struct err *e)
{
    int status = stop(w, true);
    char message[256];
    if (late)
        snprintf(message, sizeof message, "the judging was not done after %u minutes",
                 (unsigned)(JUDGING_LIMIT_NS / 60000000000u));
    else if (WIFSIGNALED(status))
        snprintf(message, sizeof message,
                 "the judge itself was ended by signal %d (%s) in this judging", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(message, sizeof message, "the judge itself ended with status %d in this judging",
                 WEXITSTATUS(status));
    struct result r = failed_result(c->call, &c->call->jobs[w->job], message);
    struct text line;
    text_init(&line);
    on_one_line(&r, &line);
    int outcome = finish(c, w, message, text_str(&line), e);
    text_release(&line);
    return outcome;
}

/* Takes what has arrived. */
static int receive(struct crew *c, struct worker *w, struct err *e)
{
    char block[65536];
    ssize_t got = recv(w->fd, block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (got <= 0)
        return bury(c, w, false, e);
    text_addn(&w->inbox, block, (size_t)got);
    struct header h;
    if (w->inbox.length < sizeof h)
        return 0;
    memcpy(&h, w->inbox.data, sizeof h);
    if (h.length[0] > STRING_BYTES_MAX || h.length[1] > STRING_BYTES_MAX)
        return bury(c, w, false, e);
    if (w->inbox.length < sizeof h + h.length[0] + h.length[1])
        return 0;
    char *reason = strndup(w->inbox.data + sizeof h, h.length[0]);
    if (!reason)
        BUG("out of memory");
    int status = finish(c, w, reason, w->inbox.data + sizeof h + h.length[0], e);
    free(reason);
    return status;
}

static unsigned busy_count(const struct crew *c)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < c->call->worker_count; i++)
        busy += c->workers[i].is_busy;
    return busy;
}

static int one_round(struct crew *c, struct pollfd *fds, struct err *e)
{
    const struct workers_call *call = c->call;
    for (unsigned i = 0; i < call->worker_count; i++) {
        struct worker *w = &c->workers[i];
        /* With others at work a process too few is no reason to give up. */
        if (!w->is_busy && c->next < call->job_count && hand_out(c, w, e) != 0 &&
            busy_count(c) == 0)
            return -1;
        fds[i] = (struct pollfd){.fd = w->is_busy ? w->fd : -1, .events = POLLIN};
    }
    if (call->tick)
        call->tick(call->context, c->done, c->next);
    if (poll(fds, call->worker_count, TICK_MS) < 0 && errno != EINTR)
        BUG("poll: %s", strerror(errno));
    uint64_t now = clock_now_ns();
    for (unsigned i = 0; i < call->worker_count; i++) {
        struct worker *w = &c->workers[i];
        if (!w->is_busy)
            continue;
        if (fds[i].revents && receive(c, w, e) != 0)
            return -1;
        if (w->is_busy && now - w->since_ns > JUDGING_LIMIT_NS && bury(c, w, true, e) != 0)
            return -1;
    }
    return 0;
}

int workers_run(const struct workers_call *call, struct err *e)
{
    struct crew c = {.call = call};
    int status = 0;
    struct pollfd *fds = calloc(call->worker_count, sizeof *fds);
    c.workers = calloc(call->worker_count, sizeof *c.workers);
    if (!fds || !c.workers)
        BUG("out of memory");
    while (status == 0 && c.done < call->job_count)
        status = one_round(&c, fds, e);
    for (unsigned i = 0; i < call->worker_count; i++) {
        if (c.workers[i].pid)
            stop(&c.workers[i], c.workers[i].is_busy);
        text_release(&c.workers[i].inbox);
    }
    free(c.workers);
    free(fds);
    return status;
}
