/* Any bytes as a program for the machine. A byte picks an instruction from a table of forms, the
 * next ones its registers, immediates, addresses and labels: what comes out always parses, and does
 * whatever a program may do: diverge, wait at barriers with others missing, read what nobody wrote,
 * go out of bounds, spin. The first bytes choose schedule, checks, shape and threads. The launch
 * has a step limit. Nothing but a finding or a status may come of it. */
#include "base/rng.h"
#include "base/text.h"
#include "cpu/vm/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REGISTERS = 8, LABELS = 6, BODY_BYTES = 1 << 16, BUFFER_BYTES = 4096, STEP_LIMIT = 20000 };

/* r 32-bit, q 64-bit, h 16-bit, p predicate, f float, d double: registers. i: an immediate.
 * g s l: an address in global, shared, local memory; a: a generic one. L: a label. n: 0 to 31. */
static const char *const FORMS[] = {
    "add.s32 @r, @r, @r;",
    "add.u64 @q, @q, @q;",
    "sub.s32 @r, @r, @i;",
    "mul.lo.s32 @r, @r, @r;",
    "mul.wide.u32 @q, @r, @r;",
    "mul.hi.s64 @q, @q, @q;",
    "mad.lo.s32 @r, @r, @r, @r;",
    "mad.wide.s32 @q, @r, @r, @q;",
    "div.s32 @r, @r, @r;",
    "div.u64 @q, @q, @q;",
    "rem.s32 @r, @r, @r;",
    "rem.s64 @q, @q, @q;",
    "shl.b32 @r, @r, @r;",
    "shr.s32 @r, @r, @r;",
    "shr.u64 @q, @q, @r;",
    "shf.l.wrap.b32 @r, @r, @r, @r;",
    "and.b32 @r, @r, @r;",
    "xor.b64 @q, @q, @q;",
    "not.b32 @r, @r;",
    "lop3.b32 @r, @r, @r, @r, 0x96;",
    "prmt.b32 @r, @r, @r, @r;",
    "bfe.u32 @r, @r, @r, @r;",
    "bfi.b32 @r, @r, @r, @r, @r;",
    "popc.b32 @r, @r;",
    "clz.b64 @r, @q;",
    "brev.b32 @r, @r;",
    "bfind.u32 @r, @r;",
    "min.s32 @r, @r, @r;",
    "max.u64 @q, @q, @q;",
    "abs.s32 @r, @r;",
    "dp4a.u32.u32 @r, @r, @r, @r;",
    "cvt.u64.u32 @q, @r;",
    "cvt.u32.u64 @r, @q;",
    "cvt.s32.f32.rzi @r, @f;",
    "cvt.rn.f32.s32 @f, @r;",
    "cvt.rn.f16.f32 @h, @f;",
    "cvt.f32.f16 @f, @h;",
    "cvt.rn.f64.u64 @d, @q;",
    "add.f32 @f, @f, @f;",
    "fma.rn.f32 @f, @f, @f, @f;",
    "div.rn.f32 @f, @f, @f;",
    "sqrt.rn.f32 @f, @f;",
    "ex2.approx.f32 @f, @f;",
    "add.f64 @d, @d, @d;",
    "fma.rn.f64 @d, @d, @d, @d;",
    "mov.u32 @r, %tid.x;",
    "mov.u32 @r, %ctaid.x;",
    "mov.u32 @r, %laneid;",
    "mov.u64 @q, @i;",
    "mov.b32 @f, @r;",
    "mov.b64 {@r, @r}, @q;",
    "selp.b32 @r, @r, @r, @p;",
    "setp.lt.s32 @p, @r, @r;",
    "setp.eq.u64 @p, @q, @q;",
    "setp.ge.and.f32 @p, @f, @f, @p;",
    "and.pred @p, @p, @p;",
    "not.pred @p, @p;",
    "set.lt.u32.s32 @r, @r, @r;",
    "ld.global.u32 @r, [@g];",
    "ld.global.u64 @q, [@g];",
    "ld.global.u8 @r, [@g];",
    "ld.global.v4.u32 {@r, @r, @r, @r}, [@g];",
    "ld.global.nc.v2.u32 {@r, @r}, [@g];",
    "ld.volatile.global.u32 @r, [@g];",
    "ld.acquire.gpu.global.u32 @r, [@g];",
    "ld.shared.u32 @r, [@s];",
    "ld.shared.v2.u64 {@q, @q}, [@s];",
    "ld.volatile.shared.u32 @r, [@s];",
    "ld.local.u32 @r, [@l];",
    "ld.u32 @r, [@a];",
    "st.global.u32 [@g], @r;",
    "st.global.u8 [@g], @r;",
    "st.global.v2.u64 [@g], {@q, @q};",
    "st.volatile.global.u32 [@g], @r;",
    "st.release.gpu.global.u32 [@g], @r;",
    "st.shared.u32 [@s], @r;",
    "st.shared.v4.u32 [@s], {@r, @r, @r, @r};",
    "st.local.u64 [@l], @q;",
    "st.u32 [@a], @r;",
    "atom.global.add.u32 @r, [@g], @r;",
    "atom.global.cas.b64 @q, [@g], @q, @q;",
    "atom.shared.max.s32 @r, [@s], @r;",
    "atom.add.f32 @f, [@a], @f;",
    "red.global.add.u64 [@g], @q;",
    "red.shared.or.b32 [@s], @r;",
    "membar.gl;",
    "fence.acq_rel.gpu;",
    "membar.cta;",
    "bar.sync 0;",
    "bar.sync 1, 64;",
    "bar.arrive 1, 64;",
    "barrier.sync 2;",
    "bar.red.popc.u32 @r, 0, @p;",
    "bar.warp.sync @r;",
    "bar.warp.sync 0xffffffff;",
    "shfl.sync.up.b32 @r|@p, @r, @r, 0, 0xffffffff;",
    "shfl.sync.idx.b32 @r, @r, @n, 31, @r;",
    "shfl.sync.bfly.b32 @r, @r, 1, 31, 0xffffffff;",
    "vote.sync.ballot.b32 @r, @p, 0xffffffff;",
    "vote.sync.any.pred @p, @p, @r;",
    "match.any.sync.b32 @r, @r, 0xffffffff;",
    "redux.sync.add.s32 @r, @r, 0xffffffff;",
    "activemask.b32 @r;",
    "elect.sync @r|@p, 0xffffffff;",
    "nanosleep.u32 @r;",
    "cp.async.ca.shared.global [@s], [@g], 4;",
    "cp.async.commit_group;",
    "cp.async.wait_group 0;",
    "cp.async.wait_all;",
    "cvta.shared.u64 @q, @q;",
    "cvta.to.global.u64 @q, @q;",
    "isspacep.shared @p, @q;",
    "bra @L;",
    "@@@p bra @L;",
    "@@!@p bra @L;",
    "@@@p exit;",
    "@@@p trap;",
    "@@@p mov.u32 @r, @r;",
    "@@@p st.shared.u32 [@s], @r;",
    "call.uni (@r), helper, (@r);",
    "exit;",
    "mov.u32 @r, %clock;",
    "mov.u64 @q, %globaltimer;",
    "prefetch.global.L2 [@g];",
    "mbarrier.init.shared.b64 [@s], @r;",
    "mbarrier.arrive.shared.b64 @q, [@s];",
    "mbarrier.test_wait.shared.b64 @p, [@s], @q;",
};
enum { FORM_COUNT = sizeof FORMS / sizeof FORMS[0] };

