#include "base/names.h"

#include <string.h>

size_t names_find(const char *const *first, size_t row_bytes, size_t count, const char *word,
                  size_t length)
{
    for (size_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)first + i * row_bytes, sizeof name);
        if (name && strlen(name) == length && memcmp(name, word, length) == 0)
            return i;
    }
    return count;
}
