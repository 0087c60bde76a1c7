/* Two accesses that nothing orders: which fault is that, and in which words?
 *
 * race_search.c says whether a flag was meant to order them, race_strong.c what becomes of two
 * strong ones. The finding stands at the write, of two writes at the later line, a missing fence at
 * the write of the flag: whichever came first in this run, the same is said. */
#include "cpu/vm/check.h"
#include "cpu/vm/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 1024 /* as launch.c clears */ };

/* ---- sizes ---- */

static uint32_t element_bytes(const struct vm_engine *e, uint32_t pc)
{
    const struct ptx_instr *in = e->code->origins[pc];
    return in ? ptx_type_bytes((enum ptx_type)in->type) : 0;
}

bool race_torn(const struct warp *w, const struct mem_op *op, uint64_t entry)
{
    if (op->pc == race_pc_of(entry) || op->strength == VM_PLAIN ||
        race_strength_of(entry) == VM_PLAIN)
        return false;
    uint32_t mine = element_bytes(w->engine, op->pc);
    uint32_t theirs = element_bytes(w->engine, race_pc_of(entry));
    if (mine == theirs || !mine || !theirs)
        return false;
    /* libcu++ makes atomics of 1 and 2 bytes of compare-and-swaps of the word around them. */
    bool narrow = (mine < 4 && theirs == 4) || (mine == 4 && theirs < 4);
    return !(narrow && check_in_toolkit(w, op->pc) && check_in_toolkit(w, race_pc_of(entry)));
}

/* ---- words ---- */

/* Has everything been said of accesses at these two places? */
bool race_told(const struct vm_engine *e, uint32_t a, uint32_t b)
{
    uint64_t key = ((uint64_t)a << 32 | b) + 1;
    if (!e->race_pairs)
        return false;
    for (uint64_t at = key * 0x9e3779b97f4a7c15u >> 40;; at++)
        if (e->race_pairs[at % PAIRS] == key || !e->race_pairs[at % PAIRS])
            return e->race_pairs[at % PAIRS] == key;
}

bool race_first_time(struct vm_engine *e, uint32_t a, uint32_t b)
{
    uint64_t key = ((uint64_t)a << 32 | b) + 1;
    if (!e->race_pairs)
        e->race_pairs = calloc(PAIRS, sizeof *e->race_pairs);
    if (!e->race_pairs || e->race_pair_count >= PAIRS / 2)
        return false;
    for (uint64_t at = key * 0x9e3779b97f4a7c15u >> 40;; at++) {
        uint64_t *slot = &e->race_pairs[at % PAIRS];
        if (*slot == key)
            return false;
        if (*slot == 0) {
            *slot = key;
            e->race_pair_count++;
            return true;
        }
    }
}

/* An access in words: where it stands in the source, and who made it. */
struct actor {
    uint32_t pc;
    uint64_t block;
    uint32_t thread; /* in its block */
};

static void site_of(const struct warp *w, const struct actor *a, struct vm_site *site)
{
    const uint32_t *grid = w->engine->launch->grid, *shape = w->engine->launch->block;
    vm_site_of(w, a->pc, -1, site);
    site->block[0] = (int32_t)(a->block % grid[0]);
    site->block[1] = (int32_t)(a->block / grid[0] % grid[1]);
    site->block[2] = (int32_t)(a->block / grid[0] / grid[1]);
    site->thread[0] = (int32_t)(a->thread % shape[0]);
    site->thread[1] = (int32_t)(a->thread / shape[0] % shape[1]);
    site->thread[2] = (int32_t)(a->thread / shape[0] / shape[1]);
}

/* "thread (5,0,0)", and "of block (3,0,0)" if that is another one. */
static char *name_of(const struct warp *w, const struct actor *a, const struct actor *beside,
                     char *out, size_t out_bytes)
{
    struct vm_site s;
    site_of(w, a, &s);
    int n = snprintf(out, out_bytes, "thread (%d,%d,%d)", s.thread[0], s.thread[1], s.thread[2]);
    if (a->block != beside->block && n > 0 && (size_t)n < out_bytes)
        snprintf(out + n, out_bytes - (size_t)n, " of block (%d,%d,%d)", s.block[0], s.block[1],
                 s.block[2]);
    return out;
}

static char *line_of(const struct warp *w, uint32_t pc, char *out, size_t out_bytes)
{
    const struct vm_engine *e = w->engine;
    bool moved;
    uint32_t loc = vm_loc_of(e->code, pc, &moved);
    vm_describe_loc(e->vm, e->code->module, loc, out, out_bytes);
    size_t length = strlen(out);
    if (moved)
        snprintf(out + length, out_bytes - length, " (moved by the compiler)");
    return out;
}

