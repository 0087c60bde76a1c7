#include "judge/keeper.h"

#include <sys/socket.h>

void keeper_dismiss(struct keeper *k)
{
    if (k->is_open && k->box.socket_fd >= 0)
        shutdown(k->box.socket_fd, SHUT_RDWR); /* the runner ends when its peer is gone */
}

void keeper_close(struct keeper *k)
{
    if (k->is_open)
        run_close(&k->box);
    k->is_open = false;
    k->out_seen = k->errors_seen = 0;
    k->passes = 0;
}

void keeper_begin_case(struct keeper *k)
{
    k->passes_before_case = k->passes;
    if (!k->is_open)
        return;
    text_clear(&k->box.out);
    text_clear(&k->box.errors);
    k->out_seen = k->errors_seen = 0;
}

static void take_output(const struct text *all, size_t *seen, struct text *to)
{
    if (all->length > *seen)
        text_addn(to, all->data + *seen, all->length - *seen);
    *seen = all->length;
}

int keeper_pass(struct keeper *k, const struct wire_request *request, const int fds[2],
                uint64_t limit_ns, struct run_outcome *outcome, struct text *out,
                struct text *errors, struct err *e)
{
    int status = 0;
    if (!k->is_open) {
        status = run_open(&k->spec, &k->box, outcome, e);
        k->is_open = true; /* run_close() is due in any case */
        if (status != 0 || outcome->how != RUN_REPLIED || outcome->reply.status != WIRE_READY)
            goto dead;
    }
    k->passes++;
    status = run_pass(&k->box, request, fds, limit_ns, outcome, e);
    take_output(&k->box.out, &k->out_seen, out);
    take_output(&k->box.errors, &k->errors_seen, errors);
    if (status == 0 && outcome->how == RUN_REPLIED && k->box.alive &&
        outcome->reply.status != WIRE_BAD_REQUEST)
        return 0;
dead:
    take_output(&k->box.out, &k->out_seen, out);
    take_output(&k->box.errors, &k->errors_seen, errors);
    keeper_close(k);
    return status;
}
