/* Builds fat binaries by hand, byte by byte, for the tests of the reader and of the API. */
#ifndef TESTS_CPU_CUDART_FATBIN_BUILDER_H
#define TESTS_CPU_CUDART_FATBIN_BUILDER_H

#include "base/text.h"

#include <stdint.h>
#include <string.h>

struct builder_entry {
    unsigned kind, target; /* kind 1 = PTX, 2 = machine code */
    const void *payload;
    uint32_t payload_bytes;
    uint32_t compressed_bytes; /* 0 = plain */
    uint64_t flags, plain_bytes;
};

static inline void builder_number(struct text *t, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        text_addc(t, (char)(value >> (8 * i)));
}

/* `out` is initialised and empty. */
static inline void builder_build(struct text *out, const struct builder_entry *entries,
                                 size_t count)
{
    struct text body;
    text_init(&body);
    for (size_t i = 0; i < count; i++) {
        const struct builder_entry *n = &entries[i];
        uint32_t padded = (n->payload_bytes + 7) / 8 * 8;
        builder_number(&body, n->kind, 2);
        builder_number(&body, 0x101, 2);
        builder_number(&body, 64, 4);
        builder_number(&body, padded, 8);
        builder_number(&body, n->compressed_bytes, 4);
        builder_number(&body, 0, 4);
        builder_number(&body, 9u << 16, 4); /* PTX 9.0 */
        builder_number(&body, n->target, 4);
        builder_number(&body, 0, 8);
        builder_number(&body, n->flags, 8);
        builder_number(&body, 0, 8);
        builder_number(&body, n->plain_bytes, 8);
        text_addn(&body, n->payload, n->payload_bytes);
        builder_number(&body, 0, padded - n->payload_bytes);
    }
    builder_number(out, 0xba55ed50, 4);
    builder_number(out, 1, 2);
    builder_number(out, 16, 2);
    builder_number(out, body.length, 8);
    text_addn(out, text_str(&body), body.length);
    text_release(&body);
}

struct builder_wrapper {
    uint32_t magic, version;
    const void *container;
    const void *unused;
};

/* A container with one plain PTX entry for compute_75. */
static inline void builder_plain(struct text *out, const char *ptx)
{
    struct builder_entry entry = {
        .kind = 1, .target = 75, .payload = ptx, .payload_bytes = (uint32_t)strlen(ptx)};
    builder_build(out, &entry, 1);
}

#endif
