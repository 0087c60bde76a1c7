/* Submissions, one per entry point: each takes (in, out, n, stream) unless it says otherwise. */
#include "wire/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* From the fake CUDA runtime. */
void *fake_host(const void *device);
void fake_fail(int last, int at_sync);
void fake_report(int kind, const char *message);
size_t fake_forgotten(void);
size_t fake_size(const void *device);
void fake_leave(int *device, int value);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);

#define ENTRY(name) void name(const int *in, int *out, int n, void *stream)
#define UNUSED      (void)in, (void)out, (void)n, (void)stream

ENTRY(scan)
{
    const int *from = fake_host(in);
    int *to = fake_host(out), sum = 0;
    if ((uintptr_t)stream != 0x5717)
        abort();
    for (int i = 0; i < n; i++) {
        to[i] = sum;
        sum += from[i];
    }
}

/* Every type that can be declared, in an order that mixes registers and stack. */
void scalars(signed char a, double b, short c, float d, int e, long long f, unsigned char g,
             unsigned short h, unsigned i, unsigned long long j, size_t k, unsigned short half,
             unsigned short bfloat, double *out)
{
    double *to = fake_host(out);
    double all[] = {a, b, c, d, e, (double)f, g, h, i, (double)j, (double)k, half, bfloat};
    memcpy(to, all, sizeof all);
}

/* Writes one element past the end and one before the start. */
ENTRY(overrun)
{
    (void)in, (void)stream;
    int *to = fake_host(out);
    to[n] = 1;
    to[-1] = 1;
}

/* What it finds in its buffers: out[0] = the first int of the poison, in[-1], the workspace
 * forgotten */
ENTRY(look)
{
    (void)stream;
    int *to = fake_host(out);
    const int *from = fake_host(in);
    to[1] = from[-1];
    to[2] = from[n];
    to[3] = (int)((uintptr_t)in & 255);
    to[4] = (int)fake_forgotten();
}

ENTRY(address)
{
    (void)n, (void)stream, (void)in;
    *(uint64_t *)fake_host(out) = (uintptr_t)out;
}

ENTRY(allocates)
{
    UNUSED;
    void *p, *q;
    cudaMalloc(&p, 5000);
    cudaFree(p);
    cudaMalloc(&q, 3000);
}

/* Until it is refused; out[0] = how many it got. Then all is given back in another order. */
ENTRY(allocates_much)
{
    (void)in, (void)n, (void)stream;
    enum { BLOCKS = 2000 };
    void *blocks[BLOCKS];
    int got = 0, *to = fake_host(out);
    while (got < BLOCKS && cudaMalloc(&blocks[got], 1024) == 0)
        got++;
    to[0] = got;
    to[1] = 0;
    for (int i = 0; i < got; i += 2)
        to[1] += cudaFree(blocks[i]) != 0;
    for (int i = 1; i < got; i += 2)
        to[1] += cudaFree(blocks[i]) != 0;
}

ENTRY(device_pointer)
{
    (void)in, (void)n, (void)stream;
    fake_report(FINDING_data_race, "found before the crash");
    out[0] = 1;
}

ENTRY(null_pointer)
{
    UNUSED;
    *(volatile int *)(uintptr_t)16 = 1;
}

ENTRY(wild_pointer)
{
    UNUSED;
    *(volatile int *)(uintptr_t)0xdead00000000beef = 1;
}

ENTRY(divides)
{
    UNUSED;
    volatile int zero = 0, seven = 7;
    volatile int result = seven / zero;
    (void)result;
}

ENTRY(aborts)
{
    UNUSED;
    puts("before the crash");
    abort();
}

ENTRY(illegal)
{
    UNUSED;
    __builtin_trap();
}

static int deeper(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = above[0];
    return deeper(frame) + frame[0];
}

ENTRY(overflows_stack)
{
    UNUSED;
    char c = 1;
    deeper(&c);
}

ENTRY(own_handler)
{
    UNUSED;
    signal(SIGSEGV, SIG_IGN);
    signal(SIGABRT, SIG_IGN);
}

ENTRY(exits)
{
    UNUSED;
    printf("PASS"); /* no newline: exit flushes */
    exit(0);
}

ENTRY(quick_exits)
{
    UNUSED;
    _exit(9);
}

ENTRY(kills_itself)
{
    UNUSED;
    raise(SIGKILL);
}

ENTRY(stops_itself)
{
    UNUSED;
    raise(SIGSTOP);
}

ENTRY(loops)
{
    UNUSED;
    signal(SIGTERM, SIG_IGN);
    for (;;)
        ;
}

