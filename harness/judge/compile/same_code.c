/* The host's code and constants are compared byte for byte. The device's are compared as PTX, which
 * the library holds as plain text (--no-compress), without what says where it came from: .loc
 * lines, and everything from the list of files on. */
#include "judge/compile/elf.h"

#include "base/file.h"

#include <string.h>

enum { LIBRARY_BYTES_MAX = 1 << 30 };

static bool same_section(const struct text *a, const struct text *b, const char *name)
{
    size_t at_a, at_b, n_a, n_b;
    bool in_a = elf_section(a->data, a->length, name, &at_a, &n_a);
    bool in_b = elf_section(b->data, b->length, name, &at_b, &n_b);
    if (!in_a || !in_b)
        return in_a == in_b;
    return n_a == n_b && memcmp(a->data + at_a, b->data + at_b, n_a) == 0;
}

/* Where the PTX begins; NULL if there is none. It ends with a NUL or with the library. */
static const char *find_ptx(const struct text *library, const char **end)
{
    const char *ptx = memmem(library->data, library->length, "\n.version ", 10);
    if (!ptx)
        return NULL;
    size_t left = library->length - (size_t)(ptx - library->data);
    const char *nul = memchr(ptx, '\0', left);
    *end = nul ? nul : ptx + left;
    return ptx;
}

/* The next line that counts; NULL at the end of those. */
static const char *next_line(const char **at, const char *end, size_t *length)
{
    while (*at < end) {
        const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
        *length = (size_t)((stop ? stop : end) - line);
        *at = line + *length + (stop != NULL);
        size_t blanks = 0;
        while (blanks < *length && strchr(" \t", line[blanks]))
            blanks++;
        size_t rest = *length - blanks;
        if (rest >= 5 && memcmp(line + blanks, ".file", 5) == 0)
            return NULL;
        if (rest < 4 || memcmp(line + blanks, ".loc", 4) != 0)
            return line;
    }
    return NULL;
}

static bool same_ptx(const struct text *a, const struct text *b)
{
    const char *end_a = NULL, *end_b = NULL;
    const char *at_a = find_ptx(a, &end_a), *at_b = find_ptx(b, &end_b);
    if (!at_a || !at_b)
        return false;
    for (;;) {
        size_t n_a = 0, n_b = 0;
        const char *line_a = next_line(&at_a, end_a, &n_a), *line_b = next_line(&at_b, end_b, &n_b);
        if (!line_a || !line_b)
            return !line_a && !line_b;
        if (n_a != n_b || memcmp(line_a, line_b, n_a) != 0)
            return false;
    }
}

bool elf_same_code(const char *a, const char *b)
{
    struct text first, second;
    struct err e;
    text_init(&first);
    text_init(&second);
    bool same = file_read(a, LIBRARY_BYTES_MAX, &first, &e) == 0 &&
                file_read(b, LIBRARY_BYTES_MAX, &second, &e) == 0 &&
                same_section(&first, &second, ".text") &&
                same_section(&first, &second, ".rodata") && same_ptx(&first, &second);
    text_release(&first);
    text_release(&second);
    return same;
}
