/* Reads line by line: "// key: value" before or between kernels, marks at the end of lines. */
#include "cases.h"

#include "base/file.h"
#include "base/text.h"

#include <string.h>

enum { FILE_BYTES = 1 << 20, CASES_MAX = 64 };

const char *const schedule_names[SCHEDULES] = {
#define SCHEDULE(identifier, name, text) [identifier] = name,
#include "wire/schedules.def"
#undef SCHEDULE
};

bool has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list ? list : ""; *at;) {
        size_t n = strcspn(at, " ");
        if (n == length && strncmp(at, word, n) == 0)
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

/* Text after `prefix` at the start of the line, NULL if it is not there. */
static const char *after(const char *line, const char *prefix)
{
    size_t skip = strlen(prefix);
    return strncmp(line, prefix, skip) == 0 ? line + skip : NULL;
}

struct reader {
    const char *path;
    unsigned number; /* of the line */
    struct arena *arena;
    struct case_file *file;
    struct err *e;
};

static int complain(const struct reader *r, const char *what, const char *value)
{
    return err_set(r->e, "%s:%u: %s: %s", r->path, r->number, what, value);
}

static int begin_case(struct reader *r, const char *text)
{
    const char *colon = strstr(text, ": ");
    if (!colon)
        return complain(r, "a case without a kind", text);
    if (r->file->count == CASES_MAX)
        return complain(r, "too many cases in one file", text);
    struct fault_case *c = &r->file->cases[r->file->count++];
    c->name = arena_strndup(r->arena, text, (size_t)(colon - text));
    c->kind = strcmp(colon + 2, "clean") == 0 ? NULL : colon + 2;
    for (int s = 0; s < SCHEDULES; s++)
        c->schedules[s] = true;
    return 0;
}

static int set_schedules(struct reader *r, struct fault_case *c, const char *text)
{
    bool any = false;
    for (int s = 0; s < SCHEDULES; s++) {
        c->schedules[s] = has_word(text, schedule_names[s], strlen(schedule_names[s]));
        any |= c->schedules[s];
    }
    return any ? 0 : complain(r, "no schedule", text);
}

static int add_mark(struct reader *r, struct fault_case *c, const char *kind)
{
    if (!c || !c->kind || strcmp(kind, c->kind) != 0)
        return complain(r, "a mark of a kind that its case does not have", kind);
    if (c->line_count == CASE_LINES_MAX)
        return complain(r, "too many marks", c->name);
    c->lines[c->line_count++] = r->number;
    return 0;
}

static int read_line(struct reader *r, const char *line)
{
    struct case_file *file = r->file;
    struct fault_case *c = file->count ? &file->cases[file->count - 1] : NULL;
    const char *value, *mark = strstr(line, "// <-- ");
    if ((value = after(line, "// case ")))
        return begin_case(r, value);
    if (mark)
        return add_mark(r, c, mark + strlen("// <-- "));
    if (!c) {
        if ((value = after(line, "// target: ")))
            file->target = value;
        return 0;
    }
    if ((value = after(line, "// also: ")))
        c->also = value;
    else if ((value = after(line, "// says: ")))
        c->says = value;
    else if ((value = after(line, "// pending: ")))
        c->pending = value;
    else if ((value = after(line, "// schedules: ")))
        return set_schedules(r, c, value);
    else if (strcmp(line, "// no line") == 0)
        c->no_line = true;
    else if (strcmp(line, "// in some schedules") == 0)
        c->some = true;
    else if (strcmp(line, "// a warning") == 0)
        c->warning = true;
    return 0;
}

static int check_cases(struct reader *r)
{
    if (!r->file->count)
        return err_set(r->e, "%s: no case", r->path);
    for (size_t i = 0; i < r->file->count; i++) {
        const struct fault_case *c = &r->file->cases[i];
        if (c->kind && !c->line_count != c->no_line)
            return err_set(r->e, "%s: case %s needs a marked line, or a comment \"no line\"",
                           r->path, c->name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(r->file->cases[k].name, c->name) == 0)
                return err_set(r->e, "%s: two cases %s", r->path, c->name);
    }
    return 0;
}

int cases_read(const char *path, struct arena *arena, struct case_file *file, struct err *e)
{
    struct reader r = {.path = path, .arena = arena, .file = file, .e = e};
    *file = (struct case_file){.cases = arena_array(arena, CASES_MAX, sizeof *file->cases)};
    struct text source;
    text_init(&source);
    int status = file_read(path, FILE_BYTES, &source, e);
    for (const char *at = text_str(&source); status == 0 && *at;) {
        size_t length = strcspn(at, "\n"), used = length;
        while (used && strchr(" \r", at[used - 1]))
            used--;
        r.number++;
        status = read_line(&r, arena_strndup(arena, at, used));
        at += length + (at[length] == '\n');
    }
    text_release(&source);
    return status == 0 ? check_cases(&r) : status;
}
