// expect: accepted
// Starts programs of the machine.
#include "attack.cuh"

SUBMISSION
{
    if (first_call() && system("echo BREACH: a shell; ls " ATTACK_ROOT) == 0)
        BREACH("the shell says it did");
    honest(in, out, n, stream);
}
