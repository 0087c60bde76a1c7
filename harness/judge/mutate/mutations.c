/* What a token is part of is told from its neighbours, by the habits of formatted code: `a < b` has
 * blanks around a comparison and `vector<int>` has none. Where that is wrong the mutant does not
 * compile, which costs time and nothing else. */
#include "judge/mutate/mutations.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- edits ---- */

static void replace(const struct tokens *t, size_t from, size_t to, const char *text,
                    struct mutant *m)
{
    m->edits[m->edit_count++] = (struct edit){
        .from = t->items[from].at, .to = t->items[to].at + t->items[to].length, .text = text};
}

static void insert_before(const struct tokens *t, size_t i, const char *text, struct mutant *m)
{
    size_t at = t->items[i].at;
    m->edits[m->edit_count++] = (struct edit){.from = at, .to = at, .text = text};
}

/* ---- looking around ---- */

static bool is_one_of(const struct tokens *t, size_t i, const char *const *names)
{
    for (; *names; names++)
        if (token_is(t, i, *names))
            return true;
    return false;
}

static bool begins_with(const struct tokens *t, size_t i, const char *text)
{
    size_t n = strlen(text);
    return i < t->count && t->items[i].length >= n &&
           memcmp(t->source + t->items[i].at, text, n) == 0;
}

/* `name ( ... )` at i: where it closes, else 0. */
static size_t call_end(const struct tokens *t, size_t i)
{
    if (!token_is_kind(t, i, TOKEN_WORD) || !token_is(t, i + 1, "("))
        return 0;
    size_t end = token_close(t, i + 1);
    return end < t->count ? end : 0;
}

static bool is_spaced(const struct tokens *t, size_t i)
{
    const struct token *k = &t->items[i];
    return k->at > 0 && isspace((unsigned char)t->source[k->at - 1]) &&
           k->at + k->length < t->length && isspace((unsigned char)t->source[k->at + k->length]);
}

/* A word that ends an operand: a name or a number, not a keyword. */
static bool ends_operand(const struct tokens *t, size_t i)
{
    static const char *const WORDS[] = {"return", "case", "else", "throw", NULL};
    return token_is_kind(t, i, TOKEN_NUMBER) || token_is(t, i, ")") || token_is(t, i, "]") ||
           (token_is_kind(t, i, TOKEN_WORD) && !is_one_of(t, i, WORDS));
}

/* The statement that token i is in defines a constant. */
static bool in_definition(const struct tokens *t, size_t i)
{
    static const char *const WORDS[] = {"constexpr", "enum",  "static_assert",
                                        "template",  "using", NULL};
    while (i-- > 0 && !token_is(t, i, ";") && !token_is(t, i, "}") && !token_is(t, i, ")"))
        if (is_one_of(t, i, WORDS))
            return true;
    return false;
}

/* ---- barriers and fences ---- */

static const char *const BARRIERS[] = {"__syncthreads", "__syncwarp", NULL};
static const char *const FENCES[] = {"__threadfence", "__threadfence_block", "__threadfence_system",
                                     "atomic_thread_fence", NULL};

void mutation_barrier_dropped(const struct tokens *t, size_t i, struct arena *arena,
                              struct mutant *m)
{
    (void)arena;
    size_t end = call_end(t, i);
    bool is_method = i > 0 && (token_is(t, i - 1, ".") || token_is(t, i - 1, "->"));
    if (end && is_one_of(t, i, BARRIERS))
        replace(t, i, end, "(void)0", m);
    else if (end && is_method && token_is(t, i, "sync")) /* of a cooperative group */
        replace(t, i, end, "thread_rank()", m);
}

/* `__syncthreads();` at i: the place of its semicolon, else 0. */
static size_t barrier_statement(const struct tokens *t, size_t i)
{
    size_t end = call_end(t, i);
    return i > 0 && end && is_one_of(t, i, BARRIERS) && token_is(t, end + 1, ";") &&
                   (token_is(t, i - 1, ";") || token_is(t, i - 1, "}") || token_is(t, i - 1, "{"))
               ? end + 1
               : 0;
}

void mutation_barrier_earlier(const struct tokens *t, size_t i, struct arena *arena,
                              struct mutant *m)
{
    size_t end = barrier_statement(t, i);
    if (!end || !token_is(t, i - 1, ";"))
        return;
    size_t from = i - 1;
    int depth = 0;
    while (from > 0) {
        depth += token_is(t, from - 1, ")") - token_is(t, from - 1, "(");
        if (depth == 0 && (token_is(t, from - 1, ";") || token_is(t, from - 1, "{") ||
                           token_is(t, from - 1, "}")))
            break;
        from--;
    }
    if (from == i - 1)
        return;
    insert_before(t, from, arena_printf(arena, "%s ", tokens_text(t, i, end, arena)), m);
    replace(t, i, end, ";", m);
}

