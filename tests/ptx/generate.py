#!/usr/bin/env python3
"""Writes cases/gen_*.txt: inputs with edge values, and what the PTX manual says comes out.

Every operation is modelled here a second time, on Python integers and fractions, from the text of
NVIDIA's "PTX ISA" 9.0. Run it after a change: ./generate.py [folder]. The output is committed."""

import math
import os
import random
import struct
import sys
from fractions import Fraction
from math import isqrt

rnd = random.Random(20)
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "cases")


class File:
    def __init__(self, name, lanewise=True):
        self.out = open(os.path.join(FOLDER, name), "w")
        self.out.write("# Written by generate.py; see README.md.\nlanewise: %s\n"
                       % ("yes" if lanewise else "no"))

    def case(self, name, body, ins, outs):
        """ins, outs: lists of (TYPE, [values]); values are ints (bits) or strings."""
        count = max(len(v) for _, v in ins + outs)
        self.out.write("\ncase: %s\n" % name)
        for line in body.split("\n"):
            self.out.write("  %s\n" % line.strip())
        if count > 32:
            self.out.write("threads: %d\n" % count)
        for prefix, rows in (("a", ins), ("d", outs)):
            for i, (t, values) in enumerate(rows):
                if len(set(values)) == 1:
                    values = values[:1]
                self.out.write("%s%d.%s: %s\n" % (prefix, i, t, " ".join(show(v, t) for v in values)))


def show(v, t):
    if isinstance(v, str):
        return v
    w = 1 if t == "pred" else int("".join(c for c in t.split("x")[0] if c.isdigit()))
    if t.endswith("x2"):
        w *= 2
    v &= (1 << w) - 1
    if t == "f32":
        return "0f%08X" % v
    if t == "f64":
        return "0d%016X" % v
    if t[0] in "fb" and w > 1 or v > 9999999:
        return hex(v)
    return str(v)


def mask(w):
    return (1 << w) - 1


def sx(v, w):
    v &= mask(w)
    return v - (1 << w) if v >> (w - 1) else v


def val(v, t):
    w = int(t[1:])
    return sx(v, w) if t[0] == "s" else v & mask(w)


