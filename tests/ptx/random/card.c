/* card [OPTION...] FIRST COUNT [KERNEL...]: runs the batches FIRST to FIRST + COUNT - 1 on GPU 0
 * through the driver API and prints "BATCH KERNEL HASH" for every kernel, or for those named. A
 * kernel that the card ends is a line "BATCH KERNEL error-CODE", one without end "BATCH KERNEL
 * endless"; the next one gets a new process and context.
 *   --level N    how hard the driver's compiler tries: 0 to 4, without it as hard as it can
 *   --seconds N  what a launch may take, 10 without it
 *   --words      every word of the outputs instead of their hash, a thread's in a line
 * card --text BATCH prints the batch's PTX.
 * card [--seconds N] --reduce SECONDS BATCH KERNEL leaves out of a kernel what it can, in that
 * time, so that level 0 and the default still give different outputs, and prints what is left.
 * Needs libc and libcuda.so.1, nothing of CUDA's headers:
 * cc -O2 -std=gnu17 card.c program.c -ldl -o card */
#include "random.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int result;
typedef unsigned long long address;

enum { CU_JIT_OPTIMIZATION_LEVEL = 7, LEVEL_NONE = -1 };
enum { EXIT_KERNEL_FAILED = 3 };

static struct {
    result (*cuInit)(unsigned flags);
    result (*cuDeviceGet)(int *device, int ordinal);
    result (*cuDevicePrimaryCtxRetain)(void **context, int device);
    result (*cuCtxSetCurrent)(void *context);
    result (*cuModuleLoadDataEx)(void **module, const void *image, unsigned count, int *options,
                                 void **values);
    result (*cuModuleUnload)(void *module);
    result (*cuModuleGetFunction)(void **function, void *module, const char *name);
    result (*cuMemAlloc)(address *p, size_t bytes);
    result (*cuMemcpyHtoD)(address to, const void *from, size_t bytes);
    result (*cuMemcpyDtoH)(void *to, address from, size_t bytes);
    result (*cuMemsetD8)(address p, unsigned char value, size_t bytes);
    result (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                             void **extra);
    result (*cuCtxSynchronize)(void);
} cu;

static uint32_t in[RANDOM_ALL_THREADS * RANDOM_IN_WORDS],
    out[RANDOM_KERNELS][RANDOM_ALL_THREADS * RANDOM_OUT_WORDS];
static uint32_t start[RANDOM_COUNTERS], counters[RANDOM_KERNELS][RANDOM_COUNTERS];
static address in_at, out_at, counters_at;
static unsigned seconds = 10; /* that a launch may take */

static void must(result r, const char *what)
{
    if (r == 0)
        return;
    fflush(stdout);
    fprintf(stderr, "card: %s failed with error %d\n", what, r);
    exit(1);
}