void mutation_barrier_later(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    size_t end = barrier_statement(t, i), to = end + 1;
    if (!end)
        return;
    while (to < t->count && !token_is(t, to, ";") && !token_is(t, to, "{") && !token_is(t, to, "}"))
        to = token_is(t, to, "(") ? token_close(t, to) + 1 : to + 1;
    if (!token_is(t, to, ";") || to == end + 1)
        return;
    replace(t, i, end, ";", m);
    replace(t, to, to, arena_printf(arena, "; %s", tokens_text(t, i, end, arena)), m);
}

void mutation_fence_dropped(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    size_t end = call_end(t, i), from = i;
    if (!end || !is_one_of(t, i, FENCES))
        return;
    while (from >= 2 && token_is(t, from - 1, "::")) /* with its namespaces */
        from -= 2;
    replace(t, from, end, "(void)0", m);
}

void mutation_fence_narrowed(const struct tokens *t, size_t i, struct arena *arena,
                             struct mutant *m)
{
    (void)arena;
    if (call_end(t, i) && token_is(t, i, "__threadfence"))
        replace(t, i, i, "__threadfence_block", m);
}

void mutation_order_relaxed(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    static const char *const ORDERS[] = {"memory_order_acquire", "memory_order_release",
                                         "memory_order_acq_rel", "memory_order_seq_cst", NULL};
    if (is_one_of(t, i, ORDERS))
        replace(t, i, i, "memory_order_relaxed", m);
}

void mutation_volatile_dropped(const struct tokens *t, size_t i, struct arena *arena,
                               struct mutant *m)
{
    (void)arena;
    if (token_is(t, i, "volatile") && !(i > 0 && token_is(t, i - 1, "asm")))
        replace(t, i, i, "", m);
}

void mutation_atomic_to_plain(const struct tokens *t, size_t i, struct arena *arena,
                              struct mutant *m)
{
    (void)arena;
    static const struct {
        const char *name, *value;
    } ATOMICS[] = {
        {"atomicAdd", "o + v"},         {"atomicSub", "o - v"}, {"atomicMax", "o > v ? o : v"},
        {"atomicMin", "o < v ? o : v"}, {"atomicOr", "o | v"},  {"atomicAnd", "o & v"},
        {"atomicXor", "o ^ v"},         {"atomicExch", "v"},
    };
    for (size_t k = 0; call_end(t, i) && k < sizeof ATOMICS / sizeof ATOMICS[0]; k++)
        if (token_is(t, i, ATOMICS[k].name))
            replace(t, i, i,
                    arena_printf(arena,
                                 "[](auto *p, auto w) { auto o = *p; decltype(o) v = w; "
                                 "*p = %s; return o; }",
                                 ATOMICS[k].value),
                    m);
}

/* ---- conditions ---- */

void mutation_bound_moved(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    static const char *const PAIRS[][2] = {{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}};
    for (size_t k = 0; k < 4; k++)
        if (token_is(t, i, PAIRS[k][0]) && is_spaced(t, i))
            replace(t, i, i, PAIRS[k][1], m);
}

void mutation_equality_inverted(const struct tokens *t, size_t i, struct arena *arena,
                                struct mutant *m)
{
    (void)arena;
    if (token_is(t, i, "==") || token_is(t, i, "!="))
        replace(t, i, i, token_is(t, i, "==") ? "!=" : "==", m);
}

void mutation_condition_dropped(const struct tokens *t, size_t i, struct arena *arena,
                                struct mutant *m)
{
    size_t end = call_end(t, i);
    /* Still evaluated: what it calls has its effects, and names stay in use. */
    if (end && token_is(t, i, "if") && end > i + 2)
        replace(t, i + 1, end,
                arena_printf(arena, "((%s) || true)", tokens_text(t, i + 2, end - 1, arena)), m);
}

void mutation_and_to_or(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    if (token_is(t, i, "&&") && is_spaced(t, i))
        replace(t, i, i, "||", m);
}

/* ---- numbers ---- */

void mutation_one_dropped(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    if (i > 0 && (token_is(t, i, "+") || token_is(t, i, "-")) && ends_operand(t, i - 1) &&
        (token_is(t, i + 1, "1") || token_is(t, i + 1, "1u")) && !token_is(t, i + 2, "."))
        replace(t, i, i + 1, "", m);
}

