/* The right answers by the plainest serial method, on the host, from the inputs of a case.
 *
 * An oracle states what it needs as slots (oracles.def); binding them to a problem's parameters
 * happens at load time, to refuse a spec that does not fit, and again for each case. */
#include "judge/problem/problem.h"
#include "judge/problem/spec.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS_MAX = 8 };

struct slot {
    enum wire_role role;
    enum wire_type type;
    const char *name;
};

typedef void (*oracle_function)(struct case_buffer *const *b);

/* ---- the oracles: b[i] is the buffer in slot i ---- */

static void oracle_exclusive_scan(struct case_buffer *const *b)
{
    const uint32_t *in = b[0]->input;
    uint32_t *out = b[1]->expected;
    uint64_t n = b[0]->count < b[1]->count ? b[0]->count : b[1]->count;
    uint32_t sum = 0; /* unsigned: int32 sums wrap */
    for (uint64_t i = 0; i < n; i++) {
        uint32_t value = in[i]; /* read first: in and out may be one inout buffer's two sides */
        out[i] = sum;
        sum += value;
    }
}

/* Every element is written to the next free place and the place moves on only if it is kept: no
 * branch to mispredict. The element after the last kept one is put back afterwards. */
static void oracle_compact_positive(struct case_buffer *const *b)
{
    const uint32_t *bits = b[0]->input; /* copied as bits */
    const float *in = b[0]->input;
    uint32_t *out = b[1]->expected;
    uint64_t n = b[0]->count < b[1]->count ? b[0]->count : b[1]->count;
    uint64_t total = 0;
    for (uint64_t i = 0; i < n; i++)
        total += in[i] > 0;
    uint32_t after = total < n ? out[total] : 0;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool keep = in[i] > 0;
        out[kept] = bits[i];
        kept += keep;
    }
    if (total < n)
        out[total] = after;
    if (b[2]->count)
        *(int32_t *)b[2]->expected = (int32_t)(uint32_t)total;
}

static void oracle_moe_counts_offsets(struct case_buffer *const *b)
{
    const uint32_t *ids = b[0]->input;
    uint32_t *counts = b[1]->expected, *offsets = b[2]->expected;
    uint64_t experts = b[1]->count < b[2]->count ? b[1]->count : b[2]->count;
    if (experts)
        memset(counts, 0, experts * sizeof *counts);
    for (uint64_t i = 0; i < b[0]->count; i++)
        if (ids[i] < experts) /* negative ids are large as unsigned */
            counts[ids[i]]++;
    uint32_t sum = 0;
    for (uint64_t e = 0; e < experts; e++) {
        offsets[e] = sum;
        sum += counts[e];
    }
}

/* ---- the table ---- */

static const struct oracle {
    const char *name;
    struct slot slots[SLOTS_MAX]; /* ends with a NULL name */
    oracle_function run;
} ORACLES[] = {
#define SLOT(role, type, name)     {WIRE_##role, WIRE_##type, name},
#define ORACLE(id, slots, meaning) {#id, {slots}, oracle_##id},
#include "judge/problem/oracles.def"
#undef ORACLE
#undef SLOT
};
enum { ORACLE_COUNT = sizeof ORACLES / sizeof ORACLES[0] };

unsigned oracle_names(const char *const **names)
{
    static const char *const NAMES[] = {
#define ORACLE(id, slots, meaning) #id,
#include "judge/problem/oracles.def"
#undef ORACLE
    };
    *names = NAMES;
    return ORACLE_COUNT;
}

static const struct oracle *find_oracle(const char *name)
{
    for (unsigned i = 0; i < ORACLE_COUNT; i++)
        if (strcmp(ORACLES[i].name, name) == 0)
            return &ORACLES[i];
    return NULL;
}

static bool fits(const struct problem_param *m, const struct slot *s)
{
    return m->kind == PARAM_BUFFER && m->type == s->type &&
           (m->role == s->role || m->role == WIRE_INOUT);
}

/* Which parameter each slot takes; the first slot without one, or NULL when all have one. */
static const struct slot *bind(const struct problem *p, const struct oracle *o, unsigned *params)
{
    bool taken[WIRE_PARAMS_MAX] = {false};
    unsigned slot_count = 0;
    while (slot_count < SLOTS_MAX && o->slots[slot_count].name)
        slot_count++;
    bool bound[SLOTS_MAX] = {false};
    for (int by_name = 1; by_name >= 0; by_name--) {
        for (unsigned s = 0; s < slot_count; s++) {
            for (unsigned i = 0; i < p->param_count && !bound[s]; i++) {
                const struct problem_param *m = &p->params[i];
                /* An inout may be the input of one slot and the output of another. */
                bool available = !taken[i] || m->role == WIRE_INOUT;
                if (!available || !fits(m, &o->slots[s]) ||
                    (by_name && strcmp(m->name, o->slots[s].name) != 0))
                    continue;
                params[s] = i;
                taken[i] = bound[s] = true;
            }
        }
    }
    for (unsigned s = 0; s < slot_count; s++)
        if (!bound[s])
            return &o->slots[s];
    return NULL;
}

const char *oracle_misfit(const struct problem *p, const char *oracle, struct arena *arena)
{
    const struct oracle *o = find_oracle(oracle);
    unsigned params[SLOTS_MAX];
    if (!o || !bind(p, o, params))
        return NULL;
    const char *needs = "parameters";
    for (unsigned s = 0; s < SLOTS_MAX && o->slots[s].name; s++)
        needs = arena_printf(arena, "%s%s %s %s* (%s)", needs, s ? "," : "",
                             o->slots[s].role == WIRE_INPUT ? "input" : "output",
                             wire_type_name(o->slots[s].type), o->slots[s].name);
    return needs;
}

int oracle_expected(struct case_data *data, struct err *e)
{
    const struct problem *p = data->problem;
    const struct oracle *o = p->oracle ? find_oracle(p->oracle) : NULL;
    if (!o)
        return err_set(e, "the problem %s has no oracle", p->id ? p->id : p->file);
    unsigned params[SLOTS_MAX];
    if (bind(p, o, params))
        return err_set(e, "the oracle %s does not fit the problem %s", o->name, p->id);
    struct case_buffer *buffers[SLOTS_MAX];
    for (unsigned s = 0; s < SLOTS_MAX && o->slots[s].name; s++) {
        struct case_buffer *b = &data->buffers[params[s]];
        bool is_in = o->slots[s].role == WIRE_INPUT;
        if (b->count && !(is_in ? b->input : b->expected))
            BUG("oracle %s: no memory for %s", o->name, p->params[params[s]].name);
        buffers[s] = b;
    }
    o->run(buffers);
    return 0;
}