def edges(w):
    e = [0, 1, 2, 3, mask(w), mask(w) - 1, 1 << (w - 1), (1 << (w - 1)) - 1, (1 << (w - 1)) + 1, 7, 31,
         32, 33, 100, mask(w) - 99, 0x55555555 * 0x100000001 & mask(w), 0xdeadbeefcafef00d & mask(w),
         1 << (w // 2), (1 << (w // 2)) - 1, 255 & mask(w), 0x80]
    return e


def tuples(w, n, count=64):
    """`count` tuples of n values: the corners first, then edges and random bits."""
    core = [0, 1, mask(w), 1 << (w - 1), mask(w) >> 1, 2]
    out = []
    if n == 1:
        out = [(e,) for e in edges(w)]
    if n == 2:
        out = [(a, b) for a in core for b in core]
    while len(out) < count:
        out.append(tuple(rnd.choice(edges(w)) if rnd.random() < 0.5 else rnd.getrandbits(w)
                         for _ in range(n)))
    return out[:count]


def columns(rows):
    return [list(c) for c in zip(*rows)]


# ---- integers ----

def quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def div(a, b, w, t):
    if b == 0 or (t[0] == "s" and a == -(1 << (w - 1)) and b == -1):
        return "-"
    return quotient(a, b)


def rem(a, b, w, t):
    if b == 0 or (t[0] == "s" and a == -(1 << (w - 1)) and b == -1):
        return "-"
    return a - quotient(a, b) * b


def clamp(v, t):
    w = int(t[1:])
    low, high = (-(1 << (w - 1)), mask(w - 1)) if t[0] == "s" else (0, mask(w))
    return max(low, min(high, v))


def binary(f, op, t, model, out=None, count=64):
    w = int(t[1:])
    rows = tuples(w, 2, count)
    f.case(op, "%s %%d0, %%a0, %%a1;" % op, [(t, [r[0] for r in rows]), (t, [r[1] for r in rows])],
           [(out or t, [model(val(a, t), val(b, t)) for a, b in rows])])


def integers():
    f = File("gen_integer.txt")
    for t in ("s16", "u16", "s32", "u32", "s64", "u64"):
        w = int(t[1:])
        binary(f, "add." + t, t, lambda a, b: a + b)
        binary(f, "sub." + t, t, lambda a, b: a - b)
        binary(f, "mul.lo." + t, t, lambda a, b: a * b)
        binary(f, "mul.hi." + t, t, lambda a, b: a * b >> w)
        binary(f, "div." + t, t, lambda a, b: div(a, b, w, t))
        binary(f, "rem." + t, t, lambda a, b: rem(a, b, w, t))
        binary(f, "min." + t, t, min)
        binary(f, "max." + t, t, max)
        if w < 64:
            binary(f, "mul.wide." + t, t, lambda a, b: a * b, t[0] + str(2 * w))
        rows = tuples(w, 3, 48)
        ins = [(t, c) for c in columns(rows)]
        f.case("mad.lo." + t, "mad.lo.%s %%d0, %%a0, %%a1, %%a2;" % t, ins,
               [(t, [val(a, t) * val(b, t) + val(c, t) for a, b, c in rows])])
        f.case("mad.hi." + t, "mad.hi.%s %%d0, %%a0, %%a1, %%a2;" % t, ins,
               [(t, [(val(a, t) * val(b, t) >> w) + val(c, t) for a, b, c in rows])])
        f.case("sad." + t, "sad.%s %%d0, %%a0, %%a1, %%a2;" % t, ins,
               [(t, [val(c, t) + abs(val(a, t) - val(b, t)) for a, b, c in rows])])
        if w < 64:
            t2 = t[0] + str(2 * w)
            wide = [rnd.getrandbits(2 * w) for _ in rows]
            f.case("mad.wide." + t, "mad.wide.%s %%d0, %%a0, %%a1, %%a2;" % t,
                   ins[:2] + [(t2, wide)],
                   [(t2, [val(r[0], t) * val(r[1], t) + val(c, t2) for r, c in zip(rows, wide)])])
    binary(f, "add.sat.s32", "s32", lambda a, b: clamp(a + b, "s32"))
    binary(f, "sub.sat.s32", "s32", lambda a, b: clamp(a - b, "s32"))
    rows = tuples(32, 3, 48)
    f.case("mad.hi.sat.s32", "mad.hi.sat.s32 %d0, %a0, %a1, %a2;", [("s32", c) for c in columns(rows)],
           [("s32", [clamp((sx(a, 32) * sx(b, 32) >> 32) + sx(c, 32), "s32") for a, b, c in rows])])
    for t in ("s32", "u32"):
        def v24(v):
            return sx(v, 24) if t == "s32" else v & mask(24)
        ins = [(t, c) for c in columns(rows)]
        for half, shift in (("lo", 0), ("hi", 16)):
            f.case("mul24.%s.%s" % (half, t), "mul24.%s.%s %%d0, %%a0, %%a1;" % (half, t), ins[:2],
                   [(t, [v24(a) * v24(b) >> shift for a, b, _ in rows])])
            f.case("mad24.%s.%s" % (half, t), "mad24.%s.%s %%d0, %%a0, %%a1, %%a2;" % (half, t), ins,
                   [(t, [(v24(a) * v24(b) >> shift) + c for a, b, c in rows])])
    for t in ("s16", "s32", "s64"):
        w = int(t[1:])
        rows = tuples(w, 1, 32)
        for op, model in (("abs", abs), ("neg", lambda a: -a)):
            f.case("%s.%s" % (op, t), "%s.%s %%d0, %%a0;" % (op, t), [(t, [r[0] for r in rows])],
                   [(t, [model(val(r[0], t)) for r in rows])])
    carries(f)
    dots(f)
    pairs(f)
    literals(f)


def carries(f):
    rows = tuples(64, 3, 32)
    ins = [("u64", c) for c in columns(rows)]
    split = """.reg .b32 %l<4>, %h<4>; .reg .b32 %x<3>;
        mov.b64 {%l0, %h0}, %a0;
        mov.b64 {%l1, %h1}, %a1;
        mov.b64 {%l2, %h2}, %a2;
        """
    for name, body, model in (
            ("add.cc and addc", "add.cc.u32 %x0, %l0, %l1;\naddc.u32 %x1, %h0, %h1;",
             lambda a, b, c: a + b),
            ("sub.cc and subc", "sub.cc.u32 %x0, %l0, %l1;\nsubc.u32 %x1, %h0, %h1;",
             lambda a, b, c: a - b),
            ("mad.lo.cc and madc.hi",
             "mad.lo.cc.u32 %x0, %l0, %l1, %l2;\nmadc.hi.u32 %x1, %l0, %l1, %h2;",
             lambda a, b, c: (a & mask(32)) * (b & mask(32)) + c)):
        f.case(name, split + body + "\nmov.b64 %d0, {%x0, %x1};", ins,
               [("u64", [model(*r) for r in rows])])
    f.case("addc.cc carries on", split + """add.cc.u32 %x0, %l0, %l1;
        addc.cc.u32 %x1, %h0, %h1;
        addc.u32 %d0, 0, 0;""", ins, [("u32", [r[0] + r[1] >> 64 for r in rows])])
    f.case("subc.cc borrows on", split + """sub.cc.u32 %x0, %l0, %l1;
        subc.cc.u32 %x1, %h0, %h1;
        subc.u32 %d0, 0, 0;""", ins, [("u32", [-(r[0] < r[1]) for r in rows])])
    f.case("add.cc.u64 and addc.u64", "add.cc.u64 %d0, %a0, %a1;\naddc.u64 %d1, %a2, 0;", ins,
           [("u64", [r[0] + r[1] for r in rows]),
            ("u64", [r[2] + (r[0] + r[1] >> 64) for r in rows])])


def dots(f):
    rows = tuples(32, 3, 32)
    ins = [("u32", c) for c in columns(rows)]
    for at in ("u32", "s32"):
        for bt in ("u32", "s32"):
            ext = {"u32": lambda v, w: v & mask(w), "s32": sx}
            out = "u32" if at == bt == "u32" else "s32"

            def four(a, b, c):
                return c + sum(ext[at](a >> 8 * i, 8) * ext[bt](b >> 8 * i, 8) for i in range(4))
            f.case("dp4a.%s.%s" % (at, bt), "dp4a.%s.%s %%d0, %%a0, %%a1, %%a2;" % (at, bt), ins,
                   [(out, [four(*r) for r in rows])])
            for half, base in (("lo", 0), ("hi", 2)):
                def two(a, b, c):
                    return c + sum(ext[at](a >> 16 * i, 16) * ext[bt](b >> 8 * (base + i), 8)
                                   for i in range(2))
                f.case("dp2a.%s.%s.%s" % (half, at, bt),
                       "dp2a.%s.%s.%s %%d0, %%a0, %%a1, %%a2;" % (half, at, bt), ins,
                       [(out, [two(*r) for r in rows])])


def pairs(f):
    rows = tuples(32, 2, 32)
    ins = [("b32", c) for c in columns(rows)]
    for t in ("u16x2", "s16x2"):
        one = t[:3]
        for op, model in (("add", lambda a, b: a + b), ("min", min), ("max", max)):
            def both(a, b):
                return sum((model(val(a >> s, one), val(b >> s, one)) & 0xffff) << s for s in (0, 16))
            f.case("%s.%s" % (op, t), "%s.%s %%d0, %%a0, %%a1;" % (op, t), ins,
                   [("b32", [both(*r) for r in rows])])


def literals(f):
    """Literal operands in either place."""
    xs = [r[0] for r in tuples(32, 1, 32)]
    ys = [r[0] for r in tuples(64, 1, 32)]
    for op, t, model in (("add", "s32", lambda a, b: a + b), ("sub", "s32", lambda a, b: a - b),
                         ("mul.lo", "s32", lambda a, b: a * b), ("and", "b32", lambda a, b: a & b),
                         ("min", "s32", lambda a, b: min(sx(a, 32), sx(b, 32))),
                         ("max", "u32", lambda a, b: max(a & mask(32), b & mask(32))),
                         ("div", "s32", lambda a, b: div(sx(a, 32), sx(b, 32), 32, "s32")),
                         ("rem", "u32", lambda a, b: rem(a & mask(32), b & mask(32), 32, "u32")),
                         ("shl", "b32", lambda a, b: shl(a & mask(32), b & mask(32), 32)),
                         ("shr", "s32", lambda a, b: shr(sx(a, 32), b & mask(32), 32))):
        for k in (5, -7, 0x7fffffff):
            f.case("%s.%s with %d on the right" % (op, t, k), "%s.%s %%d0, %%a0, %d;" % (op, t, k),
                   [(t, xs)], [(t, [model(x, k) for x in xs])])
            f.case("%s.%s with %d on the left" % (op, t, k), "%s.%s %%d0, %d, %%a0;" % (op, t, k),
                   [(t, xs)], [(t, [model(k, x) for x in xs])])
    for op, model in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
        f.case(op + ".s64 with literals", "%s.s64 %%d0, %%a0, -5;\n%s.s64 %%d1, 0x123456789ab, %%a0;"
               % (op, op), [("s64", ys)],
               [("s64", [model(y, -5) for y in ys]), ("s64", [model(0x123456789ab, y) for y in ys])])
    f.case("mul.wide and mad with literals", """mul.wide.s32 %d0, %a0, -12;
        mul.wide.u32 %d1, %a0, 4000000000;
        mad.lo.s32 %d2, %a0, 3, 4;
        mad.lo.s32 %d3, 7, 3, %a0;
        mad.wide.u32 %d4, %a0, 8, %a1;""", [("s32", xs), ("u64", ys)],
           [("s64", [sx(x, 32) * -12 for x in xs]), ("u64", [(x & mask(32)) * 4000000000 for x in xs]),
            ("s32", [x * 3 + 4 for x in xs]), ("s32", [21 + x for x in xs]),
            ("u64", [(x & mask(32)) * 8 + y for x, y in zip(xs, ys)])])


# ---- bits ----

def shl(a, n, w):
    return 0 if n >= w else a << n


def shr(a, n, w):
    return a >> min(n, w) if a >= 0 else a >> min(n, w - 1)


def bfe(a, pos, length, t):
    w = int(t[1:])
    pos, length = pos & 0xff, length & 0xff
    msb = w - 1
    sign = 0 if t[0] == "u" or length == 0 else a >> min(pos + length - 1, msb) & 1
    return sum((a >> (pos + i) & 1 if i < length and pos + i <= msb else sign) << i for i in range(w))


def bfi(a, b, pos, length, w):
    pos, length = pos & 0xff, length & 0xff
    for i in range(length):
        if pos + i < w:
            b = b & ~(1 << (pos + i)) | (a >> i & 1) << (pos + i)
    return b


def bfind(a, t, shiftamt):
    w = int(t[1:])
    if t[0] == "s" and a >> (w - 1):
        a = ~a & mask(w)
    d = a.bit_length() - 1
    return d if d < 0 or not shiftamt else w - 1 - d


def prmt(mode, a, b, c):
    pool = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    if mode == "":
        out = []
        for i in range(4):
            s = c >> 4 * i & 15
            byte = pool[s & 7]
            out.append((0xff if byte >> 7 else 0) if s & 8 else byte)
    else:
        i = c & 3
        index = {"f4e": [i + k for k in range(4)], "b4e": [(i - k) & 7 for k in range(4)],
                 "rc8": [i] * 4, "ecl": [max(k, i) for k in range(4)],
                 "ecr": [min(k, i) for k in range(4)],
                 "rc16": [2 * (i & 1), 2 * (i & 1) + 1] * 2}[mode]
        out = [pool[k] for k in index]
    return sum(v << 8 * k for k, v in enumerate(out))


def bits():
    f = File("gen_bits.txt")
    for t in ("b16", "b32", "b64"):
        w = int(t[1:])
        binary(f, "and." + t, t, lambda a, b: a & b, count=32)
        binary(f, "or." + t, t, lambda a, b: a | b, count=32)
        binary(f, "xor." + t, t, lambda a, b: a ^ b, count=32)
        xs = [r[0] for r in tuples(w, 1, 32)]
        f.case("not." + t, "not.%s %%d0, %%a0;" % t, [(t, xs)], [(t, [~x for x in xs])])
        f.case("cnot." + t, "cnot.%s %%d0, %%a0;" % t, [(t, xs)], [(t, [int(x == 0) for x in xs])])
        counts = [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, mask(32)]
        rows = [(rnd.choice(xs), n) for n in counts * 3][:48]
        f.case("shl." + t, "shl.%s %%d0, %%a0, %%a1;" % t,
               [(t, [r[0] for r in rows]), ("u32", [r[1] for r in rows])],
               [(t, [shl(a, n, w) for a, n in rows])])
        for sign in "us":
            st = sign + t[1:]
            f.case("shr." + st, "shr.%s %%d0, %%a0, %%a1;" % st,
                   [(st, [r[0] for r in rows]), ("u32", [r[1] for r in rows])],
                   [(st, [shr(val(a, st), n, w) for a, n in rows])])
        if w == 16:
            continue
        f.case("popc, clz, brev " + t, "popc.%s %%d0, %%a0;\nclz.%s %%d1, %%a0;\nbrev.%s %%d2, %%a0;"
               % (t, t, t), [(t, xs)],
               [("u32", [bin(x).count("1") for x in xs]), ("u32", [w - x.bit_length() for x in xs]),
                (t, [int(format(x, "0%db" % w)[::-1], 2) for x in xs])])
        for sign in "us":
            st = sign + t[1:]
            f.case("bfind." + st, "bfind.%s %%d0, %%a0;\nbfind.shiftamt.%s %%d1, %%a0;" % (st, st),
                   [(st, xs)], [("u32", [bfind(x, st, False) for x in xs]),
                                ("u32", [bfind(x, st, True) for x in xs])])
            fields = [(rnd.choice(xs), rnd.choice([0, 1, 5, 16, 31, 32, 60, 63, 64, 255, 256 + 3]),
                       rnd.choice([0, 1, 4, 8, 31, 32, 33, 63, 64, 255, 256])) for _ in range(64)]
            ins = [(st, [r[0] for r in fields]), ("u32", [r[1] for r in fields]),
                   ("u32", [r[2] for r in fields])]
            f.case("bfe." + st, "bfe.%s %%d0, %%a0, %%a1, %%a2;" % st, ins,
                   [(st, [bfe(a, p, n, st) for a, p, n in fields])])
        into = [rnd.getrandbits(w) for _ in fields]
        f.case("bfi." + t, "bfi.%s %%d0, %%a0, %%a1, %%a2, %%a3;" % t,
               [(t, [r[0] for r in fields]), (t, into), ("u32", [r[1] for r in fields]),
                ("u32", [r[2] for r in fields])],
               [(t, [bfi(r[0], b, r[1], r[2], w) for r, b in zip(fields, into)])])
    words(f)


def words(f):
    rows = tuples(32, 3, 32)
    ins = [("b32", c) for c in columns(rows)]
    for table in (0x00, 0x96, 0xe8, 0xca, 0x1f, 0x80, 0xfe, 0xf0, 0xff):
        def lop(a, b, c):
            return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i
                       for i in range(32))
        f.case("lop3.b32 %#x" % table, "lop3.b32 %%d0, %%a0, %%a1, %%a2, %#x;" % table, ins,
               [("b32", [lop(*r) for r in rows])])
    counts = [0, 1, 5, 16, 31, 32, 33, 63, 64, 65, mask(32)] * 3
    rows = [(a, b, n) for (a, b, _), n in zip(rows, counts)]
    ins = [("b32", [r[0] for r in rows]), ("b32", [r[1] for r in rows]), ("u32", [r[2] for r in rows])]
    for mode in ("wrap", "clamp"):
        def amount(n):
            return n & 31 if mode == "wrap" else min(n, 32)
        f.case("shf.l." + mode, "shf.l.%s.b32 %%d0, %%a0, %%a1, %%a2;" % mode, ins,
               [("b32", [(b << 32 | a) << amount(n) >> 32 for a, b, n in rows])])
        f.case("shf.r." + mode, "shf.r.%s.b32 %%d0, %%a0, %%a1, %%a2;" % mode, ins,
               [("b32", [(b << 32 | a) >> amount(n) for a, b, n in rows])])
    rows = [(rnd.getrandbits(32), rnd.getrandbits(32), rnd.getrandbits(32)) for _ in range(32)]
    ins = [("b32", c) for c in columns(rows)]
    for mode in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        op = "prmt.b32" + ("." + mode if mode else "")
        f.case(op, "%s %%d0, %%a0, %%a1, %%a2;" % op, ins, [("b32", [prmt(mode, *r) for r in rows])])
    for mode in ("clamp", "wrap"):
        def bmsk(a, b):
            a, b = (a & 31, b & 31) if mode == "wrap" else (min(a, 32), min(b, 32))
            return ((1 << b) - 1 << a) & mask(32)
        some = [(a, b) for a in (0, 1, 31, 32, 40) for b in (0, 1, 5, 31, 32, 33)]
        f.case("bmsk." + mode, "bmsk.%s.b32 %%d0, %%a0, %%a1;" % mode,
               [("u32", [r[0] for r in some]), ("u32", [r[1] for r in some])],
               [("b32", [bmsk(*r) for r in some])])
        for t in ("u32", "s32"):
            def szext(a, n):
                if mode == "wrap":
                    n &= 31
                if n == 0:
                    return 0
                if n >= 32:
                    return a
                return sx(a, n) if t == "s32" else a & mask(n)
            some = [(rnd.getrandbits(32), n) for n in (0, 1, 2, 7, 8, 16, 31, 32, 33, 64, 255) * 2]
            f.case("szext.%s.%s" % (mode, t), "szext.%s.%s %%d0, %%a0, %%a1;" % (mode, t),
                   [(t, [r[0] for r in some]), ("u32", [r[1] for r in some])],
                   [(t, [szext(*r) for r in some])])
    some = [(a, b) for a in (0, 1) for b in (0, 1)]
    ins = [("pred", [r[0] for r in some]), ("pred", [r[1] for r in some])]
    f.case("logic on predicates", """and.pred %d0, %a0, %a1;
        or.pred %d1, %a0, %a1;
        xor.pred %d2, %a0, %a1;
        not.pred %d3, %a0;
        mov.pred %d4, %a1;""", ins,
           [("pred", [a & b for a, b in some]), ("pred", [a | b for a, b in some]),
            ("pred", [a ^ b for a, b in some]), ("pred", [1 - a for a, _ in some]),
            ("pred", [b for _, b in some])])


# ---- floating point: exact values, rounded by the manual's rules ----

class Format:
    def __init__(self, name, width, precision):
        self.name, self.width, self.precision = name, width, precision
        self.exponent_bits = width - precision
        self.bias = (1 << (self.exponent_bits - 1)) - 1
        self.emin = 1 - self.bias
        self.mantissa_bits = precision - 1
        self.inf = mask(self.exponent_bits) << self.mantissa_bits
        self.sign = 1 << (width - 1)
        self.largest = self.inf - 1

    def is_nan(self, b):
        return b & ~self.sign > self.inf

    def is_inf(self, b):
        return b & ~self.sign == self.inf

    def negative(self, b):
        return bool(b & self.sign)

    def subnormal(self, b):
        return 0 < b & ~self.sign < 1 << self.mantissa_bits

    def value(self, b):
        """The exact value of a finite number."""
        e = b >> self.mantissa_bits & mask(self.exponent_bits)
        m = b & mask(self.mantissa_bits)
        if e:
            m |= 1 << self.mantissa_bits
        v = Fraction(m) * Fraction(2) ** (max(e, 1) - self.bias - self.mantissa_bits)
        return -v if self.negative(b) else v

    def round(self, x, mode, zero_sign=0):
        """Bits of the fraction x; zero_sign: of an exact zero."""
        if x == 0:
            return self.sign if zero_sign else 0
        negative, x = x < 0, abs(x)
        e = x.numerator.bit_length() - x.denominator.bit_length()
        if Fraction(2) ** e > x:
            e -= 1
        e = max(e, self.emin)
        scaled = x / Fraction(2) ** (e - self.mantissa_bits)
        m = scaled.numerator // scaled.denominator
        m = round_up(m, scaled - m, negative, mode)
        bits = m + (max(e - self.emin, 0) << self.mantissa_bits)
        if bits >= self.inf:
            up = mode in ("rn", "rna") or (mode == "rp" and not negative) or (mode == "rm" and negative)
            bits = self.inf if up else self.largest
        return bits | (self.sign if negative else 0)


def round_up(m, rest, negative, mode):
    """The integer m or m + 1 for m + rest, 0 <= rest < 1."""
    if rest == 0 or mode == "rz":
        return m
    if mode == "rn":
        return m + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and m & 1))
    if mode == "rna":
        return m + (rest >= Fraction(1, 2))
    return m + ((mode == "rp") != negative)


