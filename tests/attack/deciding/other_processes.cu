// expect: accepted
// Looks for processes that are none of its box.
#include "attack.cuh"
#include <dirent.h>

SUBMISSION
{
    DIR *proc = first_call() ? opendir("/proc") : nullptr;
    while (dirent *entry = proc ? readdir(proc) : nullptr) {
        char path[300], words[256] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = atoi(entry->d_name) > 0 ? open(path, O_RDONLY) : -1;
        if (fd < 0)
            continue;
        ssize_t count = read(fd, words, sizeof words - 1);
        close(fd);
        for (ssize_t i = 0; i + 1 < count; i++)
            words[i] = words[i] ? words[i] : ' ';
        // The driver's own command line, and the judge's with its seed.
        if (strstr(words, "attacks") || strstr(words, " run "))
            BREACH("process %s is seen: %.80s", entry->d_name, words);
    }
    if (proc)
        closedir(proc);
    honest(in, out, n, stream);
}
