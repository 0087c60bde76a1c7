// expect: accepted
// Kills, ends and stops whatever of the judge is among its ancestors, then hopes.
#include "attack.cuh"
#include <csignal>

static bool is_of_judge(pid_t pid)
{
    static const char *const NAMES[] = {"judge", "runner", "bwrap", "launcher", "sandbox"};
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    int fd = open(path, O_RDONLY);
    if (fd >= 0) {
        if (read(fd, name, sizeof name - 1) < 0)
            name[0] = '\0';
        close(fd);
    }
    for (const char *known : NAMES)
        if (strstr(name, known))
            return true;
    return false;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (FILE *f = fopen(path, "r")) {
        if (fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1)
            parent = 0;
        fclose(f);
    }
    return parent;
}

SUBMISSION
{
    static const int SIGNALS[] = {SIGSTOP, SIGTERM, SIGINT, SIGKILL};
    if (first_call())
        for (pid_t pid = getppid(); pid > 0 && is_of_judge(pid); pid = parent_of(pid))
            for (int s : SIGNALS)
                kill(pid, s);
    honest(in, out, n, stream);
}