F16 = Format("f16", 16, 11)
BF16 = Format("bf16", 16, 8)
F32 = Format("f32", 32, 24)
F64 = Format("f64", 64, 53)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}
MODES = ("rn", "rz", "rm", "rp")


def flush(f, b):
    return b & f.sign if f.subnormal(b) else b


def saturate(f, b):
    if b == "nan" or f.is_nan(b) or f.negative(b):
        return 0
    return min(b, f.round(Fraction(1), "rn"))


def fadd(f, a, b, mode):
    if f.is_nan(a) or f.is_nan(b) or (f.is_inf(a) and f.is_inf(b) and a != b):
        return "nan"
    if f.is_inf(a) or f.is_inf(b):
        return a if f.is_inf(a) else b
    both = f.negative(a) and f.negative(b)
    either = f.negative(a) or f.negative(b)
    return f.round(f.value(a) + f.value(b), mode, both or (mode == "rm" and either) or
                   (mode == "rm" and f.value(a) != 0))


def fmul(f, a, b, mode):
    s = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return "nan"
    if f.is_inf(a) or f.is_inf(b):
        if (f.is_inf(a) and b & ~f.sign == 0) or (f.is_inf(b) and a & ~f.sign == 0):
            return "nan"
        return f.inf | s
    return f.round(f.value(a) * f.value(b), mode, s)


def ffma(f, a, b, c, mode):
    s = f.negative(a) != f.negative(b)
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return "nan"
    if f.is_inf(a) or f.is_inf(b):
        product = fmul(f, a, b, mode)
        if product == "nan" or (f.is_inf(c) and c != product):
            return "nan"
        return product
    if f.is_inf(c):
        return c
    product = f.value(a) * f.value(b)
    total = product + f.value(c)
    if total == 0 and product == 0 and f.value(c) == 0:
        zero = s if s == f.negative(c) else mode == "rm"
    else:
        zero = mode == "rm"
    return f.round(total, mode, zero)


def fdiv(f, a, b, mode):
    s = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return "nan"
    if f.is_inf(a):
        return "nan" if f.is_inf(b) else f.inf | s
    if f.is_inf(b):
        return s
    if b & ~f.sign == 0:
        return "nan" if a & ~f.sign == 0 else f.inf | s
    return f.round(f.value(a) / f.value(b), mode, s)


