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
 * usage: bench_scan [ROUNDS [ROW]]; ROW: only that one, for perf. Exit status 1: over a limit. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 10000007, TILE = 1024, THREADS = 256, ROUNDS = 7, BLOCKS = (N + TILE - 1) / TILE };
/* As in look_back.ptx: a tile's items, and the bytes of its state. */
enum { LOOK_BACK_TILE = 1024, LOOK_BACK_TILES = (N + LOOK_BACK_TILE - 1) / LOOK_BACK_TILE };

#define LARGE_CHECKS (WIRE_CHECK_DEFAULT & ~WIRE_CHECK_GLOBAL_RACES)

struct row {
    const char *name;
    bool look_back;
    uint32_t checks, host_threads;
    uint64_t instructions;
    double cpu, wall; /* s, best so far */
};

struct bench {
    struct kit kit;
    uint64_t in, out, sums;
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

static void run_row(struct bench *b, struct row *r, const int *expected)
{
    struct wire_device_config c = {.checks = r->checks, .host_threads = r->host_threads};
    struct wire_counters counters;
    struct wire_finding f;
    vm_configure(b->kit.vm, &c);
    vm_mark_undefined(b->kit.vm, b->out, sizeof(int) * N);
    vm_mark_undefined(b->kit.vm, b->sums, sizeof(int) * BLOCKS);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    bool ok = three_steps(b);
    r->cpu = better(r->cpu, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    r->wall = better(r->wall, seconds(CLOCK_MONOTONIC) - wall);
    vm_counters(b->kit.vm, &counters);
    r->instructions = counters.value[COUNTER_warp_instructions];
    if (!ok || vm_findings(b->kit.vm, &f, 1)) {
        kit_print(&b->kit);
        exit(3);
    }
    if (memcmp(kit_bytes(&b->kit, b->out, sizeof(int) * N), expected, sizeof(int) * N) != 0) {
        fprintf(stderr, "%s: wrong result\n", r->name);
        exit(3);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    static struct row rows[] = {
        {.name = "bounds, 1 thread", .checks = WIRE_CHECK_BOUNDS, .host_threads = 1},
        {.name = "bounds, 2 threads", .checks = WIRE_CHECK_BOUNDS, .host_threads = 2},
        {.name = "default+counters, 1 thread",
         .checks = LARGE_CHECKS | WIRE_CHECK_COUNTERS,
         .host_threads = 1},
        {.name = "default+counters, 2 threads",
         .checks = LARGE_CHECKS | WIRE_CHECK_COUNTERS,
         .host_threads = 2},
        {.name = "default, 1 thread", .checks = LARGE_CHECKS, .host_threads = 1},
        {.name = "default, 2 threads", .checks = LARGE_CHECKS, .host_threads = 2},
        {.name = "default+global races, 1 thread", .checks = WIRE_CHECK_DEFAULT, .host_threads = 1},
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
    kit_open_file(&b.kit, "scan.ptx");
    b.in = kit_buffer(&b.kit, in, sizeof(int) * N, "in");
    b.out = kit_buffer(&b.kit, NULL, sizeof(int) * N, "out");
    b.sums = kit_buffer(&b.kit, NULL, sizeof(int) * BLOCKS, "sums");
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
    kit_close(&b.kit);
    free(in);
    free(out);
    return 0;
}
