/* Which cards there are and which of them a call means; the driver is a fake one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/gpu/cards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWO "GPU-1111-a;NVIDIA Old;7.5;16000|GPU-1122-b;NVIDIA H200;9.0;143000"

static struct arena arena;

static void find(const char *fake, struct cards *cards)
{
    setenv("FAKE_NVML", fake, 1);
    cards_find(FAKE_NVML, &arena, cards);
}

static void tells_what_is_there(void **state)
{
    (void)state;
    struct cards cards;
    find(TWO, &cards);
    assert_int_equal(cards.count, 2);
    assert_string_equal(cards.driver, "999.1");
    assert_string_equal(cards.items[1].name, "NVIDIA H200");
    assert_string_equal(cards.items[1].uuid, "GPU-1122-b");
    assert_int_equal(cards.items[1].capability, 90);
    assert_true(cards.items[0].memory_bytes == (uint64_t)16000 << 20);
    assert_int_equal(cards_capability(&cards), 75);
    assert_null(cards.why_none);
    /* A box has to be shown where the driver is: where that library was found. */
    size_t length = (size_t)(strrchr(FAKE_NVML, '/') - FAKE_NVML);
    assert_int_equal(strlen(cards.items[1].libraries), length);
    assert_memory_equal(cards.items[1].libraries, FAKE_NVML, length);
}

static void says_why_there_are_none(void **state)
{
    (void)state;
    struct cards cards;
    find("", &cards);
    assert_int_equal(cards.count, 0);
    assert_non_null(strstr(cards.why_none, "sees no card"));
    find("broken", &cards);
    assert_int_equal(cards.count, 0);
    assert_non_null(strstr(cards.why_none, "does not answer"));
    cards_find("/nonexistent/libnvidia-ml.so.1", &arena, &cards);
    assert_int_equal(cards.count, 0);
    assert_non_null(strstr(cards.why_none, "no NVIDIA driver"));
}

/* `numbers`: of the chosen cards, in order; NULL = refused with these words. */
static const struct row {
    const char *list, *numbers, *says;
} CHOICES[] = {
    {"0", "0", NULL},
    {"1", "1", NULL},
    {"1,0", "10", NULL},
    {"GPU-1122-b", "1", NULL},
    {"GPU-1122", "1", NULL},
    {"GPU-1122,0", "10", NULL},
    {"GPU-11", NULL, "names no card"}, /* both begin so */
    {"2", NULL, "1 (NVIDIA H200, GPU-1122-b)"},
    {"99999999999999999999", NULL, "names no card"},
    {"", NULL, "names no card"},
    {"0,", NULL, "names no card"},
    {"0,,1", NULL, "names no card"},
    {"-1", NULL, "names no card"},
    {"0x1", NULL, "names no card"},
    {"GPU-", NULL, "names no card"},
    {"MIG-1122", NULL, "names no card"},
    {"0,0", NULL, "a second time"},
    {"1,GPU-1122-b", NULL, "a second time"},
};

enum { NUMBERS = 8 };

static void numbers_of(const struct cards *cards, char out[NUMBERS])
{
    unsigned used = 0;
    for (unsigned i = 0; i < cards->count && used + 1 < NUMBERS; i++)
        out[used++] = (char)('0' + cards->items[i].number);
    out[used] = '\0';
}

static void chooses(void **state)
{
    (void)state;
    struct cards all, chosen;
    find(TWO, &all);
    for (size_t i = 0; i < sizeof CHOICES / sizeof CHOICES[0]; i++) {
        const struct row *r = &CHOICES[i];
        struct err e = {""};
        char numbers[NUMBERS];
        int status = cards_choose(&all, r->list, &arena, &chosen, &e);
        if (status == 0)
            numbers_of(&chosen, numbers);
        if (r->numbers ? status != 0 || strcmp(numbers, r->numbers) != 0
                       : status == 0 || !strstr(e.text, r->says))
            fail_msg("'%s': %d, %s", r->list, status, status ? e.text : numbers);
    }
}

/* As CUDA reads its variable. */
static void leaves_what_is_visible(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {{NULL, "01"}, {"1", "1"},       {"1,0", "10"},
                                          {"", ""},     {"0,7,1", "0"},   {"-1", ""},
                                          {"0,0", "0"}, {"GPU-1122", "1"}};
    struct cards all, visible;
    find(TWO, &all);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char numbers[NUMBERS];
        cards_visible(&all, ROWS[i][0], &arena, &visible);
        numbers_of(&visible, numbers);
        if (strcmp(numbers, ROWS[i][1]) != 0)
            fail_msg("CUDA_VISIBLE_DEVICES='%s' leaves '%s'", ROWS[i][0] ? ROWS[i][0] : "unset",
                     numbers);
        assert_true((visible.count == 0) == (visible.why_none != NULL));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_there),
        cmocka_unit_test(says_why_there_are_none),
        cmocka_unit_test(chooses),
        cmocka_unit_test(leaves_what_is_visible),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
