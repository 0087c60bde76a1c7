// expect: accepted
// judgings: 2
// Leaves a note in every place that outlives a process, and looks for the note of another one.
#include "attack.cuh"
#include <sys/ipc.h>
#include <sys/shm.h>

SUBMISSION
{
    static const char *const PLACES[] = {"/tmp/sj_attack_note", "/var/tmp/sj_attack_note", "/dev/shm/sj_attack_note",
                                         "/run/sj_attack_note", "/run/lock/sj_attack_note", "sj_attack_note",
                                         ATTACK_CACHE "/sj_attack_note", ATTACK_FOLDER "/sj_attack_note"};
    if (first_call()) {
        for (const char *place : PLACES) {
            int fd = open(place, O_RDWR | O_CREAT | O_EXCL, 0666);
            if (fd < 0 && errno == EEXIST)
                BREACH("%s was left here", place);
            if (fd >= 0)
                close(fd);
        }
        if (shmget(0x5ca9a77a, 4096, 0) >= 0)
            BREACH("a shared memory segment was left here");
        shmget(0x5ca9a77a, 4096, IPC_CREAT | 0666);
    }
    honest(in, out, n, stream);
}
