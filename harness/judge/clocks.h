/* clocks: how fast a card's clocks run while something is timed, from NVML. Reads only; without
 * NVML nothing is known, and the result says so. */
#ifndef JUDGE_CLOCKS_H
#define JUDGE_CLOCKS_H

#include "base/arena.h"
#include "judge/gpu/nvml.h"
#include "judge/timing/timing.h"

struct clocks {
    struct nvml nvml;
    nvml_device device;
    bool works;
};

/* `nvml` as for nvml_open(); `card`: UUID, NULL = there is none. */
void clocks_open(struct clocks *c, const char *nvml, const char *card);
void clocks_close(struct clocks *c);

/* What timing_watch() takes, with a struct clocks. */
void clocks_look(void *clocks, struct timing_clocks *seen);

/* What made the card slower than it can be, "power cap, sync boost"; NULL = nothing. `reasons` are
 * bits of nvmlClocksEventReasons. */
const char *clocks_throttled_by(uint64_t reasons, struct arena *arena);

#endif
