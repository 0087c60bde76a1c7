/* Traces on their way into a file, for run and exec. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"

int cli_write_trace(const struct cli *cli, const char *path, const struct wire_trace *trace,
                    const char *source)
{
    char lack[256];
    if (report_trace_lack(trace, lack, sizeof lack))
        return cli_wrong(cli, "--trace: %s", lack);
    struct text lines;
    struct err e;
    text_init(&lines);
    report_trace(trace, file_base_name(source), &lines);
    int status = cli_write_output(path, text_str(&lines), lines.length, &e) == 0
                     ? STATUS_DONE
                     : cli_failed(cli, "%s", e.text);
    text_release(&lines);
    return status;
}
