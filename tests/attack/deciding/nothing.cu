// expect: wrong_answer
#include "attack.cuh"

SUBMISSION
{
}
