/* profile_csv FILE...: the counters of every kernel in profiles that SCANJUDGE_PROFILE left, as
 * "kernel<tab>counter<tab>value" lines. */
#include "base/file.h"
#include "wire/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int print_kernels(const char *path)
{
    static struct wire_profile p;
    struct text bytes;
    struct err e;
    text_init(&bytes);
    int status = file_read(path, sizeof p, &bytes, &e);
    if (status == 0 && bytes.length == sizeof p)
        memcpy(&p, bytes.data, sizeof p);
    if (status != 0 || bytes.length != sizeof p || !wire_profile_validate(&p)) {
        fprintf(stderr, "%s is no profile\n", path);
        status = -1;
    }
    for (uint32_t k = 0; status == 0 && k < p.kernel_count; k++)
        for (int c = 0; c < COUNTER_COUNT; c++) {
            uint64_t sum = 0;
            for (uint32_t l = 0; l < p.line_count; l++)
                if (p.lines[l].kernel == k)
                    sum += p.lines[l].counters.value[c];
            printf("%s\t%s\t%" PRIu64 "\n", p.kernels[k].name, counter_name((enum counter)c), sum);
        }
    text_release(&bytes);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++)
        status |= print_kernels(argv[i]);
    return status ? 1 : 0;
}
