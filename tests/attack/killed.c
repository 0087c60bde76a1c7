/* killed [--tier NAME] [--as-nobody] [--repeat N]
 *
 * The judge itself is killed with SIGKILL, or told to end, while it compiles and while it runs
 * something that would outlive it: at many moments, since each finds another part set up. Nothing
 * of it may be left two seconds later, and the next judging is right. */
#include "ring.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct moment {
    const char *what, *file; /* below tests/attack */
    const char *signal, *seconds;
    bool compiles; /* something new, so that there is a compiler to kill */
} MOMENTS[] = {
    {"killed as it begins", "consuming/sleeps.cu", "KILL", "0.02", false},
    {"killed while a box is opened", "consuming/sleeps.cu", "KILL", "0.08", false},
    {"killed while it runs", "consuming/sleeps.cu", "KILL", "0.4", false},
    {"killed beside processes with sessions of their own", "consuming/outlives.cu", "KILL", "0.15",
     false},
    {"killed beside processes that ignore signals", "consuming/ignores_signals.cu", "KILL", "0.6",
     false},
    {"killed beside threads", "consuming/threads_64.cu", "KILL", "0.3", false},
    {"killed while it compiles", "honest/right.cu", "KILL", "0.2", true},
    {"killed later while it compiles", "honest/right.cu", "KILL", "0.6", true},
    {"told to end while it runs", "consuming/ignores_signals.cu", "TERM", "0.4", false},
    {"interrupted while it runs", "consuming/outlives_and_ignores.cu", "INT", "0.3", false},
    {"told to end while it compiles", "honest/right.cu", "TERM", "0.4", true},
};

/* Runs the judge under timeout(1), which signals it and nobody else. */
static void kill_it(const struct ring *ring, const struct moment *m, const char *problem,
                    const char *file)
{
    const char *before[E2E_BEFORE_MAX] = {"/usr/bin/timeout", "--foreground", "-s", m->signal,
                                          m->seconds};
    unsigned count = 5;
    for (unsigned i = 0; ring->before && ring->before[i]; i++)
        before[count++] = ring->before[i];
    struct ring killed = *ring;
    struct e2e_run run;
    killed.before = before;
    ring_judge(&killed, problem, file, NULL, &run);
    e2e_run_release(&run);
}

static void try_moment(struct ring *ring, const struct moment *m, unsigned repeats)
{
    struct arena arena;
    struct attack attack;
    struct text why;
    struct err e;
    unsigned round = 0;
    arena_init(&arena);
    text_init(&why);
    const char *path = arena_printf(&arena, "%s/../%s", ring->places.root, m->file);
    if (source_read(path, &ring->places, &arena, &attack, &e) != 0)
        text_add(&why, e.text);
    for (; round < repeats && !why.length; round++) {
        const char *text = attack.text;
        if (m->compiles)
            text = arena_printf(&arena, "%s\n// %s %s %u of process %s\n", text, m->signal,
                                m->seconds, round, ring->socket_name);
        const char *file = ring_put(ring, "killed.cu", text, &arena, &e);
        if (!file) {
            text_add(&why, e.text);
            break;
        }
        if (!m->compiles && round == 0) { /* so that it has been compiled */
            struct e2e_run run;
            ring_judge(ring, attack.problem, file, "--first-failure", &run);
            e2e_run_release(&run);
        }
        kill_it(ring, m, attack.problem, file);
        traces_look(&ring->traces, &why);
        ring_judge_honest(ring, &why);
    }
    if (why.length && repeats > 1)
        text_addf(&why, "in round %u\n", round);
    e2e_check(m->what, text_str(&why));
    text_release(&why);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct ring ring;
    int at = ring_open(&ring, argc, argv);
    bool repeated = at + 1 < argc && strcmp(argv[at], "--repeat") == 0;
    unsigned repeats = repeated ? (unsigned)strtoul(argv[at + 1], NULL, 10) : 1;
    if (!file_exists("/usr/bin/timeout"))
        BUG("there is no timeout(1) here, which is part of coreutils");
    for (size_t i = 0; i < sizeof MOMENTS / sizeof MOMENTS[0]; i++)
        try_moment(&ring, &MOMENTS[i], repeats);
    ring_close(&ring);
    return e2e_done();
}
