// What the attacks share. A submission is one file, so the driver puts this text in the place of
// its #include, behind definitions of ATTACK_ROOT, ATTACK_CACHE, ATTACK_FOLDER and ATTACK_SOCKET.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUBMISSION extern "C" void exclusive_scan(const int *in, int *out, int n, cudaStream_t stream)

// An attack that got through says so, and has failed to be contained whatever its verdict is.
#define BREACH(...) (dprintf(1, "BREACH: " __VA_ARGS__), dprintf(1, "\n"))

// For what only a sandbox refuses: any other answer than a refusal is a breach.
static inline bool is_refusal(int error)
{
    return error == EPERM || error == ENOSYS || error == EACCES || error == EAFNOSUPPORT;
}
#define MUST_BE_REFUSED(call)                                                                      \
    do {                                                                                           \
        errno = 0;                                                                                 \
        long result = (long)(call);                                                                \
        int why = errno;                                                                           \
        if (result != -1 || !is_refusal(why))                                                      \
            BREACH("%s gives %ld (%s)", #call, result, strerror(why));                             \
    } while (0)

__global__ void scan_by_one(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

// The right answer.
static inline void honest(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_by_one<<<1, 1, 0, stream>>>(in, out, n);
}

// true in the first call of a process.
static inline bool first_call()
{
    static int calls;
    return calls++ == 0;
}

// A child that ends by itself should the sandbox fail.
static inline pid_t bounded_fork(unsigned seconds)
{
    pid_t pid = fork();
    if (pid == 0)
        alarm(seconds);
    return pid;
}
