/* validate: replies as a box may make them up. The rest of judge/run is tested with a runner, in
 * tests/runner. */
#include "base/rng.h"
#include "judge/run/validate.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct wire_reply good(enum wire_status status)
{
    struct wire_reply r = {.magic = WIRE_MAGIC, .status = status, .finding_count = 2};
    r.signal = status == WIRE_CRASHED ? SIGSEGV : 0;
    for (int i = 0; i < 2; i++)
        r.findings[i] = (struct wire_finding){.kind = FINDING_data_race,
                                              .severity = WIRE_ERROR,
                                              .block = {-1, -1, -1},
                                              .thread = {0, 1, 2}};
    return r;
}

static void test_each_answer_fits_its_question(void **state)
{
    (void)state;
    static const struct {
        enum wire_status status;
        bool loading, running;
    } ROWS[] = {
        {WIRE_READY, true, false},  {WIRE_LOAD_FAILED, true, false},
        {WIRE_DONE, false, true},   {WIRE_CUDA_ERROR, false, true},
        {WIRE_CRASHED, true, true}, {WIRE_BAD_REQUEST, false, true},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct wire_reply r = good(ROWS[i].status);
        assert_int_equal(validate_reply(&r, true), ROWS[i].loading);
        assert_int_equal(validate_reply(&r, false), ROWS[i].running);
    }
}

static void test_what_is_out_of_range(void **state)
{
    (void)state;
    struct wire_reply r = good(WIRE_DONE);
    assert_true(validate_reply(&r, false));
    r.signal = SIGSEGV; /* nothing crashed */
    assert_false(validate_reply(&r, false));
    r = good(WIRE_CRASHED);
    r.signal = 0;
    assert_false(validate_reply(&r, false));
    r.signal = -1;
    assert_false(validate_reply(&r, false));
    r = good(WIRE_DONE);
    r.finding_count = WIRE_FINDINGS_MAX + 1;
    assert_false(validate_reply(&r, false));
    r = good(WIRE_DONE);
    r.findings[1].block[2] = -2;
    assert_false(validate_reply(&r, false));
    r = good(WIRE_DONE);
    r.findings[2].kind = UINT16_MAX; /* beyond the count: nobody reads it */
    assert_true(validate_reply(&r, false));
    r = good(WIRE_DONE);
    memset(r.findings[1].kernel, 'k', sizeof r.findings[1].kernel);
    assert_false(validate_reply(&r, false));
    r = good(WIRE_DONE);
    memcpy(r.findings[0].message, "a\033[31m", 6);
    assert_true(validate_reply(&r, false));
    assert_string_equal(r.findings[0].message, "a?[31m");
}

/* Noise behind a right magic: never accepted with anything out of range (asan and ubsan watch). */
static void test_noise(void **state)
{
    (void)state;
    static struct wire_reply r;
    unsigned accepted = 0;
    for (uint64_t round = 0; round < 2000; round++) {
        uint64_t key = rng_key(1, round);
        uint8_t *bytes = (uint8_t *)&r;
        r = good((enum wire_status)(round % 6));
        for (unsigned i = 0; i < round % 40; i++)
            bytes[rng_below(key, 2 * (uint64_t)i, sizeof r)] =
                (uint8_t)rng_at(key, 2 * (uint64_t)i + 1);
        if (!validate_reply(&r, round % 2))
            continue;
        accepted++;
        assert_int_equal(r.magic, WIRE_MAGIC);
        assert_true(r.finding_count <= WIRE_FINDINGS_MAX);
        assert_true(strlen(r.message) < sizeof r.message);
        for (uint32_t i = 0; i < r.finding_count; i++)
            assert_true(r.findings[i].kind < FINDING_COUNT &&
                        strlen(r.findings[i].file) < sizeof r.findings[i].file);
    }
    assert_true(accepted > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_answer_fits_its_question),
        cmocka_unit_test(test_what_is_out_of_range),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
