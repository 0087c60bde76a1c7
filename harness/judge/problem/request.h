/* request: what the box is asked to do for one case.
 *
 * Lays the buffers out in the two regions and derives the seeds of each pass. A seed that enters
 * the box is a one-way function of the judging's seed, which never does. */
#ifndef JUDGE_PROBLEM_REQUEST_H
#define JUDGE_PROBLEM_REQUEST_H

#include "judge/problem/problem.h"
#include "wire/wire.h"

/* Fills everything but the device and the poison seed: kinds, sizes, offsets, scalars. */
void request_init(struct wire_request *request, const struct case_data *data);

/* The seed of one purpose ("poison", "schedule") in one pass of one case. */
uint64_t request_seed(const struct case_data *data, unsigned pass, const char *purpose);

#endif
