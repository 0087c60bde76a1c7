/* One function per STUB row of api.def. This file does not see CUDA's headers: a stub takes no
 * argument whatever the real function takes, which is fine for a C caller, and returns a number. */
#include "cpu/cudart/stubs.h"

enum reason {
#define REASON(id, sentence) id,
#include "cpu/cudart/stub_reasons.def"
#undef REASON
};

static const char *const reasons[] = {
#define REASON(id, sentence) sentence,
#include "cpu/cudart/stub_reasons.def"
#undef REASON
};

#define BODY(name)
#define STUB(name, reason)                                                                         \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        static bool told;                                                                          \
        return rt_not_supported(#name, reasons[reason], &told);                                    \
    }
#include "cpu/cudart/api.def"
