// expect: accepted
// Opens what would change the machine if it were written to; nothing is.
#include "attack.cuh"

SUBMISSION
{
    static const char *const FILES[] = {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches",
                                        "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/tasks", "/sys/fs/cgroup/pids/tasks",
                                        "/proc/self/oom_score_adj", "/etc/passwd", "/etc/ld.so.preload", "/usr/bin/env"};
    if (first_call())
        for (const char *file : FILES) {
            int fd = open(file, O_WRONLY);
            bool own = strstr(file, "oom_score_adj") != nullptr;
            if (fd >= 0 && !own)
                BREACH("%s can be written", file);
            if (fd >= 0 && own && write(fd, "-1000", 5) == 5)
                BREACH("the kernel would end others first");
            if (fd >= 0)
                close(fd);
        }
    honest(in, out, n, stream);
}
