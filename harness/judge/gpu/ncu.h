/* ncu: what NVIDIA's profiler says of the kernels of a run.
 *
 * Its report is made in the box's reach: a claim, of which only numbers and printable names are
 * taken. */
#ifndef JUDGE_GPU_NCU_H
#define JUDGE_GPU_NCU_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { CARD_KERNELS_MAX = 64 };

struct card_kernel {
    char name[128]; /* as written in the source */
    uint64_t launches;
    double ns; /* sums over the launches */
    double requests, sectors, bank_conflicts, warp_instructions, instructions, dram_bytes;
    double dram_percent, sm_percent; /* of the peak, the mean weighted with time */
};

struct card_profile {
    struct card_kernel kernels[CARD_KERNELS_MAX]; /* in the order of their first launches */
    unsigned count;
    bool dropped; /* there were more */
};

/* "gpu__time_duration.sum,l1tex__...": for --metrics. */
const char *ncu_metrics(void);

/* Reads what `ncu --csv --print-units base --metrics ...` wrote. -1 with a sentence if there is no
 * kernel in it: why, and what to do about it. */
int ncu_read(const char *report, struct card_profile *p, struct err *e);

#endif
