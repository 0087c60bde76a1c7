/* Folders are read by name and sorted by bytes, so that the order is the same on every machine. A
 * file is opened once, without following a link and without waiting (a FIFO), and what was opened
 * is asked what it is. */
#include "judge/grade/plan.h"

#include "base/file.h"
#include "base/text.h"
#include "judge/problem/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_BYTES_MAX = 256 << 20, HASHED_BYTES_MAX = (1 << 20) + 1 };

struct walk {
    struct plan *plan;
    struct arena *arena;
    const char *const *ids;
    unsigned id_count;
};

/* ---- the lists ---- */

static void *grown(struct arena *arena, const void *items, unsigned count, unsigned *capacity,
                   size_t bytes)
{
    if (count < *capacity)
        return NULL;
    *capacity = *capacity ? *capacity * 2 : 64;
    void *more = arena_array(arena, *capacity, bytes);
    if (count)
        memcpy(more, items, count * bytes);
    return more;
}

static void leave_out(struct walk *w, const char *shown, const char *why)
{
    struct plan *p = w->plan;
    struct left_out *more =
        grown(w->arena, p->left_out, p->left_out_count, &p->left_out_capacity, sizeof *p->left_out);
    p->left_out = more ? more : p->left_out;
    p->left_out[p->left_out_count++] = (struct left_out){.shown = shown, .why = why};
}

/* NULL if there is a problem of that name, else a sentence. */
static const char *wrong_problem(const struct walk *w, const char *id)
{
    for (unsigned i = 0; i < w->id_count; i++)
        if (strcmp(w->ids[i], id) == 0)
            return NULL;
    const char *near = suggest(id, w->ids, w->id_count);
    return arena_printf(w->arena, "there is no problem '%s'%s%s%s", id,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void add(struct walk *w, const char *student, const char *problem, const char *shown,
                const char *path)
{
    struct plan *p = w->plan;
    struct handed_in item = {.student = student, .problem = problem, .shown = shown, .path = path};
    struct err e;
    const char *why = wrong_problem(w, problem);
    if (!why && plan_hash_content(path, item.content, &e) != 0)
        why = arena_strdup(w->arena, e.text);
    if (why) {
        leave_out(w, shown, why);
        return;
    }
    struct handed_in *more = grown(w->arena, p->items, p->count, &p->capacity, sizeof *p->items);
    p->items = more ? more : p->items;
    p->items[p->count++] = item;
}

/* ---- one file ---- */

int plan_hash_content(const char *path, char hex[HASH_HEX_BYTES], struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ELOOP)
        return err_set(e, "it is a link; a file is wanted");
    if (fd < 0)
        return err_set_errno(e, "it cannot be opened");
    struct stat st;
    int status = -1;
    struct text content;
    text_init(&content);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        err_set(e, "it is no regular file");
        goto out;
    }
    while (content.length < HASHED_BYTES_MAX) {
        char block[65536];
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            err_set_errno(e, "it cannot be read");
            goto out;
        }
        if (got == 0)
            break;
        text_addn(&content, block, (size_t)got);
    }
    struct hash h;
    hash_init(&h);
    hash_part(&h, text_str(&content), content.length);
    if (content.length >= HASHED_BYTES_MAX) {
        int64_t size = st.st_size;
        hash_part(&h, &size, sizeof size);
    }
    hash_hex(&h, hex);
    status = 0;
out:
    text_release(&content);
    close(fd);
    return status;
}

/* ---- a folder ---- */

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The visible names in it, NULL-terminated; NULL and errno when it cannot be read. */
static const char **names_in(const char *folder, struct arena *arena)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, by_bytes);
    if (count < 0)
        return NULL;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    const char **names = arena_array(arena, (size_t)count + 1, sizeof names[0]);
    for (int i = 0; i < count; i++) {
        names[i] = arena_strdup(arena, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return names;
}

/* The length of a name without ".cu"; 0 if it has another ending, or nothing before it. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".cu") == 0 ? length - 3 : 0;
}

enum kind { KIND_FILE, KIND_FOLDER, KIND_LINK };

static enum kind kind_of(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return KIND_FILE; /* opening it will tell */
    return S_ISLNK(st.st_mode) ? KIND_LINK : S_ISDIR(st.st_mode) ? KIND_FOLDER : KIND_FILE;
}

