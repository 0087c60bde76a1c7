#include "judge/compile/cache.h"

#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENTRY_BYTES_MAX = 64 << 20, STALE_SECONDS = 3600, SHORT_HASH = 16 };

static const char FIRST_LINE[] = "scanjudge compile 1\n";

/* Folders in which nobody has worked for an hour. Those who compile now are not hit: no limit is
 * that long. */
static void remove_stale(const char *folder, struct arena *arena)
{
    DIR *list = opendir(folder);
    if (!list)
        return;
    time_t now = time(NULL);
    for (struct dirent *d; (d = readdir(list));) {
        if (strncmp(d->d_name, "work.", 5) != 0)
            continue;
        const char *path = arena_printf(arena, "%s/%s", folder, d->d_name);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && now - st.st_mtime > STALE_SECONDS)
            file_remove_tree(path, NULL);
    }
    closedir(list);
}

/* ---- the folders that are in use, for whoever has to clear them away from outside ---- */

enum { IN_USE_MAX = 16 }; /* one for each compilation at the same time: two */

static struct {
    pthread_mutex_t lock;
    bool abandoned;
    char *folders[IN_USE_MAX];
} in_use = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int make_work_folder(char *path, struct err *e)
{
    int status = 0;
    pthread_mutex_lock(&in_use.lock);
    if (in_use.abandoned)
        status = err_set(e, "interrupted before the compiler was started");
    else if (!mkdtemp(path))
        status = err_set_errno(e, "cannot create a folder in %.*s",
                               (int)(file_base_name(path) - path), path);
    for (int i = 0; i < IN_USE_MAX && status == 0; i++)
        if (!in_use.folders[i]) {
            in_use.folders[i] = realpath(path, NULL);
            break;
        }
    pthread_mutex_unlock(&in_use.lock);
    return status;
}

void cache_end_work(const char *folder)
{
    file_remove_tree(folder, NULL);
    pthread_mutex_lock(&in_use.lock);
    for (int i = 0; i < IN_USE_MAX; i++)
        if (in_use.folders[i] && strcmp(in_use.folders[i], folder) == 0) {
            free(in_use.folders[i]);
            in_use.folders[i] = NULL;
        }
    pthread_mutex_unlock(&in_use.lock);
}

bool cache_is_abandoned(void)
{
    pthread_mutex_lock(&in_use.lock);
    bool abandoned = in_use.abandoned;
    pthread_mutex_unlock(&in_use.lock);
    return abandoned;
}

