/* How it works: size by size, every entrant loads, a few rounds warm up, and then rounds are played
 * until every interval is narrow or the budget is spent. The boxes take turns: while one is between
 * "go" and "done", no other one does anything, and the judge's threads only work on memory of ours.
 *
 * A comparison that fails is noticed at the latest when its set is used again, three rounds later.
 */
#include "judge/timing/measure.h"
#include "base/clock.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const uint64_t STEP_LIMIT_NS = 60000000000u; /* for what is not the call itself */
/* The reference takes a few more turns in every round, on other sets and unchecked: its times are a
 * part of every ratio, and one more of them costs little beside a turn that is checked. */
enum { EXTRA_TURNS = 3, WATCH_EVERY = 8 };
static const uint64_t PART_BYTES = (uint64_t)16 << 20; /* of outputs that one thread compares */

static void spend(struct measure *m, enum timing_phase phase, uint64_t since_ns)
{
    m->result->spent_ms[phase] += (double)(clock_now_ns() - since_ns) / 1e6;
}

/* ---- faults ---- */

/* Is what `p` did an answer? If it is the submission that failed, the result says so (1); the
 * reference and the copy are ours (-1). */
static int judge_outcome(struct measure *m, struct player *p, const char *doing, struct err *e)
{
    const struct run_outcome *o = &p->outcome;
    if (o->how == RUN_REPLIED && (o->reply.status == WIRE_DONE || o->reply.status == WIRE_READY))
        return 0;
    bool is_ours = p->entrant->role == TIMING_REFERENCE || p->entrant->role == TIMING_COPY ||
                   (o->how == RUN_REPLIED && o->reply.status == WIRE_BAD_REQUEST);
    if (is_ours)
        return err_set(e, "%s failed %s: %s", p->entrant->label, doing,
                       o->how == RUN_TIMED_OUT ? "it ran out of time"
                       : o->how != RUN_REPLIED ? "its process ended early"
                       : o->reply.message[0]   ? o->reply.message
                                               : "a CUDA call failed");
    struct timing_fault *fault = arena_alloc(m->arena, sizeof *fault);
    *fault = (struct timing_fault){.entrant = p->index,
                                   .size = m->size ? m->size->name : "",
                                   .call = p->rounds + 1,
                                   .outcome = *o};
    m->result->fault = fault;
    return 1;
}

static const char *copied(struct arena *arena, const char *s)
{
    return s ? arena_strdup(arena, s) : NULL;
}

/* 1: a comparison has failed, and the result says so. */
static int take_wrong(struct measure *m, struct err *e)
{
    struct comparison *c = atomic_load(&m->wrong);
    if (!c)
        return 0;
    const struct player *p = &m->players[c->player];
    if (p->entrant->role == TIMING_REFERENCE)
        return err_set(e, "%s gives a wrong answer for %s: %s[%llu] is %s and should be %s",
                       p->entrant->label, m->size->name,
                       c->result.mismatch.output ? c->result.mismatch.output : "?",
                       (unsigned long long)c->result.mismatch.index,
                       c->result.mismatch.got ? c->result.mismatch.got : "?",
                       c->result.mismatch.expected ? c->result.mismatch.expected : "?");
    struct timing_fault *fault = arena_alloc(m->arena, sizeof *fault);
    *fault = (struct timing_fault){.entrant = c->player,
                                   .size = m->size->name,
                                   .call = c->call,
                                   .outcome = {.how = RUN_REPLIED},
                                   .check = c->result};
    fault->outcome.reply.status = WIRE_DONE;
    fault->check.mismatch.output = copied(m->arena, c->result.mismatch.output);
    fault->check.mismatch.expected = copied(m->arena, c->result.mismatch.expected);
    fault->check.mismatch.got = copied(m->arena, c->result.mismatch.got);
    fault->check.diagnosis = copied(m->arena, c->result.diagnosis);
    m->result->fault = fault;
    return 1;
}

static void comparison_free(struct comparison *c)
{
    if (!c)
        return;
    arena_release(&c->arena);
    free(c);
}

/* ---- comparing ---- */

/* Once the answers are there. Whoever does the last part looks closely, if there is a reason to. */
static void compare(void *context, unsigned long part)
{
    struct comparison *c = context, *none = NULL;
    if (!check_part(&c->set->data, &c->request, c->outputs, (unsigned)part, c->parts))
        atomic_store(&c->differs, true);
    if (atomic_fetch_sub(&c->left, 1) > 1)
        return;
    c->result.ok = true;
    if (atomic_load(&c->differs))
        check_written(&c->set->data, &c->request, c->outputs, &c->arena, &c->result);
    if (c->result.ok || !atomic_compare_exchange_strong(&c->measure->wrong, &none, c))
        comparison_free(c);
}

