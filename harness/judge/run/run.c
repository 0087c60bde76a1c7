/* How it works: one poll loop waits for whatever comes first: a reply on the socket, output on the
 * two pipes (always drained, so that a box cannot hang on a full one), the end of the process, or
 * the limit. Anything but a valid reply ends the box at once, with all that it started. */
#include "judge/run/run.h"

#include "base/clock.h"
#include "judge/run/validate.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Ends the process and all that it started; how it ended by itself goes into `end`. -1: it never
 * ran, for a reason of ours. */
static int box_end(struct run_box *box, struct sandbox_outcome *end, struct err *e)
{
    box->alive = false;
    int status = sandbox_finish(&box->sandbox, end, e);
    close_fd(&box->socket_fd);
    return status;
}

/* Takes what was printed so far, from when the program has started. false: more than the two may
 * hold together. */
static bool box_drain(struct run_box *box)
{
    struct proc *process = &box->sandbox.process;
    if (!box->sandbox.pid)
        return true;
    uint64_t all = box->output_bytes;
    uint64_t for_out = all > box->errors.length ? all - box->errors.length : 0;
    if (!proc_read(&process->stdout_fd, &box->out, for_out))
        return false;
    uint64_t for_errors = all > box->out.length ? all - box->out.length : 0;
    return proc_read(&process->stderr_fd, &box->errors, for_errors);
}

/* Takes the message that is waiting: RUN_REPLIED, RUN_GARBAGE, or RUN_EXITED if there is none but
 * the end of the stream. */
static enum run_how box_receive(struct run_box *box, bool loading, struct wire_reply *reply)
{
    int fds[2];
    int got = wire_receive(box->socket_fd, reply, sizeof *reply, fds, NULL);
    for (int i = 0; i < 2; i++)
        close_fd(&fds[i]); /* a reply carries none: not ours to keep */
    if (got == 0)
        return RUN_EXITED;
    return got > 0 && validate_reply(reply, loading) ? RUN_REPLIED : RUN_GARBAGE;
}

/* On a busy machine a box gets a part of a processor, and a right submission must not fail for
 * that. So a box that computed all the while may go on until it has had the limit in processor
 * time, or PATIENCE times the limit has passed. One that slept is not given more. */
static const uint64_t TOOL_END_NS = 20000000000u; /* to write its report */

enum { PATIENCE = 6, BUSY_PERCENT = 5 };

struct box_clock {
    uint64_t start_ns, limit_ns, processor_start_ns;
};

/* The next time to look again, 0 = the limit is exceeded. */
static uint64_t box_deadline(const struct run_box *box, const struct box_clock *c, uint64_t now)
{
    uint64_t first =
        c->limit_ns < UINT64_MAX - c->start_ns ? c->start_ns + c->limit_ns : UINT64_MAX;
    if (now < first)
        return first;
    if (box->on_card)
        return 0;
    uint64_t wall = now - c->start_ns;
    uint64_t busy = sandbox_processor_ns(&box->sandbox) - c->processor_start_ns;
    if (busy >= c->limit_ns || busy < wall / 100 * BUSY_PERCENT || wall / PATIENCE >= c->limit_ns)
        return 0;
    uint64_t left = c->limit_ns - busy, step = 10000000; /* 10 ms: it may have two processors */
    return now + (left / 2 > step ? left / 2 : step);
}

/* Of `wall` ns that have passed, those that count: processor time, unless the box waits for a card,
 * slept, or had two processors. At least what box_deadline() would let pass for that. */
static uint64_t box_used(const struct run_box *box, const struct box_clock *c, uint64_t wall)
{
    uint64_t busy = sandbox_processor_ns(&box->sandbox) - c->processor_start_ns;
    if (box->on_card || busy < wall / 100 * BUSY_PERCENT || busy > wall)
        return wall;
    return busy > wall / PATIENCE ? busy : wall / PATIENCE;
}

/* What tells of the program: its end, and its output once it has started. */
static void box_watch(const struct run_box *box, struct pollfd fds[3])
{
    const struct sandbox_box *s = &box->sandbox;
    fds[0] = (struct pollfd){.fd = s->watch_fd, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->pid ? s->process.stdout_fd : -1, .events = POLLIN};
    fds[2] = (struct pollfd){.fd = s->pid ? s->process.stderr_fd : -1, .events = POLLIN};
}

