/* Reports on their way out: to stdout or into the file of --output, and in a job of GitHub Actions
 * also onto its summary page. */
#include "cli/cli.h"

#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The root of the repository that a CI system is at work on; else where we are. */
static const char *repository_root(const char *here)
{
    static const char *const VARIABLES[] = {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof VARIABLES[0]; i++) {
        const char *value = getenv(VARIABLES[i]);
        if (value && value[0] == '/')
            return value;
    }
    return here;
}

void cli_report_options(struct cli *cli, struct report_options *o)
{
    char here[PATH_MAX];
    *o = (struct report_options){0};
    if (!getcwd(here, sizeof here))
        return; /* names stay as they are */
    o->here = arena_strdup(&cli->arena, here);
    o->root = repository_root(o->here);
}

/* Appends: other steps of the job have their part of the page. */
static int add_to_summary(struct cli *cli, const struct report_options *options,
                          const struct result *const *results, unsigned count)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    if (!path || !path[0])
        return STATUS_DONE;
    struct text page;
    text_init(&page);
    report_find("markdown")->write(results, count, options, &page);
    FILE *file = fopen(path, "ae");
    bool ok = file && fwrite(text_str(&page), 1, page.length, file) == page.length;
    if (file && fclose(file) != 0)
        ok = false;
    text_release(&page);
    return ok ? STATUS_DONE
              : cli_failed(cli, "cannot write %s, which GITHUB_STEP_SUMMARY names: %s", path,
                           strerror(errno));
}

/* In the log of a job a line of text may be a command, and a submission may have written it. */
static void heed_nothing(const char *format, struct text *out)
{
    const char *job = getenv("GITHUB_ACTIONS");
    if (strcmp(format, "text") != 0 || !job || strcmp(job, "true") != 0)
        return;
    struct text wrapped;
    text_init(&wrapped);
    report_add_unheeded(&wrapped, text_str(out));
    text_release(out);
    *out = wrapped;
}

int cli_deliver(struct cli *cli, const char *format, const char *output,
                const struct report_options *options, const struct result *const *results,
                unsigned count)
{
    struct report_options plain = *options, shown = *options;
    struct text out;
    struct err e;
    int status = STATUS_DONE;
    text_init(&out);
    plain.colour = false;
    shown.colour = cli_use_colour(STDOUT_FILENO);
    if (output) {
        report_find(format)->write(results, count, &plain, &out);
        if (cli_write_output(output, text_str(&out), out.length, &e) != 0)
            status = cli_failed(cli, "%s", e.text);
        text_clear(&out);
    }
    const char *printed_format = output ? "text" : format;
    report_find(printed_format)->write(results, count, &shown, &out);
    heed_nothing(printed_format, &out);
    int printed = cli_print(cli, text_str(&out));
    text_release(&out);
    status = status ? status : printed;
    if (strcmp(format, "github") == 0) {
        int summarized = add_to_summary(cli, &plain, results, count);
        status = status ? status : summarized;
    }
    return status;
}