static const char *const IMMEDIATES[] = {
    "0", "1", "-1", "2", "31", "32", "64", "255", "2147483647", "-2147483648", "4", "0x55555555",
};

struct bytes {
    const uint8_t *data;
    size_t size, at;
};

static unsigned next(struct bytes *b)
{
    return b->at < b->size ? b->data[b->at++] : 0;
}

/* Mostly inside of what is there, sometimes not. */
static void add_address(struct text *t, struct bytes *b, char kind)
{
    static const char *const BASES[] = {"%base", "%mine", "%shbase", "%shmine", "%lobase"};
    unsigned pick = next(b);
    if (kind == 's' && pick % 4 == 0)
        text_addf(t, "sh+%u", pick / 4 * 4);
    else if (pick % 16 == 15)
        text_addf(t, "%%q%u", pick / 16 % REGISTERS);
    else if (kind == 'g')
        text_addf(t, "%s+%d", BASES[pick % 2], (int)(pick / 16) * 16 - (pick % 8 == 7 ? 64 : 0));
    else if (kind == 's')
        text_addf(t, "%s+%u", BASES[2 + pick % 2], pick / 16 * 16);
    else if (kind == 'l')
        text_addf(t, "lo+%u", pick / 16 * 8);
    else
        text_addf(t, "%s+%u", pick % 3 == 2 ? "%sgeneric" : BASES[pick % 2], pick / 16 * 8);
}

static void add_form(struct text *t, struct bytes *b)
{
    for (const char *c = FORMS[next(b) % FORM_COUNT]; *c; c++) {
        if (*c != '@') {
            text_addc(t, *c);
            continue;
        }
        switch (*++c) {
        case '@':
            text_addc(t, '@');
            break;
        case 'L':
            text_addf(t, "L%u", next(b) % LABELS);
            break;
        case 'i':
            text_add(t, IMMEDIATES[next(b) % (sizeof IMMEDIATES / sizeof IMMEDIATES[0])]);
            break;
        case 'n':
            text_addf(t, "%u", next(b) % 32);
            break;
        case 'g':
        case 's':
        case 'l':
        case 'a':
            add_address(t, b, *c);
            break;
        case '!':
            text_addc(t, '!');
            break;
        default:
            text_addf(t, "%%%c%u", *c, next(b) % REGISTERS);
            break;
        }
    }
}

