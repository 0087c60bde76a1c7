/* One function per STUB row of api.def. This file does not see CUDA's headers: a stub takes no
 * argument whatever the real function takes, which is fine for a C caller, and returns a number. */
#include "cpu/cudart/stubs.h"

#define BODY(name)
#define STUB(name)                                                                                 \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        static bool told;                                                                          \
        return rt_not_supported(#name, &told);                                                     \
    }
#include "cpu/cudart/api.def"
