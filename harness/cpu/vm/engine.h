/* engine: what lowering, execution, scheduling and the checks share. Private to cpu/vm.
 * long because every part of the machine works on these same few structures.
 *
 * A kernel is lowered once into an array of struct insn, 32 bytes each: the handler that runs it,
 * byte offsets of its operands, an immediate. An operand is a *row* in the warp's frame (32 values
 * of 4 or 8 bytes, one per lane), a *slot* in the block's bank (one value of 8 bytes that all lanes
 * share: constants, parameters, block indices and what follows from them), or a predicate (one word
 * in the frame, a bit per lane).
 *
 * Values that cannot change are computed once: a level says how often (enum vm_level). The setup
 * streams of struct vm_code compute levels 0 to 2 ahead; only level 3 is executed in place.
 *
 * The lanes of a warp that stand at one pc form a group. One group runs; the others wait in
 * warp->groups. Lowest pc first (deeper calls before that) makes them meet again; rotation keeps a
 * spinning group from starving the others. */
#ifndef CPU_VM_ENGINE_H
#define CPU_VM_ENGINE_H

#include "cpu/vm/machine.h"

enum {
    VM_LANES = 32,
    VM_ROW32 = 128, /* bytes */
    VM_ROW64 = 256,
    VM_WARPS_MOST = 32,
    VM_BARRIERS = 17, /* the last one is the cluster's: a cluster is one block here */
    VM_TEMPS = 4,     /* rows of VM_ROW64 at the start of every frame */
    VM_VECTOR_MOST = 8,
    VM_ACCESS_MOST = 32, /* bytes of one lane's access */
    VM_CALL_DEPTH = 512,
    VM_LOCAL_START = 16, /* local offset 0 is never a variable */
};
#define VM_PARAM_OFFSET (56ull << 20) /* kernel parameters by address, from vm->window */
#define VM_FULL         0xffffffffu

struct insn;
struct warp;
struct block;
struct profile_point; /* watch.h */
struct point_count;
struct warp_op;
struct vm_engine;

typedef void vm_handler(const struct insn *i, uint8_t *f, const uint8_t *u, uint32_t m,
                        struct warp *w);

struct insn {
    vm_handler *run;
    uint32_t d, a, b, c; /* byte offsets into the frame or the bank; uses differ per handler */
    union {
        uint64_t imm;
        struct {
            uint32_t x, y;
        };
    };
};

/* Every handler. exec_ops.def lists them; those with operand forms have one entry per form, in the
 * order of enum vm_form, so that base + form picks one. */
enum vm_op {
#define VM_BIN(name, D, A, B, expr)  VM_OP_##name, VM_OP_##name##_vs, VM_OP_##name##_sv,
#define VM_BINC(name, D, A, B, expr) VM_OP_##name, VM_OP_##name##_vs,
#define VM_UN(name, D, A, expr)      VM_OP_##name,
#define VM_TER(name, D, A, B, C, expr)                                                             \
    VM_OP_##name, VM_OP_##name##_vvs, VM_OP_##name##_vsv, VM_OP_##name##_vss,
#define VM_SETP(name, T, op)                                                                       \
    VM_OP_##name, VM_OP_##name##_vs, VM_OP_##name##_bra, VM_OP_##name##_vs_bra,
#define VM_SPECIAL(name) VM_OP_##name,
#include "cpu/vm/exec_ops.def"
#undef VM_BIN
#undef VM_BINC
#undef VM_UN
#undef VM_TER
#undef VM_SETP
#undef VM_SPECIAL
    VM_OP_COUNT
};

