/* What issue 3 promises of the machine's speed, as ratios from one run over 10,000,007 ints:
 *   - the three kernels of a three-step scan against the plain serial C scan, on one host thread,
 *     with bounds checks only and with all default checks and counters;
 *   - the same on two host threads against one;
 *   - a single-pass scan with look-back against the three-step scan, on one thread and on two.
 * "default checks" are here those that cases of this size get: the race checks of global memory are
 * for up to a million elements (and for one host thread), so they are measured on a line of their
 * own without a limit.
 *
 * The parts take turns, and each figure is the best of its rounds: these machines are noisy. With
 * one thread, its own processor time counts, and other programs do not; with two, the clock on the
 * wall does, so the machine has to be quiet.
 * usage: bench_scan [ROUNDS [ROW]]; ROW: only that one, for perf.
 * Exit status 1: over a limit, told from three rounds on. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 10000007, TILE = 1024, THREADS = 256, ROUNDS = 7, BLOCKS = (N + TILE - 1) / TILE };
enum { LOOK_BACK_TILE = 2048, LOOK_BACK_TILES = (N + LOOK_BACK_TILE - 1) / LOOK_BACK_TILE };
enum { JUDGED_FROM_ROUNDS = 3 };

#define LARGE_CHECKS (WIRE_CHECK_DEFAULT & ~WIRE_CHECK_GLOBAL_RACES)

struct row {
    const char *name;
    bool look_back;
    uint32_t checks, host_threads;
    double most; /* times the serial scan's processor time; 0 = no limit */
    uint64_t instructions;
    double cpu, wall; /* s, best so far */
};

