/* What holds here is found out by trying: a launcher is started through bubblewrap the way every
 * box is, and kept for the first one, so that trying costs nothing. */
#include "sandbox/parts.h"

#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Users of boxes: FIRST_USER and a number that no living box has, the judge's process number and
 * that of the box in it. */
enum { BOXES_PER_PROCESS = 64, NOBODY = 65534 };
#define FIRST_USER UINT32_C(0x40000000)
#define LAST_USER  UINT32_C(0x7ffffffe)

static const char *const TIER_NAMES[] = {
    [SANDBOX_NAMESPACES] = "namespaces", [SANDBOX_LANDLOCK] = "landlock", [SANDBOX_NONE] = "none"};

static struct {
    pthread_mutex_t lock;
    struct sandbox_choice choice;
    atomic_bool done;
    pthread_mutex_t begin_lock; /* of the next two; taken inside the other one */
    bool begun;
    enum sandbox_tier hope;
    struct machine machine;
    struct sandbox_isolation isolation;
    char launcher[PATH_MAX];
    atomic_uint boxes;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .begin_lock = PTHREAD_MUTEX_INITIALIZER};

int sandbox_choose(const struct sandbox_choice *choice, struct err *e)
{
    const char *tier = choice->tier ? choice->tier : "auto";
    bool known = strcmp(tier, "auto") == 0;
    for (unsigned i = 0; i < SANDBOX_TIER_COUNT; i++)
        known |= strcmp(tier, TIER_NAMES[i]) == 0;
    if (!known)
        return err_set(
            e, "there is no isolation '%s'; there are auto, namespaces, landlock and none", tier);
    state.choice = *choice;
    state.choice.tier = tier;
    return 0;
}

int sandbox_check_choice(struct err *e)
{
    const struct sandbox_choice *c = &state.choice;
    bool is_none = c->tier && strcmp(c->tier, TIER_NAMES[SANDBOX_NONE]) == 0;
    if (is_none && !c->allow_none)
        return err_set(e, "isolation 'none' shuts nothing in, and has to be allowed: add "
                          "--allow-unsandboxed, for programs that you trust; auto, namespaces and "
                          "landlock need no leave");
    if (c->require && (is_none || (c->tier && strcmp(c->tier, TIER_NAMES[SANDBOX_LANDLOCK]) == 0)))
        return err_set(e,
                       "--require-isolation wants namespaces, which isolation '%s' leaves out: "
                       "leave one of the two out; with --require-isolation go auto and namespaces",
                       c->tier);
    return 0;
}

const struct machine *machine_found(void)
{
    return &state.machine;
}

/* Whether users up to `last` exist in our user namespace. */
static bool users_exist(unsigned long last)
{
    FILE *map = fopen("/proc/self/uid_map", "re");
    unsigned long inside, outside, length;
    bool found = false;
    while (map && fscanf(map, "%lu %lu %lu", &inside, &outside, &length) == 3)
        found |= last >= inside && last - inside < length;
    if (map)
        fclose(map);
    return found;
}

enum sandbox_tier machine_tier(const struct machine *m, enum sandbox_profile profile)
{
    return profile == SANDBOX_TOOL ? SANDBOX_NONE : m->tier;
}

uint32_t machine_user(bool *alone)
{
    const struct machine *m = &state.machine;
    unsigned number = atomic_fetch_add(&state.boxes, 1) % BOXES_PER_PROCESS;
    *alone = m->own_users;
    return m->own_users ? FIRST_USER + (uint32_t)getpid() * BOXES_PER_PROCESS + number
                        : m->fallback_user;
}

static int find_launcher(struct machine *m, struct err *e)
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return err_set_errno(e, "cannot tell where this program is");
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    if (snprintf(state.launcher, sizeof state.launcher, "%s/launcher", own) >= PATH_MAX)
        return err_set(e, "the path of %s is too long", own);
    m->launcher = state.launcher;
    m->launcher_fd = memory_of_file(m->launcher, e);
    return m->launcher_fd < 0 ? -1 : 0;
}

static void look_around(struct machine *m)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const uint32_t action = SECCOMP_RET_ERRNO;
    m->is_root = geteuid() == 0;
    m->landlock = version > 0 ? (unsigned)version : 0;
    m->signals_confined = version >= 6;
    m->has_filter = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
    m->own_users = m->is_root && users_exist(LAST_USER);
    m->fallback_user = m->is_root && users_exist(NOBODY) ? NOBODY : 0;
    if (!m->landlock)
        snprintf(m->no_landlock, sizeof m->no_landlock, "this kernel has it not, or not enabled");
}

static int refuse(const char *what, const char *why, struct err *e)
{
    return err_set(e, "%s isolation was asked for, and is not to be had here: %s", what, why);
}