static const char *verb_of(bool writes, uint32_t strength)
{
    if (strength >= VM_STRONG)
        return writes ? "updates" : "reads";
    return writes ? "writes" : "reads";
}

/* `x[i]++`: the load that a store's value was made of, shortly before it and from the same place.
 * NULL: the store at `pc` is not the end of such an update. */
static const struct ptx_instr *update_load(const struct vm_code *code, uint32_t pc)
{
    enum { BACK = 64, REGISTERS = 8 };
    const struct ptx_instr *store = code->origins[pc];
    if (!store || store->op != PTX_OP_st || store->operands[1].kind != PTX_OPERAND_REG)
        return NULL;
    int32_t made_of[REGISTERS] = {store->operands[1].reg};
    uint32_t count = 1;
    const struct ptx_operand *place = &store->operands[0];
    for (uint32_t k = 1; k <= BACK && k <= pc; k++) {
        const struct ptx_instr *in = code->origins[pc - k];
        bool makes = false;
        for (uint32_t i = 0; in && in->op != PTX_OP_st && in->operand_count > 1 && i < count; i++)
            makes |= in->operands[0].kind == PTX_OPERAND_REG && in->operands[0].reg == made_of[i];
        if (!makes)
            continue;
        const struct ptx_operand *from = &in->operands[1];
        if (in->op == PTX_OP_ld && from->kind == place->kind && from->reg == place->reg &&
            from->imm == place->imm && from->symbol == place->symbol)
            return in;
        for (uint32_t i = 1; in->op != PTX_OP_ld && i < in->operand_count && count < REGISTERS; i++)
            if (in->operands[i].kind == PTX_OPERAND_REG)
                made_of[count++] = in->operands[i].reg;
    }
    return NULL;
}

/* Do two threads update the same place in steps: is one access such a store, and the other one too,
 * or the load of one? */
static bool both_update(const struct warp *w, uint32_t a, uint32_t b)
{
    const struct vm_code *code = w->engine->code;
    const struct ptx_instr *load_a = update_load(code, a), *load_b = update_load(code, b);
    return (load_a && (load_b || code->origins[b] == load_a)) ||
           (load_b && code->origins[a] == load_b);
}

static const char *advice(const struct warp *w, const struct mem_op *op,
                          const struct race_past *past)
{
    uint32_t mine = op->strength;
    if (both_update(w, op->pc, race_pc_of(past->entry)))
        return " (each reads, changes and writes it in separate steps, so updates get lost: an "
               "atomic such as atomicAdd does it in one)";
    if (past->block != w->block->index &&
        (mine == VM_STRONG_CTA || race_strength_of(past->entry) == VM_STRONG_CTA))
        return " (what is atomic for a block is not for others: its scope has to be the device)";
    if (past->block != w->block->index)
        return " (__syncthreads orders the threads of one block only)";
    if (past->warp != w->index)
        return " (a __syncthreads is missing)";
    return w->block->warp_count == 1
               ? " (lanes of a warp do not run in lock-step; __syncwarp orders them)"
               : " (lanes of a warp do not run in lock-step; __syncwarp orders them, and "
                 "__syncthreads the threads of different warps)";
}

/* Thrust's unique() works in place: it reads through the read-only cache what it writes afterwards,
 * and tells the next tile by a flag, without a fence, that it has read. That is NVIDIA's to answer
 * for. */
static bool in_place(const struct warp *w, const struct mem_op *op, const struct race_past *past)
{
    return check_toolkit_only(w, op->pc) && check_toolkit_only(w, race_pc_of(past->entry));
}

/* CUB's run-length encoding scatters what it does not need into one slot of shared memory that
 * nobody reads: two writes, both in NVIDIA's own code. A read of the slot would still be told. */
static bool thrown_away(const struct warp *w, const struct mem_op *op, const struct race_past *past)
{
    return past->shared && past->writes && op->write && check_toolkit_only(w, op->pc) &&
           check_toolkit_only(w, race_pc_of(past->entry));
}