/* One instruction set's handlers. */
struct vm_exec {
    vm_handler *handlers[VM_OP_COUNT];
    /* One *.sync operation for lanes that all name the same mask and have all arrived. */
    void (*warp_op)(struct warp *w, const struct warp_op *op, uint8_t *f, const uint8_t *u,
                    uint32_t m);
    /* Runs w from w->resume until something stops it. */
    void (*run)(struct warp *w);
    void (*settle)(struct vm_engine *e); /* exec_columns.h */
    bool threaded;                       /* handlers jump to each other instead of returning */
};
extern const struct vm_exec vm_exec_v2, vm_exec_v3, vm_exec_v4, vm_exec_generic;
const struct vm_exec *vm_exec_choose(void); /* the best that this processor has */
/* For tests, before the first launch: another set than the best. */
void vm_use_exec(struct vm *vm, const struct vm_exec *exec);

/* ---- lowered code ---- */

enum vm_level {
    VM_PER_LAUNCH, /* one value per launch: a bank slot, computed by stream 0 */
    VM_PER_BLOCK,  /* one value per block: a bank slot, stream 1 */
    VM_PER_WARP,   /* the same in every block: a row or predicate, stream 2 */
    VM_VARYING,
};

/* How strongly a memory access is ordered, as far as races are concerned. */
enum vm_strength {
    VM_PLAIN,
    VM_IS_VOLATILE,
    VM_UPDATING, /* a volatile store of what was made of a volatile load of the same place */
    VM_POLLING,  /* a volatile load in a loop that waits */
    VM_STRONG,
    VM_STRONG_CTA, /* for the threads of one block only */
};

/* What a memory instruction does, beyond what fits into struct insn. */
struct mem_op {
    const struct ptx_instr *in;
    uint32_t index;   /* of its struct mem_cache */
    int64_t offset;   /* added to every address */
    uint32_t address; /* row or slot */
    uint8_t form;     /* enum vm_address_form */
    bool narrow;      /* the base is a register of 32 bits: base + offset wraps there */
    uint8_t space;    /* enum ptx_space */
    uint8_t bytes;    /* of one element */
    uint8_t count;    /* elements: 1, 2, 4, 8 */
    uint8_t total;    /* bytes * count: also the alignment */
    uint8_t strength; /* enum vm_strength */
    bool is_signed, write;
    bool wide[VM_VECTOR_MOST]; /* the register is a row of 8-byte values */
    bool used[VM_VECTOR_MOST]; /* false: `_`, or not in used_bytes_mask */
    uint32_t rows[VM_VECTOR_MOST];
    uint32_t used_bytes;
    /* atomics */
    uint8_t sub, type; /* enum ptx_sub, enum ptx_type */
    bool has_result;
    bool read_only;  /* through the read-only cache */
    bool waits;      /* in a loop until another thread changes the place */
    bool decides;    /* an atomic whose answer is tested: was it the last, was the lock free */
    bool answered;   /* an atomic whose answer is used */
    bool only_reads; /* an atomic that leaves every word as it is: atomicAdd(p, 0) */
    bool combined;   /* lanes that meet at a word act as one: watch_count.c */
    bool releases;   /* orders what came before it, whatever the fences */
    uint8_t sources; /* operands besides the address */
    uint32_t b, c;   /* their rows */
    uint32_t pc;
};
enum vm_address_form { VM_ADDRESS_64, VM_ADDRESS_32, VM_ADDRESS_SLOT };

/* Where the last access of a memory instruction went. All zero: nowhere yet. */
struct mem_cache {
    uint64_t low, span; /* the program may touch [low, low + span) */
    uint64_t limit;     /* span - bytes of an access, for the shortest path; 0 = do not take it */
    uint8_t *bias;      /* host address = bias + address */
    uint64_t *defined;  /* bit (address - base); NULL = not tracked */
    uint64_t *mine;     /* where this worker sets bits: `defined`, or its own, see vm_own_bits() */
    uint64_t base;
    struct race_shadow *shadow; /* NULL: not looked for races, or not yet */
    bool reported;              /* an uninitialised read, in this launch */
    uint32_t carried; /* undefined bytes that this load only carries along; 0 = not known yet */
};

