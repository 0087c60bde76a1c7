/* race: who touched what last, and who knows of whom. Private to cpu/vm.
 *
 *   check_race.c    accesses to shared memory
 *   race_global.c   accesses to global memory, the shadows of allocations
 *   race_clock.c    the time of warps, barriers, *.sync operations, fences
 *   race_words.c    flags, locks, tickets: what passes through them
 *   race_tree.c     what is known of other blocks
 *   race_verdict.c  is a pair of accesses a fault, which one, and in what words
 *   race_search.c   was a flag meant to order the two
 *   race_strong.c   two strong accesses: does one rely on the flag
 *   race_order.c    operations: launches and copies of several streams
 *
 * The time of a warp is one number that only grows: every *.sync operation, fence and strong access
 * moves it on, and a barrier of the whole block takes all its warps to the same new one. An access
 * is (block, warp, lane, time); "B knows warp w up to t" means that accesses before time t come
 * before what B does next.
 *
 * Several threads may write the same: a store that leaves the bytes as they are does not race with
 * the write that made them so, be it of lanes, warps or blocks. ORDER.md says what is found how. */
#ifndef CPU_VM_RACE_H
#define CPU_VM_RACE_H

#include "cpu/vm/engine.h"

/* An entry of a shadow: time or segment | who | strength | pc, from the top. In shared memory `who`
 * is the thread and the time is its warp's; in global memory it is the lane, with a bit for reads
 * through the read-only cache, and the segment tells block, warp and time. */
enum {
    RACE_PC_BITS = 19,
    RACE_STRENGTH_SHIFT = RACE_PC_BITS,
    RACE_WHO_SHIFT = RACE_STRENGTH_SHIFT + 3,
    RACE_TIME_SHIFT = 32,
    RACE_LANE_SHIFT = 27,
    RACE_OWN_SHIFT = 26, /* from here on the same: the same thread, time and kind of read */
};
#define RACE_READ_ONLY (1ull << 26) /* global memory only */
#define RACE_THREADS   1023u

static inline uint32_t race_pc_of(uint64_t entry)
{
    return (uint32_t)entry & ((1u << RACE_PC_BITS) - 1);
}

static inline uint32_t race_strength_of(uint64_t entry)
{
    return (uint32_t)(entry >> RACE_STRENGTH_SHIFT) & 7;
}

static inline uint32_t race_time_of(uint64_t entry)
{
    return (uint32_t)(entry >> RACE_TIME_SHIFT);
}

static inline uint32_t race_thread_of(uint64_t entry)
{
    return (uint32_t)(entry >> RACE_WHO_SHIFT) & RACE_THREADS;
}

static inline uint64_t race_entry(uint32_t time, uint32_t strength, uint32_t pc)
{
    return (uint64_t)time << RACE_TIME_SHIFT | (uint64_t)strength << RACE_STRENGTH_SHIFT |
           (pc & ((1u << RACE_PC_BITS) - 1));
}

/* ---- knowledge ---- */

/* Where trees, words and what belongs to them live: for a launch, or for a block alone when global
 * memory is not looked at. */
struct race_space {
    struct arena arena;
    struct race_joint *joints; /* what trees were joined lately, see race_tree.c; NULL = none yet */
    uint32_t depth;
    bool full; /* it has become too large: no more findings in this launch */
};

/* What is known of one warp: accesses of all lanes before `all`, those of `lanes` before `some`,
 * and strong accesses at time `flag`. */
struct race_known {
    uint32_t all, some, lanes, flag;
};

/* What is known of one block: all its warps before `base`, and more of some. */
struct race_of_warp {
    uint32_t warp;
    struct race_known known;
};
struct race_leaf {
    uint32_t base, count;
    struct race_of_warp warps[];
};
void *race_space_alloc(struct race_space *s, size_t bytes);

/* Leaves by block index, shared among all who know the same: never changed once made. At depth 0 a
 * tree is a leaf. */
enum { RACE_FAN = 16 };
struct race_node {
    const void *kid[RACE_FAN];
};

const void *race_tree_join(struct race_space *s, const void *a, const void *b);
/* The tree with `leaf` joined to what it says of block `index`. */
const void *race_tree_add(struct race_space *s, const void *tree, uint64_t index,
                          const struct race_leaf *leaf);
const struct race_leaf *race_tree_find(const struct race_space *s, const void *tree,
                                       uint64_t index);
