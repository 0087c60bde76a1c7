/* Deadlock. A warp that runs without changing memory, and comes back to a state (registers, groups,
 * positions) in which it has been before, will do so for ever unless somebody else changes memory.
 * When every warp of every resident block either waits or is caught in such a circle, nobody will.
 * Found by hashes of the state at the ends of turns, compared as in Brent's cycle finding (1980):
 * the kept one is replaced after 1, 2, 4, ... turns. So a plain loop that computes is no deadlock,
 * and a loop without any memory access is. Of a warp in a polling loop only what decides its way
 * counts as its state (lower_spin.c), since many such loops count their polls. What never repeats a
 * state all the same (it looks at clocks, say) is called stuck after many turns in which nobody
 * changed anything. */
#include "cpu/vm/check.h"
#include "cpu/vm/sched.h"

#include <stdio.h>
#include <string.h>

enum { QUIET_TURNS = 3, PLACES = 6 };
/* Of polling alone; a loop that polls may also be one that still counts through empty work. */
#define PATIENCE_STEPS 10000000u
#define PATIENCE_WARP  50000u /* more for each warp that still runs */

static uint64_t mix_words(uint64_t h, const uint8_t *from, size_t bytes)
{
    uint64_t lanes[4] = {h, h + 1, h + 2, h + 3}, v[4];
    for (size_t at = 0; at + sizeof v <= bytes; at += sizeof v) {
        memcpy(v, from + at, sizeof v);
        for (int k = 0; k < 4; k++)
            lanes[k] = ((lanes[k] ^ v[k]) << 27 | (lanes[k] ^ v[k]) >> 37) * 0x9e3779b97f4a7c15u;
    }
    return rng_mix(lanes[0] ^ rng_mix(lanes[1] ^ rng_mix(lanes[2] ^ rng_mix(lanes[3]))));
}

