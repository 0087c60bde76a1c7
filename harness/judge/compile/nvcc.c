#include "judge/compile/nvcc.h"

#include "base/file.h"
#include "base/proc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* nvcc 13 needs 1 GiB of addresses for a file full of CUB, and 16 processes. */
#define ADDRESS_BYTES UINT64_C(8589934592)
#define FILE_BYTES    UINT64_C(536870912)
#define FOLDER_BYTES  UINT64_C(1073741824)
#define MEMORY_BYTES  UINT64_C(8589934592) /* of the whole box */

enum { VARIABLES_MAX = 7, SEE_MAX = 8, HEADER_LIST_BYTES = 16 << 20, PROCESSES = 64 };

static uint64_t processor_limit_ns(const struct nvcc_call *c)
{
    return c->limit_ns < UINT64_MAX / 2 ? 2 * c->limit_ns : c->limit_ns; /* of each process */
}

/* TMPDIR comes from the box, where there is one. */
static void fill_environment(const struct nvcc_call *c, struct arena *arena,
                             const char *environment[VARIABLES_MAX])
{
    unsigned count = 0;
    environment[count++] = arena_printf(arena, "PATH=%s", c->path);
    environment[count++] = "LC_ALL=C";
    environment[count++] = "CCACHE_DISABLE=1"; /* a compiler in front of the compiler */
    /* In huge pages and large steps: half of nvcc's time in the kernel, and a third of all on
     * virtual machines, is page faults of its front ends. */
    environment[count++] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=8388608";
    if (c->temporary)
        environment[count++] = arena_printf(arena, "TMPDIR=%s", c->temporary);
    if (c->ccbin)
        environment[count++] = arena_printf(arena, "NVCC_CCBIN=%s", c->ccbin);
    environment[count] = NULL;
}

static int run_outside(const struct nvcc_call *c, const char *const *environment, struct text *out,
                       struct text *errors, struct nvcc_end *end, struct err *e)
{
    struct proc_limit limits[] = {{RLIMIT_CORE, 0},
                                  {RLIMIT_CPU, processor_limit_ns(c) / 1000000000 + 1},
                                  {RLIMIT_AS, ADDRESS_BYTES},
                                  {RLIMIT_FSIZE, FILE_BYTES}};
    struct proc_spec spec = {.argv = c->argv,
                             .environment = environment,
                             .folder = c->folder,
                             .limits = limits,
                             .limit_count = sizeof limits / sizeof limits[0],
                             .keep_fd = -1};
    struct proc_end p = {0};
    int status = proc_run(&spec, c->limit_ns, c->raw_log_bytes, out, errors, &p, e);
    static const enum sandbox_how HOW[] = {[PROC_EXITED] = SANDBOX_EXITED,
                                           [PROC_SIGNALLED] = SANDBOX_SIGNALLED,
                                           [PROC_TIMED_OUT] = SANDBOX_TIMED_OUT,
                                           [PROC_OUTPUT_LIMIT] = SANDBOX_OUTPUT_LIMIT};
    *end = (struct nvcc_end){.how = HOW[p.how], .code = p.code, .wall_ns = p.wall_ns};
    snprintf(end->folder, sizeof end->folder, "%.*s", SANDBOX_FOLDER_BYTES - 1, c->temporary);
    return status;
}

/* The folder above the one that a program is in: PREFIX of PREFIX/bin/gcc. NULL where that is the
 * system's own, which a compiler sees anyway. */
static const char *prefix_of(const char *program, struct arena *arena)
{
    char resolved[PATH_MAX];
    const char *path = program && realpath(program, resolved) ? resolved : program;
    const char *end = path ? strrchr(path, '/') : NULL;
    while (end && end > path && *--end != '/')
        continue;
    size_t length = end ? (size_t)(end - path) : 0;
    bool is_system = length == 0 || (length == 4 && strncmp(path, "/usr", 4) == 0);
    return is_system ? NULL : arena_strndup(arena, path, length);
}

static int run_boxed(const struct nvcc_call *c, const char *const *environment, struct arena *arena,
                     struct text *out, struct text *errors, struct nvcc_end *end, struct err *e)
{
    const char *see[SEE_MAX + 1] = {c->toolkit->home}, *nvcc = prefix_of(c->toolkit->nvcc, arena);
    unsigned count = 1;
    if (nvcc && strcmp(nvcc, c->toolkit->home) != 0)
        see[count++] = nvcc;
    const char *host = prefix_of(c->host_compiler, arena);
    if (host)
        see[count++] = host;
    for (unsigned i = 0; c->see && c->see[i] && count < SEE_MAX; i++)
        see[count++] = c->see[i];
    struct sandbox_take takes[] = {
        {.name = NVCC_OBJECT, .most_bytes = FILE_BYTES, .to = c->object},
        {.name = NVCC_HEADERS, .most_bytes = HEADER_LIST_BYTES, .to = c->headers}};
    struct sandbox_spec spec = {.profile = SANDBOX_COMPILE,
                                .argv = c->argv,
                                .environment = environment,
                                .see = see,
                                .files = c->files,
                                .file_count = c->file_count,
                                .folder_bytes = FOLDER_BYTES,
                                .limits = {.wall_ns = c->limit_ns,
                                           .processor_ns = processor_limit_ns(c),
                                           .memory_bytes = MEMORY_BYTES,
                                           .address_bytes = ADDRESS_BYTES,
                                           .processes = PROCESSES,
                                           .file_bytes = FILE_BYTES,
                                           .output_bytes = c->raw_log_bytes},
                                .takes = takes,
                                .take_count = 2};
    struct sandbox_outcome o;
    if (sandbox_run(&spec, out, errors, &o, e) != 0)
        return -1;
    *end = (struct nvcc_end){.how = o.how,
                             .code = o.code,
                             .out_of_memory = o.out_of_memory,
                             .wall_ns = o.wall_ns,
                             .has_object = takes[0].found,
                             .has_headers = takes[1].found};
    memcpy(end->folder, o.folder, sizeof end->folder);
    return 0;
}

int nvcc_run(const struct nvcc_call *c, struct arena *arena, struct text *log, struct nvcc_end *end,
             struct err *e)
{
    const char *environment[VARIABLES_MAX];
    struct text out;
    *end = (struct nvcc_end){0};
    text_init(&out);
    fill_environment(c, arena, environment);
    int status = c->folder ? run_outside(c, environment, &out, log, end, e)
                           : run_boxed(c, environment, arena, &out, log, end, e);
    text_addn(log, text_str(&out), out.length);
    text_release(&out);
    return status;
}
