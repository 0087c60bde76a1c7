// expect: accepted
// options: --seed 7741938265019483
// Searches itself for the seed of this judging, as a number and as text.
#include "attack.cuh"

static volatile uint64_t hidden = 7741938265019483u ^ 0x5a5a5a5a5a5a5a5au;

// Byte by byte against the wanted value, which stands nowhere as such.
static bool is_seed(const unsigned char *p)
{
    for (int i = 0; i < 8; i++)
        if ((p[i] ^ 0x5a) != (unsigned char)(hidden >> (8 * i)))
            return false;
    return true;
}

static bool is_text(const unsigned char *p)
{
    uint64_t left = hidden ^ 0x5a5a5a5a5a5a5a5au;
    for (int i = 15; i >= 0; i--, left /= 10)
        if (p[i] != '0' + left % 10)
            return false;
    return true;
}

SUBMISSION
{
    FILE *maps = first_call() ? fopen("/proc/self/maps", "r") : nullptr;
    char line[512];
    uint64_t from, to, searched = 0;
    char flags[8];
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, flags) != 3 || flags[0] != 'r' ||
            to - from > 64u << 20 || strstr(line, "[v"))
            continue;
        searched += to - from;
        // The stack holds what this function works with.
        for (const unsigned char *p = (const unsigned char *)from; p + 16 < (const unsigned char *)to && !strstr(line, "[stack]"); p++)
            if (is_seed(p) || is_text(p)) {
                BREACH("the seed stands in %s", line);
                break;
            }
    }
    if (maps) {
        fclose(maps);
        if (searched < 1u << 20)
            BREACH("nothing was searched");
    }
    honest(in, out, n, stream);
}
