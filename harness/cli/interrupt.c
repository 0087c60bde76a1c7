/* Ctrl-C while nvcc works: its folder in the cache is removed before we go. The handler only passes
 * the signal's number on; a thread that waits for it may do what a handler may not. Then the signal
 * comes again with its default action, so that our parent sees what ended us. Programs that we
 * start get default actions and no blocked signal: handlers end with exec. */
#include "cli/cli.h"

#include "judge/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int signal_pipe[2];

static void pass_on(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    if (write(signal_pipe[1], &byte, 1) != 1)
        _exit(128 + number);
    errno = saved;
}

static void *wait_for_signal(void *unused)
{
    unsigned char number;
    ssize_t got;
    while ((got = read(signal_pipe[0], &number, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 1)
        return unused;
    compile_abandon();
    signal(number, SIG_DFL);
    kill(getpid(), number);
    return unused;
}

void cli_watch_interrupts(void)
{
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
    pthread_t thread;
    if (pipe2(signal_pipe, O_CLOEXEC) != 0)
        return; /* then an interrupt leaves a folder, which is swept after an hour */
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0)
        return;
    pthread_detach(thread);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART}, before;
        /* What was ignored before, by nohup for one, stays so. */
        if (sigaction(SIGNALS[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(SIGNALS[i], &action, NULL);
    }
}
