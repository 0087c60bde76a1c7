/* Statements are templates: a `$` and a letter stand for something random.
 *   $d $r  a 32-bit register      $D $R  a 64-bit register       $p     a predicate
 *   $a     a register or a literal of 32 bits                    $A     the same of 64 bits
 *   $i     0 to 70                $x     0 to 255                $k     0 to 3
 *   $j     0 to 31                $f     position and length of a field within 32 bits
 *   $m     the mask of the lanes that execute this together
 * %t0 to %t3 (32 bits), %u0 and %u1 (64 bits), %h0 to %h3 (16 bits) and %q0 are free for use inside
 * one statement. What the ISA leaves open (division by zero, shuffles from lanes that do not take
 * part) does not occur. Operations that need a mask get one from a ballot at the branch before. */
#include "random.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 12, WIDE_REGISTERS = 6, PREDICATES = 4, DEPTH_MOST = 3, SLICE_WORDS = 16 };

struct generator {
    uint64_t state;
    char *text;
    size_t used, capacity;
    bool failed;
    const bool *skip; /* statements to leave out, by their number; NULL: none */
    unsigned statements;
    unsigned silent; /* > 0: nothing is written, though all is drawn */
    unsigned labels;
    unsigned depth;  /* of branches and loops */
    bool knows_mask; /* operations across lanes are possible */
    char mask[16];
};

/* ---- random numbers: splitmix64, by Steele, Lea and Flood, OOPSLA 2014 ---- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t next(uint64_t *state)
{
    return mix(*state += 0x9e3779b97f4a7c15u);
}

static unsigned below(struct generator *g, unsigned n)
{
    return (unsigned)(next(&g->state) >> 33) % n;
}

/* Numbers near which mistakes are likely, as often as any others. */
static uint64_t interesting(uint64_t *state)
{
    static const uint64_t EDGES[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     15,
                                     16,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     127,
                                     128,
                                     255,
                                     256,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffffff,
                                     0x80000000,
                                     0x80000001,
                                     0xffffffff,
                                     0xfffffffe,
                                     0x100000000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff,
                                     0x5555555555555555,
                                     0xaaaaaaaaaaaaaaaa,
                                     0x00ff00ff00ff00ff,
                                     0x8000800080008000,
                                     0x7f807f807f807f80};
    uint64_t r = next(state), v = next(state);
    if (r & 1)
        return EDGES[(r >> 8) % (sizeof EDGES / sizeof *EDGES)];
    return r & 2 ? v : v >> (r >> 8 & 63);
}

/* ---- text ---- */

static void add(struct generator *g, const char *format, ...)
{
    va_list list;
    char line[512];
    va_start(list, format);
    int n =
        vsnprintf(line, sizeof line, format, list); /* NOLINT(clang-analyzer-valist.*): it is set */
    va_end(list);
    if (g->silent)
        return;
    if (g->used + (size_t)n + 1 > g->capacity) {
        size_t capacity = 2 * g->capacity + 65536;
        char *text = realloc(g->text, capacity);
        if (!text) {
            g->failed = true;
            return;
        }
        g->text = text;
        g->capacity = capacity;
    }
    memcpy(g->text + g->used, line, (size_t)n + 1);
    g->used += (size_t)n;
}

static void add_choice(struct generator *g, char what)
{
    switch (what) {
    case 'd':
    case 'r':
        add(g, "%%r%u", below(g, REGISTERS));
        break;
    case 'D':
    case 'R':
        add(g, "%%w%u", below(g, WIDE_REGISTERS));
        break;
    case 'p':
        add(g, "%%p%u", below(g, PREDICATES));
        break;
    case 'a':
        if (below(g, 4))
            add(g, "%%r%u", below(g, REGISTERS));
        else
            add(g, "0x%x", (unsigned)(uint32_t)interesting(&g->state));
        break;
    case 'A':
        if (below(g, 4))
            add(g, "%%w%u", below(g, WIDE_REGISTERS));
        else
            add(g, "0x%llx", (unsigned long long)interesting(&g->state));
        break;
    case 'i':
        add(g, "%u", below(g, 71));
        break;
    case 'j':
        add(g, "%u", below(g, 32));
        break;
    case 'f': {
        unsigned position = below(g, 32);
        add(g, "%u, %u", position, below(g, 33 - position));
        break;
    }
    case 'x':
        add(g, "%u", below(g, 256));
        break;
    case 'k':
        add(g, "%u", below(g, 4));
        break;
    default: /* m */
        add(g, "%s", g->mask);
        break;
    }
}

