/* Scripts and not --wrap: names of folders are quoted once, by us. Variables of the judge are
 * written into them, since a cluster need not hand on the environment. */
#include "judge/grade/slurm.h"

#include "base/file.h"
#include "base/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    CHUNK = 20,       /* judgings of a second or two, against 2 s for a task */
    TASKS_MAX = 1000, /* MaxArraySize is 1001 where nobody has set it */
    OUTPUT_BYTES = 1 << 20,
    WORDS_MAX = 64,
    SCRIPT_MODE = 0700
};
static const uint64_t COMMAND_LIMIT_NS = 120 * UINT64_C(1000000000);

/* ---- commands ---- */

/* What a program prints; NULL if it does not end well, and `e` says why. */
static const char *ask(const char *const *argv, struct arena *arena, struct err *e)
{
    struct proc_spec spec = {
        .argv = argv, .environment = (const char *const *)environ, .keep_fd = -1};
    struct text out, errors;
    struct proc_end end;
    const char *answer = NULL;
    text_init(&out);
    text_init(&errors);
    if (proc_run(&spec, COMMAND_LIMIT_NS, OUTPUT_BYTES, &out, &errors, &end, e) == 0) {
        if (end.how == PROC_EXITED && end.code == 0)
            answer = arena_strdup(arena, text_str(&out));
        else
            err_set(e, "%s does not end well: %.600s", argv[0],
                    errors.length ? text_str(&errors) : "it says nothing");
    }
    text_release(&out);
    text_release(&errors);
    return answer;
}

/* 'it'\''s' */
static void add_quoted(struct text *script, const char *word)
{
    text_addc(script, '\'');
    for (; *word; word++)
        if (*word == '\'')
            text_add(script, "'\\''");
        else
            text_addc(script, *word);
    text_addc(script, '\'');
}

static void begin_script(struct text *script, const struct slurm_call *call)
{
    static const char PREFIX[] = "SCANJUDGE_";
    text_add(script, "#!/bin/sh\n");
    for (char **v = environ; *v; v++)
        if (strncmp(*v, PREFIX, sizeof PREFIX - 1) == 0 && strchr(*v, '=')) {
            size_t length = strcspn(*v, "=");
            text_addf(script, "export %.*s=", (int)length, *v);
            add_quoted(script, *v + length + 1);
            text_addc(script, '\n');
        }
    text_add(script, "exec ");
    add_quoted(script, call->judge);
    text_add(script, " grade");
    for (const char *const *word = call->words; *word; word++) {
        text_addc(script, ' ');
        add_quoted(script, *word);
    }
}

/* ---- what is under way ---- */

static bool is_listed(const char *list, unsigned number)
{
    while (*list) {
        char *end;
        unsigned long k = strtoul(list, &end, 10);
        if (end != list && k == number)
            return true;
        list = end == list ? list + 1 : end;
    }
    return false;
}

struct keys {
    const char **items;
    unsigned count, capacity;
};

static void add_keys(struct keys *keys, const char *path, struct arena *arena)
{
    struct text content;
    text_init(&content);
    file_read(path, OUTPUT_BYTES, &content, NULL);
    for (const char *at = text_str(&content); *at;) {
        size_t length = strcspn(at, "\n");
        if (keys->count == keys->capacity) {
            unsigned capacity = keys->capacity ? keys->capacity * 2 : 256;
            /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
            const char **more = arena_array(arena, capacity, sizeof more[0]);
            if (keys->count)
                memcpy(more, keys->items, keys->count * sizeof more[0]);
            keys->items = more;
            keys->capacity = capacity;
        }
        keys->items[keys->count++] = arena_strndup(arena, at, length);
        at += length + (at[length] == '\n');
    }
    text_release(&content);
}

