/* Opcodes and their suffixes: one row per form, the fields it must set. */
#include "ptx_test.h"

struct form {
    const char *text; /* the statement */
    enum ptx_op op;
    enum ptx_type type, src_type;
    enum ptx_sub sub;
    uint32_t flags;
};

static const struct form forms[] = {
    {"add.s32 %r1, %r2, %r3;", PTX_OP_add, PTX_S32, PTX_S32, PTX_SUB_NONE, 0},
    {"add.sat.s32 %r1, %r2, %r3;", PTX_OP_add, PTX_S32, PTX_S32, PTX_SUB_NONE, PTX_F_SAT},
    {"add.cc.u32 %r1, %r2, %r3;", PTX_OP_add, PTX_U32, PTX_U32, PTX_SUB_NONE, PTX_F_CC},
    {"add.ftz.f32 %f1, %f2, 0f3F800000;", PTX_OP_add, PTX_F32, PTX_F32, PTX_SUB_NONE, PTX_F_FTZ},
    {"mul.wide.s32 %d1, %r2, 4;", PTX_OP_mul, PTX_S32, PTX_S32, PTX_WIDE, 0},
    {"mul.hi.u32 %r1, %r2, 4;", PTX_OP_mul, PTX_U32, PTX_U32, PTX_HI, 0},
    {"mad.lo.s32 %r1, %r2, %r3, %r4;", PTX_OP_mad, PTX_S32, PTX_S32, PTX_LO, 0},
    {"cvt.rn.f16.f32 %h1, %f2;", PTX_OP_cvt, PTX_F16, PTX_F32, PTX_SUB_NONE, 0},
    {"cvt.rn.bf16x2.f32 %r1, %f2, %f3;", PTX_OP_cvt, PTX_BF16X2, PTX_F32, PTX_SUB_NONE, 0},
    {"cvt.sat.u8.s32 %r1, %r2;", PTX_OP_cvt, PTX_U8, PTX_S32, PTX_SUB_NONE, PTX_F_SAT},
    {"set.eq.f16.f16 %h1, %h2, %h3;", PTX_OP_set, PTX_F16, PTX_F16, PTX_SUB_NONE, 0},
    {"set.lt.u32.f32 %r1, %f2, %f3;", PTX_OP_set, PTX_U32, PTX_F32, PTX_SUB_NONE, 0},
    {"slct.u32.s32 %r1, %r2, %r3, %r4;", PTX_OP_slct, PTX_S32, PTX_U32, PTX_SUB_NONE, 0},
    {"dp4a.s32.u32 %r1, %r2, %r3, %r4;", PTX_OP_dp4a, PTX_U32, PTX_S32, PTX_SUB_NONE, 0},
    {"dp2a.lo.s32.s32 %r1, %r2, %r3, %r4;", PTX_OP_dp2a, PTX_S32, PTX_S32, PTX_LO, 0},
    {"div.full.f32 %f1, %f2, %f3;", PTX_OP_div, PTX_F32, PTX_F32, PTX_SUB_NONE, PTX_F_FULL},
    {"ex2.approx.ftz.f32 %f1, %f2;", PTX_OP_ex2, PTX_F32, PTX_F32, PTX_SUB_NONE,
     PTX_F_APPROX | PTX_F_FTZ},
    {"min.NaN.f32 %f1, %f2, %f3;", PTX_OP_min, PTX_F32, PTX_F32, PTX_SUB_NONE, PTX_F_NAN},
    {"fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;", PTX_OP_fma, PTX_F16X2, PTX_F16X2, PTX_SUB_NONE,
     PTX_F_RELU},
    {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", PTX_OP_shf, PTX_B32, PTX_B32, PTX_LEFT, PTX_F_WRAP},
    {"shf.r.clamp.b32 %r1, %r2, %r3, %r4;", PTX_OP_shf, PTX_B32, PTX_B32, PTX_RIGHT, PTX_F_CLAMP},
    {"prmt.b32.f4e %r1, %r2, %r3, %r4;", PTX_OP_prmt, PTX_B32, PTX_B32, PTX_F4E, 0},
    {"prmt.b32 %r1, %r2, %r3, 0x4321;", PTX_OP_prmt, PTX_B32, PTX_B32, PTX_SUB_NONE, 0},
    {"bfind.shiftamt.u32 %r1, %r2;", PTX_OP_bfind, PTX_U32, PTX_U32, PTX_SUB_NONE, PTX_F_SHIFTAMT},
    {"bmsk.clamp.b32 %r1, %r2, %r3;", PTX_OP_bmsk, PTX_B32, PTX_B32, PTX_SUB_NONE, PTX_F_CLAMP},
    {"testp.finite.f32 %p1, %f2;", PTX_OP_testp, PTX_F32, PTX_F32, PTX_FINITE, 0},
    {"shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", PTX_OP_shfl, PTX_B32, PTX_B32, PTX_UP, PTX_F_SYNC},
    {"vote.sync.ballot.b32 %r1, %p1, -1;", PTX_OP_vote, PTX_B32, PTX_B32, PTX_BALLOT, PTX_F_SYNC},
    {"vote.ballot.sync.b32 %r1, %p1, -1;", PTX_OP_vote, PTX_B32, PTX_B32, PTX_BALLOT, PTX_F_SYNC},
    {"vote.sync.uni.pred %p1, %p2, -1;", PTX_OP_vote, PTX_PRED, PTX_PRED, PTX_UNI_VOTE, PTX_F_SYNC},
    {"match.all.sync.b64 %r1|%p1, %d2, -1;", PTX_OP_match, PTX_B64, PTX_B64, PTX_ALL, PTX_F_SYNC},
    {"redux.sync.add.s32 %r1, %r2, -1;", PTX_OP_redux, PTX_S32, PTX_S32, PTX_ADD, PTX_F_SYNC},
    {"elect.sync _|%p1, -1;", PTX_OP_elect, PTX_NONE, PTX_NONE, PTX_SUB_NONE, PTX_F_SYNC},
    {"activemask.b32 %r1;", PTX_OP_activemask, PTX_B32, PTX_B32, PTX_SUB_NONE, 0},
    {"bar.sync 0;", PTX_OP_bar, PTX_NONE, PTX_NONE, PTX_BAR_SYNC, PTX_F_ALIGNED},
    {"bar.arrive 1, 64;", PTX_OP_bar, PTX_NONE, PTX_NONE, PTX_BAR_ARRIVE, PTX_F_ALIGNED},
    {"bar.warp.sync -1;", PTX_OP_bar, PTX_NONE, PTX_NONE, PTX_BAR_WARP, PTX_F_ALIGNED},
    {"bar.red.popc.u32 %r1, 0, %p1;", PTX_OP_bar, PTX_U32, PTX_U32, PTX_POPC, PTX_F_ALIGNED},
    {"bar.red.or.pred %p1, 0, !%p2;", PTX_OP_bar, PTX_PRED, PTX_PRED, PTX_OR, PTX_F_ALIGNED},
    {"barrier.sync 0;", PTX_OP_barrier, PTX_NONE, PTX_NONE, PTX_BAR_SYNC, 0},
    {"barrier.sync.aligned 0;", PTX_OP_barrier, PTX_NONE, PTX_NONE, PTX_BAR_SYNC, PTX_F_ALIGNED},
    {"barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", PTX_OP_barrier, PTX_U32, PTX_U32, PTX_POPC,
     PTX_F_ALIGNED},
    {"barrier.cluster.arrive.release.aligned;", PTX_OP_barrier, PTX_NONE, PTX_NONE,
     PTX_BAR_CLUSTER_ARRIVE, PTX_F_ALIGNED},
    {"barrier.cluster.wait.acquire;", PTX_OP_barrier, PTX_NONE, PTX_NONE, PTX_BAR_CLUSTER_WAIT, 0},
    {"fence.sc.gpu;", PTX_OP_fence, PTX_NONE, PTX_NONE, PTX_FENCE_THREAD, 0},
    {"fence.proxy.async;", PTX_OP_fence, PTX_NONE, PTX_NONE, PTX_FENCE_PROXY, 0},
    {"fence.proxy.async.shared::cta;", PTX_OP_fence, PTX_NONE, PTX_NONE, PTX_FENCE_PROXY, 0},
    {"fence.mbarrier_init.release.cluster;", PTX_OP_fence, PTX_NONE, PTX_NONE,
     PTX_FENCE_MBARRIER_INIT, 0},
    {"cp.async.ca.shared.global [%r1], [%d1], 4;", PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_ASYNC, 0},
    {"cp.async.commit_group;", PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_COMMIT_GROUP, 0},
    {"cp.async.wait_group 1;", PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_WAIT_GROUP, 0},
    {"cp.async.wait_all;", PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_WAIT_ALL, 0},
    {"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1];", PTX_OP_cp, PTX_B64, PTX_B64,
     PTX_CP_MBARRIER_ARRIVE, PTX_F_NOINC},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], %r2, [%r3];",
     PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_BULK, 0},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;", PTX_OP_cp, PTX_NONE, PTX_NONE,
     PTX_CP_BULK, 0},
    {"cp.async.bulk.commit_group;", PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_BULK_COMMIT_GROUP, 0},
    {"cp.async.bulk.wait_group.read 0;", PTX_OP_cp, PTX_NONE, PTX_NONE, PTX_CP_BULK_WAIT_GROUP,
     PTX_F_READ},
    {"mbarrier.init.shared::cta.b64 [%r1], 1;", PTX_OP_mbarrier, PTX_B64, PTX_B64, PTX_MB_INIT, 0},
    {"mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r1], 16;", PTX_OP_mbarrier, PTX_B64, PTX_B64,
     PTX_MB_ARRIVE_EXPECT_TX, 0},
    {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 16;", PTX_OP_mbarrier, PTX_B64, PTX_B64,
     PTX_MB_EXPECT_TX, 0},
    {"mbarrier.arrive.noComplete.release.cta.b64 %d1, [%r1], 2;", PTX_OP_mbarrier, PTX_B64, PTX_B64,
     PTX_MB_ARRIVE, PTX_F_NOCOMPLETE},
    {"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;", PTX_OP_mbarrier, PTX_B64, PTX_B64,
     PTX_MB_TRY_WAIT, PTX_F_PARITY},
    {"mbarrier.pending_count.b64 %r1, %d1;", PTX_OP_mbarrier, PTX_B64, PTX_B64,
     PTX_MB_PENDING_COUNT, 0},
    {"atom.global.add.noftz.f16x2 %r1, [%d1], %r2;", PTX_OP_atom, PTX_F16X2, PTX_F16X2, PTX_ADD,
     PTX_F_NOFTZ},
    {"atom.global.cas.b32 %r1, [%d1], %r2, %r3;", PTX_OP_atom, PTX_B32, PTX_B32, PTX_CAS, 0},
    {"red.shared.inc.u32 [%r1], %r2;", PTX_OP_red, PTX_U32, PTX_U32, PTX_INC, 0},
    {"cvta.to.global.u64 %d1, %d2;", PTX_OP_cvta, PTX_U64, PTX_U64, PTX_SUB_NONE, PTX_F_TO},
    {"isspacep.shared::cluster %p1, %d1;", PTX_OP_isspacep, PTX_NONE, PTX_NONE, PTX_SUB_NONE, 0},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", PTX_OP_lop3, PTX_B32, PTX_B32, PTX_SUB_NONE, 0},
    {"prefetch.global.L2::evict_last [%d1];", PTX_OP_prefetch, PTX_NONE, PTX_NONE, PTX_SUB_NONE, 0},
    {"createpolicy.fractional.L2::evict_first.b64 %d1, 0f3F800000;", PTX_OP_createpolicy, PTX_B64,
     PTX_B64, PTX_SUB_NONE, 0},
    {"nanosleep.u32 20;", PTX_OP_nanosleep, PTX_U32, PTX_U32, PTX_SUB_NONE, 0},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];", PTX_OP_ldmatrix,
     PTX_B16, PTX_B16, PTX_SUB_NONE, PTX_F_SYNC | PTX_F_ALIGNED | PTX_F_TRANS},
};