struct bench {
    struct kit kit, look_back;
    uint64_t in, out, sums;             /* of the three-step scan */
    uint64_t in2, out2, states, ticket; /* of the other */
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double better(double best, double now)
{
    return best == 0 || now < best ? now : best;
}

static double serial(const int *in, int *out)
{
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    unsigned sum = 0;
    for (int i = 0; i < N; i++) {
        out[i] = (int)sum;
        sum += (unsigned)in[i];
    }
    __asm__ volatile("" : : "r"(out) : "memory");
    return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

static bool three_steps(struct bench *b)
{
    uint64_t tiles[] = {b->in, b->out, b->sums, N}, sums[] = {b->sums, BLOCKS},
             add[] = {b->out, b->sums, N};
    return kit_launch(&b->kit, "scan_tiles", BLOCKS, THREADS, tiles, 4) == VM_OK &&
           kit_launch(&b->kit, "scan_block_sums", 1, THREADS, sums, 2) == VM_OK &&
           kit_launch(&b->kit, "add_offsets", BLOCKS, THREADS, add, 3) == VM_OK;
}

static bool look_back(struct bench *b)
{
    uint64_t args[] = {b->in2, b->out2, b->states, b->ticket, N};
    return kit_launch(&b->look_back, "scan_look_back", LOOK_BACK_TILES, THREADS, args, 5) == VM_OK;
}

static void run_row(struct bench *b, struct row *r, const int *expected)
{
    struct wire_device_config c = {.checks = r->checks, .host_threads = r->host_threads};
    struct kit *k = r->look_back ? &b->look_back : &b->kit;
    const uint64_t out = r->look_back ? b->out2 : b->out;
    struct wire_counters counters;
    struct wire_finding f;
    vm_configure(k->vm, &c);
    vm_mark_undefined(k->vm, out, sizeof(int) * N);
    memset(kit_bytes(&b->look_back, b->states, 8 * LOOK_BACK_TILES), 0, 8 * LOOK_BACK_TILES);
    memset(kit_bytes(&b->look_back, b->ticket, 4), 0, 4);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    bool ok = r->look_back ? look_back(b) : three_steps(b);
    r->cpu = better(r->cpu, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    r->wall = better(r->wall, seconds(CLOCK_MONOTONIC) - wall);
    vm_counters(k->vm, &counters);
    r->instructions = counters.value[COUNTER_warp_instructions];
    if (!ok || vm_findings(k->vm, &f, 1)) {
        kit_print(k);
        exit(3);
    }
    if (memcmp(kit_bytes(k, out, sizeof(int) * N), expected, sizeof(int) * N) != 0) {
        fprintf(stderr, "%s: wrong result\n", r->name);
        exit(3);
    }
}

static void open_bench(struct bench *b, const int *in)
{
    static uint64_t zeros[LOOK_BACK_TILES];
    kit_open_file(&b->kit, "scan.ptx");
    b->in = kit_buffer(&b->kit, in, sizeof(int) * N, "in");
    b->out = kit_buffer(&b->kit, NULL, sizeof(int) * N, "out");
    b->sums = kit_buffer(&b->kit, NULL, sizeof(int) * BLOCKS, "sums");
    kit_open_file(&b->look_back, "crew.ptx");
    b->in2 = kit_buffer(&b->look_back, in, sizeof(int) * N, "in");
    b->out2 = kit_buffer(&b->look_back, NULL, sizeof(int) * N, "out");
    b->states = kit_buffer(&b->look_back, zeros, sizeof zeros, "states");
    b->ticket = kit_buffer(&b->look_back, zeros, 4, "ticket");
}

/* ---- what was promised ---- */

enum {
    BOUNDS_1,
    BOUNDS_2,
    ALL_1,
    ALL_2,
    DEFAULT_1,
    DEFAULT_2,
    BACK_1,
    BACK_2,
    GLOBAL_1,
    ROW_COUNT
};

static bool kept(const char *what, double is, const char *word, double limit, bool good, bool known)
{
    printf("%-58s %6.2f (%s %g)%s\n", what, is, word, limit,
           !known ? "  not judged: the machine is busy"
           : good ? ""
                  : "  NOT KEPT");
    return good || !known;
}

static bool judge(const struct row *rows, double base)
{
    /* Others who run take part of the wall time; then it says nothing about two threads. */
    bool quiet = rows[BOUNDS_1].wall < 1.1 * rows[BOUNDS_1].cpu;
    bool good = true;
    for (int k = 0; k < ROW_COUNT; k++)
        if (rows[k].most > 0)
            good &= kept(rows[k].name, rows[k].cpu / base, "times serial, at most", rows[k].most,
                         rows[k].cpu <= rows[k].most * base, true);
    double bounds = rows[BOUNDS_1].wall / rows[BOUNDS_2].wall;
    double all = rows[DEFAULT_1].wall / rows[DEFAULT_2].wall;
    double back_1 = rows[BACK_1].cpu / rows[BOUNDS_1].cpu;
    double back_2 = rows[BACK_2].wall / rows[BOUNDS_2].wall;
    good &= kept("2 threads, bounds: faster than 1", bounds, "at least", 1.8, bounds >= 1.8, quiet);
    good &=
        kept("2 threads, default checks: faster than 1", all, "at least", 1.8, all >= 1.8, quiet);
    good &= kept("look-back / three steps, 1 thread", back_1, "at most", 1, back_1 <= 1, true);
    good &= kept("look-back / three steps, 2 threads", back_2, "at most", 1, back_2 <= 1, quiet);
    return good;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    static struct row rows[ROW_COUNT] = {
        [BOUNDS_1] = {.name = "bounds, 1 thread",
                      .checks = WIRE_CHECK_BOUNDS,
                      .host_threads = 1,
                      .most = 13},
        [BOUNDS_2] = {.name = "bounds, 2 threads", .checks = WIRE_CHECK_BOUNDS, .host_threads = 2},
        [ALL_1] = {.name = "default and counters, 1 thread",
                   .checks = LARGE_CHECKS | WIRE_CHECK_COUNTERS,
                   .host_threads = 1,
                   .most = 24},
        [ALL_2] = {.name = "default and counters, 2 threads",
                   .checks = LARGE_CHECKS | WIRE_CHECK_COUNTERS,
                   .host_threads = 2},
        [DEFAULT_1] = {.name = "default, 1 thread", .checks = LARGE_CHECKS, .host_threads = 1},
        [DEFAULT_2] = {.name = "default, 2 threads", .checks = LARGE_CHECKS, .host_threads = 2},
        [BACK_1] = {.name = "look-back, bounds, 1 thread",
                    .look_back = true,
                    .checks = WIRE_CHECK_BOUNDS,
                    .host_threads = 1},
        [BACK_2] = {.name = "look-back, bounds, 2 threads",
                    .look_back = true,
                    .checks = WIRE_CHECK_BOUNDS,
                    .host_threads = 2},
        [GLOBAL_1] = {.name = "default and global races, 1 thread",
                      .checks = WIRE_CHECK_DEFAULT,
                      .host_threads = 1},
    };
    const size_t count = sizeof rows / sizeof *rows;
    const size_t only = argc > 2 ? (size_t)atoi(argv[2]) : count;
    int *in = malloc(sizeof(int) * N), *out = malloc(sizeof(int) * N);
    if (!in || !out)
        return 3;
    for (int i = 0; i < N; i++)
        in[i] = (int)((unsigned)i * 2654435761u >> 28) % 10;
    memset(out, 0, sizeof(int) * N);
    struct bench b;
    open_bench(&b, in);
    double base = 0;
    for (int round = 0; round < rounds; round++) {
        for (int again = 0; again < 3; again++)
            base = better(base, serial(in, out));
        for (size_t k = 0; k < count; k++)
            if (only == count || k == only)
                run_row(&b, &rows[k], out);
    }
    printf("serial C scan of %d ints         %8.4f s\n", N, base);
    for (size_t k = 0; k < count; k++)
        if (only == count || k == only)
            printf("%-30s cpu %8.4f s %5.1f x   wall %8.4f s %5.1f x  %.2f ns/warp instruction\n",
                   rows[k].name, rows[k].cpu, rows[k].cpu / base, rows[k].wall, rows[k].wall / base,
                   rows[k].cpu / (double)rows[k].instructions * 1e9);
    bool good = only != count || rounds < JUDGED_FROM_ROUNDS || judge(rows, base);
    kit_close(&b.kit);
    kit_close(&b.look_back);
    free(in);
    free(out);
    return good ? 0 : 1;
}
