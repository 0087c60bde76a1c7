/* ptx: PTX text -> a checked, resolved form.
 *
 * ptx_parse() reads one PTX module (what nvcc puts in a fatbin) and resolves every name: registers
 * become numbers, labels become instruction indices, symbols become indices into one table. It
 * knows the grammar and the operand shapes, not what instructions do: cpu/vm gives them meaning.
 * An opcode that ops.def does not list, or a form that the parser cannot read, becomes an
 * instruction of opcode PTX_OP_unknown that keeps its text; it is an error only if executed.
 *
 * Registers of a range (%r<100>) are numbered when first used: the unused ones have no number.
 * The last instruction never falls through: a `ret` is added where the text has none. atom and red
 * without an order are .relaxed.gpu, fence and membar .acq_rel and .sc, as the manual says.
 *
 * Invariants after success: every register, symbol, label, function and loc index is in range;
 * every instruction has the operand count that its ops.def row allows; types are set.
 * Everything lives in the caller's arena. No globals; two threads may parse two modules.
 * Source of the grammar: NVIDIA, "PTX ISA", version 9.0. */
#ifndef CPU_PTX_PTX_H
#define CPU_PTX_PTX_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row of ops.def per base opcode: OP(name, least operands, most operands, who, "what it does").
 * The name is the C identifier and the PTX opcode up to the first dot. */
enum ptx_op {
#define OP(name, least, most, who, meaning) PTX_OP_##name,
#include "cpu/ptx/ops.def"
#undef OP
    PTX_OP_unknown,
    PTX_OP_COUNT
};

const char *ptx_op_name(enum ptx_op op);

/* Whom an instruction concerns, see ops.def. */
enum ptx_who { PTX_WHO_LANE, PTX_WHO_FLOW, PTX_WHO_SYNC, PTX_WHO_TILE };
enum ptx_who ptx_op_who(enum ptx_op op); /* of PTX_OP_unknown: LANE */

/* clang-format off */
enum ptx_type {
    PTX_NONE, /* the opcode has no type suffix (bra, ret, bar) */
    PTX_PRED,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_U16X2, PTX_S16X2,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_TF32, PTX_F32, PTX_F32X2, PTX_F64,
    PTX_TYPE_COUNT
};

unsigned ptx_type_bytes(enum ptx_type t); /* PRED and NONE: 0 */
bool ptx_type_is_signed(enum ptx_type t); /* S8..S64, S16X2 */
bool ptx_type_is_float(enum ptx_type t);

enum ptx_space {
    PTX_GENERIC, /* no space suffix */
    PTX_GLOBAL, PTX_SHARED, /* .shared and .shared::cta */
    PTX_SHARED_CLUSTER, PTX_LOCAL, PTX_CONST,
    PTX_PARAM, /* kernel parameters, and a function's .param variables */
};

enum ptx_sem { PTX_WEAK, PTX_VOLATILE, PTX_RELAXED, PTX_ACQUIRE, PTX_RELEASE, PTX_ACQ_REL, PTX_SC,
               PTX_MMIO };
enum ptx_scope { PTX_SCOPE_NONE, PTX_SCOPE_CTA, PTX_SCOPE_CLUSTER, PTX_SCOPE_GPU, PTX_SCOPE_SYS };
/* Float comparisons: the ...U forms are true when an operand is NaN. LO LS HI HS are read as the
 * unsigned LT LE GT GE. */
enum ptx_cmp { PTX_CMP_NONE, PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE, PTX_EQU, PTX_NEU,
               PTX_LTU, PTX_LEU, PTX_GTU, PTX_GEU, PTX_NUM, PTX_NAN };
enum ptx_bool { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };
enum ptx_round { PTX_ROUND_NONE, PTX_RN, PTX_RZ, PTX_RM, PTX_RP, PTX_RNA, PTX_RNI, PTX_RZI, PTX_RMI,
                 PTX_RPI };

/* What one opcode does in several ways. One enum for all, so that a decoder can switch on (op, sub).
 * bar.red.popc is (bar, POPC), bar.red.and is (bar, AND). */
