#include "base/rng.h"

#include "base/err.h"

#include <sys/random.h>

uint64_t rng_secret_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        BUG("getrandom gave no entropy");
    seed &= RNG_SEED_MAX;
    return seed ? seed : 1;
}
