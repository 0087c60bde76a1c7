/* Statements are templates: a `$` and a letter stand for something random.
 *   $d $r  a 32-bit register      $D $R  a 64-bit register       $p     a predicate
 *   $a     a register or a literal of 32 bits                    $A     the same of 64 bits
 *   $i     0 to 70                $x     0 to 255                $k     0 to 3
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
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
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

/* ---- what a thread does by itself ---- */

static const char *const PLAIN[] = {
    /* 32 bits */
    "add.u32 $d, $r, $a;",
    "sub.u32 $d, $a, $r;",
    "add.sat.s32 $d, $r, $a;",
    "sub.sat.s32 $d, $r, $a;",
    "mul.lo.s32 $d, $r, $a;",
    "mul.hi.s32 $d, $r, $a;",
    "mul.hi.u32 $d, $r, $a;",
    "mad.lo.s32 $d, $r, $a, $r;",
    "mad.hi.s32 $d, $r, $r, $a;",
    "mad.hi.u32 $d, $r, $r, $a;",
    "mad.hi.sat.s32 $d, $r, $r, $r;",
    "min.s32 $d, $r, $a;",
    "max.s32 $d, $r, $a;",
    "min.u32 $d, $r, $a;",
    "max.u32 $d, $r, $a;",
    "abs.s32 $d, $r;",
    "neg.s32 $d, $r;",
    "sad.s32 $d, $r, $r, $r;",
    "sad.u32 $d, $r, $r, $a;",
    "and.b32 $d, $r, $a;",
    "or.b32 $d, $r, $a;",
    "xor.b32 $d, $r, $a;",
    "not.b32 $d, $r;",
    "cnot.b32 $d, $r;",
    "shl.b32 $d, $r, $i;",
    "shr.u32 $d, $r, $i;",
    "shr.s32 $d, $r, $i;",
    "shl.b32 $d, $a, $r;",
    "shr.u32 $d, $r, $r;",
    "shr.s32 $d, $a, $r;",
    "shf.l.wrap.b32 $d, $r, $r, $a;",
    "shf.r.wrap.b32 $d, $r, $r, $i;",
    "shf.l.clamp.b32 $d, $r, $r, $i;",
    "shf.r.clamp.b32 $d, $r, $r, $a;",
    "bfe.u32 $d, $r, $i, $i;",
    "bfe.s32 $d, $r, $i, $i;",
    "bfe.s32 $d, $r, $r, $r;",
    "bfi.b32 $d, $r, $r, $i, $i;",
    "bfi.b32 $d, $r, $a, $r, $r;",
    "brev.b32 $d, $r;",
    "popc.b32 $d, $r;",
    "clz.b32 $d, $r;",
    "bfind.u32 $d, $r;",
    "bfind.s32 $d, $r;",
    "bfind.shiftamt.u32 $d, $r;",
    "bfind.shiftamt.s32 $d, $r;",
    "prmt.b32 $d, $r, $r, $a;",
    "prmt.b32.f4e $d, $r, $r, $k;",
    "prmt.b32.b4e $d, $r, $r, $k;",
    "prmt.b32.rc8 $d, $r, $r, $k;",
    "prmt.b32.ecl $d, $r, $r, $k;",
    "prmt.b32.ecr $d, $r, $r, $k;",
    "prmt.b32.rc16 $d, $r, $r, $k;",
    "lop3.b32 $d, $r, $r, $r, $x;",
    "lop3.b32 $d, $r, $a, $r, $x;",
    "dp4a.s32.s32 $d, $r, $r, $r;",
    "dp4a.u32.s32 $d, $r, $r, $r;",
    "dp4a.u32.u32 $d, $r, $r, $r;",
    "dp2a.lo.s32.s32 $d, $r, $r, $r;",
    "dp2a.hi.u32.u32 $d, $r, $r, $r;",
    "dp2a.hi.s32.u32 $d, $r, $r, $r;",
    "bmsk.clamp.b32 $d, $i, $i;",
    "bmsk.wrap.b32 $d, $r, $i;",
    "szext.wrap.s32 $d, $r, $r;",
    "szext.clamp.u32 $d, $r, $i;",
    "selp.b32 $d, $r, $a, $p;",
    "slct.b32.s32 $d, $r, $r, $r;",
    "set.lt.u32.s32 $d, $r, $a;",
    "set.hi.u32.u32 $d, $r, $a;",
    "min.s16x2 $d, $r, $r;",
    "max.u16x2 $d, $r, $r;",
    "add.s16x2 $d, $r, $r;",
    "vabsdiff4.u32.u32.u32.add $d, $r, $r, $r;",
    "vabsdiff4.s32.s32.s32 $d, $r, $r, $r;",
    "mov.b32 $d, $a;",
    "mul24.lo.u32 $d, $x, $x;",
    "or.b32 %t0, $r, 1;\ndiv.u32 $d, $a, %t0;",
    "or.b32 %t0, $r, 1;\nrem.u32 $d, $r, %t0;",
    "and.b32 %t0, $r, 0x7fffffff;\nor.b32 %t0, %t0, 1;\ndiv.s32 $d, $r, %t0;",
    "and.b32 %t0, $r, 0x7fffffff;\nor.b32 %t0, %t0, 1;\nrem.s32 $d, $r, %t0;",
    "and.b32 %t0, $r, 0xffffff;\nand.b32 %t1, $r, 0xffffff;\nmul24.hi.u32 $d, %t0, %t1;",
    "add.cc.u32 $d, $r, $r;\naddc.cc.u32 $d, $r, $r;\naddc.u32 $d, $r, $a;",
    "sub.cc.u32 $d, $r, $r;\nsubc.cc.u32 $d, $r, $r;\nsubc.u32 $d, $r, $a;",
    "mad.lo.cc.u32 $d, $r, $r, $r;\nmadc.hi.u32 $d, $r, $r, $a;",
    /* 64 bits */
    "add.s64 $D, $R, $A;",
    "sub.s64 $D, $R, $A;",
    "mul.lo.s64 $D, $R, $A;",
    "mul.hi.s64 $D, $R, $R;",
    "mul.hi.u64 $D, $R, $A;",
    "mad.lo.s64 $D, $R, $R, $A;",
    "mul.wide.s32 $D, $r, $a;",
    "mul.wide.u32 $D, $r, $a;",
    "mad.wide.s32 $D, $r, $r, $R;",
    "mad.wide.u32 $D, $r, $a, $R;",
    "min.s64 $D, $R, $A;",
    "max.s64 $D, $R, $A;",
    "min.u64 $D, $R, $A;",
    "max.u64 $D, $R, $A;",
    "abs.s64 $D, $R;",
    "neg.s64 $D, $R;",
    "and.b64 $D, $R, $A;",
    "or.b64 $D, $R, $A;",
    "xor.b64 $D, $R, $A;",
    "not.b64 $D, $R;",
    "shl.b64 $D, $R, $i;",
    "shr.u64 $D, $R, $i;",
    "shr.s64 $D, $R, $r;",
    "bfe.u64 $D, $R, $i, $i;",
    "bfe.s64 $D, $R, $i, $i;",
    "bfi.b64 $D, $R, $R, $i, $i;",
    "brev.b64 $D, $R;",
    "popc.b64 $d, $R;",
    "clz.b64 $d, $R;",
    "bfind.u64 $d, $R;",
    "bfind.s64 $d, $R;",
    "selp.b64 $D, $R, $A, $p;",
    "or.b64 %u0, $R, 1;\ndiv.u64 $D, $R, %u0;",
    "or.b64 %u0, $R, 1;\nrem.u64 $D, $A, %u0;",
    "mov.b64 $D, {$r, $r};",
    "mov.b64 {%t0, %t1}, $R;\nxor.b32 $d, %t0, %t1;",
    "sad.s64 $D, $R, $R, $R;",
    "slct.b64.s32 $D, $R, $R, $r;",
    /* widths */
    "cvt.s64.s32 $D, $r;",
    "cvt.u64.u32 $D, $r;",
    "cvt.u32.u64 $d, $R;",
    "cvt.sat.s32.s64 $d, $R;",
    "cvt.sat.u32.s64 $d, $R;",
    "cvt.sat.u32.u64 $d, $R;",
    "cvt.sat.u32.s32 $d, $r;",
    "cvt.s32.s8 $d, $r;",
    "cvt.u32.u8 $d, $r;",
    "cvt.s32.s16 $d, $r;",
    "mov.b32 {%h0, %h1}, $r;\nadd.s16 %h2, %h0, %h1;\ncvt.s32.s16 $d, %h2;",
    "mov.b32 {%h0, %h1}, $r;\nmul.lo.s16 %h2, %h0, %h1;\nmin.s16 %h3, %h0, %h2;\nmov.b32 $d, {%h3, "
    "%h2};",
    "mov.b32 {%h0, %h1}, $r;\nmad.wide.s16 $d, %h0, %h1, $r;",
    "mov.b32 {%h0, %h1}, $r;\nmul.wide.u16 $d, %h0, %h1;",
    "cvt.sat.s16.s32 %h0, $r;\ncvt.sat.u8.s16 %h1, %h0;\ncvt.u32.u16 $d, %h1;",
    "cvt.u16.u32 %h0, $r;\nshr.s16 %h1, %h0, $i;\nshl.b16 %h2, %h0, $i;\nmov.b32 $d, {%h1, %h2};",
    /* predicates */
    "setp.lt.s32 $p, $r, $a;",
    "setp.le.u32 $p, $r, $a;",
    "setp.gt.s32 $p, $r, $a;",
    "setp.ge.u32 $p, $a, $r;",
    "setp.eq.b32 $p, $r, $a;",
    "setp.ne.b64 $p, $R, $A;",
    "setp.lt.s64 $p, $R, $A;",
    "setp.hs.u64 $p, $R, $A;",
    "setp.lt.and.s32 $p, $r, $r, $p;",
    "setp.ge.or.u32 $p, $r, $a, !$p;",
    "setp.ne.xor.s32 $p, $r, $a, $p;",
    "setp.gt.s32 %p0|%p1, $r, $a;",
    "setp.lo.or.u32 %p2|%p3, $r, $a, $p;",
    "and.pred $p, $p, $p;",
    "or.pred $p, $p, $p;",
    "xor.pred $p, $p, $p;",
    "not.pred $p, $p;",
    "mov.b32 {%h0, %h1}, $r;\nsetp.lt.s16 $p, %h0, %h1;",
    "lop3.or.b32 $d|%q0, $r, $r, $r, $x, $p;",
    /* a call */
    "{\n.param .b32 a; .param .b32 b; .param .b32 c;\nst.param.b32 [a], $r;\nst.param.b32 [b], "
    "$a;\n"
    "call (c), blend, (a, b);\nld.param.b32 $d, [c];\n}",
    /* memory of its own: 16 words in global, shared and local memory */
    "and.b32 %t0, $r, 60;\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %own, %u0;\nld.global.u32 $d, "
    "[%u0];",
    "and.b32 %t0, $r, 60;\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %own, %u0;\nst.global.u32 [%u0], "
    "$r;",
    "and.b32 %t0, $r, 63;\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %own, %u0;\nst.global.u8 [%u0], $r;",
    "and.b32 %t0, $r, 63;\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %own, %u0;\nld.global.s8 $d, [%u0];",
    "and.b32 %t0, $r, 62;\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %own, %u0;\nld.global.u16 $d, "
    "[%u0];",
    "st.global.v2.u32 [%own+8], {$r, $r};",
    "st.global.v4.u32 [%own+16], {$r, $r, $r, $r};",
    "ld.global.v4.u32 {%t0, %t1, %t2, %t3}, [%own];\nadd.u32 $d, %t0, %t3;\nxor.b32 $d, %t1, %t2;",
    "st.global.u64 [%own+32], $R;",
    "ld.global.u64 $D, [%own+40];",
    "and.b32 %t0, $r, 60;\nadd.u32 %t0, %room, %t0;\nst.shared.u32 [%t0], $r;",
    "and.b32 %t0, $r, 60;\nadd.u32 %t0, %room, %t0;\nld.shared.u32 $d, [%t0];",
    "and.b32 %t0, $r, 63;\nadd.u32 %t0, %room, %t0;\nst.shared.u8 [%t0], $r;",
    "st.shared.v2.u32 [%room+8], {$r, $r};",
    "ld.shared.u64 $D, [%room+16];",
    "ld.shared.v4.u32 {%t0, %t1, %t2, %t3}, [%room+32];\nsub.u32 $d, %t1, %t2;",
    "and.b32 %t0, $r, 60;\nmov.u32 %t1, home;\nadd.u32 %t0, %t0, %t1;\nst.local.u32 [%t0], $r;",
    "and.b32 %t0, $r, 60;\nmov.u32 %t1, home;\nadd.u32 %t0, %t0, %t1;\nld.local.u32 $d, [%t0];",
    "atom.global.exch.b32 $d, [%own+4], $r;",
    "atom.global.cas.b32 $d, [%own+12], $r, $r;",
    "atom.global.add.u32 $d, [%own+20], $r;",
    "atom.shared.max.s32 $d, [%room+4], $r;",
    "atom.global.inc.u32 $d, [%own+24], $r;",
    "atom.shared.dec.u32 $d, [%room+12], $r;",
    "atom.global.xor.b64 $D, [%own+48], $R;",
    "atom.shared.cas.b64 $D, [%room+24], $R, $R;",
    "atom.global.min.s64 $D, [%own+56], $R;",
};

