/* Asked between rounds: a query takes tens of microseconds and does not touch the card's work. */
#include "judge/clocks.h"

void clocks_open(struct clocks *c, const char *nvml, const char *card)
{
    *c = (struct clocks){.works = false};
    if (!card || nvml_open(nvml, &c->nvml, NULL) != 0)
        return;
    c->works =
        c->nvml.nvmlDeviceGetClockInfo && c->nvml.nvmlDeviceGetHandleByUUID(card, &c->device) == 0;
    if (!c->works)
        nvml_close(&c->nvml);
}

void clocks_close(struct clocks *c)
{
    if (c->works)
        nvml_close(&c->nvml);
    c->works = false;
}

void clocks_look(void *clocks, struct timing_clocks *seen)
{
    const struct clocks *c = clocks;
    unsigned sm = 0, memory = 0;
    unsigned long long reasons = 0;
    if (!c->works || c->nvml.nvmlDeviceGetClockInfo(c->device, NVML_CLOCK_SM, &sm) != 0 ||
        c->nvml.nvmlDeviceGetClockInfo(c->device, NVML_CLOCK_MEMORY, &memory) != 0)
        return;
    if (c->nvml.nvmlDeviceGetCurrentClocksThrottleReasons &&
        c->nvml.nvmlDeviceGetCurrentClocksThrottleReasons(c->device, &reasons) == 0)
        seen->throttle_reasons |= reasons;
    if (!seen->known || sm < seen->sm_mhz_low)
        seen->sm_mhz_low = sm;
    if (!seen->known || sm > seen->sm_mhz_high)
        seen->sm_mhz_high = sm;
    seen->memory_mhz = memory;
    seen->known = true;
    seen->samples++;
}

/* Idleness and the owner's own settings are no slowing down. */
static const struct {
    uint64_t bit;
    const char *name;
} THROTTLES[] = {
    {0x4, "power cap"},         {0x8, "hardware slowdown"},
    {0x10, "sync boost"},       {0x20, "software thermal slowdown"},
    {0x40, "hardware too hot"}, {0x80, "power brake"},
};

const char *clocks_throttled_by(uint64_t reasons, struct arena *arena)
{
    const char *names = NULL;
    for (size_t i = 0; i < sizeof THROTTLES / sizeof THROTTLES[0]; i++)
        if (reasons & THROTTLES[i].bit)
            names =
                names ? arena_printf(arena, "%s, %s", names, THROTTLES[i].name) : THROTTLES[i].name;
    return names;
}
