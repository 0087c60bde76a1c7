/* machine: what the parts of the vm share. Private to cpu/vm.
 *
 *   memory.c   allocations, definedness, host mappings, address -> allocation
 *   module.c   a PTX module's variables in memory; kernels
 *   findings.c findings with their source lines, deduplicated
 *   printf.c   device printf
 *   vm.c       life cycle, configuration, limits
 *   lower*.c   PTX instructions -> compact decoded instructions with handlers
 *   exec*.c    the handlers: one warp, one instruction, 32 lanes; built once per instruction set
 *   sched.c    which warp of which resident block runs next; barriers; deadlock
 *   sched_crew.c  the blocks of a launch over several host threads
 *   check*.c   what an access may do: bounds, uninitialised reads, races
 *   race*.c    who touched what last and who knows of it: races, fences, order of operations
 *   watch*.c   what is noted of every access on request: counters, per line too */
#ifndef CPU_VM_MACHINE_H
#define CPU_VM_MACHINE_H

#include "cpu/vm/vm.h"
#include "wire/profile.h"
#include "wire/trace.h"

#include <pthread.h>

/* The device address range: reserved without access at VM_WINDOW (or where the kernel lets us).
 * Offsets from vm->window: shared memory of the running block, then local memory of the running
 * thread, then allocations, which are never handed out twice. */
#if defined(__SANITIZE_THREAD__)
#define VM_WINDOW_BYTES (1ull << 38) /* it leaves no more in one piece */
#else
#define VM_WINDOW_BYTES (1ull << 44)
#endif
#define VM_SHARED_OFFSET (16ull << 20)
#define VM_SHARED_BYTES  (16ull << 20)
#define VM_LOCAL_OFFSET  (32ull << 20)
#define VM_LOCAL_BYTES   (16ull << 20)
#define VM_CODE_OFFSET                                                                             \
    (48ull << 20) /* + 16 * function index: what a function's address looks like */
#define VM_HEAP_OFFSET (64ull << 20)
#define VM_NULL_BYTES  65536ull /* addresses below this are reported as null_pointer */
/* A block's shared variables start here within its shared window: offset 0 is never a variable. */
#define VM_SHARED_START 1024u

struct vm_allocation {
    uint64_t base, bytes; /* as handed out */
    uint64_t low, high;   /* the program may touch [low, high): narrower after vm_narrow */
    uint8_t *host;        /* where the byte of address `base` lives */
    uint64_t *defined;    /* bit i: byte base + i was written (64 bits past the end are readable);
                             NULL = all of it counts as defined */
    uint64_t **own;       /* [VM_CREW_MOST], see vm_own_bits(); NULL = none */
    bool whole;           /* all of it counts as defined, whatever the bits say */
    uint64_t mapped;      /* bytes of the mapping behind `host`, 0 = heap memory */
    struct race_shadow *shadow;           /* see race_global.c; NULL = none yet */
    bool freed, read_only, on_host, lent; /* lent: `host` is the lender's, vm_lend() */
    bool is_input;                        /* vm_protect() */
    bool in_kernel;                       /* by malloc() of device code */
    char name[WIRE_NAME_BYTES];           /* "" = none */
    struct vm_allocation *next_unmapped;
};

/* The allocation, live or freed, whose [base, base + bytes + red zone) holds `address`, or NULL.
 * Pointers stay valid until the vm is freed. */
struct vm_allocation *vm_find_allocation(const struct vm *vm, uint64_t address);

enum { VM_CREW_MOST = 8 }; /* host threads of one launch */
/* Where worker 1, 2, ... of a launch on several host threads notes that bytes become defined: bits
 * of its own, since two threads that change one word at once would lose one of the changes. Worker
 * 0 has a->defined. vm_merge_bits() puts them together at the launch's end. */
uint64_t *vm_own_bits(struct vm *vm, struct vm_allocation *a, uint32_t worker);
void vm_merge_bits(struct vm *vm);
/* Whoever sets bits of its own says so, or they are not looked at in the end. */
static inline void vm_bits_touch(uint64_t *own)
{
    own[-1] = 1;
}
static inline bool vm_bits_touched(const uint64_t *own)
{
    return own[-1] != 0;
}
/* A word of a->defined, with what workers have noted so far. */
uint64_t vm_defined_word(const struct vm_allocation *a, uint64_t word);

/* Sets, clears or tests `count` bits from bit `from`. */
void vm_bits_set(uint64_t *bits, uint64_t from, uint64_t count);
void vm_bits_clear(uint64_t *bits, uint64_t from, uint64_t count);
bool vm_bits_all(const uint64_t *bits, uint64_t from, uint64_t count);

