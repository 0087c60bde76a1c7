/* The three problems of this repository: they load, promise the entry points of the statement, and
 * hold the cases that people's mistakes call for. */
#include "judge/problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static const struct {
    const char *id, *prototype;
    const char *names[8]; /* cases that others refer to */
} PROBLEMS[] = {
    {"multi-block-scan",
     "extern \"C\" void exclusive_scan(const int *in, int *out, int n, void *workspace, size_t "
     "workspace_bytes, cudaStream_t stream)",
     {"worked example", "empty", "one element", "n=2", "n=1025", "wraps around", "many blocks"}},
    {"ordered-compaction",
     "extern \"C\" void compact_positive(const float *in, float *out, int *count, int n, void "
     "*workspace, size_t workspace_bytes, cudaStream_t stream)",
     {"worked example", "empty", "one kept", "n=2", "n=1025", "not numbers", "many blocks"}},
    {"moe-counts-offsets",
     "extern \"C\" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int "
     "num_tokens, int top_k, int num_experts, cudaStream_t stream)",
     {"worked example", "no token", "one token", "experts=1", "experts=4096", "all -1",
      "many blocks"}},
};
enum { PROBLEM_COUNT = sizeof PROBLEMS / sizeof PROBLEMS[0] };

static void load(unsigned index, struct problem *p)
{
    struct err e;
    if (problem_load(SOURCE_ROOT, PROBLEMS[index].id, &arena, p, &e) != 0)
        fail_msg("%s", e.text);
}

static const struct problem_case *find(const struct problem *p, const char *name)
{
    for (unsigned i = 0; i < p->case_count; i++)
        if (strcmp(p->cases[i].name, name) == 0)
            return &p->cases[i];
    fail_msg("%s has no case '%s'", p->id, name);
    return NULL;
}

/* Memory for every buffer of a case. */
static void lay_out(const struct problem *p, const struct problem_case *c, struct case_data *data)
{
    struct err e;
    if (problem_case_sizes(p, c, 11, &arena, data, &e) != 0)
        fail_msg("%s", e.text);
    for (unsigned i = 0; i < p->param_count; i++) {
        data->buffers[i].input = calloc(data->buffers[i].bytes + 1, 1);
        data->buffers[i].expected = calloc(data->buffers[i].bytes + 1, 1);
    }
}

static void release(const struct problem *p, struct case_data *data)
{
    for (unsigned i = 0; i < p->param_count; i++) {
        free(data->buffers[i].input);
        free(data->buffers[i].expected);
    }
}

static void they_are_complete(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        struct problem p;
        load(i, &p);
        assert_string_equal(p.id, PROBLEMS[i].id);
        assert_string_equal(problem_prototype(&p, &arena), PROBLEMS[i].prototype);
        assert_true(p.case_count >= 14 && p.case_count <= 150);
        assert_true(p.hint_count >= 2);
        for (unsigned h = 0; h < p.hint_count; h++)
            assert_true(p.hints[h].text.en && p.hints[h].text.zh);
        assert_true(p.title.en && p.title.zh);
        assert_non_null(p.oracle);
        assert_non_null(p.reference);
        assert_true(p.benchmark_count >= 4 && p.benchmark_bytes);
        assert_int_equal(p.rules.forbid_header_count, 0);
        for (unsigned n = 0; PROBLEMS[i].names[n]; n++)
            find(&p, PROBLEMS[i].names[n]);
        unsigned public_count = 0;
        for (unsigned c = 0; c < p.case_count; c++)
            public_count += p.cases[c].is_public;
        assert_true(public_count >= 5 && public_count < p.case_count / 2);
    }
}

/* Small cases run several times: together they must stay small. One is large; counters have another
 * one, in which narrow ones of every block overflow. */
static void their_work_is_bounded(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        struct problem p;
        load(i, &p);
        uint64_t small = 0, large = 0;
        for (unsigned c = 0; c < p.case_count; c++) {
            struct case_data data;
            struct err e;
            assert_int_equal(problem_case_sizes(&p, &p.cases[c], 1, &arena, &data, &e), 0);
            uint64_t elements = data.buffers[0].count; /* the input comes first in all three */
            if (elements < 250000)
                small += elements;
            else
                large += elements;
            if (strcmp(p.cases[c].name, "many blocks") == 0)
                assert_int_equal(elements, 10000007);
        }
        assert_true(small < 1500000);
        assert_true(large < (strstr(p.id, "counts") ? 22000000 : 13000000));
    }
}

