// expect: accepted or run_time_error or time_limit_exceeded
// Threads that compute without end.
#include "attack.cuh"
#include <pthread.h>

static void *spin(void *)
{
    time_t end = time(nullptr) + 10;
    while (time(nullptr) < end)
        continue;
    return nullptr;
}

SUBMISSION
{
    pthread_t thread;
    if (first_call())
        for (int i = 0; i < 64; i++)
            if (pthread_create(&thread, nullptr, spin, nullptr) == 0)
                pthread_detach(thread);
    honest(in, out, n, stream);
}