static void each_form_sets_its_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *f = &forms[i];
        struct parsed *p = parse_body(f->text);
        const struct ptx_instr *got = instr(p, 0);
        if (got->op != f->op || got->type != f->type || got->src_type != f->src_type ||
            got->sub != f->sub || got->flags != f->flags)
            fail_msg("%s: op %s type %d src %d sub %d flags %#x", f->text,
                     ptx_op_name((enum ptx_op)got->op), got->type, got->src_type, got->sub,
                     got->flags);
        size_t opcode = strcspn(f->text, " ;");
        assert_int_equal(strlen(got->text), opcode);
        assert_memory_equal(got->text, f->text, opcode);
        done(p);
    }
}

static void memory_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ptx_space space, space2;
        enum ptx_sem sem;
        enum ptx_scope scope;
        unsigned vec;
    } rows[] = {
        {"ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r1,%r2,%r3,%r4}, [%d1];", PTX_GLOBAL, 0,
         PTX_WEAK, PTX_SCOPE_NONE, 4},
        {"ld.relaxed.gpu.v2.u32 {%r1,%r2}, [%d1];", PTX_GENERIC, 0, PTX_RELAXED, PTX_SCOPE_GPU, 2},
        {"ld.acquire.cta.b64 %d1, [%d1];", PTX_GENERIC, 0, PTX_ACQUIRE, PTX_SCOPE_CTA, 1},
        {"ld.volatile.shared.u32 %r1, [tile];", PTX_SHARED, 0, PTX_VOLATILE, PTX_SCOPE_NONE, 1},
        {"ld.mmio.relaxed.sys.global.u32 %r1, [%d1];", PTX_GLOBAL, 0, PTX_MMIO, PTX_SCOPE_SYS, 1},
        {"ld.param.u64 %d1, [in];", PTX_PARAM, 0, PTX_WEAK, PTX_SCOPE_NONE, 1},
        {"ld.shared::cta.u32 %r1, [%r2];", PTX_SHARED, 0, PTX_WEAK, PTX_SCOPE_NONE, 1},
        {"ld.shared::cluster.u32 %r1, [%r2];", PTX_SHARED_CLUSTER, 0, PTX_WEAK, PTX_SCOPE_NONE, 1},
        {"st.release.gpu.global.s32 [%d1], %r1;", PTX_GLOBAL, 0, PTX_RELEASE, PTX_SCOPE_GPU, 1},
        {"st.weak.local.u8 [%d1], %h1;", PTX_LOCAL, 0, PTX_WEAK, PTX_SCOPE_NONE, 1},
        {"atom.add.acq_rel.cta.u64 %d1, [%d2], 1;", PTX_GENERIC, 0, PTX_ACQ_REL, PTX_SCOPE_CTA, 1},
        {"atom.acquire.gpu.global.add.u32 %r1, [%d2], 1;", PTX_GLOBAL, 0, PTX_ACQUIRE,
         PTX_SCOPE_GPU, 1},
        {"atom.global.add.u32 %r1, [%d2], 1;", PTX_GLOBAL, 0, PTX_RELAXED, PTX_SCOPE_GPU, 1},
        {"membar.gl;", 0, 0, PTX_SC, PTX_SCOPE_GPU, 1},
        {"membar.cta;", 0, 0, PTX_SC, PTX_SCOPE_CTA, 1},
        {"fence.acq_rel.gpu;", 0, 0, PTX_ACQ_REL, PTX_SCOPE_GPU, 1},
        {"cp.async.cg.shared.global [%r1], [%d1], 16;", PTX_SHARED, PTX_GLOBAL, PTX_WEAK,
         PTX_SCOPE_NONE, 1},
        {"cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;", PTX_GLOBAL, PTX_SHARED,
         PTX_WEAK, PTX_SCOPE_NONE, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed *p = parse_body(rows[i].text);
        const struct ptx_instr *got = instr(p, 0);
        if (got->op == PTX_OP_unknown || got->space != rows[i].space ||
            got->space2 != rows[i].space2 || got->sem != rows[i].sem ||
            got->scope != rows[i].scope || got->vec != rows[i].vec)
            fail_msg("%s: space %d %d sem %d scope %d vec %d", rows[i].text, got->space,
                     got->space2, got->sem, got->scope, got->vec);
        done(p);
    }
}

