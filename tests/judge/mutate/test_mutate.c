/* One row per habit of a mutation: a line of code, and what the mutation makes of it; or that it
 * leaves it alone. */
#include "judge/mutate/mutate.h"
#include "judge/mutate/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

/* ---- tokens ---- */

static void tokens_are_words_numbers_and_operators(void **state)
{
    (void)state;
    static const char SOURCE[] =
        "#define N \\\n 4\n"
        "// a < b\n"
        "int x = 0x1fu; /* y\n*/ \"a \\\" // b\" R\"t(c)\")t\" k<<<1, 2>>>(a->b);\n"
        "  # pragma unroll\n'\\''";
    static const char *const WANTED[] = {"int",
                                         "x",
                                         "=",
                                         "0x1fu",
                                         ";",
                                         "\"a \\\" // b\"",
                                         "R\"t(c)\")t\"",
                                         "k",
                                         "<<<",
                                         "1",
                                         ",",
                                         "2",
                                         ">>>",
                                         "(",
                                         "a",
                                         "->",
                                         "b",
                                         ")",
                                         ";",
                                         "'\\''"};
    struct tokens t;
    tokens_read(SOURCE, strlen(SOURCE), &arena, &t);
    for (size_t i = 0; i < sizeof WANTED / sizeof WANTED[0]; i++)
        if (!token_is(&t, i, WANTED[i]))
            fail_msg("token %zu is not %s", i, WANTED[i]);
    assert_int_equal(t.count, sizeof WANTED / sizeof WANTED[0]);
    assert_int_equal(t.items[0].line, 4);
    assert_int_equal(t.items[t.count - 1].line, 7);
    assert_true(token_is_kind(&t, 3, TOKEN_NUMBER) && token_is_kind(&t, 5, TOKEN_TEXT));
    assert_int_equal(token_close(&t, 13), 17);
    assert_false(token_is(&t, t.count, ";"));
}

/* A bracket that never closes and text that never ends are not the end of us. */
static void broken_sources_are_read(void **state)
{
    (void)state;
    static const char *const SOURCES[] = {"if (a",  "\"abc", "/* ", "R\"(",           "R\"",
                                          "f(a, b", "'",     "\\",  "__syncthreads(", "x +",
                                          "- 1",    "<<<",   "#"};
    for (size_t i = 0; i < sizeof SOURCES / sizeof SOURCES[0]; i++) {
        struct mutants m;
        mutate_list(SOURCES[i], strlen(SOURCES[i]), &arena, &m);
        for (size_t k = 0; k < m.count; k++) {
            struct text out;
            text_init(&out);
            mutate_apply(SOURCES[i], strlen(SOURCES[i]), &m.items[k], &out);
            text_release(&out);
        }
    }
}

/* ---- mutations ---- */

