#!/usr/bin/env python3
"""Writes cases/gen_matrix.txt and cases/gen_wide.txt: operations of a whole warp on small matrices,
and those on more than 64 bits. Like generate.py: a second model, from NVIDIA's "PTX ISA" 9.0 ("Matrix
fragments for mma.*", spelled out per shape as the manual does), committed output.

./generate_wide.py [folder]"""

import random
import struct
from fractions import Fraction

from generate import (BF16, F16, F32, F64, FLOAT_COMPARE, MODES, File, columns, convert, fadd, fcompare,
                      ffma, float_tuples, flush, fminmax, fmul, integral, mask, near, saturate, sx,
                      to_integer, tuples, val)

rnd = random.Random(77)
LANES = range(32)


def group(lane):
    return lane >> 2


def inside(lane):
    return lane & 3


# Per shape: for operand a, b, c the (row, column) of element i of a lane.
def a_16x8_half(i, l):  # m16n8k8 .f16 .bf16
    return group(l) + (0 if i < 2 else 8), inside(l) * 2 + (i & 1)


def b_8x8_half(i, l):
    return inside(l) * 2 + i, group(l)


def a_16x16_half(i, l):  # m16n8k16 .f16 .bf16
    row = group(l) if i < 2 or 4 <= i < 6 else group(l) + 8
    return row, inside(l) * 2 + (i & 1) + (0 if i < 4 else 8)


def b_16x8_half(i, l):
    return inside(l) * 2 + (i & 1) + (0 if i < 2 else 8), group(l)


def a_16x4_single(i, l):  # m16n8k4 .tf32
    return group(l) + 8 * i, inside(l)


def b_4x8_single(i, l):
    return inside(l), group(l)


def a_16x8_single(i, l):  # m16n8k8 .tf32
    return group(l) + (8 if i in (1, 3) else 0), inside(l) + (4 if i >= 2 else 0)


def b_8x8_single(i, l):
    return inside(l) + 4 * i, group(l)


def a_8x4_double(i, l):  # m8n8k4 .f64
    return group(l), inside(l)


def b_4x8_double(i, l):
    return inside(l), group(l)


def c_8x8(i, l):
    return group(l), inside(l) * 2 + i


def c_16x8(i, l):
    return group(l) + (0 if i < 2 else 8), inside(l) * 2 + (i & 1)


def a_8x16_byte(i, l):  # m8n8k16 .s8 .u8
    return group(l), inside(l) * 4 + i


def b_16x8_byte(i, l):
    return inside(l) * 4 + i, group(l)


def a_16x16_byte(i, l):  # m16n8k16 .s8 .u8
    return group(l) + (0 if i < 4 else 8), inside(l) * 4 + (i & 3)


def a_16x32_byte(i, l):  # m16n8k32 .s8 .u8
    row = group(l) if i < 4 or 8 <= i < 12 else group(l) + 8
    return row, inside(l) * 4 + (i & 3) + (0 if i < 8 else 16)


def b_32x8_byte(i, l):
    return inside(l) * 4 + (i & 3) + (0 if i < 4 else 16), group(l)


def a_8x32_nibble(i, l):  # m8n8k32 .s4 .u4
    return group(l), inside(l) * 8 + i


def b_32x8_nibble(i, l):
    return inside(l) * 8 + i, group(l)


def a_16x64_nibble(i, l):  # m16n8k64 .s4 .u4
    row = group(l) if i < 8 or 16 <= i < 24 else group(l) + 8
    return row, inside(l) * 8 + (i & 7) + (0 if i < 16 else 32)


def b_64x8_nibble(i, l):
    return inside(l) * 8 + (i & 7) + (0 if i < 8 else 32), group(l)


def a_8x128_bit(i, l):  # m8n8k128 .b1
    return group(l), inside(l) * 32 + i


def b_128x8_bit(i, l):
    return inside(l) * 32 + i, group(l)