static void comparisons_and_rounding(void **state)
{
    (void)state;
    struct parsed *p = parse_body("setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3;\n"
                                  "setp.hs.u32 %p1, %r1, %r2;\n"
                                  "setp.geu.f32 %p1, %f1, %f2;\n"
                                  "cvt.rzi.s32.f32 %r1, %f1;\n"
                                  "fma.rm.f32 %f1, %f2, %f3, %f4;");
    assert_int_equal(instr(p, 0)->cmp, PTX_LT);
    assert_int_equal(instr(p, 0)->boolop, PTX_BOOL_AND);
    assert_int_equal(instr(p, 0)->operand_count, 4);
    assert_true(instr(p, 0)->operands[3].negated);
    assert_string_equal(function(p, "k")->regs[instr(p, 0)->operands[0].reg2].name, "%p2");
    assert_int_equal(instr(p, 1)->cmp, PTX_GE);
    assert_int_equal(instr(p, 2)->cmp, PTX_GEU);
    assert_int_equal(instr(p, 3)->round, PTX_RZI);
    assert_int_equal(instr(p, 4)->round, PTX_RM);
    done(p);
}

/* What the parser cannot read stays as an instruction that says so, and parsing goes on. */
static void unknown_forms_are_kept(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex, {%f5,%f6}];",
        "frobnicate.b32 %r1, %r2;",
        "add.wombat.s32 %r1, %r2, %r3;",
        "add.s32 %r1, %r2;",
        "add.s32 %r1, %r2, %r3, %r4;",
        "add %r1, %r2, %r3;",
        "mul.s32 %r1, %r2, %r3;",
        "setp.s32 %p1, %r2, %r3;",
        "atom.global.u32 %r1, [%d1], 1;",
        "bar.red.u32 %r1, 0, %p1;",
        "mov.u32 %r1, %nosuchregister;",
        "mov.u32 %r1, undeclared;",
        "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;",
        "add.f32.f16 %f1, %h1, %f2;",
        "ld.global.u32 %r1, [%d1+%d2];",
        "mov.u32 %r1, %r2.x;",
        "mov.u32 %r1, 99999999999999999999999;",
        "mov.f32 %f1, 0f3F8;",
        "mov.b64 {{%r1}, %r2}, %d1;",
        "wgmma.fence.sync.aligned;",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena a;
        arena_init(&a);
        struct parsed *p = parse_body(arena_printf(&a, "@%%p1 %s\nret;", texts[i]));
        const struct ptx_instr *got = instr(p, 0);
        if (got->op != PTX_OP_unknown)
            fail_msg("%s: read as %s", texts[i], ptx_op_name((enum ptx_op)got->op));
        assert_int_equal(strlen(got->text), strlen(texts[i]) - 1);
        assert_memory_equal(got->text, texts[i], strlen(got->text));
        assert_true(got->guard >= 0);
        assert_int_equal(got->ptx_line, 11);
        assert_int_equal(instr(p, 1)->op, PTX_OP_ret);
        done(p);
        arena_release(&a);
    }
}

static void names_and_types(void **state)
{
    (void)state;
    assert_string_equal(ptx_op_name(PTX_OP_shfl), "shfl");
    assert_string_equal(ptx_op_name(PTX_OP_unknown), "unknown");
    assert_string_equal(ptx_sreg_name(PTX_SREG_tid_x), "%tid.x");
    assert_int_equal(ptx_type_bytes(PTX_B128), 16);
    assert_int_equal(ptx_type_bytes(PTX_BF16X2), 4);
    assert_int_equal(ptx_type_bytes(PTX_PRED), 0);
    assert_int_equal(ptx_type_bytes(PTX_NONE), 0);
    assert_true(ptx_type_is_signed(PTX_S16X2));
    assert_false(ptx_type_is_signed(PTX_U16X2));
    assert_true(ptx_type_is_float(PTX_TF32));
    assert_false(ptx_type_is_float(PTX_B64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_sets_its_fields), cmocka_unit_test(memory_forms),
        cmocka_unit_test(comparisons_and_rounding),  cmocka_unit_test(unknown_forms_are_kept),
        cmocka_unit_test(names_and_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