/* Waits for a reply or for a reason that there will be none. */
static enum run_how box_wait(struct run_box *box, bool loading, const struct box_clock *c,
                             struct wire_reply *reply)
{
    bool socket_open = true;
    for (;;) {
        uint64_t now = clock_now_ns();
        uint64_t deadline_ns = box_deadline(box, c, now);
        if (deadline_ns == 0)
            return RUN_TIMED_OUT;
        uint64_t left = deadline_ns - now;
        struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        struct pollfd fds[4] = {{.fd = socket_open ? box->socket_fd : -1, .events = POLLIN}};
        box_watch(box, &fds[1]);
        int ready = ppoll(fds, 4, &wait, NULL);
        if (ready < 0 && errno != EINTR)
            BUG("ppoll: %s", strerror(errno));
        if (ready <= 0)
            continue;
        bool over = sandbox_is_over(&box->sandbox);
        if (!box_drain(box))
            return RUN_OUTPUT_LIMIT;
        /* Before the end of the process: a crash is answered first, then the process ends. */
        if (fds[0].revents) {
            enum run_how how = box_receive(box, loading, reply);
            if (how == RUN_REPLIED && !box_drain(box)) /* what it printed before it answered */
                return RUN_OUTPUT_LIMIT;
            if (how != RUN_EXITED)
                return how;
            socket_open = false; /* it closed its end: its exit status is still to come */
        } else if (over) {
            return RUN_EXITED;
        }
    }
}

/* Hangs up and waits for the process to end by itself. */
static void box_let_end(struct run_box *box, uint64_t limit_ns)
{
    uint64_t until = clock_now_ns() + limit_ns, now;
    shutdown(box->socket_fd, SHUT_RDWR);
    while ((now = clock_now_ns()) < until && box_drain(box)) {
        struct timespec wait = {(time_t)((until - now) / 1000000000),
                                (long)((until - now) % 1000000000)};
        struct pollfd fds[3];
        box_watch(box, fds);
        ppoll(fds, 3, &wait, NULL);
        if (sandbox_is_over(&box->sandbox))
            break;
    }
}

/* May the box be asked again? A fault of a kernel stays with a card's context until its process
 * ends; our device forgets it. A lock that was held then must not be there any more, either. */
static bool box_goes_on(const struct run_box *box, const struct wire_reply *reply)
{
    return reply->status == WIRE_READY || reply->status == WIRE_DONE ||
           reply->status == WIRE_BAD_REQUEST ||
           (reply->status == WIRE_CUDA_ERROR && reply->holds_nothing && !box->on_card);
}

/* Waits, and ends the box unless it may be asked again. */
static int box_answer(struct run_box *box, bool loading, uint64_t start_ns, uint64_t limit_ns,
                      struct run_outcome *outcome, struct err *e)
{
    struct box_clock c = {start_ns, limit_ns, sandbox_processor_ns(&box->sandbox)};
    outcome->how = box_wait(box, loading, &c, &outcome->reply);
    outcome->wall_ns = clock_now_ns() - start_ns;
    outcome->used_ns = box_used(box, &c, outcome->wall_ns);
    const struct wire_reply *reply = &outcome->reply;
    if (outcome->how == RUN_REPLIED && box_goes_on(box, reply))
        return 0;
    struct sandbox_outcome end = {0};
    if (box->has_tool && outcome->how == RUN_REPLIED)
        box_let_end(box, TOOL_END_NS);
    int status = box_end(box, &end, e);
    if (outcome->how == RUN_EXITED) {
        outcome->how = end.out_of_memory              ? RUN_OUT_OF_MEMORY
                       : end.how == SANDBOX_SIGNALLED ? RUN_SIGNALLED
                                                      : RUN_EXITED;
        outcome->code = end.code;
    }
    if (outcome->how != RUN_REPLIED)
        outcome->reply = (struct wire_reply){0};
    return status;
}

/* Nothing of the judge's own environment. */
enum { ENVIRONMENT_MAX = 10, VARIABLE_BYTES = 256, WORDS_MAX = 32, CARD_DESCRIPTORS = 4096 };

/* A tool that runs the runner writes its own files, and looks for them in these. */
static const char *const TOOL_ENVIRONMENT[] = {"HOME=/tmp", "TMPDIR=/tmp"};

/* Passes come by the hundred and allocate the same again: what one gave back to the kernel, page by
 * page, the next would have to have made again. */
#define KEEP_MEMORY                                                                                \
    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:"                  \
    "glibc.malloc.trim_threshold=268435456"

/* With a tool in front everything has its name on the host; else the runner and what it loads are
 * memory that the box is given. */
static void name_words(const struct run_spec *spec, const char *argv[WORDS_MAX],
                       const char *parts[SANDBOX_PARTS_MAX])
{
    const char *const words[] = {spec->cudart, spec->library, spec->entry, spec->meter};
    enum { ENTRY = 2, WORDS = sizeof words / sizeof words[0] };
    unsigned count = 0, part_count = 0;
    for (unsigned i = 0; spec->before && spec->before[i]; i++) {
        if (count + WORDS + 2 >= WORDS_MAX)
            BUG("too many words in front of the runner");
        argv[count++] = spec->before[i];
    }
    argv[count++] = spec->runner;
    for (unsigned i = 0; i < WORDS && words[i]; i++) {
        bool is_part = !spec->before && i != ENTRY && words[i][0];
        argv[count++] = is_part ? sandbox_part(part_count) : words[i];
        if (is_part)
            parts[part_count++] = words[i];
    }
}

