/* What becomes of one case: verdict, findings, diagnosis, the fresh box after a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/crew.h"

#include <stdio.h>
#include <string.h>

static const char SPEC[] =
    "format: 1\n"
    "title: {en: Scan}\n"
    "difficulty: easy\n"
    "entry: scan\n"
    "variables:\n"
    "  n: {type: int32, min: 0}\n"
    "parameters:\n"
    "  - {name: in, type: int32*, role: input, shape: [n]}\n"
    "  - {name: out, type: int32*, role: output, shape: [n]}\n"
    "  - {name: n, type: int32, value: n}\n"
    "  - {name: stream, type: stream}\n"
    "check:\n"
    "  out: exact\n"
    "oracle: exclusive_scan\n"
    "cases:\n"
    "  - {name: \"n={n}\", n: [0, 32, 33, 700000], in: uniform(1, 9)}\n"
    "%s"
    "limits: {time: 1 s, memory: 2 GiB, compile_time: 60 s, output: 1 MiB}\n";

struct scene {
    struct arena arena;
    struct problem problem;
    struct judge_options options;
    struct session session;
    struct work work;
    const struct problem_case *cases[8];
    struct result_case results[8];
};

/* Runs every case of the spec with one entry of the fake submission. */
static void play(struct scene *s, const char *entry, const char *costs)
{
    struct err e;
    char spec[2048];
    memset(s, 0, sizeof *s);
    arena_init(&s->arena);
    snprintf(spec, sizeof spec, SPEC, costs);
    if (problem_parse("spec.yaml", spec, strlen(spec), &s->arena, &s->problem, &e) != 0)
        fail_msg("%s", e.text);
    s->problem.id = "scan";
    s->problem.entry = entry;
    s->session = (struct session){.options = &s->options,
                                  .problem = &s->problem,
                                  .source = "dir/my file.cu",
                                  .checks = WIRE_CHECK_DEFAULT,
                                  .seed = 5,
                                  .arena = &s->arena};
    s->session.submission.spec = (struct run_spec){.runner = RUNNER,
                                                   .cudart = FAKE_CUDART,
                                                   .library = FAKE_SUBMISSION,
                                                   .entry = entry,
                                                   .start_limit_ns = 20000000000u,
                                                   .output_bytes = 1 << 20};
    for (unsigned i = 0; i < s->problem.case_count; i++)
        s->cases[i] = &s->problem.cases[i];
    if (work_init(&s->work, &s->problem, s->cases, s->problem.case_count, 5, true, &s->arena, &e) !=
        0)
        fail_msg("%s", e.text);
    work_start(&s->work);
    unsigned i;
    for (struct prepared_case *c; (c = work_take(&s->work, WORK_SMALL_FIRST, &i)) != NULL;) {
        if (c->status != 0)
            fail_msg("%s", c->error.text);
        if (session_run_case(&s->session, c, &s->results[i], &e) != 0)
            fail_msg("%s", e.text);
        work_done(&s->work, i);
    }
}

/* Starts anew with some of the cases and another entry. */
static void begin_again(struct scene *s, const char *entry, const struct problem_case *const *cases,
                        unsigned count, bool use_oracle)
{
    struct err e;
    s->session.submission.spec.entry = entry;
    keeper_close(&s->session.submission);
    work_release(&s->work);
    if (work_init(&s->work, &s->problem, cases, count, 5, use_oracle, &s->arena, &e) != 0)
        fail_msg("%s", e.text);
}

static void end(struct scene *s)
{
    work_release(&s->work);
    keeper_close(&s->session.submission);
    arena_release(&s->arena);
}

