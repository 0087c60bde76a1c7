/* Starts the judge with an environment of its own: our root, our cache, and its own path as the
 * name by which people started it, so that the command of a `reproduce` line can be run as it
 * stands. */
#include "e2e.h"

#include "base/file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

const struct e2e_paths e2e_paths = {
    .root = E2E_ROOT,
    .judge = E2E_BUILD "/bin/judge",
    .cache = E2E_BUILD "/e2e-cache",
    .state = E2E_BUILD "/e2e-state",
};

enum { JOBS = 2, OUTPUT_BYTES = 64 << 20 };
static const uint64_t MINUTE_NS = 60000000000u;

/* ---- what is said ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned checks, failures;

bool e2e_check(const char *what, const char *why)
{
    bool good = !why || !why[0];
    pthread_mutex_lock(&lock);
    checks++;
    failures += !good;
    printf("%s %u - %s\n", good ? "ok" : "not ok", checks, what);
    for (const char *line = good ? "" : why; *line;) {
        size_t length = strcspn(line, "\n");
        printf("#   %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fflush(stdout);
    pthread_mutex_unlock(&lock);
    return good;
}

int e2e_done(void)
{
    printf("1..%u\n", checks);
    if (failures)
        printf("# %u of %u failed\n", failures, checks);
    if (!checks)
        printf("# nothing was checked\n");
    return failures || !checks ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the toolkit ---- */

static bool executable(const char *folder, size_t length)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%.*s/nvcc", (int)length, folder);
    return n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0 && !file_is_dir(path);
}

void e2e_need_nvcc(void)
{
    const char *path = getenv("PATH"), *home = getenv("CUDA_HOME");
    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        if (length && executable(at, length))
            return;
        at += length + (at[length] == ':');
    }
    struct text bin;
    text_init(&bin);
    text_addf(&bin, "%s/bin", home ? home : "/usr/local/cuda");
    bool found = executable(text_str(&bin), bin.length) || executable("/usr/local/cuda/bin", 19);
    text_release(&bin);
    if (found)
        return;
    printf("1..0 # skipped: no nvcc in PATH, CUDA_HOME or /usr/local/cuda\n");
    exit(E2E_SKIPPED);
}

/* ---- running the judge ---- */

static bool is_ours(const char *entry)
{
    static const char *const NAMES[] = {
        "SCANJUDGE_ROOT=",   "SCANJUDGE_CACHE=", "SCANJUDGE_COMMAND=",
        "SCANJUDGE_DEVICE=", "SCANJUDGE_STATE=", "LC_ALL="};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strncmp(entry, NAMES[i], strlen(NAMES[i])) == 0)
            return true;
    return false;
}

static const char **make_environment(const struct e2e_call *call, struct text ours[3])
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    const char **list = calloc(count + 7, sizeof *list);
    if (!list)
        BUG("out of memory");
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i]))
            list[used++] = environ[i];
    text_addf(&ours[0], "SCANJUDGE_ROOT=%s", call->root ? call->root : e2e_paths.root);
    text_addf(&ours[1], "SCANJUDGE_CACHE=%s", call->cache ? call->cache : e2e_paths.cache);
    text_addf(&ours[2], "SCANJUDGE_COMMAND=%s", e2e_paths.judge);
    for (int i = 0; i < 3; i++)
        list[used++] = text_str(&ours[i]);
    if (!getenv("SCANJUDGE_NVML")) /* a card of this machine, and not one of a test */
        list[used++] = "SCANJUDGE_DEVICE=cpu";
    list[used++] = "SCANJUDGE_STATE=" E2E_BUILD "/e2e-state";
    list[used] = "LC_ALL=C";
    return list;
}

static const char *describe(enum proc_how how)
{
    switch (how) {
    case PROC_EXITED:
        return "exited";
    case PROC_SIGNALLED:
        return "was killed by a signal";
    case PROC_TIMED_OUT:
        return "was not done in its time";
    case PROC_OUTPUT_LIMIT:
        return "printed without end";
    }
    BUG("no such end: %d", (int)how);
}

void e2e_run(const struct e2e_call *call, struct e2e_run *run)
{
    const char *argv[E2E_BEFORE_MAX + E2E_ARGUMENTS_MAX + 2] = {NULL};
    int count = 0;
    for (; call->before && count < E2E_BEFORE_MAX && call->before[count]; count++)
        argv[count] = call->before[count];
    argv[count++] = call->shell ? "/bin/sh" : e2e_paths.judge;
    if (call->shell) {
        argv[count++] = "-c";
        argv[count] = call->shell;
    } else {
        for (int i = 0; i < E2E_ARGUMENTS_MAX && call->argv[i]; i++)
            argv[count++] = call->argv[i];
    }
    *run = (struct e2e_run){.status = -1};
    text_init(&run->out);
    text_init(&run->errors);
    struct text ours[3];
    for (int i = 0; i < 3; i++)
        text_init(&ours[i]);
    const char **environment = make_environment(call, ours);
    struct proc_spec spec = {
        .argv = argv, .environment = environment, .folder = e2e_paths.root, .keep_fd = -1};
    struct proc_end end = {0};
    struct err e;
    if (proc_run(&spec, (call->minutes ? call->minutes : 5) * MINUTE_NS, OUTPUT_BYTES, &run->out,
                 &run->errors, &end, &e) != 0) {
        run->how = "could not be started";
        text_add(&run->errors, e.text);
    } else {
        run->how = describe(end.how);
        run->status = end.how == PROC_EXITED ? end.code : -1;
        run->seconds = (double)end.wall_ns * 1e-9;
    }
    run->json = json_loads(text_str(&run->out), 0, NULL);
    free(environment);
    for (int i = 0; i < 3; i++)
        text_release(&ours[i]);
}

void e2e_run_release(struct e2e_run *run)
{
    text_release(&run->out);
    text_release(&run->errors);
    json_decref(run->json);
}

const char *e2e_string(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* ---- two jobs at a time ---- */

struct queue {
    size_t next, count;
    void (*job)(void *context, size_t i);
    void *context;
};

static void *work(void *argument)
{
    struct queue *q = argument;
    for (;;) {
        pthread_mutex_lock(&lock);
        size_t i = q->next++;
        pthread_mutex_unlock(&lock);
        if (i >= q->count)
            return NULL;
        q->job(q->context, i);
    }
}

void e2e_for_each(size_t count, void (*job)(void *context, size_t i), void *context)
{
    struct queue q = {.count = count, .job = job, .context = context};
    pthread_t other[JOBS - 1];
    for (int i = 0; i < JOBS - 1; i++)
        if (pthread_create(&other[i], NULL, work, &q) != 0)
            BUG("cannot start a thread");
    work(&q);
    for (int i = 0; i < JOBS - 1; i++)
        pthread_join(other[i], NULL);
}
