// expect: accepted
// The judge's environment holds a secret (the driver puts one there), paths and the user's name.
#include "attack.cuh"

extern char **environ;

static void look_at(const char *path)
{
    static char bytes[1 << 16];
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return;
    ssize_t count = read(fd, bytes, sizeof bytes);
    close(fd);
    for (ssize_t i = 0; i < count; i += (ssize_t)strnlen(bytes + i, (size_t)(count - i)) + 1)
        if (strncmp(bytes + i, "SCANJUDGE", 9) == 0 || strncmp(bytes + i, "ATTACK_", 7) == 0)
            BREACH("%s says %.60s", path, bytes + i);
}

SUBMISSION
{
    if (first_call()) {
        for (char **e = environ; *e; e++)
            if (strncmp(*e, "SCANJUDGE", 9) == 0 || strncmp(*e, "ATTACK_", 7) == 0)
                BREACH("the environment says %.60s", *e);
        look_at("/proc/self/environ");
        look_at("/proc/1/environ");
        look_at("/proc/1/cmdline");
        for (int pid = getppid() - 20; pid < getpid(); pid++) {
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/environ", pid);
            look_at(path);
        }
    }
    honest(in, out, n, stream);
}
