/* ncu's table, and what it says instead of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "judge/gpu/ncu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "==PROF== Connected to process 17\n"                                                           \
    "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define TIME    "\"x\",\"gpu__time_duration.sum\",\"nsecond\","
#define SECTORS "\"x\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\","
#define STORES  "\"x\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\",\"sector\","
#define DRAM    "\"x\",\"dram__throughput.avg.pct_of_peak_sustained_elapsed\",\"%\","

static struct card_profile profile;

static void sums_over_launches(void **state)
{
    (void)state;
    static const char REPORT[] = HEAD "\"0\",\"k(int *, \"\"q\"\")\"," TIME "\"3,000\"\n"
                                      "\"0\",\"k(int *, \"\"q\"\")\"," SECTORS "\"10\"\n"
                                      "\"0\",\"k(int *, \"\"q\"\")\"," STORES "\"5\"\n"
                                      "\"0\",\"k(int *, \"\"q\"\")\"," DRAM "\"40.0\"\n"
                                      "\"1\",\"other\"," TIME "\"7\"\r\n"
                                      "==PROF== Disconnected\n"
                                      "\"2\",\"k(int *, \"\"q\"\")\"," TIME "\"1,000\"\n"
                                      "\"2\",\"k(int *, \"\"q\"\")\"," SECTORS "\"1,000,000\"\n"
                                      "\"2\",\"k(int *, \"\"q\"\")\"," DRAM "\"80\"\n";
    struct err e;
    assert_int_equal(ncu_read(REPORT, &profile, &e), 0);
    assert_int_equal(profile.count, 2);
    const struct card_kernel *k = &profile.kernels[0];
    assert_string_equal(k->name, "k(int *, \"q\")");
    assert_int_equal(k->launches, 2);
    assert_true(k->ns == 4000 && k->sectors == 1000015 && k->dram_percent == 50);
    assert_string_equal(profile.kernels[1].name, "other");
    assert_int_equal(profile.kernels[1].launches, 1);
    assert_true(profile.kernels[1].ns == 7);
}

/* What ncu 2025.3.1 wrote on an H200. */
static void recorded_report(void **state)
{
    (void)state;
    struct text report;
    struct err e;
    text_init(&report);
    if (file_read(TEST_FOLDER "/reports/ncu.csv", 1 << 20, &report, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(ncu_read(text_str(&report), &profile, &e), 0);
    assert_int_equal(profile.count, 1);
    const struct card_kernel *k = &profile.kernels[0];
    assert_string_equal(k->name, "kogge_stone_two_barriers(const int *, int *)");
    assert_int_equal(k->launches, 1);
    assert_true(k->ns == 2272 && k->sectors == 32 && k->dram_bytes == 4864);
    assert_true(k->dram_percent == 0.05 && k->sm_percent == 0.06);
    text_release(&report);
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "NVreg_Restrict"},
        {"==WARNING== No kernels were profiled.\n", "no kernel was launched"},
        {"==ERROR== Unknown metric\nmore\n", "==ERROR== Unknown metric"},
        {"", "no kernel"},
        {HEAD, "no kernel"},
        {"nonsense\n\"1\",\"2\"\n", "no kernel"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct err e = {""};
        assert_int_equal(ncu_read(ROWS[i][0], &profile, &e), -1);
        if (!strstr(e.text, ROWS[i][1]))
            fail_msg("%s: %s", ROWS[i][0], e.text);
    }
}

static void asks_for_all(void **state)
{
    (void)state;
    assert_non_null(strstr(ncu_metrics(), "gpu__time_duration.sum,"));
    assert_null(strstr(ncu_metrics(), ",,"));
    assert_true(ncu_metrics()[strlen(ncu_metrics()) - 1] != ',');
}

/* More kernels than are kept, numbers that are none, names of any length and any bytes. */
static void hostile_reports(void **state)
{
    (void)state;
    struct text report;
    struct err e;
    text_init(&report);
    text_add(&report, HEAD);
    for (int i = 0; i < CARD_KERNELS_MAX + 5; i++)
        text_addf(&report, "\"%d\",\"k%d\"," TIME "\"1\"\n", i, i);
    assert_int_equal(ncu_read(text_str(&report), &profile, &e), 0);
    assert_int_equal(profile.count, CARD_KERNELS_MAX);
    assert_true(profile.dropped);
    text_clear(&report);
    text_add(&report, HEAD "\"0\",\"");
    for (int i = 0; i < 2000; i++)
        text_addc(&report, (char)(i % 2 ? 'x' : '\x1b'));
    text_add(&report, "\"," TIME "\"nan\"\n\"0\",\"k\"," SECTORS "\"-5\"\n\"1\",\"k\"," SECTORS
                      "\"1e999\"\n");
    assert_int_equal(ncu_read(text_str(&report), &profile, &e), 0);
    for (unsigned i = 0; i < profile.count; i++) {
        assert_true(profile.kernels[i].ns == 0 && profile.kernels[i].sectors == 0);
        assert_null(strchr(profile.kernels[i].name, '\x1b'));
    }
    text_release(&report);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_launches),     cmocka_unit_test(recorded_report),
        cmocka_unit_test(says_why_there_is_none), cmocka_unit_test(asks_for_all),
        cmocka_unit_test(hostile_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
