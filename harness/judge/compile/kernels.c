/* The library holds its device code as plain text (nvcc's --no-compress), in which every kernel is
 * declared by an .entry directive. It is searched for in the whole file: where the fat binary lies,
 * and what it says about itself, is the linker's business and in the end the submission's. */
#include "judge/compile/kernels.h"

#include "base/file.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { LIBRARY_BYTES_MAX = 1 << 30, SYMBOL_BYTES_MAX = 1 << 14 };

/* One "<length><identifier>" of a mangled name; what follows it, or NULL. */
static const char *component(const char *s, struct text *to)
{
    size_t length = 0, left = strlen(s);
    if (!isdigit((unsigned char)*s))
        return NULL;
    for (; isdigit((unsigned char)*s) && length <= left; s++)
        length = 10 * length + (size_t)(*s - '0');
    if (length == 0 || length > strlen(s))
        return NULL;
    text_addf(to, "%s%.*s", to->length ? "::" : "", (int)length, s);
    return s + length;
}

const char *kernels_readable(const char *symbol, struct arena *arena)
{
    struct text name;
    text_init(&name);
    if (strncmp(symbol, "_Z", 2) == 0) {
        const char *at = symbol + 2 + (symbol[2] == 'N');
        while ((at = component(at, &name)))
            continue;
    }
    const char *readable = name.length ? arena_strdup(arena, text_str(&name)) : symbol;
    text_release(&name);
    return readable;
}

static const char *matching(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    for (const char *at = name; at && length; at = strstr(at, "::")) {
        at += at == name ? 0 : 2;
        if (strncmp(at, prefix, length) == 0)
            return at;
    }
    return NULL;
}

static bool is_symbol(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The next kernel's symbol at or after *at; NULL at the end of the file. */
static const char *next_kernel(const struct text *file, size_t *at, struct arena *arena)
{
    static const char ENTRY[] = ".entry";
    enum { WORD = sizeof ENTRY - 1 };
    const char *hit;
    while ((hit = memmem(file->data + *at, file->length - *at, ENTRY, WORD))) {
        size_t from = (size_t)(hit - file->data) + WORD, end;
        while (from < file->length && isspace((unsigned char)file->data[from]))
            from++;
        for (end = from; end < file->length && is_symbol(file->data[end]); end++)
            continue;
        *at = end;
        if (end > from && end - from <= SYMBOL_BYTES_MAX)
            return arena_strndup(arena, file->data + from, end - from);
    }
    return NULL;
}

int kernels_forbidden(const char *path, const char *const *prefixes, unsigned prefix_count,
                      struct arena *arena, const char **name, const char **prefix, struct err *e)
{
    struct text file;
    size_t at = 0;
    *name = *prefix = NULL;
    if (prefix_count == 0)
        return 0;
    text_init(&file);
    int status = file_read(path, LIBRARY_BYTES_MAX, &file, e);
    for (const char *symbol; status == 0 && !*name && (symbol = next_kernel(&file, &at, arena));) {
        const char *readable = kernels_readable(symbol, arena);
        for (unsigned k = 0; k < prefix_count && !*name; k++) {
            *name = matching(readable, prefixes[k]);
            *prefix = prefixes[k];
        }
    }
    text_release(&file);
    return status;
}
