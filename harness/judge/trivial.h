/* trivial: answers that no problem may accept, whatever its spec says.
 *
 * A check that cannot fail is worth nothing. Each kind of answer (trivials.def) is written where a
 * submission would write it and checked like one, on the small cases of a problem. */
#ifndef JUDGE_TRIVIAL_H
#define JUDGE_TRIVIAL_H

#include "judge/answers.h"
#include "judge/problem/problem.h"

enum trivial {
#define TRIVIAL(id, people) TRIVIAL_##id,
#include "judge/trivials.def"
#undef TRIVIAL
    TRIVIAL_COUNT
};

struct trivial_tally {
    unsigned cases;         /* in which there is something to answer */
    unsigned passed;        /* of those: where the trivial answer was taken for right */
    unsigned larger_passed; /* of those: with more than 32 elements of output */
    const char *example;    /* name of one that passed */
};

const char *trivial_for_people(enum trivial t);

/* Who else has to agree that an answer is right: the problem's checker. NULL = nobody. */
struct trivial_judge {
    bool (*accepts)(void *context, const struct case_data *data, const struct wire_request *request,
                    const uint8_t *outputs);
    void *context;
};

/* Runs one kind of answer through the cases whose right answers are kept; they are those of `seed`.
 */
void trivial_try(const struct problem *p, const struct answers *answers, enum trivial t,
                 uint64_t seed, const struct trivial_judge *judge, struct trivial_tally *tally);

#endif
