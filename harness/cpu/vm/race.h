/* race: the shadow of a block's shared memory. Private to cpu/vm; check_race.c says what it means.
 */
#ifndef CPU_VM_RACE_H
#define CPU_VM_RACE_H

#include "cpu/vm/engine.h"

enum {
    EPOCH_BITS = 18,
    THREAD_BITS = 10,
    EVENT_BITS = 16,
    PC_BITS = 18,
    RACE_THREAD_SHIFT = 36,
    RACE_EPOCH_SHIFT = 46,
};
#define EVENT_MOST ((1u << EVENT_BITS) - 2)
#define EPOCH_MOST ((1u << EPOCH_BITS) - 2)

struct warp_clock {
    uint32_t known[VM_LANES][VM_LANES]; /* [lane][of]: the last event of `of` that lane knows */
};

/* A word that threads hand work over with: what its last strong writer knew. */
struct sync_word {
    uint64_t key; /* 0 = free; else the shared offset or the global address, plus 1 */
    uint32_t known[VM_WARPS_MOST];
};

struct race_block {
    uint64_t *write, *first_read, *last_read;
    uint32_t units, shift; /* unit = offset >> shift */
    uint32_t epoch;
    bool partial; /* known[][] is in use */
    uint32_t known[VM_WARPS_MOST][VM_WARPS_MOST];
    struct warp_clock clocks[VM_WARPS_MOST];
    struct sync_word *words; /* hash, WORDS long; NULL until needed */
    uint32_t word_count;
    bool lenient; /* too many such words: warps count as ordered until the next barrier */
};

/* epoch | thread | strength | event | pc, from the top */
static inline uint64_t race_pack(uint32_t epoch, uint32_t thread, uint32_t strength, uint32_t event,
                                 uint32_t pc)
{
    return (uint64_t)epoch << RACE_EPOCH_SHIFT | (uint64_t)thread << RACE_THREAD_SHIFT |
           (uint64_t)strength << 34 | (uint64_t)event << PC_BITS | (pc & ((1u << PC_BITS) - 1));
}

static inline uint32_t race_thread_of(uint64_t entry)
{
    return (uint32_t)(entry >> RACE_THREAD_SHIFT) & ((1u << THREAD_BITS) - 1);
}

static inline uint32_t race_strength_of(uint64_t entry)
{
    return (uint32_t)(entry >> 34) & 3;
}

static inline uint32_t race_event_of(uint64_t entry)
{
    return (uint32_t)(entry >> PC_BITS) & ((1u << EVENT_BITS) - 1);
}

static inline uint32_t race_pc_of(uint64_t entry)
{
    return (uint32_t)entry & ((1u << PC_BITS) - 1);
}

/* Does an entry of the shadow belong to this epoch and to another thread? */
static inline bool race_meets(uint64_t entry, uint64_t mine)
{
    return ((entry ^ mine) >> RACE_THREAD_SHIFT) - 1 < (1u << THREAD_BITS) - 1;
}

#endif
