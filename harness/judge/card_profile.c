/* ncu runs every kernel several times over, with the memory put back in between: the numbers are
 * those of one run, the wall time is not. Clocks are left alone, as every setting of a card is. */
#include "judge/card_profile.h"

#include "base/file.h"
#include "judge/gpu/ncu.h"
#include "judge/tool_run.h"

#include <limits.h>

/* The same library on the CPU device: it holds PTX beside the card's own code. What does not run
 * there is no fault: the table has one column less. */
static void count_on_cpu(struct case_run *r)
{
    struct session *s = r->s;
    struct run_spec spec = s->submission.spec;
    struct run_box box;
    struct wire_request request;
    struct run_outcome *outcome = arena_alloc(&r->c->arena, sizeof *outcome);
    const int fds[2] = {r->c->inputs.fd, r->outputs->fd};
    spec.cudart = s->cpu_cudart;
    spec.card = spec.meter = spec.libraries = NULL;
    session_configure(s, r->c, &PASSES[0], 0, &request);
    request.device.checks |= WIRE_CHECK_COUNTERS;
    if (run_open(&spec, &box, outcome, NULL) != 0)
        return;
    if (box.alive &&
        run_pass(&box, &request, fds, s->problem->limits.time_ns, outcome, NULL) == 0 &&
        outcome->how == RUN_REPLIED && outcome->reply.status == WIRE_DONE) {
        r->result->has_counters = true;
        r->result->counters = outcome->reply.counters;
    }
    run_close(&box);
}

int card_profile_case(struct case_run *r, struct err *e)
{
    char folder[PATH_MAX];
    struct arena *a = &r->c->arena;
    struct run_outcome *outcome = arena_alloc(a, sizeof *outcome);
    struct card_profile *profile = arena_alloc(r->s->arena, sizeof *profile);
    struct text report;
    if (file_make_temp_dir(folder, sizeof folder, "scanjudge-profile", e) != 0)
        return -1;
    text_init(&report);
    const char *path = arena_printf(a, "%s/ncu.csv", folder);
    const char *const before[] = {r->s->profiler,
                                  "--clock-control",
                                  "none",
                                  "--csv",
                                  "--print-units",
                                  "base",
                                  "--metrics",
                                  ncu_metrics(),
                                  "--log-file",
                                  path,
                                  "--target-processes",
                                  "all",
                                  NULL};
    int status = tool_run(r, before, false, outcome, e);
    if (status == 0)
        status = tool_report(path, "ncu", outcome, &report, e);
    if (status == 0)
        status = ncu_read(text_str(&report), profile, e);
    if (status == 0) {
        r->result->card_profile = profile;
        count_on_cpu(r);
    }
    text_release(&report);
    file_remove_tree(folder, NULL);
    return status;
}
