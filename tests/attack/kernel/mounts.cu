// expect: accepted
#include "attack.cuh"
#include <sys/mount.h>

SUBMISSION
{
    if (first_call()) {
        MUST_BE_REFUSED(mount(nullptr, nullptr, nullptr, 0, nullptr));
        MUST_BE_REFUSED(umount2("/sj_attack_nowhere", 0));
        MUST_BE_REFUSED(syscall(SYS_pivot_root, nullptr, nullptr));
        MUST_BE_REFUSED(syscall(SYS_chroot, nullptr));
        MUST_BE_REFUSED(syscall(428, -1, nullptr, 0));                  // open_tree
        MUST_BE_REFUSED(syscall(429, -1, nullptr, -1, nullptr, 0));     // move_mount
        MUST_BE_REFUSED(syscall(430, nullptr, 0));                      // fsopen
        MUST_BE_REFUSED(syscall(432, -1, 0, 0));                        // fsmount
        MUST_BE_REFUSED(syscall(442, -1, nullptr, 0, nullptr, 0));      // mount_setattr
        MUST_BE_REFUSED(syscall(SYS_open_by_handle_at, -1, nullptr, 0));
        MUST_BE_REFUSED(syscall(SYS_swapon, nullptr, 0));
        MUST_BE_REFUSED(syscall(SYS_acct, "/sj_attack_nowhere/acct"));
    }
    honest(in, out, n, stream);
}
