#include "judge/checker.h"

#include "base/file.h"
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_ACCEPTED = 42, STATUS_WRONG = 43 };
enum { FILES_MAX = 3 * WIRE_PARAMS_MAX + 1, SAID_BYTES = 4096 };
static const uint64_t MEMORY_BYTES = (uint64_t)4 << 30;
static const uint64_t COMPILE_LIMIT_NS = 600000000000u;

static int is_header(const struct dirent *d)
{
    static const char *const ENDS[] = {".h", ".cuh", ".hpp"};
    size_t length = strlen(d->d_name);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        size_t end = strlen(ENDS[i]);
        if (length > end && strcmp(d->d_name + length - end, ENDS[i]) == 0)
            return 1;
    }
    return 0;
}

/* The headers of the problem's own folder, and checker.h unless one of them is called that. */
static const char *const *headers_of(const struct problem *p, const char *root, struct arena *arena)
{
    static const char COMMON[] = "checker.h";
    const char *common = arena_printf(arena, "%s/problems/%s", root, COMMON);
    const char *folder = arena_printf(arena, "%s/problems/%s", root, p->id);
    struct dirent **found;
    int count = scandir(folder, &found, is_header, alphasort); /* none: the compiler says so */
    const char **list =
        arena_array(arena, (size_t)(count > 0 ? count : 0) + 2, sizeof(const char *));
    unsigned used = 0;
    bool has_common = !file_exists(common); /* it need not use it */
    for (int i = 0; i < count; i++) {
        has_common |= strcmp(found[i]->d_name, COMMON) == 0;
        list[used++] = arena_printf(arena, "%s/%s", folder, found[i]->d_name);
        free(found[i]);
    }
    if (count >= 0)
        free(found);
    if (!has_common)
        list[used] = common;
    return list;
}

void checker_compile_spec(const struct problem *p, const char *root, const char *cache,
                          struct arena *arena, struct compile_spec *spec)
{
    *spec = (struct compile_spec){
        .source = arena_printf(arena, "%s/problems/%s/%s", root, p->id, p->checker),
        .target = p->target,
        .cache_folder = cache,
        .beside = headers_of(p, root, arena),
        .limit_ns = COMPILE_LIMIT_NS,
        .log_bytes = (uint64_t)64 << 10,
        .program = true,
    };
}

int checker_take(struct checker *k, const struct compile_spec *spec, int status,
                 const struct compile_result *compiled, const struct err *error,
                 struct arena *arena, struct err *e)
{
    k->name = file_base_name(spec->source);
    if (status != 0)
        return err_set(e, "%s", error->text);
    if (!compiled->ok)
        return err_set(e, "the checker %s does not compile: %.600s", k->name,
                       compiled->log ? compiled->log : "");
    k->program = arena_strdup(arena, compiled->library);
    return 0;
}

int checker_prepare(struct checker *k, const struct problem *p, const char *root, const char *cache,
                    const char *cudart, struct arena *arena, struct err *e)
{
    struct toolkit toolkit;
    struct compile_spec spec;
    struct compile_result compiled;
    struct err error;
    if (toolkit_find(cache, arena, &toolkit, e) != 0)
        return -1;
    checker_compile_spec(p, root, cache, arena, &spec);
    int status = compile(&toolkit, &spec, arena, &compiled, &error);
    k->cudart = cudart;
    return checker_take(k, &spec, status, &compiled, &error, arena, e);
}

struct folder {
    struct sandbox_file files[FILES_MAX];
    unsigned count;
    uint64_t bytes;
};

static void add_file(struct folder *f, const char *name, const void *bytes, uint64_t count)
{
    f->files[f->count++] = (struct sandbox_file){name, bytes, count};
    f->bytes += count + 4096; /* a page more for each, at most */
}