static void report_race(struct warp *w, const struct mem_op *op, unsigned lane,
                        const struct race_past *past)
{
    struct vm_engine *e = w->engine;
    struct actor me = {op->pc, w->block->index, w->index * VM_LANES + lane};
    struct actor they = {race_pc_of(past->entry), past->block, past->warp * VM_LANES + past->lane};
    uint32_t mine = op->strength, theirs = race_strength_of(past->entry);
    bool at_them = past->writes && (!op->write || they.pc > me.pc);
    const struct actor *first = at_them ? &they : &me, *second = at_them ? &me : &they;
    if (!race_first_time(e, first->pc, second->pc) || thrown_away(w, op, past))
        return;
    struct vm_site site;
    char place[160], line[96], name[96];
    site_of(w, first, &site);
    check_describe(w, op, w->lane_address[lane], place, sizeof place);
    name_of(w, second, first, name, sizeof name);
    line_of(w, second->pc, line, sizeof line);
    if (mine == VM_UPDATING && theirs == VM_UPDATING) {
        vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
                  "adds to %s in steps, a load and a store, while %s does so too at %s: volatile "
                  "does not keep others out, so updates get lost (atomicAdd does)",
                  place, name, line);
        return;
    }
    bool second_writes = at_them ? op->write : past->writes;
    if (race_torn(w, op, past->entry)) {
        uint32_t bytes[] = {element_bytes(e, first->pc), element_bytes(e, second->pc)};
        vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
                  "%s %s by accesses of %u bytes while %s %s it by accesses of %u at %s: accesses "
                  "of different sizes are not atomic to each other, so that a part of what was "
                  "written may be seen without the rest (use one of %u bytes on both sides)",
                  verb_of(true, at_them ? theirs : mine), place, bytes[0], name,
                  verb_of(second_writes, at_them ? mine : theirs), bytes[1], line,
                  bytes[0] > bytes[1] ? bytes[0] : bytes[1]);
        return;
    }
    vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
              "%s %s while %s %s it at %s: nothing orders the two%s",
              verb_of(true, at_them ? theirs : mine), place, name,
              verb_of(second_writes, at_them ? mine : theirs), line, advice(w, op, past));
}

static const char *fence_for(bool near)
{
    return near ? "__threadfence_block()" : "__threadfence()";
}

static void compose_writer(struct warp *w, const struct mem_op *op, unsigned lane,
                           const struct race_past *past, const struct race_found *f,
                           struct wire_finding *out)
{
    const struct race_write *n = f->flag;
    struct actor me = {op->pc, w->block->index, w->index * VM_LANES + lane};
    struct actor flag = {n->pc, n->block, n->warp * VM_LANES + (uint32_t)__builtin_ctz(n->lanes)};
    bool near = n->block == w->block->index;
    struct vm_site site;
    char place[160], data_line[96], my_line[96], name[96], why[160];
    site_of(w, &flag, &site);
    check_describe(w, op, w->lane_address[lane], place, sizeof place);
    line_of(w, race_pc_of(past->entry), data_line, sizeof data_line);
    if (f->narrow)
        snprintf(why, sizeof why,
                 "the fence or atomic before it orders for its own block only (__threadfence() "
                 "orders for all)");
    else if (n->fenced)
        snprintf(why, sizeof why, "no %s stands between the two (one before both does not help)",
                 fence_for(near));
    else
        snprintf(why, sizeof why, "no %s stands between the two", fence_for(near));
    vm_compose(w->engine->vm, out, FINDING_missing_fence, WIRE_ERROR, &site,
               "tells others that %s is %s, which happens at %s, but %s: %s may %s too early at %s",
               place, past->writes ? "written" : "read", data_line, why,
               name_of(w, &me, &flag, name, sizeof name), op->write ? "write" : "read",
               line_of(w, op->pc, my_line, sizeof my_line));
}

static void compose_reader(struct warp *w, const struct mem_op *op, unsigned lane,
                           const struct race_past *past, const struct race_found *f,
                           struct wire_finding *out)
{
    struct vm_site site;
    char place[160], data_line[96], flag_line[96];
    bool near = past->block == w->block->index;
    const char *mine = op->write ? "write" : "read";
    vm_site_of(w, op->pc, (int)lane, &site);
    vm_compose(w->engine->vm, out, FINDING_missing_fence, WIRE_WARNING, &site,
               "%ss %s, %s at %s, after waiting for what is set at %s, but no %s stands between "
               "the wait and this %s: it may come before the flag is read",
               mine, check_describe(w, op, w->lane_address[lane], place, sizeof place),
               past->writes ? "written" : "read",
               line_of(w, race_pc_of(past->entry), data_line, sizeof data_line),
               line_of(w, f->flag->pc, flag_line, sizeof flag_line), fence_for(near), mine);
}

