/* cross: times as honest programs have them, and as each trick leaves them. */
#include "judge/timing/cross.h"
#include "judge/timing/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 12, WARM_UPS = 3 };

struct times {
    double event[ROUNDS], window[ROUNDS], judge[ROUNDS], warm_up[WARM_UPS];
    struct cross_series series;
};

/* A call of `ms`, its outputs copied aside in 0.1 ms, 0.12 ms for messages; with a little noise. */
static void honest(struct times *t, double ms)
{
    for (int i = 0; i < ROUNDS; i++) {
        double noise = 0.002 * (i % 5);
        t->event[i] = ms + noise;
        t->window[i] = t->event[i] + 0.1;
        t->judge[i] = t->window[i] + 0.12 + noise;
    }
    for (int i = 0; i < WARM_UPS; i++)
        t->warm_up[i] = ms + (i ? 0.01 : 5); /* the first one loads code */
    t->series =
        (struct cross_series){t->event, t->window, t->judge, ROUNDS, t->warm_up, WARM_UPS, 0};
}

/* 512 MB in 0.15 ms by a copy: 3413 GB/s. */
static const struct cross_card CARD = {.gap_ms = 0.12,
                                       .gap_deviation_ms = 0.003,
                                       .aside_ms = 0.1,
                                       .copy_ms = 0.15,
                                       .gb_per_s = 3413,
                                       .bytes = 512000000};

/* The one finding of these times; FINDING_COUNT = none. More than one is a failure. */
static enum finding_kind finding_of(const struct times *t, double median_ms)
{
    struct wire_finding findings[CROSS_FINDINGS_MAX];
    unsigned count = cross_check(&t->series, &CARD, median_ms, findings);
    assert_true(count <= 1);
    if (count == 0)
        return FINDING_COUNT;
    assert_int_equal(findings[0].severity, WIRE_WARNING);
    assert_true(strlen(findings[0].message) > 20);
    return (enum finding_kind)findings[0].kind;
}

static void test_honest_times(void **state)
{
    (void)state;
    static const double MS[] = {0.15, 0.16, 0.2, 1, 30, 5000};
    for (size_t i = 0; i < sizeof MS / sizeof MS[0]; i++) {
        struct times t;
        honest(&t, MS[i]);
        if (finding_of(&t, MS[i]) != FINDING_COUNT)
            fail_msg("%g ms is honest", MS[i]);
    }
}

static void test_a_card_may_beat_its_copy_a_little(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 0.14);
    assert_int_equal(finding_of(&t, 0.14), FINDING_COUNT);
}

static void test_events_that_leave_work_out(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    for (int i = 0; i < ROUNDS; i++)
        t.judge[i] += 0.5; /* on a stream of its own */
    assert_int_equal(finding_of(&t, 1), FINDING_timer_mismatch);
}

static void test_a_patched_timer(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 2);
    for (int i = 0; i < ROUNDS; i++) {
        t.event[i] /= 10;
        t.window[i] /= 10;
    }
    for (int i = 0; i < WARM_UPS; i++)
        t.warm_up[i] /= 10;
    assert_int_equal(finding_of(&t, 2), FINDING_timer_mismatch); /* 2 ms: by the judge's clock */
}

/* Something that holds the stream up until the work is done elsewhere, after the second event. */
static void test_work_behind_the_event(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    for (int i = 0; i < ROUNDS; i++) {
        t.window[i] += 1;
        t.judge[i] += 1;
    }
    assert_int_equal(finding_of(&t, 1), FINDING_timer_mismatch);
}

static void test_more_than_the_judge_saw(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    for (int i = 0; i < ROUNDS; i++)
        t.judge[i] = t.window[i] - 0.2;
    assert_int_equal(finding_of(&t, 1), FINDING_timer_mismatch);
}

static void test_faster_than_memory(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 0.05);
    assert_int_equal(finding_of(&t, 0.05), FINDING_impossible_time);
}

