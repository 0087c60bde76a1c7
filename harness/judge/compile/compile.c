/* How it works: a box gets the submission, under its own name, beside a wrapper that includes it
 * and then declares the entry as the problem does; nvcc compiles the wrapper. So a conflicting
 * signature is the compiler's own error, and line numbers stay right. A program needs no wrapper.
 *
 * nvcc's flags, measured on a three-kernel scan (bare `nvcc -O3 -shared`: 841-896 ms): -t0 runs the
 * two preprocessor passes side by side and skips nothing; --no-device-link leaves out a link of
 * relocatable device code that whole-program mode never has. Together 767-775 ms, machine code,
 * PTX and line information included. -MD costs nothing: both passes read the headers anyway, and
 * its list covers both. */
#include "judge/compile/compile.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "judge/compile/cache.h"
#include "judge/compile/diagnostics.h"
#include "judge/compile/elf.h"
#include "judge/compile/headers.h"
#include "judge/compile/kernels.h"
#include "judge/compile/nvcc.h"
#include "wire/wire.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FORMAT_VERSION = 5, /* of the wrapper and of what is made of the log: part of the key */
    ARGUMENTS_MAX = 64,
    SOURCE_BYTES_MAX = 1 << 20,
    DEPENDENCY_BYTES_MAX = 16 << 20,
    RAW_LOG_FACTOR = 16, /* the compiler may print this often what is kept of it */
    RAW_LOG_BYTES_MIN = 1 << 20,
};
static const char WRAPPER[] = ".scanjudge.cu";

/* One compilation. */
struct job {
    const struct toolkit *toolkit;
    const struct compile_spec *spec;
    struct arena *arena;
    struct text source;
    const char *name;          /* base name of the source */
    const char *compiled_name; /* the same without characters that #include cannot hold */
    const char *folder;        /* absolute folder of the source */
    const char *path;          /* $PATH for the compiler */
    const char *host_compiler; /* absolute path of the gcc that nvcc will find; NULL = none found */
    const char *ccbin;         /* $NVCC_CCBIN or NULL */
    const char *work;          /* in place: folder for temporary files */
    struct text wrapper, object, headers;
    struct sandbox_file
        files[SANDBOX_FILES_MAX]; /* for the box: source, wrapper, those beside it */
    unsigned file_count;
    bool has_headers; /* the compiler came as far as to list them */
    struct diagnostics_context diagnostics;
    const char *argv[ARGUMENTS_MAX];
    unsigned argc;
};

/* ---- what is compiled, and how ---- */

static void add_argument(struct job *j, const char *argument)
{
    if (j->argc + 1 >= ARGUMENTS_MAX)
        BUG("too many arguments for nvcc");
    j->argv[j->argc++] = argument;
}

/* The flags that decide what comes out; files are added later. */
static void add_flags(struct job *j)
{
    const char *target = j->spec->target;
    add_argument(j, j->toolkit->nvcc);
    add_argument(j, "-O3");
    if (!j->spec->program) {
        add_argument(j, "-shared");
        add_argument(j, "-Xcompiler");
        add_argument(j, "-fPIC");
        /* A host function that nobody defines is a compile error, not a load error later. */
        add_argument(j, "-Xlinker");
        add_argument(j, "--no-undefined");
    }
    add_argument(j, "-cudart");
    add_argument(j, "shared");
    add_argument(j, "-lineinfo");
    add_argument(j, "--no-compress");
    add_argument(j, "--no-device-link");
    add_argument(j, "-gencode");
    add_argument(j, arena_printf(j->arena, "arch=compute_%s,code=[compute_%s,sm_%s]", target,
                                 target, target));
    for (unsigned i = 0; j->spec->include_folders && j->spec->include_folders[i]; i++) {
        char *absolute = realpath(j->spec->include_folders[i], NULL);
        add_argument(j, "-I");
        add_argument(j, absolute ? arena_strdup(j->arena, absolute) : j->spec->include_folders[i]);
        free(absolute);
    }
    if (j->spec->beside) {
        add_argument(j, "-I"); /* also for #include <...> */
        add_argument(j, ".");
    }
}

