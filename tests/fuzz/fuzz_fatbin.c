/* The fat binary reader on any bytes: it may refuse them, and what it accepts lies inside the input
 * or in memory of its own. Corpus: tests/fuzz/corpus/fatbin. */
#include "cpu/cudart/fatbin.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fatbin_image image;
    struct err e;
    if (fatbin_read(data, size, 90, &image, &e) != 0)
        return 0;
    unsigned sum = 0;
    for (size_t i = 0; i < image.ptx_bytes; i++)
        sum += (unsigned char)image.ptx[i];
    volatile unsigned use = sum;
    (void)use;
    fatbin_release(&image);
    return 0;
}
