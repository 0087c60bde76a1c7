/* meter: the library that counts what a submission allocates on a card, and what the runner asks of
 * it.
 *
 * libsj_meter.so defines the allocating calls of the CUDA runtime and is loaded before NVIDIA's, so
 * that the submission's calls come here first and are handed on. What it says is exact for code
 * that allocates through the runtime, and a claim like everything in the box: who goes around the
 * runtime, or writes over our counts, is not counted, and has the whole card. Our CPU device counts
 * by itself. */
#ifndef WIRE_METER_H
#define WIRE_METER_H

#include <stdint.h>

struct wire_meter {
    /* The runtime that calls are handed on to, as dlopen() gave it. */
    void (*bind)(void *cudart);
    /* From now on: the peak begins with what is held, and what would take the sum above the limit
     * (0 = none) is refused like memory that has run out. */
    void (*begin)(uint64_t limit_bytes);
    /* The most that was held since then beyond what was held at the beginning; a refused call
     * counts as if it had been granted. */
    uint64_t (*peak)(void);
};
#define WIRE_METER_SYMBOL "scanjudge_meter"
typedef const struct wire_meter *(*wire_meter_function)(void);

#endif
