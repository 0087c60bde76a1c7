/* nvml: NVIDIA's management library, where there is one. It comes with the driver, makes no CUDA
 * context, and tells of cards, their clocks and their memory from outside of the box: what it says
 * is a fact, not a claim. Only reads: the settings of a card are never changed.
 *
 * Loaded at run time, so that the judge starts on a machine without a driver. */
#ifndef JUDGE_GPU_NVML_H
#define JUDGE_GPU_NVML_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

typedef struct nvml_device_handle *nvml_device;

struct nvml_memory {
    unsigned long long total, free, used;
};

enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };

struct nvml {
    void *library;
#define NVML(name, needed, arguments) int(*name) arguments;
#include "judge/gpu/nvml.def"
#undef NVML
};

/* `path`: the library, NULL = the driver's own by its usual name. -1 with a sentence: there is no
 * driver, or none that answers. Every nvml_open() that worked wants its nvml_close(). */
int nvml_open(const char *path, struct nvml *n, struct err *e);
/* The folder that it was found in, in `arena`: that of all of the driver's libraries. */
const char *nvml_folder(const struct nvml *n, struct arena *arena);
void nvml_close(struct nvml *n); /* also after one that failed */

#endif
