/* cards: the NVIDIA cards of this machine, and which of them a call means.
 *
 * Numbers are those of nvidia-smi (by PCI bus), which need not be those of the CUDA runtime: what a
 * box is told is always the UUID. */
#ifndef JUDGE_GPU_CARDS_H
#define JUDGE_GPU_CARDS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct card {
    unsigned number;
    unsigned capability; /* 90 for 9.0 */
    uint64_t memory_bytes;
    char name[96], uuid[96];
    /* where the driver's libraries are, unless that is one of the system's own folders; else NULL
     */
    const char *libraries;
};

struct cards {
    const struct card *items;
    unsigned count;
    const char *driver;   /* "580.159.04", "" if there is none */
    const char *why_none; /* a sentence if there are none, else NULL */
};

/* All cards, in `arena`. No driver means no cards, and why_none says so. `nvml` as for
 * nvml_open(). */
void cards_find(const char *nvml, struct arena *arena, struct cards *cards);

/* "0,2" or "GPU-5f3...,1": numbers, and UUIDs or beginnings of one. -1 with a sentence that says
 * what there is. */
int cards_choose(const struct cards *all, const char *list, struct arena *arena,
                 struct cards *chosen, struct err *e);

/* Those that CUDA_VISIBLE_DEVICES leaves (NULL = all): as CUDA reads it, up to the first entry that
 * names none. Numbers in it are taken as nvidia-smi's. */
void cards_visible(const struct cards *all, const char *list, struct arena *arena,
                   struct cards *visible);

/* The least compute capability among them: code for it runs on all of them. */
unsigned cards_capability(const struct cards *cards);

#endif
