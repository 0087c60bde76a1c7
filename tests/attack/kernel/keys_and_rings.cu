// expect: accepted
// The kernel's store of keys, which no namespace divides, and requests that no filter sees.
#include "attack.cuh"

SUBMISSION
{
    if (first_call()) {
        MUST_BE_REFUSED(syscall(SYS_keyctl, 0, -3, 0));
        MUST_BE_REFUSED(syscall(SYS_add_key, nullptr, nullptr, nullptr, 0, -3));
        MUST_BE_REFUSED(syscall(SYS_request_key, nullptr, nullptr, nullptr, 0));
        MUST_BE_REFUSED(syscall(425, 0, nullptr));             // io_uring_setup
        MUST_BE_REFUSED(syscall(426, -1, 0, 0, 0, nullptr, 0)); // io_uring_enter
        MUST_BE_REFUSED(syscall(427, -1, 0, nullptr, 0));      // io_uring_register
    }
    honest(in, out, n, stream);
}
