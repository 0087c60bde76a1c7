/* The sentences are rows of refusals.def. */
#include "cpu/vm/refuse.h"

#include <stddef.h>
#include <string.h>

const char *vm_refusal(const char *text)
{
    static const struct {
        const char *part, *why;
    } REFUSALS[] = {
#define REFUSAL(part, why) {part, why},
#include "cpu/vm/refusals.def"
#undef REFUSAL
    };
    for (size_t k = 0; k < sizeof REFUSALS / sizeof *REFUSALS; k++) {
        const char *part = REFUSALS[k].part, *at = strstr(text, part + (*part == '^'));
        if (at && (*part != '^' || at == text))
            return REFUSALS[k].why;
    }
    return NULL;
}
