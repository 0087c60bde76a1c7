/* Reads a case file line by line: indented lines go to the body of the current case, the others
 * are "key: rest". */
#include "base/file.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 4 << 20 };

struct reader {
    const char *path;
    uint32_t line;
    struct arena *arena;
    struct err *e;
    bool lanewise;
    struct ptx_case *first, *last;
};

static int bad(struct reader *r, const char *what, const char *text)
{
    return err_set(r->e, "%s:%u: %s: '%.100s'", r->path, r->line, what, text);
}

/* "3..7": the two ends, or "5*4": the value and how often. */
static bool split(char *token, const char *separator, char **second)
{
    char *at = strstr(token, separator);
    if (!at || at == token)
        return false;
    *at = '\0';
    *second = at + strlen(separator);
    return **second != '\0';
}

static int push(struct reader *r, struct row *row, const struct value *v)
{
    if (row->count == MAX_VALUES)
        return bad(r, "too many values", "");
    row->values[row->count++] = *v;
    return 0;
}

static int read_range(struct reader *r, struct row *row, const char *from, const char *to)
{
    long long first = strtoll(from, NULL, 0), last = strtoll(to, NULL, 0);
    long long step = first <= last ? 1 : -1;
    for (long long i = first;; i += step) {
        char digits[32];
        struct value v;
        snprintf(digits, sizeof digits, "%lld", i);
        if (!value_read(digits, row->type, false, &v))
            return bad(r, "not a value of this type", digits);
        if (push(r, row, &v))
            return -1;
        if (i == last)
            return 0;
    }
}

static int read_values(struct reader *r, struct row *row, char *rest, bool expected)
{
    char *save = NULL;
    row->values = arena_array(r->arena, MAX_VALUES, sizeof *row->values);
    for (char *t = strtok_r(rest, " \t", &save); t; t = strtok_r(NULL, " \t", &save)) {
        char *second;
        if (split(t, "..", &second)) {
            if (read_range(r, row, t, second))
                return -1;
            continue;
        }
        unsigned long copies = split(t, "*", &second) ? strtoul(second, NULL, 0) : 1;
        struct value v;
        if (!value_read(t, row->type, expected, &v))
            return bad(r, "not a value of this type", t);
        for (unsigned long i = 0; i < copies; i++) {
            if (push(r, row, &v))
                return -1;
        }
    }
    return row->count ? 0 : bad(r, "no values", "");
}

/* The row that a key such as "a0.s32", "d1.pred sorted" or "mem.u32" names; NULL = none. */
static struct row *find_row(struct ptx_case *c, char *key, bool *expected)
{
    char *dot = strchr(key, '.');
    if (!dot)
        return NULL;
    size_t stem = (size_t)(dot - key), type = strcspn(dot + 1, " ");
    struct row *row = NULL;
    if (stem == 2 && key[1] >= '0' && key[1] <= '9')
        row = key[0] == 'a' ? &c->in[key[1] - '0'] : key[0] == 'd' ? &c->out[key[1] - '0'] : NULL;
    else if (stem == 3 && memcmp(key, "mem", 3) == 0)
        row = &c->memory;
    else if (stem == 9 && memcmp(key, "mem_after", 9) == 0)
        row = &c->memory_after;
    if (!row || row->used)
        return NULL;
    *expected = key[0] == 'd' || row == &c->memory_after;
    row->used = true;
    row->type = type_by_text(dot + 1, type);
    row->sorted = strcmp(dot + 1 + type, " sorted") == 0;
    return row->type == PTX_NONE ? NULL : row;
}

static int read_status(struct reader *r, struct ptx_case *c, const char *name)
{
    static const char *const names[] = {
        [VM_OK] = "ok",
        [VM_ILLEGAL_ADDRESS] = "illegal_address",
        [VM_MISALIGNED] = "misaligned",
        [VM_ASSERT] = "assert",
        [VM_TRAP] = "trap",
        [VM_DEADLOCK] = "deadlock",
        [VM_STEP_LIMIT] = "step_limit",
        [VM_STACK_OVERFLOW] = "stack_overflow",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            c->status = (enum vm_status)i;
            return 0;
        }
    }
    return bad(r, "not a status", name);
}

static int start_case(struct reader *r, const char *name)
{
    struct ptx_case *c = arena_alloc(r->arena, sizeof *c);
    *c = (struct ptx_case){.name = arena_strdup(r->arena, name),
                           .line = r->line,
                           .threads = 32,
                           .blocks = 1,
                           .lanewise = r->lanewise,
                           .finds = ""};
    text_init(&c->body);
    text_init(&c->module);
    if (r->last)
        r->last->next = c;
    else
        r->first = c;
    r->last = c;
    return 0;
}

static int read_key(struct reader *r, char *key, char *rest)
{
    struct ptx_case *c = r->last;
    bool expected = false;
    if (strcmp(key, "case") == 0)
        return start_case(r, rest);
    if (strcmp(key, "lanewise") == 0) {
        r->lanewise = strcmp(rest, "yes") == 0;
        return r->lanewise || strcmp(rest, "no") == 0 ? 0 : bad(r, "not yes or no", rest);
    }
    if (!c)
        return bad(r, "this key stands before the first case", key);
    if (strcmp(key, "threads") == 0) {
        c->threads = (uint32_t)strtoul(rest, NULL, 0);
        return 0;
    }
    if (strcmp(key, "blocks") == 0) {
        c->blocks = (uint32_t)strtoul(rest, NULL, 0);
        return 0;
    }
    if (strcmp(key, "module") == 0) {
        text_addf(&c->module, "%s\n", rest);
        return 0;
    }
    if (strcmp(key, "known") == 0) {
        c->known = arena_strdup(r->arena, rest);
        return 0;
    }
    if (strcmp(key, "finds") == 0) {
        c->finds = arena_strdup(r->arena, rest);
        return 0;
    }
    if (strcmp(key, "status") == 0)
        return read_status(r, c, rest);
    char *copy = arena_strdup(r->arena, key);
    struct row *row = find_row(c, key, &expected);
    return row ? read_values(r, row, rest, expected) : bad(r, "not a key, or given twice", copy);
}

static int read_line(struct reader *r, char *line)
{
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\r'))
        line[--length] = '\0';
    if (length == 0 || line[0] == '#')
        return 0;
    if (line[0] == ' ') {
        if (!r->last)
            return bad(r, "a body stands before the first case", line);
        text_addf(&r->last->body, "%s\n", line);
        return 0;
    }
    char *colon = strchr(line, ':');
    if (!colon)
        return bad(r, "no 'key:' and not indented", line);
    *colon = '\0';
    return read_key(r, line, colon + 1 + strspn(colon + 1, " "));
}

int cases_read(const char *path, struct arena *arena, struct ptx_case **out, struct err *e)
{
    struct reader r = {.path = path, .arena = arena, .e = e};
    struct text text;
    int result = -1;
    text_init(&text);
    if (file_read(path, MAX_FILE_BYTES, &text, e))
        goto out;
    char *copy = arena_strdup(arena, text_str(&text));
    result = 0;
    for (char *line = copy, *next; result == 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r.line++;
        result = read_line(&r, line);
    }
out:
    text_release(&text);
    *out = r.first;
    return result;
}

void cases_release(struct ptx_case *cases)
{
    for (; cases; cases = cases->next) {
        text_release(&cases->body);
        text_release(&cases->module);
    }
}