/* A *.sync operation over the lanes of a warp. */
enum warp_op_kind { VM_SHFL, VM_VOTE, VM_MATCH, VM_REDUX, VM_ELECT, VM_WARP_SYNC, VM_MATRIX };
struct warp_op {
    const struct ptx_instr *in;
    uint8_t kind; /* enum warp_op_kind */
    uint8_t sub;  /* enum ptx_sub */
    uint8_t type;
    bool a_is_pred, a_wide, b_slot, c_slot, mask_slot, has_d, d_is_pred, has_pred;
    uint32_t d, pred, a, b, c, mask;
    uint32_t flip; /* all ones: the source predicate is negated */
    uint32_t pc;
    const uint32_t *source; /* shfl with known operands: 32 lanes to read from, 64-byte aligned */
    uint32_t in_range;
    const struct matrix_op *matrix; /* VM_MATRIX: see matrix.h */
};

/* Which lane does lane `lane` of a shuffle read, and is it in range? PTX ISA, "shfl.sync". */
static inline void vm_shfl_source(enum ptx_sub mode, uint32_t lane, uint32_t b, uint32_t c,
                                  uint32_t *source, bool *in_range)
{
    uint32_t segment = c >> 8 & 31, clamp = c & 31;
    uint32_t least = lane & segment, most = (lane & segment) | (clamp & ~segment);
    b &= 31;
    int32_t j;
    bool ok;
    if (mode == PTX_UP) {
        j = (int32_t)lane - (int32_t)b;
        ok = j >= (int32_t)most;
    } else if (mode == PTX_DOWN) {
        j = (int32_t)(lane + b);
        ok = j <= (int32_t)most;
    } else if (mode == PTX_BFLY) {
        j = (int32_t)(lane ^ b);
        ok = j <= (int32_t)most;
    } else {
        j = (int32_t)(least | (b & ~segment));
        ok = j <= (int32_t)most;
    }
    *source = ok ? (uint32_t)j & 31 : lane;
    *in_range = ok;
}

/* cp.async in all its forms, and mbarrier. */
struct async_value { /* an operand: a slot or a row */
    bool slot, wide;
    uint32_t at;
};
enum async_kind { VM_ASYNC_COPY, VM_ASYNC_BULK };
struct async_op {
    const struct ptx_instr *in;
    uint8_t kind; /* enum async_kind, of copies */
    bool has_size, has_source_size, has_barrier, has_result;
    struct mem_op to, from, barrier;
    struct async_value size; /* of a copy; count, token or parity of an mbarrier; groups to leave */
    struct async_value source_size;
    uint32_t result; /* row or predicate */
    bool may_ignore; /* cp.async: lanes in this predicate xor flip copy zeros */
    uint32_t ignore, ignore_flip;
    uint8_t reduction; /* enum ptx_sub: what cp.reduce does; PTX_SUB_NONE: copies */
};

/* bar and barrier. */
struct barrier_op {
    const struct ptx_instr *in;
    bool id_slot, count_slot, has_count, aligned;
    uint32_t id, count; /* row or slot */
    uint8_t sub;        /* PTX_BAR_SYNC, PTX_BAR_ARRIVE, or the reduction */
    uint32_t d, pred, flip;
};

/* Functions without a body that device code may call. */
enum vm_extern {
    VM_EXTERN_UNKNOWN,
    VM_EXTERN_PRINTF,
    VM_EXTERN_ASSERT,
    VM_EXTERN_MALLOC,
    VM_EXTERN_MALLOC_ALIGNED,
    VM_EXTERN_FREE,
};
enum { VM_EXTERN_ARGS = 6 };
struct extern_op {
    const struct ptx_instr *in;
    const char *name;
    uint8_t kind; /* enum vm_extern */
    uint8_t arg_words[VM_EXTERN_ARGS], result_words;
    uint32_t args[VM_EXTERN_ARGS], result; /* rows of the parameter areas */
};

struct code_function {
    const struct ptx_function *ptx;
    uint32_t entry;       /* pc; VM_NO_PC = not lowered */
    uint32_t frame_bytes; /* up to where a callee's frame may begin */
    uint32_t local_bytes;
    uint32_t results, params; /* frame offset of the first row of each area */
};
#define VM_NO_PC 0xffffffffu