static const char *describe_case(const struct case_data *data, struct arena *arena)
{
    const struct problem *p = data->problem;
    const char *s = arena_printf(arena, "case %s\n", data->instance->name);
    for (unsigned i = 0; i < p->variable_count; i++)
        s = arena_printf(arena, "%svariable %s %" PRId64 "\n", s, p->variables[i].name,
                         data->instance->values[i]);
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *m = &p->params[i];
        if (m->kind == PARAM_BUFFER && m->role != WIRE_WORKSPACE)
            s = arena_printf(arena, "%s%s %s %s %" PRIu64 "\n", s,
                             problem_is_output(m) ? "output" : "input", m->name,
                             wire_type_name(m->type), data->buffers[i].count);
    }
    return s;
}

static void gather(struct folder *f, const struct case_data *data,
                   const struct wire_request *request, const uint8_t *outputs, struct arena *arena)
{
    const struct problem *p = data->problem;
    const char *text = describe_case(data, arena);
    add_file(f, "case.txt", text, strlen(text));
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *m = &p->params[i];
        const struct case_buffer *b = &data->buffers[i];
        const struct wire_param *w = &request->params[i];
        if (m->kind != PARAM_BUFFER || m->role == WIRE_WORKSPACE)
            continue;
        if (m->role != WIRE_OUTPUT)
            add_file(f, arena_printf(arena, "in.%s", m->name), b->input, b->bytes);
        if (!problem_is_output(m))
            continue;
        add_file(f, arena_printf(arena, "expected.%s", m->name), b->expected, b->bytes);
        add_file(f, arena_printf(arena, "got.%s", m->name),
                 outputs + w->out_offset + WIRE_GUARD_BYTES + w->misalign, b->bytes);
    }
}

static int did_not_answer(const struct checker *k, const struct sandbox_outcome *o,
                          const struct text *errors, struct arena *arena, struct err *e)
{
    const char *how =
        o->how == SANDBOX_TIMED_OUT      ? "was not done in time"
        : o->how == SANDBOX_OUTPUT_LIMIT ? "printed too much"
        : o->how == SANDBOX_SIGNALLED
            ? arena_printf(arena, "was killed by signal %d (%s)", o->code, strsignal(o->code))
            : arena_printf(arena, "ended with status %d", o->code);
    return err_set(e, "the checker %s %s%s; it must end with 42 (accepted) or 43 (wrong)%s%.300s",
                   k->name, how, o->out_of_memory ? ", out of memory" : "",
                   errors->length ? ": " : "", text_str(errors));
}

int checker_judge(const struct checker *k, const struct case_data *data,
                  const struct wire_request *request, const uint8_t *outputs, bool *accepted,
                  struct text *said, struct err *e)
{
    struct arena arena;
    struct text errors;
    struct sandbox_outcome o;
    arena_init(&arena);
    text_init(&errors);
    struct folder *f = arena_alloc(&arena, sizeof *f);
    gather(f, data, request, outputs, &arena);
    /* By its SONAME it is the libcudart.so.13 that the checker was linked to. */
    const char *preload = arena_printf(&arena, "LD_PRELOAD=%s", sandbox_part(0));
    const char *argv[] = {"checker", "case.txt", NULL};
    const char *environment[] = {preload, "LC_ALL=C", NULL};
    const char *parts[] = {k->cudart, NULL};
    struct sandbox_spec spec = {
        .profile = SANDBOX_PROGRAM,
        .program = k->program,
        .argv = argv,
        .environment = environment,
        .parts = parts,
        .files = f->files,
        .file_count = f->count,
        .folder_bytes = f->bytes + ((uint64_t)1 << 20),
        .limits = {.wall_ns = data->problem->limits.time_ns,
                   .memory_bytes = MEMORY_BYTES,
                   .output_bytes = SAID_BYTES},
    };
    int status = sandbox_run(&spec, said, &errors, &o, e);
    if (status == 0) {
        bool answered =
            o.how == SANDBOX_EXITED && (o.code == STATUS_ACCEPTED || o.code == STATUS_WRONG);
        *accepted = answered && o.code == STATUS_ACCEPTED;
        if (!answered)
            status = did_not_answer(k, &o, &errors, &arena, e);
    }
    text_release(&errors);
    arena_release(&arena);
    return status;
}
