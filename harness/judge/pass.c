#include "judge/pass.h"

#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct pass PASSES[PASS_COUNT] = {
#define PASS(name, s, resident, late, streams, most, hangs)                                        \
    {.schedule = (s),                                                                              \
     .resident_blocks = (resident),                                                                \
     .delay_stores = (late),                                                                       \
     .stream_order = (streams),                                                                    \
     .most_elements = (most),                                                                      \
     .hang = (hangs),                                                                              \
     .number = PASS_##name},
#include "judge/passes.def"
#undef PASS
};

#define SIZE(name, elements, what) const uint64_t name = (elements);
#include "judge/sizes.def"
#undef SIZE
const uint64_t SIZE_NONE = 0;

/* Numbers of seeded passes: away from those of passes.def. */
static const unsigned SEEDED = 1u << 30;

struct pass pass_of_seed(enum wire_schedule schedule, uint64_t seed)
{
    static const uint32_t RESIDENT[] = {0, 0, 0, 2, 3, 7};
    enum { RESIDENTS = sizeof RESIDENT / sizeof RESIDENT[0], STREAM = 0x7061 };
    struct pass p = {.schedule = schedule,
                     .number = SEEDED + (unsigned)(seed % SEEDED),
                     .is_seeded = true,
                     .seed = seed};
    uint64_t key = rng_key(seed, STREAM);
    if (schedule == WIRE_LAST_FIRST) {
        p.resident_blocks = PASSES[PASS_last_first].resident_blocks;
        p.hang = HANG_WARNS;
    } else if (schedule == WIRE_INTERLEAVED) {
        p.resident_blocks = RESIDENT[rng_below(key, 0, RESIDENTS)];
        p.delay_stores = rng_below(key, 1, 4) > 0;
        p.stream_order =
            (enum wire_stream_order)rng_below(key, 2, (uint64_t)WIRE_STREAM_ORDER_COUNT);
    }
    return p;
}

bool pass_choice_parse(const char *text, struct pass_choice *choice)
{
    size_t length = strcspn(text, ":");
    *choice = (struct pass_choice){.is_set = true, .schedule = wire_schedule_find(text, length)};
    if (choice->schedule == WIRE_SCHEDULE_COUNT)
        return false;
    if (!text[length])
        return true;
    const char *digits = text + length + 1;
    char *end;
    errno = 0;
    choice->has_seed = true;
    choice->seed = strtoull(digits, &end, 10);
    return digits[0] >= '0' && digits[0] <= '9' && !*end && !errno;
}
