// expect: accepted
// Asks whether files are there: those of the judge, of users and of other judgings.
#include "attack.cuh"
#if __has_include(ATTACK_ROOT_FILE) || __has_include(ATTACK_SECRET_FILE) || __has_include("/etc/shadow") || \
    __has_include("/root/.bashrc") || __has_include("/proc/1/environ")
#error BREACH: files are seen
#endif

SUBMISSION
{
    honest(in, out, n, stream);
}
