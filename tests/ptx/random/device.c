/* ptx_random [--quick] FIRST COUNT [FILE]: runs the batches FIRST to FIRST + COUNT - 1 on the CPU
 * device, with every set of handlers that this processor has and under every schedule, which must
 * all give the same outputs and no finding. Prints "BATCH KERNEL HASH" for every kernel; with FILE,
 * what card.c printed on a GPU, compares instead: a kernel that the card ended with an error
 * differs, one that the file does not have is missing. --quick: the best set, in order, alone. */
#include "random.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "cpu/ptx/ptx.h"
#include "cpu/vm/engine.h"
#include "cpu/vm/vm.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IN_BYTES = RANDOM_ALL_THREADS * RANDOM_IN_WORDS * 4,
    OUT_BYTES = RANDOM_ALL_THREADS * RANDOM_OUT_WORDS * 4,
    COUNTER_BYTES = RANDOM_COUNTERS * 4,
    STEP_LIMIT = 20000000
};

struct set {
    const char *name;
    const struct vm_exec *exec;
};

static size_t find_sets(struct set sets[4])
{
    size_t n = 0;
#if defined(__x86_64__)
    sets[n++] = (struct set){"v2", &vm_exec_v2};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets[n++] = (struct set){"v3", &vm_exec_v3};
    if (vm_exec_choose() == &vm_exec_v4)
        sets[n++] = (struct set){"v4", &vm_exec_v4};
#else
    sets[n++] = (struct set){"generic", &vm_exec_generic};
#endif
    return n;
}

struct job {
    const char *set;
    uint64_t batch;
    struct vm *vm;
    struct vm_module *module;
    uint64_t in, out, counters; /* device addresses */
    unsigned complaints;
};

static void complain(struct job *j, unsigned kernel, const char *schedule, const char *what)
{
    if (j->complaints++ < 10)
        fprintf(stderr, "batch %" PRIu64 ", k%u (%s, %s): %s\n", j->batch, kernel, j->set, schedule,
                what);
}

/* The host's side of device memory, which counts as written from now on. */
static uint32_t *words_of(struct job *j, uint64_t address, uint64_t bytes)
{
    vm_mark_defined(j->vm, address, bytes);
    return (uint32_t *)(void *)vm_bytes(j->vm, address, bytes);
}

/* The hash of one run; complains about whatever goes wrong. */
static uint64_t run_kernel(struct job *j, unsigned kernel, enum wire_schedule schedule)
{
    char name[16];
    const uint64_t params[] = {j->in, j->out, j->counters};
    struct vm_launch launch = {
        .grid = {RANDOM_BLOCKS, 1, 1}, .block = {RANDOM_THREADS, 1, 1}, .params = params};
    struct wire_device_config config = {.schedule = (uint32_t)schedule,
                                        .checks = WIRE_CHECK_DEFAULT,
                                        .schedule_seed = j->batch + 1,
                                        .step_limit = STEP_LIMIT};
    uint32_t *out = words_of(j, j->out, OUT_BYTES);
    uint32_t *counters = words_of(j, j->counters, COUNTER_BYTES);
    snprintf(name, sizeof name, "k%u", kernel);
    memset(out, 0, OUT_BYTES);
    random_counters(counters);
    vm_configure(j->vm, &config);
    enum vm_status status = vm_launch(j->vm, vm_module_kernel(j->module, name), &launch);
    struct wire_finding found;
    if (vm_findings(j->vm, &found, 1) > 0)
        complain(j, kernel, wire_schedule_name(schedule), found.message);
    else if (status != VM_OK)
        complain(j, kernel, wire_schedule_name(schedule), "it ended with an error");
    vm_reset(j->vm);
    return random_hash(out, counters);
}

/* All kernels of the batch with one set of handlers; the first set's hashes are what the others are
 * compared with. */
