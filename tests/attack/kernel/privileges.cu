// expect: accepted
// Whether it could be more than nobody.
#include "attack.cuh"

static long field(const char *name)
{
    char line[256];
    long value = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), nullptr, 16);
    if (f)
        fclose(f);
    return value;
}

SUBMISSION
{
    if (first_call()) {
        if (geteuid() == 0 || getegid() == 0)
            BREACH("it is root");
        if (setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0)
            BREACH("it becomes root");
        if (field("CapEff:") > 0 || field("CapPrm:") > 0 || field("CapAmb:") > 0)
            BREACH("it has capabilities");
        if (field("NoNewPrivs:") == 0)
            BREACH("a setuid program would have its owner's rights");
        if (field("Seccomp:") == 0)
            BREACH("there is no filter");
        gid_t groups[64];
        for (int i = 0, count = getgroups(64, groups); i < count; i++)
            if (groups[i] == 0)
                BREACH("it is in root's group");
    }
    honest(in, out, n, stream);
}
