#include "base/hash.h"

#include <string.h>

void hash_init(struct hash *h)
{
    sha256_init(&h->sha);
}

void hash_part(struct hash *h, const void *bytes, size_t count)
{
    uint64_t length = count;
    sha256_update(&h->sha, sizeof length, (const uint8_t *)&length);
    sha256_update(&h->sha, count, bytes);
}

void hash_str(struct hash *h, const char *s)
{
    hash_part(h, s, strlen(s));
}

void hash_hex(struct hash *h, char hex[HASH_HEX_BYTES])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&h->sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[HASH_HEX_BYTES - 1] = '\0';
}

uint64_t hash_number(struct hash *h)
{
    uint8_t digest[sizeof(uint64_t)];
    uint64_t number = 0;
    sha256_digest(&h->sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        number = number << 8 | digest[i];
    return number;
}

uint64_t hash_seed(uint64_t seed, const char *purpose, uint64_t number)
{
    struct hash h;
    hash_init(&h);
    hash_part(&h, &seed, sizeof seed);
    hash_str(&h, purpose);
    hash_part(&h, &number, sizeof number);
    return hash_number(&h);
}