static void add_program(struct text *t, struct bytes *b)
{
    text_add(t, ".version 8.0\n.target sm_90\n.address_size 64\n"
                ".func (.param .b32 out) helper(.param .b32 in)\n{\n.reg .b32 %r<4>;\n"
                ".reg .pred %p<2>;\nld.param.b32 %r0, [in];\nsetp.gt.u32 %p0, %r0, 9;\n"
                "@%p0 bra E;\nadd.u32 %r0, %r0, 7;\nE:\nst.param.b32 [out], %r0;\nret;\n}\n"
                ".visible .entry k(.param .u64 p0)\n{\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n"
                ".reg .b32 %r<8>;\n.reg .b64 %q<8>;\n.reg .f32 %f<8>;\n.reg .f64 %d<8>;\n"
                ".reg .b64 %base, %mine, %sgeneric;\n.reg .b32 %shbase, %shmine, %t, %u;\n"
                ".shared .align 16 .b8 sh[2048];\n.local .align 16 .b8 lo[256];\n"
                "ld.param.u64 %base, [p0];\ncvta.to.global.u64 %base, %base;\n"
                "mov.u32 %t, %tid.x;\nmul.wide.u32 %mine, %t, 16;\nadd.u64 %mine, %mine, %base;\n"
                "mov.u32 %shbase, sh;\nshl.b32 %u, %t, 4;\nadd.u32 %shmine, %shbase, %u;\n"
                "cvt.u64.u32 %sgeneric, %shbase;\ncvta.shared.u64 %sgeneric, %sgeneric;\n"
                "mov.u32 %r1, %t;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, 1;\nmov.u64 %q1, %base;\n"
                "setp.lt.u32 %p1, %t, 16;\nsetp.eq.u32 %p2, %t, 0;\n");
    unsigned label = 0;
    while (b->at < b->size && t->length < BODY_BYTES) {
        if (label < LABELS && next(b) % 8 == 0)
            text_addf(t, "L%u:\n", label++);
        add_form(t, b);
        text_addc(t, '\n');
    }
    for (; label < LABELS; label++)
        text_addf(t, "L%u:\n", label);
    text_add(t, "ret;\n}\n");
}

static void run(struct vm *vm, const char *ptx, const struct wire_device_config *config,
                uint32_t blocks, uint32_t threads)
{
    struct err e;
    struct arena arena;
    struct ptx_module module;
    arena_init(&arena);
    if (ptx_parse(ptx, strlen(ptx), &arena, &module, &e) != 0) {
        fprintf(stderr, "%s\n%s\n", e.text, ptx);
        abort(); /* a form of the table is wrong */
    }
    struct vm_module *loaded = vm_module_load(vm, &module, &arena, &e);
    arena_release(&arena);
    if (!loaded)
        return;
    vm_configure(vm, config);
    uint64_t buffer = vm_malloc(vm, BUFFER_BYTES);
    memset(vm_bytes(vm, buffer, BUFFER_BYTES), 1, BUFFER_BYTES);
    vm_mark_defined(vm, buffer, BUFFER_BYTES / 2);
    vm_narrow(vm, buffer, BUFFER_BYTES - 100, "buffer");
    struct vm_launch launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .params = &buffer};
    vm_launch(vm, vm_module_kernel(loaded, "k"), &launch);
    struct wire_finding findings[WIRE_FINDINGS_MAX];
    vm_findings(vm, findings, WIRE_FINDINGS_MAX);
    vm_free_memory(vm, buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size, 0};
    unsigned how = next(&b), shape = next(&b), checks = next(&b);
    struct wire_device_config config = {
        .schedule = how % WIRE_SCHEDULE_COUNT,
        .schedule_seed = how,
        .step_limit = STEP_LIMIT,
        .resident_blocks = shape >> 6,
        .host_threads = 1 + (how >> 7),
        .delay_stores = how >> 6 & 1,
        .checks = checks | WIRE_CHECK_BOUNDS,
    };
    struct err e;
    struct text t;
    struct vm *vm = vm_new(&vm_limits_default, &e);
    if (!vm)
        abort();
    text_init(&t);
    add_program(&t, &b);
    run(vm, text_str(&t), &config, 1 + shape % 5, 1 + shape / 8 % 4 * 33);
    text_release(&t);
    vm_free(vm);
    return 0;
}
