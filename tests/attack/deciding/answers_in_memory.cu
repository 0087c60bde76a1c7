// expect: accepted
// Searches itself for the expected answer of the known case before anything is computed.
#include "attack.cuh"

// {0, 3, 4, 11, 11, 15, 16, 22}, hidden from its own search.
static volatile int hidden[8] = {~0, ~3, ~4, ~11, ~11, ~15, ~16, ~22};

SUBMISSION
{
    FILE *maps = first_call() && n == 8 ? fopen("/proc/self/maps", "r") : nullptr;
    char line[512], flags[8];
    uint64_t from, to;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, flags) != 3 || flags[0] != 'r' ||
            to - from > 64u << 20 || strstr(line, "[v"))
            continue;
        for (const int *p = (const int *)from; p + 8 <= (const int *)to; p++) {
            int same = 0;
            while (same < 8 && p[same] == ~hidden[same])
                same++;
            if (same == 8) {
                BREACH("the answer stands in %s", line);
                break;
            }
        }
    }
    if (maps)
        fclose(maps);
    honest(in, out, n, stream);
}
