/* How it works: every line begins with "=========". One blank after that begins a report or a
 * summary, several belong to the report above: where it was, by which thread, what is known of the
 * address, and then a host backtrace, which nobody needs. */
#include "judge/gpu/sanitizer.h"

#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "=========";

/* Addresses below are those of a null pointer and an index. */
enum { NULL_PAGE = 1 << 16, LINE_BYTES = 1024 };

static const struct row {
    const char *says;
    enum finding_kind kind;
    enum wire_severity severity;
} ROWS[] = {
#define SAYS(says, kind, severity) {says, FINDING_##kind, severity},
#include "judge/gpu/sanitizer.def"
#undef SAYS
};

static const char *const NO_WORK[] = {
    "Error: No attachable process",
    "Error: Target application terminated before first instrumented API call",
    "Error: Device not supported",
    "Error: Failed",
    "Internal",
    "Error: Unable",
    "Error: Could not",
};

struct reader {
    const char *tool, *source;
    struct wire_finding *out;
    unsigned capacity, count;
    struct wire_finding *now; /* the report that lines belong to, NULL = none */
    bool located;             /* its place is one in `source` */
    bool at_backtrace;
    struct wire_finding scratch;
    const char *why;
};

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* "FILE:LINE" at the end of a place, which may have words behind it: " [508 hazards]". */
static bool read_place(const char *text, char *file, size_t file_bytes, uint32_t *line)
{
    const char *in = strstr(text, " in "), *last = NULL;
    while (in) {
        last = in + 4;
        in = strstr(last, " in ");
    }
    if (!last)
        return false;
    size_t length = strcspn(last, "\n");
    const char *hazards = memmem(last, length, " [", 2);
    if (hazards)
        length = (size_t)(hazards - last);
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)last[length - digits - 1]))
        digits++;
    if (!digits || digits > 9 || digits + 1 >= length || last[length - digits - 1] != ':')
        return false;
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%.*s", (int)(length - digits - 1), last);
    snprintf(file, file_bytes, "%s", file_base_name(path));
    *line = (uint32_t)strtoul(last + length - digits, NULL, 10);
    return true;
}

/* The name in front of its offset: "scan(const int *, int *)+0xb0 in ...". */
static void read_kernel(const char *text, struct wire_finding *f)
{
    const char *end = strstr(text, "+0x");
    if (end) /* of several frames the last one is the kernel */
        snprintf(f->kernel, sizeof f->kernel, "%.*s",
                 (int)(end - text < (int)sizeof f->kernel ? end - text : (int)sizeof f->kernel - 1),
                 text);
}

/* The first place in `source` counts, else the first place at all. */
static void take_place(struct reader *r, const char *text)
{
    char file[sizeof r->now->file];
    uint32_t line;
    read_kernel(text, r->now);
    if (r->located || !read_place(text, file, sizeof file, &line))
        return;
    bool ours = strcmp(file, file_base_name(r->source)) == 0;
    if (r->now->line && !ours)
        return;
    snprintf(r->now->file, sizeof r->now->file, "%s", file);
    r->now->line = line;
    r->located = ours;
}

/* Paths lose their folders: those are of no use to anybody, and the cache's own. */
static void add_words(struct wire_finding *f, const char *between, const char *text)
{
    size_t used = strlen(f->message), room = sizeof f->message - 1;
    for (; *between && used < room; between++)
        f->message[used++] = *between;
    for (const char *at = text; *at && *at != '\n' && used < room; at++) {
        const char *end = at + strcspn(at, " \n");
        const char *slash = *at == '/' && (at == text || at[-1] == ' ')
                                ? memrchr(at, '/', (size_t)(end - at))
                                : NULL;
        if (slash && slash + 1 < end)
            at = slash + 1;
        f->message[used++] = *at;
    }
    f->message[used] = '\0';
}

/* What is known of the address says more than the access alone. */
static void refine(struct wire_finding *f, const char *text)
{
    if (strstr(text, "Uninitialized access"))
        f->kind = FINDING_uninitialized_read;
    bool memory = f->kind == FINDING_out_of_bounds_read || f->kind == FINDING_out_of_bounds_write;
    const char *address = strstr(text, "0x");
    if (!memory)
        return;
    if (strstr(text, "misaligned"))
        f->kind = FINDING_misaligned;
    else if (strstr(text, "freed") || strstr(text, "was already released"))
        f->kind = FINDING_use_after_free;
    else if (begins(text, "A") && address && strtoull(address, NULL, 16) < NULL_PAGE &&
             strstr(text, "out of bounds") && !strstr(f->message, "__shared__") &&
             !strstr(f->message, "__local__"))
        f->kind = FINDING_null_pointer;
}