/* Commuting operations on words that everybody shares; word k takes the k-th operation only. In
 * global memory the 64-bit ones take the words from 32 on. */
static const char *const SHARING[] = {
    "red.global.add.u32 [%counters], $r;",     "red.global.and.b32 [%counters+4], $r;",
    "red.global.or.b32 [%counters+8], $r;",    "red.global.xor.b32 [%counters+12], $r;",
    "red.global.min.u32 [%counters+16], $r;",  "red.global.max.u32 [%counters+20], $r;",
    "red.global.min.s32 [%counters+24], $r;",  "red.global.max.s32 [%counters+28], $r;",
    "red.global.add.u64 [%counters+128], $R;", "red.global.max.u64 [%counters+136], $R;",
    "red.global.min.s64 [%counters+144], $R;", "red.global.xor.b64 [%counters+152], $R;",
    "red.shared.add.u32 [%sums], $r;",         "red.shared.xor.b32 [%sums+4], $r;",
    "red.shared.max.s32 [%sums+8], $r;",       "red.shared.or.b32 [%sums+12], $r;",
    "red.shared.add.u64 [%sums+16], $R;",
};

/* Lanes that execute it together, whoever they are. */
static const char *const MASKED[] = {
    "vote.sync.ballot.b32 $d, $p, $m;",
    "vote.sync.any.pred $p, $p, $m;",
    "vote.sync.all.pred $p, !$p, $m;",
    "vote.sync.uni.pred $p, $p, $m;",
    "match.any.sync.b32 $d, $r, $m;",
    "and.b32 %t0, $r, 3;\nmatch.any.sync.b32 $d, %t0, $m;",
    "match.any.sync.b64 $d, $R, $m;",
    "match.all.sync.b32 $d|%q0, $r, $m;\nselp.b32 $d, $r, $a, %q0;",
    "redux.sync.add.s32 $d, $r, $m;",
    "redux.sync.min.s32 $d, $r, $m;",
    "redux.sync.max.u32 $d, $r, $m;",
    "redux.sync.and.b32 $d, $r, $m;",
    "redux.sync.or.b32 $d, $r, $m;",
    "redux.sync.xor.b32 $d, $r, $m;",
    "bar.warp.sync $m;",
};

