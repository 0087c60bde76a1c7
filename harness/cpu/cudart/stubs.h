/* stubs: what the API functions without a body do. */
#ifndef CPU_CUDART_STUBS_H
#define CPU_CUDART_STUBS_H

#include <stdbool.h>

/* Returns cudaErrorNotSupported, which becomes the last error. The first call of a name, for which
 * `*told` is false, also adds a finding that names it and says why. */
int rt_not_supported(const char *name, const char *reason, bool *told);

#endif
