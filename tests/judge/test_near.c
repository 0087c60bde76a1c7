/* Hidden cases beside the public ones: near, not in the spec, drawn by the seed, never outside of
 * what the spec allows. And no way from the data that a submission sees to the seed. */
#include "judge/near.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPEC(variables, cases)                                                                     \
    "format: 1\n"                                                                                  \
    "title: {en: A scan}\n"                                                                        \
    "difficulty: easy\n"                                                                           \
    "entry: exclusive_scan\n"                                                                      \
    "variables:\n" variables "parameters:\n"                                                       \
    "  - {name: in, type: int32*, role: input, shape: [n]}\n"                                      \
    "  - {name: out, type: int32*, role: output, shape: [n]}\n"                                    \
    "  - {name: n, type: int32, value: n}\n"                                                       \
    "  - {name: stream, type: stream}\n"                                                           \
    "check: {out: exact}\n"                                                                        \
    "oracle: exclusive_scan\n"                                                                     \
    "cases:\n" cases

static void load(const char *text, struct arena *arena, struct problem *p)
{
    struct err e;
    if (problem_parse("spec", text, strlen(text), arena, p, &e) != 0)
        fail_msg("%s", e.text);
}

/* The cases that seed number `seed` adds to the spec. */
static unsigned draw(const char *text, uint64_t seed, struct arena *arena, struct problem *p)
{
    load(text, arena, p);
    unsigned before = p->case_count;
    near_add(p, seed, arena);
    return p->case_count - before;
}

static void every_public_case_has_a_neighbour(void **state)
{
    (void)state;
    static const char TEXT[] = SPEC("  n: {type: int32, min: 0, max: 1100}\n",
                                    "  - {name: listed, n: 3, in: [3, 1, 2], public: true}\n"
                                    "  - {name: \"n={n}\", n: [0, 100, 1100], in: \"uniform(-9, "
                                    "9)\", public: true}\n"
                                    "  - {name: own, n: 50, in: \"uniform(-9, 9)\"}\n");
    bool moved[4][2] = {{false}};
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct arena arena;
        struct problem p;
        struct err e;
        arena_init(&arena);
        assert_int_equal(draw(TEXT, seed, &arena, &p), 4);
        for (unsigned i = 0; i < 4; i++) {
            const struct problem_case *known = &p.cases[i], *c = &p.cases[5 + i];
            int64_t n = known->values[0], drawn = c->values[0], way = n / 8 < 2 ? 2 : n / 8;
            char name[100];
            snprintf(name, sizeof name, "near %s, n=%lld", known->name, (long long)drawn);
            assert_string_equal(c->name, name);
            assert_false(c->is_public);
            assert_true(drawn != n && drawn >= 0 && drawn <= 1100);
            assert_true(drawn >= n - way && drawn <= n + way);
            moved[i][drawn > n] = true;
            struct case_data data;
            assert_int_equal(problem_case_sizes(&p, c, seed, &arena, &data, &e), 0);
            assert_int_equal(data.buffers[0].count, drawn);
            assert_non_null(c->inputs[0]);
        }
        arena_release(&arena);
    }
    assert_true(moved[0][0] && moved[0][1] && moved[2][0] && moved[2][1]);
    assert_true(moved[1][1] && !moved[1][0] && moved[3][0] && !moved[3][1]);
}

static void the_seed_alone_decides(void **state)
{
    (void)state;
    static const char TEXT[] =
        SPEC("  n: {type: int32, min: 0}\n",
             "  - {name: \"n={n}\", n: [1000, 2000], in: \"uniform(-9, 9)\", public: true}\n");
    struct arena arena;
    struct problem a, b, other;
    arena_init(&arena);
    draw(TEXT, 7, &arena, &a);
    draw(TEXT, 7, &arena, &b);
    draw(TEXT, 8, &arena, &other);
    assert_string_equal(a.cases[2].name, b.cases[2].name);
    assert_string_equal(a.cases[3].name, b.cases[3].name);
    assert_true(strcmp(a.cases[2].name, other.cases[2].name) != 0 ||
                strcmp(a.cases[3].name, other.cases[3].name) != 0);
    arena_release(&arena);
}

