#include "wire/profile.h"

#include <string.h>

static bool clean_string(char *string, size_t capacity)
{
    if (!memchr(string, '\0', capacity))
        return false;
    wire_clean_text(string, strlen(string));
    return true;
}

bool wire_profile_validate(struct wire_profile *p)
{
    if (p->magic != WIRE_PROFILE_MAGIC || p->kernel_count > WIRE_PROFILE_KERNELS ||
        p->file_count > WIRE_PROFILE_FILES || p->line_count > WIRE_PROFILE_LINES)
        return false;
    for (uint32_t i = 0; i < p->kernel_count; i++)
        if (!clean_string(p->kernels[i].name, sizeof p->kernels[i].name))
            return false;
    for (uint32_t i = 0; i < p->file_count; i++)
        if (!clean_string(p->files[i], sizeof p->files[i]))
            return false;
    for (uint32_t i = 0; i < p->line_count; i++)
        if (p->lines[i].kernel >= p->kernel_count || p->lines[i].file >= p->file_count ||
            p->lines[i].line > INT32_MAX)
            return false;
    return true;
}
