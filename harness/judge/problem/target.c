/* The table is targets.def. */
#include "judge/problem/target.h"

#include "base/names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const TARGETS[] = {
#define TARGET(name, who) name,
#include "judge/problem/targets.def"
#undef TARGET
};
enum { TARGET_COUNT = sizeof TARGETS / sizeof TARGETS[0] };

const char *target_default(void)
{
    return TARGETS[0];
}

const char *target_find(const char *text)
{
    size_t i = names_find(TARGETS, sizeof TARGETS[0], TARGET_COUNT, text, strlen(text));
    return i < TARGET_COUNT ? TARGETS[i] : NULL;
}

static unsigned number_of(const char *target)
{
    return (unsigned)strtoul(target, NULL, 10);
}

const char *target_for_card(const char *least, unsigned capability)
{
    const char *best = NULL;
    for (size_t i = 0; i < TARGET_COUNT; i++)
        if (number_of(TARGETS[i]) <= capability && number_of(TARGETS[i]) >= number_of(least) &&
            (!best || number_of(TARGETS[i]) > number_of(best)))
            best = TARGETS[i];
    return best;
}

const char *targets_allowed(void)
{
    static const char LIST[] =
#define TARGET(name, who) ", " name
#include "judge/problem/targets.def"
#undef TARGET
        ;
    return LIST + 2;
}
