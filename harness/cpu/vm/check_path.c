/* Do lanes that run while others of their warp wait at a barrier skip that barrier? It looks the
 * same as threads that return early, which is allowed, as long as they do nothing but what only
 * they do. If what they are going to do also comes after the barrier, the paths have joined: on a
 * GPU they wait there, for lanes that never come. Decided by reachability over the lowered code,
 * and remembered per pair.
 *
 * And where is a loop that spins? Its turns end anywhere in it; people look for what it waits for.
 */
#include "cpu/vm/check.h"

#include <stdlib.h>

struct walk {
    const struct vm_code *code;
    uint8_t *seen;
    uint32_t *todo, *from; /* in the order of discovery; from[pc]: reached from (may be NULL) */
    uint32_t next, count;
    uint32_t wall; /* not entered */
};

static void visit(struct walk *k, uint32_t pc, uint32_t from)
{
    if (pc >= k->code->insn_count || k->seen[pc] || pc == k->wall)
        return;
    k->seen[pc] = 1;
    k->todo[k->count++] = pc;
    if (k->from)
        k->from[pc] = from;
}

static bool is_handler(const struct vm_code *code, uint32_t pc, enum vm_op op)
{
    return code->insns[pc].run == code->exec->handlers[op];
}

/* Visits what can run right after the instruction. */
static void visit_successors(struct walk *k, uint32_t at)
{
    const struct insn *i = &k->code->insns[at];
    const struct ptx_instr *in = k->code->origins[at];
    bool head = is_handler(k->code, at, VM_OP_block);
    bool jumps = is_handler(k->code, at, VM_OP_bra) || is_handler(k->code, at, VM_OP_bra_back);
    bool may_jump = jumps || is_handler(k->code, at, VM_OP_bra_if) ||
                    is_handler(k->code, at, VM_OP_bra_over) ||
                    is_handler(k->code, at, VM_OP_bra_back_if) ||
                    (!head && in && in->op == PTX_OP_setp && i->x);
    if (may_jump)
        visit(k, at + i->x, at);
    if (is_handler(k->code, at, VM_OP_brx)) {
        const uint32_t *pcs = (const uint32_t *)(uintptr_t)i->imm;
        for (uint32_t t = 0; t < i->c; t++)
            visit(k, pcs[t], at);
        return;
    }
    if (jumps || is_handler(k->code, at, VM_OP_exit) || is_handler(k->code, at, VM_OP_ret) ||
        is_handler(k->code, at, VM_OP_trap))
        return;
    visit(k, at + 1, at);
}

/* Marks all that can run from pc on, nearest first. */
static void walk(struct walk *k, uint32_t pc)
{
    visit(k, pc, VM_NO_PC);
    while (k->next < k->count)
        visit_successors(k, k->todo[k->next++]);
    k->next = k->count = 0;
}

/* Does it do anything that others could see? */
static bool works(const struct ptx_instr *in)
{
    if (ptx_op_who(in->op) == PTX_WHO_SYNC)
        return true;
    switch ((int)in->op) {
    case PTX_OP_st:
    case PTX_OP_red:
    case PTX_OP_atom:
    case PTX_OP_call:
    case PTX_OP_cp:
    case PTX_OP_mbarrier:
        return true;
    default:
        return false;
    }
}

static bool paths_join(const struct vm_code *code, uint32_t pc, uint32_t barrier_pc)
{
    size_t n = code->insn_count;
    uint8_t *seen = calloc(2 * n, 1);
    uint32_t *todo = calloc(n + 1, sizeof *todo);
    if (!seen || !todo)
        BUG("out of memory for the paths of a kernel");
    struct walk here = {.code = code, .seen = seen, .todo = todo, .wall = barrier_pc};
    struct walk after = {.code = code, .seen = seen + n, .todo = todo, .wall = VM_NO_PC};
    walk(&here, pc);
    walk(&after, barrier_pc + 1);
    bool join = false;
    for (size_t k = 0; k < n && !join; k++)
        join = here.seen[k] && after.seen[k] && code->origins[k] && works(code->origins[k]);
    free(seen);
    free(todo);
    return join;
}

bool vm_skips_barrier(const struct warp *w, uint32_t pc, uint32_t barrier_pc)
{
    struct vm_engine *e = w->engine;
    if (w->depth)
        return false;
    struct path_verdict *v = &e->paths[(pc * 31 + barrier_pc) % VM_PATHS];
    if (!v->known || v->pc != pc || v->barrier_pc != barrier_pc)
        *v = (struct path_verdict){.known = true,
                                   .pc = pc,
                                   .barrier_pc = barrier_pc,
                                   .skips = paths_join(e->code, pc, barrier_pc)};
    return v->skips;
}

/* ---- loops ---- */

static bool reads_memory(const struct ptx_instr *in)
{
    return in && (in->op == PTX_OP_ld || in->op == PTX_OP_atom || in->op == PTX_OP_mbarrier);
}

uint32_t check_spin_pc(const struct vm_code *code, uint32_t pc)
{
    size_t n = code->insn_count;
    uint8_t *seen = calloc(n, 1);
    uint32_t *todo = calloc(n + 1, sizeof *todo), *from = calloc(n, sizeof *from);
    uint32_t poll = VM_NO_PC, first = VM_NO_PC;
    if (!seen || !todo || !from)
        BUG("out of memory for the loops of a kernel");
    struct walk k = {.code = code, .seen = seen, .todo = todo, .from = from, .wall = VM_NO_PC};
    visit_successors(&k, pc); /* not pc itself: is it reached again? */
    while (k.next < k.count && !seen[pc])
        visit_successors(&k, todo[k.next++]);
    for (uint32_t at = pc; seen[pc]; at = from[at]) { /* backwards along the shortest way round */
        const struct ptx_instr *in = code->origins[at];
        if (reads_memory(in) && at < poll)
            poll = at;
        if (in && in->loc && at < first)
            first = at;
        if (from[at] == pc)
            break;
    }
    free(seen);
    free(todo);
    free(from);
    return poll != VM_NO_PC ? poll : first != VM_NO_PC ? first : pc;
}