/* The best tier there is, of those that may be. */
static int choose_tier(struct machine *m, struct err *e)
{
    const char *tier = state.choice.tier ? state.choice.tier : "auto";
    bool is_auto = strcmp(tier, "auto") == 0;
    struct err why = {{0}};
    if (strcmp(tier, TIER_NAMES[SANDBOX_NONE]) == 0) {
        m->tier = SANDBOX_NONE;
        snprintf(m->no_namespaces, sizeof m->no_namespaces, "not asked for");
        return sandbox_check_choice(e);
    }
    m->tier = SANDBOX_NAMESPACES;
    if (strcmp(tier, TIER_NAMES[SANDBOX_LANDLOCK]) != 0) {
        if (m->has_filter && box_probe_wait(&why) == 0)
            return 0;
        snprintf(m->no_namespaces, sizeof m->no_namespaces, "%.250s",
                 m->has_filter ? why.text : "no seccomp");
        if (!is_auto)
            return refuse(tier, m->no_namespaces, e);
    } else {
        snprintf(m->no_namespaces, sizeof m->no_namespaces, "not asked for");
    }
    box_drop_wrapped();
    m->tier = SANDBOX_LANDLOCK;
    if (m->landlock && m->has_filter)
        return 0;
    if (!is_auto)
        return refuse(tier, m->landlock ? "no seccomp" : m->no_landlock, e);
    m->tier = SANDBOX_NONE;
    if (state.choice.allow_none)
        return 0;
    return err_set(e,
                   "this machine lets nothing be shut in, so what is judged could read and change "
                   "whatever you can. Namespaces: %.300s. Landlock: %.100s. Install bubblewrap, or "
                   "allow user namespaces; for programs that you trust, such as your own, add "
                   "--allow-unsandboxed (or set SCANJUDGE_ALLOW_UNSANDBOXED=1)",
                   m->no_namespaces, m->landlock ? "no seccomp" : m->no_landlock);
}

/* --require-isolation: nothing is missing, and nothing stands in for something better. */
static int check_required(const struct sandbox_isolation *isolation, struct err *e)
{
    for (unsigned i = 0; i < isolation->layer_count; i++) {
        const struct sandbox_layer *l = &isolation->layers[i];
        bool other = strcmp(l->key, "landlock") == 0; /* stands in for namespaces */
        if (!other && (!l->in_use || l->weaker))
            return err_set(e, "--require-isolation: %s: %s is wanted; here: %s", l->key, l->wanted,
                           l->got);
    }
    return 0;
}

/* What choose_tier() will come to if bubblewrap does what it is for. */
static enum sandbox_tier hoped_tier(const struct machine *m)
{
    const char *tier = state.choice.tier ? state.choice.tier : "auto";
    for (unsigned i = 0; i < SANDBOX_TIER_COUNT; i++)
        if (strcmp(tier, TIER_NAMES[i]) == 0)
            return (enum sandbox_tier)i;
    return m->has_filter ? SANDBOX_NAMESPACES : SANDBOX_NONE;
}

static int begin(struct err *e)
{
    struct machine *m = &state.machine;
    *m = (struct machine){.launcher_fd = -1};
    if (find_launcher(m, e) != 0)
        return -1;
    look_around(m);
    if (!group_available())
        group_setup(m, m->no_group, sizeof m->no_group);
    state.hope = hoped_tier(m);
    if (state.hope == SANDBOX_NAMESPACES && m->has_filter)
        box_probe_start(m);
    state.begun = true;
    return 0;
}

int machine_begin(enum sandbox_tier *hope, struct err *e)
{
    pthread_mutex_lock(&state.begin_lock);
    int status = state.begun ? 0 : begin(e);
    *hope = atomic_load(&state.done) ? state.machine.tier : state.hope;
    pthread_mutex_unlock(&state.begin_lock);
    return status;
}

bool machine_is_known(void)
{
    return atomic_load(&state.done);
}

static int setup(struct err *e)
{
    struct machine *m = &state.machine;
    enum sandbox_tier unused;
    if (machine_begin(&unused, e) != 0)
        return -1;
    int status = choose_tier(m, e);
    if (status == 0) {
        state.isolation = (struct sandbox_isolation){.tier = m->tier, .name = TIER_NAMES[m->tier]};
        layers_fill(m, &state.isolation);
        status = state.choice.require ? check_required(&state.isolation, e) : 0;
    }
    if (status != 0) {
        pthread_mutex_lock(&state.begin_lock);
        state.begun = false; /* whoever asks again has it tried again */
        pthread_mutex_unlock(&state.begin_lock);
    }
    return status;
}

int machine_allows(enum sandbox_profile profile, struct err *e)
{
    if (profile != SANDBOX_TOOL || !state.choice.require)
        return 0;
    return err_set(e,
                   "--require-isolation: NVIDIA's tools trace processes and write files, and are "
                   "not shut in");
}

int sandbox_setup(struct err *e)
{
    pthread_mutex_lock(&state.lock);
    int status = atomic_load(&state.done) ? 0 : setup(e);
    atomic_store(&state.done, status == 0);
    pthread_mutex_unlock(&state.lock);
    return status;
}

const struct sandbox_isolation *sandbox_isolation(void)
{
    return atomic_load(&state.done) ? &state.isolation : NULL;
}
