/* Submissions for the pipeline: (in, out, n, stream), an exclusive scan each but for one fault. */
#include "wire/wire.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* From the fake CUDA runtime. */
void *fake_host(const void *device);
void fake_fail(int last, int at_sync);
void fake_report(int kind, const char *message);

#define ENTRY(name) void name(const int *in, int *out, int n, void *stream)

static unsigned calls;
static volatile uintptr_t nowhere = 8; /* an address that the compiler does not know */

static void exclusive(const int *in, int *out, int n)
{
    const int *from = fake_host(in);
    int *to = fake_host(out), sum = 0;
    for (int i = 0; i < n; i++) {
        to[i] = sum;
        sum += from[i];
    }
    calls++;
}

ENTRY(right)
{
    (void)stream;
    exclusive(in, out, n);
}

ENTRY(inclusive)
{
    (void)stream;
    const int *from = fake_host(in);
    int *to = fake_host(out);
    exclusive(in, out, n);
    for (int i = 0; i < n; i++)
        to[i] += from[i];
}

/* Right only in the first call: a counter that is never reset. */
ENTRY(first_call_only)
{
    (void)stream;
    exclusive(in, out, n);
    if (calls > 1 && n > 0)
        ((int *)fake_host(out))[n - 1] += 1000;
}

/* Three small cases have six passes each. */
ENTRY(wrong_after_three_cases)
{
    (void)stream;
    exclusive(in, out, n);
    if (calls > 18 && n > 0)
        ((int *)fake_host(out))[n - 1] += 1000;
}

/* Wrong once, after the six passes that every small case gets. */
ENTRY(wrong_in_call_9)
{
    (void)stream;
    exclusive(in, out, n);
    if (calls == 9 && n > 0)
        ((int *)fake_host(out))[n - 1] += 1000;
}

/* Adds to what the output held: right never. Depends on the poison, not on the order. */
ENTRY(adds_to_poison)
{
    (void)stream;
    int *to = fake_host(out), before = n > 0 ? to[0] : 0;
    exclusive(in, out, n);
    if (n > 0)
        to[0] = before;
}

/* Every other call right. */
ENTRY(flickers)
{
    (void)stream;
    exclusive(in, out, n);
    if (calls % 2 && n > 0)
        ((int *)fake_host(out))[n - 1] += (int)calls;
}

ENTRY(crashes)
{
    (void)in, (void)out, (void)n, (void)stream;
    *(volatile int *)nowhere = 1;
}

ENTRY(crashes_on_33)
{
    (void)stream;
    exclusive(in, out, n);
    if (n == 33)
        *(volatile int *)nowhere = 1;
}

ENTRY(sleeps)
{
    (void)in, (void)out, (void)n, (void)stream;
    sleep(60);
}

ENTRY(exits)
{
    (void)in, (void)out, (void)n, (void)stream;
    _exit(0);
}

/* The sixth pass of the first case, n = 0, is the one that starts blocks from the last. */
ENTRY(hangs_last_first)
{
    (void)stream;
    exclusive(in, out, n);
    if (n == 0 && calls == 6) {
        fake_report(FINDING_deadlock, "block 7 waits for block 6");
        fake_fail(0, 702);
    }
}

ENTRY(hangs)
{
    (void)in, (void)out, (void)n, (void)stream;
    fake_report(FINDING_deadlock, "every thread waits");
    fake_fail(0, 702);
}

ENTRY(asks_too_much)
{
    (void)in, (void)out, (void)n, (void)stream;
    fake_report(FINDING_unsupported, "an instruction that the CPU device does not have");
    fake_fail(0, 719);
}

/* A right answer with a finding of severity error beside it. */
ENTRY(races)
{
    (void)stream;
    exclusive(in, out, n);
    fake_report(FINDING_data_race, "two threads touch the same bytes");
}

/* 100 bytes a call: too much over all calls of all cases, not in any one case. */
ENTRY(prints)
{
    (void)stream;
    exclusive(in, out, n);
    for (int i = 0; i < 10; i++)
        puts("123456789");
    fflush(stdout);
}

ENTRY(overruns)
{
    (void)stream;
    exclusive(in, out, n);
    ((int *)fake_host(out))[n] = 1;
}

ENTRY(changes_input)
{
    (void)stream;
    exclusive(in, out, n);
    if (n > 0)
        ((int *)fake_host(in))[0] += 1;
}