static void what_must_not_change_stays(void **state)
{
    (void)state;
    static const char *const NONE[] = {
        /* The author says so. */
        SPEC("  n: {type: int32, min: 0, near: false}\n",
             "  - {name: one, n: 100, in: \"uniform(-9, 9)\", public: true}\n"),
        /* Nobody knows data of another length. */
        SPEC("  n: {type: int32, min: 0}\n",
             "  - {name: one, n: 3, in: [1, 2, 3], public: true}\n"),
        /* Hidden cases are unknown as they are. */
        SPEC("  n: {type: int32, min: 0}\n", "  - {name: one, n: 100, in: \"uniform(-9, 9)\"}\n"),
        /* Too large to be run twice. */
        SPEC("  n: {type: int32, min: 0}\n",
             "  - {name: one, n: 1000000, in: \"uniform(-9, 9)\", public: true}\n"),
        /* Every value in reach is there already. */
        SPEC("  n: {type: int32, min: 0, max: 3}\n",
             "  - {name: \"n={n}\", n: [0, 1, 2, 3], in: \"uniform(-9, 9)\", public: true}\n"),
        SPEC("  n: {type: int32, min: 5, max: 5}\n",
             "  - {name: one, n: 5, in: \"uniform(-9, 9)\", public: true}\n"),
        /* It changes no size. */
        SPEC("  n: {type: int32, min: 0, near: false}\n  top: {type: int32, min: 0}\n",
             "  - {name: one, n: 100, top: 50, in: \"uniform(0, top)\", public: true}\n"),
    };
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        struct arena arena;
        struct problem p;
        arena_init(&arena);
        unsigned added = draw(NONE[i], 3, &arena, &p);
        if (added)
            fail_msg("spec %zu: %s was added", i, p.cases[p.case_count - 1].name);
        arena_release(&arena);
    }
}

/* What the generators do on the way from a key to numbers of the full range, undone. */
static uint64_t unmix(uint64_t x)
{
    x ^= x >> 31 ^ x >> 62;
    x *= 0x319642b2d24d8ec3u;
    x ^= x >> 27 ^ x >> 54;
    x *= 0x96de1b173f119089u;
    x ^= x >> 30 ^ x >> 60;
    return x - 0x9e3779b97f4a7c15u;
}

static uint64_t unmix_name(uint64_t h, const char *name)
{
    h = unmix(h) ^ 0x100;
    for (size_t i = strlen(name); i-- > 0;)
        h = unmix(h) ^ (unsigned char)name[i];
    return h;
}

static void data_does_not_tell_the_seed(void **state)
{
    (void)state;
    static const char TEXT[] =
        SPEC("  n: {type: int32, min: 0}\n",
             "  - {name: \"{n}\", n: [100, 200], in: \"uniform(-2147483648, 2147483647)\"}\n");
    struct arena arena;
    struct problem p;
    struct err e;
    uint64_t seed = rng_secret_seed(), keys[2];
    arena_init(&arena);
    load(TEXT, &arena, &p);
    for (unsigned i = 0; i < 2; i++) {
        struct case_data data;
        int32_t input[200];
        assert_int_equal(problem_case_sizes(&p, &p.cases[i], seed, &arena, &data, &e), 0);
        data.buffers[0].input = input;
        problem_case_fill(&data);
        uint64_t low = (uint32_t)input[0] ^ 0x80000000u, high = (uint32_t)input[1] ^ 0x80000000u;
        keys[i] = unmix(high << 32 | low);
        /* It is the key of this input: the third and fourth number follow from it. */
        uint64_t next = rng_at(keys[i], 1);
        assert_int_equal((uint32_t)input[2] ^ 0x80000000u, (uint32_t)next);
        assert_int_equal((uint32_t)input[3] ^ 0x80000000u, (uint32_t)(next >> 32));
        /* But the names were not just mixed in on the way from the seed. */
        uint64_t before = unmix_name(unmix_name(keys[i], "in"), p.cases[i].name);
        assert_true((unmix(before) ^ rng_mix(0)) != seed && unmix(before) != seed);
    }
    assert_int_not_equal(keys[0], keys[1]);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_public_case_has_a_neighbour),
        cmocka_unit_test(the_seed_alone_decides),
        cmocka_unit_test(what_must_not_change_stays),
        cmocka_unit_test(data_does_not_tell_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