static void run_set(struct job *j, const struct set *set, bool first, bool quick, const char *text,
                    uint64_t *hashes)
{
    static const enum wire_schedule SCHEDULES[] = {WIRE_IN_ORDER, WIRE_REVERSED, WIRE_RANDOM,
                                                   WIRE_INTERLEAVED};
    struct arena arena;
    struct ptx_module ptx;
    struct err e = {""};
    arena_init(&arena);
    j->set = set->name;
    j->vm = vm_new(&vm_limits_default, &e);
    if (j->vm && ptx_parse(text, strlen(text), &arena, &ptx, &e) == 0) {
        vm_use_exec(j->vm, set->exec);
        j->module = vm_module_load(j->vm, &ptx, &arena, &e);
    }
    if (j->vm && j->module) {
        j->in = vm_malloc(j->vm, IN_BYTES);
        j->out = vm_malloc(j->vm, OUT_BYTES);
        j->counters = vm_malloc(j->vm, COUNTER_BYTES);
        random_input(j->batch, words_of(j, j->in, IN_BYTES));
        for (unsigned k = 0; k < RANDOM_KERNELS; k++)
            for (size_t s = 0; s < (quick ? 1 : sizeof SCHEDULES / sizeof *SCHEDULES); s++) {
                uint64_t hash = run_kernel(j, k, SCHEDULES[s]);
                if (first && s == 0)
                    hashes[k] = hash;
                else if (hash != hashes[k])
                    complain(j, k, wire_schedule_name(SCHEDULES[s]),
                             "another result than in order");
            }
    } else {
        complain(j, 0, "in order", e.text);
    }
    if (j->vm)
        vm_free(j->vm);
    j->vm = NULL;
    j->module = NULL;
    arena_release(&arena);
}

/* ---- what a card said ---- */

enum said { SAID_NOTHING, SAID_HASH, SAID_SOMETHING_ELSE }; /* else: error-715, endless */

struct card {
    struct {
        enum said said;
        uint64_t hash;
    } * kernels; /* of the batches asked for */
    unsigned long equal, different, missing;
};

/* Lines "BATCH KERNEL HASH" in any order; those of other batches are passed over. */
static bool read_card(struct card *card, const char *path, uint64_t first, uint64_t batches)
{
    char line[128], word[32];
    uint64_t batch;
    unsigned kernel;
    FILE *file = fopen(path, "r");
    card->kernels = calloc(batches * RANDOM_KERNELS, sizeof *card->kernels);
    if (!file || !card->kernels) {
        perror(path);
        if (file)
            fclose(file);
        return false;
    }
    while (fgets(line, sizeof line, file)) {
        char *end = NULL;
        if (sscanf(line, "%" SCNu64 " %u %31s", &batch, &kernel, word) != 3 || batch < first ||
            batch >= first + batches || kernel >= RANDOM_KERNELS)
            continue;
        size_t k = (batch - first) * RANDOM_KERNELS + kernel;
        card->kernels[k].hash = strtoull(word, &end, 16);
        card->kernels[k].said = *end == '\0' ? SAID_HASH : SAID_SOMETHING_ELSE;
    }
    fclose(file);
    return true;
}

static void compare(struct card *card, const struct job *j, unsigned kernel, uint64_t first,
                    uint64_t hash)
{
    size_t k = (j->batch - first) * RANDOM_KERNELS + kernel;
    bool same = card->kernels[k].said == SAID_HASH && card->kernels[k].hash == hash;
    if (same) {
        card->equal++;
    } else if (card->kernels[k].said == SAID_NOTHING) {
        card->missing++;
    } else {
        card->different++;
        printf("different from the card: batch %" PRIu64 ", k%u\n", j->batch, kernel);
    }
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    char **words = argv + 1 + quick;
    int count = argc - 1 - quick;
    if (count < 2 || count > 3) {
        fprintf(stderr, "usage: ptx_random [--quick] FIRST COUNT [FILE]\n");
        return 2;
    }
    struct set sets[4];
    size_t set_count = find_sets(sets);
    struct card card = {.kernels = NULL};
    uint64_t first = strtoull(words[0], NULL, 10), batches = strtoull(words[1], NULL, 10);
    if (count == 3 && !read_card(&card, words[2], first, batches)) {
        free(card.kernels);
        return 2;
    }
    unsigned long programs = 0;
    struct job j = {.complaints = 0};
    for (j.batch = first; j.batch < first + batches; j.batch++) {
        uint64_t hashes[RANDOM_KERNELS] = {0};
        char *text = random_module(j.batch);
        for (size_t s = quick ? set_count - 1 : 0; text && s < set_count; s++)
            run_set(&j, &sets[s], s == 0 || quick, quick, text, hashes);
        free(text);
        for (unsigned k = 0; k < RANDOM_KERNELS; k++, programs++) {
            if (card.kernels)
                compare(&card, &j, k, first, hashes[k]);
            else
                printf("%" PRIu64 " %u %016" PRIx64 "\n", j.batch, k, hashes[k]);
        }
    }
    free(card.kernels);
    fprintf(stderr,
            "%lu programs, %u complaints, %lu different from the card, %lu not in its list\n",
            programs, j.complaints, card.different, card.missing);
    return j.complaints || card.different || card.missing || programs == 0 ? 1 : 0;
}
