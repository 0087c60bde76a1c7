/* proc: start a program, collect what it prints (capped), wait for it within a limit.
 *
 * The child gets an explicit environment, a process group of its own, a parent-death signal and no
 * descriptor that is not named here. Nothing in this module knows about judging; the sandbox of
 * judge/run builds on it.
 *
 * Threads: a struct proc belongs to one thread at a time. The parent-death signal is tied to the
 * thread that called proc_start(), so that thread has to outlive the child. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { PROC_MORE_FDS = 4 };

struct proc_limit {
    int resource; /* RLIMIT_... */
    uint64_t value;
};

struct proc_spec {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH if it has no '/' */
    const char *const *environment; /* NULL-terminated "NAME=value"; NULL = empty */
    const char *folder;             /* working directory, NULL = ours */
    const struct proc_limit *limits;
    size_t limit_count;
    int keep_fd;         /* a descriptor the child keeps, as number 3; -1 = none */
    const int *more_fds; /* with keep_fd: further ones, as numbers 4, 5 ... */
    unsigned more_count; /* at most PROC_MORE_FDS */
    const int *join_fds; /* cgroup.procs of the control groups that the child enters */
    unsigned join_count;
    bool survives;    /* no parent-death signal: it finds out that we are gone by itself */
    bool pass_output; /* stdout and stderr go to ours, nothing is captured; so does stdin, unless it
                         is a terminal (a group in the background would be stopped by reading) */
};

struct proc {
    pid_t pid;
    int stdout_fd, stderr_fd; /* our ends of the pipes, non-blocking; -1 = closed or passed on */
};

enum proc_how { PROC_EXITED, PROC_SIGNALLED, PROC_TIMED_OUT, PROC_OUTPUT_LIMIT };

struct proc_end {
    enum proc_how how;
    int code; /* exit status or signal number */
    struct rusage usage;
    uint64_t wall_ns;
};

/* Starts the program. 0, or -1 with a sentence (not found, no more processes). */
int proc_start(const struct proc_spec *spec, struct proc *p, struct err *e);

/* SIGKILL to the whole group, then reaps. Safe on a process that has ended; idempotent. */
void proc_kill(struct proc *p);

/* The same, and tells how the first process ended (PROC_EXITED if it was through before the kill).
 */
void proc_finish(struct proc *p, struct proc_end *end);

/* Appends what has arrived on *fd, one of proc's pipes, without waiting, until `to` holds
 * `limit_bytes`. Closes *fd at the end of the stream. false: there is more than `limit_bytes`. */
bool proc_read(int *fd, struct text *to, size_t limit_bytes);

/* A descriptor that becomes readable when the process ends, close-on-exec; -1 with a sentence. */
int proc_watch(const struct proc *p, struct err *e);

/* Starts, captures stdout and stderr into `out` and `errors` (each up to `output_bytes`; more kills
 * the group and ends as PROC_OUTPUT_LIMIT), waits at most `limit_ns`. 0 when the program ran,
 * however it ended; -1 when it could not be started. */
int proc_run(const struct proc_spec *spec, uint64_t limit_ns, size_t output_bytes, struct text *out,
             struct text *errors, struct proc_end *end, struct err *e);

#endif