static const struct row {
    const char *entry;
    enum verdict verdicts[4]; /* n = 0, 32, 33, 700000 */
    int finding;              /* of case n=33; -1 = none */
    const char *says;         /* diagnosis of case n=33; NULL = none */
} ROWS[] = {
#define ALL(v)                                                                                     \
    {                                                                                              \
        VERDICT_##v, VERDICT_##v, VERDICT_##v, VERDICT_##v                                         \
    }
    {"right", ALL(accepted), -1, NULL},
    {"inclusive",
     {VERDICT_accepted, VERDICT_wrong_answer, VERDICT_wrong_answer, VERDICT_wrong_answer},
     -1,
     "inclusive for exclusive"},
    /* The case n=0 made the first call, so that no later one is right. */
    {"first_call_only",
     {VERDICT_accepted, VERDICT_wrong_answer, VERDICT_wrong_answer, VERDICT_wrong_answer},
     -1,
     "different on every call"},
    {"adds_to_poison",
     {VERDICT_accepted, VERDICT_wrong_answer, VERDICT_wrong_answer, VERDICT_wrong_answer},
     -1,
     "never written"},
    {"crashes", ALL(run_time_error), FINDING_signal, NULL},
    {"crashes_on_33",
     {VERDICT_accepted, VERDICT_accepted, VERDICT_run_time_error, VERDICT_accepted},
     FINDING_signal,
     NULL},
    {"exits", ALL(run_time_error), FINDING_exit, NULL},
    {"hangs", ALL(time_limit_exceeded), FINDING_deadlock, NULL},
    {"hangs_last_first", ALL(accepted), -1, NULL},
    {"asks_too_much", ALL(run_time_error), FINDING_unsupported, "That need not be wrong"},
    {"races", ALL(run_time_error), FINDING_data_race, NULL},
    {"overruns", ALL(run_time_error), FINDING_guard_overwritten, NULL},
    {"changes_input",
     {VERDICT_accepted, VERDICT_run_time_error, VERDICT_run_time_error, VERDICT_run_time_error},
     FINDING_input_changed,
     NULL},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        const struct row *row = &ROWS[k];
        struct scene s;
        play(&s, row->entry, "");
        for (unsigned i = 0; i < 4; i++)
            if (s.results[i].verdict != row->verdicts[i])
                fail_msg("%s, %s: %s instead of %s", row->entry, s.results[i].name,
                         verdict_name(s.results[i].verdict), verdict_name(row->verdicts[i]));
        const struct result_case *c = &s.results[2];
        if (row->finding >= 0 && (c->finding_count == 0 || c->findings[0].kind != row->finding))
            fail_msg("%s: the finding is missing", row->entry);
        if (row->finding < 0 && c->finding_count != 0 && c->findings[0].severity == WIRE_ERROR)
            if (c->findings[0].kind != FINDING_output_untouched)
                fail_msg("%s: %s", row->entry, c->findings[0].message);
        if (row->says && (!c->diagnosis || !strstr(c->diagnosis, row->says)))
            fail_msg("%s: says \"%s\"", row->entry, c->diagnosis ? c->diagnosis : "(nothing)");
        end(&s);
    }
}

static void passes_by_size(void **state)
{
    (void)state;
    struct scene s;
    play(&s, "right", "");
    assert_int_equal(s.results[1].passes, 6); /* every schedule */
    assert_int_equal(s.results[3].passes, 1); /* 11 MB: in order only */
    assert_null(s.results[1].reproduce);
    assert_true(s.results[1].has_counters);
    end(&s);
}

static void block_order_is_a_warning_once(void **state)
{
    (void)state;
    struct scene s;
    play(&s, "hangs_last_first", "");
    unsigned warnings = 0;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned f = 0; f < s.results[i].finding_count; f++) {
            assert_int_equal(s.results[i].findings[f].kind, FINDING_block_order);
            assert_int_equal(s.results[i].findings[f].severity, WIRE_WARNING);
            warnings++;
        }
    assert_int_equal(warnings, 1);
    end(&s);
}

static void reproduce_is_quoted_for_a_shell(void **state)
{
    (void)state;
    struct scene s;
    play(&s, "inclusive", "");
    assert_string_equal(s.results[2].reproduce,
                        "./judge.sh run scan 'dir/my file.cu' --case n=33 --seed 5");
    end(&s);
}