/* A variable in shared memory, or a part of it that the program may touch. */
struct shared_range {
    uint32_t low, high; /* offsets in the shared window */
    const char *name;   /* for people */
    bool dynamic;       /* high = end of the dynamic part of the launch */
};

struct sreg_row {
    uint16_t sreg; /* enum ptx_sreg */
    uint32_t offset;
};

/* A loop that polls, with all that may lie on the way from it to itself: lower_spin.c. */
struct vm_place {
    uint32_t at, bytes; /* in the frame */
};
struct vm_spin {
    uint32_t *heads; /* pcs of its block heads, ascending */
    uint32_t head_count;
    struct vm_place *places; /* what decides how a lane there goes on, besides memory */
    uint32_t place_count;
};

struct vm_code {
    struct arena arena;
    const struct vm_exec *exec;
    const struct vm_module *module;
    struct insn *insns;
    const struct ptx_instr **origins; /* per pc, NULL for what lowering added */
    uint32_t insn_count;
    struct insn *setup[3];        /* per level; ends with OP_end */
    struct profile_point *points; /* of profiled code */
    uint32_t point_count;
    struct mem_op *mem_ops;
    uint32_t mem_op_count;
    struct code_function *functions; /* per ptx function */
    uint8_t *bank;                   /* constants; the launch fills in the rest */
    uint32_t bank_bytes, params_at, param_bytes;
    uint32_t sreg_slots[PTX_SREG_COUNT]; /* bank offset, 0 = not used */
    struct sreg_row *sreg_rows;
    uint32_t sreg_row_count;
    struct shared_range *shared;
    uint32_t shared_count, shared_static_end, shared_dynamic_at;
    uint32_t frame_bytes; /* of the entry, callees not counted */
    uint32_t local_bytes;
    bool has_calls, has_copies, uses_fences, narrow_shared; /* narrow: accesses of 1 or 2 bytes */
    bool one_worker; /* prints, allocates, or has atomics that are none between host threads */
    struct vm_spin *spins;
    uint32_t spin_count;
    bool polls; /* waits for other threads in loops, so that counts depend on the schedule */
    uint32_t reserved_shared; /* bytes before VM_SHARED_START that it may use: zero at first */
    uint32_t static_instructions;
};

/* Lowers a kernel and every function that it can call. Never fails: what cannot be lowered becomes
 * a trap that is reported when it is executed. kind: enum vm_code_kind bits. */
struct vm_code *vm_lower(const struct vm_kernel *kernel, const struct vm_exec *exec, unsigned kind);

/* Bytes of static shared memory that a kernel and what it calls use. */
uint64_t vm_static_shared(const struct vm_kernel *kernel);

/* ---- execution ---- */

enum vm_group_state { VM_RUNNABLE, VM_AT_SYNC, VM_AT_BARRIER };

struct group {
    uint32_t mask;
    uint32_t pc;
    uint32_t frame; /* offset in the warp's stack */
    uint32_t depth; /* of calls */
    uint32_t age;   /* when it last ran */
    uint8_t state;  /* enum vm_group_state */
    uint8_t barrier;
    bool passed_by; /* ran past a barrier that others of its warp wait at */
};

enum vm_stop {
    VM_STOP_BUDGET, /* the quantum is over */
    VM_STOP_YIELD,  /* it polls */
    VM_STOP_PARKED, /* no lane can go on by itself */
    VM_STOP_DONE,   /* every lane has exited */
    VM_STOP_FAULT,
};

/* One lane's data on its way from or to memory that is not plain host memory. */
struct bounce {
    uint8_t bytes[VM_LANES][VM_ACCESS_MOST];
};

