/* What the API tests expect of errors and findings. */
#ifndef TESTS_CPU_CUDART_EXPECT_H
#define TESTS_CPU_CUDART_EXPECT_H

#include "cpu/cudart/hooks.h"
#include "device_program.h"

enum { FINDINGS = 64 };

/* Starts a test with no findings and no last error. */
static inline int fresh(void **state)
{
    (void)state;
    struct wire_device_config config = {.checks = WIRE_CHECK_DEFAULT};
    scanjudge_device_hooks()->configure(&config);
    cudaGetLastError();
    return 0;
}

/* There is a finding of this kind whose sentence has `part` in it. */
static inline void expect_finding(enum finding_kind kind, const char *part)
{
    static struct wire_finding all[FINDINGS];
    size_t count = scanjudge_device_hooks()->findings(all, FINDINGS);
    for (size_t i = 0; i < count && i < FINDINGS; i++)
        if (all[i].kind == (uint16_t)kind && strstr(all[i].message, part))
            return;
    for (size_t i = 0; i < count && i < FINDINGS; i++)
        print_message("  %s: %s\n", finding_name((enum finding_kind)all[i].kind), all[i].message);
    fail_msg("no finding says \"%s\"", part);
}

/* The error comes back, stays for cudaPeekAtLastError and goes with cudaGetLastError. */
static inline void expect_error(cudaError_t got, cudaError_t wanted)
{
    assert_string_equal(cudaGetErrorName(got), cudaGetErrorName(wanted));
    assert_int_equal(cudaPeekAtLastError(), wanted);
    assert_int_equal(cudaGetLastError(), wanted);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

#endif
