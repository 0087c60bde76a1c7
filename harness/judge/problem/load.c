/* From a file to a struct problem: limits and the YAML tree (tree.c), then the walk by fields.def,
 * then what concerns the spec as a whole. */
#include "base/file.h"
#include "base/hash.h"
#include "judge/problem/spec.h"
#include "judge/problem/suggest.h"
#include "judge/problem/target.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void set_defaults(struct problem *p)
{
#define LIMIT(name, field, unit, standard, most) p->limits.field = standard;
#include "judge/problem/limits.def"
#undef LIMIT
    p->target = target_default();
}

/* The folder of a path, "." if it has none. */
static const char *folder_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
}

int problem_parse(const char *file, const char *text, size_t length, struct arena *arena,
                  struct problem *p, struct err *e)
{
    *p = (struct problem){0};
    p->file = arena_strdup(arena, file);
    p->folder = folder_of(p->file, arena);
    p->id = file_base_name(p->folder);
    set_defaults(p);
    struct hash h;
    hash_init(&h);
    hash_part(&h, text, length);
    hash_hex(&h, p->version);

    struct node *root;
    if (tree_parse(p->file, text, length, arena, &root, e) != 0)
        return -1;
    struct loader l = {.file = p->file, .arena = arena, .e = e, .p = p};
    if (load_mapping(&l, WHERE_TOP, root, "spec", p) != 0)
        return -1;
    if (!p->oracle && !p->reference)
        p->reference = "fastest.cu"; /* without a serial oracle the reference gives the answers */
    return 0;
}

/* Problem ids are folder names below problems/: nothing that could lead elsewhere. */
static bool is_id(const char *s)
{
    size_t length = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    return length > 0 && length < 100 && s[length] == '\0' && s[0] != '-';
}

static const char *problems_folder(const char *root, struct arena *arena)
{
    if (!root[0] || strcmp(root, ".") == 0)
        return "problems";
    return arena_printf(arena, "%s/problems", root);
}

/* Whether it is needed for the answers or to be timed against: whoever names a file has one. */
static int check_reference(const char *root, const struct problem *p, struct arena *arena,
                           struct err *e)
{
    if (!p->reference)
        return 0;
    const char *at = root[0] && strcmp(root, ".") != 0 ? arena_printf(arena, "%s/", root) : "";
    const char *file = arena_printf(arena, "%sreference/%s/%s", at, p->id, p->reference);
    if (file_exists(file))
        return 0;
    if (!p->reference_line)
        return err_set(e,
                       "%s:1:1: reference: found no file reference/%s/%s, which gives the answers "
                       "where there is no `oracle:`; allowed: that file, a `reference:` that names "
                       "another one there, or an `oracle:`",
                       p->file, p->id, p->reference);
    return err_set(e,
                   "%s:%u:%u: reference: found '%s', but there is no file reference/%s/%s; "
                   "allowed: the name of a .cu file in that folder",
                   p->file, p->reference_line, p->reference_column, p->reference, p->id,
                   p->reference);
}

int problem_load(const char *root, const char *id, struct arena *arena, struct problem *p,
                 struct err *e)
{
    const char *folder = problems_folder(root, arena);
    const char *file = arena_printf(arena, "%s/%s/problem.yaml", folder, is_id(id) ? id : "");
    if (!is_id(id) || !file_exists(file)) {
        const char **ids = NULL;
        struct err unused;
        if (problem_list(root, arena, &ids, &unused) != 0 || !ids)
            return err_set(e, "there is no problem '%.100s': %.800s", id, unused.text);
        size_t count = 0;
        const char *list = "";
        for (; ids[count]; count++)
            list = arena_printf(arena, "%s%s%s", list, count ? ", " : "", ids[count]);
        const char *near = suggest(id, ids, count);
        return err_set(e, "there is no problem '%.100s' in %s%s%s%s; there are: %.500s", id, folder,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", list);
    }
    /* Messages name the file as seen from the root, where people type its name. */
    const char *shown = arena_printf(arena, "problems/%s/problem.yaml", id);
    struct stat st;
    if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > PROBLEM_FILE_MAX)
        return err_set(e, "%s:1:1: spec: found %jd bytes; allowed: %d", shown, (intmax_t)st.st_size,
                       PROBLEM_FILE_MAX);
    struct text text;
    text_init(&text);
    int status = file_read(file, PROBLEM_FILE_MAX, &text, e);
    if (status == 0)
        status = problem_parse(shown, text_str(&text), text.length, arena, p, e);
    text_release(&text);
    return status == 0 ? check_reference(root, p, arena, e) : status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int problem_list(const char *root, struct arena *arena, const char ***ids, struct err *e)
{
    const char *folder = problems_folder(root, arena);
    DIR *dir = opendir(folder);
    if (!dir)
        return err_set_errno(e, "cannot open the folder %s", folder);
    size_t count = 0, capacity = 16;
    const char **names = arena_array(arena, capacity, sizeof *names);
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (!is_id(entry->d_name) ||
            !file_exists(arena_printf(arena, "%s/%s/problem.yaml", folder, entry->d_name)))
            continue;
        if (count + 1 == capacity) {
            const char **more = arena_array(arena, capacity * 2, sizeof *more);
            memcpy(more, names, count * sizeof *names);
            names = more;
            capacity *= 2;
        }
        names[count++] = arena_strdup(arena, entry->d_name);
    }
    closedir(dir);
    qsort(names, count, sizeof *names, compare_names);
    names[count] = NULL;
    *ids = names;
    return 0;
}
