/* One request or answer is one SOCK_SEQPACKET message; descriptors travel beside it. */
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int wire_send(int socket_fd, const void *message, size_t bytes, const int fds[2], struct err *e)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    size_t count = 0;
    int passed[2];
    for (int i = 0; fds && i < 2; i++)
        if (fds[i] >= 0)
            passed[count++] = fds[i];
    if (count) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(c), passed, count * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket_fd, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return err_set_errno(e, "cannot send to the other side of the box");
    if ((size_t)sent != bytes)
        return err_set(e, "sent %zd of %zu bytes to the other side of the box", sent, bytes);
    return 0;
}

int wire_receive(int socket_fd, void *message, size_t bytes, int fds[2], struct err *e)
{
    struct iovec part = {.iov_base = message, .iov_len = bytes};
    union {
        char bytes[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    int unused[2];
    int *kept = fds ? fds : unused;
    kept[0] = kept[1] = -1;
    ssize_t got;
    do
        got = recvmsg(socket_fd, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == ECONNRESET)
        return 0;
    if (got < 0)
        return err_set_errno(e, "cannot receive from the other side of the box");
    int count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
            if (fds && count < 2)
                kept[count++] = fd;
            else
                close(fd); /* nobody asked for it */
        }
    }
    if (got == 0)
        return 0;
    if ((size_t)got != bytes || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        for (int i = 0; i < count; i++) {
            close(kept[i]);
            kept[i] = -1;
        }
        return err_set(e, "a message of %zd bytes came where %zu were expected", got, bytes);
    }
    return 1;
}
