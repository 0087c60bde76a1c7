/* Buffers are bare: guards would hide an overrun, poison would hide a read of what nobody wrote. */
#include "judge/sanitize.h"

#include "base/file.h"
#include "judge/gpu/sanitizer.h"
#include "judge/tool_run.h"

#include <limits.h>
#include <string.h>

enum { FINDINGS_MAX = 32 };

static void take_findings(struct case_run *r, const struct wire_finding *findings, unsigned count,
                          bool *grave)
{
    for (unsigned i = 0; i < count; i++) {
        case_add_finding(r, &findings[i]);
        *grave |= findings[i].severity == WIRE_ERROR;
    }
}

/* 0 and `count`: how many findings it had. */
static int run_tool(struct case_run *r, const char *tool, const char *folder, unsigned *count,
                    bool *grave, struct err *e)
{
    struct arena *a = &r->c->arena;
    struct wire_finding *findings = arena_array(a, FINDINGS_MAX, sizeof *findings);
    struct run_outcome *outcome = arena_alloc(a, sizeof *outcome);
    struct text log;
    text_init(&log);
    const char *path = arena_printf(a, "%s/%s", folder, tool), *why = NULL;
    const char *const before[] = {r->s->sanitizer, "--tool",     tool, "--print-limit",
                                  "100",           "--log-file", path, NULL};
    int status = tool_run(r, before, true, outcome, e);
    if (status == 0)
        status = tool_report(path, tool, outcome, &log, e);
    if (status == 0) {
        *count = sanitizer_read(tool, text_str(&log), r->s->source, findings, FINDINGS_MAX, &why);
        if (why)
            status = err_set(e, "compute-sanitizer's %s could not do its work: %.600s", tool, why);
    }
    if (status == 0)
        take_findings(r, findings, *count, grave);
    text_release(&log);
    return status;
}

int sanitize_case(struct case_run *r, struct err *e)
{
    static const char *const TOOLS[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    char folder[PATH_MAX];
    struct result_case *result = r->result;
    struct text said;
    bool grave = false;
    if (file_make_temp_dir(folder, sizeof folder, "scanjudge-sanitize", e) != 0)
        return -1;
    text_init(&said);
    int status = 0;
    for (size_t i = 0; i < sizeof TOOLS / sizeof TOOLS[0] && status == 0; i++) {
        unsigned count = 0;
        status = run_tool(r, TOOLS[i], folder, &count, &grave, e);
        text_addf(&said, "%s%s: %u", i ? ", " : "", TOOLS[i], count);
    }
    result->sanitized = arena_strdup(r->s->arena, text_str(&said));
    if (status == 0 && grave && result->verdict == VERDICT_accepted) {
        result->verdict = VERDICT_run_time_error;
        result->diagnosis =
            "the answer is right, but only by luck: see what compute-sanitizer found";
    }
    text_release(&said);
    file_remove_tree(folder, NULL);
    return status;
}