bool race_missing_fence(struct warp *w, const struct mem_op *op, unsigned lane,
                        const struct race_past *past, const struct race_found *f,
                        struct wire_finding *out)
{
    const bool writer = f->outcome == RACE_WRITER;
    if (!race_first_time(w->engine, (writer ? f->flag->pc : op->pc) | 1u << 31,
                         race_pc_of(past->entry)) ||
        (op->write && !past->writes && in_place(w, op, past)))
        return false;
    if (writer)
        compose_writer(w, op, lane, past, f, out);
    else
        compose_reader(w, op, lane, past, f, out);
    return true;
}

/* Does a store leave the bytes as the earlier one made them? Then it does not matter which is last:
 * `if (...) found = true` by many threads. */
bool race_writes_the_same(const struct warp *w, const struct mem_op *op, unsigned lane, bool shared)
{
    uint64_t address = w->lane_address[lane];
    const uint8_t *host =
        shared ? w->block->shared + address : vm_bytes(w->engine->vm, address, op->total);
    if (op->in->op != PTX_OP_st || !host)
        return false;
    for (unsigned k = 0; k < op->count; k++)
        if (memcmp(host + (size_t)k * op->bytes, vm_lane(w->frame, op->rows[k], lane, op->wide[k]),
                   op->bytes) != 0)
            return false;
    return true;
}

void race_judge(struct warp *w, const struct mem_op *op, unsigned lane,
                const struct race_past *past)
{
    const struct race_space *s = w->block->races->space;
    uint32_t theirs = race_pc_of(past->entry);
    struct vm_engine *e = w->engine;
    bool told = race_told(e, op->pc | RACE_TOLD, theirs);
    /* The usual ends of a search, without one. */
    bool tired = !e->global_races || !e->global_races->steps_left;
    e->race_hits += told;
    if (s->full || (tired && told))
        return;
    if (race_torn(w, op, past->entry)) {
        report_race(w, op, lane, past);
        race_first_time(e, op->pc | RACE_TOLD, theirs);
        return;
    }
    /* Lost updates, lock-step, atomics of a block: to see the other's value is no help there. */
    bool both_strong = op->strength != VM_PLAIN && race_strength_of(past->entry) != VM_PLAIN;
    bool reader = race_released(s, w->clocks->collected, past);
    if ((reader && race_told(e, op->pc | RACE_TOLD_READER, theirs)) ||
        (op->write && past->writes && race_writes_the_same(w, op, lane, past->shared)))
        return;
    struct race_found f =
        race_search(w, past, (w->lane_address[lane] & ~3ull) + 1, both_strong, RACE_ALL);
    struct wire_finding finding;
    if (f.outcome == RACE_SAME_WORD)
        return;
    if (f.outcome == RACE_UNRELATED)
        report_race(w, op, lane, past);
    else if (race_missing_fence(w, op, lane, past, &f, &finding))
        vm_add_finding(e->vm, &finding);
    race_first_time(e, op->pc | (f.outcome == RACE_READER ? RACE_TOLD_READER : RACE_TOLD), theirs);
}

void race_read_only_written(struct warp *w, const struct mem_op *op, unsigned lane,
                            const struct race_past *past)
{
    struct vm_engine *e = w->engine;
    struct actor me = {op->pc, w->block->index, w->index * VM_LANES + lane};
    struct actor they = {race_pc_of(past->entry), past->block, past->warp * VM_LANES + past->lane};
    const struct actor *writer = past->writes ? &they : &me, *reader = past->writes ? &me : &they;
    if (!race_first_time(e, writer->pc, reader->pc) || in_place(w, op, past))
        return;
    struct vm_site site;
    char place[160], line[96], name[96];
    site_of(w, writer, &site);
    vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
              "writes %s, which %s reads at %s through the read-only cache (__ldg, or a pointer "
              "that is const and __restrict__): in the kernel that writes it, that may give the "
              "old value whatever the order",
              check_describe(w, op, w->lane_address[lane], place, sizeof place),
              name_of(w, reader, writer, name, sizeof name),
              line_of(w, reader->pc, line, sizeof line));
}

void vm_race_same_store(struct warp *w, const struct mem_op *op, unsigned lane, unsigned other)
{
    struct vm_engine *e = w->engine;
    (void)other;
    /* As in thrown_away(). */
    if (check_toolkit_only(w, op->pc) || !race_first_time(e, op->pc, op->pc))
        return;
    struct vm_site site;
    char place[160];
    vm_site_of(w, op->pc, (int)lane, &site);
    vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
              "several lanes of one warp write different values to %s at once: which one stays is "
              "not defined",
              check_describe(w, op, w->lane_address[lane], place, sizeof place));
}
