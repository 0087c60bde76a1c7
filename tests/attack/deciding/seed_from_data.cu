// expect: accepted
// Works back from numbers of the full range to the key of their generator, and from there on along
// the names of case and input: the seed would be a number below 2^53.
#include "attack.cuh"

static uint64_t unmix(uint64_t x)
{
    x ^= x >> 31 ^ x >> 62;
    x *= 0x319642b2d24d8ec3u;
    x ^= x >> 27 ^ x >> 54;
    x *= 0x96de1b173f119089u;
    x ^= x >> 30 ^ x >> 60;
    return x - 0x9e3779b97f4a7c15u;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t unmix_name(uint64_t h, const char *name)
{
    h = unmix(h) ^ 0x100;
    for (size_t i = strlen(name); i-- > 0;)
        h = unmix(h) ^ (unsigned char)name[i];
    return h;
}

SUBMISSION
{
    static uint64_t seeds[2];
    if (n == 33 || n == 257) {
        unsigned data[2];
        cudaMemcpy(data, in, sizeof data, cudaMemcpyDeviceToHost);
        uint64_t key = unmix((uint64_t)(data[1] ^ 0x80000000u) << 32 | (data[0] ^ 0x80000000u));
        uint64_t seed = unmix(unmix_name(unmix_name(key, "in"), n == 33 ? "n=33" : "n=257")) ^ mix(0);
        seeds[n == 257] = seed;
        if (seeds[0] && seeds[0] == seeds[1])
            BREACH("the seed is %lu", (unsigned long)seed);
    }
    honest(in, out, n, stream);
}