/* A program may be one in C: a checker that needs no CUDA. */
static const char *language_of(const struct job *j)
{
    size_t length = strlen(j->name);
    bool is_c = length > 2 && strcmp(j->name + length - 2, ".c") == 0;
    return j->spec->program && is_c ? "c" : "cu";
}

/* The name for the copy: what #include "..." and a command line can carry. */
static const char *harmless_name(const char *name, struct arena *arena)
{
    char *result = arena_strdup(arena, name);
    for (char *p = result; *p; p++) {
        unsigned char c = (unsigned char)*p;
        bool first = p == result && !isalnum(c) && c < 0x80 && c != '_';
        if (first || c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '\'')
            *p = '_';
    }
    return result;
}

static const char *find_in_path(const char *path, const char *name, struct arena *arena)
{
    while (*path) {
        size_t length = strcspn(path, ":");
        const char *full = arena_printf(arena, "%.*s/%s", (int)length, path, name);
        if (length && access(full, X_OK) == 0)
            return full;
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* 0; 1 when the source is too large to be one: the submission's fault; -1. */
static int read_source(struct job *j, struct err *e)
{
    const char *path = j->spec->source;
    struct stat st;
    if (stat(path, &st) != 0)
        return err_set_errno(e, "cannot read %s", path);
    if (S_ISREG(st.st_mode) && st.st_size > SOURCE_BYTES_MAX)
        return 1;
    char absolute[PATH_MAX];
    if (file_read(path, SOURCE_BYTES_MAX, &j->source, e) != 0)
        return -1;
    if (!realpath(path, absolute))
        return err_set_errno(e, "cannot resolve %s", path);
    j->folder = arena_strndup(j->arena, absolute, (size_t)(file_base_name(absolute) - absolute));
    j->name = arena_strdup(j->arena, file_base_name(path));
    j->compiled_name = j->spec->in_place ? file_base_name(arena_strdup(j->arena, absolute))
                                         : harmless_name(j->name, j->arena);
    return 0;
}

static void add_file(struct job *j, const char *name, const char *bytes, size_t count)
{
    j->files[j->file_count++] = (struct sandbox_file){name, bytes, count};
}

/* What goes into the box beside the source. */
static int read_beside(struct job *j, struct err *e)
{
    enum { OURS = 2 }; /* the source, the wrapper */
    for (unsigned i = 0; j->spec->beside && j->spec->beside[i]; i++) {
        const char *path = j->spec->beside[i];
        struct text content;
        if (j->file_count + OURS >= SANDBOX_FILES_MAX)
            return err_set(e, "more than %d headers beside %s", SANDBOX_FILES_MAX - OURS, j->name);
        text_init(&content);
        int status = file_read(path, SOURCE_BYTES_MAX, &content, e);
        if (status == 0)
            add_file(j, arena_strdup(j->arena, file_base_name(path)),
                     arena_strndup(j->arena, text_str(&content), content.length), content.length);
        text_release(&content);
        if (status != 0)
            return -1;
    }
    return 0;
}

int compile_check_source(const char *path, struct err *e)
{
    struct stat st;
    if (!path[0])
        return err_set(e, "the name of the .cu file is empty");
    if (stat(path, &st) != 0)
        return err_set_errno(e, "cannot read %s", path);
    if (S_ISDIR(st.st_mode))
        return err_set(e, "%s is a folder; a .cu file is wanted", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, "%s is not a regular file; a .cu file is wanted", path);
    if (access(path, R_OK) != 0)
        return err_set_errno(e, "cannot read %s", path);
    return 0;
}

static void find_host_compiler(struct job *j)
{
    const char *path = getenv("PATH");
    j->path = path && path[0] ? path : "/usr/local/bin:/usr/bin:/bin";
    const char *ccbin = getenv("NVCC_CCBIN");
    j->ccbin = ccbin && ccbin[0] ? ccbin : NULL;
    const char *found = j->ccbin && strchr(j->ccbin, '/')
                            ? j->ccbin
                            : find_in_path(j->path, j->ccbin ? j->ccbin : "gcc", j->arena);
    j->host_compiler = found;
}

static void make_key(const struct job *j, char key[HASH_HEX_BYTES])
{
    const struct compile_spec *s = j->spec;
    struct hash h;
    hash_init(&h);
    hash_str(&h, arena_printf(j->arena, "scanjudge compile %d", FORMAT_VERSION));
    hash_part(&h, text_str(&j->source), j->source.length);
    hash_str(&h, j->name);
    hash_str(&h, s->entry ? s->entry : "");
    hash_str(&h, s->prototype ? s->prototype : "");
    hash_str(&h, language_of(j));
    hash_str(&h, s->in_place ? j->folder : ""); /* its headers are found from there */
    for (unsigned i = 0; i < j->file_count; i++) {
        hash_str(&h, j->files[i].name);
        hash_part(&h, j->files[i].bytes, j->files[i].count);
    }
    hash_str(&h, arena_printf(j->arena, "%" PRIu64, s->log_bytes));
    for (unsigned i = 0; i < j->argc; i++) /* argv[0] is the path of nvcc */
        hash_str(&h, j->argv[i]);
    hash_str(&h, j->toolkit->version);
    struct stat st = {0};
    if (j->host_compiler)
        stat(j->host_compiler, &st);
    hash_str(&h, arena_printf(j->arena, "%s %jd %jd.%09ld",
                              j->host_compiler ? j->host_compiler : "", (intmax_t)st.st_size,
                              (intmax_t)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec));
    hash_hex(&h, key);
}

/* ---- the wrapper ---- */

/* #undef for every word of the prototype: a parameter of the author's may share its name with a
 * macro of ours, and the other way round. */
static void add_undefs(const char *prototype, struct text *wrapper)
{
    for (const char *p = prototype; *p;) {
        if (*p == '"') { /* "C" */
            const char *end = strchr(p + 1, '"');
            p = end ? end + 1 : p + 1;
        } else if (isalpha((unsigned char)*p) || *p == '_') {
            size_t length = 1;
            while (isalnum((unsigned char)p[length]) || p[length] == '_')
                length++;
            text_addf(wrapper, "#undef %.*s\n", (int)length, p);
            p += length;
        } else {
            p++;
        }
    }
}

static unsigned lines_of(const struct text *t)
{
    unsigned lines = 0;
    for (size_t i = 0; i < t->length; i++)
        lines += t->data[i] == '\n';
    return lines;
}

static void make_wrapper(struct job *j)
{
    struct text *wrapper = &j->wrapper;
    text_addf(wrapper, "#include \"%s\"\n", j->compiled_name);
    /* Something that is an error if the submission does not end where its file does. */
    text_add(wrapper, "namespace scanjudge_end_of_file {}\n");
    j->diagnostics.end_line = lines_of(wrapper);
    if (j->spec->prototype) {
        const char *prototype = j->spec->prototype;
        if (strstr(prototype, "__half"))
            text_add(wrapper, "#include <cuda_fp16.h>\n");
        if (strstr(prototype, "__nv_bfloat16"))
            text_add(wrapper, "#include <cuda_bf16.h>\n");
        add_undefs(prototype, wrapper);
        size_t length = strlen(prototype);
        while (length && (prototype[length - 1] == ';' || prototype[length - 1] == '\n'))
            length--;
        text_addf(wrapper, "%.*s;\n", (int)length, prototype);
        j->diagnostics.declaration_line = lines_of(wrapper);
    }
}

/* ---- running nvcc ---- */

/* The compiler's messages into `log`, what it made into the job. */
static int run_nvcc(struct job *j, const char *threads, struct text *log, struct nvcc_end *end,
                    struct err *e)
{
    const char *argv[ARGUMENTS_MAX + 1];
    memcpy(argv, j->argv, sizeof j->argv);
    argv[j->argc] = threads;
    argv[j->argc + 1] = NULL;
    uint64_t raw = j->spec->log_bytes * RAW_LOG_FACTOR;
    struct nvcc_call call = {.toolkit = j->toolkit,
                             .argv = argv,
                             .path = j->path,
                             .ccbin = j->ccbin,
                             .host_compiler = j->host_compiler,
                             .limit_ns = j->spec->limit_ns,
                             .raw_log_bytes = raw > RAW_LOG_BYTES_MIN ? raw : RAW_LOG_BYTES_MIN,
                             .folder = j->spec->in_place ? j->folder : NULL,
                             .temporary = j->work,
                             .files = j->files,
                             .file_count = j->file_count,
                             .see = j->spec->include_folders,
                             .object = &j->object,
                             .headers = &j->headers};
    int status = nvcc_run(&call, j->arena, log, end, e);
    j->diagnostics.work_folder = arena_strdup(j->arena, end->folder);
    j->has_headers = end->has_headers;
    if (status != 0 || !j->spec->in_place)
        return status;
    const char *list = arena_printf(j->arena, "%s/%s", j->work, NVCC_HEADERS);
    j->has_headers = file_exists(list);
    return j->has_headers ? file_read(list, DEPENDENCY_BYTES_MAX, &j->headers, e) : 0;
}

/* How nvcc ended, if not by itself. */
static void explain_end(const struct job *j, const struct nvcc_end *end, struct text *log)
{
    double seconds = (double)j->spec->limit_ns / 1e9;
    if (end->how == SANDBOX_TIMED_OUT)
        text_addf(log, "%s: error: compiling it takes longer than %.3g s\n", j->name, seconds);
    else if (end->out_of_memory)
        text_addf(log, "%s: error: compiling it takes more memory than there is for it\n", j->name);
    else if (end->how == SANDBOX_OUTPUT_LIMIT)
        text_addf(log, "%s: error: the compiler did not stop printing messages\n", j->name);
    else if (end->how == SANDBOX_SIGNALLED)
        text_addf(log, "%s: error: the compiler was ended by signal %d\n", j->name, end->code);
    else if (end->code != 0 && log->length == 0)
        text_addf(log, "%s: error: nvcc ended with status %d and no message\n", j->name, end->code);
}

/* The messages of one run, for the author; `entry->ok` as nvcc saw it. */
static void finish_log(const struct job *j, const struct nvcc_end *end, struct text *raw,
                       struct cache_entry *entry)
{
    struct text log;
    text_init(&log);
    wire_clean_text(raw->data, raw->length);
    diagnostics_rewrite(&j->diagnostics, text_str(raw), &log);
    explain_end(j, end, &log);
    if (entry->ok && j->spec->entry) {
        enum elf_found found;
        struct err e;
        if (elf_find(entry->object, j->spec->entry, &found, &e) != 0) {
            text_addf(&log, "%s: error: %s\n", j->name, e.text);
            entry->ok = false;
        } else if (found != ELF_DEFINED) {
            diagnostics_missing_entry(&j->diagnostics, j->spec->entry, found == ELF_CPP, &log);
            entry->ok = false;
        }
    }
    diagnostics_cut(&log, j->spec->log_bytes);
    entry->log = arena_strdup(j->arena, text_str(&log));
    text_release(&log);
}

static int read_headers(const struct job *j, struct headers *h, struct err *e)
{
    const char *own[SANDBOX_FILES_MAX + 1] = {j->compiled_name};
    for (unsigned i = 0; i < j->file_count; i++)
        own[i] = j->files[i].name;
    const char *folder = j->spec->in_place ? j->folder : j->diagnostics.work_folder;
    return headers_parse(text_str(&j->headers), folder, own, j->toolkit, j->host_compiler, j->arena,
                         h, e);
}

/* What was made as a file that can be looked into before it is in the cache: memory, or where it
 * was put. */
static const char *name_object(const struct job *j, int *memory_fd, struct err *e)
{
    if (j->spec->in_place)
        return arena_printf(j->arena, "%s/%s", j->work, NVCC_OBJECT);
    *memory_fd = memfd_create("object", MFD_CLOEXEC);
    ssize_t put = *memory_fd < 0 ? -1 : 0;
    for (size_t done = 0; put >= 0 && done < j->object.length; done += (size_t)put) {
        put = write(*memory_fd, j->object.data + done, j->object.length - done);
        put = put < 0 && errno == EINTR ? 0 : put;
    }
    if (put < 0) {
        err_set_errno(e, "no memory for what was compiled");
        return NULL;
    }
    return arena_printf(j->arena, "/proc/self/fd/%d", *memory_fd);
}

static void name_files(struct job *j)
{
    const char *in = j->spec->in_place ? arena_printf(j->arena, "%s/", j->work) : "";
    const char *const files[] = {
        "-MD",
        "-MF",
        arena_printf(j->arena, "%s%s", in, NVCC_HEADERS),
        "-MT",
        "it",
        "-o",
        arena_printf(j->arena, "%s%s", in, NVCC_OBJECT),
        "-x",
        language_of(j),
        j->spec->program ? arena_printf(j->arena, "%s%s", j->compiled_name[0] == '-' ? "./" : "",
                                        j->compiled_name)
                         : WRAPPER};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        add_argument(j, files[i]);
}

/* What came of it, into `entry` and the cache. */
static int take_result(struct job *j, const char *key, const struct nvcc_end *end, struct text *raw,
                       struct cache_entry *entry, struct err *e)
{
    int memory_fd = -1, status = 0;
    bool ended = end->how == SANDBOX_EXITED && !end->out_of_memory;
    *entry = (struct cache_entry){.ok = ended && end->code == 0, .object = "", .log = ""};
    if (entry->ok && !j->spec->in_place && !end->has_object)
        return err_set(e, "nvcc said that it compiled %s, and left nothing", j->name);
    if (entry->ok && !(entry->object = name_object(j, &memory_fd, e)))
        status = -1;
    if (status == 0)
        finish_log(j, end, raw, entry);
    if (!entry->ok)
        entry->object = "";
    if (status == 0 && j->has_headers)
        status = read_headers(j, &entry->headers, e);
    /* What hung on the machine's load, or on a header that may still come, is not for keeps. */
    if (status == 0 && j->has_headers && ended)
        status = cache_store(j->spec->cache_folder, key, j->arena,
                             j->spec->in_place ? NULL : &j->object, entry, e);
    if (memory_fd >= 0)
        close(memory_fd);
    return status;
}

/* Compiles, and stores what is worth keeping. */
static int compile_job(struct job *j, const char *key, struct compile_result *result,
                       struct cache_entry *entry, struct err *e)
{
    if (!j->spec->program) {
        make_wrapper(j);
        add_file(j, WRAPPER, text_str(&j->wrapper), j->wrapper.length);
    }
    if (!j->spec->in_place)
        add_file(j, j->compiled_name, text_str(&j->source), j->source.length);
    name_files(j);
    struct text raw;
    struct nvcc_end end;
    text_init(&raw);
    int status = run_nvcc(j, "-t0", &raw, &end, e);
    result->wall_ns = end.wall_ns;
    if (status == 0 && cache_is_abandoned()) /* nvcc may have missed its files */
        status = err_set(e, "interrupted while %s was compiled", j->name);
    if (status == 0 && end.how == SANDBOX_EXITED && end.code != 0 && !j->has_headers) {
        /* The preprocessor refused it, and its two passes said so at once and mixed up. */
        text_clear(&raw);
        status = run_nvcc(j, "-t1", &raw, &end, e);
        result->wall_ns += end.wall_ns;
    }
    if (status == 0) {
        result->timed_out = end.how == SANDBOX_TIMED_OUT;
        status = take_result(j, key, &end, &raw, entry, e);
    }
    text_release(&raw);
    return status;
}

/* ---- rules about headers and kernels ---- */

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return length && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* The first file that was read and is none of a submission's business. */
static const char *local_header(const struct job *j, const struct headers *h)
{
    char out[PATH_MAX];
    bool keeps_out = j->spec->keep_out && realpath(j->spec->keep_out, out) &&
                     !is_below(j->toolkit->home, out); /* or nothing would compile */
    for (size_t i = 0; i < h->count; i++) {
        const char *path = h->items[i].path;
        bool allowed = h->items[i].kind != HEADER_LOCAL || j->spec->program;
        if (keeps_out && is_below(path, out))
            return path;
        for (unsigned k = 0; !allowed && j->spec->include_folders && j->spec->include_folders[k];
             k++) {
            char folder[PATH_MAX];
            allowed = realpath(j->spec->include_folders[k], folder) && is_below(path, folder);
        }
        if (!allowed)
            return path;
    }
    return NULL;
}

/* Whether the headers that were read are allowed, and the kernels that came of them; if not, the
 * sentence is all the author gets: the rest of the log may quote what must not be read. */
static int apply_rules(const struct job *j, const struct cache_entry *entry,
                       struct compile_result *result, struct err *e)
{
    const char *name = local_header(j, &entry->headers), *prefix = NULL;
    if (name) {
        result->ok = false;
        result->log = arena_printf(j->arena,
                                   "%s: error: a submission is one file: it cannot "
                                   "include %s\n",
                                   j->name, name);
    } else if (headers_forbidden(&entry->headers, j->spec->forbid_headers,
                                 j->spec->forbid_header_count, &name, &prefix)) {
        result->ok = false;
        result->log = arena_printf(j->arena,
                                   "%s: error: it includes <%s>, and this exercise does "
                                   "not allow headers whose names start with %s\n",
                                   j->name, name, prefix);
    } else if (result->ok) {
        if (kernels_forbidden(entry->object, j->spec->forbid_kernels, j->spec->forbid_kernel_count,
                              j->arena, &name, &prefix, e) != 0)
            return -1;
        if (name) {
            result->ok = false;
            result->log = arena_printf(j->arena,
                                       "%s: error: it brings the kernel %s, and this exercise does "
                                       "not allow kernels whose names start with %s\n",
                                       j->name, name, prefix);
        }
    }
    return 0;
}

int compile(const struct toolkit *t, const struct compile_spec *spec, struct arena *arena,
            struct compile_result *result, struct err *e)
{
    *result = (struct compile_result){.library = "", .log = ""};
    struct job j = {.toolkit = t, .spec = spec, .arena = arena};
    text_init(&j.source);
    text_init(&j.wrapper);
    text_init(&j.object);
    text_init(&j.headers);
    struct cache_entry entry = {0};
    int status = read_source(&j, e);
    if (status != 0) {
        if (status > 0)
            result->log = arena_printf(arena, "%s: error: the file is larger than %d bytes\n",
                                       file_base_name(spec->source), SOURCE_BYTES_MAX);
        status = status > 0 ? 0 : -1;
        goto out;
    }
    if ((status = read_beside(&j, e)) != 0)
        goto out;
    find_host_compiler(&j);
    add_flags(&j);
    make_key(&j, result->key);
    result->cached = cache_find(spec->cache_folder, result->key, arena, &entry);
    if (!result->cached) {
        status = -1;
        if (spec->in_place && !(j.work = cache_work_folder(spec->cache_folder, arena, e)))
            goto out;
        j.diagnostics = (struct diagnostics_context){.source = j.name,
                                                     .compiled_name = j.compiled_name,
                                                     .wrapper = spec->program ? NULL : WRAPPER,
                                                     .target = spec->target,
                                                     .prototype = spec->prototype};
        status = compile_job(&j, result->key, result, &entry, e);
        if (j.work)
            cache_end_work(j.work);
    }
    if (status == 0) {
        result->ok = entry.ok;
        result->library = entry.object;
        result->log = entry.log;
        status = apply_rules(&j, &entry, result, e);
    }
out:
    text_release(&j.source);
    text_release(&j.wrapper);
    text_release(&j.object);
    text_release(&j.headers);
    return status;
}

void compile_abandon(void)
{
    cache_abandon_work();
}
