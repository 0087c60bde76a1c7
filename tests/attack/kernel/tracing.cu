// expect: accepted
// Calls that reach into other processes; with arguments that do no harm.
#include "attack.cuh"
#include <sys/ptrace.h>
#include <sys/uio.h>

SUBMISSION
{
    if (first_call()) {
        MUST_BE_REFUSED(ptrace(PTRACE_PEEKDATA, getpid(), nullptr, nullptr));
        MUST_BE_REFUSED(syscall(SYS_process_vm_readv, getpid(), nullptr, 0, nullptr, 0, 0));
        MUST_BE_REFUSED(syscall(SYS_process_vm_writev, getpid(), nullptr, 0, nullptr, 0, 0));
        MUST_BE_REFUSED(syscall(438, -1, 0, 0)); // pidfd_getfd
        MUST_BE_REFUSED(syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0));
        MUST_BE_REFUSED(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
        MUST_BE_REFUSED(syscall(SYS_bpf, 0xffff, nullptr, 0));
        MUST_BE_REFUSED(syscall(SYS_userfaultfd, 0x7fffffff));
    }
    honest(in, out, n, stream);
}
