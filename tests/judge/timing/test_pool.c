/* pool: every job once, groups, jobs that add jobs, a pool without threads. */
#include "judge/timing/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

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

static void test_an_end_without_waiting(void **state)
{
    (void)state;
    struct counts c = {.pool = pool_new(2)};
    for (unsigned long i = 0; i < JOBS; i++)
        pool_add(c.pool, count, &c, i, NULL, NULL);
    pool_free(c.pool); /* what has begun is through, the rest is dropped */
    assert_true(c.all <= JOBS);
    pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_job_once),
        cmocka_unit_test(test_an_end_without_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
