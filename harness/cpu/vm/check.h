/* check: what looks at accesses and at the lanes that execute together. Private to cpu/vm. */
#ifndef CPU_VM_CHECK_H
#define CPU_VM_CHECK_H

#include "cpu/vm/engine.h"

/* Where one lane's access goes. */
enum check_place { CHECK_GLOBAL, CHECK_SHARED, CHECK_LOCAL, CHECK_PARAM, CHECK_NOWHERE };
struct check_target {
    enum check_place place;
    uint64_t offset; /* in the shared, local or parameter space; global: the address */
    uint8_t *host;   /* NULL for local memory */
    struct vm_allocation *allocation;
    const struct shared_range *range;
};

/* Resolves `bytes` bytes at an address that lane `l` uses with instruction `op`, checks bounds and
 * alignment. *t holds what another lane's access came to, which is looked at first, or zeros.
 * false: reported, the launch has ended. */
bool check_resolve(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                   unsigned bytes, struct check_target *t);

/* Are the used bytes (bits of `used`) of shared or global memory defined? A write defines them. */
bool check_defined(const struct check_target *t, const struct warp *w, uint64_t used, bool write);

/* Which of `bytes` bytes at the lane's address + from are undefined (bits), after vm_mem_slow or
 * the short path has found some that are. They must not cross a multiple of 32. */
uint64_t check_undefined(const struct warp *w, const struct mem_op *op, unsigned lane, int64_t from,
                         unsigned bytes);

/* Is what the lane's load sees undefined only the padding of a structure that is copied? */
bool check_padding(const struct warp *w, const struct mem_op *op, unsigned lane);

/* From now on the instruction's short ways know this allocation. */
void check_remember(struct warp *w, const struct mem_op *op, struct vm_allocation *a);

/* Bits of global memory that this engine may set, in the way of a->defined. NULL: not tracked. */
uint64_t *check_bits(const struct warp *w, struct vm_allocation *a);

/* Of lanes whose bytes seem undefined, those whose bytes no other host thread has noted either. */
uint32_t check_really_undefined(const struct warp *w, const struct mem_op *op, uint32_t m);

/* Was the instruction written in NVIDIA's libraries? */
bool check_in_toolkit(const struct warp *w, uint32_t pc);
/* The same, and everything that it was inlined into too?
 * It is then none of the submission's code. */
bool check_toolkit_only(const struct warp *w, uint32_t pc);

/* A fault of one lane's access, told with the buffer's name and how far outside it is. */
void check_fault(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                 unsigned bytes);

/* A write to what is an input of the program. It is done all the same. */
void check_input_written(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                         unsigned bytes);

/* "global memory of `in`", ...: for messages. Returns out. */
char *check_describe(const struct warp *w, const struct mem_op *op, uint64_t address, char *out,
                     size_t out_bytes);

/* Plain copies between a lane's local memory and `bytes`. */
void check_local_read(struct warp *w, unsigned lane, uint64_t offset, uint8_t *to, unsigned bytes);
void check_local_write(struct warp *w, unsigned lane, uint64_t offset, const uint8_t *from,
                       unsigned bytes);

/* Reads or writes memory of one lane through a generic address, for printf and copies. false: not
 * readable (nothing is reported). */
bool check_peek(struct warp *w, unsigned lane, uint64_t address, void *to, uint64_t bytes);

/* The instruction that a loop through pc waits with: the first that reads memory on the shortest
 * way back to pc, else the first of that way. pc itself where there is no loop. */
uint32_t check_spin_pc(const struct vm_code *code, uint32_t pc);

#endif