struct warp {
    /* what handlers touch */
    uint8_t *frame; /* of the running group */
    uint8_t *bank;
    const struct insn *resume;
    uint32_t mask;
    uint32_t live;
    uint32_t join_pc;    /* at or past it the running group must look around */
    int32_t budget;      /* warp instructions left in this turn */
    uint64_t lane_count; /* of this turn: instructions, and additions of data << 32 */
    uint64_t warp_count;
    struct vm_engine *engine;
    struct block *block;
    struct warp_clock *clocks; /* happens-before in the warp, check_race.c; NULL = not looked for */
    uint32_t sync_events;      /* *.sync operations within a block epoch */
    uint32_t full_event;       /* the last one of all live lanes */
    uint8_t *stack;
    size_t stack_bytes;
    uint32_t frame_offset, depth;
    uint8_t *local;          /* word k of lane l at (k * 32 + l) * 4 */
    uint64_t *local_defined; /* local_bits, or NULL when nobody asks */
    uint64_t *local_bits;
    uint32_t local_bytes, local_capacity; /* per lane */
    struct async_copy *copies;            /* cp.async not yet waited for */
    uint32_t copy_count, copy_capacity;
    uint32_t group_count;
    uint32_t clock; /* for ages */
    uint32_t spin, rotation;
    uint64_t polled_version; /* of memory, at the last backward branch of a polling loop */
    uint32_t saved_guard;
    uint32_t taken;   /* lanes that take the branch at which the warp parts */
    uint32_t bounced; /* lanes of a store whose bytes wait in bounce */
    uint32_t delayed; /* the same, to be seen late, see delay.h */
    uint32_t late;    /* list of such stores that nobody else sees yet */
    int32_t turn;     /* the budget that this turn started with */

    /* spinning, see sched_stuck.c */
    uint32_t quiet_turns; /* turns since it last changed something */
    uint64_t spin_hash, spin_version, spin_age, spin_next;
    bool cycling; /* it will repeat itself until memory changes */

    /* parting at random, see sched_shake.c */
    uint64_t still_version;
    uint32_t still_turns; /* of this warp, in which nobody changed memory */
    bool loose;           /* groups run in any order; else lowest pc first */

    bool partial_events; /* *.sync operations of some lanes since full_event */
    bool passed_by;
    bool fenced;     /* has executed a fence */
    bool force_sync; /* the mask of the next sync cannot arrive: go on without */
    bool halt;       /* handlers: return to run() */
    bool runnable, done;
    bool whole_waits; /* all live lanes wait at a barrier: mask and resume are set, without a group
                       */
    uint8_t whole_barrier;
    uint8_t index; /* in its block */
    uint8_t stop;  /* enum vm_stop */

    /* What is large comes last: what a turn of the scheduler looks at is in few cache lines. */
    _Alignas(64) struct group groups[VM_LANES];
    _Alignas(64) uint8_t temp[VM_ROW64];
    uint8_t *lane_host[VM_LANES];
    uint64_t lane_address[VM_LANES];
    struct bounce bounce;
    _Alignas(64) uint8_t staged[VM_LANES * VM_ACCESS_MOST]; /* vectors in one piece, exec_mem.c */
    uint64_t bounce_offset[VM_LANES];
    uint32_t copy_group[VM_LANES], bulk_group[VM_LANES]; /* committed so far */
};

/* The value of one lane in a row of 4-byte or 8-byte values. */
static inline uint8_t *vm_lane(uint8_t *frame, uint32_t row, unsigned lane, bool wide)
{
    return frame + row + (size_t)lane * (wide ? 8 : 4);
}

struct barrier {
    uint32_t arrived;  /* threads */
    uint32_t expected; /* 0 = all of the block */
    uint32_t first_pc; /* of the first arrival in this phase */
    uint32_t first_thread;
    uint32_t warps;         /* bit per warp that has arrived threads */
    uint32_t votes, voters; /* bar.red */
    bool in_use;
};