void cache_abandon_work(void)
{
    pthread_mutex_lock(&in_use.lock);
    in_use.abandoned = true;
    /* The compiler may still write: what it adds while a folder is walked is found the next time.
     */
    for (int i = 0; i < IN_USE_MAX; i++)
        for (int attempt = 0; in_use.folders[i] && attempt < 50; attempt++) {
            if (file_remove_tree(in_use.folders[i], NULL) == 0 && !file_exists(in_use.folders[i]))
                break;
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
    pthread_mutex_unlock(&in_use.lock);
}

const char *cache_work_folder(const char *cache_folder, struct arena *arena, struct err *e)
{
    char *folder = arena_printf(arena, "%s/compile", cache_folder);
    if (file_make_dirs(folder, e) != 0)
        return NULL;
    remove_stale(folder, arena);
    char *path = arena_printf(arena, "%s/work.XXXXXX", folder);
    if (make_work_folder(path, e) != 0)
        return NULL;
    char *absolute = realpath(path, NULL);
    if (!absolute) {
        err_set_errno(e, "cannot resolve %s", path);
        return NULL;
    }
    const char *result = arena_strdup(arena, absolute);
    free(absolute);
    return result;
}

static const char *entry_path(const char *cache_folder, const char *key, const char *suffix,
                              struct arena *arena)
{
    return arena_printf(arena, "%s/compile/%.2s/%s%s", cache_folder, key, key, suffix);
}

/* Takes `word` and the rest of its line off *at; NULL if the line starts otherwise. */
static const char *take_line(const char **at, const char *word, struct arena *arena)
{
    size_t length = strlen(word);
    const char *end = strchr(*at, '\n');
    if (!end || strncmp(*at, word, length) != 0)
        return NULL;
    const char *value = arena_strndup(arena, *at + length, (size_t)(end - *at) - length);
    *at = end + 1;
    return value;
}

static bool parse_entry(const struct text *content, const char *folder, struct arena *arena,
                        struct cache_entry *entry)
{
    const char *at = text_str(content), *end = at + content->length;
    if (strlen(at) != content->length || !take_line(&at, "scanjudge compile 1", arena))
        return false;
    const char *ok = take_line(&at, "ok ", arena);
    const char *object = ok ? take_line(&at, "object ", arena) : NULL;
    const char *log_bytes = object ? take_line(&at, "log ", arena) : NULL;
    if (!log_bytes)
        return false;
    char *digits_end;
    unsigned long long bytes = strtoull(log_bytes, &digits_end, 10);
    if (*digits_end || bytes >= (size_t)(end - at) || strchr(object, '/'))
        return false;
    entry->ok = strcmp(ok, "1") == 0;
    entry->object = object[0] ? arena_printf(arena, "%s/%s", folder, object) : "";
    entry->log = arena_strndup(arena, at, (size_t)bytes);
    at += bytes;
    return take_line(&at, "", arena) && headers_load(at, arena, &entry->headers);
}

bool cache_find(const char *cache_folder, const char *key, struct arena *arena,
                struct cache_entry *entry)
{
    *entry = (struct cache_entry){0};
    struct text content;
    text_init(&content);
    const char *path = entry_path(cache_folder, key, ".entry", arena);
    const char *folder = arena_strndup(arena, path, (size_t)(file_base_name(path) - path) - 1);
    bool found = file_read(path, ENTRY_BYTES_MAX, &content, NULL) == 0 &&
                 parse_entry(&content, folder, arena, entry) &&
                 (entry->ok ? entry->object[0] && file_exists(entry->object) : true) &&
                 headers_unchanged(&entry->headers, arena);
    text_release(&content);
    return found;
}

/* To its place: from memory, or by its file's name. */
static int store_object(const char *object, const struct text *bytes, const char *file,
                        struct err *e)
{
    if (bytes)
        return file_write(object, text_str(bytes), bytes->length, e);
    return rename(file, object) == 0 ? 0 : err_set_errno(e, "cannot move %s into the cache", file);
}

int cache_store(const char *cache_folder, const char *key, struct arena *arena,
                const struct text *bytes, struct cache_entry *entry, struct err *e)
{
    struct text headers, content;
    text_init(&headers);
    text_init(&content);
    headers_save(&entry->headers, &headers);
    char hex[HASH_HEX_BYTES];
    struct hash hash;
    hash_init(&hash);
    hash_part(&hash, text_str(&headers), headers.length);
    hash_hex(&hash, hex);
    int status = -1;
    const char *path = entry_path(cache_folder, key, ".entry", arena);
    const char *folder = arena_strndup(arena, path, (size_t)(file_base_name(path) - path) - 1);
    if (file_make_dirs(folder, e) != 0)
        goto out;
    if (entry->object[0]) {
        const char *object = arena_printf(arena, "%s/%s-%.*s.so", folder, key, SHORT_HASH, hex);
        if (store_object(object, bytes, entry->object, e) != 0)
            goto out;
        entry->object = object;
    }
    text_addf(&content, "%sok %d\nobject %s\nlog %zu\n%s\n%s", FIRST_LINE, entry->ok,
              file_base_name(entry->object), strlen(entry->log), entry->log, text_str(&headers));
    status = file_write(path, content.data, content.length, e);
out:
    text_release(&headers);
    text_release(&content);
    return status;
}