def half_bits(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def single_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def bfloat_bits(x):
    bits = single_bits(x)
    assert bits & 0xffff == 0
    return bits >> 16


def double_bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def integer_bits(width):
    return lambda x: int(x) & mask(width)


TYPES = {"f16": (16, half_bits), "bf16": (16, bfloat_bits), "tf32": (32, single_bits),
         "f32": (32, single_bits), "f64": (64, double_bits), "s32": (32, integer_bits(32)),
         "s8": (8, integer_bits(8)), "u8": (8, integer_bits(8)), "s4": (4, integer_bits(4)),
         "u4": (4, integer_bits(4)), "b1": (1, integer_bits(1))}


def draw(t):
    """A value of the type, such that sums are exact."""
    if t in ("s8", "u8", "s4", "u4", "b1"):
        w = int(t[1:])
        return rnd.randrange(-(1 << (w - 1)), 1 << (w - 1)) if t[0] == "s" else rnd.randrange(1 << w)
    if t == "s32":
        return rnd.choice((0, 5, -7, (1 << 31) - 40, -(1 << 31) + 3))
    return rnd.randrange(-16, 17) / 4


def matrix(t, rows, cols):
    return [[draw(t) for _ in range(cols)] for _ in range(rows)]


def registers(m, t, place, elements):
    """Per register the 32 values that the lanes hold."""
    w, bits = TYPES[t]
    each = max(1, 32 // w)
    out = []
    for r in range(elements // each):
        row = []
        for l in LANES:
            v = 0
            for e in range(each):
                i, j = place(r * each + e, l)
                v |= bits(m[i][j]) << (w * e)
            row.append(v)
        out.append(row)
    return out


def register_type(t):
    return {"f32": "f32", "f64": "f64", "s32": "s32"}.get(t, "b32")


def product(a, b, c, xor=None):
    n, k = len(b[0]), len(b)
    if xor is not None:
        return [[sum(((x ^ b[q][j]) if xor else (x & b[q][j])) for q, x in enumerate(row)) + c[i][j]
                 for j in range(n)] for i, row in enumerate(a)]
    return [[sum(row[q] * b[q][j] for q in range(k)) + c[i][j] for j in range(n)]
            for i, row in enumerate(a)]


def mma(f, shape, types, places, elements, extra="", tail="", xor=None):
    """types: of d, a, b, c."""
    m, n, k = shape
    d, at, bt, ct = types
    a, b, c = matrix(at, m, k), matrix(bt, k, n), matrix(ct, m, n)
    r = product(a, b, c, xor)
    if extra == ".satfinite":
        r = [[min(max(x, -(1 << 31)), (1 << 31) - 1) for x in row] for row in r]
    ra = registers(a, at, places[0], elements[0])
    rb = registers(b, bt, places[1], elements[1])
    rc = registers(c, ct, places[2], elements[2])
    rd = registers(r, d, places[2], elements[2])

    def names(letter, first, count):
        return "{%s}" % ", ".join("%%%s%d" % (letter, first + q) for q in range(count))
    op = "mma.sync.aligned.m%dn%dk%d.row.col%s.%s%s" % (m, n, k, extra, ".".join(types), tail)
    body = "%s %s, %s, %s, %s;" % (op, names("d", 0, len(rd)), names("a", 0, len(ra)),
                                   names("a", len(ra), len(rb)),
                                   names("a", len(ra) + len(rb), len(rc)))
    f.case(op, body, [(register_type(at), x) for x in ra] + [(register_type(bt), x) for x in rb]
           + [(register_type(ct), x) for x in rc], [(register_type(d), x) for x in rd])


def products(f):
    for t in ("f16", "bf16"):
        mma(f, (16, 8, 8), ("f32", t, t, "f32"), (a_16x8_half, b_8x8_half, c_16x8), (4, 2, 4))
        mma(f, (16, 8, 16), ("f32", t, t, "f32"), (a_16x16_half, b_16x8_half, c_16x8), (8, 4, 4))
    mma(f, (16, 8, 8), ("f16", "f16", "f16", "f16"), (a_16x8_half, b_8x8_half, c_16x8), (4, 2, 4))
    mma(f, (16, 8, 16), ("f16", "f16", "f16", "f16"), (a_16x16_half, b_16x8_half, c_16x8), (8, 4, 4))
    mma(f, (16, 8, 4), ("f32", "tf32", "tf32", "f32"), (a_16x4_single, b_4x8_single, c_16x8), (2, 1, 4))
    mma(f, (16, 8, 8), ("f32", "tf32", "tf32", "f32"), (a_16x8_single, b_8x8_single, c_16x8), (4, 2, 4))
    mma(f, (8, 8, 4), ("f64", "f64", "f64", "f64"), (a_8x4_double, b_4x8_double, c_8x8), (1, 1, 2))
    for a, b in (("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")):
        t = ("s32", a, b, "s32")
        mma(f, (8, 8, 16), t, (a_8x16_byte, b_16x8_byte, c_8x8), (4, 4, 2))
        mma(f, (16, 8, 16), t, (a_16x16_byte, b_16x8_byte, c_16x8), (8, 4, 4))
        mma(f, (16, 8, 32), t, (a_16x32_byte, b_32x8_byte, c_16x8), (16, 8, 4), ".satfinite")
    for a, b in (("s4", "s4"), ("u4", "s4")):
        t = ("s32", a, b, "s32")
        mma(f, (8, 8, 32), t, (a_8x32_nibble, b_32x8_nibble, c_8x8), (8, 8, 2))
        mma(f, (16, 8, 64), t, (a_16x64_nibble, b_64x8_nibble, c_16x8), (32, 16, 4))
    t = ("s32", "b1", "b1", "s32")
    mma(f, (8, 8, 128), t, (a_8x128_bit, b_128x8_bit, c_8x8), (32, 32, 2), tail=".xor.popc", xor=True)
    mma(f, (8, 8, 128), t, (a_8x128_bit, b_128x8_bit, c_8x8), (32, 32, 2), tail=".and.popc", xor=False)


def words():
    return [[rnd.getrandbits(32) for _ in LANES] for _ in range(4)]


def half_at(w, row, col):
    """Element `col` of the 16-byte row whose words are w[0..3][row]."""
    return w[col // 2][row] >> (16 * (col & 1)) & 0xffff


ROOM = """.shared .align 128 .b8 room[4096];
    .reg .b32 %s, %t;
    mov.u32 %s, room;
    mul.lo.u32 %t, %thread, 16;
    add.u32 %s, %s, %t;
    """


def rows(f):
    for count in (1, 2, 4):
        for trans in (False, True):
            w = words()
            out = []
            for j in range(count):
                one = []
                for l in LANES:
                    v = 0
                    for e in (0, 1):
                        r, c = l // 4, l % 4 * 2 + e
                        if trans:
                            r, c = c, r
                        v |= half_at(w, 8 * j + r, c) << (16 * e)
                    one.append(v)
                out.append(one)
            regs = ", ".join("%%d%d" % j for j in range(count))
            op = "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16" % (count, ".trans" if trans else "")
            f.case(op, ROOM + """st.shared.v4.b32 [%%s], {%%a0, %%a1, %%a2, %%a3};
                bar.warp.sync -1;
                %s {%s}, [%%s];""" % (op, regs), [("b32", x) for x in w], [("b32", x) for x in out])
    for count in (1, 2, 4):
        for trans in (False, True):
            w = words()[:count]
            # rows 8 j + r of 16 bytes; rows that nobody stores keep zeros
            room = [[0] * 8 for _ in range(32)]
            for j in range(count):
                for l in LANES:
                    for e in (0, 1):
                        r, c = l // 4, l % 4 * 2 + e
                        if trans:
                            r, c = c, r
                        room[8 * j + r][c] = w[j][l] >> (16 * e) & 0xffff
            out = [[room[l][2 * k] | room[l][2 * k + 1] << 16 for l in LANES] for k in range(4)]
            regs = ", ".join("%%a%d" % j for j in range(count))
            op = "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16" % (count, ".trans" if trans else "")
            f.case(op, ROOM + """st.shared.v4.b32 [%%s], {0, 0, 0, 0};
                bar.warp.sync -1;
                %s [%%s], {%s};
                bar.warp.sync -1;
                ld.shared.v4.b32 {%%d0, %%d1, %%d2, %%d3}, [%%s];""" % (op, regs),
                   [("b32", x) for x in w], [("b32", x) for x in out])
    v = words()[0]
    out = []
    for l in LANES:
        r, c = l // 4, l % 4 * 2

        def at(row, col):
            return v[4 * row + col // 2] >> (16 * (col & 1)) & 0xffff
        out.append(at(c, r) | at(c + 1, r) << 16)
    f.case("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;", [("b32", v)], [("b32", out)])


def wmma(f, shape, at, ct, a_layout, b_layout, d_layout, regs, k_types):
    """A from shared memory times B from shared memory plus 2, stored to shared memory and read back:
    what a fragment looks like inside must not matter."""
    m, n, k = shape
    a, b = matrix(at, m, k), matrix(at, k, n)
    c = [[2 for _ in range(n)] for _ in range(m)]
    r = product(a, b, c)
    wa, bits_a = TYPES[at]
    wd, bits_d = TYPES[ct]

    def memory(x, layout, w, bits):
        flat = [v for row in (x if layout == "row" else zip(*x)) for v in row]
        whole = sum(bits(v) << (w * i) for i, v in enumerate(flat))
        return [whole >> (32 * i) & mask(32) for i in range(len(flat) * w // 32)]
    ma, mb = memory(a, a_layout, wa, bits_a), memory(b, b_layout, wa, bits_a)
    md = memory(r, d_layout, wd, bits_d)
    ins = [("b32", ma[i:i + 32]) for i in range(0, len(ma), 32)]
    nb = len(ins)
    ins += [("b32", mb[i:i + 32]) for i in range(0, len(mb), 32)]
    outs = [("b32", md[i:i + 32]) for i in range(0, len(md), 32)]
    body = """.shared .align 128 .b8 room[8192];
        .reg .b32 %s, %o, %x<16>, %y<16>, %z<16>;
        .reg .b64 %xd, %yd, %zd<4>;
        mov.u32 %s, room;
        shl.b32 %o, %thread, 2;
        add.u32 %o, %s, %o;
        """
    for i in range(len(ins)):
        base = i * 128 if i < nb else 2048 + (i - nb) * 128
        body += "st.shared.b32 [%%o+%d], %%a%d;\n" % (base, i)
    kind = "m%dn%dk%d" % shape
    wide = at == "f64"

    def names(letter, count):
        if wide:
            return "{%s}" % ", ".join("%%%sd" % letter if letter != "z" else "%%zd%d" % i
                                      for i in range(count))
        return "{%s}" % ", ".join("%%%s%d" % (letter, i) for i in range(count))
    na, nbr, nd = regs
    strides = (k if a_layout == "row" else m, n if b_layout == "row" else k,
               n if d_layout == "row" else m)
    two = {"f32": "0f40000000", "f16": "0x40004000", "s32": "2", "f64": "0d4000000000000000"}[ct]
    body += "bar.warp.sync -1;\n"
    body += "wmma.load.a.sync.aligned.%s.%s.shared.%s %s, [%%s], %d;\n" % (
        a_layout, kind, at, names("x", na), strides[0])
    body += "wmma.load.b.sync.aligned.%s.%s.shared.%s %s, [%%s+2048], %d;\n" % (
        b_layout, kind, at, names("y", nbr), strides[1])
    for i in range(nd):
        body += "mov.%s %s%d, %s;\n" % ("f64" if wide else "b32", "%zd" if wide else "%z", i, two)
    body += "wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n" % (
        a_layout, b_layout, kind, k_types, names("z", nd), names("x", na), names("y", nbr),
        names("z", nd))
    body += "wmma.store.d.sync.aligned.%s.%s.shared.%s [%%s+4096], %s, %d;\n" % (
        d_layout, kind, ct, names("z", nd), strides[2])
    body += "bar.warp.sync -1;\n"
    for i in range(len(outs)):
        body += "ld.shared.b32 %%d%d, [%%o+%d];\n" % (i, 4096 + 128 * i)
    f.case("wmma %s %s %s %s %s" % (kind, k_types, a_layout, b_layout, d_layout), body.rstrip(), ins,
           outs)


def fragments(f):
    for layouts in (("row", "col", "row"), ("col", "row", "col")):
        for shape in ((16, 16, 16), (32, 8, 16), (8, 32, 16)):
            wmma(f, shape, "f16", "f32", *layouts, (8, 8, 8), "f32.f32")
            wmma(f, shape, "f16", "f16", *layouts, (8, 8, 4), "f16.f16")
        wmma(f, (16, 16, 16), "bf16", "f32", *layouts, (4, 4, 8), "f32.bf16.bf16.f32")
        wmma(f, (32, 8, 16), "bf16", "f32", *layouts, (8, 2, 8), "f32.bf16.bf16.f32")
        wmma(f, (8, 32, 16), "bf16", "f32", *layouts, (2, 8, 8), "f32.bf16.bf16.f32")
        wmma(f, (16, 16, 8), "tf32", "f32", *layouts, (4, 4, 8), "f32.tf32.tf32.f32")
        wmma(f, (16, 16, 16), "s8", "s32", *layouts, (2, 2, 8), "s32.s8.s8.s32")
        wmma(f, (32, 8, 16), "u8", "s32", *layouts, (4, 1, 8), "s32.u8.u8.s32")
        wmma(f, (8, 32, 16), "s8", "s32", *layouts, (1, 4, 8), "s32.s8.s8.s32")
        wmma(f, (8, 8, 4), "f64", "f64", *layouts, (1, 1, 2), "f64.f64.f64.f64.rn")


def matrices():
    f = File("gen_matrix.txt", lanewise=False)
    products(f)
    rows(f)
    fragments(f)


# ---- 128 bits ----

def longs(f):
    v = tuples(64, 2, 32)
    ins = [("b64", c) for c in columns(v)]
    low, high = [x[0] for x in v], [x[1] for x in v]
    f.case("mov.b128 packs, copies and unpacks", """.reg .b128 %q, %r;
        mov.b128 %q, {%a0, %a1};
        mov.b128 %r, %q;
        mov.b128 {%d0, %d1}, %r;""", ins, [("b64", low), ("b64", high)])
    f.case("ld.b128 and st.b128", """.reg .b128 %q, %r; .reg .b64 %p, %o;
        mul.wide.u32 %o, %thread, 16;
        add.u64 %p, %mem, %o;
        mov.b128 %q, {%a0, %a1};
        st.global.b128 [%p], %q;
        ld.global.v2.b64 {%d0, %d1}, [%p];
        ld.global.b128 %r, [%p];
        mov.b128 {%d2, %d3}, %r;""", ins,
           [("b64", low), ("b64", high), ("b64", low), ("b64", high)])
    f.case("atom.exch.b128", """.reg .b128 %q, %r; .reg .b64 %p, %o;
        mul.wide.u32 %o, %thread, 16;
        add.u64 %p, %mem, %o;
        st.global.v2.b64 [%p], {%a1, %a0};
        mov.b128 %q, {%a0, %a1};
        atom.global.exch.b128 %r, [%p], %q;
        mov.b128 {%d0, %d1}, %r;
        ld.global.v2.b64 {%d2, %d3}, [%p];""", ins,
           [("b64", high), ("b64", low), ("b64", low), ("b64", high)])
    old = [(a if i % 3 else a ^ 1, b if i % 5 else b ^ (1 << 63)) for i, (a, b) in enumerate(v)]
    hit = [o == x for o, x in zip(old, v)]
    f.case("atom.cas.b128: both halves count", """.reg .b128 %q, %r, %n; .reg .b64 %p, %o;
        mul.wide.u32 %o, %thread, 16;
        add.u64 %p, %mem, %o;
        st.global.v2.b64 [%p], {%a2, %a3};
        mov.b128 %q, {%a0, %a1};
        mov.b128 %n, {7, 9};
        atom.global.cas.b128 %r, [%p], %q, %n;
        mov.b128 {%d0, %d1}, %r;
        ld.global.v2.b64 {%d2, %d3}, [%p];""".replace("{7, 9}", "{%x, %y}").replace(
            ".reg .b64 %p, %o;", ".reg .b64 %p, %o, %x, %y; mov.b64 %x, 7; mov.b64 %y, 9;"),
           ins + [("b64", [o[0] for o in old]), ("b64", [o[1] for o in old])],
           [("b64", [o[0] for o in old]), ("b64", [o[1] for o in old]),
            ("b64", [7 if h else o[0] for h, o in zip(hit, old)]),
            ("b64", [9 if h else o[1] for h, o in zip(hit, old)])])


def float_pairs():
    """add, sub, mul, fma on two floats in a register of 64 bits."""
    f = File("gen_pairs.txt")

    def negated(b):
        return b if F32.is_nan(b) else b ^ F32.sign
    models = {"add": lambda m, a, b, c: fadd(F32, a, b, m),
              "sub": lambda m, a, b, c: fadd(F32, a, negated(b), m),
              "mul": lambda m, a, b, c: fmul(F32, a, b, m),
              "fma": lambda m, a, b, c: ffma(F32, a, b, c, m)}
    for op, model in models.items():
        for mode in ("rn", "rz", "rm", "rp"):
            low, high = float_tuples(F32, 3, 48), float_tuples(F32, 3, 48)
            high = high[7:] + high[:7]
            n = 3 if op == "fma" else 2
            body = ".reg .b64 %x<4>;\n"
            for k in range(n):
                body += "mov.b64 %%x%d, {%%a%d, %%a%d};\n" % (k, 2 * k, 2 * k + 1)
            body += "%s.%s.f32x2 %%x3, %s;\n" % (op, mode, ", ".join("%%x%d" % k for k in range(n)))
            body += "mov.b64 {%d0, %d1}, %x3;"
            ins = [("f32", [(low, high)[h][i][k] for i in range(48)]) for k in range(n) for h in (0, 1)]
            f.case("%s.%s.f32x2" % (op, mode), body, ins,
                   [("f32", [model(mode, *r) for r in half]) for half in (low, high)])


# ---- forms that generate.py does not have ----

def neg(fmt, b):
    return b if fmt.is_nan(b) else b ^ fmt.sign


def relu(fmt, b):
    return b if b == "nan" or b == fmt.sign else 0 if fmt.negative(b) else b


def pick_sign(fmt, a, b, largest, nan):
    """min and max with .xorsign.abs."""
    r = fminmax(fmt, a & ~fmt.sign, b & ~fmt.sign, largest, nan)
    return r if r == "nan" else r | ((a ^ b) & fmt.sign)


def variants_of_halves(f):
    for fmt in (F16, BF16):
        t = fmt.name
        rows = float_tuples(fmt, 3)
        ins = [(t, c) for c in columns(rows)]
        add = lambda a, b, c: fadd(fmt, a, b, "rn")
        sub = lambda a, b, c: fadd(fmt, a, neg(fmt, b), "rn")
        mul = lambda a, b, c: fmul(fmt, a, b, "rn")
        fma = lambda a, b, c: ffma(fmt, a, b, c, "rn")
        forms = [("fma.rn.relu", 3, lambda *r: relu(fmt, fma(*r)))]
        for name, n, model in (("add", 2, add), ("sub", 2, sub), ("mul", 2, mul)):
            forms.append((name if fmt is BF16 else name + ".rn", n, model))
        if fmt is F16:
            for name, n, model in (("add.sat", 2, add), ("sub.sat", 2, sub), ("mul.sat", 2, mul),
                                   ("fma.rn.sat", 3, fma)):
                forms.append((name, n, lambda *r, model=model: saturate(fmt, model(*r))))
        for name, largest in (("min", False), ("max", True)):
            for nan in (False, True):
                forms.append(("%s%s.xorsign.abs" % (name, ".NaN" if nan else ""), 2,
                              lambda a, b, c, largest=largest, nan=nan:
                              pick_sign(fmt, a, b, largest, nan)))
        for op, n, model in forms:
            names = ", ".join("%%a%d" % i for i in range(n))
            f.case("%s.%s" % (op, t), "%s.%s %%d0, %s;" % (op, t, names), ins[:n],
                   [(t, ["-" if "relu" in op and model(*r) == fmt.sign else model(*r) for r in rows])])
            good = [r for r in rows if model(*r) not in ("nan", fmt.sign)]
            pairs_of = list(zip(good[::2], good[1::2]))[:24]
            f.case("%s.%sx2" % (op, t), "%s.%sx2 %%d0, %s;" % (op, t, names),
                   [("b32", [low[i] | high[i] << 16 for low, high in pairs_of]) for i in range(n)],
                   [("b32", [model(*low) | model(*high) << 16 for low, high in pairs_of])])


def variants_of_sets(f):
    rows = float_tuples(F32, 2, 48)
    for op in FLOAT_COMPARE:
        f.case("set.%s.*.f32" % op, "\n".join(
            "set.%s.%s.f32 %%d%d, %%a0, %%a1;" % (op, d, i) for i, d in enumerate(("u32", "f32"))),
            [("f32", c) for c in columns(rows)],
            [(d, [yes if fcompare(F32, op, a, b) else 0 for a, b in rows])
             for d, yes in (("u32", mask(32)), ("f32", 0x3f800000))])
        for fmt in (F16, BF16):
            t, one = fmt.name, fmt.bias << fmt.mantissa_bits
            halves = float_tuples(fmt, 4, 48)
            f.case("set.%s.*.%s" % (op, t), "\n".join(
                "set.%s.%s.%s %%d%d, %%a0, %%a1;" % (op, d, t, i) for i, d in enumerate((t, "u32"))),
                [(t, [r[k] for r in halves]) for k in (0, 1)],
                [(d, [yes if fcompare(fmt, op, r[0], r[1]) else 0 for r in halves])
                 for d, yes in ((t, one), ("u32", mask(32)))])
            hits = [(fcompare(fmt, op, r[0], r[1]), fcompare(fmt, op, r[2], r[3])) for r in halves]
            f.case("set.%s.*.%sx2" % (op, t), "\n".join(
                "set.%s.%s.%sx2 %%d%d, %%a0, %%a1;" % (op, d, t, i)
                for i, d in enumerate((t + "x2", "u32"))),
                [("b32", [r[k] | r[k + 2] << 16 for r in halves]) for k in (0, 1)],
                [("b32", [(yes if low else 0) | (yes << 16 if high else 0) for low, high in hits])
                 for yes in (one, 0xffff)])


def variants_of_conversions(f):
    fmt = BF16
    for s in ("s16", "u16", "s32", "u32", "s64", "u64"):
        w = int(s[1:])
        xs = [r[0] for r in tuples(w, 1, 40)]
        f.case("cvt.*.bf16." + s, "\n".join("cvt.%s.bf16.%s %%d%d, %%a0;" % (m, s, i)
                                            for i, m in enumerate(MODES)), [(s, xs)],
               [("bf16", [fmt.round(Fraction(val(x, s)), m) for x in xs]) for m in MODES])
        xs = [r[0] for r in float_tuples(fmt, 1)]
        f.case("cvt.*.%s.bf16" % s, "\n".join("cvt.%si.%s.bf16 %%d%d, %%a0;" % (m, s, i)
                                              for i, m in enumerate(MODES)), [("bf16", xs)],
               [(s, [to_integer(fmt, x, s, m) for x in xs]) for m in MODES])
    for source in (F32, F64, F16):
        xs = near(source, fmt) if source is not F16 else [r[0] for r in float_tuples(F16, 1)]
        f.case("cvt.*.bf16." + source.name,
               "\n".join("cvt.%s.bf16.%s %%d%d, %%a0;" % (m, source.name, i)
                         for i, m in enumerate(MODES)), [(source.name, xs)],
               [("bf16", [convert(source, fmt, x, m) for x in xs]) for m in MODES])
    xs = [r[0] for r in float_tuples(fmt, 1)]

    def whole(x, mode):
        if fmt.is_nan(x) or fmt.is_inf(x):
            return "nan" if fmt.is_nan(x) else x
        return fmt.round(Fraction(integral(fmt, x, mode)), "rn", fmt.negative(x))
    f.case("cvt.*i.bf16.bf16", "\n".join("cvt.%si.bf16.bf16 %%d%d, %%a0;" % (m, i)
                                         for i, m in enumerate(MODES)), [("bf16", xs)],
           [("bf16", [whole(x, m) for x in xs]) for m in MODES])
    for target in (F64, F16):
        f.case("cvt.%s.bf16" % target.name, "cvt.%s%s.bf16 %%d0, %%a0;"
               % ("rn." if target is F16 else "", target.name), [("bf16", xs)],
               [(target.name, [convert(fmt, target, x, "rn") for x in xs])])


def variants_of_picks(f):
    rows = tuples(32, 2, 48)

    def halves(a, b, pick):
        r = 0
        for k in (0, 16):
            r |= max(0, pick(sx(a >> k, 16), sx(b >> k, 16))) << k
        return r
    for name, pick in (("min", min), ("max", max)):
        ins = [("b32", c) for c in columns(rows)]
        f.case(name + ".relu.s32", "%s.s32.relu %%d0, %%a0, %%a1;\n%s.relu.s32 %%d1, %%a0, %%a1;"
               % (name, name), ins,
               [("b32", [max(0, pick(sx(a, 32), sx(b, 32))) for a, b in rows])] * 2)
        f.case(name + ".relu.s16x2",
               "%s.s16x2.relu %%d0, %%a0, %%a1;\n%s.relu.s16x2 %%d1, %%a0, %%a1;" % (name, name), ins,
               [("b32", [halves(a, b, pick) for a, b in rows])] * 2)
        three = float_tuples(F32, 3)
        largest = name == "max"

        def of_three(a, b, c, nan):
            r = fminmax(F32, a, b, largest, nan)
            if r == "nan":
                return "nan" if nan or F32.is_nan(c) else c
            return fminmax(F32, r, c, largest, nan)
        for mode, model in (
                ("", lambda a, b, c: of_three(a, b, c, False)),
                (".NaN", lambda a, b, c: of_three(a, b, c, True)),
                (".abs", lambda a, b, c: of_three(*(x & mask(31) for x in (a, b, c)), False)),
                (".ftz", lambda a, b, c: of_three(*(flush(F32, x) for x in (a, b, c)), False))):
            f.case("%s%s.f32 of three" % (name, mode), "%s%s.f32 %%d0, %%a0, %%a1, %%a2;" % (name, mode),
                   [("f32", c) for c in columns(three)], [("f32", [model(*r) for r in three])])


def variants_of_carries(f):
    rows = tuples(64, 4, 32)
    ins = [("u64", c) for c in columns(rows)]
    body = ".reg .b64 %x;\n"
    f.case("128-bit sums of signed halves", body + """add.cc.s64 %d0, %a0, %a2;
        addc.cc.s64 %d1, %a1, %a3;
        addc.s64 %d2, 0, 0;""", ins,
           [("u64", [(r[0] + r[2]) & mask(64) for r in rows]),
            ("u64", [(((r[1] << 64 | r[0]) + (r[3] << 64 | r[2])) >> 64) & mask(64) for r in rows]),
            ("u64", [((r[1] << 64 | r[0]) + (r[3] << 64 | r[2])) >> 128 for r in rows])])
    f.case("128-bit differences of signed halves", body + """sub.cc.s64 %d0, %a0, %a2;
        subc.cc.s64 %d1, %a1, %a3;
        subc.s64 %d2, 0, 0;""", ins,
           [("u64", [(r[0] - r[2]) & mask(64) for r in rows]),
            ("u64", [(((r[1] << 64 | r[0]) - (r[3] << 64 | r[2])) >> 64) & mask(64) for r in rows]),
            ("u64", [-((r[1] << 64 | r[0]) < (r[3] << 64 | r[2])) & mask(64) for r in rows])])
    f.case("addc after a difference: the carry is 0 where there is a borrow", body + """sub.cc.s64 %x, %a0, %a2;
        addc.s64 %d0, 0, 0;
        sub.cc.s64 %x, %a0, %a2;
        subc.s64 %d1, 0, 0;""", [ins[0], ("u64", [0]), ins[2]],
           [("u64", [int(r[0] >= r[2]) for r in rows]),
            ("u64", [0 if r[0] >= r[2] else mask(64) for r in rows])])
    rows = tuples(32, 2, 32)
    f.case("64-bit product by parts", """.reg .b32 %x, %y, %t;
        mul.lo.u32 %d0, %a0, %a1;
        mul.hi.u32 %x, %a0, %a1;
        mad.lo.cc.u32 %t, %a0, %a1, %d0;
        madc.hi.cc.u32 %y, %a0, %a1, %x;
        addc.u32 %d3, 0, 0;
        mov.b32 %d1, %t;
        mov.b32 %d2, %y;""", [("u32", c) for c in columns(rows)],
           [("u32", [a * b & mask(32) for a, b in rows]),
            ("u32", [2 * a * b & mask(32) for a, b in rows]),
            ("u32", [2 * a * b >> 32 & mask(32) for a, b in rows]),
            ("u32", [2 * a * b >> 64 for a, b in rows])])


def variants():
    f = File("gen_variants.txt")
    variants_of_halves(f)
    variants_of_sets(f)
    variants_of_conversions(f)
    variants_of_picks(f)
    variants_of_carries(f)


def wide():
    f = File("gen_wide.txt", lanewise=False)
    longs(f)
    vectors(f)
    floats_across(f)
    video(f)


def vectors(f):
    """Vector atomics: one per element."""
    for n in (2, 4):
        old = [[rnd.randrange(-50, 50) / 2 for _ in LANES] for _ in range(n)]
        new = [[rnd.randrange(-50, 50) / 2 for _ in LANES] for _ in range(n)]
        a = ", ".join("%%a%d" % i for i in range(n))
        b = ", ".join("%%a%d" % (n + i) for i in range(n))
        d = ", ".join("%%d%d" % i for i in range(n))
        e = ", ".join("%%d%d" % (n + i) for i in range(n))
        f.case("atom.add.v%d.f32" % n, """.reg .b64 %%p, %%o;
            mul.wide.u32 %%o, %%thread, %d;
            add.u64 %%p, %%mem, %%o;
            st.global.v%d.f32 [%%p], {%s};
            atom.global.add.v%d.f32 {%s}, [%%p], {%s};
            red.global.add.v%d.f32 [%%p], {%s};
            ld.global.v%d.f32 {%s}, [%%p];""" % (4 * n, n, a, n, d, b, n, b, n, e),
               [("f32", [single_bits(x) for x in r]) for r in old + new],
               [("f32", [single_bits(x) for x in r]) for r in old] +
               [("f32", [single_bits(x + 2 * y) for x, y in zip(r, s)]) for r, s in zip(old, new)])
    for op, model in (("add", lambda x, y: x + y), ("min", min), ("max", max)):
        old = [[rnd.randrange(-50, 50) / 2 for _ in LANES] for _ in range(2)]
        new = [[rnd.randrange(-50, 50) / 2 for _ in LANES] for _ in range(2)]
        f.case("atom.%s.noftz.v2.f16" % op, """.reg .b64 %%p, %%o;
            mul.wide.u32 %%o, %%thread, 4;
            add.u64 %%p, %%mem, %%o;
            st.global.v2.b16 [%%p], {%%a0, %%a1};
            atom.global.%s.noftz.v2.f16 {%%d0, %%d1}, [%%p], {%%a2, %%a3};
            ld.global.v2.b16 {%%d2, %%d3}, [%%p];""" % op,
               [("b16", [half_bits(x) for x in r]) for r in old + new],
               [("b16", [half_bits(x) for x in r]) for r in old] +
               [("b16", [half_bits(model(x, y)) for x, y in zip(r, s)]) for r, s in zip(old, new)])


NAN, INF, ZERO, MINUS = 0x7fc00001, 0x7f800000, 0, 0x80000000


def floats_across(f):
    """redux.sync of f32: -0 < +0; NaNs lose, or with .NaN win; the NaN that comes out is canonical."""
    def value(b):
        return struct.unpack("<f", struct.pack("<I", b))[0]

    def is_nan(b):
        return b & 0x7fffffff > INF

    def reduced(bits, largest, absolute, nan):
        if absolute:
            bits = [b & 0x7fffffff for b in bits]
        numbers = [b for b in bits if not is_nan(b)]
        if (nan and len(numbers) < len(bits)) or not numbers:
            return 0x7fffffff
        return (max if largest else min)(numbers, key=lambda b: (value(b), -(b >> 31)))
    sets = {
        "plain": [single_bits(rnd.randrange(-1000, 1000) / 8) for _ in LANES],
        "zeros": [ZERO if i % 2 else MINUS for i in LANES],
        "one NaN": [NAN if i == 5 else single_bits(i - 9.5) for i in LANES],
        "only NaNs": [NAN] * 32,
        "infinities": [INF if i == 3 else INF | MINUS if i == 4 else single_bits(i) for i in LANES],
    }
    for name, bits in sets.items():
        for nan in (False, True):
            body, outs = [], []
            for k, (op, absolute) in enumerate((("min", 0), ("max", 0), ("min", 1), ("max", 1))):
                body.append("redux.sync.%s%s%s.f32 %%d%d, %%a0, -1;"
                            % (op, ".abs" if absolute else "", ".NaN" if nan else "", k))
                outs.append(("b32", [reduced(bits, op == "max", absolute, nan)] * 32))
            f.case("redux of %s%s" % (name, ", .NaN" if nan else ""), "\n".join(body),
                   [("b32", bits)], outs)


def video(f):
    """SIMD video instructions."""
    models = {"vadd": lambda x, y: x + y, "vsub": lambda x, y: x - y,
              "vavrg": lambda x, y: (x + y + (1 if x + y >= 0 else 0)) >> 1,
              "vabsdiff": lambda x, y: abs(x - y), "vmin": min, "vmax": max}
    values = tuples(32, 2, 32)
    third = [rnd.getrandbits(32) for _ in values]
    for parts in (2, 4):
        w = 32 // parts
        for name, model in models.items():
            for t in ("u32", "s32"):
                for mode in ("", ".sat", ".add"):
                    def pick(v, k):
                        v = v >> (w * k) & mask(w)
                        return sx(v, w) if t == "s32" else v
                    out = []
                    for (a, b), c in zip(values, third):
                        r, total = 0, 0
                        for k in range(parts):
                            one = model(pick(a, k), pick(b, k))
                            if mode == ".sat":
                                low, high = (-(1 << (w - 1)), mask(w - 1)) if t == "s32" \
                                    else (0, mask(w))
                                one = max(low, min(high, one))
                            total += one
                            r |= (one & mask(w)) << (w * k)
                        out.append(c + total if mode == ".add" else r)
                    op = "%s%d.%s.%s.%s%s" % (name, parts, t, t, t, mode)
                    f.case(op, "%s %%d0, %%a0, %%a1, %%a2;" % op,
                           [("b32", [v[0] for v in values]), ("b32", [v[1] for v in values]),
                            ("b32", third)], [("b32", out)])


if __name__ == "__main__":
    matrices()
    wide()
    float_pairs()
    variants()
