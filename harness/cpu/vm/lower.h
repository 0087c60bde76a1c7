/* lower: PTX functions -> struct insn. Private to lower*.c.
 *
 *   lower.c          functions, streams, places of operands, the whole of vm_lower()
 *   lower_analysis.c definitions, levels, copies, live ranges, rows of the frame
 *   lower_alu.c      arithmetic, logic, conversions; who does what
 *   lower_compare.c  setp, set
 *   lower_move.c     moves, selections, predicates
 *   lower_shared.c   functions that are reached, shared variables
 *   lower_memory.c   loads, stores, atomics, parameters
 *   lower_async.c    cp.async, mbarrier
 *   lower_matrix.c   mma, wmma, ldmatrix, stmatrix, movmatrix
 *   lower_stack.c    alloca, stacksave, stackrestore
 *   lower_additions.c which instructions add data
 *   lower_profile.c  where profiled code counts
 *   lower_flow.c     branches, calls, barriers, operations across lanes
 *   lower_race.c     how strongly accesses are ordered, for the race detector
 *   lower_fuse.c     superinstructions
 *   lower_spin.c     what the way of a polling loop depends on
 *   lower_fine.c     where schedules may part lanes besides branches
 *   scalar.c         what runs lane by lane */
#ifndef CPU_VM_LOWER_H
#define CPU_VM_LOWER_H

#include "cpu/vm/engine.h"
#include "cpu/vm/scalar.h"

/* Where an operand is: a slot of the bank or a row of the frame. */
struct place {
    bool slot;
    uint32_t at;
};

enum reg_class { REG_PRED, REG_32, REG_64, REG_128 };

struct reg_info {
    uint8_t kind;     /* enum reg_class */
    uint8_t level;    /* enum vm_level */
    bool known_level; /* its definition has been looked at */
    bool partial;     /* some definition is guarded */
    bool placed;      /* `place` is valid */
    bool direct;      /* its place is that of its operand: the definition does nothing */
    uint32_t definitions, reads;
    int32_t copy_of;     /* register that it always equals, -1 = none */
    struct place place;  /* predicates: the word's offset */
    int32_t first, last; /* live range in PTX instructions, first > last: never used */
};

struct stream {
    struct insn *insns;
    const struct ptx_instr **origins;
    uint32_t count, capacity;
};

struct fixup { /* insn `at` jumps to PTX instruction `target` */
    uint32_t at;
    uint32_t target;
};

struct constant {
    uint64_t value;
    uint32_t at;
};

struct lower {
    const struct vm_kernel *kernel;
    const struct vm_module *module;
    const struct ptx_module *ptx;
    struct vm_code *code;
    bool fine; /* a block head before every access */
    bool profiled;
    struct profile_point *points;
    uint32_t point_count, point_capacity;
    struct arena scratch;
    struct stream main, setup[3];
    uint8_t *bank;
    uint32_t bank_bytes, bank_capacity;
    struct constant *constants; /* open hash, capacity a power of two */
    uint32_t constant_count, constant_capacity;
    uint32_t *shared_at; /* per symbol: offset in the shared window, 0 = not placed */
    uint32_t *area_at;   /* per symbol of the current function: its parameter area's row */

    /* the function being lowered */
    uint32_t function_index;
    const struct ptx_function *fn;
    struct code_function *out;
    struct reg_info *regs;
    bool *leader;        /* per PTX instruction, and one past the end */
    uint32_t *head;      /* per PTX instruction: pc of its block head */
    uint32_t frame;      /* bytes laid out so far */
    uint32_t more_temps; /* rows of 8 bytes per lane for stores of long vectors of constants */
    uint32_t stack_used; /* row: bytes of local memory that the frame uses; 0 = it never changes */
    uint32_t flag;       /* the carry's predicate; LOWER_PRED_TEMPS temporary ones follow */
    uint8_t *additions;  /* per PTX instruction: additions of data that it makes */
    struct fixup *fixups;
    uint32_t fixup_count, fixup_capacity;
    uint32_t **tables; /* entries of branch tables that still hold PTX instructions */
    uint32_t table_count, table_capacity;
    uint32_t index; /* of the PTX instruction being lowered */
    uint32_t block; /* pc of the head of the block being lowered */
    const struct ptx_instr *in;
};

enum { LOWER_PRED_TEMPS = 4 };

/* What %reserved_smem_offset_0 and _1 name lies before the block's variables. */
enum { VM_RESERVED_0 = 64, VM_RESERVED_1 = 512 };

/* Layout of a frame: temporaries, header, then the signature's areas, then everything else. */
enum {
    FRAME_TEMP = 0,
    FRAME_RETURN_PC = VM_TEMPS * VM_ROW64,
    FRAME_PREVIOUS = FRAME_RETURN_PC + VM_ROW32,
    FRAME_LOCAL_BASE = FRAME_PREVIOUS + VM_ROW32, /* 64-bit row */
    FRAME_START = FRAME_LOCAL_BASE + VM_ROW64,
};

