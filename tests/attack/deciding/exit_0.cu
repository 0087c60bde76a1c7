// expect: run_time_error
// expect-finding: exit
// Ends with the status of success before anything is computed.
#include "attack.cuh"

SUBMISSION
{
    _exit(0);
}
