/* The three kernels of a three-step scan over 10,000,007 ints on the machine, as a ratio to a plain
 * serial scan of the same array. Prints one line per set of checks; best of several runs each. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 10000007, TILE = 1024, THREADS = 256, RUNS = 7 };

/* This thread's own time: other programs on the machine do not count. */
static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t serial(const int *in, int *out)
{
    uint64_t best = UINT64_MAX;
    for (int run = 0; run < RUNS; run++) {
        uint64_t start = now_ns();
        unsigned sum = 0;
        for (int i = 0; i < N; i++) {
            out[i] = (int)sum;
            sum += (unsigned)in[i];
        }
        __asm__ volatile("" : : "r"(out) : "memory");
        uint64_t took = now_ns() - start;
        best = took < best ? took : best;
    }
    return best;
}

static uint64_t on_machine(const int *in, const int *expected, uint32_t checks, uint64_t *instrs)
{
    struct kit k;
    uint64_t best = UINT64_MAX, blocks = (N + TILE - 1) / TILE;
    kit_open_file(&k, "scan.ptx");
    kit_configure(&k, WIRE_IN_ORDER, checks, 0);
    uint64_t d_in = kit_buffer(&k, in, sizeof(int) * N, "in");
    uint64_t d_out = kit_buffer(&k, in, sizeof(int) * N, "out");
    uint64_t d_sums = kit_buffer(&k, NULL, sizeof(int) * blocks, "sums");
    for (int run = 0; run < RUNS; run++) {
        uint64_t start = now_ns();
        uint64_t a[] = {d_in, d_out, d_sums, N}, b[] = {d_sums, blocks}, c[] = {d_out, d_sums, N};
        if (kit_launch(&k, "scan_tiles", (uint32_t)blocks, THREADS, a, 4) != VM_OK ||
            kit_launch(&k, "scan_block_sums", 1, THREADS, b, 2) != VM_OK ||
            kit_launch(&k, "add_offsets", (uint32_t)blocks, THREADS, c, 3) != VM_OK) {
            kit_print(&k);
            exit(1);
        }
        uint64_t took = now_ns() - start;
        best = took < best ? took : best;
    }
    struct wire_counters counters;
    vm_counters(k.vm, &counters);
    *instrs = counters.value[COUNTER_warp_instructions] / RUNS;
    if (memcmp(kit_bytes(&k, d_out, sizeof(int) * N), expected, sizeof(int) * N) != 0) {
        fprintf(stderr, "wrong result\n");
        exit(1);
    }
    kit_print(&k);
    kit_close(&k);
    return best;
}

/* With an argument: only that set of checks (0, 1, 2), for perf. */
int main(int argc, char **argv)
{
    int *in = malloc(sizeof(int) * N), *out = malloc(sizeof(int) * N);
    if (!in || !out)
        return 1;
    for (int i = 0; i < N; i++)
        in[i] = (int)((unsigned)i * 2654435761u >> 28) % 10;
    memset(out, 0, sizeof(int) * N);
    uint64_t base = serial(in, out), instrs;
    printf("serial scan            %8.4f s\n", (double)base * 1e-9);
    static const struct {
        const char *name;
        uint32_t checks;
    } SETS[] = {
        {"bounds", WIRE_CHECK_BOUNDS},
        {"default checks", WIRE_CHECK_DEFAULT},
        {"default and counters", WIRE_CHECK_DEFAULT | WIRE_CHECK_COUNTERS},
    };
    for (size_t s = 0; s < sizeof SETS / sizeof *SETS; s++) {
        if (argc > 1 && s != (size_t)(argv[1][0] - '0'))
            continue;
        uint64_t ns = on_machine(in, out, SETS[s].checks, &instrs);
        printf("%-22s %8.4f s  %5.1f x  %.2f ns per warp instruction\n", SETS[s].name,
               (double)ns * 1e-9, (double)ns / (double)base, (double)ns / (double)instrs);
    }
    free(in);
    free(out);
    return 0;
}
