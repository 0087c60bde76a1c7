/* trace: what every thread read and wrote, for runs so small that a person can look at all of it.
 *
 * The device fills one block (WIRE_CHECK_TRACE): tables, then a record per lane and element. It
 * travels as a profile does, see wire/profile.h. When the records run out, the rest is only
 * counted. */
#ifndef WIRE_TRACE_H
#define WIRE_TRACE_H

#include "wire/wire.h"

enum {
    WIRE_TRACE_MAGIC = 0x736a7431, /* "sjt1" */
    WIRE_TRACE_KERNELS = 32,
    WIRE_TRACE_FILES = 16,
    WIRE_TRACE_SITES = 1024,
    WIRE_TRACE_BUFFERS = 64,
    WIRE_TRACE_LAUNCHES = 64,
    WIRE_TRACE_RECORDS = 1 << 17,
};

enum wire_trace_kind { WIRE_TRACE_READ, WIRE_TRACE_WRITE, WIRE_TRACE_ATOMIC, WIRE_TRACE_KINDS };

struct wire_trace_site { /* a source line */
    uint32_t file, line;
};

struct wire_trace_buffer {
    char name[WIRE_NAME_BYTES]; /* of a parameter or variable, "" = none */
    uint64_t bytes;
    uint32_t shared; /* 1: every block has its own */
    uint32_t kernel; /* whose, if shared */
};

struct wire_trace_launch {
    uint32_t kernel;
    uint32_t grid[3], block[3];
};

struct wire_trace_record {  /* one lane, one element */
    uint32_t launch, block; /* block: linear in its grid */
    uint32_t phase;         /* barriers of the whole block that came before */
    uint32_t request;       /* counts warp-wide accesses: lanes with one number act together */
    uint16_t warp, site, buffer;
    uint8_t lane, kind; /* enum wire_trace_kind */
    uint8_t bytes;      /* of the element: 1, 2, 4 or 8 */
    uint8_t is_float;   /* the instruction says so */
    uint8_t has_old;    /* atomics whose result is used */
    uint8_t unused[5];
    uint64_t offset;     /* in the buffer, in bytes */
    uint64_t value, old; /* zero-extended bits; of an atomic: after the whole request, and before */
};

struct wire_trace {
    uint32_t magic, kernel_count, file_count, site_count, buffer_count, launch_count;
    uint64_t record_count, lost; /* lost: records that did not fit */
    char kernels[WIRE_TRACE_KERNELS][128];
    char files[WIRE_TRACE_FILES][192]; /* base names; files[0] = "" */
    struct wire_trace_site sites[WIRE_TRACE_SITES];
    struct wire_trace_buffer buffers[WIRE_TRACE_BUFFERS];
    struct wire_trace_launch launches[WIRE_TRACE_LAUNCHES];
    struct wire_trace_record records[];
};

#define WIRE_TRACE_BYTES                                                                           \
    (sizeof(struct wire_trace) + WIRE_TRACE_RECORDS * sizeof(struct wire_trace_record))

/* Are these `bytes` bytes one, with every count and index in range and every string ended? Makes
 * the strings printable. */
bool wire_trace_validate(struct wire_trace *trace, size_t bytes);

#endif
