/* hash: SHA-256 for identity (nettle), as lower-case hex.
 *
 * Parts are length-prefixed, so that ("ab", "c") and ("a", "bc") differ. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <nettle/sha2.h>
#include <stddef.h>

enum { HASH_HEX_BYTES = 65 }; /* 64 digits and the NUL */

struct hash {
    struct sha256_ctx sha;
};

void hash_init(struct hash *h);
void hash_part(struct hash *h, const void *bytes, size_t count);
void hash_str(struct hash *h, const char *s);
void hash_hex(struct hash *h, char hex[HASH_HEX_BYTES]); /* ends the hash */

#endif
