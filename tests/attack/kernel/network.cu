// expect: accepted
// Every kind of socket but the one that stays on this machine.
#include "attack.cuh"
#include <netinet/in.h>
#include <sys/socket.h>

SUBMISSION
{
    if (first_call()) {
        MUST_BE_REFUSED(socket(AF_INET, SOCK_STREAM, 0));
        MUST_BE_REFUSED(socket(AF_INET, SOCK_DGRAM, 0));
        MUST_BE_REFUSED(socket(AF_INET6, SOCK_STREAM, 0));
        MUST_BE_REFUSED(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
        MUST_BE_REFUSED(socket(AF_NETLINK, SOCK_RAW, 0));
        MUST_BE_REFUSED(socket(AF_PACKET, SOCK_RAW, 0));
        MUST_BE_REFUSED(socket(AF_ALG, SOCK_SEQPACKET, 0));
        MUST_BE_REFUSED(socket(AF_VSOCK, SOCK_STREAM, 0));
    }
    honest(in, out, n, stream);
}