static const struct row {
    const char *mutation, *from, *to; /* to: NULL = it does not apply */
} ROWS[] = {
    {"barrier_dropped", "a(); __syncthreads(); b();", "a(); (void)0; b();"},
    {"barrier_dropped", "block.sync();", "block.thread_rank();"},
    {"barrier_dropped", "sync();", NULL},
    {"barrier_earlier", "{ s[i] = f(x; y); __syncthreads(); z(); }",
     "{ __syncthreads(); s[i] = f(x; y); ; z(); }"},
    {"barrier_earlier", "{ __syncthreads(); }", NULL},
    {"barrier_later", "a(); __syncthreads(); int b = s[1]; c();",
     "a(); ; int b = s[1]; __syncthreads(); c();"},
    {"barrier_later", "a(); __syncthreads(); }", NULL},
    {"fence_dropped", "__threadfence();", "(void)0;"},
    {"fence_dropped", "cuda::atomic_thread_fence(o, s);", "(void)0;"},
    {"fence_narrowed", "__threadfence();", "__threadfence_block();"},
    {"fence_narrowed", "__threadfence_block();", NULL},
    {"order_relaxed", "a.load(cuda::std::memory_order_acquire)",
     "a.load(cuda::std::memory_order_relaxed)"},
    {"volatile_dropped", "volatile int *p", " int *p"},
    {"volatile_dropped", "asm volatile(\"\")", NULL},
    {"atomic_to_plain", "atomicExch(&a, 1);",
     "[](auto *p, auto w) { auto o = *p; decltype(o) v = w; *p = v; return o; }(&a, 1);"},
    {"bound_moved", "if (i < n)", "if (i <= n)"},
    {"bound_moved", "if (i >= n)", "if (i > n)"},
    {"bound_moved", "vector<int> a;", NULL},
    {"equality_inverted", "if (lane == 0)", "if (lane != 0)"},
    {"condition_dropped", "if (i < n) a();", "if ((i < n) || true) a();"},
    {"condition_dropped", "while (i < n) a();", NULL},
    {"and_to_or", "a && b", "a || b"},
    {"and_to_or", "T &&b", NULL},
    {"one_dropped", "x = i - 1;", "x = i ;"},
    {"one_dropped", "x = -1;", NULL},
    {"one_dropped", "x = i - 10;", NULL},
    {"number_less", "x = i & 31;", "x = i & 30;"},
    {"number_less", "x = 32u;", "x = 31u;"},
    {"number_less", "x *= 2;", NULL},
    {"number_less", "constexpr int T = 256;", NULL},
    {"number_less", "x = 0x20 + 2.5f + 1;", NULL},
    {"zero_to_one", "int sum = 0;", "int sum = 1;"},
    {"zero_to_one", "sum == 0;", NULL},
    {"constant_less", "x < TILE;", "x < (TILE - 1);"},
    {"constant_less", "return kTile;", "return (kTile - 1);"},
    {"constant_less", "const int TILE = 4;", NULL},
    {"constant_less", "TILE(4);", NULL},
    {"mask_narrowed", "f(0xffffffff, x)", "f(0x7fffffffu, x)"},
    {"operands_swapped", "x = combine(a, f(b, c));", "x = combine(f(b, c), a);"},
    {"operands_swapped", "x = max(a, b);", NULL},
    {"operands_swapped", "int combine(int a, int b);", NULL},
    {"operands_swapped", "x = a - b;", "x = b - a;"},
    {"operands_swapped", "x = a[1] - b;", NULL},
    {"addend_dropped", "x = a + carry[i].sum;", "x = a ;"},
    {"addend_dropped", "x = a + b * c;", NULL},
    {"addend_dropped", "x = +b;", NULL},
    {"sum_to_assignment", "x += y;", "x = y;"},
    {"type_narrowed", "int x = 0;", "short x = 0;"},
    {"type_narrowed", "unsigned x;", "unsigned short x;"},
    {"type_narrowed", "unsigned int x;", NULL},
    {"type_narrowed", "long long x;", "int x;"},
    {"type_narrowed", "int f(void);", NULL},
    {"type_narrowed", "int *p;", NULL},
    {"shuffle_reversed", "__shfl_up_sync(m, v, 1)", "__shfl_down_sync(m, v, 1)"},
    {"stream_dropped", "k<<<f(a, b), c, 0, stream>>>(x, y, z);",
     "k<<<f(a, b), c, 0, 0>>>(x, y, z);"},
    {"stream_dropped", "k<<<a, b>>>(x);", NULL},
    {"clear_dropped", "cudaMemsetAsync(p, 0, n, s);", "cudaSuccess;"},
    /* What is not code is left alone. */
    {"bound_moved", "// i < n", NULL},
    {"bound_moved", "s = \"i < n\";", NULL},
    {"number_less", "#define N 32", NULL},
};

static const struct mutant *find(const struct mutants *m, const char *mutation)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->items[i].mutation, mutation) == 0)
            return &m->items[i];
    return NULL;
}

static void each_mutation_does_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *r = &ROWS[i];
        struct mutants m;
        struct text out;
        text_init(&out);
        mutate_list(r->from, strlen(r->from), &arena, &m);
        const struct mutant *one = find(&m, r->mutation);
        if (one)
            mutate_apply(r->from, strlen(r->from), one, &out);
        if (!one != !r->to || (one && strcmp(text_str(&out), r->to) != 0))
            fail_msg("%s: '%s' became '%s'", r->mutation, r->from, one ? text_str(&out) : "(none)");
        text_release(&out);
    }
}

static void every_mutation_is_tried(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
#define MUTATION(id, people) #id,
#include "judge/mutate/mutations.def"
#undef MUTATION
    };
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++) {
        bool tried = false;
        for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
            tried |= ROWS[i].to && strcmp(ROWS[i].mutation, NAMES[k]) == 0;
        if (!tried)
            fail_msg("no row shows what %s does", NAMES[k]);
        assert_non_null(mutation_for_people(NAMES[k]));
    }
    assert_null(mutation_for_people("nothing"));
}

/* Lines after the mutation keep their numbers, whatever was replaced. */
static void lines_stay_where_they_are(void **state)
{
    (void)state;
    static const char SOURCE[] =
        "a();\nif (x &&\n    y)\n    b();\ncudaMemsetAsync(p, 0,\n  n, s);\nlast();\n";
    struct mutants m;
    mutate_list(SOURCE, strlen(SOURCE), &arena, &m);
    assert_true(m.count > 0);
    for (size_t i = 0; i < m.count; i++) {
        struct text out;
        text_init(&out);
        mutate_apply(SOURCE, strlen(SOURCE), &m.items[i], &out);
        unsigned lines = 0;
        for (const char *s = text_str(&out); *s; s++)
            lines += *s == '\n';
        if (lines != 7)
            fail_msg("%s: %u lines: %s", m.items[i].mutation, lines, text_str(&out));
        text_release(&out);
    }
    const struct mutant *clear = find(&m, "clear_dropped");
    assert_int_equal(clear->line, 5);
    assert_string_equal(clear->before, "cudaMemsetAsync(p, 0,");
    assert_string_equal(clear->after, "cudaSuccess");
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
        cmocka_unit_test(tokens_are_words_numbers_and_operators),
        cmocka_unit_test(broken_sources_are_read),
        cmocka_unit_test(each_mutation_does_what_it_says),
        cmocka_unit_test(every_mutation_is_tried),
        cmocka_unit_test(lines_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
