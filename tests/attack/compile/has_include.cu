// expect: accepted or compile_error
// never: BREACH: files are seen
// Asks whether files are there: those of the judge, of users and of other judgings. (Where Landlock refuses to open one, the
// compiler gives up.)
#include "attack.cuh"
#if __has_include(ATTACK_ROOT_FILE) || __has_include(ATTACK_SECRET_FILE) || __has_include("/etc/shadow") || \
    __has_include("/root/.bashrc")
#error BREACH: files are seen
#endif

SUBMISSION
{
    honest(in, out, n, stream);
}