/* A statement from its template; one of a single instruction may be guarded, if lanes may part. */
static void add_template(struct generator *g, const char *template, bool may_guard)
{
    if (may_guard && !strchr(template, '\n') && below(g, 6) == 0)
        add(g, "@%s%%p%u ", below(g, 2) ? "!" : "", below(g, PREDICATES));
    for (const char *s = template; *s; s++) {
        if (*s == '$')
            add_choice(g, *++s);
        else
            add(g, "%c", *s);
    }
    add(g, "\n");
}

/* ---- statements ---- */

enum group { PLAIN, SHARING, MASKED, WHOLE };

static const struct {
    enum group group;
    const char *template;
} STATEMENTS[] = {
#define STATEMENT(group, template) {group, template},
#include "statements.def"
#undef STATEMENT
};

/* A random one of a group: rows of a group follow each other. */
static const char *pick(struct generator *g, enum group group)
{
    unsigned first = 0, count = 0;
    for (unsigned k = 0; k < sizeof STATEMENTS / sizeof *STATEMENTS; k++) {
        first += STATEMENTS[k].group < group;
        count += STATEMENTS[k].group == group;
    }
    return STATEMENTS[first + below(g, count)].template;
}

/* ---- control ---- */

static void add_body(struct generator *g, unsigned statements);

static void add_nested(struct generator *g, const char *mask, bool knows_mask)
{
    char before[sizeof g->mask];
    bool knew = g->knows_mask;
    memcpy(before, g->mask, sizeof before);
    if (mask)
        snprintf(g->mask, sizeof g->mask, "%s", mask);
    g->knows_mask = knows_mask;
    g->depth++;
    add_body(g, 2 + below(g, 5));
    g->depth--;
    g->knows_mask = knew;
    memcpy(g->mask, before, sizeof before);
}

static void add_if(struct generator *g)
{
    unsigned n = g->labels++, d = g->depth, p = below(g, PREDICATES);
    bool other = below(g, 2), ballot = g->knows_mask;
    char yes[16], no[16];
    snprintf(yes, sizeof yes, "%%yes%u", d);
    snprintf(no, sizeof no, "%%no%u", d);
    if (ballot)
        add(g, "vote.sync.ballot.b32 %s, %%p%u, %s;\nxor.b32 %s, %s, %s;\n", yes, p, g->mask, no,
            yes, g->mask);
    add(g, "@!%%p%u bra ELSE%u;\n", p, n);
    add_nested(g, yes, ballot);
    if (other)
        add(g, "bra END%u;\n", n);
    add(g, "ELSE%u:\n", n);
    if (other) {
        add_nested(g, no, ballot);
        add(g, "END%u:\n", n);
    }
}

static void add_loop(struct generator *g)
{
    unsigned n = g->labels++, d = g->depth;
    char mask[16];
    bool ballot = g->knows_mask;
    snprintf(mask, sizeof mask, "%%loop%u", d);
    add(g, "and.b32 %%left%u, %%r%u, 3;\n", d, below(g, REGISTERS));
    if (ballot)
        add(g, "mov.b32 %s, %s;\n", mask, g->mask);
    add(g, "LOOP%u:\nsetp.ne.u32 %%more%u, %%left%u, 0;\n", n, d, d);
    if (ballot)
        add(g, "vote.sync.ballot.b32 %s, %%more%u, %s;\n", mask, d, mask);
    add(g, "@!%%more%u bra DONE%u;\nsub.u32 %%left%u, %%left%u, 1;\n", d, n, d, d);
    add_nested(g, mask, ballot);
    add(g, "bra LOOP%u;\nDONE%u:\n", n, n);
}

static void add_switch(struct generator *g)
{
    unsigned n = g->labels++;
    add(g,
        "and.b32 %%t0, %%r%u, 3;\nLIST%u: .branchtargets C%u_0, C%u_1, C%u_2, C%u_1;\n"
        "brx.idx %%t0, LIST%u;\n",
        below(g, REGISTERS), n, n, n, n, n, n);
    for (unsigned k = 0; k < 3; k++) {
        add(g, "C%u_%u:\n", n, k);
        add_nested(g, NULL, false);
        if (k < 2)
            add(g, "bra OUT%u;\n", n);
    }
    add(g, "OUT%u:\n", n);
}