struct block {
    struct vm_engine *engine;
    uint32_t slot;
    uint64_t index;  /* linear, in the grid */
    uint64_t launch; /* that the slot was set up for */
    uint32_t warp_capacity;
    uint32_t ctaid[3];
    uint32_t warp_count, done_warps;
    uint32_t exited; /* threads */
    bool active;
    uint8_t *shared;                        /* byte of shared offset o at shared + o */
    uint64_t *shared_bits, *shared_defined; /* the latter NULL when nobody asks */
    uint32_t shared_end, shared_capacity;
    uint8_t *bank;
    uint32_t late; /* list of stores that only the block sees yet, see delay.h */
    struct warp *warps;
    struct race_block *races;
    uint32_t open_barriers; /* bit per barrier in use */
    struct barrier barriers[VM_BARRIERS];
    uint32_t counted[VM_BARRIERS][VM_WARPS_MOST]; /* at a counted barrier: lanes that have come */
};

enum { VM_PATHS = 64 };
struct path_verdict { /* see check_path.c */
    uint32_t pc, barrier_pc;
    bool known, skips;
};

enum { VM_COLUMNS = 4 };
struct vm_columns { /* see exec_columns.h */
    _Alignas(64) uint32_t loaded[VM_COLUMNS][VM_LANES];
    uint32_t stored[VM_COLUMNS][VM_LANES];
    const uint8_t *from; /* host address of lane 0's word in loaded[0]; NULL: nothing is kept */
    uint64_t version;    /* of memory, which `loaded` holds for */
    uint8_t *to;         /* the same of stored[0] */
    uint32_t waiting;    /* columns of `stored` that are not in memory yet */
};

struct vm_engine {
    struct vm *vm;
    const struct vm_exec *exec;
    const struct vm_code *code;
    const struct vm_kernel *kernel;
    const struct vm_launch *launch;
    uint32_t checks;
    uint32_t watch_global, watch_shared; /* enum vm_watcher bits: who sees every access */
    uint32_t block_threads, warps_per_block;
    uint64_t block_total, blocks_done, next_block; /* the last one: crew_claim() with a crew */
    struct vm_crew *crew; /* the host threads of this launch, sched_crew.c; NULL = this one alone */
    struct vm_crew *crew_kept; /* from launch to launch; NULL = none yet */
    uint32_t worker;           /* its place in the crew, 0 = the thread that called vm_launch() */
    struct wire_counters *counters;
    struct point_count *points;  /* per point of profiled code */
    struct profile_run *profile; /* watch_profile.c; NULL: nobody asks */
    struct trace_run *trace;     /* watch_trace.c; NULL: nobody asks */
    struct trace_run *trace_room;
    struct profile_run *profile_room; /* the same, kept from launch to launch */
    struct mem_cache *caches;         /* per mem_op of the code */
    uint32_t cache_capacity;
    struct block **slots;
    uint32_t slot_capacity, slots_used;
    uint32_t resident_most;   /* what fits on the device */
    uint32_t resident_wanted; /* at first: fewer when the configuration asks for it */
    uint8_t *bank;            /* as every block's bank begins */
    struct warp *setup_warp;
    enum vm_status status;
    bool stopped;
    uint64_t version;     /* of memory: grows with every change */
    uint64_t total_steps; /* of earlier launches */
    uint64_t grid_workspace;
    uint64_t steps;                      /* warp instructions of this launch, up to the last turn */
    uint64_t quiet_version, quiet_since; /* when memory last changed, in steps */
    uint64_t rng_key, rng_counter;
    uint64_t start_ns, time_offset;
    struct race_global *global_races; /* NULL: races on global memory are not looked for */
    uint64_t *race_pairs;             /* hash of pairs of instructions reported in this launch */
    uint32_t race_pair_count;
    uint32_t race_hits;                  /* of pairs that were told, see race_enough() */
    struct path_verdict paths[VM_PATHS]; /* of the running code */
    bool interleaved;                    /* WIRE_INTERLEAVED */
    struct vm_delay *delay;              /* delay.h; NULL: stores are seen at once */
    struct vm_delay *delay_memory;
    struct vm_columns columns;
};

/* What other host threads stored may become known now. */
static inline void vm_columns_forget(struct vm_engine *e)
{
    e->columns.from = NULL;
    e->columns.version = ~e->version;
}

