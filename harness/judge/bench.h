/* bench: how fast programs are against each other on one card: files that are handed in, every rung
 * of the problem's ladder of references, a plain copy, and rivals. */
#ifndef JUDGE_BENCH_H
#define JUDGE_BENCH_H

#include "judge/judge.h"
#include "judge/report/bench.h"

struct bench_call {
    const char *problem;
    const char *const *files; /* [file_count] submissions */
    unsigned file_count;
    const char *const *rivals; /* [rival_count] the same, but no rule of the exercise holds */
    unsigned rival_count;
    bool all_rungs; /* also rungs that are slow by design: serial.cu */
};

/* Compiles everything, takes the card, times. An entrant that does not compile or fails a timed
 * call is left out and says why. 0: `bench` is filled. -1: something of ours failed, or the
 * reference; *is_call tells whether the call was wrong instead (no such problem, no such file, no
 * benchmark in the spec). */
int bench_run(const struct judge_paths *paths, const struct bench_call *call,
              const struct judge_options *options, struct arena *arena, struct bench *bench,
              bool *is_call, struct err *e);

#endif
