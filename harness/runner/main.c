/* runner CUDART LIBRARY ENTRY [METER], with the judge's socket as descriptor 3.
 *
 * The program inside the box: loads a CUDA runtime, then the submission, and carries out requests
 * until the judge hangs up. Without a LIBRARY ("") it can be timed copying. It shares its process
 * with the submission, so nothing here is a secret and nothing it says is more than a claim. */
#include "runner/call.h"
#include "runner/crash.h"
#include "runner/device.h"
#include "runner/pass.h"
#include "runner/timed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int load(char **argv, const struct device *device, call_entry *entry, struct err *e)
{
    crash_catch(device->hooks, WIRE_SOCKET_FD); /* constructors run in dlopen */
    if (!argv[2][0])
        return 0;
    void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        /* The loader begins with the file's name, which means nothing to anybody out there. */
        const char *why = dlerror();
        size_t length = strlen(argv[2]);
        if (strncmp(why, argv[2], length) == 0 && why[length] == ':')
            why += length + 1 + (why[length + 1] == ' ');
        return err_set(e, "the submission cannot be loaded: %s", why);
    }
    void *address = dlsym(library, argv[3]);
    if (!address)
        return err_set(e, "the submission has no function %s", argv[3]);
    memcpy(entry, &address, sizeof address);
    return 0;
}

static int answer(const struct wire_reply *reply)
{
    struct err e = {""};
    fflush(NULL); /* what was printed belongs to this pass */
    if (wire_send(WIRE_SOCKET_FD, reply, sizeof *reply, NULL, &e) == 0)
        return 0;
    fprintf(stderr, "runner: %s\n", e.text);
    return -1;
}

/* 0 when the judge has hung up. */
static int serve(struct pass_state *state)
{
    static struct timed_state timed;
    timed_init(&timed, state);
    static struct wire_request request;
    static struct wire_reply reply;
    for (;;) {
        int fds[2];
        struct err e = {""};
        int got = wire_receive(WIRE_SOCKET_FD, &request, sizeof request, fds, &e);
        if (got == 0)
            return 0;
        reply = (struct wire_reply){.magic = WIRE_MAGIC};
        if (got < 0) {
            reply.status = WIRE_BAD_REQUEST;
            memcpy(reply.message, e.text, sizeof reply.message - 1);
        } else {
            crash_catch(state->device->hooks, WIRE_SOCKET_FD);
            if (request.action == WIRE_RUN)
                pass_run(state, &request, fds, &reply);
            else
                timed_run(&timed, &request, fds, &reply);
        }
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0)
                close(fds[i]);
        if (answer(&reply) != 0)
            return 1;
    }
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "runner: started by the judge, as: runner CUDART LIBRARY ENTRY [METER]\n");
        return 2;
    }
    if (fcntl(WIRE_SOCKET_FD, F_SETFD, FD_CLOEXEC) != 0) {
        fprintf(stderr, "runner: descriptor %d is not open\n", WIRE_SOCKET_FD);
        return 2;
    }
#ifndef SJ_SANITIZED /* LeakSanitizer attaches to its own process */
    prctl(PR_SET_DUMPABLE, 0);
#endif
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where a tool stands between the judge and us */
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* A line reaches the judge when it ends: a crash must not swallow what led up to it. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);

    static struct device device;
    call_entry entry = NULL;
    struct err e = {""};
    struct wire_reply hello = {.magic = WIRE_MAGIC, .status = WIRE_READY};
    bool has_device = device_open(argv[1], argv[4], &device, &e) == 0;
    if (!has_device || load(argv, &device, &entry, &e) != 0) {
        hello.status = has_device ? WIRE_LOAD_FAILED : WIRE_NO_DEVICE;
        memcpy(hello.message, e.text, sizeof hello.message - 1);
        return answer(&hello) == 0 ? 0 : 1;
    }
    static struct pass_state state;
    pass_init(&state, &device, entry);
    int status = answer(&hello) == 0 ? serve(&state) : 1;
    fflush(NULL);
    _exit(status); /* neither the submission's destructors nor the device's matter to anyone now */
}
