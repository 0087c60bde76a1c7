/* The tool starts the runner, which keeps its socket: whoever is in between inherits descriptor 3.
 */
#include "judge/tool_run.h"

#include "base/file.h"

enum { REPORT_BYTES = 8 << 20, SLOWER = 6 };
static const uint64_t START_LIMIT_NS = 120000000000u; /* a tool loads its own modules first */
static const uint64_t END_LIMIT_NS = 30000000000u;    /* to write its report */

int tool_run(struct case_run *r, const char *const *before, bool bare, struct run_outcome *outcome,
             struct err *e)
{
    struct session *s = r->s;
    struct run_spec spec = s->submission.spec;
    struct run_box box;
    struct wire_request request;
    const int fds[2] = {r->c->inputs.fd, r->outputs->fd};
    spec.before = before;
    spec.start_limit_ns = START_LIMIT_NS;
    session_configure(s, r->c, &PASSES[0], 0, &request);
    request.bare = bare;
    int status = run_open(&spec, &box, outcome, e);
    if (status != 0)
        return status;
    if (box.alive)
        status = run_pass(&box, &request, fds, s->problem->limits.time_ns * SLOWER, outcome, e);
    run_close_slowly(&box, END_LIMIT_NS);
    return status;
}

int tool_report(const char *path, const char *tool, const struct run_outcome *outcome,
                struct text *report, struct err *e)
{
    if (file_exists(path))
        return file_read(path, REPORT_BYTES, report, e);
    return err_set(e, "%s wrote no report: %.400s", tool,
                   outcome->how == RUN_TIMED_OUT ? "it was not done in time"
                   : outcome->how == RUN_REPLIED && outcome->reply.message[0]
                       ? outcome->reply.message
                       : "does it run on this card?");
}
