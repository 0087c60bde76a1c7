/* How it works: optimal string alignment distance (insert, delete, replace, swap neighbours) with
 * three rows of the usual table. Names longer than NAME_MAX_BYTES are never near anything. */
#include "judge/problem/suggest.h"

#include <string.h>

enum { NAME_MAX_BYTES = 64 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][NAME_MAX_BYTES + 1];
    unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
    for (unsigned j = 0; j <= b_length; j++)
        previous[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        current[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = least(previous[j], current[j - 1]) + 1;
            best = least(best, previous[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, before[j - 2] + 1);
            current[j] = best;
        }
        unsigned *oldest = before;
        before = previous;
        previous = current;
        current = oldest;
    }
    return previous[b_length];
}

const char *suggest(const char *name, const char *const *names, size_t count)
{
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_BYTES)
        return NULL;
    unsigned limit = length < 9 ? (unsigned)(length + 2) / 3 : 3;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!names[i] || strlen(names[i]) > NAME_MAX_BYTES)
            continue;
        unsigned d = distance(name, length, names[i], strlen(names[i]));
        if (d <= limit) {
            limit = d ? d - 1 : 0;
            best = names[i];
        }
    }
    return best;
}