static void take_detail(struct reader *r, const char *text)
{
    struct wire_finding *f = r->now;
    int t[3], b[3];
    if (begins(text, "Saved host backtrace") || begins(text, "Host Frame")) {
        r->at_backtrace = true;
    } else if (r->at_backtrace) {
        return;
    } else if (begins(text, "at ") && f->kind != FINDING_cuda_error) {
        take_place(r, text + 3);
    } else if (begins(text, "Device Frame: ")) {
        take_place(r, text + strlen("Device Frame: "));
    } else if (sscanf(text, "by thread (%d,%d,%d) in block (%d,%d,%d)", &t[0], &t[1], &t[2], &b[0],
                      &b[1], &b[2]) == 6) {
        for (int i = 0; i < 3 && f->thread[0] < 0; i++) {
            f->thread[i] = t[i] < 0 ? -1 : t[i];
            f->block[i] = b[i] < 0 ? -1 : b[i];
        }
    } else if (begins(text, "Address 0x") && !strchr(text + strlen("Address "), ' ')) {
        return; /* a number that tells nobody anything */
    } else if (begins(text, "and ") && strstr(text, " access at ")) {
        /* Of a race the write is the place, wherever it stands. */
        if (begins(text, "and Write access at ") && !strstr(f->message, "Write access at ")) {
            r->located = false;
            f->line = 0;
            take_place(r, text + strlen("and Write access at "));
        }
        add_words(f, "; ", text);
    } else {
        refine(f, text);
        add_words(f, "; ", text);
    }
}

/* Without a line the words decide, but for the addresses in them. */
static bool same(const struct wire_finding *a, const struct wire_finding *b)
{
    size_t length = strcspn(a->message, "0123456789");
    return a->kind == b->kind && a->line == b->line && strcmp(a->file, b->file) == 0 &&
           (a->line || strncmp(a->message, b->message, length) == 0);
}

/* The report that was read is whole. */
static void finish(struct reader *r)
{
    struct wire_finding *f = r->now;
    r->now = NULL;
    if (!f)
        return;
    wire_clean_text(f->message, strlen(f->message));
    wire_clean_text(f->file, strlen(f->file));
    wire_clean_text(f->kernel, strlen(f->kernel));
    for (unsigned i = 0; i < r->count; i++)
        if (same(&r->out[i], f)) {
            r->out[i].count++;
            return;
        }
    if (r->count < r->capacity)
        r->out[r->count++] = *f;
}

static bool has_error(const struct reader *r)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->out[i].severity == WIRE_ERROR)
            return true;
    return false;
}

static void begin(struct reader *r, const char *text)
{
    finish(r);
    for (size_t i = 0; i < sizeof NO_WORK / sizeof NO_WORK[0] && !r->why; i++)
        if (begins(text, NO_WORK[i]))
            r->why = text;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        if (!begins(text, ROWS[i].says))
            continue;
        /* What a call gave after the fault is only its consequence. */
        if (ROWS[i].kind == FINDING_cuda_error && has_error(r))
            return;
        r->now = &r->scratch;
        wire_finding_set(r->now, ROWS[i].kind, ROWS[i].severity, "%s: ", r->tool);
        const char *race = strstr(text, ": Race reported"); /* behind its severity */
        add_words(r->now, "", race ? race + 2 : text);
        r->located = r->at_backtrace = false;
        if (ROWS[i].kind == FINDING_data_race) {
            const char *at = strstr(text, " access at ");
            if (at)
                take_place(r, at + strlen(" access at "));
        }
        return;
    }
}

unsigned sanitizer_read(const char *tool, const char *log, const char *source,
                        struct wire_finding *out, unsigned capacity, const char **why)
{
    struct reader r = {.tool = tool, .source = source, .out = out, .capacity = capacity};
    char line[LINE_BYTES];
    for (const char *at = log; *at;) {
        size_t length = strcspn(at, "\n"), skip = sizeof PREFIX - 1;
        if (length > skip && begins(at, PREFIX)) {
            size_t blanks = strspn(at + skip, " ");
            snprintf(line, sizeof line, "%.*s", (int)(length - skip - blanks), at + skip + blanks);
            if (blanks == 1)
                begin(&r, line);
            else if (blanks > 1 && r.now)
                take_detail(&r, line);
        }
        at += length;
        at += *at == '\n';
    }
    finish(&r);
    *why = NULL;
    if (r.why && !r.count)
        *why = strstr(log, "Error: ") ? strstr(log, "Error: ") : strstr(log, "Internal");
    return r.count;
}