static struct comparison *comparison_new(struct measure *m, struct player *p,
                                         const uint8_t *outputs)
{
    struct comparison *c = calloc(1, sizeof *c);
    if (!c)
        BUG("no memory for a comparison");
    c->measure = m;
    c->set = &m->size->sets[m->set];
    c->request = p->request;
    c->outputs = outputs;
    c->player = p->index;
    c->call = p->rounds;
    c->parts = (unsigned)(m->size->answer_bytes / PART_BYTES) + 1;
    atomic_store(&c->left, c->parts);
    arena_init(&c->arena);
    return c;
}

/* ---- one entrant's turn ---- */

static int ask(struct measure *m, struct player *p, enum wire_action action,
               enum timing_phase phase, uint64_t limit_ns, struct err *e)
{
    uint64_t start = clock_now_ns();
    p->request.action = action;
    /* The limit on what is printed is one per call. */
    text_clear(&p->box.out);
    text_clear(&p->box.errors);
    int status = run_pass(&p->box, &p->request, NULL, limit_ns, &p->outcome, e);
    spend(m, phase, start);
    if (status != 0)
        return -1;
    return judge_outcome(m, p, "while it was timed", e);
}

struct turn {
    double event_ms, window_ms, judge_ms;
};

static uint64_t poison_seed(const struct measure *m, const struct player *p, unsigned turn)
{
    return hash_seed(m->options->seed, "poison", (uint64_t)p->index << 32 | turn);
}

static int take_turn(struct measure *m, struct player *p, unsigned set, struct turn *turn,
                     struct err *e)
{
    p->request.set = set;
    p->request.poison_seed = poison_seed(m, p, ++p->turns);
    int status = ask(m, p, WIRE_TIME_ARM, TIMING_ARM, STEP_LIMIT_NS, e);
    if (status != 0)
        return status;
    if (p->outcome.reply.persisting_bytes > p->persisting_bytes)
        p->persisting_bytes = p->outcome.reply.persisting_bytes;
    status = ask(m, p, WIRE_TIME_GO, TIMING_GO, m->plan->problem->limits.time_ns, e);
    if (status != 0)
        return status;
    const struct wire_reply *reply = &p->outcome.reply;
    *turn = (struct turn){(double)reply->event_ns / 1e6, (double)reply->window_ns / 1e6,
                          (double)p->outcome.wall_ns / 1e6};
    return 0;
}

/* The turns of one player in one round; of several the middle one counts. */
struct turns {
    struct turn items[1 + EXTRA_TURNS];
    unsigned count;
};

static void settle(struct player *p, struct turns *turns)
{
    if (turns->count == 0)
        return;
    for (unsigned i = 1; i < turns->count; i++) /* by insertion */
        for (unsigned k = i; k > 0 && turns->items[k].event_ms < turns->items[k - 1].event_ms;
             k--) {
            struct turn held = turns->items[k];
            turns->items[k] = turns->items[k - 1];
            turns->items[k - 1] = held;
        }
    const struct turn *middle = &turns->items[turns->count / 2];
    p->event_ms[p->rounds] = middle->event_ms;
    p->window_ms[p->rounds] = middle->window_ms;
    p->judge_ms[p->rounds] = middle->judge_ms;
    p->rounds++;
}

/* The outputs of the latest call, where they may be read until their slot is used again. */
static int fetch(struct measure *m, struct player *p, const uint8_t **outputs,
                 struct pool_group **slot, struct err *e)
{
    unsigned number = p->fetches++ % OUTPUT_SLOTS;
    uint64_t start = clock_now_ns();
    pool_wait(m->plan->pool, &p->slots[number]);
    spend(m, TIMING_MAKE, start);
    p->request.fetch_offset = number * m->size->request.out_bytes;
    *outputs = p->outputs->bytes + p->request.fetch_offset;
    *slot = &p->slots[number];
    return ask(m, p, WIRE_TIME_FETCH, TIMING_FETCH, STEP_LIMIT_NS, e);
}

/* ---- a round ---- */

static int extra_turn(struct measure *m, unsigned number, struct turns *turns, struct err *e)
{
    unsigned set = (m->set + 1 + number) % SET_COUNT;
    m->reference->request.patch_count = 0;
    return take_turn(m, m->reference, set, &turns->items[turns->count++], e);
}

