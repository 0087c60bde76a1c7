// expect: accepted
// Calls that make a world of its own, in which it would be root.
#include "attack.cuh"
#include <sched.h>

SUBMISSION
{
    static const int KINDS[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
    if (first_call()) {
        for (int kind : KINDS) {
            MUST_BE_REFUSED(unshare(kind));
            long pid = syscall(SYS_clone, (unsigned long)kind | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
            if (pid == 0)
                _exit(0);
            if (pid > 0) {
                waitpid((pid_t)pid, nullptr, 0);
                BREACH("a process in a namespace of kind %x", kind);
            }
        }
        MUST_BE_REFUSED(setns(-1, 0));
        errno = 0;
        if (syscall(435, nullptr, 0) != -1 || errno != ENOSYS) // clone3: its flags cannot be looked at
            BREACH("clone3 gives %s", strerror(errno));
    }
    honest(in, out, n, stream);
}
