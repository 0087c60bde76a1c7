#include "judge/grade/identity.h"

#include "base/arena.h"
#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_BYTES_MAX = 1 << 30, PROBLEM_FILE_BYTES_MAX = 64 << 20 };

static int hash_file(struct hash *h, const char *path, size_t most, struct err *e)
{
    struct text content;
    text_init(&content);
    int status = file_read(path, most, &content, e);
    if (status == 0)
        hash_part(h, text_str(&content), content.length);
    text_release(&content);
    return status;
}

int identity_of_judge(const struct judge_paths *paths, char hex[HASH_HEX_BYTES], struct err *e)
{
    const char *programs[] = {"/proc/self/exe", paths->runner, paths->cudart, paths->meter};
    struct hash h;
    hash_init(&h);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (hash_file(&h, programs[i], PROGRAM_BYTES_MAX, e) != 0)
            return -1;
    hash_hex(&h, hex);
    return 0;
}

/* Folders in folders, too: a problem may keep headers of its checker in one. */
static int hash_folder(struct hash *h, const char *folder, struct arena *arena, struct err *e)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), status = 0;
    if (count < 0)
        return err_set_errno(e, "cannot read the folder %s", folder);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        const char *path = arena_printf(arena, "%s/%s", folder, name);
        if (name[0] != '.' && status == 0) {
            hash_str(h, name);
            status = file_is_dir(path) ? hash_folder(h, path, arena, e)
                                       : hash_file(h, path, PROBLEM_FILE_BYTES_MAX, e);
            hash_str(h, "");
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

int identity_of_problem(const struct judge_paths *paths, const char *id, char hex[HASH_HEX_BYTES],
                        struct err *e)
{
    static const char *const FOLDERS[] = {"problems", "reference"};
    struct arena arena;
    struct hash h;
    int status = 0;
    arena_init(&arena);
    hash_init(&h);
    for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0] && status == 0; i++) {
        const char *folder = arena_printf(&arena, "%s/%s/%s", paths->root, FOLDERS[i], id);
        hash_str(&h, FOLDERS[i]);
        if (file_is_dir(folder)) /* a problem with an oracle needs no reference */
            status = hash_folder(&h, folder, &arena, e);
    }
    hash_hex(&h, hex);
    arena_release(&arena);
    return status;
}

void identity_key(const struct identity_parts *parts, char hex[HASH_HEX_BYTES])
{
    struct hash h;
    hash_init(&h);
    hash_str(&h, "scanjudge grade 1"); /* what a record is */
    hash_str(&h, parts->content);
    hash_str(&h, parts->problem_id);
    hash_str(&h, parts->problem);
    hash_str(&h, parts->judge);
    hash_str(&h, parts->how);
    hash_hex(&h, hex);
}
