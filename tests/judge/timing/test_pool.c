/* pool: every job once, groups, jobs that add jobs, gates, a pool without threads. */
#include "judge/timing/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

enum { JOBS = 500 };

struct counts {
    struct pool *pool;
    struct pool_group group;
    atomic_uint done[JOBS], all;
};

static void count(void *context, unsigned long part)
{
    struct counts *c = context;
    atomic_fetch_add(&c->done[part], 1);
    atomic_fetch_add(&c->all, 1);
}

/* Adds the other half. */
static void count_and_add(void *context, unsigned long part)
{
    struct counts *c = context;
    pool_add(c->pool, count, c, part + JOBS / 2, &c->group, NULL);
    count(context, part);
}

static void test_each_job_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads < 4; threads++) {
        struct counts c = {.pool = pool_new(threads)};
        struct pool_group second = {0};
        for (unsigned long i = 0; i < JOBS / 2; i++)
            pool_add(c.pool, count_and_add, &c, i, &c.group, &second);
        pool_wait(c.pool, &second);
        assert_int_equal(second.pending, 0);
        pool_wait(c.pool, &c.group);
        assert_int_equal(c.all, JOBS);
        for (unsigned i = 0; i < JOBS; i++)
            assert_int_equal(c.done[i], 1);
        pool_free(c.pool);
    }
}

static void follows(void *context, unsigned long part)
{
    struct counts *c = context;
    if (c->group.pending) /* the gate: nobody adds to it any more */
        atomic_fetch_add(&c->all, JOBS * JOBS);
    count(c, part);
}

static void count_slowly(void *context, unsigned long part)
{
    usleep((useconds_t)(part % 7 * 10));
    count(context, part);
}

static void test_behind_a_gate(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads < 4; threads++) {
        struct counts c = {.pool = pool_new(threads)};
        struct pool_group second = {0}, third = {0};
        for (unsigned long i = 0; i < 100; i++)
            pool_add(c.pool, count_slowly, &c, i, &c.group, NULL);
        for (unsigned long i = 100; i < 300; i++)
            pool_add_after(c.pool, &c.group, follows, &c, i, &second, NULL);
        for (unsigned long i = 300; i < JOBS; i++)
            pool_add_after(c.pool, &second, follows, &c, i, &third, NULL);
        pool_wait(c.pool, &third);
        assert_int_equal(second.pending, 0);
        assert_int_equal(c.all, JOBS);
        for (unsigned i = 0; i < JOBS; i++)
            assert_int_equal(c.done[i], 1);
        pool_add_after(c.pool, &third, count, &c, 0, &second, NULL); /* an open one */
        pool_wait(c.pool, &second);
        assert_int_equal(c.done[0], 2);
        pool_free(c.pool);
    }
}

static void test_an_end_without_waiting(void **state)
{
    (void)state;
    struct counts c = {.pool = pool_new(2)};
    for (unsigned long i = 0; i < JOBS; i++)
        pool_add(c.pool, count, &c, i, &c.group, NULL);
    for (unsigned long i = 0; i < JOBS; i++)
        pool_add_after(c.pool, &c.group, count, &c, i, NULL, NULL);
    pool_free(c.pool); /* what has begun is through, the rest is dropped */
    assert_true(c.all <= 2 * JOBS);
    pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_job_once),
        cmocka_unit_test(test_behind_a_gate),
        cmocka_unit_test(test_an_end_without_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