enum ptx_sub {
    PTX_SUB_NONE,
    /* mul mad mul24 mad24 */ PTX_LO, PTX_HI, PTX_WIDE,
    /* atom red redux bar.red barrier.red */ PTX_ADD, PTX_MIN, PTX_MAX, PTX_INC, PTX_DEC, PTX_AND,
    PTX_OR, PTX_XOR, PTX_EXCH, PTX_CAS, PTX_POPC,
    /* shfl */ PTX_UP, PTX_DOWN, PTX_BFLY, PTX_IDX,
    /* vote match */ PTX_ALL, PTX_ANY, PTX_UNI_VOTE, PTX_BALLOT,
    /* bar barrier */ PTX_BAR_SYNC, PTX_BAR_ARRIVE, PTX_BAR_RED, PTX_BAR_WARP, /* bar.warp.sync */
    PTX_BAR_CLUSTER_ARRIVE, PTX_BAR_CLUSTER_WAIT,
    /* shf prmt */ PTX_LEFT, PTX_RIGHT, PTX_F4E, PTX_B4E, PTX_RC8, PTX_ECL, PTX_ECR, PTX_RC16,
    /* testp */ PTX_FINITE, PTX_INFINITE, PTX_NUMBER, PTX_NOTANUMBER, PTX_NORMAL, PTX_SUBNORMAL,
    /* fence membar */ PTX_FENCE_THREAD, PTX_FENCE_PROXY, PTX_FENCE_MBARRIER_INIT,
    /* cp */ PTX_CP_ASYNC, PTX_CP_COMMIT_GROUP, PTX_CP_WAIT_GROUP, PTX_CP_WAIT_ALL, PTX_CP_MBARRIER_ARRIVE,
    PTX_CP_BULK, PTX_CP_BULK_COMMIT_GROUP, PTX_CP_BULK_WAIT_GROUP, PTX_CP_BULK_PREFETCH,
    PTX_CP_REDUCE_BULK, /* which operation: in the text */
    /* mbarrier */ PTX_MB_INIT, PTX_MB_INVAL, PTX_MB_ARRIVE, PTX_MB_ARRIVE_DROP, PTX_MB_TEST_WAIT,
    PTX_MB_TRY_WAIT, PTX_MB_EXPECT_TX, PTX_MB_COMPLETE_TX, PTX_MB_ARRIVE_EXPECT_TX,
    PTX_MB_PENDING_COUNT,
};
/* clang-format on */

enum ptx_flag {
    PTX_F_SAT = 1u << 0,
    PTX_F_FTZ = 1u << 1,
    PTX_F_APPROX = 1u << 2,
    PTX_F_FULL = 1u << 3,
    PTX_F_CC = 1u << 4,      /* writes the carry: add.cc, sub.cc, mad.cc, addc.cc */
    PTX_F_UNI = 1u << 5,     /* bra.uni, call.uni */
    PTX_F_SYNC = 1u << 6,    /* shfl.sync, vote.sync, match.sync, redux.sync */
    PTX_F_ALIGNED = 1u << 7, /* barrier.sync.aligned, bar.* (always aligned) */
    PTX_F_NC = 1u << 8,      /* ld.global.nc */
    PTX_F_CLAMP = 1u << 9,
    PTX_F_WRAP = 1u << 10,
    PTX_F_SHIFTAMT = 1u << 11, /* bfind.shiftamt */
    PTX_F_TO = 1u << 12,       /* cvta.to.<space>: generic -> space */
    PTX_F_NAN = 1u << 13,      /* min.NaN, max.NaN */
    PTX_F_XORSIGN = 1u << 14,
    PTX_F_ABS = 1u << 15,
    PTX_F_NOINC = 1u << 16,  /* cp.async.mbarrier.arrive.noinc */
    PTX_F_PARITY = 1u << 17, /* mbarrier.*_wait.parity */
    PTX_F_READ = 1u << 18,   /* cp.async.bulk.wait_group.read */
    PTX_F_RELU = 1u << 19,
    PTX_F_NOCOMPLETE = 1u << 20, /* mbarrier.arrive.noComplete */
    PTX_F_NOFTZ = 1u << 21,
    PTX_F_VOLATILE_ASM = 1u << 22,
    PTX_F_TRANS = 1u << 23, /* ldmatrix.trans */
};

enum ptx_operand_kind {
    PTX_OPERAND_REG,    /* reg; negated for !%p; reg2 for the pair %p|%q */
    PTX_OPERAND_IMM,    /* imm: the bits (a float literal: of its own type, see imm_type) */
    PTX_OPERAND_SREG,   /* imm: enum ptx_sreg */
    PTX_OPERAND_SYMBOL, /* the address of symbols[symbol] + imm (mov, cvta) */
    PTX_OPERAND_ADDR,   /* [reg + imm] (symbol -1), [symbol + imm] (reg -1), [imm] (both -1) */
    PTX_OPERAND_VEC,    /* {a, b, ...}: elements */
    PTX_OPERAND_LABEL,  /* imm: instruction index in the function */
    PTX_OPERAND_FUNC,   /* imm: index into module->functions (call) */
    PTX_OPERAND_SINK,   /* _ */
};

struct ptx_operand {
    uint8_t kind;
    uint8_t imm_type; /* IMM: PTX_S64, PTX_U64: integers; PTX_F32: 0f; PTX_F64: 0d and 1.5 */
    bool negated;
    int32_t reg, reg2; /* function register number, -1 = none */
    int32_t symbol;    /* -1 = none */
    int64_t imm;
    struct ptx_operand *elements;
    uint32_t element_count;
};

/* Special registers; a row per name in sregs.def: SREG(identifier, "ptx name", bits). */
enum ptx_sreg {
#define SREG(id, name, bits) PTX_SREG_##id,
#include "cpu/ptx/sregs.def"
#undef SREG
    PTX_SREG_COUNT
};

const char *ptx_sreg_name(enum ptx_sreg s);

/* Where an instruction comes from. `inlined_at` is the loc of the call site it was inlined at (an
 * index into module->locs), -1 = none. */
struct ptx_loc {
    uint32_t file; /* index into module->files; 0 = unknown */
    uint32_t line, column;
    int32_t inlined_at;
};

