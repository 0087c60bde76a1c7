/* The speed that the project promises, as ratios from one run:
 *   - the three kernels of a three-step scan over 10,000,007 ints on the CPU device, one thread,
 *     against the plain serial C scan of the same array: the default checks of a case that large
 *     (without races on global memory), bounds only; tests/cpu/vm/bench_scan.c has the rest of it;
 *   - a whole `judge run` with nothing cached for the submission against bare nvcc of that file;
 *   - a second `judge run` of the same file, in seconds and against the same.
 * The parts take turns, and each figure is the median of its rounds: these machines are noisy.
 * usage: bench_judge SOURCE_ROOT BUILD_ROOT [ROUNDS] */
#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/rng.h"
#include "wire/wire.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10000007, ROUNDS_MOST = 25, SKIPPED = 77 };

typedef void entry_function(const int *, int *, int, void *, size_t, void *);

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct samples {
    double value[ROUNDS_MOST];
    int count;
};

static void add(struct samples *s, uint64_t ns)
{
    s->value[s->count++] = (double)ns * 1e-9;
}

static double median(struct samples *s)
{
    qsort(s->value, (size_t)s->count, sizeof s->value[0], compare_doubles);
    return s->value[s->count / 2];
}

/* Runs a command without output; its wall time, 0 if it failed. */
static uint64_t timed(const char *const *argv, const char *const *environment)
{
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct proc_end end;
    struct text out, errors;
    struct err e;
    text_init(&out);
    text_init(&errors);
    int status = proc_run(&spec, 600000000000u, 1 << 20, &out, &errors, &end, &e);
    bool ok = status == 0 && end.how == PROC_EXITED && end.code == 0;
    if (!ok)
        fprintf(stderr, "%s failed: %s%s%s\n", argv[0], status ? e.text : "", text_str(&out),
                text_str(&errors));
    text_release(&out);
    text_release(&errors);
    return ok ? end.wall_ns : 0;
}

__attribute__((noinline)) static void serial_scan(const int *in, int *out, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = (int)sum;
        sum += (unsigned)in[i];
    }
}

struct device {
    entry_function *entry;
    const struct wire_device_hooks *hooks;
    int (*malloc)(void **, size_t);
    int (*copy)(void *, const void *, size_t, int);
    int (*synchronize)(void);
};

static int device_open(struct device *d, const char *build, const char *library)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib/libcudart.so.13", build);
    void *cudart = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *submission = cudart ? dlopen(library, RTLD_NOW) : NULL;
    if (!submission) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    wire_hooks_function hooks;
    *(void **)&hooks = dlsym(cudart, WIRE_HOOKS_SYMBOL);
    *(void **)&d->malloc = dlsym(cudart, "cudaMalloc");
    *(void **)&d->copy = dlsym(cudart, "cudaMemcpy");
    *(void **)&d->synchronize = dlsym(cudart, "cudaDeviceSynchronize");
    *(void **)&d->entry = dlsym(submission, "exclusive_scan");
    if (!hooks || !d->malloc || !d->copy || !d->synchronize || !d->entry)
        return -1;
    d->hooks = hooks();
    return 0;
}

/* The wall time of one call of the entry, kernels only. */
static uint64_t scan_on_device(struct device *d, uint32_t checks, const int *in, int *out,
                               const int *expected)
{
    void *d_in, *d_out, *workspace;
    size_t bytes = (size_t)N * sizeof(int), scratch = 4 * ((size_t)N / 256 + 1) + 1024;
    struct wire_device_config config = {.checks = checks, .host_threads = 1};
    d->hooks->configure(&config);
    if (d->malloc(&d_in, bytes) || d->malloc(&d_out, bytes) || d->malloc(&workspace, scratch) ||
        d->copy(d_in, in, bytes, 1))
        return 0;
    memset(out, 0, bytes);
    uint64_t start = clock_now_ns();
    d->entry(d_in, d_out, N, workspace, scratch, NULL);
    int status = d->synchronize();
    uint64_t wall = clock_now_ns() - start;
    if (status || d->copy(out, d_out, bytes, 2) || memcmp(out, expected, bytes) != 0) {
        fprintf(stderr, "the CPU device's answer is wrong (status %d)\n", status);
        return 0;
    }
    int (*release)(void *);
    *(void **)&release = dlsym(RTLD_DEFAULT, "cudaFree");
    release(d_in);
    release(d_out);
    release(workspace);
    return wall;
}