void mutation_number_less(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    static const char *const LOOPS[] = {"*=", "/=", "case", NULL};
    if (!token_is_kind(t, i, TOKEN_NUMBER) || in_definition(t, i) ||
        (i > 0 && is_one_of(t, i - 1, LOOPS)))
        return;
    const char *text = tokens_text(t, i, i, arena);
    size_t digits = strspn(text, "0123456789");
    unsigned long long value = strtoull(text, NULL, 10);
    if (text[0] == '0' || value < 2 || strspn(text + digits, "uUlL") != strlen(text + digits))
        return;
    replace(t, i, i, arena_printf(arena, "%llu%s", value - 1, text + digits), m);
}

void mutation_zero_to_one(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    if (i > 0 && token_is(t, i - 1, "=") && (token_is(t, i, "0") || token_is(t, i, "0u")) &&
        (token_is(t, i + 1, ";") || token_is(t, i + 1, ",")) && !in_definition(t, i))
        replace(t, i, i, "1", m);
}

static bool is_constant_name(const struct tokens *t, size_t i)
{
    if (!token_is_kind(t, i, TOKEN_WORD) || t->items[i].length < 2)
        return false;
    const char *s = t->source + t->items[i].at;
    if (s[0] == 'k' && isupper((unsigned char)s[1]))
        return true;
    for (size_t k = 0; k < t->items[i].length; k++)
        if (!isupper((unsigned char)s[k]) && !isdigit((unsigned char)s[k]) && s[k] != '_')
            return false;
    return isupper((unsigned char)s[0]);
}

void mutation_constant_less(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    if (!is_constant_name(t, i) || token_is(t, i + 1, "(") || token_is(t, i + 1, "=") ||
        token_is(t, i + 1, "::") || token_is(t, i + 1, "<") ||
        token_is_kind(t, i + 1, TOKEN_WORD) ||
        (i > 0 && (token_is_kind(t, i - 1, TOKEN_WORD) || token_is(t, i - 1, "::")) &&
         !token_is(t, i - 1, "return")) ||
        in_definition(t, i))
        return;
    replace(t, i, i, arena_printf(arena, "(%s - 1)", tokens_text(t, i, i, arena)), m);
}

void mutation_mask_narrowed(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    static const char *const MASKS[] = {"0xffffffff",  "0xffffffffu", "0xFFFFFFFF", "0xFFFFFFFFu",
                                        "0xffffffffU", "0xFFFFFFFFU", NULL};
    if (is_one_of(t, i, MASKS))
        replace(t, i, i, "0x7fffffffu", m);
}

/* ---- operands ---- */

/* f(a, b) used as a value: where its comma is, else 0. */
static size_t comma_of_two(const struct tokens *t, size_t open, size_t end)
{
    size_t comma = 0;
    for (size_t k = open + 1; k < end; k++) {
        if (token_is(t, k, "(") || token_is(t, k, "[") || token_is(t, k, "{"))
            k = token_close(t, k);
        else if (token_is(t, k, ",") && comma)
            return 0;
        else if (token_is(t, k, ","))
            comma = k;
    }
    return comma > open + 1 && comma + 1 < end ? comma : 0;
}

static void swap_minus(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    bool alone = i >= 2 && token_is_kind(t, i - 1, TOKEN_WORD) &&
                 token_is_kind(t, i + 1, TOKEN_WORD) && !token_is(t, i - 2, ".") &&
                 !token_is(t, i - 2, "->") && !token_is(t, i - 2, "::") &&
                 !token_is(t, i + 2, "(") && !token_is(t, i + 2, "[") && !token_is(t, i + 2, ".") &&
                 !token_is(t, i + 2, "::") && !token_is(t, i + 2, "->") && ends_operand(t, i - 1);
    if (alone)
        replace(t, i - 1, i + 1,
                arena_printf(arena, "%s - %s", tokens_text(t, i + 1, i + 1, arena),
                             tokens_text(t, i - 1, i - 1, arena)),
                m);
}

