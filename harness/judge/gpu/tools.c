#include "judge/gpu/tools.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Links are followed: both tools look for their own files beside the program. */
static const char *executable(const char *path, struct arena *arena)
{
    char resolved[PATH_MAX];
    if (access(path, X_OK) != 0)
        return NULL;
    return arena_strdup(arena, realpath(path, resolved) ? resolved : path);
}

const char *tool_find(const char *name, const char *home, struct arena *arena)
{
    const char *found = NULL;
    for (const char *at = getenv("PATH"); at && *at && !found;) {
        size_t length = strcspn(at, ":");
        if (length)
            found = executable(arena_printf(arena, "%.*s/%s", (int)length, at, name), arena);
        at += length + (at[length] == ':');
    }
    if (!found && home)
        found = executable(arena_printf(arena, "%s/bin/%s", home, name), arena);
    if (!found)
        found = executable(arena_printf(arena, "/usr/local/cuda/bin/%s", name), arena);
    return found;
}
