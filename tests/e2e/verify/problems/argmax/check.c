#include "checker.h"

int main(void)
{
    const int *in = checker_in("in"), *place = checker_got("place");
    const int *first = checker_expected("place");
    long long n = checker_variable("n");
    if ((size_t)n != checker_count("in") || checker_count("place") != 1)
        return 1;
    if (*place < 0 || *place >= n)
        checker_wrong("place is %d, outside of the %lld items", *place, n);
    if (in[*place] != in[*first])
        checker_wrong("in[place] is not the largest item");
    checker_accept();
    return 0;
}