/* 8 MB in 0.007 ms, when no copy was faster than 950 GB/s yet: what the card can move is known at
 * the end. */
static void test_what_the_card_moves_is_known_at_the_end(void **state)
{
    (void)state;
    static const double BEST[] = {4200, 950};
    for (int i = 0; i < 2; i++) {
        struct arena arena;
        struct times t;
        honest(&t, 0.007);
        struct timing_series out = {.median_ms = 0.007};
        struct measured measured = {t.series, CARD, &out};
        measured.card.copy_ms = 0.009;
        measured.card.bytes = 8392704;
        arena_init(&arena);
        struct measure m = {.arena = &arena,
                            .best_copy_gb_per_s = BEST[i],
                            .measured = &measured,
                            .measured_count = 1};
        numbers_check(&m);
        assert_int_equal(out.finding_count, i);
        if (i)
            assert_int_equal(out.findings[0].kind, FINDING_impossible_time);
        arena_release(&arena);
    }
}

static void test_slow_warm_up(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    t.warm_up[1] = t.warm_up[2] = 20;
    assert_int_equal(finding_of(&t, 1), FINDING_slow_warm_up);
    t.warm_up[2] = 1; /* one slow call is no pattern */
    assert_int_equal(finding_of(&t, 1), FINDING_COUNT);
    /* A processor that is not warm yet: 2.0, 1.6 | 1.4, 1.2, 1, ... */
    honest(&t, 1);
    t.warm_up[1] = 2, t.warm_up[2] = 1.6;
    for (int i = 0; i < 2; i++) {
        double more = 0.4 - 0.2 * i;
        t.event[i] += more, t.window[i] += more, t.judge[i] += more;
    }
    assert_int_equal(finding_of(&t, 1), FINDING_COUNT);
    t.warm_up[2] = 3; /* a step */
    t.warm_up[1] = 3;
    assert_int_equal(finding_of(&t, 1), FINDING_slow_warm_up);
}

static void test_persisting_lines(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    t.series.persisting_bytes = 1 << 20;
    assert_int_equal(finding_of(&t, 1), FINDING_persisting_l2);
}

/* Where the honest ones' gaps vary much, more is allowed. */
static void test_a_busy_machine(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    for (int i = 0; i < ROUNDS; i++)
        t.judge[i] += 0.2;
    struct cross_card busy = CARD;
    busy.gap_deviation_ms = 0.08;
    assert_false(cross_timers_differ(&t.series, &busy));
    assert_true(cross_timers_differ(&t.series, &CARD));
}

/* Held up in most rounds, and the gap of most rounds is long: no sign of anything. */
static void test_rounds_that_were_held_up(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    for (int i = 0; i < ROUNDS; i++)
        t.judge[i] += i % 3 ? 3 : 0;
    assert_false(cross_timers_differ(&t.series, &CARD));
}

/* Honest in some rounds only. */
static void test_lies_in_most_rounds(void **state)
{
    (void)state;
    struct times t;
    honest(&t, 1);
    for (int i = 0; i < ROUNDS; i++)
        if (i % 3) {
            t.event[i] -= 0.9;
            t.window[i] -= 0.9;
        }
    assert_true(cross_timers_differ(&t.series, &CARD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_times),
        cmocka_unit_test(test_a_card_may_beat_its_copy_a_little),
        cmocka_unit_test(test_events_that_leave_work_out),
        cmocka_unit_test(test_a_patched_timer),
        cmocka_unit_test(test_work_behind_the_event),
        cmocka_unit_test(test_more_than_the_judge_saw),
        cmocka_unit_test(test_faster_than_memory),
        cmocka_unit_test(test_what_the_card_moves_is_known_at_the_end),
        cmocka_unit_test(test_slow_warm_up),
        cmocka_unit_test(test_persisting_lines),
        cmocka_unit_test(test_a_busy_machine),
        cmocka_unit_test(test_rounds_that_were_held_up),
        cmocka_unit_test(test_lies_in_most_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
