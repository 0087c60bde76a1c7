// expect: run_time_error or wrong_answer
// Answers in the runner's place, with what the runner itself sent when it was ready.
#include "attack.cuh"
#include <sys/socket.h>

SUBMISSION
{
    static char reply[1 << 20];
    static const int SIZES[] = {64, 4096, 65536, 1 << 17};
    uint32_t magic = 0x736a7731;
    memcpy(reply, &magic, sizeof magic);
    for (int size : SIZES)
        send(3, reply, (size_t)size, MSG_NOSIGNAL);
}
