/* Reads line by line: "// expect..." only before the first line that is no comment, marks anywhere.
 */
#include "judge/verify/label.h"

#include "base/file.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

enum { FILE_BYTES = 1 << 20 };

/* Text after `prefix` at the start of the line, without blanks at the end; NULL if it is not there.
 */
static const char *after(const char *line, size_t length, const char *prefix, struct arena *arena)
{
    size_t skip = strlen(prefix);
    if (length < skip || strncmp(line, prefix, skip) != 0)
        return NULL;
    while (skip < length && line[skip] == ' ')
        skip++;
    while (length > skip && strchr(" \r", line[length - 1]))
        length--;
    return arena_strndup(arena, line + skip, length - skip);
}

static int set_once(const char **field, const char *value, const char *path, struct err *e)
{
    if (*field)
        return err_set(e, "%s: two labels of the same kind: '%s' and '%s'", path, *field, value);
    *field = value;
    return 0;
}

static int read_head_line(const char *line, size_t length, const char *path, struct arena *arena,
                          struct label *label, struct err *e)
{
    const struct {
        const char *prefix;
        const char **field;
    } rows[] = {
        {"// expect:", &label->verdict},
        {"// expect-finding:", &label->finding},
        {"// expect-diagnosis:", &label->diagnosis},
        {"// gpu:", &label->gpu},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *value = after(line, length, rows[i].prefix, arena);
        if (value)
            return set_once(rows[i].field, value, path, e);
    }
    if (length > 9 && strncmp(line, "// expect", 9) == 0 && strchr(":-", line[9]))
        return err_set(e, "%s: no such label: %.*s", path, (int)length, line);
    return 0;
}

/* A verdict and a reason. */
static int check_gpu(const struct label *label, const char *path, struct err *e)
{
    static const char *const VERDICTS[] = {
        "any",
#define VERDICT(id, exit_status, order, people) #id,
#include "wire/verdicts.def"
#undef VERDICT
    };
    const char *gpu = label->gpu;
    size_t length = gpu ? strcspn(gpu, " ") : 0;
    bool known = !gpu;
    for (size_t i = 0; i < sizeof VERDICTS / sizeof VERDICTS[0]; i++)
        known |= gpu && strlen(VERDICTS[i]) == length && strncmp(gpu, VERDICTS[i], length) == 0;
    if (!known)
        return err_set(e, "%s: no such verdict on a card: %s", path, gpu);
    if (gpu && (strncmp(gpu + length, " - ", 3) != 0 || !gpu[length + 3]))
        return err_set(e, "%s: '// gpu: %s' wants ' - ' and the reason behind the verdict", path,
                       gpu);
    return 0;
}

static int read_mark(const char *line, size_t length, unsigned number, const char *path,
                     struct arena *arena, struct label *label, struct err *e)
{
    static const char MARK[] = "// <-- ";
    const char *at = memmem(line, length, MARK, sizeof MARK - 1);
    if (!at)
        return 0;
    const char *kind = after(at, length - (size_t)(at - line), MARK, arena);
    if (!label->finding || strcmp(kind, label->finding) != 0)
        return err_set(e, "%s:%u: a line marked '%s', but the finding to expect is '%s'", path,
                       number, kind, label->finding ? label->finding : "(none)");
    if (label->line_count == LABEL_LINES_MAX)
        return err_set(e, "%s: more than %d marked lines", path, LABEL_LINES_MAX);
    label->lines[label->line_count++] = number;
    return 0;
}

int label_read(const char *path, struct arena *arena, struct label *label, struct err *e)
{
    *label = (struct label){0};
    struct text source;
    text_init(&source);
    int status = file_read(path, FILE_BYTES, &source, e);
    bool head = true;
    unsigned number = 1;
    for (const char *line = text_str(&source); status == 0 && *line; number++) {
        size_t length = strcspn(line, "\n");
        head = head && length >= 2 && strncmp(line, "//", 2) == 0;
        if (head)
            status = read_head_line(line, length, path, arena, label, e);
        else
            status = read_mark(line, length, number, path, arena, label, e);
        line += length + (line[length] == '\n');
    }
    text_release(&source);
    return status == 0 ? check_gpu(label, path, e) : status;
}