/* ---- lower.c ---- */
struct insn *lower_emit(struct lower *l, struct stream *s, enum vm_op op);
struct stream *lower_stream(struct lower *l, enum vm_level level);
uint32_t lower_slot(struct lower *l, uint32_t bytes); /* a fresh slot */
uint32_t lower_constant(struct lower *l, uint64_t value);
bool lower_known(const struct lower *l, struct place p, uint64_t *value); /* is it a constant? */
/* Where an operand is. `wide`: as a value of 64 bits. Reads of clocks are put into temporary t. */
struct place lower_place(struct lower *l, const struct ptx_operand *o, enum ptx_type type);
/* The same, as a row: a slot is spread into temporary t. */
uint32_t lower_row(struct lower *l, struct stream *s, struct place p, bool wide, unsigned t);
uint32_t lower_temp(unsigned t);
/* Where an instruction's result goes, and whether it must be extracted into a slot afterwards. */
struct result {
    struct stream *stream;
    uint32_t row;
    bool wide, extract;
    uint32_t slot;
};
struct result lower_result(struct lower *l, const struct ptx_operand *o);
void lower_finish(struct lower *l, const struct result *r);
uint32_t lower_pred(struct lower *l, int32_t reg);      /* offset of a predicate's word */
int32_t lower_root(const struct lower *l, int32_t reg); /* follows copies */
bool lower_is_wide(const struct lower *l, int32_t reg);
bool lower_is_clock(enum ptx_sreg s);
uint32_t lower_pred_temp(const struct lower *l, unsigned t);
void lower_unsupported(struct lower *l);
void lower_jump(struct lower *l, uint32_t at, uint32_t target); /* insn at -> PTX instruction */
void lower_table_entry(struct lower *l, uint32_t *entry); /* a PTX instruction, becomes its pc */
bool lower_is_read(const struct lower *l, int32_t reg);
uint64_t lower_symbol_address(struct lower *l, int32_t symbol);

/* ---- lower_shared.c ---- */
/* Marks the function and those that its calls may reach, however deep. */
void lower_find_wanted(const struct ptx_module *ptx, uint32_t index, bool *found);
void lower_place_shared(struct lower *l, const bool *functions);

/* ---- lower_stack.c ---- */
bool lower_has_stack(const struct ptx_function *f);
void lower_start_stack(struct lower *l);

/* ---- lower_memory.c ---- */
/* Fills in what every memory instruction has, and its address operand. */
void lower_mem_op(struct lower *l, struct mem_op *op, const struct ptx_instr *in);
void lower_address(struct lower *l, struct mem_op *op, const struct ptx_operand *a);

/* ---- lower_race.c ---- */
enum vm_strength lower_strength(struct lower *l, const struct ptx_instr *in);
bool lower_waits(struct lower *l, const struct ptx_instr *in);
bool lower_decides(struct lower *l, const struct ptx_instr *in);

/* ---- lower_fine.c ---- */
/* May another thread's access come between this instruction and the one before it? */
bool lower_is_access(const struct ptx_instr *in);
/* What comes before an instruction that publishes earlier stores. */
void lower_publish(struct lower *l, const struct ptx_instr *in);

/* ---- lower_analysis.c ---- */
void lower_analyse(struct lower *l);
/* Calls f for every register that an instruction reads or writes. */
typedef void lower_visit(struct lower *l, int32_t reg, bool written, void *context);
void lower_registers(struct lower *l, const struct ptx_instr *in, lower_visit *f, void *context);

/* ---- lower_profile.c: these do nothing for code that is not profiled ---- */
void lower_block_point(struct lower *l); /* right after the head of the current block */
void lower_guard_point(struct lower *l); /* behind the guard of the current instruction */
void lower_finish_points(struct lower *l);

/* ---- lower_spin.c ---- */
void lower_find_spins(struct lower *l); /* fills code->spins, for the entry */

/* ---- lower_fuse.c ---- */
void lower_fuse(struct vm_code *c);

/* ---- lower_additions.c ---- */
void lower_find_additions(struct lower *l); /* fills l->additions */

/* ---- the instructions; false: not this part's ---- */
bool lower_alu(struct lower *l, const struct ptx_instr *in);
bool lower_memory(struct lower *l, const struct ptx_instr *in);
bool lower_async(struct lower *l, const struct ptx_instr *in);
bool lower_matrix(struct lower *l, const struct ptx_instr *in);
bool lower_stack(struct lower *l, const struct ptx_instr *in);
bool lower_flow(struct lower *l, const struct ptx_instr *in);
bool lower_polls(struct lower *l, uint32_t from, uint32_t to); /* does the loop of these? */
/* The PTX instructions [from, to] of the next such loop around the current one; *to = 0: the first.
 */
bool lower_next_polling_loop(struct lower *l, uint32_t *from, uint32_t *to);
/* ---- lower_alu.c, lower_compare.c, lower_move.c: false = this form is not there ---- */
bool lower_scalar(struct lower *l, const struct ptx_instr *in); /* lane by lane, scalar.c */
void lower_unary(struct lower *l, struct stream *s, enum vm_op op, uint32_t d, uint32_t a);
void lower_fp_mode(struct lower *l, struct stream *s, uint32_t round, uint32_t flush);
enum vm_op lower_bool_handler(enum ptx_bool b);
bool lower_setp(struct lower *l, const struct ptx_instr *in);
bool lower_set(struct lower *l, const struct ptx_instr *in);
bool lower_mov(struct lower *l, const struct ptx_instr *in);
bool lower_cvta(struct lower *l, const struct ptx_instr *in);
bool lower_selp(struct lower *l, const struct ptx_instr *in);
bool lower_pred_logic(struct lower *l, const struct ptx_instr *in);
bool lower_lop3(struct lower *l, const struct ptx_instr *in);
bool lower_isspacep(struct lower *l, const struct ptx_instr *in);
bool lower_mapa(struct lower *l, const struct ptx_instr *in);
bool lower_getctarank(struct lower *l, const struct ptx_instr *in);
bool lower_mov_128(struct lower *l, const struct ptx_instr *in);

bool lower_is_pure(const struct ptx_instr *in); /* may be computed ahead */
bool lower_ends_block(const struct ptx_instr *in);
/* May lanes part or wait here, so that a guard has to be a branch around it? */
bool lower_is_control(const struct ptx_instr *in);

#endif