static void add_statement(struct generator *g)
{
    unsigned kind = below(g, 100);
    if (kind < 5 && g->depth < DEPTH_MOST)
        add_if(g);
    else if (kind < 8 && g->depth < DEPTH_MOST)
        add_loop(g);
    else if (kind < 9 && g->depth < DEPTH_MOST)
        add_switch(g);
    else if (kind < 14)
        add_template(g, pick(g, SHARING), true);
    else if (kind < 22 && g->knows_mask)
        add_template(g, pick(g, MASKED), false);
    else if (kind < 30 && g->depth == 0)
        add_template(g, pick(g, WHOLE), false);
    else
        add_template(g, pick(g, PLAIN), true);
}

static void add_body(struct generator *g, unsigned statements)
{
    for (unsigned k = 0; k < statements; k++) {
        unsigned number = g->statements++;
        bool skipped = g->skip && number < RANDOM_STATEMENTS && g->skip[number];
        g->silent += skipped;
        add_statement(g);
        g->silent -= skipped;
    }
}

/* ---- a kernel ---- */

static void add_declarations(struct generator *g)
{
    add(g, ".reg .b32 %%r<%d>, %%t<4>, %%yes<8>, %%no<8>, %%loop<8>, %%left<8>;\n", REGISTERS);
    add(g, ".reg .b64 %%w<%d>, %%u<2>, %%own, %%counters, %%in;\n", WIDE_REGISTERS);
    add(g, ".reg .b32 %%room, %%slot, %%other, %%sums, %%thread;\n.reg .b16 %%h<4>;\n");
    add(g, ".reg .pred %%p<%d>, %%q<1>, %%more<8>;\n", PREDICATES);
    add(g,
        ".shared .align 16 .b8 rooms[%d];\n.shared .align 16 .b8 slots[%d];\n"
        ".shared .align 16 .b8 sums[32];\n.local .align 16 .b8 home[64];\n",
        RANDOM_THREADS * SLICE_WORDS * 4, RANDOM_THREADS * 4);
}

static void add_start(struct generator *g)
{
    add(g,
        "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%tid.x;\nmad.lo.u32 %%thread, %%t0, %d, %%t1;\n",
        RANDOM_THREADS);
    add(g, "ld.param.u64 %%in, [in];\nmad.wide.u32 %%in, %%thread, %d, %%in;\n",
        RANDOM_IN_WORDS * 4);
    add(g, "ld.param.u64 %%own, [out];\nmad.wide.u32 %%own, %%thread, %d, %%own;\n",
        RANDOM_OUT_WORDS * 4);
    add(g, "ld.param.u64 %%counters, [counters];\n");
    add(g, "mov.u32 %%room, rooms;\nmad.lo.u32 %%room, %%t1, %d, %%room;\n", SLICE_WORDS * 4);
    add(g,
        "mov.u32 %%slot, slots;\nxor.b32 %%t2, %%t1, %u;\nmad.lo.u32 %%other, %%t2, 4, %%slot;\n"
        "mad.lo.u32 %%slot, %%t1, 4, %%slot;\nmov.u32 %%sums, sums;\n",
        below(g, RANDOM_THREADS));
    for (unsigned k = 0; k < REGISTERS; k += 4)
        add(g, "ld.global.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%in+%u];\n", k, k + 1, k + 2,
            k + 3, 4 * k);
    for (unsigned k = 0; k < WIDE_REGISTERS; k += 2)
        add(g, "ld.global.v2.u64 {%%w%u, %%w%u}, [%%in+%u];\n", k, k + 1, 4 * REGISTERS + 8 * k);
    for (unsigned k = 0; k < PREDICATES; k++)
        add(g, "setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", k, k, k + 4);
    for (unsigned k = 0; k < SLICE_WORDS; k += 4) {
        unsigned a = k % REGISTERS, b = (k + 4) % REGISTERS;
        add(g, "st.shared.v4.u32 [%%room+%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", 4 * k, a, a + 1,
            a + 2, a + 3);
        add(g, "st.local.v4.u32 [home+%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", 4 * k, b, b + 1, b + 2,
            b + 3);
    }
    add(g, "st.shared.u32 [%%slot], %%r0;\nsetp.lt.u32 %%q0, %%t1, 8;\nmad.lo.u32 %%t3, %%t1, 4, "
           "%%sums;\n@%%q0 st.shared.u32 [%%t3], 0;\nbar.sync 0;\n");
}

