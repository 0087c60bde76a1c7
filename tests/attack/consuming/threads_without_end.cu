// expect: accepted or run_time_error or time_limit_exceeded or memory_limit_exceeded
#include "attack.cuh"
#include <pthread.h>

static void *wait(void *)
{
    sleep(10);
    return nullptr;
}

SUBMISSION
{
    pthread_t thread;
    pthread_attr_t small;
    int made = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    if (first_call())
        while (made < 5000 && pthread_create(&thread, &small, wait, nullptr) == 0)
            made++;
    if (made == 5000)
        BREACH("5000 threads");
    honest(in, out, n, stream);
}
