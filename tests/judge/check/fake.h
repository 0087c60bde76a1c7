/* A case made by hand: what the problem loader, the generators and the box would have produced. */
#ifndef TESTS_JUDGE_CHECK_FAKE_H
#define TESTS_JUDGE_CHECK_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/check/check.h"

#include <stdlib.h>
#include <string.h>

enum { FAKE_PARAMS_MAX = 4 };

struct fake {
    struct arena arena;
    struct problem problem;
    struct problem_param params[FAKE_PARAMS_MAX];
    struct problem_check checks[FAKE_PARAMS_MAX];
    struct problem_case instance;
    struct case_data data;
    struct case_buffer buffers[FAKE_PARAMS_MAX];
    struct wire_request request;
    uint8_t *outputs;
    struct check_result result;
};

static inline void fake_init(struct fake *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    f->problem = (struct problem){.id = "fake", .params = f->params, .checks = f->checks};
    f->instance.name = "case";
    f->data = (struct case_data){
        .problem = &f->problem, .instance = &f->instance, .seed = 1, .buffers = f->buffers};
    f->request = (struct wire_request){.magic = WIRE_MAGIC, .poison_seed = 77};
}

/* Adds a buffer; `bytes` is its input (INPUT, INOUT) or its expected answer (OUTPUT). */
static inline unsigned fake_buffer(struct fake *f, const char *name, enum wire_role role,
                                   enum wire_type type, const void *bytes, uint64_t count)
{
    unsigned i = f->problem.param_count++;
    uint64_t size = count * wire_type_bytes(type);
    f->params[i] =
        (struct problem_param){.name = name, .kind = PARAM_BUFFER, .type = type, .role = role};
    f->buffers[i] = (struct case_buffer){.count = count, .bytes = size};
    void *copy = arena_alloc(&f->arena, size + 1);
    if (size)
        memcpy(copy, bytes, size);
    if (role == WIRE_OUTPUT)
        f->buffers[i].expected = copy;
    else if (role != WIRE_WORKSPACE)
        f->buffers[i].input = copy;
    struct wire_param *w = &f->request.params[f->request.param_count++];
    *w = (struct wire_param){.kind = WIRE_PARAM_BUFFER,
                             .type = type,
                             .role = role,
                             .bytes = size,
                             .out_offset = f->request.out_bytes};
    f->request.out_bytes += wire_buffer_bytes(w);
    return i;
}

static inline void fake_check(struct fake *f, unsigned param, enum compare_kind kind,
                              int count_param, int group_param)
{
    f->checks[f->problem.check_count++] = (struct problem_check){.param = param,
                                                                 .compare = kind,
                                                                 .ulps = 2,
                                                                 .count_param = count_param,
                                                                 .group_param = group_param};
}

/* Fills the outputs region as a box that does nothing: poison, and the inputs. */
static inline void fake_untouched(struct fake *f)
{
    f->outputs = realloc(f->outputs, f->request.out_bytes + 1);
    for (unsigned i = 0; i < f->request.param_count; i++) {
        const struct wire_param *w = &f->request.params[i];
        wire_poison(f->outputs + w->out_offset, 0, wire_buffer_bytes(w), f->request.poison_seed, i);
        if (f->buffers[i].input)
            memcpy(f->outputs + w->out_offset + WIRE_GUARD_BYTES, f->buffers[i].input, w->bytes);
    }
}

static inline void *fake_payload(struct fake *f, unsigned param)
{
    return f->outputs + f->request.params[param].out_offset + WIRE_GUARD_BYTES;
}

/* Writes the right answer of one output. */
static inline void fake_answer(struct fake *f, unsigned param)
{
    if (f->buffers[param].bytes)
        memcpy(fake_payload(f, param), f->buffers[param].expected, f->buffers[param].bytes);
}

static inline const struct check_result *fake_judge(struct fake *f)
{
    check_case(&f->data, &f->request, f->outputs, &f->arena, &f->result);
    return &f->result;
}

static inline void fake_release(struct fake *f)
{
    free(f->outputs);
    arena_release(&f->arena);
}

/* Does the diagnosis hold these words? Prints both when not. */
static inline void assert_says(const char *what, const char *diagnosis, const char *words)
{
    if (!words && !diagnosis)
        return;
    if (!words || !diagnosis || !strstr(diagnosis, words))
        fail_msg("%s: says \"%s\", expected \"%s\"", what, diagnosis ? diagnosis : "(nothing)",
                 words ? words : "(nothing)");
}

#endif