/* Cases run alone, so that the calls that a box has seen are known. */
static void reruns_tell_what_matters(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *says;
    } CASES[] = {{"flickers", "different on every"},
                 {"first_call_only", "different on every call"}};
    for (size_t k = 0; k < 2; k++) {
        struct scene s;
        struct err e;
        play(&s, "right", "");
        const struct problem_case *only[] = {&s.problem.cases[2]};
        begin_again(&s, CASES[k].entry, only, 1, true);
        unsigned i;
        struct prepared_case *c = work_take(&s.work, WORK_SMALL_FIRST, &i);
        assert_int_equal(session_run_case(&s.session, c, &s.results[0], &e), 0);
        assert_int_equal(s.results[0].verdict, VERDICT_wrong_answer);
        assert_non_null(s.results[0].diagnosis);
        if (!strstr(s.results[0].diagnosis, CASES[k].says))
            fail_msg("%s: %s", CASES[k].entry, s.results[0].diagnosis);
        end(&s);
    }
}

static void time_limit(void **state)
{
    (void)state;
    struct scene s;
    play(&s, "right", "");
    s.problem.limits.time_ns = 200000000;
    const struct problem_case *only[] = {&s.problem.cases[1], &s.problem.cases[2]};
    struct err e;
    begin_again(&s, "sleeps", only, 2, true);
    unsigned i;
    for (struct prepared_case *c; (c = work_take(&s.work, WORK_SMALL_FIRST, &i)) != NULL;) {
        assert_int_equal(session_run_case(&s.session, c, &s.results[i], &e), 0);
        assert_int_equal(s.results[i].verdict, VERDICT_time_limit_exceeded);
        assert_int_equal(s.results[i].passes, 1);
        assert_true(s.results[i].ms < 3000);
        work_done(&s.work, i);
    }
    assert_int_equal(s.session.timed_out_cases, 2);
    end(&s);
}

static void cost_limits(void **state)
{
    (void)state;
    static const struct {
        const char *costs;
        enum verdict verdict;
    } COSTS[] = {
        {"cost:\n  - {case: n=33, counter: kernel_launches, max: 2, why: two are enough}\n",
         VERDICT_cost_limit_exceeded},
        {"cost:\n  - {case: n=33, counter: kernel_launches, max: 3, why: three are enough}\n",
         VERDICT_accepted},
    };
    for (size_t k = 0; k < 2; k++) {
        struct scene s;
        play(&s, "right", COSTS[k].costs); /* the fake counts 3 launches, whatever happens */
        assert_int_equal(s.results[2].verdict, COSTS[k].verdict);
        if (COSTS[k].verdict != VERDICT_accepted)
            assert_non_null(strstr(s.results[2].diagnosis, "two are enough"));
        assert_int_equal(s.results[1].verdict, VERDICT_accepted);
        end(&s);
    }
}

static void output_counts_per_case(void **state)
{
    (void)state;
    static const struct {
        uint64_t limit;
        enum verdict verdict;
    } LIMITS[] = {{700, VERDICT_accepted}, {550, VERDICT_output_limit_exceeded}};
    for (size_t k = 0; k < 2; k++) {
        struct scene s;
        struct err e;
        play(&s, "right", "");
        s.session.submission.spec.output_bytes = LIMITS[k].limit;
        const struct problem_case *small[] = {s.cases[0], s.cases[1], s.cases[2]};
        begin_again(&s, "prints", small, 3, true);
        unsigned i;
        for (struct prepared_case *c; (c = work_take(&s.work, WORK_SMALL_FIRST, &i)) != NULL;) {
            assert_int_equal(session_run_case(&s.session, c, &s.results[i], &e), 0);
            assert_int_equal(s.results[i].verdict, LIMITS[k].verdict);
            work_done(&s.work, i);
        }
        end(&s);
    }
}

/* The fourth case fails in its first pass, but only because of the cases before it. */
static void a_failure_of_earlier_cases_is_told(void **state)
{
    (void)state;
    struct scene s;
    play(&s, "wrong_after_three_cases", "");
    assert_int_equal(s.results[1].verdict, VERDICT_accepted);
    assert_int_equal(s.results[3].verdict, VERDICT_wrong_answer);
    assert_non_null(strstr(s.results[3].diagnosis, "only after other cases in the same process"));
    assert_string_equal(s.results[3].reproduce, "./judge.sh run scan 'dir/my file.cu' --seed 5");
    end(&s);
}

/* Two workers (the large case is above their threshold): results in the order of the spec, whoever
 * got them. */
