/* One poll loop: output, always drained, the end, or a limit, whatever comes first. */
#include "sandbox/sandbox.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* Takes what was printed so far; false: more than both may hold together. Before the program has
 * started, what is there was not printed by it. */
static bool drain(struct sandbox_box *box, uint64_t most, struct text *out, struct text *errors)
{
    if (!box->pid)
        return true;
    uint64_t for_out = most > errors->length ? most - errors->length : 0;
    if (!proc_read(&box->process.stdout_fd, out, for_out))
        return false;
    uint64_t for_errors = most > out->length ? most - out->length : 0;
    return proc_read(&box->process.stderr_fd, errors, for_errors);
}

static enum sandbox_how collect(struct sandbox_box *box, const struct sandbox_limits *limits,
                                uint64_t start_ns, struct text *out, struct text *errors)
{
    uint64_t most = limits->output_bytes ? limits->output_bytes : UINT64_MAX;
    uint64_t limit = limits->wall_ns ? limits->wall_ns : UINT64_MAX;
    uint64_t deadline = limit < UINT64_MAX - start_ns ? start_ns + limit : UINT64_MAX, now;
    while ((now = clock_now_ns()) < deadline) {
        uint64_t left = deadline - now;
        struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        struct pollfd fds[3] = {{.fd = box->watch_fd, .events = POLLIN},
                                {.fd = box->pid ? box->process.stdout_fd : -1, .events = POLLIN},
                                {.fd = box->pid ? box->process.stderr_fd : -1, .events = POLLIN}};
        int ready = ppoll(fds, 3, &wait, NULL);
        if (ready < 0 && errno != EINTR)
            BUG("ppoll: %s", strerror(errno));
        if (ready <= 0)
            continue;
        bool over = sandbox_is_over(box);
        if (!drain(box, most, out, errors)) /* also what it wrote last */
            return SANDBOX_OUTPUT_LIMIT;
        if (over)
            return SANDBOX_EXITED;
    }
    return SANDBOX_TIMED_OUT;
}

int sandbox_run(const struct sandbox_spec *spec, struct text *out, struct text *errors,
                struct sandbox_outcome *outcome, struct err *e)
{
    struct sandbox_box box;
    struct text box_out, box_errors;
    uint64_t start_ns = clock_now_ns();
    if (sandbox_open(spec, &box, e) != 0)
        return -1;
    text_init(&box_out);
    text_init(&box_errors);
    enum sandbox_how how = collect(&box, &spec->limits, start_ns, &box_out, &box_errors);
    int status = sandbox_finish(&box, outcome, e);
    if (status == 0 && how != SANDBOX_EXITED)
        outcome->how = how;
    text_addn(out, box_out.data, box_out.length);
    text_addn(errors, box_errors.data, box_errors.length);
    text_release(&box_out);
    text_release(&box_errors);
    return status;
}
