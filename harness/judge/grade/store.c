/* A record is written by one write() to a descriptor opened with O_APPEND, and then fsync()ed. What
 * a crash can leave is a last line without its end: it is cut off when the store is opened the next
 * time, under the lock, so that the file holds whole lines again. */
#include "judge/grade/store.h"

#include "base/file.h"
#include "base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the index ---- */

static unsigned first_slot(const struct store *s, const char *key)
{
    char digits[9] = {0};
    memcpy(digits, key, 8);
    return (unsigned)strtoul(digits, NULL, 16) & (s->slot_count - 1);
}

/* The slot of this key, or the empty one where it belongs. */
static unsigned find_slot(const struct store *s, const char *key)
{
    unsigned i = first_slot(s, key);
    while (s->slots[i] && strcmp(s->items[s->slots[i] - 1].key, key) != 0)
        i = (i + 1) & (s->slot_count - 1);
    return i;
}

static void make_slots(struct store *s, unsigned count)
{
    free(s->slots);
    s->slot_count = count;
    s->slots = calloc(count, sizeof *s->slots);
    if (!s->slots)
        BUG("out of memory");
    for (unsigned i = 0; i < s->count; i++)
        s->slots[find_slot(s, s->items[i].key)] = i + 1;
}

/* A key that is there already is replaced: the last line counts. */
static void remember(struct store *s, const struct stored *record)
{
    if (2 * (s->count + 1) > s->slot_count)
        make_slots(s, s->slot_count ? s->slot_count * 2 : 1024);
    unsigned i = find_slot(s, record->key);
    if (s->slots[i]) {
        s->items[s->slots[i] - 1] = *record;
        return;
    }
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 256;
        s->items = realloc(s->items, s->capacity * sizeof *s->items);
        if (!s->items)
            BUG("out of memory");
    }
    s->items[s->count++] = *record;
    s->slots[i] = s->count;
}

const struct stored *store_find(const struct store *s, const char *key)
{
    uint32_t number = s->slot_count ? s->slots[find_slot(s, key)] : 0;
    return number ? &s->items[number - 1] : NULL;
}

bool store_is_final(const struct store *s, const char *key)
{
    const struct stored *r = store_find(s, key);
    return r && r->verdict != VERDICT_judge_error;
}

/* ---- one line ---- */

static const char *copy_of(struct arena *arena, const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return arena_strdup(arena, s ? s : "");
}

static bool is_hex(const char *s)
{
    return s && strlen(s) == HASH_HEX_BYTES - 1 && strspn(s, "0123456789abcdef") == strlen(s);
}

/* VERDICT_COUNT: none that we know. */
static enum verdict verdict_in(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "verdict"));
    return name ? verdict_find(name) : VERDICT_COUNT;
}

/* false: this line is no record. */
static bool parse_record(const char *bytes, size_t count, struct arena *arena, struct stored *r)
{
    json_t *line = json_loadb(bytes, count, 0, NULL);
    const json_t *result = json_object_get(line, "result");
    const char *key = json_string_value(json_object_get(line, "key"));
    *r = (struct stored){.length = count, .verdict = verdict_in(result)};
    bool good = is_hex(key) && json_is_object(result) && r->verdict < VERDICT_COUNT;
    if (good) {
        const json_t *cases = json_object_get(result, "cases");
        memcpy(r->key, key, sizeof r->key);
        r->file = copy_of(arena, line, "file");
        r->reason = copy_of(arena, line, "reason");
        r->judged_at = copy_of(arena, line, "judged_at");
        r->card = copy_of(arena, json_object_get(result, "card"), "name");
        r->seed = (uint64_t)json_integer_value(json_object_get(result, "seed"));
        r->ms = json_number_value(json_object_get(result, "ms"));
        for (size_t i = 0; i < json_array_size(cases); i++)
            r->passed += verdict_in(json_array_get(cases, i)) == VERDICT_accepted;
        r->cases = (unsigned)(json_array_size(cases) +
                              json_array_size(json_object_get(result, "not_judged")));
    }
    json_decref(line);
    return good;
}

