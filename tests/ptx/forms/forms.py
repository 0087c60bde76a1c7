#!/usr/bin/env python3
"""Collects the forms of PTX instructions: one statement for each, over registers of fixed names
(%p predicates; %h, %r, %d, %q of 16, 32, 64 and 128 bits), symbols (param, global, shared, local)
and a label.

./forms.py nvcc FILE.ptx... > nvcc.txt     what a compiler emitted
./forms.py isa > isa.txt                   what the PTX ISA has, as far as people write it by hand"""

import itertools
import re
import sys

CLASS = {"pred": "p", "b8": "h", "u8": "h", "s8": "h", "b16": "h", "u16": "h", "s16": "h", "f16": "h",
         "b32": "r", "u32": "r", "s32": "r", "f32": "r", "b64": "d", "u64": "d", "s64": "d", "f64": "d",
         "b128": "q"}
SKIP = ("call", "bra", "brx", "ret", "exit")


def statements(text):
    """(declarations so far, statement) for each instruction of a PTX file."""
    registers = {}
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"[^"\n]*"', '""', text)
    # braces of scopes, not of vectors
    for line in re.split(r";|\n\s*[{}]|(?<=\))\s*\{", text):
        line = " ".join(line.replace("\t", " ").split())
        line = re.sub(r"^(\$?[\w$]+:\s*)+", "", line)
        line = line.lstrip("{} ")
        m = re.match(r"\.reg \.(\w+) (.*)$", line)
        if m:
            for name in re.split(r"\s*,\s*", m.group(2)):
                registers[re.sub(r"<\d+>", "", name)] = CLASS.get(m.group(1), "r")
            continue
        yield registers, line


def name_class(registers, word):
    if word in registers:
        return registers[word]
    return registers.get(re.sub(r"\d+$", "", word))


def normalise(registers, line):
    line = re.sub(r"^@!?%?[\w$]+ ", "", line)
    m = re.match(r"([a-z][a-z0-9_]*(?:\.[\w:]+)*)\s*(.*)$", line)
    if not m or m.group(1).split(".")[0] in SKIP:
        return None
    opcode, rest = m.groups()
    used, out = {}, []
    for token in re.findall(r"%[\w$]+(?:\.[xyz])?|[A-Za-z_$][\w$]*|0[fdFD][0-9a-fA-F]+|[\d.]+|\S", rest):
        kind = name_class(registers, token)
        if kind:
            names = used.setdefault(kind, {})
            token = "%%%s%d" % (kind, names.setdefault(token, len(names)))
        elif re.match(r"[A-Za-z_$][\w$]*$", token) and token not in ("WARP_SZ", "_"):
            token = {"ld.param": "param", "st.param": "param"}.get(
                ".".join(opcode.split(".")[:2]), "shared" if "shared" in opcode else
                "local" if "local" in opcode else "global")
        out.append(token)
    text = ""
    for token in out:
        if text and token not in ",]}|+" and text[-1] not in "[{|!+-" and text[-1] != " ":
            text += "" if token in "[{" and text[-1] in ", " else " " if text[-1] == "," or \
                token[0] in "%[{" and text[-1] not in "," else ""
        text += token
    text = re.sub(r",\s*", ", ", text)
    return opcode, ("%s %s" % (opcode, text)).strip() + ";"


def from_compiler(paths):
    forms = {}
    for path in paths:
        for registers, line in statements(open(path).read()):
            if not line or line[0] == "." or "=" in line:
                continue
            n = normalise(registers, line)
            # A name outside of brackets is a register that a scope of inline PTX declared.
            odd = n and re.search(r"\b(global|shared|local|param)\b(?![^\[]*\])", n[1].split(" ", 1)[-1]) \
                and not n[0].startswith(("mov", "cvta"))
            if n and not odd and not n[0].startswith(("st.param", "ld.param.b8")):
                forms.setdefault(*n)
    return sorted(forms.values())


def each(pattern, **lists):
    """The pattern once per combination; {name} stands for an element."""
    names = list(lists)
    for values in itertools.product(*(lists[n].split() for n in names)):
        text = pattern
        for n, v in zip(names, values):
            text = text.replace("{%s}" % n, "" if v == "-" else v)
        yield text


