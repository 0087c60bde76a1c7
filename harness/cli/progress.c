/* One line on stderr, only on a terminal that can be wiped, and wiped before anything else is
 * printed. */
#include "cli/cli.h"

#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

static bool line_is_shown;

void progress_show(void *unused, const char *what, unsigned done, unsigned total)
{
    (void)unused;
    if (!cli_is_terminal(STDERR_FILENO))
        return;
    if (done >= total) {
        progress_clear();
        return;
    }
    struct text line;
    text_init(&line);
    text_addf(&line, "\r\x1b[K[%u/%u] ", done + 1, total);
    report_add_escaped(&line, what);
    fputs(text_str(&line), stderr);
    fflush(stderr);
    text_release(&line);
    line_is_shown = true;
}

void progress_wait(void *unused, const char *sentence)
{
    (void)unused;
    struct text line;
    text_init(&line);
    report_add_escaped(&line, sentence);
    progress_clear();
    if (cli_is_terminal(STDERR_FILENO)) {
        fprintf(stderr, "%s", text_str(&line));
        line_is_shown = true;
    } else {
        fprintf(stderr, "judge: %s\n", text_str(&line));
    }
    fflush(stderr);
    text_release(&line);
}

void progress_clear(void)
{
    if (!line_is_shown)
        return;
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
    line_is_shown = false;
}