/* The whole warp. */
static const char *const WHOLE[] = {
    "shfl.sync.idx.b32 $d|%q0, $r, $r, 31, -1;\nselp.b32 $d, $r, $a, %q0;",
    "shfl.sync.up.b32 $d|$p, $r, $x, 0, -1;",
    "shfl.sync.down.b32 $d|$p, $r, $x, 31, -1;",
    "shfl.sync.bfly.b32 $d|$p, $r, $x, 31, -1;",
    "shfl.sync.down.b32 $d|$p, $r, 3, 0x181f, -1;",
    "shfl.sync.up.b32 $d|$p, $r, 2, 0x1800, -1;",
    "shfl.sync.idx.b32 $d|$p, $r, $r, 0x1c1f, -1;",
    "shfl.sync.bfly.b32 $d|$p, $r, 1, 0x181f, -1;",
    /* through shared memory, across the block */
    "bar.sync 0;\nst.shared.u32 [%slot], $r;\nbar.sync 0;\nld.shared.u32 $d, [%other];",
    "bar.red.popc.u32 $d, 0, $p;",
    "bar.red.or.pred $p, 0, $p;",
    "bar.red.and.pred $p, 0, !$p;",
};

#define PICK(g, list) (list)[below(g, (unsigned)(sizeof(list) / sizeof *(list)))]

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