static void a_crew_gathers_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        enum verdict verdict;
        unsigned cases; /* that were run, at least */
    } CREWS[] = {
        {"right", VERDICT_accepted, 4},
        {"inclusive", VERDICT_wrong_answer, 4},
        {"crashes_on_33", VERDICT_run_time_error, 4},
        {"sleeps", VERDICT_time_limit_exceeded, 2},
    };
    for (size_t k = 0; k < sizeof CREWS / sizeof CREWS[0]; k++) {
        struct scene s;
        struct result result = {0};
        struct err e;
        play(&s, "right", "");
        s.problem.limits.time_ns = strcmp(CREWS[k].entry, "sleeps") == 0 ? 200000000 : 20000000000;
        begin_again(&s, CREWS[k].entry, s.cases, 4, true);
        work_start(&s.work);
        if (crew_run(&s.session, &s.work, &result, &e) != 0)
            fail_msg("%s", e.text);
        assert_int_equal(result.verdict, CREWS[k].verdict);
        assert_true(result.case_count >= CREWS[k].cases && result.case_count <= 4);
        assert_int_equal(result.case_count + result.not_judged_count, 4);
        for (unsigned i = 0, at = 0; i < result.case_count; i++, at++) {
            while (at < 4 && strcmp(s.cases[at]->name, result.cases[i].name) != 0)
                at++;
            if (at == 4)
                fail_msg("%s: %s is out of order", CREWS[k].entry, result.cases[i].name);
        }
        if (result.case_count < 4)
            assert_non_null(strstr(result.message, " cases ran out of time; "));
        else
            assert_null(result.message);
        end(&s);
    }
}

/* The limit on the whole is looked at after every pass. What was found until then decides. */
static void a_crew_has_a_budget(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        uint64_t total_ns;
        bool all_cases;
        enum verdict verdict;
        unsigned least, most; /* cases that are judged */
    } BUDGETS[] = {
        {"right", 1, false, VERDICT_time_limit_exceeded, 0, 1}, /* the large one has one pass */
        {"right", 1, true, VERDICT_accepted, 4, 4},
        {"right", 60000000000, false, VERDICT_accepted, 4, 4},
        {"right", 0, false, VERDICT_accepted, 4, 4},
        {"crashes", 1, false, VERDICT_run_time_error, 1, 2}, /* one for each worker */
    };
    for (size_t k = 0; k < sizeof BUDGETS / sizeof BUDGETS[0]; k++) {
        struct scene s;
        struct result result = {0};
        struct err e;
        play(&s, "right", "");
        s.problem.limits.total_ns = BUDGETS[k].total_ns;
        s.options.all_cases = BUDGETS[k].all_cases;
        begin_again(&s, BUDGETS[k].entry, s.cases, 4, true);
        work_start(&s.work);
        if (crew_run(&s.session, &s.work, &result, &e) != 0)
            fail_msg("%s", e.text);
        assert_int_equal(result.verdict, BUDGETS[k].verdict);
        if (result.case_count < BUDGETS[k].least || result.case_count > BUDGETS[k].most)
            fail_msg("row %zu: %u cases were judged", k, result.case_count);
        assert_int_equal(result.case_count + result.not_judged_count, 4);
        for (unsigned i = 0; i < result.case_count; i++)
            assert_string_not_equal(result.cases[i].name,
                                    result.not_judged_count ? result.not_judged[0] : "");
        if (result.not_judged_count)
            assert_non_null(strstr(result.message, "all cases together may run for 1e-09 s"));
        else
            assert_null(result.message);
        end(&s);
    }
}

/* One case alone under some options. */
static void play_one(struct scene *s, const char *entry, unsigned which,
                     const struct judge_options *options)
{
    struct err e;
    play(s, "right", "");
    s->options = *options;
    const struct problem_case *only[] = {&s->problem.cases[which]};
    begin_again(s, entry, only, 1, true);
    unsigned i;
    struct prepared_case *c = work_take(&s->work, WORK_SMALL_FIRST, &i);
    assert_int_equal(session_run_case(&s->session, c, &s->results[0], &e), 0);
    work_done(&s->work, i);
}