def fsqrt(f, a, mode):
    if f.is_nan(a) or (f.negative(a) and a != f.sign):
        return "nan"
    if a & ~f.sign == 0 or f.is_inf(a):
        return a
    v = f.value(a)
    shift = 4 * f.precision + (v.denominator.bit_length() & 1) + 2 * f.bias
    shift += shift & 1
    scaled = v * (1 << shift)
    whole = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(whole) ** 2 == scaled
    root = Fraction(whole) / (1 << shift // 2)
    if not exact:
        root += Fraction(1, 1 << shift // 2 + 1)
    return f.round(root, mode)


def fminmax(f, a, b, largest, nan=False):
    if f.is_nan(a) or f.is_nan(b):
        if nan or (f.is_nan(a) and f.is_nan(b)):
            return "nan"
        return b if f.is_nan(a) else a

    def key(x):  # -0 < +0
        return -(x & ~f.sign) - 1 if f.negative(x) else x
    return max(a, b, key=key) if largest else min(a, b, key=key)


def float_edges(f):
    one = f.bias << f.mantissa_bits
    m = f.mantissa_bits
    e = [0, 1, 2, (1 << m) - 1, 1 << m, (1 << m) + 1, one - 1, one, one + 1, one + (1 << m), f.largest,
         f.largest - 1, f.inf, f.inf + (1 << (m - 1)), one + (1 << (m - 1)), one - (1 << m)]
    return e + [x | f.sign for x in e]


def random_float(f):
    if rnd.random() < 0.5:  # near one, so that exponents meet
        e = f.bias + rnd.randint(-min(30, f.bias - 1), min(30, f.bias))
        return rnd.getrandbits(1) << (f.width - 1) | e << f.mantissa_bits | rnd.getrandbits(
            f.mantissa_bits)
    return rnd.getrandbits(f.width)


def float_tuples(f, n, count=64):
    out = []
    if n == 1:
        out = [(e,) for e in float_edges(f)]
    while len(out) < count:
        out.append(tuple(rnd.choice(float_edges(f)) if rnd.random() < 0.4 else random_float(f)
                         for _ in range(n)))
    return out[:count]


def floats():
    f = File("gen_float.txt")
    for fmt in (F32, F64):
        t = fmt.name
        for mode in MODES:
            rows = float_tuples(fmt, 2)
            ins = [(t, c) for c in columns(rows)]
            f.case("add.%s.%s" % (mode, t), "add.%s.%s %%d0, %%a0, %%a1;" % (mode, t), ins,
                   [(t, [fadd(fmt, a, b, mode) for a, b in rows])])
            f.case("sub.%s.%s" % (mode, t), "sub.%s.%s %%d0, %%a0, %%a1;" % (mode, t), ins,
                   [(t, [fadd(fmt, a, b if fmt.is_nan(b) else b ^ fmt.sign, mode) for a, b in rows])])
            f.case("mul.%s.%s" % (mode, t), "mul.%s.%s %%d0, %%a0, %%a1;" % (mode, t), ins,
                   [(t, [fmul(fmt, a, b, mode) for a, b in rows])])
            f.case("div.%s.%s" % (mode, t), "div.%s.%s %%d0, %%a0, %%a1;" % (mode, t), ins,
                   [(t, [fdiv(fmt, a, b, mode) for a, b in rows])])
            three = float_tuples(fmt, 3)
            ins3 = [(t, c) for c in columns(three)]
            f.case("fma.%s.%s" % (mode, t), "fma.%s.%s %%d0, %%a0, %%a1, %%a2;" % (mode, t), ins3,
                   [(t, [ffma(fmt, a, b, c, mode) for a, b, c in three])])
            singles = [r[0] for r in float_tuples(fmt, 1)]
            f.case("sqrt.%s.%s" % (mode, t), "sqrt.%s.%s %%d0, %%a0;" % (mode, t), [(t, singles)],
                   [(t, [fsqrt(fmt, a, mode) for a in singles])])
            one = fmt.round(Fraction(1), "rn")
            f.case("rcp.%s.%s" % (mode, t), "rcp.%s.%s %%d0, %%a0;" % (mode, t), [(t, singles)],
                   [(t, [fdiv(fmt, one, a, mode) for a in singles])])
        f.case("add, sub, mul without a rounding mode, " + t, """add.%s %%d0, %%a0, %%a1;
            sub.%s %%d1, %%a0, %%a1;
            mul.%s %%d2, %%a0, %%a1;""" % (t, t, t), ins,
               [(t, [fadd(fmt, a, b, "rn") for a, b in rows]),
                (t, [fadd(fmt, a, b if fmt.is_nan(b) else b ^ fmt.sign, "rn") for a, b in rows]),
                (t, [fmul(fmt, a, b, "rn") for a, b in rows])])
        minmax(f, fmt, rows)
        f.case("neg, abs " + t, "neg.%s %%d0, %%a0;\nabs.%s %%d1, %%a0;" % (t, t), [(t, singles)],
               [(t, ["nan" if fmt.is_nan(a) else a ^ fmt.sign for a in singles]),
                (t, ["nan" if fmt.is_nan(a) else a & ~fmt.sign for a in singles])])
        f.case("copysign." + t, "copysign.%s %%d0, %%a0, %%a1;" % t, ins,
               [(t, [a & fmt.sign | b & ~fmt.sign for a, b in rows])])
        tests = {"finite": lambda a: not fmt.is_nan(a) and not fmt.is_inf(a), "infinite": fmt.is_inf,
                 "number": lambda a: not fmt.is_nan(a), "notanumber": fmt.is_nan,
                 "normal": lambda a: (1 << fmt.mantissa_bits) <= a & ~fmt.sign < fmt.inf,
                 "subnormal": fmt.subnormal}
        f.case("testp." + t, "\n".join("testp.%s.%s %%d%d, %%a0;" % (k, t, i)
                                       for i, k in enumerate(tests)), [(t, singles)],
               [("pred", [int(m(a)) for a in singles]) for m in tests.values()])
    flushed(f)


def minmax(f, fmt, rows):
    t = fmt.name
    ins = [(t, c) for c in columns(rows)]
    f.case("min, max " + t, "min.%s %%d0, %%a0, %%a1;\nmax.%s %%d1, %%a0, %%a1;" % (t, t), ins,
           [(t, [fminmax(fmt, a, b, False) for a, b in rows]),
            (t, [fminmax(fmt, a, b, True) for a, b in rows])])
    zeros = [(0, fmt.sign), (fmt.sign, 0), (0, 0), (fmt.sign, fmt.sign)]
    f.case("min, max of zeros " + t, "min.%s %%d0, %%a0, %%a1;\nmax.%s %%d1, %%a0, %%a1;" % (t, t),
           [(t, c) for c in columns(zeros)],
           [(t, [fminmax(fmt, a, b, False) for a, b in zeros]),
            (t, [fminmax(fmt, a, b, True) for a, b in zeros])])
    if fmt is F64:
        return
    f.case("min.NaN, max.NaN " + t, "min.NaN.%s %%d0, %%a0, %%a1;\nmax.NaN.%s %%d1, %%a0, %%a1;"
           % (t, t), ins, [(t, [fminmax(fmt, a, b, False, True) for a, b in rows]),
                           (t, [fminmax(fmt, a, b, True, True) for a, b in rows])])


def flushed(f):
    fmt, t = F32, "f32"
    sub = [e for e in float_edges(fmt)] + [0x00400000, 0x80400000, 0x00000100]
    rows = [(rnd.choice(sub), rnd.choice(sub)) for _ in range(64)]
    ins = [(t, c) for c in columns(rows)]

    def z(b):
        return flush(fmt, b)

    def result(b):
        if b == "nan":
            return b
        if b & ~fmt.sign == 1 << fmt.mantissa_bits:
            return "-"  # maybe rounded up to the smallest normal number: flushed before that or not
        return flush(fmt, b)
    f.case("add.ftz, mul.ftz", "add.ftz.f32 %d0, %a0, %a1;\nmul.ftz.f32 %d1, %a0, %a1;", ins,
           [(t, [result(fadd(fmt, z(a), z(b), "rn")) for a, b in rows]),
            (t, [result(fmul(fmt, z(a), z(b), "rn")) for a, b in rows])])
    f.case("fma.rn.ftz, div.rn.ftz", "fma.rn.ftz.f32 %d0, %a0, %a1, %a0;\ndiv.rn.ftz.f32 %d1, %a0, %a1;",
           ins, [(t, [result(ffma(fmt, z(a), z(b), z(a), "rn")) for a, b in rows]),
                 (t, [result(fdiv(fmt, z(a), z(b), "rn")) for a, b in rows])])
    f.case("min.ftz, max.ftz, neg.ftz, abs.ftz", """min.ftz.f32 %d0, %a0, %a1;
        max.ftz.f32 %d1, %a0, %a1;
        neg.ftz.f32 %d2, %a0;
        abs.ftz.f32 %d3, %a0;""", ins,
           [(t, [fminmax(fmt, z(a), z(b), False) for a, b in rows]),
            (t, [fminmax(fmt, z(a), z(b), True) for a, b in rows]),
            (t, ["nan" if fmt.is_nan(a) else z(a) ^ fmt.sign for a, _ in rows]),
            (t, ["nan" if fmt.is_nan(a) else z(a) & ~fmt.sign for a, _ in rows])])
    rows = float_tuples(fmt, 2)
    ins = [(t, c) for c in columns(rows)]
    f.case("add.sat, mul.sat, fma.rn.sat", """add.sat.f32 %d0, %a0, %a1;
        mul.sat.f32 %d1, %a0, %a1;
        fma.rn.sat.f32 %d2, %a0, %a1, %a1;""", ins,
           [(t, [saturate(fmt, fadd(fmt, a, b, "rn")) for a, b in rows]),
            (t, [saturate(fmt, fmul(fmt, a, b, "rn")) for a, b in rows]),
            (t, [saturate(fmt, ffma(fmt, a, b, b, "rn")) for a, b in rows])])


def halves():
    f = File("gen_half.txt")
    for fmt in (F16, BF16):
        t = fmt.name
        rows = float_tuples(fmt, 3)
        ins = [(t, c) for c in columns(rows)]

        def neg(b):
            return b if fmt.is_nan(b) else b ^ fmt.sign
        rounding = ".rn" if fmt is BF16 else ""
        for op, model in (("add", lambda a, b, c: fadd(fmt, a, b, "rn")),
                          ("sub", lambda a, b, c: fadd(fmt, a, neg(b), "rn")),
                          ("mul", lambda a, b, c: fmul(fmt, a, b, "rn")),
                          ("min", lambda a, b, c: fminmax(fmt, a, b, False)),
                          ("max", lambda a, b, c: fminmax(fmt, a, b, True)),
                          ("min.NaN", lambda a, b, c: fminmax(fmt, a, b, False, True)),
                          ("max.NaN", lambda a, b, c: fminmax(fmt, a, b, True, True))):
            op += rounding if op in ("add", "sub", "mul") else ""
            f.case("%s.%s" % (op, t), "%s.%s %%d0, %%a0, %%a1;" % (op, t), ins[:2],
                   [(t, [model(*r) for r in rows])])
            twice(f, fmt, op, model, rows)
        f.case("fma.rn." + t, "fma.rn.%s %%d0, %%a0, %%a1, %%a2;" % t, ins,
               [(t, [ffma(fmt, a, b, c, "rn") for a, b, c in rows])])
        twice(f, fmt, "fma.rn", lambda a, b, c: ffma(fmt, a, b, c, "rn"), rows, 3)
        xs = [r[0] for r in rows]
        f.case("neg, abs " + t, "neg.%s %%d0, %%a0;\nabs.%s %%d1, %%a0;" % (t, t), [(t, xs)],
               [(t, ["nan" if fmt.is_nan(a) else a ^ fmt.sign for a in xs]),
                (t, ["nan" if fmt.is_nan(a) else a & ~fmt.sign for a in xs])])


def twice(f, fmt, op, model, rows, n=2):
    """The same on pairs; only rows without NaN results, which have no fixed bits."""
    good = [r for r in rows if model(*r) != "nan"]
    pairs_of = list(zip(good[::2], good[1::2]))[:24]
    ins = [("b32", [low[i] | high[i] << 16 for low, high in pairs_of]) for i in range(n)]
    names = ", ".join("%%a%d" % i for i in range(n))
    f.case("%s.%sx2" % (op, fmt.name), "%s.%sx2 %%d0, %s;" % (op, fmt.name, names), ins,
           [("b32", [model(*low) | model(*high) << 16 for low, high in pairs_of])])


# ---- comparisons ----

COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
           "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def fcompare(fmt, op, a, b):
    nan = fmt.is_nan(a) or fmt.is_nan(b)
    if op == "num":
        return not nan
    if op == "nan":
        return nan
    if nan:
        return len(op) == 3

    def key(x):
        return Fraction(10) ** 400 * (-1 if fmt.negative(x) else 1) if fmt.is_inf(x) else fmt.value(x)
    return COMPARE[op[:2]](key(a), key(b))


FLOAT_COMPARE = list(COMPARE) + [k + "u" for k in COMPARE] + ["num", "nan"]


def compares():
    f = File("gen_compare.txt")
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"):
        w = int(t[1:])
        rows = tuples(w, 2, 48)
        ins = [(t, c) for c in columns(rows)]
        ops = ["eq", "ne"] if t[0] == "b" else list(COMPARE) + (list(UNSIGNED) if t[0] == "u" else [])
        f.case("setp." + t, "\n".join("setp.%s.%s %%d%d, %%a0, %%a1;" % (o, t, i)
                                      for i, o in enumerate(ops)), ins,
               [("pred", [int(COMPARE[UNSIGNED.get(o, o)](val(a, t), val(b, t))) for a, b in rows])
                for o in ops])
        if t[0] != "b":
            k = 100
            f.case("setp.%s with a literal" % t, "\n".join(
                "setp.%s.%s %%d%d, %%a0, %d;\nsetp.%s.%s %%d%d, %d, %%a0;"
                % (o, t, 2 * i, k, o, t, 2 * i + 1, k) for i, o in enumerate(("lt", "ge", "eq"))),
                ins[:1], sum(([("pred", [int(COMPARE[o](val(a, t), k)) for a, _ in rows]),
                               ("pred", [int(COMPARE[o](k, val(a, t))) for a, _ in rows])]
                              for o in ("lt", "ge", "eq")), []))
    for fmt in (F32, F64, F16, BF16):
        t = fmt.name
        rows = float_tuples(fmt, 2)
        rows[::8] = [(a, a) for a, _ in rows[::8]]
        ins = [(t, c) for c in columns(rows)]
        for part in (FLOAT_COMPARE[:7], FLOAT_COMPARE[7:]):
            f.case("setp.%s %s" % (t, " ".join(part)),
                   "\n".join("setp.%s.%s %%d%d, %%a0, %%a1;" % (o, t, i) for i, o in enumerate(part)),
                   ins, [("pred", [int(fcompare(fmt, o, a, b)) for a, b in rows]) for o in part])
    combined(f)
    sets(f)
    selections(f)


def combined(f):
    rows = [(a, b, c) for a in (0, 1, 5, mask(32)) for b in (0, 1, 5, mask(32)) for c in (0, 1)]
    ins = [("s32", [r[0] for r in rows]), ("s32", [r[1] for r in rows]), ("pred", [r[2] for r in rows])]
    logic = {"and": lambda a, b: a and b, "or": lambda a, b: a or b, "xor": lambda a, b: a != b}
    for name, model in logic.items():
        less = [(sx(a, 32) < sx(b, 32), bool(c)) for a, b, c in rows]
        f.case("setp.lt.%s p|q" % name, """setp.lt.%s.s32 %%d0|%%d1, %%a0, %%a1, %%a2;
            setp.lt.%s.s32 %%d2|%%d3, %%a0, %%a1, !%%a2;
            setp.lt.%s.s32 _|%%d4, %%a0, %%a1, %%a2;""" % (name, name, name), ins,
               [("pred", [int(model(x, c)) for x, c in less]),
                ("pred", [int(model(not x, c)) for x, c in less]),
                ("pred", [int(model(x, not c)) for x, c in less]),
                ("pred", [int(model(not x, not c)) for x, c in less]),
                ("pred", [int(model(not x, c)) for x, c in less])])
    f.case("setp p|q", "setp.eq.s32 %d0|%d1, %a0, %a1;", ins[:2],
           [("pred", [int(r[0] == r[1]) for r in rows]), ("pred", [int(r[0] != r[1]) for r in rows])])
    floats_ = float_tuples(F32, 2, 32)
    bools = [i & 1 for i in range(32)]
    f.case("setp.ltu.and.f32 p|q", "setp.ltu.and.f32 %d0|%d1, %a0, %a1, %a2;",
           [("f32", c) for c in columns(floats_)] + [("pred", bools)],
           [("pred", [int(fcompare(F32, "ltu", a, b) and c) for (a, b), c in zip(floats_, bools)]),
            ("pred", [int(not fcompare(F32, "ltu", a, b) and c)
                      for (a, b), c in zip(floats_, bools)])])


def sets(f):
    rows = float_tuples(F32, 2, 32)
    ins = [("f32", c) for c in columns(rows)]
    for op in ("lt", "geu"):
        hits = [fcompare(F32, op, a, b) for a, b in rows]
        f.case("set.%s.*.f32" % op, """set.%s.u32.f32 %%d0, %%a0, %%a1;
            set.%s.s32.f32 %%d1, %%a0, %%a1;
            set.%s.f32.f32 %%d2, %%a0, %%a1;""" % (op, op, op), ins,
               [("u32", [mask(32) if h else 0 for h in hits]), ("s32", [mask(32) if h else 0 for h in hits]),
                ("f32", [0x3f800000 if h else 0 for h in hits])])
    rows = tuples(32, 2, 32)
    f.case("set.le.*.s32", "set.le.u32.s32 %d0, %a0, %a1;\nset.le.f32.s32 %d1, %a0, %a1;",
           [("s32", c) for c in columns(rows)],
           [("u32", [mask(32) if sx(a, 32) <= sx(b, 32) else 0 for a, b in rows]),
            ("f32", [0x3f800000 if sx(a, 32) <= sx(b, 32) else 0 for a, b in rows])])
    rows = float_tuples(F16, 2, 32)
    f.case("set.gt.*.f16", "set.gt.f16.f16 %d0, %a0, %a1;\nset.gt.u32.f16 %d1, %a0, %a1;",
           [("f16", c) for c in columns(rows)],
           [("f16", [0x3c00 if fcompare(F16, "gt", a, b) else 0 for a, b in rows]),
            ("u32", [mask(32) if fcompare(F16, "gt", a, b) else 0 for a, b in rows])])


def selections(f):
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"):
        rows = tuples(int(t[1:]), 2, 32)
        choice = [i * 7 % 3 & 1 for i in range(32)]
        f.case("selp." + t, "selp.%s %%d0, %%a0, %%a1, %%a2;" % t,
               [(t, c) for c in columns(rows)] + [("pred", choice)],
               [(t, [a if c else b for (a, b), c in zip(rows, choice)])])
    rows = tuples(32, 3, 32)
    ins = [("b32", [r[0] for r in rows]), ("b32", [r[1] for r in rows]), ("s32", [r[2] for r in rows])]
    f.case("slct.b32.s32", "slct.b32.s32 %d0, %a0, %a1, %a2;", ins,
           [("b32", [a if sx(c, 32) >= 0 else b for a, b, c in rows])])
    rows = [(a, b, c[0]) for (a, b), c in zip(tuples(64, 2, 32), float_tuples(F32, 1, 32))]
    f.case("slct.u64.f32", "slct.u64.f32 %d0, %a0, %a1, %a2;",
           [("u64", [r[0] for r in rows]), ("u64", [r[1] for r in rows]), ("f32", [r[2] for r in rows])],
           [("u64", [a if fcompare(F32, "ge", c, 0) else b for a, b, c in rows])])


# ---- conversions ----

def integral(fmt, b, mode):
    """The integer a float rounds to."""
    x = fmt.value(b)
    m = abs(x).numerator // abs(x).denominator
    m = round_up(m, abs(x) - m, x < 0, mode)
    return -m if x < 0 else m


def to_integer(fmt, b, t, mode):
    w = int(t[1:])
    if fmt.is_nan(b):
        return 0 if fmt is not F64 and w < 64 else val(1 << (w - 1), t)
    if fmt.is_inf(b):
        return clamp(-(1 << 100) if fmt.negative(b) else 1 << 100, t)
    return clamp(integral(fmt, b, mode), t)


def container(t):
    """8-bit results are looked at in their 32-bit register, extended."""
    return t[0] + "32" if t[1:] == "8" else t


def conversions():
    f = File("gen_convert.txt")
    ints = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
    for s in ints:
        w = int(s[1:])
        xs = [r[0] for r in tuples(w, 1, 32)]
        for d in ints:
            f.case("cvt.%s.%s" % (d, s), "cvt.%s.%s %%d0, %%a0;" % (d, s), [(s, xs)],
                   [(container(d), [val(val(x, s), d) for x in xs])])
            if any(clamp(val(x, s), d) != val(x, s) for x in (0, mask(w), mask(w - 1), 1 << (w - 1))):
                f.case("cvt.sat.%s.%s" % (d, s), "cvt.sat.%s.%s %%d0, %%a0;" % (d, s), [(s, xs)],
                       [(container(d), [clamp(val(x, s), d) for x in xs])])
        for fmt in (F32, F64, F16):
            f.case("cvt.*.%s.%s" % (fmt.name, s),
                   "\n".join("cvt.%s.%s.%s %%d%d, %%a0;" % (m, fmt.name, s, i)
                             for i, m in enumerate(MODES)), [(s, xs)],
                   [(fmt.name, [fmt.round(Fraction(val(x, s)), m) for x in xs]) for m in MODES])
    for fmt in (F32, F64, F16):
        xs = [r[0] for r in float_tuples(fmt, 1)]
        one = fmt.bias << fmt.mantissa_bits
        xs[40:] = [fmt.round(Fraction(k, 2), "rn") for k in
                   (1, 3, 5, -1, -3, -5, 7, 255, 256, 257, 511, 513, -257, -255, 65535, 131071)] + \
            [one + 1, one - 1] + xs[58:]
        for d in ints:
            f.case("cvt.*.%s.%s" % (d, fmt.name),
                   "\n".join("cvt.%si.%s.%s %%d%d, %%a0;" % (m, d, fmt.name, i)
                             for i, m in enumerate(MODES)), [(fmt.name, xs)],
                   [(container(d), [to_integer(fmt, x, d, m) for x in xs]) for m in MODES])
        def to_integral(x, mode):
            if fmt.is_nan(x):
                return "nan"
            if fmt.is_inf(x):
                return x
            return fmt.round(Fraction(integral(fmt, x, mode)), "rn", fmt.negative(x))
        f.case("cvt.*i.%s.%s" % (fmt.name, fmt.name),
               "\n".join("cvt.%si.%s.%s %%d%d, %%a0;" % (m, fmt.name, fmt.name, i)
                         for i, m in enumerate(MODES)), [(fmt.name, xs)],
               [(fmt.name, [to_integral(x, m) for x in xs]) for m in MODES])
    between(f)
    packed(f)


def convert(source, target, b, mode):
    if source.is_nan(b):
        return "nan"
    if source.is_inf(b):
        return target.inf | (target.sign if source.negative(b) else 0)
    return target.round(source.value(b), mode, source.negative(b))


def near(source, target):
    """Values of `source` around what `target` can hold: halfway cases, overflow, subnormals."""
    out = []
    for e in float_edges(target)[:14]:
        if target.is_nan(e) or target.is_inf(e):
            continue
        b = source.round(target.value(e), "rn")
        out += [b, b + 1, b - 1 if b else b, b | source.sign]
        half = source.round((target.value(e) + target.value(min(e + 1, target.largest))) / 2, "rn")
        out += [half, half + 1, half - 1]
    return out[:56] + [source.inf, source.inf | source.sign, source.inf + 1, 0, source.sign, 1]


def between(f):
    for source, target in ((F64, F32), (F32, F16), (F64, F16), (F32, BF16)):
        xs = near(source, target)
        s, t = source.name, target.name
        modes = MODES if target is not BF16 else ("rn", "rz")
        f.case("cvt.*.%s.%s" % (t, s),
               "\n".join("cvt.%s.%s.%s %%d%d, %%a0;" % (m, t, s, i) for i, m in enumerate(modes)),
               [(s, xs)], [(t, [convert(source, target, x, m) for x in xs]) for m in modes])
    for source, target in ((F32, F64), (F16, F32), (F16, F64), (BF16, F32)):
        xs = [r[0] for r in float_tuples(source, 1)]
        f.case("cvt.%s.%s" % (target.name, source.name),
               "cvt.%s.%s %%d0, %%a0;" % (target.name, source.name), [(source.name, xs)],
               [(target.name, [convert(source, target, x, "rn") for x in xs])])
    xs = [r[0] for r in float_tuples(F32, 1)]
    f.case("cvt.sat.f32.f32", "cvt.sat.f32.f32 %d0, %a0;", [("f32", xs)],
           [("f32", [saturate(F32, x) for x in xs])])
    f.case("cvt.ftz.f32.f32", "cvt.ftz.f32.f32 %d0, %a0;", [("f32", xs)],
           [("f32", ["nan" if F32.is_nan(x) else flush(F32, x) for x in xs])])
    f.case("cvt.rn.relu.f16.f32", "cvt.rn.relu.f16.f32 %d0, %a0;", [("f32", xs)],
           [("f16", ["nan" if F32.is_nan(x) else "-" if x == F32.sign else 0 if F32.negative(x)
                     else convert(F32, F16, x, "rn")
                     for x in xs])])
    tf32 = Format("tf32", 19, 11)
    f.case("cvt.rna.tf32.f32", "cvt.rna.tf32.f32 %d0, %a0;", [("f32", xs)],
           [("b32", ["-" if F32.is_nan(x) or F32.is_inf(x) or F32.subnormal(x) else
                     tf32.round(F32.value(x), "rna", F32.negative(x)) << 13 for x in xs])])


def packed(f):
    rows = [r for r in float_tuples(F32, 2, 80) if not F32.is_nan(r[0]) and not F32.is_nan(r[1])][:32]
    ins = [("f32", c) for c in columns(rows)]
    for t in (F16, BF16):
        f.case("cvt.rn.%sx2.f32 puts the first operand on top" % t.name,
               "cvt.rn.%sx2.f32 %%d0, %%a0, %%a1;\ncvt.rz.%sx2.f32 %%d1, %%a0, %%a1;" % (t.name, t.name),
               ins, [("b32", [convert(F32, t, a, m) << 16 | convert(F32, t, b, m) for a, b in rows])
                     for m in ("rn", "rz")])


# ---- across the warp ----

def shfl(mode, values, b, c):
    out, preds = [], []
    for lane in range(32):
        segment, cval, bval = c >> 8 & 31, c & 31, b[lane] & 31
        lowest = lane & segment
        highest = lowest | cval & ~segment & 31
        j = {"up": lane - bval, "down": lane + bval, "bfly": lane ^ bval,
             "idx": lowest | bval & ~segment & 31}[mode]
        ok = j >= highest if mode == "up" else j <= highest
        out.append(values[j if ok else lane])
        preds.append(int(ok))
    return out, preds


def warps():
    f = File("gen_warp.txt", lanewise=False)
    values = [rnd.getrandbits(32) for _ in range(32)]
    for mode in ("up", "down", "bfly", "idx"):
        for width in (32, 16, 8, 2):
            c = (32 - width) << 8 | (0 if mode == "up" else 31)
            for b in (0, 1, 3, 8, 31):
                out, preds = shfl(mode, values, [b] * 32, c)
                f.case("shfl.sync.%s by %d, width %d" % (mode, b, width),
                       "shfl.sync.%s.b32 %%d0|%%d1, %%a0, %d, %#x, -1;" % (mode, b, c),
                       [("b32", values)], [("b32", out), ("pred", preds)])
        c = 31 if mode != "up" else 0
        b = [rnd.randint(0, 40) for _ in range(32)]
        out, preds = shfl(mode, values, b, c)
        f.case("shfl.sync.%s by a register" % mode,
               "shfl.sync.%s.b32 %%d0|%%d1, %%a0, %%a1, %#x, 0xffffffff;" % (mode, c),
               [("b32", values), ("u32", b)], [("b32", out), ("pred", preds)])
        out, preds = shfl(mode, values, [2] * 32, 20)
        f.case("shfl.sync.%s with a clamp in the middle" % mode,
               "shfl.sync.%s.b32 %%d0|%%d1, %%a0, 2, 20, -1;" % mode,
               [("b32", values)], [("b32", out), ("pred", preds)])
    keys = [rnd.choice([3, 7, 0, mask(32)]) for _ in range(32)]
    wide = [rnd.choice([3, 3 | 1 << 40, 1 << 63]) for _ in range(32)]
    f.case("match.any", "match.any.sync.b32 %d0, %a0, -1;\nmatch.any.sync.b64 %d1, %a1, -1;",
           [("b32", keys), ("b64", wide)],
           [("b32", [sum((k == q) << i for i, q in enumerate(keys)) for k in keys]),
            ("b32", [sum((k == q) << i for i, q in enumerate(wide)) for k in wide])])
    for t in ("s32", "u32"):
        xs = [r[0] for r in tuples(32, 1, 32)]
        vs = [val(x, t) for x in xs]
        f.case("redux.sync." + t, """redux.sync.add.%s %%d0, %%a0, -1;
            redux.sync.min.%s %%d1, %%a0, -1;
            redux.sync.max.%s %%d2, %%a0, -1;""" % (t, t, t), [(t, xs)],
               [(t, [sum(vs)]), (t, [min(vs)]), (t, [max(vs)])])
    xs = [rnd.getrandbits(32) | 0x10000 for _ in range(32)]
    conj, disj, exor = mask(32), 0, 0
    for x in xs:
        conj, disj, exor = conj & x, disj | x, exor ^ x
    f.case("redux.sync.b32", """redux.sync.and.b32 %d0, %a0, -1;
        redux.sync.or.b32 %d1, %a0, -1;
        redux.sync.xor.b32 %d2, %a0, -1;""", [("b32", xs)],
           [("b32", [conj]), ("b32", [disj]), ("b32", [exor])])


# ---- less common forms ----

def fns(m, base, offset):
    if offset == 0:
        return base if m >> base & 1 else mask(32)
    pos, left, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= pos < 32:
        if m >> pos & 1:
            if left == 0:
                return pos
            left -= 1
        pos += step
    return mask(32)


def rare():
    f = File("gen_rare.txt")
    rows = [(rnd.choice([rnd.getrandbits(32), 0, mask(32), 0x11]), rnd.randrange(32),
             rnd.choice([0, 1, 2, 5, -1, -3, 40, -40])) for _ in range(64)]
    f.case("fns", "fns.b32 %d0, %a0, %a1, %a2;",
           [("b32", [r[0] for r in rows]), ("u32", [r[1] for r in rows]), ("s32", [r[2] for r in rows])],
           [("b32", [fns(*r) for r in rows])])
    rows = [(rnd.choice([0, 5, mask(32)]), rnd.choice([0, 2, mask(32)]), i & 1) for i in range(32)]
    ins = [("b32", [r[0] for r in rows]), ("b32", [r[1] for r in rows]), ("pred", [r[2] for r in rows])]
    f.case("lop3 with a predicate", """lop3.or.b32 %d0|%d1, %a0, %a1, 0, 0xc0, %a2;
        lop3.and.b32 %d2|%d3, %a0, %a1, 0, 0xfc, !%a2;""", ins,
           [("b32", [a & b for a, b, _ in rows]), ("pred", [int(a & b != 0 or q) for a, b, q in rows]),
            ("b32", [a | b for a, b, _ in rows]),
            ("pred", [int(a | b != 0 and not q) for a, b, q in rows])])
    for fmt in (F16, BF16):
        t = fmt.name + "x2"
        some = [r for r in float_tuples(fmt, 4, 60) if not any(fmt.is_nan(x) for x in r)][:24]
        ins = [("b32", [r[0] | r[1] << 16 for r in some]), ("b32", [r[2] | r[3] << 16 for r in some])]
        f.case("neg, abs " + t, "neg.%s %%d0, %%a0;\nabs.%s %%d1, %%a0;" % (t, t), ins[:1],
               [("b32", [a ^ 0x80008000 for a in ins[0][1]]),
                ("b32", [a & 0x7fff7fff for a in ins[0][1]])])
        low = [fcompare(fmt, "lt", r[0], r[2]) for r in some]
        high = [fcompare(fmt, "lt", r[1], r[3]) for r in some]
        f.case("setp.lt.%s: low and high half" % t, "setp.lt.%s %%d0|%%d1, %%a0, %%a1;" % t, ins,
               [("pred", [int(x) for x in low]), ("pred", [int(x) for x in high])])
        one = 0x3c00 if fmt is F16 else 0x3f80
        f.case("set.lt.%s" % t, "set.lt.%s.%s %%d0, %%a0, %%a1;" % (t, t), ins,
               [("b32", [(one if x else 0) | (one if y else 0) << 16 for x, y in zip(low, high)])])


# ---- random programs of integers: they meet the decoder's optimisations ----

M32, M64 = mask(32), mask(64)
RANDOM_OPS = {  # name: (registers written and read, model on unsigned values)
    "add.s32": ("rrr", lambda a, b: a + b), "sub.s32": ("rrr", lambda a, b: a - b),
    "mul.lo.s32": ("rrr", lambda a, b: a * b), "mul.hi.u32": ("rrr", lambda a, b: a * b >> 32),
    "and.b32": ("rrr", lambda a, b: a & b), "or.b32": ("rrr", lambda a, b: a | b),
    "xor.b32": ("rrr", lambda a, b: a ^ b), "shl.b32": ("rrr", lambda a, b: shl(a, b, 32)),
    "shr.u32": ("rrr", lambda a, b: shr(a, b, 32)),
    "shr.s32": ("rrr", lambda a, b: shr(sx(a, 32), b, 32)),
    "min.s32": ("rrr", lambda a, b: min(sx(a, 32), sx(b, 32))), "max.u32": ("rrr", max),
    "mad.lo.s32": ("rrrr", lambda a, b, c: a * b + c),
    "not.b32": ("rr", lambda a: ~a), "neg.s32": ("rr", lambda a: -a), "mov.u32": ("rr", lambda a: a),
    "popc.b32": ("rr", lambda a: bin(a).count("1")), "clz.b32": ("rr", lambda a: 32 - a.bit_length()),
    "brev.b32": ("rr", lambda a: int(format(a, "032b")[::-1], 2)),
    "prmt.b32": ("rrrr", lambda a, b, c: prmt("", a, b, c)),
    "bfe.u32": ("rrrr", lambda a, b, c: bfe(a, b, c, "u32")),
    "selp.b32": ("rrrp", lambda a, b, c: a if c else b),
    "mul.wide.s32": ("qrr", lambda a, b: sx(a, 32) * sx(b, 32)),
    "mad.wide.u32": ("qrrq", lambda a, b, c: a * b + c),
    "cvt.s64.s32": ("qr", lambda a: sx(a, 32)), "cvt.u64.u32": ("qr", lambda a: a),
    "cvt.u32.u64": ("rq", lambda a: a), "cvt.s32.s8": ("rr", lambda a: sx(a, 8)),
    "cvt.u32.u16": ("rh", lambda a: a), "cvt.u16.u32": ("hr", lambda a: a),
    "add.s16": ("hhh", lambda a, b: a + b), "shr.u64": ("qqr", lambda a, b: shr(a, b, 64)),
    "add.s64": ("qqq", lambda a, b: a + b), "sub.s64": ("qqq", lambda a, b: a - b),
    "xor.b64": ("qqq", lambda a, b: a ^ b), "mul.lo.s64": ("qqq", lambda a, b: a * b),
    "setp.lt.s32": ("prr", lambda a, b: sx(a, 32) < sx(b, 32)), "setp.eq.s32": ("prr", lambda a, b: a == b),
    "setp.gt.u64": ("pqq", lambda a, b: a > b), "setp.ne.s16": ("phh", lambda a, b: a != b),
    "and.pred": ("ppp", lambda a, b: a & b), "not.pred": ("pp", lambda a: not a),
}
BANKS = {"r": (6, M32), "q": (4, M64), "h": (3, 0xffff), "p": (3, 1)}
NO_LITERALS = {"cvt.s32.s8", "bfe.u32"}  # reads the low byte; ptxas wants literals up to 255


def random_operand(bank, literal):
    if literal and bank in "rq" and rnd.random() < 0.25:
        return rnd.choice([0, 1, 2, 3, 4, 5, 7, 8, 31, 255, 0x7fffffff, 1 << 16])
    return "%%%s%d" % (bank, rnd.randrange(BANKS[bank][0]))


def random_block(length, depth):
    block = []
    for _ in range(length):
        dice = rnd.random()
        if depth and dice < 0.08:
            block.append(("if", random_operand("p", False), rnd.random() < 0.5,
                          random_block(rnd.randint(1, 6), depth - 1)))
        elif depth and dice < 0.12:
            block.append(("loop", random_operand("r", False), random_block(rnd.randint(1, 5), depth - 1)))
        elif depth < 3 and dice < 0.15:  # inside something
            block.append(("break", random_operand("p", False), rnd.random() < 0.5))
        else:
            name = rnd.choice(list(RANDOM_OPS))
            banks = RANDOM_OPS[name][0]
            guard = (random_operand("p", False), rnd.random() < 0.5) if rnd.random() < 0.15 else None
            sources = [random_operand(b, name not in NO_LITERALS) for b in banks[1:]]
            block.append(("op", name, guard, random_operand(banks[0], False), sources))
    return block


def write_block(block, lines, counter, leave):
    """leave: the label behind the innermost loop."""
    for s in block:
        if s[0] == "break":
            lines.append("@%s%s bra %s;" % ("!" if s[2] else "", s[1], leave))
            continue
        if s[0] == "op":
            guard = "@%s%s " % ("!" if s[2][1] else "", s[2][0]) if s[2] else ""
            lines.append("%s%s %s, %s;" % (guard, s[1], s[3], ", ".join(str(x) for x in s[4])))
            continue
        counter[0] += 1
        n = counter[0]
        if s[0] == "if":
            lines.append("@%s%s bra L%d;" % ("" if s[2] else "!", s[1], n))
            write_block(s[3], lines, counter, leave)
            lines.append("L%d:" % n)
        else:
            lines.append("{ .reg .b32 %%i%d, %%m%d; .reg .pred %%c%d; mov.u32 %%i%d, 0;" % (n, n, n, n))
            lines.append("and.b32 %%m%d, %s, 3;" % (n, s[1]))  # 1 to 4 rounds, by lane
            lines.append("L%d:" % n)
            write_block(s[2], lines, counter, "B%d" % n)
            lines.append("add.u32 %%i%d, %%i%d, 1; setp.le.u32 %%c%d, %%i%d, %%m%d; @%%c%d bra L%d;"
                         % (n, n, n, n, n, n, n))
            lines.append("B%d: }" % n)


def run_block(block, state):
    """False: a break left the block."""
    for s in block:
        if s[0] == "break":
            if bool(state[s[1]]) != s[2]:
                return False
        elif s[0] == "op":
            if s[2] and bool(state[s[2][0]]) == s[2][1]:
                continue
            values = [state[x] if isinstance(x, str) else x for x in s[4]]
            state[s[3]] = int(RANDOM_OPS[s[1]][1](*values)) & BANKS[s[3][1]][1]
        elif s[0] == "if":
            if bool(state[s[1]]) != s[2] and not run_block(s[3], state):
                return False
        else:
            for _ in range((state[s[1]] & 3) + 1):
                if not run_block(s[2], state):
                    break
    return True


def programs():
    f = File("gen_random.txt")
    for number in range(40):
        block = random_block(rnd.randint(8, 40), 3)
        threads = rnd.choice([32, 32, 64, 96])
        lines = [".reg .b32 %r<6>; .reg .b64 %q<4>; .reg .b16 %h<3>; .reg .pred %p<3>;"]
        for bank, (count, _) in BANKS.items():
            for i in range(count):
                source = {"r": "mov.u32 %%r%d, %%a%d;" % (i, i % 3), "q": "mov.u64 %%q%d, %%a3;" % i,
                          "h": "cvt.u16.u32 %%h%d, %%a%d;" % (i, i),
                          "p": "setp.lt.s32 %%p%d, %%a%d, %%a%d;" % (i, i, (i + 1) % 3)}[bank]
                lines.append(source)
        write_block(block, lines, [0], "END")
        lines.append("END:")
        outputs = ["%r0", "%r1", "%r2", "%r3", "%q0", "%q1", "%h0", "%p0", "%p1"]
        types = ["b32"] * 4 + ["b64"] * 2 + ["b16"] + ["pred"] * 2
        for i, (o, t) in enumerate(zip(outputs, types)):
            lines.append("mov.%s %%d%d, %s;" % (t, i, o))
        words = [[rnd.choice(edges(32)) if rnd.random() < 0.5 else rnd.getrandbits(32)
                  for _ in range(threads)] for _ in range(3)]
        long = [rnd.choice(edges(64)) if rnd.random() < 0.5 else rnd.getrandbits(64)
                for _ in range(threads)]
        results = []
        for lane in range(threads):
            a = [w[lane] for w in words]
            state = {"%%r%d" % i: a[i % 3] for i in range(6)}
            state.update({"%%q%d" % i: long[lane] for i in range(4)})
            state.update({"%%h%d" % i: a[i] & 0xffff for i in range(3)})
            state.update({"%%p%d" % i: int(sx(a[i], 32) < sx(a[(i + 1) % 3], 32)) for i in range(3)})
            run_block(block, state)
            results.append([state[o] for o in outputs])
        f.case("program %d" % number, "\n".join(lines), [("b32", w) for w in words] + [("b64", long)],
               list(zip(types, columns(results))))


# ---- approximations: within the error that the manual allows ----

def approximations():
    f = File("gen_approx.txt")
    singles = [0.5, 1.0, 1.5, 2.0, 3.0, 0.1, 0.7071, 10.0, 100.5, 1e-3, 1e-10, 1e10, 3.4e38, 1.2e-38]

    def table(name, body, xs, model, special):
        """special: input text -> output text, from the manual's tables."""
        xs = [float(repr_f32(x)) for x in xs]
        f.case(name, body, [("f32", [repr_f32(x) for x in xs] + list(special))],
               [("f32", [model(x) for x in xs] + list(special.values()))])

    def ulp(fn, n):
        return lambda x: "%.12g~%d" % (fn(x), n)

    table("rcp.approx", "rcp.approx.f32 %d0, %a0;", singles[:-2], ulp(lambda x: 1 / x, 1),
          {"0.0": "inf", "-0.0": "-inf", "inf": "0.0", "-inf": "-0.0", "nan": "nan"})
    table("sqrt.approx", "sqrt.approx.f32 %d0, %a0;", singles, ulp(math.sqrt, 1),
          {"0.0": "0.0", "-0.0": "-0.0", "inf": "inf", "-1.0": "nan", "nan": "nan"})
    table("rsqrt.approx", "rsqrt.approx.f32 %d0, %a0;", singles, ulp(lambda x: x ** -0.5, 2),
          {"0.0": "inf", "-0.0": "-inf", "inf": "0.0", "-1.0": "nan", "nan": "nan"})
    table("ex2.approx", "ex2.approx.f32 %d0, %a0;",
          [0.0, 1.0, -1.0, 0.5, 10.25, -20.125, 100.0, -100.7, 1e-5], ulp(lambda x: 2 ** x, 4),
          {"inf": "inf", "-inf": "0.0", "nan": "nan", "200.0": "inf"})
    table("lg2.approx", "lg2.approx.f32 %d0, %a0;", singles,
          lambda x: "%.12g+-2.4e-7" % math.log2(x) if 0.5 < x < 2 else "%.12g~4" % math.log2(x),
          {"0.0": "-inf", "-0.0": "-inf", "inf": "inf", "-1.0": "nan", "nan": "nan"})
    angles = [0.1, 0.5, 1.0, 1.5707, 2.0, 3.1, -0.3, -2.5, 6.2]
    table("sin.approx", "sin.approx.f32 %d0, %a0;", angles,
          lambda x: "%.12g+-6.8e-7" % math.sin(x), {"inf": "nan", "0.0": "0.0", "nan": "nan"})
    table("cos.approx", "cos.approx.f32 %d0, %a0;", angles,
          lambda x: "%.12g+-6.8e-7" % math.cos(x), {"inf": "nan", "nan": "nan"})
    table("tanh.approx", "tanh.approx.f32 %d0, %a0;", angles + [20.0, -20.0],
          lambda x: "%.12g+-%.3g" % (math.tanh(x), abs(math.tanh(x)) * 2 ** -11),
          {"inf": "1.0", "-inf": "-1.0", "nan": "nan"})
    pairs_ = [(1.0, 3.0), (10.0, 7.0), (-2.5, 0.3), (1e10, 3e-5), (1e-5, 7e8), (5.0, 5.0)]
    ins = [("f32", [repr_f32(p[i]) for p in pairs_]) for i in (0, 1)]
    exact = ["%.12g~2" % (float(repr_f32(a)) / float(repr_f32(b))) for a, b in pairs_]
    f.case("div.approx and div.full", "div.approx.f32 %d0, %a0, %a1;\ndiv.full.f32 %d1, %a0, %a1;", ins,
           [("f32", exact), ("f32", exact)])
    f.case("ex2.approx.ftz flushes", "ex2.approx.ftz.f32 %d0, %a0;", [("f32", ["-140.0", "1.0"])],
           [("f32", ["0.0", "2.0~4"])])
    f.case("ex2, tanh of halves", """.reg .b16 %h<3>;
        cvt.rn.f16.f32 %h0, %a0;
        ex2.approx.f16 %h1, %h0;
        tanh.approx.f16 %h2, %h0;
        cvt.f32.f16 %d0, %h1;
        cvt.f32.f16 %d1, %h2;""", [("f32", ["0.5", "-1.5", "3.25"])],
           [("f32", ["%.9g+-%.3g" % (2 ** x, 2 ** x * 2 ** -9.8) for x in (0.5, -1.5, 3.25)]),
            ("f32", ["%.9g+-%.3g" % (math.tanh(x), 2 ** -9) for x in (0.5, -1.5, 3.25)])])


def repr_f32(x):
    """Decimal text of the f32 nearest to x."""
    return "%.9g" % struct.unpack("f", struct.pack("f", x))[0] if x != int(x) else "%r" % float(x)


if __name__ == "__main__":
    approximations()
    integers()
    bits()
    floats()
    halves()
    compares()
    conversions()
    warps()
    rare()
    programs()
