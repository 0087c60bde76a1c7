/* Do lanes that run while others of their warp wait at a barrier skip that barrier? It looks the
 * same as threads that return early, which is allowed, as long as they do nothing but what only
 * they do. If what they are going to do also comes after the barrier, the paths have joined: on a
 * GPU they wait there, for lanes that never come. Decided by reachability over the lowered code,
 * and remembered per pair. */
#include "cpu/vm/check.h"

#include <stdlib.h>

struct walk {
    const struct vm_code *code;
    uint8_t *seen;
    uint32_t *todo;
    uint32_t count;
    uint32_t wall; /* not entered */
};

static void visit(struct walk *k, uint32_t pc)
{
    if (pc >= k->code->insn_count || k->seen[pc] || pc == k->wall)
        return;
    k->seen[pc] = 1;
    k->todo[k->count++] = pc;
}

static bool is_handler(const struct vm_code *code, uint32_t pc, enum vm_op op)
{
    return code->insns[pc].run == code->exec->handlers[op];
}

/* Marks all that can run from pc on. */
static void walk(struct walk *k, uint32_t pc)
{
    visit(k, pc);
    while (k->count) {
        uint32_t at = k->todo[--k->count];
        const struct insn *i = &k->code->insns[at];
        const struct ptx_instr *in = k->code->origins[at];
        bool head = is_handler(k->code, at, VM_OP_block);
        bool jumps = is_handler(k->code, at, VM_OP_bra) || is_handler(k->code, at, VM_OP_bra_back);
        bool may_jump = jumps || is_handler(k->code, at, VM_OP_bra_if) ||
                        is_handler(k->code, at, VM_OP_bra_over) ||
                        is_handler(k->code, at, VM_OP_bra_back_if) ||
                        (!head && in && in->op == PTX_OP_setp && i->x);
        if (may_jump)
            visit(k, at + i->x);
        if (is_handler(k->code, at, VM_OP_brx)) {
            const uint32_t *pcs = (const uint32_t *)(uintptr_t)i->imm;
            for (uint32_t t = 0; t < i->c; t++)
                visit(k, pcs[t]);
            continue;
        }
        if (jumps || is_handler(k->code, at, VM_OP_exit) || is_handler(k->code, at, VM_OP_ret) ||
            is_handler(k->code, at, VM_OP_trap))
            continue;
        visit(k, at + 1);
    }
}

/* Does it do anything that others could see? */
static bool works(const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_st:
    case PTX_OP_red:
    case PTX_OP_atom:
    case PTX_OP_bar:
    case PTX_OP_barrier:
    case PTX_OP_shfl:
    case PTX_OP_vote:
    case PTX_OP_match:
    case PTX_OP_redux:
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
