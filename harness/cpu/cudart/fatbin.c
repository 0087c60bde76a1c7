/* The layout, all numbers little-endian, found by looking at what nvcc 11 to 13 write:
 *
 *   wrapper    u32 magic, u32 version, pointer to the container, pointer (unused)
 *   container  u32 magic, u16 version, u16 header bytes, u64 bytes after the header
 *   entry      u16 kind (1 PTX, 2 machine code), u16 version, u32 header bytes,
 *              u64 payload bytes (padded), u32 compressed bytes (0 = plain), u32,
 *              u16 PTX minor, u16 PTX major, u32 target, u32 name offset, u32 name bytes,
 *              u64 flags, u64, u64 decompressed bytes, options; then the payload
 *
 * Reading walks the entries once, remembers the best PTX entry and decompresses only that one. */
#include "cpu/cudart/fatbin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    WRAPPER_MAGIC = 0x466243b1,
    CONTAINER_HEADER_BYTES = 16,
    ENTRY_HEADER_LEAST = 64,
    KIND_PTX = 1,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
};
#define CONTAINER_MAGIC 0xba55ed50u

#define HOW_TO_ADD_PTX "compile with -gencode arch=compute_75,code=compute_75"

struct entry {
    const uint8_t *payload;
    uint64_t stored_bytes; /* of the payload, padding included */
    uint64_t flags, plain_bytes;
    uint32_t kind, compressed_bytes, target;
};