/* Every number of blocks from 1 to 40 for tiles of 256 and of 1024 elements. */
static void every_number_of_blocks_is_tried(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct problem p;
        load(i, &p);
        static const uint64_t TILES[] = {256, 1024};
        for (unsigned t = 0; t < 2; t++) {
            bool seen[42] = {false};
            for (unsigned c = 0; c < p.case_count; c++) {
                uint64_t blocks = ((uint64_t)p.cases[c].values[0] + TILES[t] - 1) / TILES[t];
                seen[blocks < 41 ? blocks : 41] = true;
            }
            for (unsigned blocks = 0; blocks <= 41; blocks++)
                if (!seen[blocks])
                    fail_msg("%s: no case with %u tiles of %u", p.id, blocks, (unsigned)TILES[t]);
        }
    }
}

static void experts_of_every_kind_are_tried(void **state)
{
    (void)state;
    static const int64_t EXPERTS[] = {1,   8,   31,  32,   33,   63,   64,   65,
                                      255, 256, 257, 1023, 1024, 1025, 2048, 4096};
    struct problem p;
    load(2, &p);
    for (unsigned e = 0; e < sizeof EXPERTS / sizeof EXPERTS[0]; e++) {
        bool seen = false;
        for (unsigned c = 0; c < p.case_count; c++)
            seen |= p.cases[c].values[2] == EXPERTS[e];
        if (!seen)
            fail_msg("no case with %lld experts", (long long)EXPERTS[e]);
    }
    bool top_k[9] = {false};
    for (unsigned c = 0; c < p.case_count; c++)
        top_k[p.cases[c].values[1]] = true;
    assert_true(top_k[1] && top_k[2] && top_k[8]);
}

static void the_workspace_is_as_promised(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct problem p;
        load(i, &p);
        for (unsigned c = 0; c < p.case_count; c++) {
            struct case_data data;
            struct err e;
            assert_int_equal(problem_case_sizes(&p, &p.cases[c], 1, &arena, &data, &e), 0);
            uint64_t n = (uint64_t)p.cases[c].values[0];
            uint64_t expected = (4 * ((n + 255) / 256) + 1024 + 255) / 256 * 256;
            for (unsigned m = 0; m < p.param_count; m++) {
                if (strcmp(p.params[m].name, "workspace") == 0)
                    assert_int_equal(data.buffers[m].bytes, expected);
                if (strcmp(p.params[m].name, "workspace_bytes") == 0)
                    assert_int_equal(data.scalars[m], expected);
                if (strcmp(p.params[m].name, "n") == 0)
                    assert_int_equal(data.scalars[m], n);
            }
        }
    }
}

/* Two makings of one case are the same, of two cases or seeds are not. */
static void a_case_can_be_made_again_alone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        struct problem p;
        load(i, &p);
        const struct problem_case *c = find(&p, i == 2 ? "experts=4096" : "n=1025");
        struct case_data a, b, other;
        lay_out(&p, c, &a);
        lay_out(&p, c, &b);
        lay_out(&p, c, &other);
        other.seed = 12;
        problem_case_fill(&a);
        problem_case_fill(&b);
        problem_case_fill(&other);
        assert_memory_equal(a.buffers[0].input, b.buffers[0].input, a.buffers[0].bytes);
        assert_memory_not_equal(a.buffers[0].input, other.buffers[0].input, a.buffers[0].bytes);
        release(&p, &a);
        release(&p, &b);
        release(&p, &other);
    }
    struct problem p;
    load(0, &p);
    struct case_data small, large;
    lay_out(&p, find(&p, "n=1024"), &small);
    lay_out(&p, find(&p, "n=1025"), &large);
    problem_case_fill(&small);
    problem_case_fill(&large);
    assert_memory_not_equal(small.buffers[0].input, large.buffers[0].input, 64);
    release(&p, &small);
    release(&p, &large);
}

/* No trivial answer may be right: zeros, the input copied, the output left alone. */
static void trivial_answers_are_wrong_somewhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        struct problem p;
        load(i, &p);
        struct case_data data;
        lay_out(&p, find(&p, i == 2 ? "experts=256" : "n=257"), &data);
        problem_case_fill(&data);
        struct err e;
        assert_int_equal(oracle_expected(&data, &e), 0);
        for (unsigned m = 1; m < 3 - (i == 0); m++) {
            uint64_t bytes = data.buffers[m].bytes;
            unsigned char *zeros = calloc(bytes, 1);
            assert_memory_not_equal(data.buffers[m].expected, zeros, bytes);
            free(zeros);
        }
        if (i < 2)
            assert_memory_not_equal(data.buffers[1].expected, data.buffers[0].input,
                                    data.buffers[1].bytes);
        release(&p, &data);
    }
}

static int start(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_complete),
        cmocka_unit_test(their_work_is_bounded),
        cmocka_unit_test(every_number_of_blocks_is_tried),
        cmocka_unit_test(experts_of_every_kind_are_tried),
        cmocka_unit_test(the_workspace_is_as_promised),
        cmocka_unit_test(a_case_can_be_made_again_alone),
        cmocka_unit_test(trivial_answers_are_wrong_somewhere),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
