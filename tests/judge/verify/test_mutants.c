/* How many mutants must be caught: all were judged, or a sample of them. */
#include "judge/verify/mutants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct row {
    unsigned caught, survived, faults;
    bool all, enough;
} ROWS[] = {
    {98, 2, 0, true, true},   {97, 3, 0, true, false},
    {15, 0, 0, true, true},   {14, 1, 0, true, false}, /* 93.3% */
    {15, 0, 0, false, true},  {14, 1, 0, false, true},
    {13, 2, 0, false, true},  /* 3.5% of samples are so bad where 98% are caught */
    {12, 3, 0, false, false}, /* 0.3% */
    {0, 15, 0, false, false}, {0, 0, 0, true, false},
    {0, 0, 0, false, false},  {15, 0, 1, false, false},
    {98, 0, 1, true, false},
};

static void enough_are_caught(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct mutant_tally tally = {.judged = ROWS[i].caught + ROWS[i].survived,
                                           .caught = ROWS[i].caught,
                                           .survived = ROWS[i].survived,
                                           .faults = ROWS[i].faults};
        if (mutants_are_enough(&tally, ROWS[i].all) != ROWS[i].enough)
            fail_msg("%u caught, %u survived, %s", ROWS[i].caught, ROWS[i].survived,
                     ROWS[i].all ? "all of them" : "a sample");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(enough_are_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
