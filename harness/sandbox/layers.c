#include "sandbox/parts.h"

#include <stdarg.h>
#include <stdio.h>

typedef void probe_function(const struct machine *m, struct sandbox_layer *l);

#define LAYER(key, wanted, why) static probe_function probe_##key;
#include "sandbox/layers.def"
#undef LAYER

static const struct {
    const char *key, *wanted, *why;
    probe_function *probe;
} ROWS[] = {
#define LAYER(key, wanted, why) {#key, wanted, why, probe_##key},
#include "sandbox/layers.def"
#undef LAYER
};

enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

__attribute__((format(printf, 3, 4))) static void say(struct sandbox_layer *l, bool in_use,
                                                      const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(l->got, sizeof l->got, format, list);
    va_end(list);
    l->in_use = in_use;
}

static void probe_namespaces(const struct machine *m, struct sandbox_layer *l)
{
    if (m->tier == SANDBOX_NAMESPACES)
        say(l, true, "bubblewrap");
    else
        say(l, false, "%.120s", m->no_namespaces);
}

static void probe_landlock(const struct machine *m, struct sandbox_layer *l)
{
    if (m->tier == SANDBOX_LANDLOCK)
        say(l, true, "version %u", m->landlock);
    else if (m->landlock)
        say(l, false, "version %u, not needed", m->landlock);
    else
        say(l, false, "%.120s", m->no_landlock);
}

static void probe_filter(const struct machine *m, struct sandbox_layer *l)
{
    say(l, m->has_filter, m->has_filter ? "seccomp" : "this kernel has no seccomp");
}

static void probe_user(const struct machine *m, struct sandbox_layer *l)
{
    if (m->own_users)
        say(l, true, "one for each box");
    else if (m->fallback_user)
        say(l, true, "%u, for all boxes", m->fallback_user);
    else if (m->tier == SANDBOX_NAMESPACES && !m->is_root)
        say(l, true, "yours, in a namespace");
    else
        say(l, false, "yours");
    l->weaker = !m->own_users && m->fallback_user;
}

static void probe_groups(const struct machine *m, struct sandbox_layer *l, const char *else_limit)
{
    if (group_available())
        say(l, true, "control group, version %u", group_version());
    else
        say(l, true, "%s (%.90s)", else_limit, m->no_group);
    l->weaker = !group_available();
}

static void probe_memory(const struct machine *m, struct sandbox_layer *l)
{
    probe_groups(m, l, "RLIMIT_DATA");
}

static void probe_processes(const struct machine *m, struct sandbox_layer *l)
{
    probe_groups(m, l, "RLIMIT_NPROC");
}

void layers_fill(const struct machine *m, struct sandbox_isolation *isolation)
{
    static struct sandbox_layer layers[ROW_COUNT];
    for (unsigned i = 0; i < ROW_COUNT; i++) {
        layers[i] = (struct sandbox_layer){
            .key = ROWS[i].key, .wanted = ROWS[i].wanted, .why = ROWS[i].why};
        ROWS[i].probe(m, &layers[i]);
    }
    isolation->layers = layers;
    isolation->layer_count = ROW_COUNT;
}
