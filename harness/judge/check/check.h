/* check: is the answer right, and how is it wrong.
 *
 * Works on what came back from the box: guards first, then inputs, then every element of every
 * output. NaN never passes by accident. A mismatch is explained in scan terms where the pattern
 * allows it; a diagnosis is worded as what the pattern shows, never as a guess stated as a fact. */
#ifndef JUDGE_CHECK_CHECK_H
#define JUDGE_CHECK_CHECK_H

#include "base/arena.h"
#include "judge/problem/problem.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct check_mismatch {
    const char *output;         /* parameter name, NULL = none */
    uint64_t index;             /* first wrong element */
    const char *expected, *got; /* printed so that they differ */
    uint64_t count;             /* wrong elements in that output */
};

enum { CHECK_FINDINGS_MAX = 8 };

struct check_result {
    bool ok; /* no mismatch and no finding of severity error */
    struct check_mismatch mismatch;
    const char *diagnosis;                            /* NULL = none */
    struct wire_finding findings[CHECK_FINDINGS_MAX]; /* guard_overwritten, input_changed ... */
    unsigned finding_count;
};

/* `outputs` is the outputs region as described by `request` (wire_param.out_offset); `data` holds
 * inputs and expected answers. Strings live in `arena`. */
void check_case(const struct case_data *data, const struct wire_request *request,
                const uint8_t *outputs, struct arena *arena, struct check_result *result);

/* The same for outputs and what lies around them alone: of inputs nothing came back. */
void check_written(const struct case_data *data, const struct wire_request *request,
                   const uint8_t *outputs, struct arena *arena, struct check_result *result);

/* Is part `part` of `parts` of the outputs, and of what must be left alone, byte for byte as
 * expected? All parts together cover everything that check_written() looks at, so that several
 * threads can share a large case. false: check_written() knows whether it is wrong, and how. */
bool check_part(const struct case_data *data, const struct wire_request *request,
                const uint8_t *outputs, unsigned part, unsigned parts);

/* Do two passes of the same case hold the same outputs (as far as they are compared)? Used to say
 * "different on every run". */
bool check_same_outputs(const struct case_data *data, const struct wire_request *request,
                        const uint8_t *a, const uint8_t *b);

#endif