/* <student>/<problem>/: every .cu file in it. */
static void walk_problem(struct walk *w, const char *student, const char *problem,
                         const char *shown, const char *folder)
{
    const char **names = names_in(folder, w->arena);
    if (!names) {
        leave_out(w, shown, arena_printf(w->arena, "it cannot be read: %s", strerror(errno)));
        return;
    }
    for (; *names; names++) {
        const char *path = arena_printf(w->arena, "%s/%s", folder, *names);
        if (stem_of(*names) && kind_of(path) != KIND_FOLDER)
            add(w, student, problem, arena_printf(w->arena, "%s/%s", shown, *names), path);
    }
}

static bool has_sources(const char *folder, struct arena *arena)
{
    const char **names = names_in(folder, arena);
    for (; names && *names; names++)
        if (stem_of(*names))
            return true;
    return false;
}

static void walk_student(struct walk *w, const char *student, const char *folder)
{
    struct arena *a = w->arena;
    const char **names = names_in(folder, a);
    if (!names) {
        leave_out(w, student, arena_printf(a, "it cannot be read: %s", strerror(errno)));
        return;
    }
    for (; *names; names++) {
        const char *path = arena_printf(a, "%s/%s", folder, *names);
        const char *shown = arena_printf(a, "%s/%s", student, *names);
        enum kind kind = kind_of(path);
        size_t stem = stem_of(*names);
        if (kind != KIND_FOLDER && stem)
            add(w, student, arena_strndup(a, *names, stem), shown, path);
        else if (kind == KIND_LINK && !wrong_problem(w, *names))
            leave_out(w, shown, "it is a link; a folder is wanted");
        else if (kind == KIND_FOLDER && !wrong_problem(w, *names))
            walk_problem(w, student, *names, shown, path);
        else if (kind == KIND_FOLDER && has_sources(path, a))
            leave_out(w, shown, wrong_problem(w, *names));
    }
}

static int walk_class(struct walk *w, const char *folder, struct err *e)
{
    struct arena *a = w->arena;
    const char **names = names_in(folder, a);
    if (!names)
        return err_set_errno(e, "cannot read the folder %s", folder);
    for (; *names; names++) {
        const char *path = arena_printf(a, "%s/%s", folder, *names);
        if (file_is_dir(path)) /* also a link: whoever keeps this folder made it */
            walk_student(w, *names, path);
        else if (stem_of(*names))
            leave_out(w, *names,
                      "it lies in no student's folder: <student>/<problem>.cu is wanted");
    }
    return 0;
}

/* ---- a manifest ---- */

static const char *string_of(const json_t *line, const char *key)
{
    const char *s = json_string_value(json_object_get(line, key));
    return s && s[0] ? s : NULL;
}

static int read_line(struct walk *w, const char *from, unsigned number, const char *bytes,
                     size_t count, struct err *e)
{
    json_error_t error;
    json_t *line = json_loadb(bytes, count, 0, &error);
    const char *student = string_of(line, "student"), *problem = string_of(line, "problem");
    const char *file = string_of(line, "file");
    int status = 0;
    if (!line)
        status = err_set(e, "%s:%u: this line is no JSON (%s)", from, number, error.text);
    else if (!student || !problem || !file)
        status = err_set(e,
                         "%s:%u: %s is missing; a line wants {\"student\": \"...\", \"problem\": "
                         "\"...\", \"file\": \"...\"}",
                         from, number,
                         !student  ? "student"
                         : problem ? "file"
                                   : "problem");
    else {
        struct arena *a = w->arena;
        const char *base = file_base_name(from);
        add(w, arena_strdup(a, student), arena_strdup(a, problem), arena_strdup(a, file),
            file[0] == '/' ? arena_strdup(a, file)
                           : arena_printf(a, "%.*s%s", (int)(base - from), from, file));
    }
    json_decref(line);
    return status;
}

static int read_manifest(struct walk *w, const char *from, struct err *e)
{
    struct text content;
    text_init(&content);
    int status = file_read(from, MANIFEST_BYTES_MAX, &content, e);
    const char *at = text_str(&content), *end = at + content.length;
    for (unsigned number = 1; status == 0 && at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t count = (size_t)((stop ? stop : end) - at);
        if (strspn(at, " \t\r") < count)
            status = read_line(w, from, number, at, count, e);
        at += count + 1;
    }
    text_release(&content);
    return status;
}

int plan_make(const char *from, const char *const *ids, struct arena *arena, struct plan *plan,
              struct err *e)
{
    *plan = (struct plan){0};
    struct walk w = {.plan = plan, .arena = arena, .ids = ids};
    while (ids[w.id_count])
        w.id_count++;
    return file_is_dir(from) ? walk_class(&w, from, e) : read_manifest(&w, from, e);
}