bool race_known_covers(const struct race_known *k, uint32_t lane, uint32_t time);
bool race_leaf_covers(const struct race_leaf *leaf, uint32_t warp, uint32_t lane, uint32_t time);
void race_known_join(struct race_known *to, const struct race_known *more);

/* ---- words that threads hand work over with ---- */

/* A strong write, and a strong read that saw it: from these is told what would be ordered if there
 * were fences. */
struct race_write {
    struct race_write *prev;   /* what an atomic continued */
    struct race_read *knows;   /* what its thread had read */
    const void *device, *near; /* what it released: to everybody, to its block */
    uint64_t key, block;
    uint32_t warp, lanes, time, base, pc;
    uint32_t full; /* the time of its warp's last sync: accesses of all lanes before come before */
    uint32_t synced; /* the lanes that it is ordered after */
    bool fenced;     /* its warp had executed a fence at some time */
    uint32_t search; /* the last one that came by, see race_verdict.c */
};
enum race_through {
    RACE_ALL,    /* every read */
    RACE_MEANT,  /* those that look like reads of a flag: of the next kind, or by an atomic whose
                    answer decides */
    RACE_WAITED, /* in a loop that waits for the word to change; of words read by oneself */
};
struct race_read {
    struct race_read *prev, *other; /* earlier ones; of another warp, joined by a barrier */
    struct race_write *saw;
    uint32_t search;
    enum race_through meant;
};

struct race_word {
    uint64_t key;       /* 0 = free; else the shared offset or the global address, plus 1 */
    const void *device; /* what its last strong writers released */
    const void *near;   /* the same for threads of block near_block only */
    uint64_t near_block;
    struct race_write *last;
};

struct race_words { /* hash */
    struct race_word *at;
    uint32_t count, capacity;
};

/* ---- blocks ---- */

/* A fence: what its warp knew then. A later strong write of the warp publishes that. */
struct race_fence {
    bool valid;
    const void *outer; /* tree */
    uint32_t time, base, full, lanes;
    bool partial; /* row[] is in use */
    struct race_known row[VM_WARPS_MOST];
};
enum { RACE_NEAR, RACE_DEVICE, RACE_SCOPES };

enum { RACE_RECENT = 64 };
struct warp_clock {
    uint32_t known[VM_LANES][VM_LANES]; /* [lane][of]: the time of `of` that lane knows */
    /* What is known of other blocks: all lanes; lanes in fresh_lanes know more, until the next
     * *.sync operation after fresh_time. */
    const void *outer, *fresh;
    uint32_t fresh_lanes, fresh_time;
    const void *collected; /* seen by strong reads, waits for a fence */
    struct race_fence fence[RACE_SCOPES];
    bool fenced, recent_used;
    uint32_t segment, segment_time; /* of global accesses at that time; 0 = none yet */
    struct race_read *reads;        /* newest first */
    struct {
        uint64_t key;
        const struct race_write *saw;
        enum race_through meant;
    } recent[RACE_RECENT];
};

struct race_block {
    /* The shadow of shared memory: `word_count` units of a word, and behind them, in kernels with
     * accesses of 1 or 2 bytes, a unit per byte. Those hold for the words that had such an access
     * since the last barrier: whose `split` is `base`. */
    uint64_t *write, *first_read, *last_read;
    uint32_t *split;            /* NULL = there are no bytes */
    uint32_t word_count, units; /* units: with those of bytes */
    bool narrow;                /* look at `split` */
    uint32_t base;              /* accesses before this time are ordered */
    bool partial;               /* known[][] is in use */
    bool spread;                /* some warp knows what others do not */
    struct race_known known[VM_WARPS_MOST][VM_WARPS_MOST];
    struct warp_clock clocks[VM_WARPS_MOST];
    struct race_space *space, own_space;
    struct race_words words; /* in shared memory; all, when global memory is not looked at */
    struct race_fence joint[RACE_SCOPES]; /* fences before the last barrier */
};

/* Does an entry of the shadow of shared memory belong to the time since `since` (a time shifted to
 * its place) and to another thread than `mine`? */
static inline bool race_meets(uint64_t entry, uint64_t mine, uint64_t since)
{
    return (entry >= since) & (((entry ^ mine) >> RACE_WHO_SHIFT & RACE_THREADS) != 0);
}

/* The units of one word that an access of `bytes` at `address` touches. */
struct race_span {
    uint32_t unit, end;
};

/* From now on until the next barrier the word's bytes stand for themselves. */
void race_split(struct race_block *r, uint32_t word);