static uint64_t little(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* Reads the entry at the front of [at, at + left); returns its whole size, 0 = it does not fit. */
static uint64_t read_entry(const uint8_t *at, uint64_t left, struct entry *entry)
{
    if (left < ENTRY_HEADER_LEAST)
        return 0;
    uint64_t header_bytes = little(at + 4, 4);
    uint64_t payload_bytes = little(at + 8, 8);
    if (header_bytes < ENTRY_HEADER_LEAST || header_bytes > left)
        return 0;
    if (payload_bytes > left - header_bytes)
        return 0;
    *entry = (struct entry){
        .payload = at + header_bytes,
        .stored_bytes = payload_bytes,
        .kind = (uint32_t)little(at, 2),
        .compressed_bytes = (uint32_t)little(at + 16, 4),
        .target = (uint32_t)little(at + 28, 4),
        .flags = little(at + 40, 8),
        .plain_bytes = little(at + 56, 8),
    };
    return header_bytes + payload_bytes;
}

/* A card takes the newest PTX that is not newer than itself. This device also runs what is newer,
 * so that comes last, the oldest of it first. */
static bool is_better(uint32_t target, uint32_t than, unsigned wanted)
{
    if ((target <= wanted) != (than <= wanted))
        return target <= wanted;
    return target <= wanted ? target > than : target < than;
}

/* An LZ4 block (Collet, "LZ4 Block Format Description"): sequences of a token, literals and a match
 * in the text so far. Returns false unless it yields exactly `to_bytes`. */
static bool lz4_decompress(const uint8_t *from, size_t from_bytes, char *to, size_t to_bytes)
{
    size_t in = 0, out = 0;
    while (in < from_bytes) {
        unsigned token = from[in++];
        size_t literals = token >> 4;
        for (unsigned more = 255; literals >= 15 && more == 255; literals += more) {
            if (in == from_bytes)
                return false;
            more = from[in++];
        }
        if (literals > from_bytes - in || literals > to_bytes - out)
            return false;
        memcpy(to + out, from + in, literals);
        in += literals;
        out += literals;
        if (in == from_bytes)
            break; /* the last sequence has no match */
        if (from_bytes - in < 2)
            return false;
        size_t distance = little(from + in, 2);
        in += 2;
        size_t match = token & 15;
        for (unsigned more = 255; match >= 15 && more == 255; match += more) {
            if (in == from_bytes)
                return false;
            more = from[in++];
        }
        match += 4;
        if (distance == 0 || distance > out || match > to_bytes - out)
            return false;
        for (size_t i = 0; i < match; i++, out++)
            to[out] = to[out - distance];
    }
    return out == to_bytes;
}

static bool is_zstd(const struct entry *entry)
{
    return entry->compressed_bytes >= 4 && little(entry->payload, 4) == ZSTD_MAGICNUMBER;
}

static int decompress(const struct entry *entry, struct fatbin_image *image, struct err *e)
{
    uint64_t from_bytes = entry->compressed_bytes;
    if (from_bytes > entry->stored_bytes)
        return err_set(e, "fat binary: the compressed PTX is cut off after %llu of %llu bytes",
                       (unsigned long long)entry->stored_bytes, (unsigned long long)from_bytes);
    if (!is_zstd(entry) && !(entry->flags & FLAG_LZ4))
        return err_set(
            e,
            "fat binary: the PTX is compressed in an unknown way (flags 0x%llx); compile "
            "with nvcc --no-compress",
            (unsigned long long)entry->flags);
    if (entry->plain_bytes == 0 || entry->plain_bytes > FATBIN_PTX_BYTES_MAX)
        return err_set(e, "fat binary: PTX of %llu bytes; 1 to %d are possible",
                       (unsigned long long)entry->plain_bytes, FATBIN_PTX_BYTES_MAX);
    size_t to_bytes = (size_t)entry->plain_bytes;
    char *to = malloc(to_bytes);
    if (!to)
        return err_set(e, "fat binary: no memory for %zu bytes of PTX", to_bytes);
    bool right;
    if (is_zstd(entry))
        right = ZSTD_decompress(to, to_bytes, entry->payload, (size_t)from_bytes) == to_bytes;
    else
        right = lz4_decompress(entry->payload, (size_t)from_bytes, to, to_bytes);
    if (!right) {
        free(to);
        return err_set(e, "fat binary: the compressed PTX is damaged");
    }
    image->ptx = image->owned = to;
    image->ptx_bytes = to_bytes;
    return 0;
}

/* The entry with PTX that a card of compute capability `wanted` would take. */
static int choose(const void *bytes, size_t length, unsigned wanted, struct entry *chosen,
                  struct err *e)
{
    const uint8_t *at = bytes;
    if (length < CONTAINER_HEADER_BYTES || little(at, 4) != CONTAINER_MAGIC)
        return err_set(e, "fat binary: it does not begin with the magic number 0x%08x",
                       CONTAINER_MAGIC);
    uint64_t header_bytes = little(at + 6, 2);
    uint64_t body_bytes = little(at + 8, 8);
    if (header_bytes < CONTAINER_HEADER_BYTES || header_bytes > length ||
        body_bytes > length - header_bytes)
        return err_set(e, "fat binary: it claims %llu bytes and has %zu",
                       (unsigned long long)body_bytes, length);

    struct entry best = {0};
    unsigned others = 0;
    for (uint64_t done = 0; done < body_bytes;) {
        struct entry entry;
        uint64_t size = read_entry(at + header_bytes + done, body_bytes - done, &entry);
        if (size == 0)
            return err_set(e, "fat binary: the entry at byte %zu does not fit into it",
                           (size_t)header_bytes + (size_t)done);
        done += size;
        if (entry.kind != KIND_PTX)
            others++;
        else if (best.kind != KIND_PTX || is_better(entry.target, best.target, wanted))
            best = entry;
    }
    if (best.kind != KIND_PTX)
        return err_set(e, "the program has %s and no PTX, which the CPU device needs: %s",
                       others ? "machine code only" : "no device code", HOW_TO_ADD_PTX);
    *chosen = best;
    return 0;
}

int fatbin_read(const void *bytes, size_t length, unsigned wanted, struct fatbin_image *image,
                struct err *e)
{
    struct entry best;
    *image = (struct fatbin_image){0};
    if (choose(bytes, length, wanted, &best, e) != 0)
        return -1;
    image->target = best.target;
    if (best.compressed_bytes > 0)
        return decompress(&best, image, e);
    image->ptx = (const char *)best.payload;
    image->ptx_bytes = (size_t)best.stored_bytes;
    return 0;
}

/* The container that a wrapper points to. */
static int unwrap(const void *wrapper, const uint8_t **container, size_t *container_bytes,
                  struct err *e)
{
    struct {
        uint32_t magic, version;
        const uint8_t *container;
        const void *unused;
    } w;
    if (!wrapper)
        return err_set(e, "fat binary: the wrapper is NULL");
    memcpy(&w, wrapper, sizeof w);
    if (w.magic != WRAPPER_MAGIC)
        return err_set(e, "fat binary: the wrapper has the magic number 0x%08x instead of 0x%08x",
                       w.magic, (unsigned)WRAPPER_MAGIC);
    if (w.version != 1 && w.version != 2)
        return err_set(e, "fat binary: a wrapper of version %u; 1 and 2 are known", w.version);
    if (!w.container || little(w.container, 4) != CONTAINER_MAGIC)
        return err_set(e, "fat binary: the wrapper does not point to one");
    uint64_t length = little(w.container + 6, 2) + little(w.container + 8, 8);
    if (length > SIZE_MAX / 2)
        return err_set(e, "fat binary: it claims %llu bytes", (unsigned long long)length);
    if (w.version == 2 && length == CONTAINER_HEADER_BYTES)
        return err_set(e,
                       "the program was built with relocatable device code, which the CPU device "
                       "cannot link: compile without -rdc=true (-dc)");
    *container = w.container;
    *container_bytes = (size_t)length;
    return 0;
}

int fatbin_read_wrapper(const void *wrapper, unsigned wanted, struct fatbin_image *image,
                        struct err *e)
{
    const uint8_t *container = NULL;
    size_t bytes = 0;
    *image = (struct fatbin_image){0};
    if (unwrap(wrapper, &container, &bytes, e) != 0)
        return -1;
    return fatbin_read(container, bytes, wanted, image, e);
}

unsigned fatbin_wrapper_target(const void *wrapper, unsigned wanted)
{
    const uint8_t *container = NULL;
    size_t bytes = 0;
    struct entry entry = {0};
    struct err e;
    if (unwrap(wrapper, &container, &bytes, &e) != 0 ||
        choose(container, bytes, wanted, &entry, &e) != 0)
        return 0;
    return entry.target;
}

void fatbin_release(struct fatbin_image *image)
{
    free(image->owned);
    *image = (struct fatbin_image){0};
}
