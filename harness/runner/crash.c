/* How it works: the handler runs on an alternate stack (a stack overflow has none left), takes the
 * reply from static memory and formats by hand, since stdio may be what crashed. The handler is
 * taken off as it starts: if it crashes itself, the parent sees the signal and no reply. */
#include "runner/crash.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024, NEAR_NULL_BYTES = 4096, PATIENCE_US = 200000 };

static struct {
    _Alignas(64) char stack[STACK_BYTES];
    const struct wire_device_hooks *hooks;
    const struct crash_buffer *buffers;
    int socket_fd;
    unsigned buffer_count;
    struct wire_reply reply;
} crash;

static void add(char *to, size_t capacity, const char *s)
{
    size_t used = strlen(to), length = strlen(s);
    if (used + length >= capacity)
        length = capacity - used - 1;
    memcpy(to + used, s, length);
    to[used + length] = '\0';
}

static void add_hex(char *to, size_t capacity, uintptr_t value)
{
    char digits[2 + 2 * sizeof value + 1];
    char *p = digits + sizeof digits - 1;
    *p = '\0';
    do {
        *--p = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    *--p = 'x';
    *--p = '0';
    add(to, capacity, p);
}

static void explain_buffer(char *message, size_t capacity, uintptr_t address)
{
    for (unsigned i = 0; i < crash.buffer_count; i++) {
        const struct crash_buffer *b = &crash.buffers[i];
        if (address - (uintptr_t)b->start >= b->bytes)
            continue;
        add(message, capacity, "host code dereferences the device pointer `");
        add(message, capacity, b->name);
        add(message, capacity, "`: only kernels can reach device memory");
        return;
    }
}

static void add_finding(struct wire_reply *reply)
{
    if (reply->finding_count == WIRE_FINDINGS_MAX)
        return;
    struct wire_finding *f = &reply->findings[reply->finding_count++];
    *f = (struct wire_finding){.kind = FINDING_device_pointer_on_host,
                               .severity = WIRE_ERROR,
                               .block = {-1, -1, -1},
                               .thread = {-1, -1, -1},
                               .count = 1};
    add(f->message, sizeof f->message, reply->message);
}

/* A sentence about a fault at `address`. */
static void explain_fault(struct wire_reply *reply, const siginfo_t *info)
{
    char *message = reply->message;
    size_t capacity = sizeof reply->message;
    if (info->si_code <= 0) { /* SI_USER, SI_TKILL: no fault */
        add(message, capacity, "the program sent itself a signal");
        return;
    }
    if (info->si_code == SI_KERNEL) { /* how a non-canonical address comes, without its value */
        add(message, capacity, "host code uses a pointer that is no address at all");
        return;
    }
    uintptr_t address = (uintptr_t)info->si_addr;
    if (address >= NEAR_NULL_BYTES) {
        if (crash.hooks)
            crash.hooks->explain_host_address(info->si_addr, message, capacity);
        else
            explain_buffer(message, capacity, address);
    }
    if (message[0]) {
        add_finding(reply);
        return;
    }
    add(message, capacity,
        address < NEAR_NULL_BYTES ? "host code dereferences a null pointer (address "
                                  : "host code touches memory that it does not have (address ");
    add_hex(message, capacity, address);
    add(message, capacity, ")");
}

static void explain(struct wire_reply *reply, const siginfo_t *info)
{
    switch (info->si_signo) {
    case SIGSEGV:
    case SIGBUS:
        explain_fault(reply, info);
        break;
    case SIGFPE:
        add(reply->message, sizeof reply->message,
            "host code divides an integer by zero, or the smallest integer by -1");
        break;
    case SIGILL:
        add(reply->message, sizeof reply->message,
            "host code executes an illegal instruction (a function that ends without a return?)");
        break;
    default:
        add(reply->message, sizeof reply->message,
            "host code calls abort (a failed assert, an exception nobody catches, a damaged heap)");
        break;
    }
}

_Noreturn static void send_and_end(void)
{
    send(crash.socket_fd, &crash.reply, sizeof crash.reply, MSG_NOSIGNAL);
    _exit(128 + crash.reply.signal);
}

/* The device did not answer: it crashed itself, say in a copy to a bad host address, and waits for
 * a lock that it holds. The signal alone is news enough. */
static void on_alarm(int number)
{
    (void)number;
    crash.reply.finding_count = crash.reply.findings_dropped = 0;
    add(crash.reply.message, sizeof crash.reply.message,
        "the process crashed inside of a CUDA call (was it given a bad host pointer?)");
    send_and_end();
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct wire_reply *reply = &crash.reply;
    *reply = (struct wire_reply){.magic = WIRE_MAGIC, .status = WIRE_CRASHED, .signal = number};
    if (crash.hooks) {
        struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};
        sigaction(SIGALRM, &action, NULL);
        sigset_t alarm_only;
        sigemptyset(&alarm_only);
        sigaddset(&alarm_only, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
        struct itimerval patience = {.it_value = {.tv_usec = PATIENCE_US}};
        setitimer(ITIMER_REAL, &patience, NULL);
        size_t all = crash.hooks->findings(reply->findings, WIRE_FINDINGS_MAX);
        reply->finding_count = all < WIRE_FINDINGS_MAX ? (uint32_t)all : WIRE_FINDINGS_MAX;
        reply->findings_dropped = (uint32_t)(all - reply->finding_count);
    }
    explain(reply, info);
    send_and_end();
}

void crash_name_buffers(const struct crash_buffer *buffers, unsigned count)
{
    crash.buffers = buffers;
    crash.buffer_count = count;
}

void crash_catch(const struct wire_device_hooks *hooks, int socket_fd)
{
    crash.hooks = hooks;
    crash.socket_fd = socket_fd;
    stack_t stack = {.ss_sp = crash.stack, .ss_size = sizeof crash.stack};
    sigaltstack(&stack, NULL);
    static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags =
                                   (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER)};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++)
        sigaction(SIGNALS[i], &action, NULL);
}