static inline struct race_span race_span(struct race_block *r, uint32_t word, uint32_t address,
                                         uint32_t bytes)
{
    if (!r->narrow || (bytes >= 4 && r->split[word] != r->base))
        return (struct race_span){word, word + 1};
    if (r->split[word] != r->base)
        race_split(r, word);
    uint32_t low = 4 * word > address ? 4 * word : address;
    uint32_t end = 4 * word + 4 < address + bytes ? 4 * word + 4 : address + bytes;
    return (struct race_span){r->word_count + low, r->word_count + end};
}

/* for (...) over the words of an access, and over the units of a word. */
#define RACE_EACH_WORD(r, word, address, bytes)                                                    \
    uint32_t word = (address) >> 2;                                                                \
    word <= ((address) + (bytes)-1) >> 2 && word < (r)->word_count;                                \
    word++
#define RACE_EACH_UNIT(span, unit)                                                                 \
    uint32_t unit = (span).unit;                                                                   \
    unit < (span).end;                                                                             \
    unit++

/* Accesses to shared memory of different strength. See check_race.c. */
bool race_tolerated(uint32_t a, uint32_t b, bool same_warp);
uint64_t race_succeed(uint64_t old, uint64_t mine, bool same_thread);

/* Around a strong access of lanes m, whose words are at w->lane_address (shared offsets or global
 * addresses): before it is compared with others, for it knows what it reads; and afterwards. Both
 * move the time on. */
void race_strong_begin(struct warp *w, const struct mem_op *op, uint32_t m);
void race_strong_end(struct warp *w, const struct mem_op *op, uint32_t m);
/* Lanes m now know what is in the tree. */
void race_learn(struct warp *w, const void *tree, uint32_t m);
/* The lanes that one of m is ordered after, by syncs of some lanes; m itself included. */
uint32_t race_synced_lanes(const struct warp *w, uint32_t m);
/* What lanes m of the warp know and have done, as a tree. flag: the time of a strong write. */
const void *race_present(struct warp *w, uint32_t m, uint32_t flag);
/* The same at the last fence of this scope; NULL = none. */
const void *race_fenced(struct warp *w, int scope, uint32_t m, uint32_t flag);
struct race_words *race_words_of(struct warp *w, uint64_t key);
struct race_word *race_find_word(struct race_words *words, uint64_t key, bool make);
void race_words_clear(struct race_words *words);
void race_words_release(struct race_words *words);

/* ---- global memory ---- */

struct race_segment {
    uint64_t block;
    uint32_t warp, time, base;
};

/* The shadow of an allocation. */
struct race_shadow {
    uint64_t *write, *first_read, *last_read, *strong; /* per unit */
    uint64_t base, units, bytes; /* unit = (address - base) >> shift; bytes of the mapping */
    uint32_t shift;
    uint32_t strong_last; /* segment of the last strong write */
    uint32_t born;        /* older segments are those of another allocation */
};

enum { RACE_SPARES = 8 };
struct race_spare { /* a mapping to use again; bytes 0 = none */
    void *p;
    uint64_t bytes;
};

/* The earlier access of a pair. */
struct race_past {
    uint64_t block, entry;
    uint32_t warp, lane, time, base;
    bool writes, shared;
};

/* What operations did, see race_order.c. */
enum { RACE_OPERATIONS = 256, RACE_RANGES = 256, RACE_WHAT = 128 };
struct race_operation {     /* a launch */
    uint32_t number, first; /* its first segment */
    bool before;            /* the current operation */
    char what[RACE_WHAT];
};
struct race_range { /* by the host */
    uint64_t low, high;
    uint32_t number; /* of the operation; 0 = none */
    bool writes;
    char what[RACE_WHAT];
};

/* A pair to be reported at the end of the launch, unless it turns out that nobody relied on its
 * order: see race_strong.c. */
enum { RACE_SUSPECTS = 16 };
struct race_suspect {
    uint64_t key; /* of the word */
    struct race_past reader;
    struct wire_finding finding;
};

struct race_global {
    uint32_t next; /* segment */
    /* Entries with older segments are before this launch, whoever made them; those from
     * launch_first on are of this launch. */
    uint32_t first, launch_first;
    struct race_operation operations[RACE_OPERATIONS]; /* the last launches, in a ring */
    struct race_range ranges[RACE_RANGES], foreign[RACE_RANGES];
    uint32_t operation_at, range_at, foreign_count; /* foreign: not ordered before this launch */
    struct race_segment *rows;
    uint32_t row_capacity, rows_from; /* rows[0] is segment rows_from */
    struct race_space space;
    struct race_words words;
    uint64_t shadow_bytes; /* of all mappings, spare ones included */
    struct race_spare spares[RACE_SPARES];
    uint32_t searches, steps_left;
    struct race_suspect suspects[RACE_SUSPECTS];
    uint32_t suspect_count;
    bool running;        /* a launch */
    bool reads_strongly; /* somebody may wait for a word */
};

