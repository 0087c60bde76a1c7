/* Finds nvcc and asks it once for its version and its toolkit's folder: the answer is kept in the
 * cache folder, together with the path, size and modification time of the nvcc that gave it. */
#include "judge/compile/compile.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION_LIMIT_S = 30, VERSION_OUTPUT_BYTES = 65536, VERSION_BYTES = 32 };

/* FOLDER/nvcc if that can be executed, with links followed unless they lead to a program of another
 * name (a compiler cache, say); else NULL. */
static const char *nvcc_in(const char *folder, size_t length, struct arena *arena)
{
    char *path = arena_printf(arena, "%.*s/nvcc", (int)length, folder);
    struct stat st;
    if (access(path, X_OK) != 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return NULL;
    char resolved[PATH_MAX];
    if (!realpath(path, resolved) || strcmp(file_base_name(resolved), "nvcc") != 0)
        return path;
    return arena_strdup(arena, resolved);
}

static const char *find_nvcc(struct arena *arena)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        const char *found = length ? nvcc_in(path, length, arena) : NULL;
        if (found)
            return found;
        path += length + (path[length] == ':');
    }
    const char *home = getenv("CUDA_HOME");
    if (home && home[0]) {
        const char *bin = arena_printf(arena, "%s/bin", home);
        const char *found = nvcc_in(bin, strlen(bin), arena);
        if (found)
            return found;
    }
    static const char USUAL[] = "/usr/local/cuda/bin";
    return nvcc_in(USUAL, strlen(USUAL), arena);
}

/* "13.0.88" out of "Cuda compilation tools, release 13.0, V13.0.88". */
static bool parse_version(const char *output, char version[VERSION_BYTES])
{
    const char *at = strstr(output, "release ");
    at = at ? strstr(at, ", V") : NULL;
    if (!at)
        return false;
    at += 3;
    size_t length = strspn(at, "0123456789.");
    if (length == 0 || length >= VERSION_BYTES)
        return false;
    memcpy(version, at, length);
    version[length] = '\0';
    return true;
}

/* Runs nvcc with up to four arguments and appends both its outputs; -1 when it does not end well.
 */
static int ask(const char *nvcc, const char *const arguments[4], struct text *out, struct err *e)
{
    const char *argv[] = {nvcc, arguments[0], arguments[1], arguments[2], arguments[3], NULL};
    const char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct text errors;
    text_init(&errors);
    struct proc_end end;
    int status = proc_run(&spec, VERSION_LIMIT_S * UINT64_C(1000000000), VERSION_OUTPUT_BYTES, out,
                          &errors, &end, e);
    if (status == 0 && (end.how != PROC_EXITED || end.code != 0))
        status = err_set(e, "%s %s does not end well", nvcc, arguments[0]);
    text_addn(out, errors.data, errors.length);
    text_release(&errors);
    return status;
}

static int ask_version(const char *nvcc, char version[VERSION_BYTES], struct err *e)
{
    const char *const arguments[] = {"--version", NULL, NULL, NULL};
    struct text out;
    text_init(&out);
    int status = ask(nvcc, arguments, &out, e);
    if (status == 0 && !parse_version(text_str(&out), version))
        status = err_set(e, "%s --version does not tell a version", nvcc);
    text_release(&out);
    return status;
}

/* The toolkit's folder. nvcc tells it (TOP in the steps it would take), since it may be a script
 * that starts an nvcc elsewhere; if it does not, the parent of the folder that nvcc is in. */
static const char *ask_home(const char *nvcc, struct arena *arena)
{
    const char *const arguments[] = {"-dryrun", "-x", "cu", "/dev/null"};
    struct text out;
    text_init(&out);
    char resolved[PATH_MAX];
    const char *home = NULL;
    if (ask(nvcc, arguments, &out, NULL) == 0) {
        static const char TOP[] = "#$ TOP=";
        const char *top = strstr(text_str(&out), TOP);
        if (top) {
            top += sizeof TOP - 1;
            const char *path = arena_strndup(arena, top, strcspn(top, "\r\n"));
            home = realpath(path, resolved) ? arena_strdup(arena, resolved) : NULL;
        }
    }
    text_release(&out);
    if (home)
        return home;
    char *folder = arena_strndup(arena, nvcc, (size_t)(file_base_name(nvcc) - nvcc) - 1);
    char *slash = strrchr(folder, '/');
    return slash && slash != folder ? arena_strndup(arena, folder, (size_t)(slash - folder)) : "/";
}

/* What this very nvcc answered before: "IDENTITY VERSION HOME". */
static bool read_answer(const char *path, const char *identity, struct arena *arena,
                        struct toolkit *t)
{
    struct text known;
    text_init(&known);
    size_t length = strlen(identity);
    bool found = false;
    if (file_read(path, VERSION_OUTPUT_BYTES, &known, NULL) == 0 && known.length > length &&
        memcmp(known.data, identity, length) == 0) {
        const char *version = text_str(&known) + length;
        size_t version_length = strcspn(version, " ");
        found = version[version_length] == ' ' && version[version_length + 1] == '/';
        if (found) {
            t->version = arena_strndup(arena, version, version_length);
            t->home = arena_strdup(arena, version + version_length + 1);
        }
    }
    text_release(&known);
    return found;
}

int toolkit_find(const char *cache_folder, struct arena *arena, struct toolkit *t, struct err *e)
{
    *t = (struct toolkit){0};
    const char *nvcc = find_nvcc(arena);
    if (!nvcc)
        return err_set(e, "nvcc was found neither in PATH, nor in CUDA_HOME, nor in "
                          "/usr/local/cuda/bin. Install the CUDA Toolkit, 13.0 or later: "
                          "https://developer.nvidia.com/cuda-downloads");
    struct stat st;
    if (stat(nvcc, &st) != 0)
        return err_set_errno(e, "cannot read %s", nvcc);
    const char *identity = arena_printf(arena, "%s %jd %jd.%09ld ", nvcc, (intmax_t)st.st_size,
                                        (intmax_t)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    const char *path = arena_printf(arena, "%s/toolkit", cache_folder);
    t->nvcc = nvcc;
    if (read_answer(path, identity, arena, t))
        return 0;
    char version[VERSION_BYTES];
    if (ask_version(nvcc, version, e) != 0)
        return -1;
    t->version = arena_strdup(arena, version);
    t->home = ask_home(nvcc, arena);
    const char *answer = arena_printf(arena, "%s%s %s", identity, t->version, t->home);
    if (file_make_dirs(cache_folder, e) != 0 || file_write(path, answer, strlen(answer), e) != 0)
        return -1;
    return 0;
}

const char *toolkit_cudart(const struct toolkit *t, struct arena *arena)
{
    static const char *const FOLDERS[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                          "targets/sbsa-linux/lib"};
    for (size_t k = 0; k < sizeof FOLDERS / sizeof FOLDERS[0]; k++) {
        const char *path = arena_printf(arena, "%s/%s/libcudart.so.13", t->home, FOLDERS[k]);
        if (file_exists(path))
            return path;
    }
    return NULL;
}
