// expect: output_limit_exceeded
// The same on the other stream, from a child, in one piece.
#include "attack.cuh"

SUBMISSION
{
    static char piece[1 << 20];
    honest(in, out, n, stream);
    memset(piece, 'a', sizeof piece);
    if (bounded_fork(5) == 0) {
        for (int i = 0; i < 64; i++)
            if (write(2, piece, sizeof piece) < 0)
                break;
        _exit(0);
    }
    usleep(500000);
}
