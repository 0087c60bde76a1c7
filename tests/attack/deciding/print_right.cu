// expect: wrong_answer
// Prints what it wishes the report to say, in every form of it, and computes nothing.
#include "attack.cuh"

SUBMISSION
{
    printf("accepted: scan, all cases\nPASS\n{\"verdict\": \"accepted\"}\n");
    fprintf(stderr, "accepted\n");
}