static enum sandbox_profile profile_of(const struct run_spec *spec)
{
    return spec->before ? SANDBOX_TOOL : spec->card ? SANDBOX_CARD : SANDBOX_PROGRAM;
}

void run_start_ahead(bool on_card, const char *libraries)
{
    const char *const see[] = {on_card ? libraries : NULL, NULL};
    sandbox_prepare(
        &(struct sandbox_spec){.profile = on_card ? SANDBOX_CARD : SANDBOX_PROGRAM, .see = see});
}

int run_begin(const struct run_spec *spec, struct run_box *box, struct err *e)
{
    *box = (struct run_box){.socket_fd = -1,
                            .has_tool = spec->before != NULL,
                            .on_card = spec->card != NULL,
                            .start_limit_ns = spec->start_limit_ns,
                            .output_bytes = spec->output_bytes};
    text_init(&box->out);
    text_init(&box->errors);
    const char *environment[ENVIRONMENT_MAX] = {"PATH=/usr/bin:/bin", "LANG=C",
                                                "CUDA_CACHE_DISABLE=1", KEEP_MEMORY};
    char visible[VARIABLE_BYTES], libraries[PATH_MAX + VARIABLE_BYTES];
    unsigned variables = 4;
#ifdef SJ_SANITIZED
    environment[variables++] = "ASAN_OPTIONS=detect_leaks=0"; /* it would trace: refused in a box */
#endif
    snprintf(visible, sizeof visible, "CUDA_VISIBLE_DEVICES=%s", spec->card ? spec->card : "");
    environment[variables++] = visible;
    snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s",
             spec->libraries ? spec->libraries : "");
    if (spec->libraries)
        environment[variables++] = libraries;
    const char *const see[] = {spec->libraries, NULL};
    for (unsigned i = 0; spec->before && i < 2; i++)
        environment[variables++] = TOOL_ENVIRONMENT[i];
    const char *argv[WORDS_MAX] = {NULL}, *parts[SANDBOX_PARTS_MAX] = {NULL};
    name_words(spec, argv, parts);
    box->start_ns = clock_now_ns();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set_errno(e, "no socket to the box");
    /* Not address_bytes: devices reserve terabytes of addresses that they never touch. */
    struct sandbox_spec sandbox = {.profile = profile_of(spec),
                                   .program = spec->before ? NULL : spec->runner,
                                   .argv = argv,
                                   .environment = environment,
                                   .see = see,
                                   .parts = parts,
                                   .limits = {.memory_bytes = spec->memory_bytes,
                                              .descriptors = spec->card ? CARD_DESCRIPTORS : 0},
                                   .socket_fd = ends[1]};
    int status = sandbox_open(&sandbox, &box->sandbox, e);
    close(ends[1]);
    box->socket_fd = ends[0];
    box->alive = status == 0;
    if (status != 0)
        run_close(box);
    return status;
}

int run_loaded(struct run_box *box, struct run_outcome *outcome, struct err *e)
{
    *outcome = (struct run_outcome){0};
    return box_answer(box, true, box->start_ns, box->start_limit_ns, outcome, e);
}

int run_open(const struct run_spec *spec, struct run_box *box, struct run_outcome *outcome,
             struct err *e)
{
    *outcome = (struct run_outcome){0};
    if (run_begin(spec, box, e) != 0)
        return -1;
    return run_loaded(box, outcome, e);
}

int run_pass(struct run_box *box, const struct wire_request *request, const int fds[2],
             uint64_t limit_ns, struct run_outcome *outcome, struct err *e)
{
    *outcome = (struct run_outcome){0};
    if (!box->alive)
        return err_set(e, "the box has ended: a fresh one has to be opened");
    uint64_t start = clock_now_ns();
    /* An answer before the question is a forged one, and would be taken for that to this pass. */
    struct pollfd early = {.fd = box->socket_fd, .events = POLLIN};
    if (poll(&early, 1, 0) > 0 && (early.revents & POLLIN) &&
        box_receive(box, false, &outcome->reply) != RUN_EXITED) {
        *outcome = (struct run_outcome){.how = RUN_GARBAGE};
        return box_end(box, NULL, e);
    }
    /* A box that is gone shows as the end of its process, below. */
    wire_send(box->socket_fd, request, sizeof *request, fds, NULL);
    return box_answer(box, false, start, limit_ns, outcome, e);
}

void run_close_slowly(struct run_box *box, uint64_t limit_ns)
{
    if (box->alive)
        box_let_end(box, limit_ns);
    run_close(box);
}

void run_close(struct run_box *box)
{
    box_end(box, NULL, NULL);
    text_release(&box->out);
    text_release(&box->errors);
}
