// expect: compile_error
// never: root:
#include "/etc/passwd"
#include "attack.cuh"

SUBMISSION
{
}