def registers_of(line):
    """%? becomes the register that the last type suffix wants; %?0 to %?9 number them."""
    opcode = line.split(" ")[0]
    kind = "r"
    for s in opcode.split("."):
        base = s.replace("x2", "")
        if s in ("f16x2", "bf16x2", "u16x2", "s16x2", "tf32"):
            kind = "r"
        elif s == "f32x2":
            kind = "d"
        elif s == "bf16":
            kind = "h"
        elif base in CLASS:
            kind = CLASS[base]
    return line.replace("%?", "%" + kind)


INT = "s16 u16 s32 u32 s64 u64"
FLOAT = "f32 f64"
HALF = "f16 f16x2 bf16 bf16x2"
ROUND = "rn rz rm rp"


def isa():
    lines = []

    def add(pattern, **lists):
        lines.extend(registers_of(x) for x in each(pattern, **lists))
    add("{o}.{t} %?0, %?1, %?2;", o="add sub mul.lo mul.hi div rem min max", t=INT)
    add("{o}.s32 %r0, %r1, %r2;", o="add.sat sub.sat min.relu max.relu")
    add("{o}.{t} %?0, %?1, %?2;", o="add min max min.relu max.relu", t="s16x2")
    add("{o}.{t} %?0, %?1, %?2;", o="add min max", t="u16x2")
    add("{o}.wide.{t} %r0, %h1, %h2;", o="mul", t="s16 u16")
    add("{o}.wide.{t} %d0, %r1, %r2;", o="mul", t="s32 u32")
    add("mad.{h}.{t} %?0, %?1, %?2, %?3;", h="lo hi", t=INT)
    add("mad.hi.sat.s32 %r0, %r1, %r2, %r3;")
    add("mad.wide.{t} %d0, %r1, %r2, %d3;", t="s32 u32")
    add("mad.wide.{t} %r0, %h1, %h2, %r3;", t="s16 u16")
    add("{o}24.{h}.{t} %r0, %r1, %r2;", o="mul", h="lo hi", t="s32 u32")
    add("mad24.{h}.{t} %r0, %r1, %r2, %r3;", h="lo hi", t="s32 u32")
    add("sad.{t} %?0, %?1, %?2, %?3;", t=INT)
    add("{o}.{t} %?0, %?1;", o="abs neg", t="s16 s32 s64")
    add("{o}.{b} %?0, %?1, %?2;", o="and or xor", b="pred b16 b32 b64")
    add("{o}.{b} %?0, %?1;", o="not", b="pred b16 b32 b64")
    add("cnot.{b} %?0, %?1;", b="b16 b32 b64")
    add("shl.{b} %?0, %?1, %r9;", b="b16 b32 b64")
    add("shr.{b} %?0, %?1, %r9;", b="b16 b32 b64 " + INT)
    add("shf.{d}.{m}.b32 %r0, %r1, %r2, %r3;", d="l r", m="clamp wrap")
    add("{o}.{b} %r9, %?1;", o="popc clz", b="b32 b64")
    add("bfind{s}.{t} %r9, %?1;", s="- .shiftamt", t="s32 u32 s64 u64")
    add("brev.{b} %?0, %?1;", b="b32 b64")
    add("bfe.{t} %?0, %?1, %r8, %r9;", t="s32 u32 s64 u64")
    add("bfi.{b} %?0, %?1, %?2, %r8, %r9;", b="b32 b64")
    add("bmsk.{m}.b32 %r0, %r1, %r2;", m="clamp wrap")
    add("szext.{m}.{t} %r0, %r1, %r2;", m="clamp wrap", t="s32 u32")
    add("fns.b32 %r0, %r1, %r2, %r3;")
    add("prmt.b32{m} %r0, %r1, %r2, %r3;", m="- .f4e .b4e .rc8 .ecl .ecr .rc16")
    add("lop3.b32 %r0, %r1, %r2, %r3, 0x1e;")
    add("lop3.{b}.b32 %r0|%p0, %r1, %r2, %r3, 0x1e, %p1;", b="and or")
    add("dp4a.{a}.{b} %r0, %r1, %r2, %r3;", a="s32 u32", b="s32 u32")
    add("dp2a.{h}.{a}.{b} %r0, %r1, %r2, %r3;", h="lo hi", a="s32 u32", b="s32 u32")
    add("{o}{c}.{t} %?0, %?1, %?2;", o="add addc sub subc", c="- .cc", t="u32 s32 u64 s64")
    add("{o}.{h}{c}.{t} %?0, %?1, %?2, %?3;", o="mad madc", h="lo hi", c=".cc", t="u32 s32 u64 s64")
    add("madc.{h}.{t} %?0, %?1, %?2, %?3;", h="lo hi", t="u32 s32 u64 s64")
    add("{o}{r}{f}{s}.f32 %r0, %r1, %r2;", o="add sub mul", r="- .rn .rz .rm .rp", f="- .ftz", s="- .sat")
    add("{o}{r}.f64 %d0, %d1, %d2;", o="add sub mul", r="- .rn .rz .rm .rp")
    add("{o}{r}{f}.f32x2 %d0, %d1, %d2;", o="add sub mul", r="- .rn .rz", f="- .ftz")
    add("fma.{r}{f}.f32x2 %d0, %d1, %d2, %d3;", r=ROUND, f="- .ftz")
    add("fma.{r}{f}{s}.f32 %r0, %r1, %r2, %r3;", r=ROUND, f="- .ftz", s="- .sat")
    add("fma.{r}.f64 %d0, %d1, %d2, %d3;", r=ROUND)
    add("{o}{m}.{t} %?0, %?1, %?2;", o="add sub mul", m="- .rn .ftz .sat .rn.ftz .rn.sat", t="f16 f16x2")
    add("{o}{m}.{t} %?0, %?1, %?2;", o="add sub mul", m="- .rn", t="bf16 bf16x2")
    add("fma.rn{m}.{t} %?0, %?1, %?2, %?3;", m="- .ftz .sat .relu .ftz.relu", t="f16 f16x2")
    add("fma.rn{m}.{t} %?0, %?1, %?2, %?3;", m="- .relu", t="bf16 bf16x2")
    add("{o}.{t} %?0, %?1;", o="neg abs", t="f16 f16x2 bf16 bf16x2 f32 f64")
    add("{o}.ftz.{t} %?0, %?1;", o="neg abs", t="f16 f16x2 f32")
    add("{o}{m}.{t} %?0, %?1, %?2;", o="min max", m="- .NaN .xorsign.abs .NaN.xorsign.abs", t=HALF + " f32")
    add("{o}{m}.{t} %?0, %?1, %?2;", o="min max", m=".ftz .ftz.NaN", t="f16 f16x2 f32")
    add("{o}.f64 %d0, %d1, %d2;", o="min max")
    add("{o}{m}.f32 %r0, %r1, %r2, %r3;", o="min max", m="- .NaN .ftz .abs")
    add("div{m}.f32 %r0, %r1, %r2;", m=".approx .approx.ftz .full .full.ftz .rn .rz .rm .rp .rn.ftz")
    add("div.{r}.f64 %d0, %d1, %d2;", r=ROUND)
    add("{o}{m}.f32 %r0, %r1;", o="rcp sqrt", m=".approx .approx.ftz .rn .rz .rm .rp .rn.ftz")
    add("{o}.{r}.f64 %d0, %d1;", o="rcp sqrt", r=ROUND)
    add("{o}.approx.ftz.f64 %d0, %d1;", o="rcp rsqrt")
    add("rsqrt.approx{f}.f32 %r0, %r1;", f="- .ftz")
    add("rsqrt.approx.f64 %d0, %d1;")
    add("{o}.approx{f}.f32 %r0, %r1;", o="sin cos lg2 ex2", f="- .ftz")
    add("tanh.approx.{t} %?0, %?1;", t="f32 " + HALF)
    add("ex2.approx.{t} %?0, %?1;", t="f16 f16x2")
    add("ex2.approx.ftz.{t} %?0, %?1;", t="bf16 bf16x2")
    add("copysign.{t} %?0, %?1, %?2;", t=FLOAT)
    add("testp.{p}.{t} %p0, %?1;", p="finite infinite number notanumber normal subnormal", t=FLOAT)
    compare = "eq ne lt le gt ge"
    add("setp.{c}.{t} %p0, %?1, %?2;", c=compare, t="s16 s32 s64")
    add("setp.{c}.{t} %p0, %?1, %?2;", c="eq ne lo ls hi hs lt le gt ge", t="u16 u32 u64")
    add("setp.{c}.{t} %p0, %?1, %?2;", c="eq ne", t="b16 b32 b64")
    add("setp.{c}.{t} %p0, %?1, %?2;", c=compare + " equ neu ltu leu gtu geu num nan", t="f32 f64 f16 bf16")
    add("setp.{c}.{b}.s32 %p0|%p1, %r1, %r2, {n}%p2;", c="lt", b="and or xor", n="- !")
    add("setp.{c}.{t} %p0|%p1, %r1, %r2;", c="lt equ", t="f16x2 bf16x2")
    add("set.{c}.{d}.{t} %r0, %?1, %?2;", c="lt ne", d="u32 s32 f32", t="s32 u32 f32")
    add("set.{c}.{t}.{t} %?0, %?1, %?2;", c="lt geu", t="f16 f16x2 bf16 bf16x2")
    add("selp.{t} %?0, %?1, %?2, %p0;", t="b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64")
    add("slct.{t}.s32 %r0, %r1, %r2, %r3;", t="b32 u32 s32 f32")
    add("slct.{t}.s32 %d0, %d1, %d2, %r3;", t="b64 u64 s64 f64")
    add("slct{f}.u32.f32 %r0, %r1, %r2, %r3;", f="- .ftz")
    add("mov.{t} %?0, %?1;", t="pred b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64 b128")
    lines.extend(("mov.b32 %r0, {%h0, %h1};", "mov.b32 {%h0, %h1}, %r0;", "mov.b64 %d0, {%r0, %r1};",
                  "mov.b64 {%r0, %r1}, %d0;", "mov.b64 %d0, {%h0, %h1, %h2, %h3};",
                  "mov.b64 {%h0, %h1, %h2, %h3}, %d0;", "mov.b128 %q0, {%d0, %d1};",
                  "mov.b128 {%d0, %d1}, %q0;", "mov.u64 %d0, global;", "mov.u64 %d0, shared;",
                  "mov.u64 %d0, local;", "mov.u32 %r0, shared;"))
    for t, s in itertools.product(("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"), repeat=2):
        lines.append("cvt.%s.%s %%%s0, %%%s1;" % (t, s, CLASS[t], CLASS[s]))
        holds_all = int(t[1:]) > int(s[1:]) and (t[0] == "s" or s[0] == "u")
        if t != s and not holds_all:
            lines.append("cvt.sat.%s.%s %%%s0, %%%s1;" % (t, s, CLASS[t], CLASS[s]))
    wide = dict(CLASS, bf16="h")
    for f, t in itertools.product(("f16", "bf16", "f32", "f64"), INT.split() + ["u8", "s8"]):
        if f == "bf16" and t in ("u8", "s8"):
            continue
        for r in ("rni", "rzi", "rmi", "rpi"):
            lines.append("cvt.%s.%s.%s %%%s0, %%%s1;" % (r, t, f, wide[t], wide[f]))
        for r in ROUND.split():
            lines.append("cvt.%s.%s.%s %%%s0, %%%s1;" % (r, f, t, wide[f], wide[t]))
    for f, g in itertools.product(("f16", "bf16", "f32", "f64"), repeat=2):
        if f in ("f32", "f64") and g in ("f16", "bf16", "f32") and f != g:
            lines.append("cvt.%s.%s %%%s0, %%%s1;" % (f, g, wide[f], wide[g]))
        elif f != g:
            for r in ROUND.split():
                lines.append("cvt.%s.%s.%s %%%s0, %%%s1;" % (r, f, g, wide[f], wide[g]))
        for r in ("rni", "rzi", "rmi", "rpi"):
            if f == g:
                lines.append("cvt.%s.%s.%s %%%s0, %%%s1;" % (r, f, g, wide[f], wide[g]))
    add("cvt.{r}{s}.{t}.f32 %r0, %r1, %r2;", r="rn rz", s="- .relu", t="f16x2 bf16x2")
    add("cvt.{r}{s}.{t}.f32 %h0, %r1;", r="rn rz", s="- .relu", t="f16 bf16")
    add("cvt.{r}.tf32.f32 %r0, %r1;", r="rna rn rz")
    add("cvt.rn.satfinite.{t}.f32 %h0, %r1, %r2;", t="e4m3x2 e5m2x2")
    add("cvta{d}.{s}.u64 %d0, %d1;", d="- .to", s="global shared local const param")
    add("isspacep.{s} %p0, %d1;", s="global shared local const shared::cta shared::cluster param")
    loads = "- .global .shared .local"
    add("ld{s}.{t} %?0, [%d9];", s=loads, t="b8 b16 b32 b64 u8 s8 u16 s16 u32 s32 u64 s64 f32 f64")
    add("st{s}.{t} [%d9], %?0;", s=loads, t="b8 b16 b32 b64 u8 s8 u16 s16 u32 s32 u64 s64 f32 f64")
    add("ld{s}.v{n}.{t} {%?0, %?1{m}}, [%d9];", s=loads, n="2", m="-", t="b8 b16 b32 b64 f32 f64")
    lines.extend(x for t, k in (("b32", "r"), ("b16", "h"), ("b8", "h"), ("f32", "r"))
                 for x in ("ld.global.v4.%s {%%%s0, %%%s1, %%%s2, %%%s3}, [%%d9];" % (t, k, k, k, k),
                           "st.global.v4.%s [%%d9], {%%%s0, %%%s1, %%%s2, %%%s3};" % (t, k, k, k, k)))
    eight = ", ".join("%%r%d" % k for k in range(8))
    lines.extend(("ld.global.v8.b32 {%s}, [%%d9];" % eight, "st.global.v8.b32 [%%d9], {%s};" % eight,
                  "ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [%d9];",
                  "st.global.v4.b64 [%d9], {%d0, %d1, %d2, %d3};",
                  "ld.global.b128 %q0, [%d9];", "st.global.b128 [%d9], %q0;",
                  "ldu.global.u32 %r0, [%d9];"))
    add("ld.global{c}.u32 %r0, [%d9];", c=".ca .cg .cs .lu .cv .nc .nc.L1::no_allocate .L1::evict_last "
        ".L2::128B .volatile")
    add("st.global{c}.u32 [%d9], %r0;", c=".wb .cg .cs .wt .L1::no_allocate")
    add("ld.volatile{s}.u32 %r0, [%d9];", s="- .global .shared")
    add("st.volatile{s}.u32 [%d9], %r0;", s="- .global .shared")
    add("ld.{m}.{s}.global.{t} %?0, [%d9];", m="relaxed acquire", s="cta cluster gpu sys", t="b32 b64")
    add("st.{m}.{s}.global.{t} [%d9], %?0;", m="relaxed release", s="cta cluster gpu sys", t="b32 b64")
    add("ld.mmio.relaxed.sys.global.u32 %r0, [%d9];")
    lines.extend(("ld.param.u64 %d0, [param];", "ld.param.u32 %r0, [param+8];", "ld.const.u32 %r0, [%d9];",
                  "ld.global.L2::cache_hint.u32 %r0, [%d9], %d8;"))
    for s in (".global", ".shared", ""):
        add("atom%s.{o}.{t} %%?0, [%%d9], %%?1;" % s, o="add min max", t="u32")
        add("atom%s.{o}.{t} %%?0, [%%d9], %%?1;" % s, o="min max", t="s32 u64 s64")
        add("atom%s.add.{t} %%?0, [%%d9], %%?1;" % s, t="s32 u64 f32 f64")
        add("atom%s.add.noftz.{t} %%?0, [%%d9], %%?1;" % s, t="f16 f16x2 bf16 bf16x2")
        add("atom%s.{o}.{t} %%?0, [%%d9], %%?1;" % s, o="and or xor exch", t="b32 b64")
        add("atom%s.{o}.u32 %%r0, [%%d9], %%r1;" % s, o="inc dec")
        add("atom%s.cas.{t} %%?0, [%%d9], %%?1, %%?2;" % s, t="b16 b32 b64 b128")
        add("atom%s.exch.b128 %%q0, [%%d9], %%q1;" % s)
        add("red%s.{o}.{t} [%%d9], %%?1;" % s, o="min max", t="u32 s32 u64 s64")
        add("red%s.add.{t} [%%d9], %%?1;" % s, t="u32 s32 u64 f32 f64")
        add("red%s.{o}.{t} [%%d9], %%?1;" % s, o="and or xor", t="b32 b64")
    add("atom.global.{m}.{s}.add.u32 %r0, [%d9], %r1;", m="relaxed acquire release acq_rel",
        s="cta cluster gpu sys")
    add("red.global.{m}.{s}.add.u32 [%d9], %r1;", m="relaxed release", s="cta gpu sys")
    lines.extend(("atom.global.add.v2.f32 {%r0, %r1}, [%d9], {%r2, %r3};",
                  "atom.global.add.v4.f32 {%r0, %r1, %r2, %r3}, [%d9], {%r4, %r5, %r6, %r7};",
                  "atom.global.max.noftz.v4.f16 {%h0, %h1, %h2, %h3}, [%d9], {%h4, %h5, %h6, %h7};",
                  "atom.global.add.noftz.v2.bf16x2 {%r0, %r1}, [%d9], {%r2, %r3};",
                  "red.global.add.v2.f32 [%d9], {%r2, %r3};",
                  "red.global.add.noftz.v4.f16x2 [%d9], {%r0, %r1, %r2, %r3};"))
    add("fence.{m}.{s};", m="sc acq_rel acquire release", s="cta cluster gpu sys")
    add("membar.{s};", s="cta gl sys")
    add("fence.proxy.{p};", p="alias async async.global async.shared::cta")
    add("fence.mbarrier_init.release.cluster;")
    add("shfl.sync.{m}.b32 %r0|%p0, %r1, %r2, %r3, %r4;", m="up down bfly idx")
    add("shfl.sync.{m}.b32 %r0, %r1, 1, 31, -1;", m="up down bfly idx")
    add("vote.sync.{m}.pred %p0, {n}%p1, %r0;", m="all any uni", n="- !")
    add("vote.sync.ballot.b32 %r0, {n}%p1, %r1;", n="- !")
    add("match.any.sync.{b} %r8, %?0, %r9;", b="b32 b64")
    add("match.all.sync.{b} %r8|%p0, %?0, %r9;", b="b32 b64")
    add("redux.sync.{o}.{t} %r0, %r1, %r2;", o="add min max", t="s32 u32")
    add("redux.sync.{o}.b32 %r0, %r1, %r2;", o="and or xor")
    add("redux.sync.{o}{m}.f32 %r0, %r1, %r2;", o="min max", m="- .abs .NaN .abs.NaN")
    lines.extend(("activemask.b32 %r0;", "elect.sync %r0|%p0, %r1;", "elect.sync _|%p0, %r1;",
                  "bar.warp.sync %r0;", "bar.sync 0;", "bar.sync %r0, 64;", "bar.arrive 1, 64;",
                  "bar.red.popc.u32 %r0, 0, %p0;", "bar.red.and.pred %p1, 0, %p0;",
                  "bar.red.or.pred %p1, 0, !%p0;", "barrier.sync 0;", "barrier.sync.aligned 1, 64;",
                  "barrier.arrive 1, 64;", "barrier.red.popc.u32 %r0, 0, %p0;", "barrier.cta.sync 0;",
                  "barrier.cta.sync.aligned 0;", "barrier.cta.arrive 1, 64;",
                  "barrier.cta.red.and.pred %p1, 0, %p0;"))
    add("barrier.cluster.arrive{m}{a};", m="- .release .relaxed", a="- .aligned")
    add("barrier.cluster.wait{m}{a};", m="- .acquire", a="- .aligned")
    lines.extend(("mapa.u64 %d0, %d1, %r0;", "mapa.shared::cluster.u32 %r0, %r1, %r2;",
                  "getctarank.u64 %r0, %d0;", "getctarank.shared::cluster.u32 %r0, %r1;"))
    add("cp.async.ca.shared.global [%r0], [%d0], {n};", n="4 8 16")
    lines.extend(("cp.async.cg.shared.global [%r0], [%d0], 16;", "cp.async.cg.shared.global [%r0], [%d0], 16, %r1;",
                  "cp.async.ca.shared.global [%r0], [%d0], 4, %p0;",
                  "cp.async.cg.shared.global.L2::128B [%r0], [%d0], 16;",
                  "cp.async.cg.shared.global.L2::cache_hint [%r0], [%d0], 16, %d1;",
                  "cp.async.commit_group;", "cp.async.wait_group 1;", "cp.async.wait_all;",
                  "cp.async.mbarrier.arrive.shared.b64 [%r0];",
                  "cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];",
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%d0], %r1, [%r2];",
                  "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%d0], %r1, [%r2];",
                  "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [%r3], %r1, [%r2];",
                  "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r0], %r1;",
                  "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;",
                  "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.prefetch.L2.global [%d0], %r0;"))
    add("cp.reduce.async.bulk.global.shared::cta.bulk_group.{o}.{t} [%d0], [%r0], %r1;", o="add min max",
        t="u32 s32 u64")
    add("cp.reduce.async.bulk.global.shared::cta.bulk_group.{o}.b32 [%d0], [%r0], %r1;", o="and or xor")
    add("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], [%r0], %r1;")
    add("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.{t} [%d0], [%r0], %r1;", t="f16 bf16")
    add("mbarrier.{o}.shared.b64 [%r0], %r1;", o="init")
    lines.extend(("mbarrier.inval.shared.b64 [%r0];", "mbarrier.arrive.shared.b64 %d0, [%r0];",
                  "mbarrier.arrive.shared.b64 %d0, [%r0], %r1;", "mbarrier.arrive.shared.b64 _, [%r0];",
                  "mbarrier.arrive.noComplete.shared.b64 %d0, [%r0], %r1;",
                  "mbarrier.arrive.expect_tx.shared.b64 %d0, [%r0], %r1;",
                  "mbarrier.arrive.release.cta.shared::cta.b64 %d0, [%r0];",
                  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0];",
                  "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d0, [%r0], %r1;",
                  "mbarrier.arrive_drop.shared.b64 %d0, [%r0];",
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r0], %r1;",
                  "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r0], %r1;",
                  "mbarrier.test_wait.shared.b64 %p0, [%r0], %d0;",
                  "mbarrier.test_wait.parity.shared.b64 %p0, [%r0], %r1;",
                  "mbarrier.try_wait.shared.b64 %p0, [%r0], %d0;",
                  "mbarrier.try_wait.shared.b64 %p0, [%r0], %d0, %r1;",
                  "mbarrier.try_wait.parity.shared.b64 %p0, [%r0], %r1;",
                  "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p0, [%r0], %r1;",
                  "mbarrier.pending_count.b64 %r0, %d0;"))
    add("ldmatrix.sync.aligned.m8n8.x1{t}.shared.b16 {%r0}, [%r9];", t="- .trans")
    add("ldmatrix.sync.aligned.m8n8.x2{t}.shared.b16 {%r0, %r1}, [%r9];", t="- .trans")
    add("ldmatrix.sync.aligned.m8n8.x4{t}.shared.b16 {%r0, %r1, %r2, %r3}, [%r9];", t="- .trans")
    add("stmatrix.sync.aligned.m8n8.x1{t}.shared.b16 [%r9], {%r0};", t="- .trans")
    add("stmatrix.sync.aligned.m8n8.x2{t}.shared.b16 [%r9], {%r0, %r1};", t="- .trans")
    add("stmatrix.sync.aligned.m8n8.x4{t}.shared.b16 [%r9], {%r0, %r1, %r2, %r3};", t="- .trans")
    lines.append("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;")

    def mma(shape, types, d, a, b, c, tail="", letter="r"):
        def regs(first, count):
            return "{%s}" % ", ".join("%%%s%d" % (letter, first + k) for k in range(count))
        lines.append("mma.sync.aligned.%s.row.col.%s%s %s, %s, %s, %s;" % (
            shape, types, tail, regs(0, d), regs(d, a), regs(d + a, b), regs(d + a + b, c)))
    for t in ("f16", "bf16"):
        mma("m16n8k8", "f32.%s.%s.f32" % (t, t), 4, 2, 1, 4)
        mma("m16n8k16", "f32.%s.%s.f32" % (t, t), 4, 4, 2, 4)
    mma("m16n8k8", "f16.f16.f16.f16", 2, 2, 1, 2)
    mma("m16n8k16", "f16.f16.f16.f16", 2, 4, 2, 2)
    mma("m16n8k4", "f32.tf32.tf32.f32", 4, 2, 1, 4)
    mma("m16n8k8", "f32.tf32.tf32.f32", 4, 4, 2, 4)
    mma("m8n8k4", "f64.f64.f64.f64", 2, 1, 1, 2, letter="d")
    mma("m16n8k4", "f64.f64.f64.f64", 4, 2, 1, 4, letter="d")
    mma("m16n8k8", "f64.f64.f64.f64", 4, 4, 2, 4, letter="d")
    mma("m16n8k16", "f64.f64.f64.f64", 4, 8, 4, 4, letter="d")
    for a, b in itertools.product(("s8", "u8"), repeat=2):
        mma("m8n8k16", "s32.%s.%s.s32" % (a, b), 2, 1, 1, 2)
        mma("m16n8k16", "s32.%s.%s.s32" % (a, b), 4, 2, 1, 4)
        mma("m16n8k32", "s32.%s.%s.s32" % (a, b), 4, 4, 2, 4)
    for a, b in itertools.product(("s4", "u4"), repeat=2):
        mma("m8n8k32", "s32.%s.%s.s32" % (a, b), 2, 1, 1, 2)
        mma("m16n8k32", "s32.%s.%s.s32" % (a, b), 4, 2, 1, 4)
        mma("m16n8k64", "s32.%s.%s.s32" % (a, b), 4, 4, 2, 4)
    for tail in (".xor.popc", ".and.popc"):
        mma("m8n8k128", "s32.b1.b1.s32", 2, 1, 1, 2, tail)
        mma("m16n8k128", "s32.b1.b1.s32", 4, 2, 1, 4, tail)
        mma("m16n8k256", "s32.b1.b1.s32", 4, 4, 2, 4, tail)
    mma("m8n8k4", "f32.f16.f16.f32", 8, 2, 2, 8)
    mma("m16n8k32", "f32.e4m3.e4m3.f32", 4, 4, 2, 4)
    lines.extend((
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7}, {%r8, %r9, %r10, %r11}, %r12, 0x0;",
        "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "tcgen05.wait::ld.sync.aligned;",
        "tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%d0, {%r4}];", "tld4.r.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%d0, {%r4, %r5}];",
        "txq.width.b32 %r0, [%d0];", "suld.b.1d.b32.trap {%r0}, [%d0, {%r1}];",
        "sust.b.1d.b32.trap [%d0, {%r1}], {%r0};", "sured.b.add.1d.u32.trap [%d0, {%r1}], %r0;",
        "suq.width.b32 %r0, [%d0];", "istypep.texref %p0, %d0;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1}], [%r2];",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%d1], 128;",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0], %r1, [%r2];",
        "st.bulk.shared::cta [%d0], %d1, 0;", "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r0, [%d0];",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];",
        "shfl.down.b32 %r0, %r1, 1, 31;", "vote.ballot.b32 %r0, %p0;", "vote.all.pred %p0, %p1;"))
    add("{o}{n}.{t}.{t}.{t}{m} %r0, %r1, %r2, %r3;", o="vadd vsub vavrg vabsdiff vmin vmax", n="2 4",
        t="s32 u32", m="- .sat .add")
    lines.extend(("alloca.u64 %d0, %d1, 16;", "alloca.u32 %r0, %r1;", "stacksave.u64 %d0;",
                  "stackrestore.u64 %d0;", "nanosleep.u32 %r0;", "trap;", "brkpt;", "pmevent 3;",
                  "setmaxnreg.inc.sync.aligned.u32 64;", "griddepcontrol.wait;",
                  "griddepcontrol.launch_dependents;", "prefetch.global.L1 [%d0];",
                  "prefetch.global.L2::evict_last [%d0];", "prefetchu.L1 [%d0];",
                  "applypriority.global.L2::evict_normal [%d0], 128;", "discard.global.L2 [%d0], 128;",
                  "createpolicy.fractional.L2::evict_last.b64 %d0, 0.5;",
                  "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d0;",
                  "createpolicy.range.global.L2::evict_last.b64 %d0, [%d1], 64, 128;",
                  "createpolicy.cvt.L2.b64 %d0, %d1;"))
    sregs = ("tid.x ntid.y ctaid.z nctaid.x laneid warpid nwarpid smid nsmid lanemask_eq lanemask_lt "
             "lanemask_le lanemask_gt lanemask_ge clock clock_hi globaltimer_lo globaltimer_hi envreg1 "
             "dynamic_smem_size total_smem_size aggr_smem_size reserved_smem_offset_begin "
             "reserved_smem_offset_1 clusterid.x nclusterid.x cluster_ctaid.x cluster_nctaid.x "
             "cluster_ctarank cluster_nctarank")
    add("mov.u32 %r0, %{s};", s=sregs)
    add("mov.u64 %d0, %{s};", s="gridid clock64 globaltimer")
    lines.extend(("mov.pred %p0, %is_explicit_cluster;", "bra LABEL;", "bra.uni LABEL;", "ret;", "exit;"))
    return sorted(set(lines))


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "isa":
        print("# Written by forms.py isa; see there.")
        print("\n".join(isa()))
    elif len(sys.argv) > 2 and sys.argv[1] == "nvcc":
        print("# Written by forms.py nvcc; see there. From nvcc 13.0.88, for compute_75 to compute_121.")
        print("\n".join(from_compiler(sys.argv[2:])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
