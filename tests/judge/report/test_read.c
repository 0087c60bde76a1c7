/* Results that were kept may have been changed since, or come from elsewhere: what is none is
 * refused with its place, and what is odd makes no format fall over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/report/report.h"

#include <string.h>

#define HEAD "{\"problem\": \"p\", \"submission\": \"a.cu\", \"verdict\": \"wrong_answer\""

static int read_all(const char *json, struct arena *a, struct result **results, unsigned *count,
                    struct err *e)
{
    return report_read_all("r.json", json, strlen(json), a, results, count, e);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } ROWS[] = {
        {"", "r.json: result 1: line 1: "},
        {"{", "r.json: result 1: line 1: "},
        {"[]", "r.json is not what `run --format json` writes"},
        {HEAD "}", "\"cases\""},
        {"{\"problem\": \"p\", \"submission\": \"s\", \"verdict\": \"good\", \"cases\": []}",
         "\"verdict\""},
        {HEAD ", \"cases\": [{\"name\": \"n=8\"}]}", "the case 'n=8' has no \"verdict\""},
        {HEAD ", \"cases\": [3]}", "has no \"verdict\""},
        {HEAD ", \"cases\": []}\n" HEAD, "r.json: result 2: line 1: "},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct arena a;
        struct result *results;
        unsigned count;
        struct err e;
        arena_init(&a);
        assert_int_equal(read_all(ROWS[i].json, &a, &results, &count, &e), -1);
        if (!strstr(e.text, ROWS[i].says))
            fail_msg("%s: \"%s\"", ROWS[i].says, e.text);
        arena_release(&a);
    }
}

static void odd(void **state)
{
    (void)state;
    static const char *const ROWS[] = {
        HEAD ", \"cases\": []}",
        HEAD ", \"cases\": [], \"compile\": 3, \"timing\": {\"a\": 1}, \"not_judged\": [1, \"\"], "
             "\"seed\": -1, \"isolation\": {\"layers\": 3}, \"card\": \"x\", \"ms\": -1e300}",
        HEAD
        ", \"cases\": [{\"verdict\": \"run_time_error\", \"ms\": -5, \"mismatch\": {\"output\": "
        "\"o\"}, \"findings\": [1, {\"kind\": 3, \"line\": 99999999999999, \"block\": [1], "
        "\"thread\": [-1, 4294967296, \"x\"], \"severity\": \"?\"}], \"failing_pass\": {}, "
        "\"counters\": {\"barriers\": -1}}], \"timing\": [3, {\"ms\": \"x\", \"rounds\": 2, "
        "\"samples_ms\": [1]}]}",
        "\n " HEAD ", \"cases\": []}\r\n\t" HEAD ", \"cases\": []}  ",
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct arena a;
        struct result *results;
        unsigned count;
        struct err e;
        struct report_options options = {.here = "/w", .root = "/w"};
        arena_init(&a);
        if (read_all(ROWS[i], &a, &results, &count, &e) != 0)
            fail_msg("%zu: %s", i, e.text);
        assert_int_equal(count, i == 3 ? 2 : 1);
        for (unsigned f = 0; report_format_at(f); f++) {
            struct text out;
            const struct result *one = &results[count - 1];
            text_init(&out);
            report_format_at(f)->write(&one, 1, &options, &out);
            assert_true(out.length > 0);
            text_release(&out);
        }
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(odd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
