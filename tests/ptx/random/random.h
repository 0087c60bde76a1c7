/* random: integer PTX programs from a seed, whose result does not depend on the order of threads.
 *
 * A module holds RANDOM_KERNELS kernels k0, k1, ... with the parameters (in, out, counters). Each
 * thread has a slice of `in` to start from and a slice of `out` to itself; `counters` takes atomic
 * operations that commute. Everything that a program does is defined by the PTX ISA, so that a GPU
 * and the CPU device must agree in every bit. Only libc is needed: card.c runs them on a GPU,
 * device.c on the CPU device. */
#ifndef TESTS_PTX_RANDOM_RANDOM_H
#define TESTS_PTX_RANDOM_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RANDOM_KERNELS = 200,
    RANDOM_BLOCKS = 2,
    RANDOM_THREADS = 64, /* of a block */
    RANDOM_IN_WORDS = 24,
    RANDOM_OUT_WORDS = 48,
    RANDOM_COUNTERS = 64,     /* words */
    RANDOM_STATEMENTS = 1024, /* of a kernel that random_kernel() can leave out */
    RANDOM_ALL_THREADS = RANDOM_BLOCKS * RANDOM_THREADS
};

/* The PTX text of a batch, NUL-terminated; the caller frees it. NULL: no memory. */
char *random_module(uint64_t batch);

/* One kernel of a batch in a module of its own, without the statements k with skip[k] of
 * RANDOM_STATEMENTS (NULL: with all; a branch or loop goes with all that is in it). Tells how many
 * statements it has. */
char *random_kernel(uint64_t batch, unsigned kernel, const bool *skip, unsigned *statements);

/* The input of a batch: RANDOM_ALL_THREADS * RANDOM_IN_WORDS words. */
void random_input(uint64_t batch, uint32_t *in);

/* What counters start from: the neutral element of each word's operation. */
void random_counters(uint32_t *counters);

/* The hash that stands for a kernel's outputs. */
uint64_t random_hash(const uint32_t *out, const uint32_t *counters);

#endif