struct vm_code; /* a kernel or function, lowered; lower.c owns it */

/* What a kernel is lowered to: bits, of which none are set for plain code. */
enum vm_code_kind {
    VM_CODE_FINE = 1,     /* a block head before every access, lower_fine.c */
    VM_CODE_PROFILED = 2, /* points that count what is executed, lower_profile.c */
    VM_CODE_KINDS = 4,
};

struct vm_kernel {
    struct vm_module *module;
    const struct ptx_function *function;
    uint32_t function_index;
    char people_name[128]; /* demangled, without the argument list */
    uint32_t *param_offsets, *param_sizes;
    struct vm_code *code[VM_CODE_KINDS]; /* NULL until a launch wants it */
};

struct vm_module {
    struct vm *vm;
    struct arena arena; /* everything of the module, the parsed PTX included */
    struct ptx_module ptx;
    uint64_t *addresses; /* per ptx symbol: device address of GLOBAL and CONST variables, else 0 */
    struct vm_kernel *kernels;
    uint32_t kernel_count;
    struct vm_module *next;
};

enum { VM_SPARES = 16 };
/* A mapping that an allocation gave back: the next one need not have its pages made anew. */
struct vm_spare {
    uint8_t *bytes;
    uint64_t mapped;
};

struct vm {
    struct vm_limits limits;
    struct wire_device_config config;
    uint64_t window; /* first address of the reserved range */
    uint64_t heap_next;
    struct vm_allocation **device; /* sorted by base, freed ones included */
    size_t device_count, device_capacity;
    struct vm_allocation **host; /* sorted by base */
    size_t host_count, host_capacity;
    struct vm_allocation *unmapped; /* host mappings that are gone */
    uint64_t used_bytes, peak_bytes;
    bool bits_to_merge; /* see vm_own_bits() */
    struct vm_spare spares[VM_SPARES];
    struct vm_spare lent; /* vm_lend(), not yet taken */
    struct vm_module *modules;
    pthread_mutex_t lock; /* findings, vm_own_bits(): host threads of one launch */
    struct wire_finding *findings;
    size_t finding_count, finding_capacity;
    struct wire_counters counters;
    struct wire_profile *profile; /* NULL: nobody asks */
    struct wire_trace *trace;     /* the same */
    enum vm_status sticky;
    uint64_t launch_count, launch_count_before; /* vm_configure */
    uint32_t operation_count;                   /* begun so far, see vm_begin_operation() */
    struct vm_operation operation;
    char operation_what[128];
    struct race_global *races; /* who touched global memory last; race_global.c owns it */
    struct vm_engine *engine; /* the machine's own working memory; exec/sched own it, may be NULL */
};

/* Frees vm->engine and a kernel's lowered code (lower.c, sched.c). Both accept NULL. */
void vm_engine_free(struct vm_engine *engine);
void vm_code_free(struct vm_code *code);
/* What is remembered of accesses to an allocation, to all of them. */
void vm_race_forget(struct vm *vm, struct vm_allocation *a);
void vm_race_free(struct vm *vm);

/* ---- findings ---- */

struct vm_site {                    /* where something happened */
    const struct vm_kernel *kernel; /* the launched kernel */
    const struct vm_module *module;
    uint32_t loc; /* index into module->ptx.locs */
    int32_t block[3], thread[3];
};

/* Adds a finding; one with the same kind, file and line only raises its count. The line is the
 * first frame of the inlining chain that lies in config.source_file, else the innermost frame. */
void vm_report(struct vm *vm, enum finding_kind kind, enum wire_severity severity,
               const struct vm_site *site, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same finding, for vm_add_finding() later on. */
void vm_compose(const struct vm *vm, struct wire_finding *f, enum finding_kind kind,
                enum wire_severity severity, const struct vm_site *site, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* File and line of a loc by the same rule; false: unknown. */
bool vm_shown_line(const struct vm *vm, const struct vm_module *module, uint32_t loc,
                   const char **file, uint32_t *line);

/* "a.cu:12" of a loc by the same rule, for messages that name a second place. Returns `out`. */
char *vm_describe_loc(const struct vm *vm, const struct vm_module *module, uint32_t loc, char *out,
                      size_t out_bytes);

/* ---- device printf ---- */

/* Formats as printf does: `format` and `arguments` are the two pointers that vprintf receives, as
 * resolved by `read` (copies bytes from a generic address of the calling thread; false = a fault).
 * Writes to stdout. Returns the number of arguments, or -1. */
typedef bool vm_read_function(void *context, uint64_t address, void *to, uint64_t bytes);
int vm_printf(vm_read_function *read, void *context, uint64_t format, uint64_t arguments);

#endif