struct ptx_instr {
    uint16_t op;
    uint8_t type; /* the type it works in: the last type suffix; of cvt, set: the destination's */
    uint8_t src_type; /* cvt, set, slct, dp4a ...: the other type suffix; else the same as type.
                         slct.u32.s32: type S32, src_type U32; dp4a.s32.u32: type U32 (of b) */
    uint8_t space;    /* ld st atom red cvta isspacep cp; of cvta.to / cvta: the named space */
    uint8_t space2;   /* cp: the source's space */
    uint8_t vec;      /* 1, 2, 4, 8 */
    uint8_t sem, scope, cmp, boolop, round, sub;
    bool guard_negated;
    int32_t guard; /* predicate register, -1 = always */
    uint32_t flags;
    uint32_t used_bytes; /* .pragma "used_bytes_mask ...": bit i = byte i of the load is used */
    uint32_t loc;        /* index into module->locs; 0 = unknown */
    uint32_t ptx_line;   /* line in the PTX text, from 1 */
    uint16_t operand_count;
    struct ptx_operand *operands;
    /* Destinations come first, as written. `_|p` has a register of its own for the `_`.
     * call: [0] VEC of SYMBOLs that receive the results (maybe empty), [1] FUNC or REG, [2] VEC of
     *   SYMBOLs or IMMs that are passed; an indirect call has [3] SYMBOL -1 with imm = index of the
     *   prototype in module->functions (a declaration: its params and results give the layout).
     * brx.idx: [0] REG, [1] VEC of LABELs. */
    const char *text; /* the opcode with all suffixes as written; unknown: the statement */
};

enum ptx_linkage {
    PTX_LINK_NONE,
    PTX_LINK_VISIBLE,
    PTX_LINK_EXTERN,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
};

/* "Put the address of symbols[symbol] + addend at byte `offset`" (or of a function, symbol -1). */
struct ptx_reloc {
    uint64_t offset;
    int32_t symbol, function;
    int64_t addend;
    uint8_t bytes; /* 8, or 4 */
    bool generic;  /* generic(symbol): a generic address */
};

struct ptx_symbol {
    const char *name;
    uint8_t space; /* PTX_GLOBAL PTX_CONST PTX_SHARED PTX_LOCAL PTX_PARAM */
    uint8_t linkage;
    uint8_t type; /* element type as declared */
    uint32_t align;
    uint64_t bytes;   /* 0 for `.extern .shared x[]` */
    bool is_texture;  /* .texref .samplerref .surfref */
    bool is_managed;  /* .attribute(.managed): host code uses it too, under the same address */
    int32_t function; /* owning function, -1 = module scope */
    uint64_t offset; /* PARAM of an entry or function signature: byte offset in the parameter block.
                        SHARED, LOCAL and call-site PARAM of a function: offset in its own block */
    bool is_call_param; /* a .param declared inside a body, for a call */
    uint8_t *init;      /* `bytes` bytes, NULL = zero or uninitialised */
    struct ptx_reloc *relocs;
    uint32_t reloc_count;
};

struct ptx_reg {
    const char *name;
    uint8_t type; /* as declared: PTX_PRED, PTX_B32, PTX_F64 ... */
};

struct ptx_function {
    const char *name;
    bool is_entry;
    bool is_declaration; /* no body: extern, such as vprintf */
    bool is_noreturn;
    uint8_t linkage;
    int32_t *params; /* symbols of the signature, in order */
    uint32_t param_count;
    uint64_t param_bytes; /* of the whole block, entries: as cudaLaunchKernel lays it out; the
                             results of a function follow its parameters */
    int32_t *results;     /* of a function */
    uint32_t result_count;
    struct ptx_reg *regs;
    uint32_t reg_count;
    struct ptx_instr *instrs;
    uint32_t instr_count;
    uint64_t shared_bytes; /* static shared memory declared in the body */
    uint64_t local_bytes;
    uint64_t call_param_bytes; /* of the .param variables declared inside the body */
    uint32_t maxntid[3];       /* 0 = not given */
    uint32_t reqntid[3];
    uint32_t minnctapersm;
    uint32_t ptx_line;
};

struct ptx_module {
    unsigned version_major, version_minor;
    unsigned target; /* 75 for sm_75 */
    unsigned address_size;
    const char **files; /* files[0] = "" */
    uint32_t file_count;
    struct ptx_loc *locs; /* locs[0] = unknown */
    uint32_t loc_count;
    struct ptx_symbol *symbols;
    uint32_t symbol_count;
    struct ptx_function *functions; /* a declaration and its definition are one entry */
    uint32_t function_count;
};

/* Reads `length` bytes of PTX. NULs at the end are ignored. 0, or -1 with
 * "PTX line N: what was found; what was expected". Never reads past length, never aborts on input.
 */
int ptx_parse(const char *text, size_t length, struct arena *arena, struct ptx_module *module,
              struct err *e);

/* Index of a function by name, -1 = none. */
int ptx_find_function(const struct ptx_module *module, const char *name);
int ptx_find_symbol(const struct ptx_module *module, const char *name); /* module scope only */

#endif