static bool has_head(const struct vm_spin *s, uint32_t pc)
{
    uint32_t low = 0, high = s->head_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (s->heads[middle] < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->head_count && s->heads[low] == pc;
}

/* The polling loop that all lanes are in that could run, or NULL. */
static const struct vm_spin *spin_of(const struct warp *w)
{
    const struct vm_code *c = w->engine->code;
    for (uint32_t k = 0; k < c->spin_count; k++) {
        const struct vm_spin *s = &c->spins[k];
        bool all = w->depth == 0 && has_head(s, (uint32_t)(w->resume - c->insns));
        for (uint32_t g = 0; g < w->group_count && all; g++)
            all = w->groups[g].state != VM_RUNNABLE ||
                  (w->groups[g].depth == 0 && has_head(s, w->groups[g].pc));
        if (all)
            return s;
    }
    return NULL;
}

static uint64_t state_of(const struct warp *w)
{
    uint64_t h = rng_mix(w->mask | (uint64_t)w->frame_offset << 32);
    uint32_t top = w->frame_offset;
    h = rng_mix(h ^ (uint64_t)(w->resume - w->engine->code->insns));
    h = rng_mix(h ^ (w->spin | (uint64_t)w->rotation << 32));
    for (uint32_t k = 0; k < w->group_count; k++) {
        const struct group *g = &w->groups[k];
        h += rng_mix(g->mask | (uint64_t)g->pc << 32) * (g->state + 1u) + g->frame;
        if (g->frame > top)
            top = g->frame;
    }
    const struct vm_spin *spin = spin_of(w);
    if (spin) {
        for (uint32_t k = 0; k < spin->place_count; k++) {
            const struct vm_place *p = &spin->places[k];
            uint32_t word;
            if (p->bytes > sizeof word) {
                h = mix_words(h, w->stack + p->at, p->bytes);
                continue;
            }
            memcpy(&word, w->stack + p->at, sizeof word);
            h = rng_mix(h ^ word);
        }
        return h;
    }
    size_t bytes = (size_t)top + w->engine->code->frame_bytes;
    return mix_words(h, w->stack, bytes < w->stack_bytes ? bytes : w->stack_bytes);
}

void stuck_watch(struct warp *w)
{
    if (++w->quiet_turns < QUIET_TURNS)
        return;
    const uint64_t version = crew_version(w->engine);
    if (w->cycling && w->spin_version == version)
        return;
    uint64_t h = state_of(w);
    if (w->spin_version != version || w->quiet_turns == QUIET_TURNS) {
        w->spin_version = version;
        w->spin_hash = h;
        w->spin_age = 0;
        w->spin_next = 1;
        w->cycling = false;
        return;
    }
    if (h == w->spin_hash) {
        w->cycling = true;
        return;
    }
    if (++w->spin_age == w->spin_next) {
        w->spin_hash = h;
        w->spin_age = 0;
        w->spin_next *= 2;
    }
}

/* ---- telling it ---- */

struct waiting {
    char line[96], how[96];
    uint32_t threads;
};

static void add_place(struct vm_engine *e, struct waiting *list, uint32_t *count, uint32_t pc,
                      const char *how, uint32_t mask)
{
    char line[96];
    const struct ptx_instr *in = e->code->origins[pc];
    for (uint32_t k = pc; !in && k < e->code->insn_count; k++)
        in = e->code->origins[k];
    vm_describe_loc(e->vm, e->code->module, in ? in->loc : 0, line, sizeof line);
    for (uint32_t k = 0; k < *count; k++)
        if (strcmp(list[k].line, line) == 0 && strcmp(list[k].how, how) == 0) {
            list[k].threads += vm_count_lanes(mask);
            return;
        }
    if (*count == PLACES)
        return;
    struct waiting *added = &list[(*count)++];
    memcpy(added->line, line, sizeof line);
    snprintf(added->how, sizeof added->how, "%s", how);
    added->threads = vm_count_lanes(mask);
}

/* Named and counted barriers: which one, and how many have come. */
static void add_barrier(struct vm_engine *e, const struct warp *w, struct waiting *list,
                        uint32_t *count, uint32_t pc, unsigned id, uint32_t mask)
{
    const struct barrier *bar = &w->block->barriers[id];
    char how[96] = "at a block barrier";
    if (bar->expected)
        snprintf(how, sizeof how, "at barrier %u, which waits for %u threads and has %u,", id,
                 bar->expected, bar->arrived);
    else if (id)
        snprintf(how, sizeof how, "at barrier %u, which waits for the whole block,", id);
    add_place(e, list, count, pc, how, mask);
}

static void gather(struct vm_engine *e, struct warp *w, struct waiting *list, uint32_t *count)
{
    uint32_t pc = (uint32_t)(w->resume - e->code->insns);
    if (w->whole_waits)
        add_barrier(e, w, list, count, pc - 1, w->whole_barrier, w->mask);
    else if (w->mask)
        add_place(e, list, count, check_spin_pc(e->code, pc), "spinning", w->mask);
    for (uint32_t k = 0; k < w->group_count; k++) {
        const struct group *g = &w->groups[k];
        if (g->state == VM_AT_BARRIER)
            add_barrier(e, w, list, count, g->pc - 1, g->barrier, g->mask);
        else if (g->state == VM_AT_SYNC)
            add_place(e, list, count, g->pc, "at a warp sync", g->mask);
        else
            add_place(e, list, count, check_spin_pc(e->code, g->pc), "spinning", g->mask);
    }
}

/* The place of the running or a runnable group, or of any. false: none. */
static bool locate(const struct warp *w, bool spinning, struct vm_site *site)
{
    const struct vm_code *code = w->engine->code;
    uint32_t pc = 0, mask = 0;
    if (w->done)
        return false;
    if (w->mask && !(spinning && w->whole_waits)) {
        pc = (uint32_t)(w->resume - code->insns) - w->whole_waits;
        mask = w->mask;
        if (!w->whole_waits)
            pc = check_spin_pc(code, pc);
    }
    for (uint32_t k = 0; k < w->group_count && !mask; k++) {
        const struct group *g = &w->groups[k];
        if (spinning && g->state != VM_RUNNABLE)
            continue;
        pc = g->state == VM_RUNNABLE ? check_spin_pc(code, g->pc)
                                     : g->pc - (g->state == VM_AT_BARRIER);
        mask = g->mask;
    }
    if (!mask)
        return false;
    while (!code->origins[pc] && pc + 1 < code->insn_count)
        pc++;
    vm_site_of(w, pc, __builtin_ctz(mask), site);
    return true;
}

/* Where everybody is, and one site for the finding: where somebody spins, else the first who waits.
 */
static void describe(struct vm_engine *e, struct block **active, uint32_t count,
                     struct vm_site *site, char *text, size_t text_bytes)
{
    struct waiting list[PLACES];
    uint32_t places = 0;
    *site = (struct vm_site){.kernel = e->kernel, .module = e->code->module};
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t j = 0; j < active[k]->warp_count; j++)
            if (!active[k]->warps[j].done)
                gather(e, &active[k]->warps[j], list, &places);
    bool located = false;
    for (int pass = 0; pass < 2 && !located; pass++)
        for (uint32_t k = 0; k < count && !located; k++)
            for (uint32_t j = 0; j < active[k]->warp_count && !located; j++)
                located = locate(&active[k]->warps[j], pass == 0, site);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t k = 0; k < places && used < text_bytes; k++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%u thread%s %s at %s",
                                 k ? ", " : "", list[k].threads, list[k].threads == 1 ? "" : "s",
                                 list[k].how, list[k].line);
}

