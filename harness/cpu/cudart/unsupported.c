/* The part of the stubs that needs CUDA's types. */
#include "cpu/cudart/runtime.h"
#include "cpu/cudart/stubs.h"

int rt_not_supported(const char *name, const char *reason, bool *told)
{
    cudaError_t error = rt_enter_even_if_faulty();
    if (error == cudaSuccess && !*told) {
        *told = true;
        rt_report(FINDING_unsupported, WIRE_ERROR, NULL, "%s: %s", name, reason);
    }
    return (int)rt_leave(cudaErrorNotSupported);
}
