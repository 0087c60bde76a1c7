// expect: accepted
// Reads the memory of its ancestors, where the answers are.
#include "attack.cuh"
#include <sys/ptrace.h>
#include <sys/uio.h>

static void try_process(pid_t pid)
{
    static const char *const FILES[] = {"mem", "environ", "maps", "pagemap", "auxv"};
    char path[64], byte;
    for (const char *name : FILES) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
        int fd = open(path, O_RDONLY);
        if (fd < 0)
            continue;
        bool memory = strcmp(name, "mem") == 0 || strcmp(name, "pagemap") == 0;
        if (memory || read(fd, &byte, 1) == 1)
            BREACH("%s can be read", path);
        close(fd);
    }
    struct iovec local = {&byte, 1}, remote = {(void *)&try_process, 1};
    if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1)
        BREACH("memory of process %d can be read", (int)pid);
}

SUBMISSION
{
    if (first_call())
        for (pid_t pid = 1; pid < 100000; pid += pid < 300 ? 1 : 100000)
            if (pid != getpid())
                try_process(pid);
    if (getppid() > 300)
        try_process(getppid());
    honest(in, out, n, stream);
}
