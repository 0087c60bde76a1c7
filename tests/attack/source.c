#include "source.h"

#include "base/file.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A case's limit, as often as a busy processor is waited for (judge/run), and a second. */
static const double CASE_MS_MAX = 6 * 1000 + 1000;

enum { FILE_BYTES = 1 << 20 };

static const char INCLUDE[] = "#include \"attack.cuh\"\n";

int source_one_of(const char *alternatives, const char *word)
{
    static const char OR[] = " or ";
    for (const char *at = alternatives; at;) {
        const char *end = strstr(at, OR);
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (strlen(word) == length && strncmp(at, word, length) == 0)
            return true;
        at = end ? end + sizeof OR - 1 : NULL;
    }
    return false;
}

/* What stands behind "// KEY: " in the first comment; NULL. */
static const char *head_word(const char *source, const char *key, struct arena *arena)
{
    size_t length = strlen(key);
    for (const char *line = source; strncmp(line, "//", 2) == 0;) {
        size_t whole = strcspn(line, "\n");
        if (strncmp(line + 2, " ", 1) == 0 && strncmp(line + 3, key, length) == 0 &&
            strncmp(line + 3 + length, ": ", 2) == 0)
            return arena_strndup(arena, line + length + 5, whole - length - 5);
        line += whole + (line[whole] == '\n');
    }
    return NULL;
}

/* The last two parts of a path, without its ending. */
static const char *short_name(const char *path, struct arena *arena)
{
    const char *at = strrchr(path, '/');
    while (at && at > path && at[-1] != '/')
        at--;
    const char *name = at ? at : path;
    const char *end = strstr(name, ".cu");
    return arena_strndup(arena, name, end ? (size_t)(end - name) : strlen(name));
}

static int compose(const char *source, const struct places *p, struct arena *arena,
                   struct attack *attack, struct err *e)
{
    const char *defines = arena_printf(
        arena,
        "#define ATTACK_ROOT \"%s\"\n#define ATTACK_CACHE \"%s\"\n#define ATTACK_FOLDER \"%s\"\n"
        "#define ATTACK_SOCKET \"%s\"\n#define ATTACK_ROOT_FILE \"%s/problems/scan/problem.yaml\"\n"
        "#define ATTACK_SECRET_FILE \"%s/secret\"\n",
        p->root, p->cache, p->folder, p->socket, p->root, p->folder);
    const char *at = strstr(source, INCLUDE);
    if (!at) {
        attack->text = arena_printf(arena, "%s%s", defines, source);
        return 0;
    }
    struct text shared;
    text_init(&shared);
    int status =
        file_read(arena_printf(arena, "%s/../attack.cuh", p->root), FILE_BYTES, &shared, e);
    if (status == 0)
        attack->text = arena_printf(arena, "%s%.*s%s%s", defines, (int)(at - source), source,
                                    text_str(&shared), at + sizeof INCLUDE - 1);
    text_release(&shared);
    return status;
}

int source_read(const char *path, const struct places *places, struct arena *arena,
                struct attack *attack, struct err *e)
{
    *attack = (struct attack){.name = short_name(path, arena)};
    struct text source;
    text_init(&source);
    int status = label_read(path, arena, &attack->label, e);
    if (status == 0)
        status = file_read(path, FILE_BYTES, &source, e);
    if (status == 0 && !attack->label.verdict)
        status = err_set(e, "%s: its first comment has no '// expect:'", path);
    if (status == 0) {
        const char *s = text_str(&source), *judgings = head_word(s, "judgings", arena);
        const char *problem = head_word(s, "problem", arena), *as = head_word(s, "as", arena);
        attack->problem = problem ? problem : "scan";
        attack->as = as ? as : arena_strdup(arena, file_base_name(path));
        attack->options = head_word(s, "options", arena);
        attack->says = head_word(s, "says", arena);
        attack->never = head_word(s, "never", arena);
        attack->failing = head_word(s, "failing", arena);
        attack->others = head_word(s, "others", arena);
        const char *within = head_word(s, "within", arena);
        attack->case_ms_max = within ? strtod(within, NULL) : CASE_MS_MAX;
        attack->judgings = judgings ? (unsigned)strtoul(judgings, NULL, 10) : 1;
        status = compose(s, places, arena, attack, e);
    }
    text_release(&source);
    return status;
}