/* Before anybody looks at memory, or may: what waits is written. */
static inline void vm_columns_settle(struct vm_engine *e)
{
    if (__builtin_expect(e->columns.waiting != 0, 0))
        e->exec->settle(e);
}

/* Before what orders memory between threads, or goes to it by itself. */
static inline void vm_columns_end(struct vm_engine *e)
{
    vm_columns_settle(e);
    vm_columns_forget(e);
}

/* ---- memory and checks (check*.c) ---- */

/* The whole access of the lanes in m, wherever they point: fills w->lane_host with where each
 * lane's bytes are (a load's may be copies; a store has to call vm_mem_write_back afterwards). The
 * lanes' addresses are in w->lane_address. false: a fault, the launch has ended. */
bool vm_mem_slow(struct warp *w, const struct mem_op *op, uint32_t m);
void vm_mem_write_back(struct warp *w, const struct mem_op *op, uint32_t m);
/* Lanes in m read bytes that nobody wrote; their addresses are in w->lane_address. */
void vm_report_uninitialized(struct warp *w, const struct mem_op *op, uint32_t m);
/* Lanes in m touch shared memory at w->lane_address (offsets in the window). */
void vm_race_access(struct warp *w, const struct mem_op *op, uint32_t m);
/* Lanes in m touch global memory. */
void vm_race_global(struct warp *w, const struct mem_op *op, uint32_t m);
/* A strong access as far as it orders others, without the access itself. */
void vm_race_flags(struct warp *w, const struct mem_op *op, uint32_t m);
/* Lanes of one store wrote different values to the same place. */
void vm_race_same_store(struct warp *w, const struct mem_op *op, unsigned lane, unsigned other);
void vm_check_shfl(struct warp *w, const struct warp_op *op, uint32_t m, uint32_t in_range,
                   const uint32_t *source);
void vm_matrix(struct warp *w, const struct warp_op *op, uint32_t m); /* halts w on a fault */
bool vm_atomic_128(struct warp *w, const struct mem_op *op, uint8_t *f, uint32_t m);
bool vm_alloca(struct warp *w, const struct insn *i, uint32_t m); /* false: too much */
bool vm_async(struct warp *w, const struct insn *i, uint32_t m);
bool vm_async_exit(struct warp *w, uint32_t m); /* lanes end: their copies are done */
/* What an atomic operation leaves in place of `old`. */
uint64_t vm_atomic_value(const struct mem_op *op, uint64_t old, uint64_t b, uint64_t c);
bool vm_atomic(struct warp *w, const struct mem_op *op, uint8_t *f, uint32_t m);
void vm_fence(struct warp *w, uint32_t m, uint32_t scope);
void vm_publish(struct warp *w, uint32_t m, uint32_t scope); /* enum delay_scope, delay.h */
void vm_check_own_mask(struct warp *w, const struct warp_op *op, uint32_t m);
void vm_report_stuck_sync(struct warp *w, const struct warp_op *op, uint32_t m);
/* Will lanes at pc do what comes after the barrier without having been at it? */
bool vm_skips_barrier(const struct warp *w, uint32_t pc, uint32_t barrier_pc);
void vm_report_passed_barrier(struct warp *w, uint32_t m);
void vm_report_mixed_barrier(struct warp *w, uint32_t pc, uint32_t m, uint32_t other_pc,
                             uint32_t other_thread);
/* A named barrier for a number of threads that is no multiple of a warp, or not that of others. */
void vm_report_count(struct warp *w, uint32_t pc, uint32_t m, unsigned id, unsigned n, unsigned of);
void vm_report_stack_overflow(struct warp *w, uint32_t pc, uint32_t m);
void vm_report_bad_call(struct warp *w, uint32_t pc, uint32_t m);
uint64_t vm_read_clock(struct warp *w, const struct insn *i);
void vm_sreg_row(const struct warp *w, uint32_t sreg, uint32_t *values); /* one per lane */

