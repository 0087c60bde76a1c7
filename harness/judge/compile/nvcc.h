/* nvcc: one run of the compiler.
 *
 * A submission, and the checker of a problem, is compiled in a box: an empty folder with the files
 * that are handed in, the toolkit, the system's compilers and headers, and nothing else. What was
 * made and the list of headers come out as bytes. A program of the caller's own (judge exec) brings
 * headers that lie around it, and is compiled where it lies, as the caller, with limits only: it
 * runs as the caller next. */
#ifndef JUDGE_COMPILE_NVCC_H
#define JUDGE_COMPILE_NVCC_H

#include "judge/compile/compile.h"
#include "sandbox/sandbox.h"

/* What a box's compiler is to be told to write, in its folder. */
#define NVCC_OBJECT  "scanjudge.object"
#define NVCC_HEADERS "scanjudge.headers"

struct nvcc_call {
    const struct toolkit *toolkit;
    const char *const *argv;
    const char *path, *ccbin;  /* $PATH for it; $NVCC_CCBIN, NULL = none */
    const char *host_compiler; /* absolute, NULL = none found */
    uint64_t limit_ns, raw_log_bytes;
    /* a program of the caller's own: where it is compiled, and the folder for temporary files */
    const char *folder, *temporary;
    /* in a box: `folder` is NULL */
    const struct sandbox_file *files;
    unsigned file_count;
    const char *const *see; /* more folders to read, NULL-terminated; NULL = none */
    struct text *object, *headers;
};

struct nvcc_end {
    enum sandbox_how how;
    int code;
    bool out_of_memory;
    uint64_t wall_ns;
    bool has_object, has_headers;      /* from a box */
    char folder[SANDBOX_FOLDER_BYTES]; /* where it was compiled, as messages name it */
};

/* 0 however it ended; `log`: what it printed. -1 when it could not be run. */
int nvcc_run(const struct nvcc_call *call, struct arena *arena, struct text *log,
             struct nvcc_end *end, struct err *e);

#endif
