#include "ring.h"

#include <errno.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOBODY = 65534, WORDS_MAX = E2E_ARGUMENTS_MAX };

static const char *const AS_NOBODY[] = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                        "--clear-groups", NULL};

__attribute__((noreturn)) static void skip(struct ring *ring, const char *why)
{
    struct err e;
    printf("1..0 # skipped: %s\n", why);
    if (ring->folder[0] && file_remove_tree(ring->folder, &e) != 0)
        printf("# %s\n", e.text);
    exit(E2E_SKIPPED);
}

/* ---- setting up ---- */

static int listen_at(const char *name, bool abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t length = strlen(name);
    if (fd < 0 || length + 2 > sizeof address.sun_path)
        BUG("no socket at %s", name);
    memcpy(address.sun_path + abstract, name, length);
    socklen_t whole = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    if (bind(fd, (struct sockaddr *)&address, whole) != 0 || listen(fd, 64) != 0)
        BUG("cannot listen at %s: %s", name, strerror(errno));
    return fd;
}

static void make_folders(struct ring *ring, bool as_nobody)
{
    static const char *const FOLDERS[] = {"tmp", "work", "home"};
    struct err e;
    char path[RING_PATH + 64];
    if (file_make_temp_dir(ring->folder, sizeof ring->folder, "ring", &e) != 0 ||
        file_make_dirs(ring->cache, &e) != 0)
        BUG("%s", e.text);
    bool good = chmod(ring->folder, 0755) == 0;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", ring->folder, FOLDERS[i]);
        good = good && mkdir(path, 0755) == 0 && (!as_nobody || chown(path, NOBODY, NOBODY) == 0);
    }
    good = good && (!as_nobody || chown(ring->cache, NOBODY, NOBODY) == 0);
    snprintf(path, sizeof path, "%s/secret", ring->folder);
    if (file_write(path, "secret\n", 7, &e) != 0)
        BUG("%s", e.text);
    if (!good || chmod(path, 0644) != 0)
        BUG("the folder %s cannot be set up: %s", ring->folder, strerror(errno));
    snprintf(path, sizeof path, "%s/tmp", ring->folder);
    setenv("TMPDIR", path, 1);
    snprintf(path, sizeof path, "%s/home", ring->folder);
    setenv("HOME", path, 1);
    setenv("ATTACK_SECRET", "known to the judge alone", 1);
    snprintf(path, sizeof path, "%s/socket", ring->folder);
    ring->sockets[0] = listen_at(path, false);
    chmod(path, 0777);
    snprintf(ring->socket_name, sizeof ring->socket_name, "sj_attack_%d", (int)getpid());
    ring->sockets[1] = listen_at(ring->socket_name, true);
}

static void load_honest(struct ring *ring)
{
    struct err e;
    glob_t found;
    const char *pattern = arena_printf(&ring->arena, "%s/../honest/*.cu", ring->places.root);
    if (glob(pattern, 0, NULL, &found) != 0)
        BUG("no honest submission: %s", pattern);
    for (size_t i = 0; i < found.gl_pathc && ring->honest_count < RING_HONEST_MAX; i++) {
        struct attack *honest = &ring->honest[ring->honest_count];
        if (source_read(found.gl_pathv[i], &ring->places, &ring->arena, honest, &e) != 0)
            BUG("%s", e.text);
        /* a stray access, which a card does not notice */
        if (ring->on_card && strcmp(honest->label.verdict, "run_time_error") == 0)
            continue;
        const char *file = ring_put(ring, honest->as, honest->text, &ring->arena, &e);
        if (!file)
            BUG("%s", e.text);
        ring->honest_files[ring->honest_count++] = file;
    }
    globfree(&found);
}

/* Can that user reach what was built, and the problems? */
static void need_nobody(struct ring *ring)
{
    struct e2e_run run;
    if (!file_exists(AS_NOBODY[0]))
        skip(ring, "there is no setpriv to become an ordinary user with");
    const char *command =
        arena_printf(&ring->arena, "%s %s %s %s test -x '%s' -a -r '%s/problems'", AS_NOBODY[0],
                     AS_NOBODY[1], AS_NOBODY[2], AS_NOBODY[3], e2e_paths.judge, ring->places.root);
    e2e_run(&(struct e2e_call){.shell = command}, &run);
    int status = run.status;
    e2e_run_release(&run);
    if (status != 0)
        skip(ring, "an ordinary user cannot reach the build or the sources, whose folders are "
                   "closed to others");
}

/* Without the tier there is nothing to test: the judge says so itself. */
static void need_tier(struct ring *ring)
{
    struct e2e_run run;
    ring_judge(ring, ring->honest[0].problem, ring->honest_files[0], NULL, &run);
    const char *message = e2e_string(run.json, "message");
    if (strcmp(e2e_string(run.json, "verdict"), "judge_error") == 0 && strstr(message, "isolation"))
        skip(ring, arena_printf(&ring->arena, "no isolation '%s' here: %s", ring->tier, message));
    e2e_run_release(&run);
}

