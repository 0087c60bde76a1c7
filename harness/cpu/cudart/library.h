/* library: modules that the program loads itself, instead of what nvcc registered (register.c). */
#ifndef CPU_CUDART_LIBRARY_H
#define CPU_CUDART_LIBRARY_H

#include "cpu/cudart/runtime.h"

/* From a fat binary's wrapper, or with code = NULL from PTX text. Nothing of either is needed
 * afterwards. A failure has a finding. */
cudaError_t library_load(const void *code, const char *text, struct rt_module **out);
void library_unload(struct rt_module *m);
struct rt_function *library_kernels(const struct rt_module *m); /* a list, by `next` */
bool library_symbol(const struct rt_module *m, const char *name, uint64_t *address,
                    uint64_t *bytes);

#endif
