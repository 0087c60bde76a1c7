/* The poison pattern: one 8-byte word per position, a hash of (seed, buffer, position within a
 * period). The period keeps filling at memcpy speed; it is a prime number of words, so that it does
 * not line up with tiles. */
#include "wire/wire.h"

#include "base/rng.h"

#include <string.h>

enum { PERIOD_BYTES = WIRE_POISON_PERIOD_BYTES, PERIOD_WORDS = PERIOD_BYTES / 8 };

static void fill_words(uint8_t period[PERIOD_BYTES], uint64_t key, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        uint64_t word = rng_at(key, i);
        memcpy(period + 8 * i, &word, 8);
    }
}

/* As much of the period as bytes [from, from + bytes) of a buffer need: a guard, mostly. */
static void fill_period(uint8_t period[PERIOD_BYTES], uint64_t seed, unsigned buffer, uint64_t from,
                        uint64_t bytes)
{
    uint64_t key = rng_key(seed, 0x706f69736f6e0000u + buffer);
    uint64_t first = from % PERIOD_BYTES / 8;
    uint64_t count = bytes < PERIOD_BYTES ? (from % 8 + bytes + 7) / 8 : PERIOD_WORDS;
    if (count >= PERIOD_WORDS) {
        fill_words(period, key, 0, PERIOD_WORDS);
    } else if (first + count <= PERIOD_WORDS) {
        fill_words(period, key, first, first + count);
    } else {
        fill_words(period, key, first, PERIOD_WORDS);
        fill_words(period, key, 0, first + count - PERIOD_WORDS);
    }
}

void wire_poison(void *to, uint64_t from, uint64_t bytes, uint64_t seed, unsigned buffer)
{
    uint8_t period[PERIOD_BYTES];
    fill_period(period, seed, buffer, from, bytes);
    uint8_t *p = to;
    uint64_t phase = from % PERIOD_BYTES;
    while (bytes) {
        uint64_t n = PERIOD_BYTES - phase < bytes ? PERIOD_BYTES - phase : bytes;
        memcpy(p, period + phase, n);
        p += n;
        bytes -= n;
        phase = 0;
    }
}

uint64_t wire_poison_find_change(const void *at, uint64_t from, uint64_t bytes, uint64_t seed,
                                 unsigned buffer)
{
    uint8_t period[PERIOD_BYTES];
    fill_period(period, seed, buffer, from, bytes);
    const uint8_t *p = at;
    uint64_t phase = from % PERIOD_BYTES, done = 0;
    while (done < bytes) {
        uint64_t n = PERIOD_BYTES - phase < bytes - done ? PERIOD_BYTES - phase : bytes - done;
        if (memcmp(p + done, period + phase, n) != 0) {
            for (uint64_t i = 0; i < n; i++)
                /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): filled */
                if (p[done + i] != period[phase + i])
                    return done + i;
        }
        done += n;
        phase = 0;
    }
    return bytes;
}

uint64_t wire_buffer_bytes(const struct wire_param *p)
{
    uint64_t whole = 2 * (uint64_t)WIRE_GUARD_BYTES + p->misalign + p->bytes;
    return wire_align_up(whole);
}
