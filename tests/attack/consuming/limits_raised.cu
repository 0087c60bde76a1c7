// expect: accepted
// Gives itself more of everything.
#include "attack.cuh"
#include <sched.h>
#include <sys/resource.h>

SUBMISSION
{
    static const __rlimit_resource RESOURCES[] = {RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_MEMLOCK};
    for (__rlimit_resource r : RESOURCES) {
        struct rlimit limit = {}, more;
        getrlimit(r, &limit);
        more.rlim_cur = more.rlim_max = limit.rlim_max == RLIM_INFINITY ? RLIM_INFINITY : limit.rlim_max + 1;
        if (limit.rlim_max != RLIM_INFINITY && setrlimit(r, &more) == 0)
            BREACH("limit %d was raised from %lu", (int)r, (unsigned long)limit.rlim_max);
    }
    errno = 0;
    if (nice(-5) != -1 && errno == 0)
        BREACH("it runs before others");
    struct sched_param first = {};
    first.sched_priority = 1;
    if (sched_setscheduler(0, SCHED_FIFO, &first) == 0)
        BREACH("it runs before everything else");
    honest(in, out, n, stream);
}