/* ---- groups of a warp (sched_warp.c). All of them leave the next thing to run in w->resume,
 * w->mask and w->frame, or set w->halt with the reason in w->stop. ---- */

void vm_diverge(struct warp *w, uint32_t taken, uint32_t taken_pc, uint32_t fallen,
                uint32_t fallen_pc);
void vm_join(struct warp *w, uint32_t pc);                 /* at a block head at or past join_pc */
void vm_pick(struct warp *w);                              /* the running group is gone */
void vm_backward(struct warp *w, uint32_t pc, bool polls); /* a backward branch to pc was taken */
void vm_exit_lanes(struct warp *w, uint32_t m);
void vm_sync_slow(struct warp *w, const struct insn *i, uint32_t m);
void vm_barrier_arrive(struct warp *w, const struct insn *i, uint32_t m);
void vm_call(struct warp *w, const struct insn *i, uint32_t m);
void vm_call_row(struct warp *w, const struct insn *i, uint32_t m);
void vm_return(struct warp *w, uint32_t m);
void vm_branch_table(struct warp *w, const struct insn *i, uint32_t m);
bool vm_reserve(struct warp *w, const struct insn *i, uint32_t m); /* false: too deep */
void vm_extern_call(struct warp *w, const struct insn *i, uint32_t m);
void vm_trap(struct warp *w, const struct insn *i, uint32_t m);
void vm_nanosleep(struct warp *w);
/* After a *.sync operation among lanes m: what they wrote is known to each other. */
void vm_race_warp_sync(struct warp *w, uint32_t m);
/* Recomputes join_pc after the list of groups changed. */
void vm_watch_groups(struct warp *w);
void vm_park_at_barrier(struct warp *w, uint32_t m, uint32_t next_pc, uint8_t id);
void vm_stack_reserve(struct warp *w, size_t bytes);
void vm_local_reserve(struct warp *w, uint64_t bytes);
bool vm_has_runnable(const struct warp *w);
/* Only the lanes in m of the running group go on, the others wait where they are. */
void vm_part_lanes(struct warp *w, uint32_t m);
/* Another runnable group becomes the running one, if there is any. */
void vm_change_group(struct warp *w);
/* All groups at SYNC: lets the first go on without the lanes that cannot come. false: none there */
bool vm_force_sync(struct warp *w);

/* ---- blocks (sched.c) ---- */

/* Threads of the block have exited or arrived: releases what is complete. */
void vm_barrier_check(struct block *b, unsigned id);
/* Everybody is past a barrier of the whole block: what came before is ordered. */
void vm_race_barrier(struct block *b, uint32_t warps, bool everybody);
/* Makes the shadow of a block's shared memory, or starts it anew for another block. */
void vm_race_block_start(struct block *b);
void vm_race_block_free(struct block *b);
/* Around every launch. */
void vm_race_launch_start(struct vm_engine *e);
void vm_race_launch_end(struct vm_engine *e);
/* NULL: nothing is looked for there. */
struct race_shadow *vm_race_shadow(struct vm_engine *e, struct vm_allocation *a);
uint32_t vm_slot_or_row(const struct warp *w, bool slot, uint32_t at, unsigned lane);

/* ---- the launch's end ---- */

void vm_fault(struct warp *w, enum vm_status status); /* stops everything */
void vm_halt(struct warp *w, enum vm_stop why);
/* The loc of an instruction. nvcc gives line 0 to what it moves, such as a read out of a loop: then
 * that of what comes next, which uses what was moved. */
uint32_t vm_loc_of(const struct vm_code *code, uint32_t pc, bool *moved);
void vm_site_of(const struct warp *w, uint32_t pc, int lane, struct vm_site *site);

/* Bits set: without the help of an instruction that old processors lack. */
static inline uint32_t vm_count_lanes(uint32_t x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}

/* The pc of an instruction of the running code. */
static inline uint32_t vm_pc(const struct warp *w, const struct insn *i)
{
    return (uint32_t)(i - w->engine->code->insns);
}

#endif