static int play_round(struct measure *m, struct err *e)
{
    struct size_data *s = m->size;
    struct pool *pool = m->plan->pool;
    m->round++;
    m->set = (m->set + 1) % SET_COUNT; /* the one whose answers have had most time to be compared */
    uint64_t start = clock_now_ns();
    data_wait_for_set(s, m->set);
    spend(m, TIMING_MAKE, start);
    int status = take_wrong(m, e);
    if (status != 0)
        return status;
    struct wire_patch patches[WIRE_PATCHES_MAX];
    unsigned patch_count = data_freshen(s, m->set, m->round, patches);
    bool from_reference = m->options->reference_answers;
    if (!from_reference)
        data_answer(s, m->set, NULL, NULL);
    struct turns of_reference = {.count = 0};
    struct comparison *waiting[64];
    struct pool_group *slots[64];
    unsigned waiting_count = 0;
    for (unsigned turn = 0; turn < m->player_count && status == 0; turn++) {
        struct player *p = &m->players[(turn + m->round) % m->player_count];
        bool is_copy = p->entrant->role == TIMING_COPY;
        p->request.patch_count = is_copy ? 0 : patch_count;
        memcpy(p->request.patches, patches, sizeof patches);
        struct turns one = {.count = 1}, *own = p == m->reference ? &of_reference : &one;
        status = take_turn(m, p, m->set, &own->items[own == &one ? 0 : own->count++], e);
        if (status == 0 && own == &one)
            settle(p, own);
        const uint8_t *outputs = NULL;
        if (status == 0 && p->is_checked) {
            status = fetch(m, p, &outputs, &slots[waiting_count], e);
            if (status == 0 && p == m->reference)
                data_answer(s, m->set, outputs, slots[waiting_count]);
            else if (status == 0)
                waiting[waiting_count++] = comparison_new(m, p, outputs);
        }
        if (status == 0 && m->reference && turn < EXTRA_TURNS)
            status = extra_turn(m, turn, &of_reference, e);
    }
    if (status == 0 && m->reference)
        settle(m->reference, &of_reference);
    for (unsigned i = 0; i < waiting_count; i++) {
        if (status != 0) {
            comparison_free(waiting[i]);
            continue;
        }
        unsigned parts = waiting[i]->parts; /* it may be gone before the loop ends */
        for (unsigned k = 0; k < parts; k++)
            pool_add_after(pool, &s->sets[m->set].answering, compare, waiting[i], k,
                           &s->sets[m->set].busy, slots[i]);
    }
    return status;
}

/* ---- how long ---- */

static bool is_narrow(const struct measure *m)
{
    const struct player *base = numbers_base(m);
    for (unsigned i = 0; i < m->player_count && base; i++) {
        const struct player *p = &m->players[i];
        if (p == base || p->entrant->role == TIMING_COPY)
            continue;
        struct stats_interval ratio = numbers_ratio(m, p);
        if (!(stats_width(&ratio) <= m->options->wanted))
            return false;
    }
    return true;
}

static void watch(struct measure *m)
{
    if (m->options->watch)
        m->options->watch(m->options->watch_context, &m->clocks);
}

static int play(struct measure *m, struct err *e)
{
    const struct timing_options *o = m->options;
    int status = 0;
    for (unsigned r = 0; r < TIMING_WARM_UPS && status == 0; r++)
        status = play_round(m, e);
    uint64_t start = clock_now_ns();
    /* Intervals are looked at ever more rarely: each look is a chance to stop too early. */
    unsigned look = o->rounds_min;
    watch(m);
    for (unsigned r = 0; r < o->rounds_max && status == 0; r++) {
        if (r == look) {
            if (is_narrow(m))
                break;
            look += look / 2 > 5 ? look / 2 : 5;
        }
        if (r >= o->rounds_min && clock_now_ns() - start > o->budget_ns)
            break;
        status = play_round(m, e);
        if (r % WATCH_EVERY == WATCH_EVERY - 1)
            watch(m);
    }
    uint64_t behind = clock_now_ns();
    for (unsigned k = 0; k < SET_COUNT; k++)
        data_wait_for_set(m->size, k);
    spend(m, TIMING_MAKE, behind);
    return status != 0 ? status : take_wrong(m, e);
}

/* ---- a size: loading ---- */

