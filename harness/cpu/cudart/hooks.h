/* hooks: the one function that this library exports beside the CUDA API. */
#ifndef CPU_CUDART_HOOKS_H
#define CPU_CUDART_HOOKS_H

#include "wire/wire.h"

/* The name is WIRE_HOOKS_SYMBOL. Static data; the functions may be called from any thread. */
__attribute__((visibility("default"))) const struct wire_device_hooks *scanjudge_device_hooks(void);

#endif
