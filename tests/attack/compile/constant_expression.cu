// expect: compile_error
// problem: bombs
// Computes while it compiles, for ever.
#include "attack.cuh"

constexpr unsigned long spin(unsigned long n)
{
    unsigned long x = 1;
    for (unsigned long i = 0; i < n; i++)
        x = x * 6364136223846793005u + i;
    return x;
}

template <unsigned long n> struct spins {
    static constexpr unsigned long value = spin(900000) + spins<n - 1>::value;
};
template <> struct spins<0> {
    static constexpr unsigned long value = 0;
};

SUBMISSION
{
    static_assert(spins<800>::value != 1, "");
    honest(in, out, n, stream);
}