static void configure(struct measure *m, struct player *p)
{
    const struct size_data *s = m->size;
    if (p->entrant->role == TIMING_COPY) {
        p->request = (struct wire_request){.magic = WIRE_MAGIC, .param_count = 2};
        for (unsigned i = 0; i < 2; i++)
            p->request.params[i] = (struct wire_param){.kind = WIRE_PARAM_BUFFER,
                                                       .type = WIRE_uint8,
                                                       .role = i ? WIRE_OUTPUT : WIRE_WORKSPACE,
                                                       .bytes = (s->bytes + 1) / 2,
                                                       .name = "copied"};
        p->request.out_bytes = wire_buffer_bytes(&p->request.params[0]);
    } else {
        p->request = s->request;
        p->request.in_bytes = SET_COUNT * s->set_bytes;
        p->request.out_bytes = OUTPUT_SLOTS * s->request.out_bytes;
    }
    p->request.set_count = SET_COUNT;
    p->request.set_bytes = s->set_bytes;
    p->request.flush_bytes = m->options->flush_bytes;
    p->request.keeps_outputs = p->is_checked;
    p->request.device.checks = WIRE_CHECK_BOUNDS;
    p->request.poison_seed = poison_seed(m, p, 0);
}

struct loading {
    struct measure *m;
    struct player *p;
    int status;
    struct err error;
};

static void load(void *context, unsigned long unused)
{
    struct loading *l = context;
    (void)unused;
    const int fds[2] = {l->m->size->inputs.fd, l->p->is_checked ? l->p->outputs->fd : -1};
    l->p->request.action = WIRE_TIME_LOAD;
    l->status = run_pass(&l->p->box, &l->p->request, fds, STEP_LIMIT_NS, &l->p->outcome, &l->error);
}

static int prepare_player(struct measure *m, struct player *p, bool *plan_outputs_taken,
                          struct err *e)
{
    unsigned most = m->options->rounds_max + TIMING_WARM_UPS;
    p->event_ms = arena_array(m->arena, most, sizeof(double));
    p->window_ms = arena_array(m->arena, most, sizeof(double));
    p->judge_ms = arena_array(m->arena, most, sizeof(double));
    p->rounds = p->fetches = p->turns = 0;
    p->persisting_bytes = 0;
    p->does_not_fit = NULL;
    configure(m, p);
    p->outputs = &m->size->outputs;
    if (!p->is_checked)
        return 0;
    if (!*plan_outputs_taken) {
        *plan_outputs_taken = true;
        return 0;
    }
    p->outputs = &p->own_outputs;
    p->has_own_outputs = true;
    return run_region_init(&p->own_outputs, OUTPUT_SLOTS * m->size->request.out_bytes, true, e);
}

/* All at a time. 1: the result says why there will be no numbers for this size, or a fault. */
static int load_all(struct measure *m, const char **note, struct err *e)
{
    struct pool_group loads = {0};
    struct loading *loading = arena_array(m->arena, m->player_count, sizeof *loading);
    bool taken = false;
    uint64_t start = clock_now_ns();
    if (!m->size->is_begun)
        data_make(m->size, m->plan->pool);
    for (unsigned i = 0; i < m->player_count; i++)
        if (prepare_player(m, &m->players[i], &taken, e) != 0)
            return -1;
    if (data_wait(m->size, e) != 0)
        return -1;
    spend(m, TIMING_MAKE, start);
    start = clock_now_ns();
    for (unsigned i = 0; i < m->player_count; i++) {
        loading[i] = (struct loading){.m = m, .p = &m->players[i]};
        pool_add(m->plan->pool, load, &loading[i], 0, &loads, NULL);
    }
    pool_wait(m->plan->pool, &loads);
    spend(m, TIMING_LOAD, start);
    for (unsigned i = 0; i < m->player_count; i++) {
        struct player *p = &m->players[i];
        const struct wire_reply *reply = &p->outcome.reply;
        if (loading[i].status != 0) {
            *e = loading[i].error;
            return -1;
        }
        enum { OUT_OF_MEMORY = 2 }; /* cudaErrorMemoryAllocation */
        if (p->outcome.how == RUN_REPLIED && reply->status == WIRE_BAD_REQUEST &&
            reply->cuda_error == OUT_OF_MEMORY) {
            *note = arena_printf(m->arena, "the buffers of %u processes do not fit on the card",
                                 m->player_count);
            return 1;
        }
        int status = judge_outcome(m, p, "before it was timed", e);
        if (status != 0)
            return status;
    }
    return 0;
}

static void release_size(void *context, unsigned long unused)
{
    (void)unused;
    data_release(context);
}

/* The boxes give their buffers back when they load the next size. */
static void leave_size(struct measure *m)
{
    uint64_t start = clock_now_ns();
    for (unsigned i = 0; i < m->player_count; i++) {
        struct player *p = &m->players[i];
        for (unsigned k = 0; k < OUTPUT_SLOTS; k++)
            pool_wait(m->plan->pool, &p->slots[k]);
        if (p->has_own_outputs)
            run_region_release(&p->own_outputs);
        p->has_own_outputs = false;
    }
    pool_add(m->plan->pool, release_size, m->size, 0, NULL, NULL);
    spend(m, TIMING_CLOSE, start);
}