/* Everything that a thread knows, into its slice behind the words it plays with. */
static void add_end(struct generator *g)
{
    unsigned at = 4 * SLICE_WORDS;
    add(g, "bar.sync 0;\nmov.u32 %%t1, %%tid.x;\nand.b32 %%t1, %%t1, 7;\nmad.lo.u32 %%t1, %%t1, 4, "
           "%%sums;\nld.shared.u32 %%t0, [%%t1];\nld.shared.u32 %%t1, [%%room+60];\n"
           "ld.local.u32 %%t2, [home+28];\n");
    for (unsigned k = 0; k < WIDE_REGISTERS; k += 2, at += 16)
        add(g, "st.global.v2.u64 [%%own+%u], {%%w%u, %%w%u};\n", at, k, k + 1);
    for (unsigned k = 0; k < REGISTERS; k += 4, at += 16)
        add(g, "st.global.v4.u32 [%%own+%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", at, k, k + 1, k + 2,
            k + 3);
    add(g, "mov.u32 %%t3, 0;\n");
    for (unsigned k = 0; k < PREDICATES; k++)
        add(g, "@%%p%u or.b32 %%t3, %%t3, %u;\n", k, 1u << k);
    add(g, "st.global.v4.u32 [%%own+%u], {%%t0, %%t1, %%t2, %%t3};\nret;\n", at);
}

static void add_kernel(struct generator *g, unsigned index)
{
    add(g, ".visible .entry k%u(.param .u64 in, .param .u64 out, .param .u64 counters)\n{\n",
        index);
    add_declarations(g);
    add_start(g);
    g->depth = 0;
    g->labels = 0;
    g->knows_mask = true;
    snprintf(g->mask, sizeof g->mask, "-1");
    add_body(g, 12 + below(g, 30));
    add_end(g);
    add(g, "}\n");
}

static void add_header(struct generator *g)
{
    add(g,
        ".version 8.3\n.target sm_90\n.address_size 64\n"
        ".func (.param .b32 c) blend(.param .b32 a, .param .b32 b)\n{\n"
        ".reg .b32 %%x, %%y, %%z; .reg .pred %%big;\nld.param.b32 %%x, [a];\n"
        "ld.param.b32 %%y, [b];\nmul.lo.u32 %%z, %%x, 0x9e3779b1;\nsetp.gt.u32 %%big, %%z, %%y;\n"
        "@%%big bra SKIP;\nshf.l.wrap.b32 %%z, %%z, %%y, 7;\nSKIP:\nxor.b32 %%z, %%z, %%x;\n"
        "st.param.b32 [c], %%z;\nret;\n}\n");
}

static char *finish(struct generator *g)
{
    if (!g->failed)
        return g->text;
    free(g->text);
    return NULL;
}

char *random_module(uint64_t batch)
{
    struct generator g = {.state = mix(batch * 2 + 1)};
    add_header(&g);
    for (unsigned k = 0; k < RANDOM_KERNELS; k++)
        add_kernel(&g, k);
    return finish(&g);
}

char *random_kernel(uint64_t batch, unsigned kernel, const bool *skip, unsigned *statements)
{
    struct generator g = {.state = mix(batch * 2 + 1)};
    add_header(&g);
    g.silent = 1;
    for (unsigned k = 0; k < kernel; k++)
        add_kernel(&g, k);
    g.silent = 0;
    g.skip = skip;
    g.statements = 0;
    add_kernel(&g, kernel);
    *statements = g.statements < RANDOM_STATEMENTS ? g.statements : RANDOM_STATEMENTS;
    return finish(&g);
}

/* ---- data ---- */

void random_input(uint64_t batch, uint32_t *in)
{
    uint64_t state = mix(batch * 2 + 2);
    for (size_t k = 0; k < (size_t)RANDOM_ALL_THREADS * RANDOM_IN_WORDS; k++)
        in[k] = (uint32_t)interesting(&state);
}

void random_counters(uint32_t *counters)
{
    memset(counters, 0, RANDOM_COUNTERS * sizeof *counters);
    counters[1] = counters[4] = 0xffffffffu; /* and, min.u32 */
    counters[6] = 0x7fffffffu;               /* min.s32 */
    counters[7] = 0x80000000u;               /* max.s32 */
    counters[36] = 0xffffffffu;              /* min.s64 */
    counters[37] = 0x7fffffffu;
}

/* FNV-1a over words, by Fowler, Noll and Vo. */
uint64_t random_hash(const uint32_t *out, const uint32_t *counters)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t k = 0; k < (size_t)RANDOM_ALL_THREADS * RANDOM_OUT_WORDS; k++)
        h = (h ^ out[k]) * 0x100000001b3u;
    for (size_t k = 0; k < RANDOM_COUNTERS; k++)
        h = (h ^ counters[k]) * 0x100000001b3u;
    return h;
}
