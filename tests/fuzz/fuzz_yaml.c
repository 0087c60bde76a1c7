/* The spec loader on any bytes. It may refuse them, in one line that starts with a place; what it
 * accepts can be laid out, filled and answered. Corpus: tests/fuzz/corpus/yaml. */
#include "judge/problem/problem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CASES_MAX = 8, CASE_BYTES_MAX = 1 << 16 };

static void run_case(const struct problem *p, const struct problem_case *c, struct arena *arena)
{
    struct case_data data;
    struct err e;
    if (problem_case_sizes(p, c, 1, arena, &data, &e) != 0)
        abort(); /* it was laid out when it was loaded */
    uint64_t total = 0;
    for (unsigned i = 0; i < p->param_count; i++)
        total += data.buffers[i].bytes;
    if (total > CASE_BYTES_MAX)
        return;
    for (unsigned i = 0; i < p->param_count; i++) {
        data.buffers[i].input = malloc(data.buffers[i].bytes + 1); /* exact but for 0 bytes */
        data.buffers[i].expected = malloc(data.buffers[i].bytes + 1);
        if (!data.buffers[i].input || !data.buffers[i].expected)
            abort();
        memset(data.buffers[i].input, 0, data.buffers[i].bytes + 1);
        memset(data.buffers[i].expected, 0, data.buffers[i].bytes + 1);
    }
    problem_case_fill(&data);
    if (p->oracle && oracle_expected(&data, &e) != 0)
        abort();
    for (unsigned i = 0; i < p->param_count; i++) {
        free(data.buffers[i].input);
        free(data.buffers[i].expected);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct problem p;
    struct err e = {{0}};
    arena_init(&arena);
    if (problem_parse("fuzz/problem.yaml", (const char *)data, size, &arena, &p, &e) != 0) {
        if (strncmp(e.text, "fuzz/problem.yaml:", 18) != 0 || strchr(e.text, '\n'))
            abort();
    } else {
        if (!problem_prototype(&p, &arena)[0])
            abort();
        for (unsigned i = 0; i < p.case_count && i < CASES_MAX; i++)
            run_case(&p, &p.cases[i], &arena);
    }
    arena_release(&arena);
    return 0;
}