int ring_open(struct ring *ring, int argc, char **argv)
{
    int at = 1;
    bool as_nobody = false;
    const char *finds = NULL;
    *ring = (struct ring){.sockets = {-1, -1}};
    arena_init(&ring->arena);
    for (; at < argc; at++) {
        if (strcmp(argv[at], "--tier") == 0 && at + 1 < argc)
            ring->tier = argv[++at];
        else if (strcmp(argv[at], "--finds") == 0 && at + 1 < argc)
            finds = argv[++at];
        else if (strcmp(argv[at], "--card") == 0)
            ring->on_card = true;
        else if (strcmp(argv[at], "--as-nobody") == 0)
            as_nobody = geteuid() == 0; /* else we are an ordinary user as it is */
        else
            break;
    }
    e2e_need_nvcc();
    if (ring->on_card && traces_no_card())
        skip(ring, traces_no_card());
    ring->before = as_nobody ? AS_NOBODY : NULL;
    snprintf(ring->cache, sizeof ring->cache, "%s/attack-cache%s", E2E_BUILD,
             as_nobody ? "-nobody" : "");
    make_folders(ring, as_nobody);
    ring->places = (struct places){.root = E2E_ROOT "/tests/attack/root",
                                   .cache = ring->cache,
                                   .folder = ring->folder,
                                   .socket = ring->socket_name};
    if (as_nobody)
        need_nobody(ring);
    if (ring->tier)
        setenv("SCANJUDGE_ISOLATION", ring->tier, 1);
    load_honest(ring);
    if (ring->tier)
        need_tier(ring);
    if (finds)
        ring->tier = finds; /* without having been told */
    printf("# %s, %s; graphics memory: %s\n", ring->tier ? ring->tier : "any isolation",
           as_nobody || geteuid() != 0 ? "as an ordinary user" : "as root",
           ring->on_card      ? "looked at"
           : traces_no_card() ? traces_no_card()
                              : "not looked at without --card");
    traces_init(&ring->traces, ring->folder, ring->cache, ring->on_card);
    return at;
}

void ring_close(struct ring *ring)
{
    struct text why;
    struct err e;
    text_init(&why);
    traces_look(&ring->traces, &why);
    e2e_check("nothing is left behind in the end", text_str(&why));
    printf("# %u honest submissions were judged in between\n", atomic_load(&ring->honest_judged));
    traces_release(&ring->traces);
    close(ring->sockets[0]);
    close(ring->sockets[1]);
    if (file_remove_tree(ring->folder, &e) != 0)
        BUG("%s", e.text);
    text_release(&why);
    arena_release(&ring->arena);
}

/* ---- judging ---- */

const char *ring_put(const struct ring *ring, const char *name, const char *text,
                     struct arena *arena, struct err *e)
{
    const char *path = arena_printf(arena, "%s/work/%s", ring->folder, name);
    return file_write(path, text, strlen(text), e) == 0 && chmod(path, 0644) == 0 ? path : NULL;
}

void ring_judge(const struct ring *ring, const char *problem, const char *file, const char *options,
                struct e2e_run *run)
{
    char words[256], *rest = NULL;
    const char *argv[WORDS_MAX + 1] = {"run", problem, file, "--format", "json"};
    unsigned count = 5;
    snprintf(words, sizeof words, "%s%s", ring->on_card ? "--device gpu --no-timing " : "",
             options ? options : "");
    for (char *word = strtok_r(words, " ", &rest); word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    argv[count] = NULL;
    e2e_run(&(struct e2e_call){.argv = argv,
                               .root = ring->places.root,
                               .cache = ring->places.cache,
                               .before = ring->before},
            run);
}

void ring_check_tier(const struct ring *ring, const struct e2e_run *run, struct text *why)
{
    const char *tier = e2e_string(json_object_get(run->json, "isolation"), "tier");
    if (ring->tier && strcmp(tier, ring->tier) != 0)
        text_addf(why, "isolation '%s' instead of '%s'\n", tier, ring->tier);
}

void ring_judge_honest(struct ring *ring, struct text *why)
{
    unsigned k = atomic_fetch_add(&ring->honest_judged, 1) % ring->honest_count;
    const struct attack *honest = &ring->honest[k];
    struct e2e_run run;
    ring_judge(ring, honest->problem, ring->honest_files[k], NULL, &run);
    ring_check_tier(ring, &run, why);
    const char *verdict = e2e_string(run.json, "verdict");
    if (strcmp(verdict, honest->label.verdict) != 0)
        text_addf(why, "an honest submission, %s, gets '%s' instead of %s\n%.1000s%.300s\n",
                  honest->name, verdict, honest->label.verdict, text_str(&run.out),
                  text_str(&run.errors));
    e2e_run_release(&run);
}
