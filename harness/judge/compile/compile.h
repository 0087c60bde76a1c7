/* compile: one .cu file -> a shared library, through nvcc, with a content-addressed cache.
 *
 * The submission is compiled in an empty private folder under its own name, followed by a typed
 * declaration of the entry: a wrong signature is a compile error that prints the expected one. A
 * program comes without that: in a box as well, with the headers that are handed in, or where it
 * lies, as the caller.
 * Flags: -cudart shared -lineinfo --no-compress, PTX for the CPU device and machine code for one
 * real target, because ptxas refuses what PTX alone lets pass. The reference goes the same way.
 * A compile error is data (`ok` false and a log), not a failure of ours. */
#ifndef JUDGE_COMPILE_COMPILE_H
#define JUDGE_COMPILE_COMPILE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct toolkit {
    const char *nvcc;    /* absolute path */
    const char *home;    /* what CUDA_HOME would name: has bin/ and include/ */
    const char *version; /* "13.0.88" */
};

/* Looks in $PATH, $CUDA_HOME, /usr/local/cuda. -1 with how to install the CUDA Toolkit. The version
 * costs a run of nvcc only the first time: it is cached by nvcc's path, size and time. */
int toolkit_find(const char *cache_folder, struct arena *arena, struct toolkit *t, struct err *e);
/* NVIDIA's libcudart.so.13 in the toolkit, NULL if it has none. */
const char *toolkit_cudart(const struct toolkit *t, struct arena *arena);

struct compile_spec {
    const char *source;    /* path of the .cu file */
    const char *entry;     /* symbol the library must define; NULL: a whole program with main() */
    const char *prototype; /* from problem_prototype(); NULL with a NULL entry */
    const char *target;    /* "75": compute_75 PTX and sm_75 code */
    const char *const *forbid_headers; /* prefixes, may be NULL */
    unsigned forbid_header_count;
    const char *const *forbid_kernels; /* prefixes, may be NULL */
    unsigned forbid_kernel_count;
    const char *keep_out; /* a folder whose files no submission may include, wherever it is
                             installed: the problems and their solutions; NULL = none */
    const char *cache_folder;
    const char *const *include_folders; /* extra -I; NULL-terminated or NULL */
    /* files that lie beside the source in its box, under their base names; NULL-terminated or NULL
     */
    const char *const *beside;
    uint64_t limit_ns;
    uint64_t log_bytes; /* the log is cut in the middle beyond this and says so */
    bool program;       /* an executable instead of a shared library */
    bool in_place;      /* of a program that the caller trusts: no box, whatever lies around it */
};

struct compile_result {
    bool ok, cached, timed_out;
    uint64_t wall_ns;    /* of nvcc; 0 if cached */
    const char *library; /* path of the .so (or executable), in the cache */
    const char *log;     /* diagnostics with the submission's own file name, "" if none */
    char key[65];        /* the cache key: names this source, these flags, this toolkit */
};

/* Is it a file that can be read and compiled? -1 with a sentence: the caller named a wrong one. */
int compile_check_source(const char *path, struct err *e);

/* 0 also for a compile error. -1 when nvcc cannot be run or the cache cannot be written. */
int compile(const struct toolkit *t, const struct compile_spec *spec, struct arena *arena,
            struct compile_result *result, struct err *e);

/* For the way out after a signal, from another thread: no compilation begins any more, and the
 * temporary folders of those that run are removed. */
void compile_abandon(void);

#endif