static int bench_device(const char *build, const char *library, int rounds)
{
    struct device d;
    if (device_open(&d, build, library) != 0)
        return -1;
    int *in = malloc(N * sizeof *in), *expected = malloc(N * sizeof *in),
        *out = malloc(N * sizeof *in);
    if (!in || !expected || !out)
        BUG("out of memory");
    for (uint64_t i = 0; i < N; i++)
        in[i] = (int)rng_below(7, i, 10);
    serial_scan(in, expected, N); /* touches the pages */
    struct samples serial = {0}, all = {0}, bounds = {0};
    for (int r = 0; r < rounds; r++) {
        uint64_t start = clock_now_ns();
        serial_scan(in, expected, N);
        add(&serial, clock_now_ns() - start);
        uint64_t t =
            scan_on_device(&d, WIRE_CHECK_DEFAULT & ~WIRE_CHECK_GLOBAL_RACES, in, out, expected);
        uint64_t u = scan_on_device(&d, WIRE_CHECK_BOUNDS, in, out, expected);
        if (!t || !u)
            return -1;
        add(&all, t);
        add(&bounds, u);
    }
    double s = median(&serial), a = median(&all), b = median(&bounds);
    printf("serial C scan of %d ints           %8.4f s\n", N, s);
    printf("three kernels, all default checks        %8.4f s   %5.1f x serial (at most 24)\n", a,
           a / s);
    printf("three kernels, bounds only               %8.4f s   %5.1f x serial (at most 13)\n", b,
           b / s);
    free(in);
    free(out);
    free(expected);
    return 0;
}

static int bench_judge(const char *root, const char *build, const char *nvcc, const char *source,
                       const char *temp, int rounds)
{
    char judge[4200], cache[4200], env_cache[4300], env_root[4200], env_path[8300], bare[4200];
    snprintf(judge, sizeof judge, "%s/bin/judge", build);
    snprintf(cache, sizeof cache, "%s/cache", temp);
    snprintf(bare, sizeof bare, "%s/bare.so", temp);
    snprintf(env_cache, sizeof env_cache, "SCANJUDGE_CACHE=%s", cache);
    snprintf(env_root, sizeof env_root, "SCANJUDGE_ROOT=%s", root);
    snprintf(env_path, sizeof env_path, "PATH=%s", getenv("PATH"));
    const char *environment[] = {env_cache, env_root, env_path, NULL};
    const char *compile[] = {nvcc,   "-O3", "-shared", "-Xcompiler", "-fPIC",
                             source, "-o",  bare,      NULL};
    /* Its cases are drawn from the seed: one for all, else they are not the same work. */
    const char *run[] = {judge, "run", "multi-block-scan", source, "--seed", "7", NULL};
    const char *open[] = {judge,         "run",  "multi-block-scan",    source, "--seed", "7",
                          "--isolation", "none", "--allow-unsandboxed", NULL};
    struct samples first = {0}, second = {0}, plain = {0}, first_open = {0}, second_open = {0};
    struct err e;
    for (int r = 0; r < rounds; r++) {
        uint64_t t = timed(compile, environment);
        if (file_remove_tree(cache, &e) != 0)
            return -1;
        uint64_t u = timed(run, environment), v = timed(run, environment);
        if (file_remove_tree(cache, &e) != 0)
            return -1;
        uint64_t x = timed(open, environment), y = timed(open, environment);
        if (!t || !u || !v || !x || !y)
            return -1;
        add(&first_open, x);
        add(&second_open, y);
        add(&plain, t);
        add(&first, u);
        add(&second, v);
    }
    double p = median(&plain), f = median(&first), s = median(&second);
    printf("bare nvcc -O3 -shared                    %8.3f s\n", p);
    printf("judge run, nothing cached                %8.3f s   %5.2f x nvcc (at most 1.3)\n", f,
           f / p);
    /* The limit is meant for a machine whose nvcc takes 0.85 s: a third of that. */
    printf(
        "judge run again                          %8.3f s   %5.2f x nvcc (at most 0.3 s, 0.35)\n",
        s, s / p);
    double more = f - median(&first_open), more_again = s - median(&second_open);
    printf("more than without isolation              %8.1f ms, again %.1f ms (at most 25 ms)\n",
           more * 1e3, more_again * 1e3);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench_judge SOURCE_ROOT BUILD_ROOT [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 3 ? atoi(argv[3]) : 7;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MOST ? ROUNDS_MOST : rounds;
    const char *nvcc = "/usr/local/cuda/bin/nvcc", *home = getenv("CUDA_HOME");
    char in_home[4096], temp[4096], source[4096], library[4096 + 16];
    snprintf(in_home, sizeof in_home, "%s/bin/nvcc", home ? home : "");
    if (home && file_exists(in_home))
        nvcc = in_home;
    if (!file_exists(nvcc)) {
        printf("skipped: nvcc is not installed\n");
        return SKIPPED;
    }
    struct err e;
    if (file_make_temp_dir(temp, sizeof temp, "sj-bench", &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return 3;
    }
    snprintf(source, sizeof source, "%s/submissions/multi-block-scan/accepted/three_kernels.cu",
             argv[1]);
    snprintf(library, sizeof library, "%s/scan.so", temp);
    const char *compile[] = {
        nvcc,      "-O3",    "-shared",   "-Xcompiler", "-fPIC",
        "-cudart", "shared", "-lineinfo", "-gencode",   "arch=compute_75,code=compute_75",
        source,    "-o",     library,     NULL};
    char env_path[8300];
    snprintf(env_path, sizeof env_path, "PATH=%s", getenv("PATH"));
    const char *environment[] = {env_path, NULL};
    int status = 1;
    if (timed(compile, environment) && bench_device(argv[2], library, rounds) == 0 &&
        bench_judge(argv[1], argv[2], nvcc, source, temp, rounds) == 0)
        status = 0;
    file_remove_tree(temp, &e);
    return status;
}
