// expect: accepted
// Types for whoever sits at the terminal.
#include "attack.cuh"
#include <sys/ioctl.h>

SUBMISSION
{
    if (first_call()) {
        char key = 'x';
        for (int fd = 0; fd < 3; fd++)
            MUST_BE_REFUSED(ioctl(fd, TIOCSTI, &key));
        // The same for a filter that looks at all 64 bits, where the kernel looks at 32.
        MUST_BE_REFUSED(syscall(SYS_ioctl, 0, 0xffffffff00000000ul | TIOCSTI, &key));
        int fd = open("/dev/tty", O_RDWR);
        if (fd >= 0)
            BREACH("there is a terminal");
    }
    honest(in, out, n, stream);
}