uint32_t vm_race_segment(struct warp *w); /* a new one for the warp's present time */

/* Entry for an access now, of lane 0. */
static inline uint64_t race_mine(struct warp *w, const struct mem_op *op)
{
    struct warp_clock *c = w->clocks;
    uint32_t segment =
        c->segment && c->segment_time == w->sync_events ? c->segment : vm_race_segment(w);
    return race_entry(segment, op->strength, op->pc) | (op->read_only ? RACE_READ_ONLY : 0);
}

struct race_global *vm_race_of(struct vm *vm); /* makes it if need be */
/* At the start of a launch: sets first and foreign. */
void race_order_launch(struct vm *vm, struct race_global *g);
/* An entry from before this launch; a range of the host's. Report what is not ordered. */
void race_order_entry(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t entry,
                      bool writes);
void race_order_ranges(struct warp *w, const struct mem_op *op, unsigned lane);

/* ---- verdicts ---- */

/* A kernel that races everywhere has been found out long before it ends: the rest of the launch is
 * not looked at. */
static inline bool race_enough(const struct warp *w)
{
    return w->engine->race_hits > 1u << 20;
}

/* Is it before what lane `lane` of w does now? */
bool race_ordered(struct warp *w, unsigned lane, const struct race_past *past);
/* Two accesses, not ordered, not tolerated: says what is wrong if something is. */
void race_judge(struct warp *w, const struct mem_op *op, unsigned lane,
                const struct race_past *past);
/* Two strong accesses that share bytes, of elements of different sizes: a mixed-size data race,
 * about which the memory model of PTX promises nothing. */
bool race_torn(const struct warp *w, const struct mem_op *op, uint64_t entry);
/* Does a strong write matter to those that come before it: does it put something else in the place
 * of what they wrote? */
static inline bool race_replaces(const struct mem_op *op)
{
    return op->in->op == PTX_OP_st && op->strength != VM_UPDATING;
}

/* A strong access to what another thread wrote strongly: no race, but was it waited for through a
 * flag, with no fence? */
void race_judge_strong(struct warp *w, const struct mem_op *op, unsigned lane,
                       const struct race_past *past);
/* The same for all that have added to a word that is read now. */
void race_judge_sum(struct warp *w, const struct mem_op *op, unsigned lane,
                    const struct race_word *word);
void race_read_only_written(struct warp *w, const struct mem_op *op, unsigned lane,
                            const struct race_past *past);
/* A write that came later: a suspect may turn out to be none. At the end of the launch: reports. */
void race_acquit(struct warp *w, unsigned lane, uint64_t key);
void race_convict(struct vm_engine *e);

/* The flag that was meant to order two accesses, if any. key: of the word that both touch;
 * both_strong: to have seen the other's write is not enough; through: the reads that count. */
enum race_outcome { RACE_UNRELATED, RACE_SAME_WORD, RACE_READER, RACE_WRITER };
struct race_found {
    enum race_outcome outcome;
    const struct race_write *flag;
    bool narrow; /* RACE_WRITER: a fence or write that orders within its block only */
};
struct race_found race_search(const struct warp *w, const struct race_past *past, uint64_t key,
                              bool both_strong, enum race_through through);
bool race_released(const struct race_space *s, const void *tree, const struct race_past *past);
/* Fills in a finding for what was found. false: told before, or not to be told. */
bool race_missing_fence(struct warp *w, const struct mem_op *op, unsigned lane,
                        const struct race_past *past, const struct race_found *f,
                        struct wire_finding *out);
/* Does a store leave the bytes as the earlier one made them? */
bool race_writes_the_same(const struct warp *w, const struct mem_op *op, unsigned lane,
                          bool shared);

/* Pairs of places of which everything has been said; the flags are added to a pc. */
#define RACE_TOLD        (1u << 30)
#define RACE_TOLD_READER (1u << 29)
bool race_told(const struct vm_engine *e, uint32_t a, uint32_t b);
bool race_first_time(struct vm_engine *e, uint32_t a, uint32_t b);

#endif