static void *find(void *library, const char *name, const char *newer)
{
    void *f = newer ? dlsym(library, newer) : NULL;
    if (!f)
        f = dlsym(library, name);
    if (!f) {
        fprintf(stderr, "card: libcuda.so.1 has no %s\n", name);
        exit(1);
    }
    return f;
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device;
    if (!library) {
        fprintf(stderr, "card: %s\n", dlerror());
        exit(1);
    }
#define FIND(name, newer) *(void **)(void *)&cu.name = find(library, #name, newer)
    FIND(cuInit, NULL);
    FIND(cuDeviceGet, NULL);
    FIND(cuDevicePrimaryCtxRetain, NULL);
    FIND(cuCtxSetCurrent, NULL);
    FIND(cuModuleLoadDataEx, NULL);
    FIND(cuModuleUnload, NULL);
    FIND(cuModuleGetFunction, NULL);
    FIND(cuMemAlloc, "cuMemAlloc_v2");
    FIND(cuMemcpyHtoD, "cuMemcpyHtoD_v2");
    FIND(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
    FIND(cuMemsetD8, "cuMemsetD8_v2");
    FIND(cuLaunchKernel, NULL);
    FIND(cuCtxSynchronize, NULL);
#undef FIND
    must(cu.cuInit(0), "cuInit");
    must(cu.cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cu.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(cu.cuMemAlloc(&in_at, sizeof in), "cuMemAlloc");
    must(cu.cuMemAlloc(&out_at, sizeof out), "cuMemAlloc");
    must(cu.cuMemAlloc(&counters_at, sizeof counters), "cuMemAlloc");
}

static void copy_input(uint64_t batch)
{
    random_input(batch, in);
    random_counters(start);
    must(cu.cuMemcpyHtoD(in_at, in, sizeof in), "cuMemcpyHtoD");
}

/* What is asked for, and how far it is: the latter is shared with the parent. */
struct run {
    uint64_t first, count;
    char **kernels; /* none named: all */
    int named;
    int level;
    bool words;
};

struct progress {
    uint64_t batch;
    unsigned kernel;
    bool one_by_one; /* some kernel of this batch went wrong */
};

static bool wanted(const struct run *run, unsigned kernel)
{
    bool found = run->named == 0;
    for (int k = 0; k < run->named; k++)
        found |= strtoul(run->kernels[k], NULL, 10) == kernel;
    return found;
}

static void print_words(uint64_t batch, unsigned kernel, const uint32_t *words,
                        const uint32_t *counts)
{
    for (size_t t = 0; t < RANDOM_ALL_THREADS; t++) {
        printf("%" PRIu64 " %u thread %zu:", batch, kernel, t);
        for (size_t k = 0; k < RANDOM_OUT_WORDS; k++)
            printf(" %x", words[t * RANDOM_OUT_WORDS + k]);
        printf("\n");
    }
    printf("%" PRIu64 " %u counters:", batch, kernel);
    for (size_t k = 0; k < RANDOM_COUNTERS; k++)
        printf(" %x", counts[k]);
    printf("\n");
}

static void *load(const char *text, int level)
{
    void *module;
    int options[] = {CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {(void *)(intptr_t)level};
    must(cu.cuModuleLoadDataEx(&module, text, level == LEVEL_NONE ? 0 : 1, options, values),
         "cuModuleLoadDataEx");
    return module;
}

/* Runs kernels first to first + count - 1 of the module and fills their out and counters; an error
 * has cost the context. Few calls for many kernels: processes side by side take turns on the card.
 */
static result launch(void *module, unsigned first, unsigned count)
{
    for (unsigned k = first; k < first + count; k++)
        memcpy(counters[k], start, sizeof start);
    must(cu.cuMemsetD8(out_at, 0, count * sizeof *out), "cuMemsetD8");
    must(cu.cuMemcpyHtoD(counters_at, counters[first], count * sizeof *counters), "cuMemcpyHtoD");
    alarm(seconds);
    result r = 0;
    for (unsigned k = 0; k < count && r == 0; k++) {
        char name[16];
        address out_slot = out_at + k * sizeof *out;
        address counters_slot = counters_at + k * sizeof *counters;
        void *function, *params[] = {&in_at, &out_slot, &counters_slot};
        snprintf(name, sizeof name, "k%u", first + k);
        r = cu.cuModuleGetFunction(&function, module, name);
        if (r == 0)
            r = cu.cuLaunchKernel(function, RANDOM_BLOCKS, 1, 1, RANDOM_THREADS, 1, 1, 0, NULL,
                                  params, NULL);
    }
    if (r == 0)
        r = cu.cuCtxSynchronize();
    alarm(0);
    if (r != 0)
        return r;
    must(cu.cuMemcpyDtoH(out[first], out_at, count * sizeof *out), "cuMemcpyDtoH");
    must(cu.cuMemcpyDtoH(counters[first], counters_at, count * sizeof *counters), "cuMemcpyDtoH");
    return 0;
}

static void print_kernel(const struct run *run, uint64_t batch, unsigned k)
{
    if (run->words)
        print_words(batch, k, out[k], counters[k]);
    else
        printf("%" PRIu64 " %u %016" PRIx64 "\n", batch, k, random_hash(out[k], counters[k]));
}

static void run_one_by_one(const struct run *run, void *module, struct progress *at)
{
    for (; at->kernel < RANDOM_KERNELS; at->kernel++) {
        if (!wanted(run, at->kernel))
            continue;
        result r = launch(module, at->kernel, 1);
        if (r == 0)
            print_kernel(run, at->batch, at->kernel);
        else
            printf("%" PRIu64 " %u error-%d\n", at->batch, at->kernel, r);
        fflush(stdout);
        if (r != 0)
            _exit(EXIT_KERNEL_FAILED);
    }
}

static void run_batch(const struct run *run, struct progress *at)
{
    char *text = random_module(at->batch);
    if (!text) {
        fprintf(stderr, "card: out of memory\n");
        exit(1);
    }
    void *module = load(text, run->level);
    copy_input(at->batch);
    if (at->one_by_one || run->named) {
        run_one_by_one(run, module, at);
    } else {
        if (launch(module, 0, RANDOM_KERNELS) != 0)
            _exit(EXIT_KERNEL_FAILED);
        for (unsigned k = 0; k < RANDOM_KERNELS; k++)
            print_kernel(run, at->batch, k);
        fflush(stdout);
    }
    must(cu.cuModuleUnload(module), "cuModuleUnload");
    free(text);
}

/* From where `at` stands to the end, in this process. */
static void run_rest(const struct run *run, struct progress *at)
{
    open_driver();
    for (; at->batch < run->first + run->count; at->batch++) {
        run_batch(run, at);
        at->kernel = 0;
        at->one_by_one = false;
    }
}

/* Child after child, each behind the kernel that ended the one before. */
static int run_all(const struct run *run)
{
    struct progress *at =
        mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("card: mmap");
        return 1;
    }
    *at = (struct progress){.batch = run->first, .one_by_one = run->named > 0};
    while (at->batch < run->first + run->count) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            run_rest(run, at);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0) {
            perror("card: fork");
            return 1;
        }
        bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        if (!endless && (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_KERNEL_FAILED))
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        if (at->one_by_one) {
            if (endless)
                printf("%" PRIu64 " %u endless\n", at->batch, at->kernel);
            fflush(stdout);
            at->kernel++;
        }
        at->one_by_one = true;
    }
    return 0;
}

