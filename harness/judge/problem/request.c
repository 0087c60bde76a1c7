#include "judge/problem/request.h"

#include "base/hash.h"

#include <stdio.h>

static void buffer_init(struct wire_request *request, struct wire_param *w,
                        const struct problem_param *param, const struct case_buffer *buffer)
{
    w->kind = WIRE_PARAM_BUFFER;
    w->role = param->role;
    w->misalign = buffer->misalign;
    w->bytes = buffer->bytes;
    w->out_offset = request->out_bytes;
    request->out_bytes += wire_buffer_bytes(w);
    if (param->role != WIRE_INPUT && param->role != WIRE_INOUT)
        return;
    w->in_offset = request->in_bytes;
    request->in_bytes = wire_align_up(request->in_bytes + buffer->bytes);
}

void request_init(struct wire_request *request, const struct case_data *data)
{
    const struct problem *p = data->problem;
    *request = (struct wire_request){.magic = WIRE_MAGIC, .param_count = p->param_count};
    if (p->param_count > WIRE_PARAMS_MAX)
        BUG("%u parameters passed the loader", p->param_count);
    for (unsigned i = 0; i < p->param_count; i++) {
        struct wire_param *w = &request->params[i];
        const struct problem_param *param = &p->params[i];
        w->type = param->type;
        snprintf(w->name, sizeof w->name, "%s", param->name);
        switch (param->kind) {
        case PARAM_BUFFER:
            buffer_init(request, w, param, &data->buffers[i]);
            break;
        case PARAM_SCALAR:
            w->kind = WIRE_PARAM_SCALAR;
            w->scalar = data->scalars[i];
            break;
        case PARAM_STREAM:
            w->kind = WIRE_PARAM_STREAM;
            break;
        }
    }
}

uint64_t request_seed(const struct case_data *data, unsigned pass, const char *purpose)
{
    struct hash h;
    hash_init(&h);
    hash_part(&h, &data->seed, sizeof data->seed);
    hash_str(&h, data->instance->name);
    hash_part(&h, &pass, sizeof pass);
    hash_str(&h, purpose);
    return hash_number(&h);
}
