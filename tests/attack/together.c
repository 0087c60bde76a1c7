/* together [--tier NAME] [--as-nobody] SECONDS FOLDER-OR-FILE...
 *
 * Four judgings at once, hostile and honest ones mixed, for so many seconds: every honest one gets
 * its verdict, every attack one of its own, and nothing is left behind in the end. */
#include "check.h"

#include "base/clock.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JUDGINGS = 4, ATTACKS_MAX = 256 };

struct mix {
    struct ring ring;
    struct attack attacks[ATTACKS_MAX];
    const char *files[ATTACKS_MAX];
    unsigned count;
    uint64_t end_ns;
    atomic_uint next, honest, wrong;
};

static void add_file(struct mix *m, const char *path)
{
    struct err e;
    if (m->count == ATTACKS_MAX)
        BUG("more than %d attacks", ATTACKS_MAX);
    struct attack *a = &m->attacks[m->count];
    if (source_read(path, &m->ring.places, &m->ring.arena, a, &e) != 0)
        BUG("%s", e.text);
    /* One name each: they are in the folder at the same time. */
    const char *name = arena_printf(&m->ring.arena, "%u.%s", m->count, a->as);
    m->files[m->count] = ring_put(&m->ring, name, a->text, &m->ring.arena, &e);
    if (!m->files[m->count++])
        BUG("%s", e.text);
}

static void add_all(struct mix *m, const char *path)
{
    glob_t found;
    if (!file_is_dir(path)) {
        add_file(m, path);
        return;
    }
    if (glob(arena_printf(&m->ring.arena, "%s/*.cu", path), 0, NULL, &found) != 0)
        BUG("no attacks in %s", path);
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_file(m, found.gl_pathv[i]);
    globfree(&found);
}

static void judge_hostile(struct mix *m, unsigned k)
{
    const struct attack *a = &m->attacks[k % m->count];
    struct e2e_run run;
    struct text why;
    text_init(&why);
    ring_judge(&m->ring, a->problem, m->files[k % m->count], a->options, &run);
    ring_check_tier(&m->ring, &run, &why);
    check_report(&m->ring, a, &run, &why);
    if (why.length) {
        atomic_fetch_add(&m->wrong, 1);
        e2e_check(a->name, text_str(&why));
    }
    e2e_run_release(&run);
    text_release(&why);
}

static void judge_honest(struct mix *m)
{
    struct text why;
    text_init(&why);
    ring_judge_honest(&m->ring, &why);
    atomic_fetch_add(&m->honest, 1);
    if (why.length) {
        atomic_fetch_add(&m->wrong, 1);
        e2e_check("an honest submission among attacks", text_str(&why));
    }
    text_release(&why);
}

static void *work(void *context)
{
    struct mix *m = context;
    while (clock_now_ns() < m->end_ns) {
        unsigned i = atomic_fetch_add(&m->next, 1);
        if (i % 2)
            judge_honest(m);
        else
            judge_hostile(m, i / 2);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct mix m;
    pthread_t threads[JUDGINGS];
    char what[200];
    int at = ring_open(&m.ring, argc, argv);
    double seconds = at < argc ? strtod(argv[at++], NULL) : 0;
    for (; at < argc; at++)
        add_all(&m, argv[at]);
    if (m.count == 0 || !(seconds > 0))
        BUG("usage: together [--tier NAME] [--as-nobody] SECONDS FOLDER-OR-FILE...");
    m.end_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
    for (unsigned i = 0; i < JUDGINGS; i++)
        if (pthread_create(&threads[i], NULL, work, &m) != 0)
            BUG("cannot start a thread");
    for (unsigned i = 0; i < JUDGINGS; i++)
        pthread_join(threads[i], NULL);
    unsigned honest = atomic_load(&m.honest), wrong = atomic_load(&m.wrong);
    snprintf(what, sizeof what, "%u honest and %u hostile judgings, four at a time for %g s",
             honest, atomic_load(&m.next) - honest, seconds);
    e2e_check(what, wrong               ? "some of them wrong, see above"
                    : honest < JUDGINGS ? "too few in that time to tell anything"
                                        : NULL);
    ring_close(&m.ring);
    return e2e_done();
}
