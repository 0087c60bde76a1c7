/* attacks [--tier namespaces|landlock] [--finds namespaces|landlock] [--as-nobody] [--card]
 *         [--repeat N] FOLDER-OR-FILE...
 *
 * Judges each attack, and an honest submission after it. The attack must get one of the verdicts of
 * its label, within its limit and a second, must not report a breach, and must leave nothing behind
 * (traces.h); the honest one must get its own verdict as if nothing had been. */
#include "check.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one attack ---- */

static void attack_once(const struct ring *ring, const struct attack *attack, const char *file,
                        struct text *why)
{
    for (unsigned i = 0; i < attack->judgings && !why->length; i++) {
        struct e2e_run run;
        ring_judge(ring, attack->problem, file, attack->options, &run);
        ring_check_tier(ring, &run, why);
        check_report(ring, attack, &run, why);
        e2e_run_release(&run);
    }
}

static void attack_file(struct ring *ring, const char *path, unsigned repeats)
{
    struct arena arena;
    struct attack attack;
    struct text why;
    struct err e;
    const char *file = NULL;
    unsigned round = 0;
    arena_init(&arena);
    text_init(&why);
    if (source_read(path, &ring->places, &arena, &attack, &e) != 0 ||
        !(file = ring_put(ring, attack.as, attack.text, &arena, &e)))
        text_add(&why, e.text);
    for (; round < repeats && !why.length; round++) {
        attack_once(ring, &attack, file, &why);
        traces_look(&ring->traces, &why);
        ring_judge_honest(ring, &why);
    }
    if (why.length && repeats > 1)
        text_addf(&why, "in round %u\n", round);
    e2e_check(attack.name, text_str(&why));
    text_release(&why);
    arena_release(&arena);
}

static void attack_all(struct ring *ring, const char *path, unsigned repeats)
{
    struct text pattern;
    glob_t found;
    if (!file_is_dir(path)) {
        attack_file(ring, path, repeats);
        return;
    }
    text_init(&pattern);
    text_addf(&pattern, "%s/*.cu", path);
    if (glob(text_str(&pattern), 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            attack_file(ring, found.gl_pathv[i], repeats);
        globfree(&found);
    }
    text_release(&pattern);
}

int main(int argc, char **argv)
{
    struct ring ring;
    unsigned repeats = 1;
    int at = ring_open(&ring, argc, argv);
    if (at + 1 < argc && strcmp(argv[at], "--repeat") == 0) {
        repeats = (unsigned)strtoul(argv[at + 1], NULL, 10);
        at += 2;
    }
    for (; at < argc; at++)
        attack_all(&ring, argv[at], repeats);
    ring_close(&ring);
    return e2e_done();
}
