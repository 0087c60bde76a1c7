/* fatbin: finds the PTX inside what nvcc embeds in a program, a "fat binary".
 *
 * A wrapper (magic 0x466243b1) points to a container (magic 0xba55ed50): a header and entries, each
 * with the PTX or the machine code for one target, plain, zstd- or LZ4-compressed. Machine code is
 * skipped; of several PTX entries the one that a card of the wanted compute capability would take
 * is chosen. The bytes are not trusted: every length is checked before it is followed.
 *
 * No globals; any thread. */
#ifndef CPU_CUDART_FATBIN_H
#define CPU_CUDART_FATBIN_H

#include "base/err.h"

#include <stddef.h>

enum { FATBIN_PTX_BYTES_MAX = 256 << 20 }; /* of one decompressed entry */

struct fatbin_image {
    const char *ptx; /* not NUL-terminated; inside the container, or `owned` */
    size_t ptx_bytes;
    unsigned target; /* 75 for compute_75 */
    char *owned;     /* the decompressed text, NULL if the entry was plain */
};

/* Reads a container of at most `length` bytes. The image may point into `bytes`, which must outlive
 * it. 0, or -1 with a sentence (no PTX in it: the sentence names the flag that adds some). */
int fatbin_read(const void *bytes, size_t length, unsigned wanted, struct fatbin_image *image,
                struct err *e);

/* The same for the wrapper that __cudaRegisterFatBinary receives. The container's length is what
 * its own header says. */
int fatbin_read_wrapper(const void *wrapper, unsigned wanted, struct fatbin_image *image,
                        struct err *e);

/* Only the target of the PTX that would be read; 0 = there is none. */
unsigned fatbin_wrapper_target(const void *wrapper, unsigned wanted);

void fatbin_release(struct fatbin_image *image);

#endif
