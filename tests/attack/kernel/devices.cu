// expect: accepted
// Makes a device of its own, and opens those of the machine.
#include "attack.cuh"
#include <sys/sysmacros.h>

SUBMISSION
{
    static const char *const DEVICES[] = {"/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/fuse", "/dev/kvm",
                                          "/dev/net/tun", "/dev/loop0", "/dev/loop-control", "/dev/userfaultfd"};
    if (first_call()) {
        if (mknod("/tmp/sj_attack_device", S_IFBLK | 0666, makedev(7, 0)) == 0)
            BREACH("a block device was made");
        for (const char *device : DEVICES) {
            int fd = open(device, O_RDONLY | O_NONBLOCK);
            if (fd >= 0)
                BREACH("%s can be opened", device);
        }
    }
    honest(in, out, n, stream);
}