static void add_body(struct generator *g, unsigned statements)
{
    for (unsigned k = 0; k < statements; k++) {
        unsigned kind = below(g, 100);
        if (kind < 5 && g->depth < DEPTH_MOST)
            add_if(g);
        else if (kind < 8 && g->depth < DEPTH_MOST)
            add_loop(g);
        else if (kind < 9 && g->depth < DEPTH_MOST)
            add_switch(g);
        else if (kind < 14)
            add_template(g, PICK(g, SHARING), true);
        else if (kind < 22 && g->knows_mask)
            add_template(g, PICK(g, MASKED), false);
        else if (kind < 30 && g->depth == 0)
            add_template(g, PICK(g, WHOLE), false);
        else
            add_template(g, PICK(g, PLAIN), true);
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
    for (unsigned k = 0; k < REGISTERS; k++)
        add(g, "ld.global.u32 %%r%u, [%%in+%u];\n", k, 4 * k);
    for (unsigned k = 0; k < WIDE_REGISTERS; k++)
        add(g, "ld.global.u64 %%w%u, [%%in+%u];\n", k, 4 * REGISTERS + 8 * k);
    for (unsigned k = 0; k < PREDICATES; k++)
        add(g, "setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", k, k, k + 4);
    for (unsigned k = 0; k < SLICE_WORDS; k++)
        add(g, "st.shared.u32 [%%room+%u], %%r%u;\nst.local.u32 [home+%u], %%r%u;\n", 4 * k,
            k % REGISTERS, 4 * k, (k + 5) % REGISTERS);
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
    for (unsigned k = 0; k < WIDE_REGISTERS; k++, at += 8)
        add(g, "st.global.u64 [%%own+%u], %%w%u;\n", at, k);
    for (unsigned k = 0; k < REGISTERS; k++, at += 4)
        add(g, "st.global.u32 [%%own+%u], %%r%u;\n", at, k);
    for (unsigned k = 0; k < 3; k++, at += 4)
        add(g, "st.global.u32 [%%own+%u], %%t%u;\n", at, k);
    add(g, "mov.u32 %%t3, 0;\n");
    for (unsigned k = 0; k < PREDICATES; k++)
        add(g, "@%%p%u or.b32 %%t3, %%t3, %u;\n", k, 1u << k);
    add(g, "st.global.u32 [%%own+%u], %%t3;\nret;\n", at);
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
    add_body(g, 20 + below(g, 40));
    add_end(g);
    add(g, "}\n");
}

char *random_module(uint64_t batch)
{
    struct generator g = {.state = mix(batch * 2 + 1)};
    add(&g,
        ".version 8.3\n.target sm_90\n.address_size 64\n"
        ".func (.param .b32 c) blend(.param .b32 a, .param .b32 b)\n{\n"
        ".reg .b32 %%x, %%y, %%z; .reg .pred %%big;\nld.param.b32 %%x, [a];\n"
        "ld.param.b32 %%y, [b];\nmul.lo.u32 %%z, %%x, 0x9e3779b1;\nsetp.gt.u32 %%big, %%z, %%y;\n"
        "@%%big bra SKIP;\nshf.l.wrap.b32 %%z, %%z, %%y, 7;\nSKIP:\nxor.b32 %%z, %%z, %%x;\n"
        "st.param.b32 [c], %%z;\nret;\n}\n");
    for (unsigned k = 0; k < RANDOM_KERNELS; k++)
        add_kernel(&g, k);
    if (!g.failed)
        return g.text;
    free(g.text);
    return NULL;
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
