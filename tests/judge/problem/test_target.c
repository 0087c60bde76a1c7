/* What is compiled for a card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/problem/target.h"

#include <string.h>

static void the_highest_that_a_card_runs(void **state)
{
    (void)state;
    static const struct {
        const char *least;
        unsigned capability;
        const char *target; /* NULL = the card is too old */
    } ROWS[] = {
        {"75", 75, "75"},   {"75", 80, "80"},   {"75", 86, "86"},  {"75", 90, "90"},
        {"75", 101, "100"}, {"75", 999, "121"}, {"75", 70, NULL},  {"90", 90, "90"},
        {"90", 89, NULL},   {"80", 75, NULL},   {"100", 90, NULL}, {"90", 120, "120"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *target = target_for_card(ROWS[i].least, ROWS[i].capability);
        if (ROWS[i].target ? !target || strcmp(target, ROWS[i].target) != 0 : target != NULL)
            fail_msg("%u with %s: %s", ROWS[i].capability, ROWS[i].least, target ? target : "none");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(the_highest_that_a_card_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
