/* The management library of cards that do not exist, for tests: $FAKE_NVML is "UUID;name;9.0;MiB"
 * per card, with | between cards; "broken" makes nvmlInit fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { CARDS_MAX = 8, INVALID = 2, UNKNOWN = 999 };

struct fake_card {
    char uuid[96], name[96];
    int major, minor;
    unsigned mebibytes;
};
static struct fake_card cards[CARDS_MAX];
static unsigned count;

struct memory {
    unsigned long long total, free, used;
};

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned bytes);
EXPORT int nvmlDeviceGetCount_v2(unsigned *number);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
EXPORT int nvmlDeviceGetName(const struct fake_card *card, char *name, unsigned bytes);
EXPORT int nvmlDeviceGetUUID(const struct fake_card *card, char *uuid, unsigned bytes);
EXPORT int nvmlDeviceGetCudaComputeCapability(const struct fake_card *card, int *major, int *minor);
EXPORT int nvmlDeviceGetMemoryInfo(const struct fake_card *card, struct memory *memory);
EXPORT int nvmlDeviceGetClockInfo(const struct fake_card *card, unsigned clock, unsigned *mhz);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const struct fake_card *card,
                                                     unsigned long long *reasons);

int nvmlInit_v2(void)
{
    const char *all = getenv("FAKE_NVML");
    count = 0;
    if (all && strcmp(all, "broken") == 0)
        return UNKNOWN;
    while (all && *all && count < CARDS_MAX) {
        struct fake_card *c = &cards[count];
        if (sscanf(all, "%95[^;];%95[^;];%d.%d;%u", c->uuid, c->name, &c->major, &c->minor,
                   &c->mebibytes) != 5)
            return UNKNOWN;
        count++;
        all += strcspn(all, "|");
        all += *all == '|';
    }
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned bytes)
{
    return snprintf(version, bytes, "999.1") < (int)bytes ? 0 : INVALID;
}

int nvmlDeviceGetCount_v2(unsigned *number)
{
    *number = count;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= count)
        return INVALID;
    *device = &cards[index];
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(cards[i].uuid, uuid) == 0) {
            *device = &cards[i];
            return 0;
        }
    return INVALID;
}

int nvmlDeviceGetName(const struct fake_card *card, char *name, unsigned bytes)
{
    return snprintf(name, bytes, "%s", card->name) < (int)bytes ? 0 : INVALID;
}

int nvmlDeviceGetUUID(const struct fake_card *card, char *uuid, unsigned bytes)
{
    return snprintf(uuid, bytes, "%s", card->uuid) < (int)bytes ? 0 : INVALID;
}

int nvmlDeviceGetCudaComputeCapability(const struct fake_card *card, int *major, int *minor)
{
    *major = card->major;
    *minor = card->minor;
    return 0;
}

int nvmlDeviceGetMemoryInfo(const struct fake_card *card, struct memory *memory)
{
    memory->total = memory->free = (unsigned long long)card->mebibytes << 20;
    memory->used = 0;
    return 0;
}

/* The SM clock falls from question to question, as under a power cap. */
int nvmlDeviceGetClockInfo(const struct fake_card *card, unsigned clock, unsigned *mhz)
{
    enum { CLOCK_SM = 1, HIGHEST = 1980, LOWEST = 1755, STEP = 15 };
    static unsigned sm = HIGHEST;
    (void)card;
    *mhz = clock == CLOCK_SM ? sm : 2619;
    if (clock == CLOCK_SM && sm > LOWEST)
        sm -= STEP;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(const struct fake_card *card,
                                              unsigned long long *reasons)
{
    (void)card;
    *reasons = 0x4 | 0x1; /* the power cap; and idle, which is no reason */
    return 0;
}