ENTRY(floods)
{
    UNUSED;
    for (;;)
        puts("a line of a flood");
}

ENTRY(floods_errors)
{
    UNUSED;
    for (;;)
        fputs("a line of a flood", stderr);
}

ENTRY(prints)
{
    UNUSED;
    printf("to stdout, no newline");
    fprintf(stderr, "to stderr");
}

ENTRY(last_error)
{
    UNUSED;
    fake_fail(9, 0);
}

ENTRY(sync_error)
{
    UNUSED;
    fake_fail(0, 700);
}

ENTRY(leaves_work)
{
    UNUSED;
    *(int *)fake_host(out) = 1;
    fake_leave(out, 2);
}

ENTRY(leaves_child)
{
    UNUSED;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    printf("%d\n", (int)pid);
}

/* out[0] = whether the inputs could be made writable, out[1] = descriptors above 3, out[2] =
 * dumpable, out[3] = variables in the environment, out[4] = whether the outputs could be resized */
/* Where in its allocation each buffer begins, how large those are, and what a fresh output holds.
 */
ENTRY(look_bare)
{
    (void)n, (void)stream;
    printf("in at %d, %zu bytes, out at %d, %zu bytes, %d\n", (int)((uintptr_t)in % 256),
           fake_size(in), (int)((uintptr_t)out % 256), fake_size(out), *(int *)fake_host(out));
}

ENTRY(snoops)
{
    (void)in, (void)n, (void)stream;
    extern char **environ;
    int *to = fake_host(out);
    to[0] = to[1] = to[3] = to[4] = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        if (strstr(line, "/memfd:inputs") && sscanf(line, "%lx-%lx", &start, &end) == 2)
            to[0] += mprotect((void *)start, end - start, PROT_READ | PROT_WRITE) == 0;
    }
    if (maps)
        fclose(maps);
    for (int fd = 4; fd < 1000; fd++) {
        char path[64], target[256] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) < 0)
            continue;
        if (strstr(target, "memfd:outputs"))
            to[4] += ftruncate(fd, 1) == 0;
        else if (!strstr(target, "memfd:"))
            to[1]++;
    }
    const char *card = getenv("CUDA_VISIBLE_DEVICES");
    to[5] = card ? (int)strlen(card) : -1;
    to[2] = prctl(PR_GET_DUMPABLE);
    for (char **variable = environ; *variable; variable++)
        to[3]++;
}

ENTRY(sends_garbage)
{
    UNUSED;
    if (write(WIRE_SOCKET_FD, "PASS", 4) < 0)
        abort();
    for (;;)
        pause();
}

static void forge(void (*change)(struct wire_reply *))
{
    static struct wire_reply reply;
    reply = (struct wire_reply){.magic = WIRE_MAGIC, .status = WIRE_DONE};
    change(&reply);
    if (write(WIRE_SOCKET_FD, &reply, sizeof reply) < 0)
        abort();
}

static void change_nothing(struct wire_reply *r)
{
    (void)r;
}

/* Answers for the next pass in advance. */
ENTRY(answers_early)
{
    UNUSED;
    forge(change_nothing);
}

#define FORGERY(name, what)                                                                        \
    static void change_##name(struct wire_reply *r)                                                \
    {                                                                                              \
        what;                                                                                      \
    }                                                                                              \
    ENTRY(forges_##name)                                                                           \
    {                                                                                              \
        UNUSED;                                                                                    \
        forge(change_##name);                                                                      \
        for (;;)                                                                                   \
            pause();                                                                               \
    }
FORGERY(magic, r->magic = 1)
FORGERY(status, r->status = 99)
FORGERY(ready, r->status = WIRE_READY)
FORGERY(count, r->finding_count = WIRE_FINDINGS_MAX + 1)
FORGERY(kind, r->finding_count = 1; r->findings[0].kind = FINDING_COUNT)
FORGERY(severity, r->finding_count = 1; r->findings[0].severity = 2)
FORGERY(endless_string, memset(r->message, 'x', sizeof r->message))
FORGERY(endless_file, r->finding_count = 1; memset(r->findings[0].file, 'x', 192))
FORGERY(signal, r->signal = 1000)

/* A well-formed reply whose text would disturb a terminal or a JSON reader. */
FORGERY(escapes, strcpy(r->message, "a\033[2Jb\xff\xc3\xa9\xed\xa0\x80z"))

ENTRY(closes_socket)
{
    UNUSED;
    close(WIRE_SOCKET_FD);
    for (;;)
        pause();
}
