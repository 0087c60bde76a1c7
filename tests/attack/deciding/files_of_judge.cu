// expect: accepted
// Looks for the cases, the references and secrets of the machine.
#include "attack.cuh"

SUBMISSION
{
    static const char *const PATHS[] = {
        ATTACK_ROOT "/problems/scan/problem.yaml",
        ATTACK_ROOT "/reference/answers/scan.cu",
        ATTACK_ROOT "/../attack.cuh",
        ATTACK_ROOT,
        ATTACK_CACHE,
        ATTACK_FOLDER "/secret",
        "/etc/shadow",
        "/root/.bashrc",
        "/root/.ssh/id_rsa",
        "/proc/1/environ",
        "/var/log/dpkg.log",
        "/boot",
        "/dev/mem",
        "/dev/kmsg",
        "/proc/kcore",
        "/sys/kernel/debug/tracing",
    };
    if (first_call())
        for (const char *path : PATHS) {
            char byte;
            struct stat st;
            int fd = open(path, O_RDONLY | O_NONBLOCK);
            // An empty folder in the place of ours, or our own environment, tells nothing.
            if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode) && read(fd, &byte, 1) == 1)
                BREACH("%s can be read", path);
            if (fd >= 0 && S_ISDIR(st.st_mode) && st.st_nlink > 2 && strncmp(path, ATTACK_ROOT, 5) == 0)
                BREACH("%s can be listed", path);
            if (fd >= 0)
                close(fd);
        }
    honest(in, out, n, stream);
}
