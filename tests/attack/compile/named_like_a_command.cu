// expect: accepted
// as: $(touch sj_attack_touched);'a.cu
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
}