static bool parse_header(const char *bytes, size_t count, char secret[HASH_HEX_BYTES])
{
    json_t *line = json_loadb(bytes, count, 0, NULL);
    const char *s = json_string_value(json_object_get(line, "secret"));
    bool good = json_integer_value(json_object_get(line, "scanjudge_grade")) == 1 && is_hex(s);
    if (good)
        memcpy(secret, s, HASH_HEX_BYTES);
    json_decref(line);
    return good;
}

/* ---- the file ---- */

struct mapped {
    const char *bytes; /* NULL = empty */
    size_t count;
};

static int map_file(int fd, const char *path, struct mapped *m, struct err *e)
{
    struct stat st;
    *m = (struct mapped){0};
    if (fstat(fd, &st) != 0)
        return err_set_errno(e, "cannot read %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, "%s is not a regular file", path);
    if (st.st_size == 0)
        return 0;
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return err_set_errno(e, "cannot read %s", path);
    *m = (struct mapped){bytes, (size_t)st.st_size};
    return 0;
}

static void unmap(struct mapped *m)
{
    if (m->bytes)
        munmap((void *)(uintptr_t)m->bytes, m->count);
}

/* Calls `take` for each whole line; what it returns false for is counted and told. The bytes up to
 * the last line's end are returned. */
static size_t each_line(const struct mapped *m, const char *path,
                        bool (*take)(void *context, const char *bytes, size_t count, size_t at,
                                     unsigned number),
                        void *context, struct text *notes)
{
    unsigned number = 1, broken = 0, first = 0;
    size_t at = 0;
    for (const char *stop; at < m->count; at = (size_t)(stop - m->bytes) + 1, number++) {
        stop = memchr(m->bytes + at, '\n', m->count - at);
        if (!stop)
            break;
        if (take(context, m->bytes + at, (size_t)(stop - m->bytes) - at, at, number))
            continue;
        first = broken++ ? first : number;
    }
    if (broken)
        text_addf(notes,
                  "%s:%u: this line is no record%s; what it told, if anything, is judged again\n",
                  path, first, broken > 1 ? ", and there are more of the kind" : "");
    return at;
}

static bool load_line(void *context, const char *bytes, size_t count, size_t at, unsigned number)
{
    struct store *s = context;
    struct stored record;
    if (number == 1)
        return parse_header(bytes, count, s->secret);
    if (!parse_record(bytes, count, &s->arena, &record))
        return false;
    record.at = (int64_t)at;
    remember(s, &record);
    return true;
}

static int put_line(int fd, const char *path, const struct text *line, struct err *e)
{
    const char *bytes = text_str(line);
    size_t left = line->length;
    while (left) {
        ssize_t put = write(fd, bytes, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set_errno(e, "cannot write %s", path);
        bytes += put;
        left -= (size_t)put;
    }
    return fsync(fd) == 0 ? 0 : err_set_errno(e, "cannot write %s", path);
}

static void make_secret(char secret[HASH_HEX_BYTES])
{
    struct hash h;
    hash_init(&h);
    for (int i = 0; i < 4; i++) {
        uint64_t part = rng_secret_seed();
        hash_part(&h, &part, sizeof part);
    }
    hash_hex(&h, secret);
}

static void add_header(struct text *line, const char *secret)
{
    text_addf(line, "{\"scanjudge_grade\": 1, \"secret\": \"%s\"}\n", secret);
}

/* Reads what is there; begins the file if nothing is. */
static int load(struct store *s, struct text *notes, struct err *e)
{
    struct mapped m;
    if (map_file(s->fd, s->path, &m, e) != 0)
        return -1;
    size_t whole = each_line(&m, s->path, load_line, s, notes);
    int status = 0;
    if (whole && !s->secret[0])
        status = err_set(e,
                         "%s is there, and is not a file of results: its first line is another "
                         "one; move it away, or name another folder (--results)",
                         s->path);
    if (status == 0 && whole < m.count) {
        text_addf(notes,
                  "%s: the last line is torn (%zu bytes without an end): whoever wrote it was "
                  "ended; it is cut off, and what it told is judged again\n",
                  s->path, m.count - whole);
        if (ftruncate(s->fd, (off_t)whole) != 0)
            status = err_set_errno(e, "cannot cut off the end of %s", s->path);
    }
    unmap(&m);
    if (status != 0 || whole)
        return status;
    struct text line;
    text_init(&line);
    make_secret(s->secret);
    add_header(&line, s->secret);
    status = put_line(s->fd, s->path, &line, e);
    text_release(&line);
    return status;
}

/* ---- the lock ---- */

static int take_lock(struct store *s, bool waiting, struct err *e)
{
    const char *path = arena_printf(&s->arena, "%s/lock", s->folder);
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock_fd < 0)
        return err_set_errno(e, "cannot open %s", path);
    while (flock(s->lock_fd, LOCK_EX | (waiting ? 0 : LOCK_NB)) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return err_set_errno(e, "cannot lock %s", path);
        char holder[32] = "";
        ssize_t got = pread(s->lock_fd, holder, sizeof holder - 1, 0);
        holder[got > 0 ? strspn(holder, "0123456789") : 0] = '\0';
        return err_set(e,
                       "another `grade` is at work with the results in %s%s%s%s: wait for it to "
                       "end; what was handed in meanwhile it takes along",
                       s->folder, holder[0] ? " (process " : "", holder, holder[0] ? ")" : "");
    }
    char own[32];
    int length = snprintf(own, sizeof own, "%ld\n", (long)getpid());
    if (ftruncate(s->lock_fd, 0) != 0 || pwrite(s->lock_fd, own, (size_t)length, 0) != length)
        return err_set_errno(e, "cannot write %s", path);
    return 0;
}

int store_open(const char *folder, bool waiting, struct store *s, struct text *notes, struct err *e)
{
    *s = (struct store){.fd = -1, .lock_fd = -1};
    arena_init(&s->arena);
    s->folder = arena_strdup(&s->arena, folder);
    s->path = arena_printf(&s->arena, "%s/results.jsonl", folder);
    if (file_make_dirs(folder, e) != 0 || take_lock(s, waiting, e) != 0)
        goto fail;
    /* Nobody else's business: it has the secret, and everybody's results. */
    s->fd = open(s->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (s->fd < 0) {
        err_set_errno(e, "cannot open %s", s->path);
        goto fail;
    }
    if (load(s, notes, e) == 0)
        return 0;
fail:
    store_close(s);
    return -1;
}

void store_leave(const struct store *s)
{
    close(s->fd);
    close(s->lock_fd);
}

void store_close(struct store *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s->items);
    free(s->slots);
    arena_release(&s->arena);
    *s = (struct store){.fd = -1, .lock_fd = -1};
}

/* ---- records ---- */

static int add_line(struct store *s, const struct text *line, struct err *e)
{
    struct stored record;
    struct stat st;
    if (!parse_record(text_str(line), line->length - 1, &s->arena, &record))
        BUG("not a record: %.200s", text_str(line));
    if (fstat(s->fd, &st) != 0)
        return err_set_errno(e, "cannot write %s", s->path);
    record.at = st.st_size;
    if (put_line(s->fd, s->path, line, e) != 0)
        return -1;
    remember(s, &record);
    return 0;
}

static void add_string(struct text *line, const char *key, const char *value)
{
    json_t *string = json_string(value);
    char *dump = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (!dump)
        BUG("%s is no UTF-8", key);
    text_addf(line, "\"%s\": %s, ", key, dump);
    free(dump);
    json_decref(string);
}

int store_add(struct store *s, const char *key, const char *file, const char *reason,
              const char *result, struct err *e)
{
    struct text line;
    time_t now = time(NULL);
    struct tm utc;
    char stamp[32];
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    text_init(&line);
    text_addf(&line, "{\"key\": \"%s\", \"judged_at\": \"%s\", ", key, stamp);
    add_string(&line, "file", file);
    add_string(&line, "reason", reason);
    text_addf(&line, "\"result\": %s}\n", result);
    int status = add_line(s, &line, e);
    text_release(&line);
    return status;
}

json_t *store_read(const struct store *s, const struct stored *record, struct err *e)
{
    char *bytes = malloc(record->length + 1);
    json_t *line = NULL, *result;
    if (!bytes)
        BUG("out of memory");
    if (pread(s->fd, bytes, record->length, record->at) == (ssize_t)record->length)
        line = json_loadb(bytes, record->length, 0, NULL);
    free(bytes);
    result = json_object_get(line, "result");
    json_incref(result);
    json_decref(line);
    if (!result)
        err_set(e, "%s has changed: the record of %s is not where it was", s->path, record->file);
    return result;
}

uint64_t store_seed(const struct store *s, const char *key)
{
    struct hash h;
    hash_init(&h);
    hash_str(&h, "seed of a judging");
    hash_str(&h, s->secret);
    hash_str(&h, key);
    uint64_t seed = hash_number(&h) & RNG_SEED_MAX;
    return seed ? seed : 1;
}

/* ---- parts ---- */

int store_make_part(const struct store *s, const char *folder, struct err *e)
{
    struct text line;
    const char *path = NULL;
    struct arena arena;
    arena_init(&arena);
    text_init(&line);
    add_header(&line, s->secret);
    path = arena_printf(&arena, "%s/results.jsonl", folder);
    int status = file_make_dirs(folder, e);
    int fd = status == 0 ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    struct stat st = {0};
    if (status == 0 && (fd < 0 || fstat(fd, &st) != 0))
        status = err_set_errno(e, "cannot open %s", path);
    if (status == 0 && st.st_size == 0)
        status = put_line(fd, path, &line, e);
    if (fd >= 0)
        close(fd);
    text_release(&line);
    arena_release(&arena);
    return status;
}

struct gathering {
    struct store *whole;
    unsigned taken;
    int status;
    struct err error;
};

static bool gather_line(void *context, const char *bytes, size_t count, size_t at, unsigned number)
{
    struct gathering *g = context;
    char unused[HASH_HEX_BYTES];
    struct arena arena;
    struct stored record;
    (void)at;
    if (number == 1)
        return parse_header(bytes, count, unused);
    arena_init(&arena);
    bool good = parse_record(bytes, count, &arena, &record);
    arena_release(&arena);
    bool wanted =
        good && (store_find(g->whole, record.key) ? !store_is_final(g->whole, record.key) &&
                                                        record.verdict != VERDICT_judge_error
                                                  : true);
    if (wanted && g->status == 0) {
        struct text line;
        text_init(&line);
        text_addn(&line, bytes, count);
        text_addc(&line, '\n');
        g->status = add_line(g->whole, &line, &g->error);
        g->taken += g->status == 0;
        text_release(&line);
    }
    return good;
}

int store_gather(struct store *s, const char *folder, unsigned *count, struct text *notes,
                 struct err *e)
{
    struct gathering g = {.whole = s};
    struct mapped m;
    struct arena arena;
    arena_init(&arena);
    *count = 0;
    const char *path = arena_printf(&arena, "%s/results.jsonl", folder);
    int status = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        status = err_set_errno(e, "cannot open %s", path);
    if (fd >= 0) {
        status = map_file(fd, path, &m, e);
        if (status == 0) {
            each_line(&m, path, gather_line, &g, notes);
            unmap(&m);
        }
        close(fd);
    }
    if (status == 0 && g.status != 0) {
        *e = g.error;
        status = -1;
    }
    *count = g.taken;
    arena_release(&arena);
    return status;
}
