/* pass: under which circumstances a case is run once. */
#ifndef JUDGE_PASS_H
#define JUDGE_PASS_H

#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum hang_means { HANG_FAILS, HANG_WARNS };

struct pass {
    enum wire_schedule schedule;
    uint32_t resident_blocks;
    enum wire_stream_order stream_order;
    enum hang_means hang;
    uint64_t most_elements;
    uint64_t seed;   /* of the schedule, below 2^53 so that every JSON reader keeps it */
    unsigned number; /* poison, and the schedule's seed unless it is given, follow from it */
    bool is_seeded;  /* `seed` is given, and everything else follows from it */
    bool delay_stores;
};

enum {
#define PASS(name, schedule, resident, late, streams, most, hang) PASS_##name,
#include "judge/passes.def"
#undef PASS
    PASS_COUNT
};

extern const struct pass PASSES[PASS_COUNT]; /* the rows of passes.def, numbered 0, 1, ... */

/* Bounds on the number of elements: sizes.def. */
extern const uint64_t
#define SIZE(name, elements, what) name,
#include "judge/sizes.def"
#undef SIZE
    SIZE_NONE;

/* The pass that a seed stands for; of an interleaved one also residents, late stores, and the order
 * of streams are drawn. */
struct pass pass_of_seed(enum wire_schedule schedule, uint64_t seed);

/* "interleaved:17" -> that pass, "reversed" -> the schedule alone. false: neither. */
struct pass_choice {
    bool is_set, has_seed;
    enum wire_schedule schedule;
    uint64_t seed;
};
bool pass_choice_parse(const char *text, struct pass_choice *choice);

#endif