/* ---- a size ---- */

static int time_size(struct measure *m, struct timing_size *out, struct err *e)
{
    const struct size_data *s = m->size;
    *out = (struct timing_size){.name = s->name, .values = s->values, .n = s->n, .bytes = s->bytes};
    m->clocks = (struct timing_clocks){0};
    int status = load_all(m, &out->note, e);
    if (status == 0)
        status = play(m, e);
    if (status == 0) {
        out->clocks = m->clocks;
        numbers_fill(m, out);
    }
    leave_size(m);
    return status == 1 && out->note ? 0 : status; /* the next size may fit */
}

/* ---- all ---- */

static int open_all(struct measure *m, struct err *e)
{
    uint64_t start = clock_now_ns();
    int status = 0;
    for (unsigned i = 0; i < m->player_count && status == 0; i++) {
        struct player *p = &m->players[i];
        status = run_begin(&p->entrant->spec, &p->box, e);
        p->is_open = status == 0;
    }
    for (unsigned i = 0; i < m->player_count; i++) {
        struct player *p = &m->players[i];
        if (!p->is_open)
            continue;
        struct err why;
        int loaded = run_loaded(&p->box, &p->outcome, &why);
        if (loaded != 0 && status == 0)
            status = err_set(e, "%s", why.text);
        else if (status == 0)
            status = judge_outcome(m, p, "to start", e);
    }
    spend(m, TIMING_OPEN, start);
    return status;
}

static int check_entrants(const struct timing_entrant *entrants, unsigned count,
                          const struct timing_options *o, struct err *e)
{
    unsigned references = 0, copies = 0;
    if (count == 0 || count > 64)
        BUG("%u entrants to time", count);
    for (unsigned i = 0; i < count; i++) {
        references += entrants[i].role == TIMING_REFERENCE;
        copies += entrants[i].role == TIMING_COPY;
    }
    if (references > 1 || copies > 1)
        BUG("%u references and %u copies to time", references, copies);
    if (o->reference_answers && references == 0)
        return err_set(e, "the expected answers are the reference's, and it is not timed");
    return 0;
}

int timing_measure(struct timing_plan *plan, const struct timing_entrant *entrants, unsigned count,
                   struct arena *arena, struct timing *result, struct err *e)
{
    struct measure *m = arena_alloc(arena, sizeof *m);
    *m = (struct measure){.plan = plan,
                          .options = &plan->options,
                          .player_count = count,
                          .arena = arena,
                          .result = result};
    *result = (struct timing){0};
    if (check_entrants(entrants, count, m->options, e) != 0)
        return -1;
    result->sizes = arena_array(arena, plan->size_count, sizeof *result->sizes);
    m->players = arena_array(arena, count, sizeof *m->players);
    m->measured = arena_array(arena, (size_t)count * plan->size_count, sizeof *m->measured);
    for (unsigned i = 0; i < count; i++) {
        struct player *p = &m->players[i];
        enum timing_role role = entrants[i].role;
        *p = (struct player){.entrant = &entrants[i], .index = i, .own_outputs = {.fd = -1}};
        p->is_checked = role == TIMING_SUBMISSION || role == TIMING_RIVAL ||
                        (role == TIMING_REFERENCE && m->options->reference_answers);
        if (role == TIMING_REFERENCE)
            m->reference = p;
        if (role == TIMING_COPY)
            m->copy = p;
    }
    int status = open_all(m, e);
    for (unsigned i = 0; i < plan->size_count && status == 0; i++) {
        m->size = &plan->sizes[i];
        if (m->options->progress)
            m->options->progress(m->options->progress_context,
                                 arena_printf(arena, "timing %s", m->size->name), i,
                                 plan->size_count);
        status = time_size(m, &result->sizes[i], e);
        if (status == 0)
            result->size_count++;
    }
    numbers_check(m);
    uint64_t start = clock_now_ns();
    /* Taking a context down takes long: all at a time. */
    for (unsigned i = 0; i < count; i++)
        if (m->players[i].is_open && m->players[i].box.socket_fd >= 0)
            shutdown(m->players[i].box.socket_fd, SHUT_RDWR);
    for (unsigned i = 0; i < count; i++)
        if (m->players[i].is_open)
            run_close(&m->players[i].box);
    spend(m, TIMING_CLOSE, start);
    comparison_free(atomic_load(&m->wrong));
    return status < 0 ? -1 : 0;
}
