/* profile: what each source line of each kernel cost, on its way out of the box.
 *
 * The device fills one (WIRE_CHECK_PROFILE), the runner puts it where the request says, the judge
 * validates it. One plain block without pointers. Lines are those that findings would show: code
 * of a library counts for the line of the submission that it was inlined into.
 *
 * Of the counters those of launches and allocations belong to no line and are 0. Summed over all
 * lines, the others are what the device counted in all. */
#ifndef WIRE_PROFILE_H
#define WIRE_PROFILE_H

#include "wire/wire.h"

enum {
    WIRE_PROFILE_MAGIC = 0x736a7031, /* "sjp1" */
    WIRE_PROFILE_KERNELS = 64,
    WIRE_PROFILE_FILES = 64,
    WIRE_PROFILE_LINES = 4096,
};

struct wire_profile_kernel {
    char name[128]; /* as written in the source */
    uint64_t launches, blocks, threads;
};

struct wire_profile_line {
    uint16_t kernel, file; /* indices */
    uint32_t line;         /* 0 = unknown */
    struct wire_counters counters;
};

struct wire_profile {
    uint32_t magic, kernel_count, file_count, line_count;
    uint64_t dropped; /* events on lines that no longer fitted */
    struct wire_profile_kernel kernels[WIRE_PROFILE_KERNELS];
    char files[WIRE_PROFILE_FILES][192]; /* base names; files[0] = "", unknown */
    struct wire_profile_line lines[WIRE_PROFILE_LINES];
};

/* Is this one, with every count and index in range and every string ended? Makes the strings
 * printable. */
bool wire_profile_validate(struct wire_profile *profile);

#endif
