#include "judge/compile/headers.h"

#include "base/file.h"
#include "base/hash.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER_BYTES_MAX = 256 << 20, KIND_AND_SPACE = 2 };

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return length > 0 && strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || folder[length - 1] == '/');
}

/* Takes "/x/../", "/./" and "//" out, as text. The compiler's own folders hold no links that make
 * a difference, and resolving a thousand paths costs milliseconds. */
static void normalise(char *path)
{
    char *to = path;
    const char *from = path;
    while (*from) {
        if (*from != '/') {
            *to++ = *from++;
            continue;
        }
        if (from[1] == '/') {
            from++;
        } else if (from[1] == '.' && (from[2] == '/' || from[2] == '\0')) {
            from += 2;
        } else if (from[1] == '.' && from[2] == '.' && (from[3] == '/' || from[3] == '\0')) {
            while (to > path && *--to != '/')
                continue;
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* Where software that the machine's owner installed lives: what is read from elsewhere was found
 * by the submission's own doing. */
static enum header_kind kind_of(const char *path, const struct toolkit *t,
                                const char *host_compiler)
{
    static const char *const SYSTEM[] = {"/usr", "/opt", "/nix"};
    if (is_below(path, t->home) && strcmp(t->home, "/usr") != 0)
        return HEADER_TOOLKIT;
    for (size_t i = 0; i < sizeof SYSTEM / sizeof SYSTEM[0]; i++)
        if (is_below(path, SYSTEM[i]))
            return HEADER_SYSTEM;
    /* PREFIX/bin/gcc brings PREFIX/lib/gcc, wherever PREFIX is. */
    const char *slash = host_compiler ? strrchr(host_compiler, '/') : NULL;
    while (slash && slash > host_compiler && *--slash != '/')
        continue;
    size_t prefix = slash ? (size_t)(slash - host_compiler) : 0;
    if (prefix > 0 && strncmp(path, host_compiler, prefix) == 0 && path[prefix] == '/')
        return HEADER_SYSTEM;
    return HEADER_LOCAL;
}

/* NULL if the file cannot be read. */
static const char *identify(enum header_kind kind, const char *path, struct arena *arena)
{
    if (kind == HEADER_TOOLKIT)
        return "";
    struct stat st;
    if (stat(path, &st) != 0)
        return NULL;
    if (kind == HEADER_SYSTEM)
        return arena_printf(arena, "%jd:%jd.%09ld", (intmax_t)st.st_size,
                            (intmax_t)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    if (!S_ISREG(st.st_mode)) /* somebody included a device */
        return "none";
    struct text content;
    text_init(&content);
    const char *identity = NULL;
    if (file_read(path, HEADER_BYTES_MAX, &content, NULL) == 0) {
        char hex[HASH_HEX_BYTES];
        struct hash hash;
        hash_init(&hash);
        hash_part(&hash, text_str(&content), content.length);
        hash_hex(&hash, hex);
        identity = arena_strdup(arena, hex);
    }
    text_release(&content);
    return identity;
}

/* The next name of a make rule, with "\ " taken for a space, which is the only escape that nvcc
 * writes; NULL at the end. */
static char *next_name(const char **at, struct arena *arena)
{
    const char *p = *at;
    for (;;) {
        p += strspn(p, " \t\n");
        if (p[0] != '\\' || p[1] != '\n')
            break;
        p += 2;
    }
    if (!*p)
        return NULL;
    char *name = arena_alloc(arena, strcspn(p, "\n") + 1), *to = name;
    while (*p && !strchr(" \t\n", *p)) {
        if (p[0] == '\\' && p[1] == '\n')
            break;
        if (p[0] == '\\' && p[1] == ' ')
            p++;
        *to++ = *p++;
    }
    *to = '\0';
    *at = p;
    return name;
}

int headers_parse(const char *dependencies, const char *folder, const char *const *own,
                  const struct toolkit *t, const char *host_compiler, struct arena *arena,
                  struct headers *h, struct err *e)
{
    *h = (struct headers){0};
    const char *at = strchr(dependencies, ':');
    if (!at)
        return err_set(e, "nvcc wrote no dependencies");
    at++;
    size_t most = 1;
    for (const char *p = at; *p; p++)
        most += *p == ' ';
    h->items = arena_array(arena, most, sizeof *h->items);
    for (char *name; (name = next_name(&at, arena));) {
        bool is_own = false;
        const char *plain = strncmp(name, "./", 2) == 0 ? name + 2 : name;
        for (const char *const *o = own; *o; o++)
            is_own |= strcmp(plain, *o) == 0;
        if (is_own)
            continue;
        if (name[0] != '/')
            name = arena_printf(arena, "%s/%s", folder, name);
        normalise(name);
        struct header *item = &h->items[h->count++];
        item->kind = kind_of(name, t, host_compiler);
        item->path = name;
        item->identity = identify(item->kind, name, arena);
        if (!item->identity)
            item->identity = "gone"; /* never the same again, so the result is not used twice */
    }
    return 0;
}

bool headers_unchanged(const struct headers *h, struct arena *arena)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct header *item = &h->items[i];
        const char *now = identify(item->kind, item->path, arena);
        if (!now || strcmp(now, item->identity) != 0)
            return false;
    }
    return true;
}

const struct header *headers_forbidden(const struct headers *h, const char *const *prefixes,
                                       unsigned prefix_count, const char **name,
                                       const char **prefix)
{
    for (size_t i = 0; i < h->count; i++) {
        for (unsigned k = 0; k < prefix_count; k++) {
            size_t length = strlen(prefixes[k]);
            const char *slash = strchr(h->items[i].path, '/');
            for (; slash && length; slash = strchr(slash + 1, '/')) {
                if (strncmp(slash + 1, prefixes[k], length) != 0)
                    continue;
                *name = slash + 1;
                *prefix = prefixes[k];
                return &h->items[i];
            }
        }
    }
    return NULL;
}

void headers_save(const struct headers *h, struct text *to)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct header *item = &h->items[i];
        text_addf(to, "%c %s %s\n", (char)item->kind, item->identity, item->path);
    }
}

bool headers_load(const char *text, struct arena *arena, struct headers *h)
{
    size_t most = 0;
    for (const char *p = text; *p; p++)
        most += *p == '\n';
    *h = (struct headers){.items = arena_array(arena, most, sizeof *h->items)};
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        if (!end || !strchr("TSL", line[0]) || line[1] != ' ')
            return false;
        const char *identity = line + KIND_AND_SPACE;
        const char *space = memchr(identity, ' ', (size_t)(end - identity));
        if (!space || space + 1 == end)
            return false;
        struct header *item = &h->items[h->count++];
        item->kind = (enum header_kind)line[0];
        item->identity = arena_strndup(arena, identity, (size_t)(space - identity));
        item->path = arena_strndup(arena, space + 1, (size_t)(end - space - 1));
        line = end + 1;
    }
    return true;
}
