/* A line per thread: "a.cu:52: void scan(const int *): block: [0,0,0], thread: [128,0,0] Assertion
 * `i <= n` failed." */
#include "judge/gpu/assertion.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

static bool read_line(char *line, struct wire_finding *f)
{
    static const char BLOCK[] = ": block: [", WORD[] = " Assertion `", END[] = "` failed.";
    char *block = strstr(line, BLOCK), *words = strstr(line, WORD);
    char *colon = strchr(line, ':');
    if (!block || !words || words < block || !colon || colon >= block)
        return false;
    char *end = strstr(words, END), *after;
    unsigned long number = strtoul(colon + 1, &after, 10);
    int b[3], t[3];
    if (!end || after == colon + 1 || *after != ':' || number > UINT32_MAX || after >= block ||
        sscanf(block, ": block: [%d,%d,%d], thread: [%d,%d,%d]", &b[0], &b[1], &b[2], &t[0], &t[1],
               &t[2]) != 6)
        return false;
    *colon = *block = *end = '\0';
    *f = (struct wire_finding){
        .kind = FINDING_assertion, .severity = WIRE_ERROR, .line = (uint32_t)number, .count = 1};
    for (int i = 0; i < 3; i++) {
        f->block[i] = b[i] < 0 ? -1 : b[i];
        f->thread[i] = t[i] < 0 ? -1 : t[i];
    }
    const char *kernel = after + 1 + strspn(after + 1, " ");
    snprintf(f->file, sizeof f->file, "%.*s", (int)sizeof f->file - 1, file_base_name(line));
    snprintf(f->kernel, sizeof f->kernel, "%.*s", (int)sizeof f->kernel - 1, kernel);
    snprintf(f->message, sizeof f->message, "the assertion `%.400s` failed",
             words + sizeof WORD - 1);
    wire_clean_text(f->file, strlen(f->file));
    wire_clean_text(f->kernel, strlen(f->kernel));
    wire_clean_text(f->message, strlen(f->message));
    return true;
}

bool assertion_read(const char *errors, struct wire_finding *f)
{
    bool found = false;
    char line[LINE_BYTES];
    struct wire_finding one;
    for (const char *at = errors; *at;) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < LINE_BYTES ? length : LINE_BYTES - 1),
                 at);
        if (read_line(line, &one)) {
            if (!found)
                *f = one;
            else if (one.line == f->line && strcmp(one.file, f->file) == 0)
                f->count++;
            found = true;
        }
        at += length;
        at += *at == '\n';
    }
    return found;
}
