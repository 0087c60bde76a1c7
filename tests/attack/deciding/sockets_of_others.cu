// expect: accepted
// Talks to a program outside through a socket: by a path and by an abstract name.
#include "attack.cuh"
#include <sys/socket.h>
#include <sys/un.h>

static void talk(const char *name, bool abstract)
{
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return;
    strncpy(address.sun_path + abstract, name, sizeof address.sun_path - 2);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name) + !abstract);
    if (connect(fd, (struct sockaddr *)&address, length) == 0)
        BREACH("somebody listens at %s%s", abstract ? "@" : "", name);
    close(fd);
}

SUBMISSION
{
    if (first_call()) {
        talk(ATTACK_SOCKET, true);
        talk(ATTACK_FOLDER "/socket", false);
    }
    honest(in, out, n, stream);
}
