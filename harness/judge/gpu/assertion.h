/* assertion: what a card prints when a device assert fails -> the finding that the CPU device makes
 * of it. The runtime itself says no more than cudaErrorAssert. */
#ifndef JUDGE_GPU_ASSERTION_H
#define JUDGE_GPU_ASSERTION_H

#include "wire/wire.h"

/* The first assertion in `errors`, what a submission wrote to stderr (a claim), into `f`; its count
 * is how many threads failed at that line. false: there is none. */
bool assertion_read(const char *errors, struct wire_finding *f);

#endif
