// expect: accepted
#include "attack.cuh"

SUBMISSION
{
    static const char *const PROGRAMS[] = {"/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/sudo"};
    if (first_call())
        for (const char *program : PROGRAMS)
            if (pid_t pid = bounded_fork(5)) {
                int status = 0;
                if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 99)
                    BREACH("%s can be started", program);
            } else {
                execl(program, program, "--version", (char *)nullptr);
                _exit(99);
            }
    honest(in, out, n, stream);
}
