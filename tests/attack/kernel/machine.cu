// expect: accepted
// Calls that change the machine: modules, another kernel, a new start, the clock. None could work
// with these arguments.
#include "attack.cuh"
#include <sys/time.h>
#include <ctime>

SUBMISSION
{
    if (first_call()) {
        MUST_BE_REFUSED(syscall(SYS_init_module, nullptr, 0, nullptr));
        MUST_BE_REFUSED(syscall(SYS_finit_module, -1, nullptr, 0));
        MUST_BE_REFUSED(syscall(SYS_delete_module, nullptr, 0));
        MUST_BE_REFUSED(syscall(SYS_kexec_load, 0, 0, nullptr, 0xffff));
        MUST_BE_REFUSED(syscall(SYS_reboot, 0, 0, 0, nullptr));
        MUST_BE_REFUSED(syscall(SYS_clock_settime, CLOCK_REALTIME, nullptr));
        MUST_BE_REFUSED(syscall(SYS_settimeofday, nullptr, (void *)8));
        MUST_BE_REFUSED(syscall(SYS_adjtimex, nullptr));
    }
    honest(in, out, n, stream);
}
