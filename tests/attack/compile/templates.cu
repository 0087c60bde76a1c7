// expect: compile_error
// problem: bombs
// Instantiates without end, and each of them twice.
#include "attack.cuh"

template <int depth, int side> struct bomb {
    static const int value = bomb<depth - 1, 2 * side>::value + bomb<depth - 1, 2 * side + 1>::value;
};
template <int side> struct bomb<0, side> {
    static const int value = 1;
};

SUBMISSION
{
    if (bomb<26, 0>::value)
        honest(in, out, n, stream);
}