/* The keys of this run's tasks that are in the queue or run. */
static void add_run(struct keys *keys, const char *folder, struct arena *arena)
{
    struct text job;
    struct err unused;
    text_init(&job);
    const char *path = arena_printf(arena, "%s/job", folder);
    if (file_read(path, OUTPUT_BYTES, &job, NULL) == 0 && job.length) {
        const char *number = arena_strndup(arena, text_str(&job), strcspn(text_str(&job), "\n"));
        const char *argv[] = {"squeue", "-h", "-r", "-o", "%K", "-j", number, NULL};
        /* A job that has been over for a while is not known any more. */
        const char *tasks = ask(argv, arena, &unused);
        for (unsigned k = 0; tasks; k++) {
            const char *list = arena_printf(arena, "%s/%u.keys", folder, k);
            if (!file_exists(list))
                break;
            if (is_listed(tasks, k))
                add_keys(keys, list, arena);
        }
    }
    text_release(&job);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_under_way(const char *results, struct keys *keys, struct arena *arena)
{
    struct dirent **entries;
    const char *folder = arena_printf(arena, "%s/slurm", results);
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            add_run(keys, arena_printf(arena, "%s/%s", folder, entries[i]->d_name), arena);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (keys->count)
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        qsort(keys->items, keys->count, sizeof keys->items[0], compare_strings);
}

/* ---- submitting ---- */

struct run {
    const struct grade *g;
    const struct slurm_call *call;
    struct arena *arena;
    const char *folder;
    unsigned tasks, chunk;
};

static int write_script(const struct run *r, const char *name, const struct text *script,
                        struct err *e)
{
    const char *path = arena_printf(r->arena, "%s/%s", r->folder, name);
    if (file_write(path, text_str(script), script->length, e) != 0)
        return -1;
    return chmod(path, SCRIPT_MODE) == 0 ? 0 : err_set_errno(e, "cannot write %s", path);
}

/* The lists, the stores and the scripts. */
static int prepare(const struct run *r, const char *const *keys, unsigned count, struct err *e)
{
    struct text text;
    int status = file_make_dirs(r->folder, e);
    text_init(&text);
    for (unsigned k = 0; k < r->tasks && status == 0; k++) {
        unsigned end = (k + 1) * r->chunk < count ? (k + 1) * r->chunk : count;
        text_clear(&text);
        for (unsigned i = k * r->chunk; i < end; i++)
            text_addf(&text, "%s\n", keys[i]);
        const char *part = arena_printf(r->arena, "%s/%u", r->folder, k);
        status =
            file_write(arena_printf(r->arena, "%s.keys", part), text_str(&text), text.length, e);
        if (status == 0)
            status = store_make_part(&r->g->store, part, e);
    }
    text_clear(&text);
    begin_script(&text, r->call);
    text_add(&text, " --jobs \"${SLURM_CPUS_PER_TASK:-1}\" --results ");
    add_quoted(&text, r->folder);
    text_add(&text, "/\"$SLURM_ARRAY_TASK_ID\" --only ");
    add_quoted(&text, r->folder);
    text_add(&text, "/\"$SLURM_ARRAY_TASK_ID\".keys -- ");
    add_quoted(&text, r->call->from);
    text_addc(&text, '\n');
    if (status == 0)
        status = write_script(r, "task.sh", &text, e);
    text_clear(&text);
    begin_script(&text, r->call);
    text_add(&text, " --merge --results ");
    add_quoted(&text, r->call->results);
    text_add(&text, " -- ");
    add_quoted(&text, r->call->from);
    text_addc(&text, '\n');
    if (status == 0)
        status = write_script(r, "merge.sh", &text, e);
    text_release(&text);
    return status;
}

/* Words for sbatch, the user's last: they win. The number of the job, or NULL. */
static const char *submit(const struct run *r, const char *const *own, const char *script,
                          struct err *e)
{
    const char *argv[WORDS_MAX] = {"sbatch", "--parsable"};
    unsigned count = 2;
    for (; *own && count < WORDS_MAX - 2; own++)
        argv[count++] = *own;
    for (const char *const *word = r->call->sbatch; *word && count < WORDS_MAX - 2; word++)
        argv[count++] = *word;
    argv[count] = arena_printf(r->arena, "%s/%s", r->folder, script);
    const char *answer = ask(argv, r->arena, e);
    /* "12" or "12;cluster" */
    size_t digits = answer ? strspn(answer, "0123456789") : 0;
    if (answer && !digits)
        err_set(e, "sbatch --parsable printed '%.200s' instead of the number of a job", answer);
    return digits ? arena_strndup(r->arena, answer, digits) : NULL;
}

static int submit_both(const struct run *r, struct slurm_outcome *outcome, struct err *e)
{
    struct arena *a = r->arena;
    /* Slurm puts things of its own in the place of % in these names; a doubled one stays. */
    if (strchr(r->folder, '%') || strchr(r->folder, '\\'))
        return err_set(e,
                       "the results folder %s has a '%%' or a '\\' in its name, which sbatch takes "
                       "for something of its own: name another one (--results)",
                       r->call->results);
    const char *tasks[] = {
        "--job-name=scanjudge",
        arena_printf(a, "--array=0-%u", r->tasks - 1),
        arena_printf(a, "--output=%s/%%a.log", r->folder),
        arena_printf(a, "--cpus-per-task=%u", r->call->workers),
        "--open-mode=append",
        "--requeue",
        r->call->on_gpu ? "--gres=gpu:1" : NULL,
        NULL,
    };
    outcome->array = submit(r, tasks, "task.sh", e);
    if (!outcome->array)
        return -1;
    const char *path = arena_printf(a, "%s/job", r->folder);
    const char *line = arena_printf(a, "%s\n", outcome->array);
    if (file_write(path, line, strlen(line), e) != 0)
        return -1;
    const char *merge[] = {
        "--job-name=scanjudge-merge",
        arena_printf(a, "--dependency=afterany:%s", outcome->array),
        arena_printf(a, "--output=%s/merge.log", r->folder),
        NULL,
    };
    outcome->merge = submit(r, merge, "merge.sh", e);
    return outcome->merge ? 0 : -1;
}

int slurm_submit(const struct grade *g, const struct slurm_call *call, struct arena *arena,
                 struct slurm_outcome *outcome, struct err *e)
{
    struct keys under_way = {0};
    unsigned *indices, count = 0;
    unsigned missing = grade_missing(g, arena, &indices);
    *outcome = (struct slurm_outcome){.array = "", .merge = "", .folder = ""};
    find_under_way(call->results, &under_way, arena);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    const char **keys = arena_array(arena, missing, sizeof keys[0]);
    for (unsigned i = 0; i < missing; i++) {
        const char *key = g->plan.items[indices[i]].key;
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        if (under_way.count &&
            bsearch(&key, under_way.items, under_way.count, sizeof keys[0], compare_strings))
            outcome->under_way++;
        else
            keys[count++] = key;
    }
    if (!count)
        return 0;
    struct run r = {.g = g, .call = call, .arena = arena};
    r.chunk = call->chunk ? call->chunk : CHUNK;
    if ((count + r.chunk - 1) / r.chunk > TASKS_MAX)
        r.chunk = (count + TASKS_MAX - 1) / TASKS_MAX;
    r.tasks = (count + r.chunk - 1) / r.chunk;
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    r.folder = outcome->folder =
        arena_printf(arena, "%s/slurm/%s-%ld", call->results, stamp, (long)getpid());
    outcome->submitted = count;
    outcome->tasks = r.tasks;
    if (prepare(&r, keys, count, e) != 0)
        return -1;
    return submit_both(&r, outcome, e);
}