static void search_over_seeds(void **state)
{
    (void)state;
    struct scene s;
    struct judge_options options = {.schedules = 20};
    play_one(&s, "right", 2, &options);
    assert_int_equal(s.results[0].verdict, VERDICT_accepted);
    assert_int_equal(s.results[0].passes, 26);
    end(&s);
    play_one(&s, "right", 3, &options); /* too large to search */
    assert_int_equal(s.results[0].passes, 1);
    end(&s);
    play_one(&s, "wrong_in_call_9", 2, &options); /* the third of the search */
    const struct result_case *c = &s.results[0];
    assert_int_equal(c->verdict, VERDICT_wrong_answer);
    assert_int_equal(c->passes, 9);
    assert_true(c->failing.has_pass && c->failing.found_by_search);
    assert_string_equal(c->failing.schedule, "interleaved");
    char again[200];
    snprintf(again, sizeof again,
             "./judge.sh run scan 'dir/my file.cu' --case n=33 --seed 5 --schedule "
             "interleaved:%llu",
             (unsigned long long)c->failing.seed);
    assert_string_equal(c->reproduce, again);
    end(&s);
}

static void one_pass_only(void **state)
{
    (void)state;
    static const struct {
        const char *schedule;
        unsigned passes;
    } CHOICES[] = {
        {"interleaved:17", 1}, {"interleaved", 1}, {"random:3", 1}, {"random", 2}, {"in-order", 1}};
    for (size_t k = 0; k < sizeof CHOICES / sizeof CHOICES[0]; k++) {
        struct scene s;
        struct judge_options options = {.schedules = 5};
        assert_true(pass_choice_parse(CHOICES[k].schedule, &options.only));
        play_one(&s, "right", 2, &options);
        assert_int_equal(s.results[0].passes, CHOICES[k].passes);
        end(&s);
    }
    static const char *const WRONG[] = {
        "",          "interleave", "interleaved:", "random:-1",
        "random:1x", ":3",         "random 3",     "interleaved:+1"};
    for (size_t k = 0; k < sizeof WRONG / sizeof WRONG[0]; k++) {
        struct pass_choice choice;
        assert_false(pass_choice_parse(WRONG[k], &choice));
    }
}

/* The expected answers come from a reference in a box of its own. */
static void reference_gives_the_answers(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *submission;
        int status; /* of the reference's run */
        enum verdict verdict;
    } CASES[] = {
        {"right", "right", 0, VERDICT_accepted},
        {"right", "inclusive", 0, VERDICT_wrong_answer},
        {"inclusive", "inclusive", 0, VERDICT_accepted}, /* so it is the reference that decides */
        {"races", "right", -1, VERDICT_accepted},
        {"crashes", "right", -1, VERDICT_accepted},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct scene s;
        struct err e;
        play(&s, "right", "");
        s.session.reference.spec = s.session.submission.spec;
        s.session.reference.spec.entry = CASES[k].reference;
        s.problem.reference = "reference.cu";
        const struct problem_case *only[] = {&s.problem.cases[2]};
        begin_again(&s, CASES[k].submission, only, 1, false);
        unsigned i;
        struct prepared_case *c = work_take(&s.work, WORK_SMALL_FIRST, &i);
        assert_int_equal(session_run_reference(&s.session, c, &e), CASES[k].status);
        if (CASES[k].status == 0) {
            assert_int_equal(session_run_case(&s.session, c, &s.results[0], &e), 0);
            assert_int_equal(s.results[0].verdict, CASES[k].verdict);
        } else {
            assert_non_null(strstr(e.text, "the reference reference.cu fails on case 'n=33'"));
        }
        keeper_close(&s.session.reference);
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(passes_by_size),
        cmocka_unit_test(block_order_is_a_warning_once),
        cmocka_unit_test(reproduce_is_quoted_for_a_shell),
        cmocka_unit_test(reruns_tell_what_matters),
        cmocka_unit_test(time_limit),
        cmocka_unit_test(cost_limits),
        cmocka_unit_test(output_counts_per_case),
        cmocka_unit_test(a_crew_gathers_in_order),
        cmocka_unit_test(a_crew_has_a_budget),
        cmocka_unit_test(a_failure_of_earlier_cases_is_told),
        cmocka_unit_test(search_over_seeds),
        cmocka_unit_test(one_pass_only),
        cmocka_unit_test(reference_gives_the_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