/* Threads that arrived at a barrier and went on (bar.arrive), where nobody waits for them. */
static void add_arrivals(struct block **active, uint32_t count, char *text, size_t text_bytes)
{
    for (uint32_t k = 0; k < count; k++)
        for (unsigned id = 0; id < VM_BARRIERS; id++) {
            const struct barrier *bar = &active[k]->barriers[id];
            bool waits = !bar->in_use;
            for (uint32_t j = 0; j < active[k]->warp_count && !waits; j++) {
                const struct warp *w = &active[k]->warps[j];
                waits = w->whole_waits && w->whole_barrier == id;
                for (uint32_t g = 0; g < w->group_count && !waits; g++)
                    waits = w->groups[g].state == VM_AT_BARRIER && w->groups[g].barrier == id;
            }
            if (waits)
                continue;
            size_t used = strlen(text);
            snprintf(text + used, text_bytes - used,
                     "; %u threads have arrived at barrier %u, where nobody waits", bar->arrived,
                     id);
            return; /* one tells enough */
        }
}

void stuck_report(struct vm_engine *e, struct block **active, uint32_t count)
{
    struct vm_site site;
    char text[400];
    describe(e, active, count, &site, text, sizeof text);
    add_arrivals(active, count, text, sizeof text);
    unsigned long long rest = crew_unclaimed(e);
    size_t used = strlen(text);
    if (rest && used < sizeof text)
        snprintf(text + used, sizeof text - used,
                 "; %llu blocks have not started and cannot before one of these ends", rest);
    vm_report(e->vm, FINDING_deadlock, WIRE_ERROR, &site, "nobody can go on: %s", text);
    e->stopped = true;
    e->status = VM_DEADLOCK;
}

void stuck_warn_resident(struct vm_engine *e, struct block **active, uint32_t count)
{
    struct vm_site site;
    char text[300];
    describe(e, active, count, &site, text, sizeof text);
    vm_report(e->vm, FINDING_co_residency, WIRE_WARNING, &site,
              "with %u blocks resident nobody can go on before another block starts: %s. A launch "
              "promises room for one block; a cooperative launch makes all of them resident",
              count, text);
}

bool stuck_judge(struct vm_engine *e, struct block **active, uint32_t count)
{
    const uint64_t version = crew_version(e);
    bool stuck = true;
    uint64_t patience = PATIENCE_STEPS;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t j = 0; j < active[k]->warp_count; j++) {
            const struct warp *w = &active[k]->warps[j];
            if (w->done || !w->runnable)
                continue;
            stuck &= w->cycling && w->spin_version == version;
            patience += PATIENCE_WARP;
        }
    if (version != e->quiet_version) {
        e->quiet_version = version;
        e->quiet_since = e->steps;
    }
    return stuck || e->steps - e->quiet_since >= patience;
}
