/* hash: SHA-256 for identity (nettle), as lower-case hex.
 *
 * Parts are length-prefixed, so that ("ab", "c") and ("a", "bc") differ. Also the way from a secret
 * seed to what others get to see: base/rng.h mixes so that it can be undone, a hash cannot. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_HEX_BYTES = 65 }; /* 64 digits and the NUL */

struct hash {
    struct sha256_ctx sha;
};

void hash_init(struct hash *h);
void hash_part(struct hash *h, const void *bytes, size_t count);
void hash_str(struct hash *h, const char *s);
void hash_hex(struct hash *h, char hex[HASH_HEX_BYTES]); /* ends the hash */
uint64_t hash_number(struct hash *h);                    /* ends it: the first 64 bits */

/* The seed of one purpose, and of the `number`-th thing that serves it. Who knows it learns nothing
 * about `seed`, nor about the seeds of others. */
uint64_t hash_seed(uint64_t seed, const char *purpose, uint64_t number);

#endif