void mutation_operands_swapped(const struct tokens *t, size_t i, struct arena *arena,
                               struct mutant *m)
{
    static const char *const NOT_THESE[] = {"min",    "max",  "fmin",  "fmax", "fminf",
                                            "fmaxf",  "if",   "while", "for",  "switch",
                                            "sizeof", "dim3", NULL};
    if (token_is(t, i, "-")) {
        swap_minus(t, i, arena, m);
        return;
    }
    size_t end = call_end(t, i), comma = end ? comma_of_two(t, i + 1, end) : 0;
    bool is_value =
        i > 0 && (token_is_kind(t, i - 1, TOKEN_OPERATOR) || token_is(t, i - 1, "return"));
    static const char *const DECLARATIONS[] = {"*", "&", ">", ";", "}", "{", ".", "->", "::", NULL};
    if (!comma || !is_value || is_one_of(t, i, NOT_THESE) || begins_with(t, i, "atomic") ||
        begins_with(t, i, "__") || begins_with(t, i, "cuda") || is_one_of(t, i - 1, DECLARATIONS))
        return;
    const char *a = tokens_text(t, i + 2, comma - 1, arena);
    const char *b = tokens_text(t, comma + 1, end - 1, arena);
    if (strcmp(a, b) != 0)
        replace(t, i + 2, end - 1, arena_printf(arena, "%s, %s", b, a), m);
}

void mutation_addend_dropped(const struct tokens *t, size_t i, struct arena *arena,
                             struct mutant *m)
{
    (void)arena;
    if (i == 0 || !token_is(t, i, "+") || !ends_operand(t, i - 1) ||
        !token_is_kind(t, i + 1, TOKEN_WORD))
        return;
    size_t end = i + 1;
    for (;;) {
        if (token_is(t, end + 1, "[") || token_is(t, end + 1, "("))
            end = token_close(t, end + 1);
        else if (token_is(t, end + 1, ".") || token_is(t, end + 1, "->") ||
                 token_is(t, end + 1, "::"))
            end += 2;
        else
            break;
    }
    /* A factor of a product is not the whole addend. */
    if (end < t->count && !token_is(t, end + 1, "*") && !token_is(t, end + 1, "/") &&
        !token_is(t, end + 1, "%"))
        replace(t, i, end, "", m);
}

void mutation_sum_to_assignment(const struct tokens *t, size_t i, struct arena *arena,
                                struct mutant *m)
{
    (void)arena;
    if (token_is(t, i, "+="))
        replace(t, i, i, "=", m);
}

void mutation_type_narrowed(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    bool declares = token_is_kind(t, i + 1, TOKEN_WORD) && !token_is(t, i + 2, "(");
    if (token_is(t, i, "int") && declares &&
        !(i > 0 && (token_is(t, i - 1, "unsigned") || token_is(t, i - 1, "long"))))
        replace(t, i, i, "short", m);
    else if (token_is(t, i, "unsigned") && declares && !token_is(t, i + 1, "int") &&
             !token_is(t, i + 1, "long") && !token_is(t, i + 1, "char") &&
             !token_is(t, i + 1, "short"))
        replace(t, i, i, "unsigned short", m);
    else if (token_is(t, i, "long") && token_is(t, i + 1, "long") &&
             token_is_kind(t, i + 2, TOKEN_WORD) && !token_is(t, i + 3, "("))
        replace(t, i, i + 1, "int", m);
}

/* ---- calls ---- */

void mutation_shuffle_reversed(const struct tokens *t, size_t i, struct arena *arena,
                               struct mutant *m)
{
    (void)arena;
    static const char *const PAIRS[][2] = {{"__shfl_up_sync", "__shfl_down_sync"},
                                           {"__shfl_down_sync", "__shfl_up_sync"},
                                           {"shfl_up", "shfl_down"},
                                           {"shfl_down", "shfl_up"}};
    for (size_t k = 0; k < 4; k++)
        if (token_is(t, i, PAIRS[k][0]))
            replace(t, i, i, PAIRS[k][1], m);
}

/* The fourth argument of <<< >>>. */
void mutation_stream_dropped(const struct tokens *t, size_t i, struct arena *arena,
                             struct mutant *m)
{
    (void)arena;
    unsigned commas = 0;
    size_t last = 0;
    if (!token_is(t, i, "<<<"))
        return;
    for (size_t k = i + 1; k < t->count && !token_is(t, k, ">>>"); k++) {
        if (token_is(t, k, "(") || token_is(t, k, "{"))
            k = token_close(t, k);
        else if (token_is(t, k, ",") && ++commas == 3)
            last = k;
        if (last && token_is(t, k + 1, ">>>") && k > last)
            replace(t, last + 1, k, "0", m);
    }
}

void mutation_clear_dropped(const struct tokens *t, size_t i, struct arena *arena, struct mutant *m)
{
    (void)arena;
    size_t end = call_end(t, i);
    if (end && (token_is(t, i, "cudaMemsetAsync") || token_is(t, i, "cudaMemset")))
        replace(t, i, end, "cudaSuccess", m);
}