/* ---- making a kernel smaller ---- */

/* Shared with the parent: a kernel that the card ends takes the process with it. */
struct reduction {
    uint64_t batch;
    unsigned kernel, statements;
    time_t end;
    bool skip[RANDOM_STATEMENTS], trial[RANDOM_STATEMENTS];
    unsigned chunk, at; /* trial: statements at to at + chunk - 1 left out too */
    bool smaller;       /* something went in this round */
    enum { TRYING_NOTHING, AT_LEVEL_0, AT_DEFAULT } state;
};

/* Do the outputs of the two levels differ? */
static bool differs(struct reduction *r, const bool *skip)
{
    unsigned statements;
    char *text = random_kernel(r->batch, r->kernel, skip, &statements);
    bool different = false;
    uint64_t hash = 0;
    for (int k = 0; k < 2 && text; k++) {
        void *module = load(text, k == 0 ? 0 : LEVEL_NONE);
        r->state = k == 0 ? AT_LEVEL_0 : AT_DEFAULT;
        if (launch(module, r->kernel, 1) != 0)
            _exit(EXIT_KERNEL_FAILED);
        r->state = TRYING_NOTHING;
        uint64_t now = random_hash(out[r->kernel], counters[r->kernel]);
        different = k == 1 && now != hash;
        hash = now;
        must(cu.cuModuleUnload(module), "cuModuleUnload");
    }
    free(text);
    return different;
}

static void accept(struct reduction *r)
{
    memcpy(r->skip, r->trial, sizeof r->skip);
    r->smaller = true;
}

static void reduce_on(struct reduction *r)
{
    open_driver();
    copy_input(r->batch);
    while (r->chunk > 0) {
        for (; r->at < r->statements && time(NULL) < r->end; r->at += r->chunk) {
            bool any = false;
            memcpy(r->trial, r->skip, sizeof r->trial);
            for (unsigned k = r->at; k < r->at + r->chunk && k < r->statements; k++) {
                any |= !r->trial[k];
                r->trial[k] = true;
            }
            if (any && differs(r, r->trial))
                accept(r);
        }
        r->chunk = r->chunk == 1 && r->smaller && time(NULL) < r->end ? 1 : r->chunk / 2;
        r->at = 0;
        r->smaller = false;
    }
}

static int reduce(char **words)
{
    struct reduction *r =
        mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED) {
        perror("card: mmap");
        return 1;
    }
    r->end = time(NULL) + atoi(words[0]);
    r->batch = strtoull(words[1], NULL, 10);
    r->kernel = (unsigned)strtoul(words[2], NULL, 10);
    free(random_kernel(r->batch, r->kernel, NULL, &r->statements));
    for (r->chunk = 32; r->chunk > 0;) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            reduce_on(r);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 || r->state == TRYING_NOTHING)
            break; /* done, or no driver */
        if (r->state == AT_DEFAULT)
            accept(r);
        r->state = TRYING_NOTHING;
        r->at += r->chunk;
    }
    char *text = random_kernel(r->batch, r->kernel, r->skip, &r->statements);
    printf("// batch %" PRIu64 " kernel %u\n%s", r->batch, r->kernel, text ? text : "");
    free(text);
    return 0;
}

static int print_text(const char *batch)
{
    char *text = random_module(strtoull(batch, NULL, 10));
    fputs(text ? text : "", stdout);
    free(text);
    return text ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct run run = {.level = LEVEL_NONE};
    int k = 1;
    if (argc == 3 && strcmp(argv[1], "--text") == 0)
        return print_text(argv[2]);
    for (; k < argc && strncmp(argv[k], "--", 2) == 0; k++) {
        if (strcmp(argv[k], "--words") == 0)
            run.words = true;
        else if (strcmp(argv[k], "--level") == 0 && k + 1 < argc)
            run.level = atoi(argv[++k]);
        else if (strcmp(argv[k], "--seconds") == 0 && k + 1 < argc)
            seconds = (unsigned)atoi(argv[++k]);
        else if (strcmp(argv[k], "--reduce") == 0 && k + 4 == argc)
            return reduce(argv + k + 1);
        else
            argc = 0;
    }
    if (argc < k + 2) {
        fprintf(
            stderr,
            "usage: card [--level N] [--seconds N] [--words] FIRST COUNT [KERNEL...]\n"
            "       card --text BATCH\n       card [--seconds N] --reduce SECONDS BATCH KERNEL\n");
        return 2;
    }
    run.first = strtoull(argv[k], NULL, 10);
    run.count = strtoull(argv[k + 1], NULL, 10);
    run.kernels = argv + k + 2;
    run.named = argc - k - 2;
    return run_all(&run);
}
