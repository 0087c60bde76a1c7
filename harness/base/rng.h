/* rng: counter-based random numbers.
 *
 * A value depends on (seed, stream, counter) only, so one case, and one element of it, can be
 * made again alone and in any order. The mixing is SplitMix64's finaliser (Steele, Lea and
 * Flood, OOPSLA 2014) applied twice. Not for secrets: rng_secret_seed() draws those. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/* Of every seed that people see: a JSON reader that keeps numbers as doubles keeps it exactly. */
#define RNG_SEED_MAX ((UINT64_C(1) << 53) - 1)

static inline uint64_t rng_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t rng_key(uint64_t seed, uint64_t stream)
{
    return rng_mix(seed ^ rng_mix(stream));
}

/* 64 random bits; take rng_key() out of a loop and call this with it. */
static inline uint64_t rng_at(uint64_t key, uint64_t counter)
{
    return rng_mix(key + counter * 0xd1342543de82ef95u);
}

/* Uniform in [0, bound), bound > 0, without a visible bias (multiply-shift, Lemire 2019). */
static inline uint64_t rng_below(uint64_t key, uint64_t counter, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)rng_at(key, counter) * bound) >> 64);
}

/* Uniform in [0, 1), 53 bits. */
static inline double rng_unit(uint64_t key, uint64_t counter)
{
    return (double)(rng_at(key, counter) >> 11) * 0x1p-53;
}

/* A seed from the kernel's entropy, below 2^53 so that every JSON reader keeps it. */
uint64_t rng_secret_seed(void);

#endif
