/* What the race detector is told: order.c alone, with a stand-in for the machine that keeps the
 * last operation. Operations are begun in the order in which this device happens to run them. */
#include "cpu/cudart/order.h"

#include "cpu/cudart/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct runtime rt;

static struct vm_operation last;
static uint32_t count;

uint32_t vm_begin_operation(struct vm *vm, const struct vm_operation *operation)
{
    (void)vm;
    last = *operation;
    return ++count;
}

static bool before(uint32_t earlier)
{
    if (last.oldest_unordered == 0 || earlier < last.oldest_unordered)
        return true;
    return last.comes_before(last.context, earlier);
}

/* An operation of a timeline behind what `stamp` says; its number. */
static uint32_t begin(struct stamp *stamp, uint32_t timeline, uint32_t index)
{
    stamp_raise(stamp, timeline, index);
    order_begin(stamp, timeline, index, "work");
    return count;
}

static void stamps_keep_the_later_of_both(void **state)
{
    (void)state;
    struct stamp a = {0}, b = {0};
    stamp_raise(&a, 3, 7);
    stamp_raise(&a, 3, 5);
    stamp_raise(&b, 1, 2);
    stamp_raise(&b, 3, 9);
    stamp_join(&a, &b);
    assert_int_equal(stamp_at(&a, 1), 2);
    assert_int_equal(stamp_at(&a, 3), 9);
    assert_int_equal(stamp_at(&a, 4), 0);
    stamp_copy(&a, &(struct stamp){0});
    assert_int_equal(stamp_at(&a, 3), 0);
    stamp_release(&a);
    stamp_release(&b);
}

/* Three streams from timeline 10 on: a1 a2 | b1, behind a1 | c1, behind nothing. */
static void only_what_is_ordered_comes_before(void **state)
{
    (void)state;
    struct stamp a = {0}, b = {0}, c = {0};
    uint32_t a1 = begin(&a, 10, 1);
    assert_int_equal(last.oldest_unordered, 0);
    stamp_join(&b, &a);
    uint32_t a2 = begin(&a, 10, 2);
    assert_int_equal(last.oldest_unordered, 0);
    uint32_t b1 = begin(&b, 11, 1);
    assert_true(before(a1));
    assert_false(before(a2));
    uint32_t c1 = begin(&c, 12, 1);
    assert_false(before(a1));
    assert_false(before(a2));
    assert_false(before(b1));
    /* Behind all of them. */
    stamp_join(&a, &b);
    stamp_join(&a, &c);
    begin(&a, 10, 3);
    assert_int_equal(last.oldest_unordered, 0);
    assert_true(before(c1));
    stamp_release(&a);
    stamp_release(&b);
    stamp_release(&c);
}

static void what_the_host_waited_for_is_forgotten(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct stamp a = {0}, b = {0}, host = {0};
    uint32_t covered = 0, open = 0;
    for (uint32_t i = 1; i <= MANY; i++) {
        uint32_t number = begin(&a, 20, i);
        covered = i == MANY / 2 ? number : covered;
        open = number;
    }
    stamp_raise(&host, 20, MANY / 2);
    for (uint32_t t = 10; t < 13; t++) /* of the test before */
        stamp_raise(&host, t, 3);
    order_forget(&host);
    stamp_join(&b, &host);
    begin(&b, 21, 1);
    assert_int_equal(last.oldest_unordered, covered + 1);
    assert_true(before(covered));
    assert_false(before(covered + 1));
    assert_false(before(open));
    assert_true(last.comes_before(last.context, 1)); /* gone: before everything */
    stamp_release(&a);
    stamp_release(&b);
    stamp_release(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_keep_the_later_of_both),
        cmocka_unit_test(only_what_is_ordered_comes_before),
        cmocka_unit_test(what_the_host_waited_for_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
