/* compile() with the real nvcc: each test works in a cache folder of its own. Without nvcc it says
 * so and skips.
 *
 * long because every kind of message that nvcc has for a submission is a row here. */
#include "base/clock.h"
#include "base/file.h"
#include "judge/compile/compile.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)
#define PROTOTYPE "extern \"C\" void scan(const int *in, int *out, int n, cudaStream_t stream)"

struct fixture {
    struct arena arena;
    struct toolkit toolkit;
    char folder[256]; /* of sources */
    char cache[300];
    struct compile_spec spec;
    struct compile_result result;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err e;
    arena_init(&f->arena);
    assert_int_equal(file_make_temp_dir(f->folder, sizeof f->folder, "sj-compile", &e), 0);
    snprintf(f->cache, sizeof f->cache, "%s/cache", f->folder);
    *state = f;
    if (toolkit_find(f->cache, &f->arena, &f->toolkit, &e) != 0)
        return 0; /* the tests skip */
    f->spec = (struct compile_spec){.entry = "scan",
                                    .prototype = PROTOTYPE,
                                    .target = "75",
                                    .cache_folder = f->cache,
                                    .limit_ns = 60 * SECOND_NS,
                                    .log_bytes = 16384};
    return 0;
}

/* Nothing but the sources and the cache's results may be left. */
static void check_leftovers(const struct fixture *f)
{
    char command[700];
    snprintf(command, sizeof command, "test -z \"$(ls -d %s/compile/work.* 2>/dev/null)\"",
             f->cache);
    assert_int_equal(system(command), 0);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    check_leftovers(f);
    file_remove_tree(f->folder, NULL);
    arena_release(&f->arena);
    free(f);
    return 0;
}

static struct fixture *need_nvcc(void **state)
{
    struct fixture *f = *state;
    if (!f->toolkit.nvcc) {
        print_message("skipped: this machine has no nvcc\n");
        skip();
    }
    return f;
}

static void put(struct fixture *f, const char *name, const char *source)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    assert_int_equal(file_write(path, source, strlen(source), NULL), 0);
    f->spec.source = arena_strdup(&f->arena, path);
}

static void run(struct fixture *f)
{
    struct err e = {""};
    if (compile(&f->toolkit, &f->spec, &f->arena, &f->result, &e) != 0)
        fail_msg("%s", e.text);
}

static void compile_text(struct fixture *f, const char *source)
{
    put(f, "a.cu", source);
    run(f);
}

#define ENTRY "extern \"C\" void scan(const int *in, int *out, int n, cudaStream_t stream)"
static const char GOOD[] = "__global__ void k(const int *in, int *out, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n) out[i] = in[i];\n"
                           "}\n" ENTRY " {\n"
                           "    if (n) k<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n);\n"
                           "}\n";

static void expect(const struct fixture *f, const char *wanted)
{
    if (!strstr(f->result.log, wanted))
        fail_msg("no '%s' in:\n%s", wanted, f->result.log);
}

/* What the author must never see. */
static void expect_clean_log(const struct fixture *f)
{
    static const char *const UNWANTED[] = {"scanjudge", "tmpxft", "/tmp/", "work."};
    for (size_t i = 0; i < sizeof UNWANTED / sizeof UNWANTED[0]; i++)
        if (strstr(f->result.log, UNWANTED[i]))
            fail_msg("'%s' in:\n%s", UNWANTED[i], f->result.log);
}

static void test_compiles_and_caches(void **state)
{
    struct fixture *f = need_nvcc(state);
    compile_text(f, GOOD);
    assert_true(f->result.ok);
    assert_false(f->result.cached);
    assert_true(f->result.wall_ns > 0);
    assert_string_equal(f->result.log, "");
    assert_true(file_exists(f->result.library));
    assert_int_equal(strlen(f->result.key), 64);
    struct compile_result first = f->result;
    uint64_t start = clock_now_ns();
    run(f);
    uint64_t took = clock_now_ns() - start;
    assert_true(f->result.ok && f->result.cached);
    assert_int_equal(f->result.wall_ns, 0);
    assert_string_equal(f->result.key, first.key);
    assert_string_equal(f->result.library, first.library);
    assert_true(took < SECOND_NS / 20);
    print_message("from the cache in %llu us\n", (unsigned long long)took / 1000);
}

static void test_key_covers_what_decides(void **state)
{
    struct fixture *f = need_nvcc(state);
    put(f, "a.cu", GOOD);
    /* Keys only: nothing has to compile for them, so the limit is tiny. */
    f->spec.limit_ns = 1;
    run(f);
    char seen[6][65];
    unsigned count = 0;
    memcpy(seen[count++], f->result.key, 65);
    put(f, "b.cu", GOOD);
    run(f);
    memcpy(seen[count++], f->result.key, 65);
    put(f, "a.cu", "// \n");
    run(f);
    memcpy(seen[count++], f->result.key, 65);
    put(f, "a.cu", GOOD);
    f->spec.target = "80";
    run(f);
    memcpy(seen[count++], f->result.key, 65);
    f->spec.target = "75";
    f->toolkit.version = "99.9";
    run(f);
    memcpy(seen[count++], f->result.key, 65);
    f->toolkit.version = "13.0";
    f->spec.prototype = "extern \"C\" void scan(int)";
    run(f);
    memcpy(seen[count++], f->result.key, 65);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(seen[i], seen[k]);
}

static void *compile_in_thread(void *context)
{
    struct fixture *f = context;
    struct err e;
    compile(&f->toolkit, &f->spec, &f->arena, &f->result, &e);
    return NULL;
}

/* As after Ctrl-C: in a process of its own, because nothing can be compiled in it afterwards. */
static void test_abandoned(void **state)
{
    struct fixture *f = need_nvcc(state);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_t thread;
        struct err e;
        put(f, "a.cu", ENTRY " {}\n");
        if (pthread_create(&thread, NULL, compile_in_thread, f) != 0)
            _exit(2);
        usleep(200000); /* nvcc takes longer */
        compile_abandon();
        pthread_join(thread, NULL);
        _exit(compile(&f->toolkit, &f->spec, &f->arena, &f->result, &e) == -1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_leftovers(f);
    compile_text(f, ENTRY " {}\n"); /* and no false result is kept */
    assert_true(f->result.ok);
}

static void test_signatures(void **state)
{
    struct fixture *f = need_nvcc(state);
    static const struct {
        const char *source, *first, *change;
    } ROWS[] = {
        {"\n\nvoid scan(const int *in, int *out, int n, cudaStream_t stream) {}",
         "a.cu(3): error: the entry point", "write extern \"C\" before it"},
        {"extern \"C\" void scan(int *in, int *out, int n, cudaStream_t stream) {}",
         "a.cu: error: the entry point", "exactly these parameter types"},
        {"extern \"C\" void scan(const int *in, int *out, int n) {}",
         "a.cu: error: the entry point", "exactly these parameter types"},
        {"extern \"C\" int scan(const int *in, int *out, int n, cudaStream_t stream) { return 0; }",
         "a.cu: error: the entry point", "has to return void"},
        {"int scan;", "a.cu(1): error: the entry point", "name has to be that of a function"},
        {"__global__ void scan(const int *in, int *out, int n, cudaStream_t stream) {}",
         "a.cu(1): error: the entry point", "nor a kernel"},
        {"void scan(int *in, int *out, int n) {}", "a.cu: error: the file defines no function scan",
         "there is a C++ function of that name"},
        {"static "
         "void scan(const int *in, int *out, int n, cudaStream_t stream) {}",
         "a.cu", "static"},
        {"namespace mine { void scan(const int *in, int *out, int n, cudaStream_t stream) {} }",
         "a.cu: error: the file defines no function scan", "there is a C++ function of that name"},
        {"extern \"C\" void exclusive(const int *in, int *out, int n, cudaStream_t stream) {}",
         "a.cu: error: the file defines no function scan", "under exactly this name"},
        {"#define scan inner\n" ENTRY " {}", "a.cu: error: the file defines no function scan",
         "under exactly this name"},
        {"", "a.cu: error: the file defines no function scan", "under exactly this name"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        compile_text(f, ROWS[i].source);
        if (f->result.ok)
            fail_msg("accepted: %s", ROWS[i].source);
        if (strncmp(f->result.log, ROWS[i].first, strlen(ROWS[i].first)) != 0)
            fail_msg("'%s' does not start:\n%s", ROWS[i].first, f->result.log);
        expect(f, "expected: " PROTOTYPE "\n");
        expect(f, ROWS[i].change);
        expect_clean_log(f);
    }
}

static void test_names_that_clash(void **state)
{
    struct fixture *f = need_nvcc(state);
    /* Other parameter names, and macros named like those of the prototype. */
    compile_text(f, "extern \"C\" void scan(const int *a, int *b, int c, cudaStream_t d) {}\n"
                    "#define in 17\n#define out (\n#define n 1000\n#define stream }\n"
                    "#define void int\n");
    if (!f->result.ok)
        fail_msg("%s", f->result.log);
}

static void test_diagnostics(void **state)
{
    struct fixture *f = need_nvcc(state);
    static const struct {
        const char *source, *wanted;
    } ROWS[] = {
        {ENTRY " {\n  y = 1;\n}\n", "a.cu(2): error: identifier \"y\" is undefined"},
        {"__global__ void k(int *p) { p[0] = q; }\n" ENTRY " {}\n",
         "a.cu(1): error: identifier \"q\" is undefined"},
        {ENTRY " { int x;\n", "a.cu: at the end of the file: error: expected a \"}\""},
        {ENTRY " {}\nstruct unfinished { int x; }",
         "a.cu: at the end of the file: error: expected"},
        {ENTRY " {} /*\n", "a.cu:1:78: error: unterminated comment"},
        {"#if 1\n" ENTRY " {}\n", "a.cu:1: error: unterminated #if"},
        {"\n#include <no/such/header>\n" ENTRY " {}\n", "a.cu:2:10: fatal error: no/such/header"},
        {"#include \"helper.cuh\"\n" ENTRY " {}\n", "a.cu:1:10: fatal error: helper.cuh"},
        {"#error stop here\n" ENTRY " {}\n", "a.cu:1:2: error: #error stop here"},
        {"void nobody(int);\n" ENTRY " { nobody(n); }\n", "undefined reference to `nobody(int)'"},
        {"__device__ int nobody(int);\n__global__ void k(int *p) { *p = nobody(1); }\n" ENTRY
         " { k<<<1, 1>>>(out); }\n",
         "Unresolved extern function"},
        {"__global__ void k(int *p, int i) { __shared__ int s[16897]; s[threadIdx.x] = p[i];\n"
         "__syncthreads(); p[i] = s[p[i]]; }\n" ENTRY " { k<<<1, 1>>>(out, n); }\n",
         "uses too much shared data"},
        {"__global__ void k(int i) { asm(\"bogus.u32 %0;\" :: \"r\"(i)); }\n" ENTRY
         " { k<<<1, 1>>>(n); }\n",
         "ptxas a.ptx, line"},
    };
    put(f, "helper.cuh", "");
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        compile_text(f, ROWS[i].source);
        if (f->result.ok)
            fail_msg("accepted: %s", ROWS[i].source);
        expect(f, ROWS[i].wanted);
        expect_clean_log(f);
        const char *once = strstr(f->result.log, ROWS[i].wanted);
        if (strstr(once + 1, ROWS[i].wanted))
            fail_msg("twice:\n%s", f->result.log);
        if (strstr(f->result.log, "expected signature"))
            fail_msg("nothing is wrong with the signature:\n%s", f->result.log);
    }
}

static void test_warnings_are_kept(void **state)
{
    struct fixture *f = need_nvcc(state);
    char source[2000];
    snprintf(source, sizeof source, "#warning careful\nstatic void f() { int unused; }\n%s", GOOD);
    for (int round = 0; round < 2; round++) {
        compile_text(f, source);
        assert_true(f->result.ok);
        assert_int_equal(f->result.cached, round);
        expect(f, "a.cu:1:2: warning: #warning careful");
        assert_null(strstr(strstr(f->result.log, "#warning careful [") + 1, "#warning careful ["));
        expect(f, "a.cu(2): warning");
        expect_clean_log(f);
    }
}

static void test_failures_are_cached(void **state)
{
    struct fixture *f = need_nvcc(state);
    char log[1000];
    compile_text(f, ENTRY " { y = 1; }\n");
    assert_false(f->result.ok || f->result.cached);
    snprintf(log, sizeof log, "%s", f->result.log);
    run(f);
    assert_false(f->result.ok);
    assert_true(f->result.cached);
    assert_string_equal(f->result.log, log);
}

static void test_limits(void **state)
{
    struct fixture *f = need_nvcc(state);
    f->spec.limit_ns = SECOND_NS / 10;
    compile_text(f, GOOD);
    assert_false(f->result.ok);
    assert_true(f->result.timed_out);
    assert_true(f->result.wall_ns < SECOND_NS);
    expect(f, "takes longer than 0.1 s");
    f->spec.limit_ns = 60 * SECOND_NS;
    run(f); /* a time-out is not kept */
    assert_true(f->result.ok);
    assert_false(f->result.cached);

    struct text many;
    text_init(&many);
    for (int i = 0; i < 90; i++)
        text_addf(&many, "int x%d = undefined_%d;\n", i, i);
    f->spec.log_bytes = 1000;
    compile_text(f, text_str(&many));
    assert_false(f->result.ok);
    assert_true(strlen(f->result.log) < 1200);
    expect(f, "bytes of the compiler's output left out here");
    expect(f, "undefined_0");
    text_clear(&many);
    while (many.length <= 1 << 20)
        text_add(&many, "// a very long comment\n");
    compile_text(f, text_str(&many));
    assert_false(f->result.ok);
    expect(f, "larger than 1048576 bytes");
    text_release(&many);
}

static void test_bombs_end_in_time(void **state)
{
    struct fixture *f = need_nvcc(state);
    static const char *const BOMBS[] = {
        "#include \"/dev/zero\"\n",
        "#include __FILE__\n",
        "template <int N> struct T { T<N + 1> a; T<N + 2> b; };\nT<0> t;\n",
        "__device__ char huge[1 << 30] = {1, 2};\n",
    };
    f->spec.limit_ns = 2 * SECOND_NS;
    for (size_t i = 0; i < sizeof BOMBS / sizeof BOMBS[0]; i++) {
        uint64_t start = clock_now_ns();
        char source[500];
        snprintf(source, sizeof source, "%s" ENTRY " {}\n", BOMBS[i]);
        compile_text(f, source);
        assert_false(f->result.ok);
        assert_true(f->result.log[0]);
        assert_true(clock_now_ns() - start < 6 * SECOND_NS);
    }
}

static void test_headers_outside(void **state)
{
    struct fixture *f = need_nvcc(state);
    put(f, "secret.txt", "int secret_number = 42;\n#warning secret_number\n");
    char source[1000];
    snprintf(source, sizeof source, "#include \"%s/secret.txt\"\n%s", f->folder, GOOD);
    for (int round = 0; round < 2; round++) {
        compile_text(f, source);
        assert_false(f->result.ok);
        expect(f,
               "secret.txt: No such file or directory"); /* not to the compiler of a submission */
        assert_null(strstr(f->result.log, "secret_number"));
    }
    /* With its folder allowed it is a header like any other, and a change of it is noticed. */
    const char *folders[] = {f->folder, NULL};
    f->spec.include_folders = folders;
    assert_int_equal(chmod(f->folder, 0755), 0); /* root's box belongs to somebody else */
    run(f);
    assert_true(f->result.ok);
    run(f);
    assert_true(f->result.ok && f->result.cached);
    const char *first = f->result.library;
    put(f, "secret.txt", "int secret_number = 43;\n#warning secret_number\n");
    compile_text(f, source);
    assert_true(f->result.ok);
    assert_false(f->result.cached);
    assert_string_not_equal(f->result.library, first);
    assert_true(file_exists(first)); /* somebody may be running it */
}

static void test_forbidden_headers(void **state)
{
    struct fixture *f = need_nvcc(state);
    static const char *const FORBIDDEN[] = {"thrust/", "cub/"};
    char source[2000];
    /* Hidden from a look at the text, and only in the device's pass. */
    snprintf(
        source, sizeof source,
        "#define PART(x) <cu##x>\n#ifdef __CUDA_ARCH__\n#include PART(b/version.cuh)\n#endif\n%s",
        GOOD);
    compile_text(f, source);
    if (!f->result.ok)
        fail_msg("%s", f->result.log);
    f->spec.forbid_headers = FORBIDDEN;
    f->spec.forbid_header_count = 2;
    run(f); /* from the cache: the rule does not depend on the compilation */
    assert_true(f->result.cached);
    assert_false(f->result.ok);
    expect(f, "includes <cub/version.cuh>");
    expect(f, "start with cub/");
    compile_text(f, GOOD);
    assert_true(f->result.ok);
}

/* What the rules about headers cannot see, or must not: no wording of the source decides. */
static void test_rules(void **state)
{
    struct fixture *f = need_nvcc(state);
    static const char *const HEADERS[] = {"thrust/", "cub/"};
    static const char *const KERNELS[] = {"thrust::", "cub::"};
    static const struct {
        const char *source, *says; /* NULL: allowed */
    } ROWS[] = {
        {"#define cub cub\n// #include <cub/cub.cuh>\nstatic const char *const s = \"cub::k\";\n",
         NULL},
        {"#if __has_include(<cub/cub.cuh>)\n#endif\n", NULL},
        {"#include <cuda/std/utility>\n#include <cooperative_groups.h>\n", NULL},
        {"#define A cub\n#define S(x) #x\n#define T(x) S(x/version.cuh)\n#include T(A)\n",
         "includes <cub/version.cuh>"},
        {"#include <cuda/../cub/version.cuh>\n", "includes <cub/version.cuh>"},
        {"#include <thrust/detail/config.h>\n", "start with thrust/"},
        {"namespace cub { __global__ void copied(int *p) { *p = 1; } }\n"
         "void *use = (void *)cub::copied;\n",
         "brings the kernel cub::copied"},
        {"#define B b\n#define P(x, y) x##y\n#define Q(x, y) P(x, y)\n"
         "namespace mine { namespace Q(cu, B) { template <class T> __global__ void k(T *p) { *p = "
         "1; }"
         "} }\nvoid *use = (void *)mine::cub::k<int>;\n",
         "start with cub::"},
    };
    f->spec.forbid_headers = HEADERS;
    f->spec.forbid_kernels = KERNELS;
    f->spec.forbid_header_count = f->spec.forbid_kernel_count = 2;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char source[2000];
        snprintf(source, sizeof source, "%s%s", ROWS[i].source, GOOD);
        compile_text(f, source);
        if (f->result.ok != !ROWS[i].says)
            fail_msg("row %zu: ok is %d: %s", i, f->result.ok, f->result.log);
        if (ROWS[i].says)
            expect(f, ROWS[i].says);
    }
}

/* The judge may be installed among the system's own files. */
static void test_keeps_out(void **state)
{
    struct fixture *f = need_nvcc(state);
    char source[2000];
    snprintf(source, sizeof source, "#include <netinet/in.h>\n%s", GOOD);
    f->spec.keep_out = "/usr/include/netinet/../netinet";
    compile_text(f, source);
    assert_false(f->result.ok);
    expect(f, "cannot include /usr/include/netinet/in.h");
    f->spec.keep_out = "/usr/include/net";
    run(f);
    assert_true(f->result.ok);
    f->spec.keep_out = "/"; /* keeps nobody out */
    run(f);
    assert_true(f->result.ok);
}

static void test_awkward_names(void **state)
{
    struct fixture *f = need_nvcc(state);
    static const char *const NAMES[] = {"-shared.cu", "a b.cu",      "it's.cu",      "a\"b.cu",
                                        "scan",       "\xc3\xa9.cu", ".scanjudge.cu"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        put(f, NAMES[i], ENTRY " { y = 1; }\n");
        run(f);
        assert_false(f->result.ok);
        char wanted[100];
        snprintf(wanted, sizeof wanted, "%s(1): error: identifier \"y\"", NAMES[i]);
        expect(f, wanted);
    }
    put(f, "-shared.cu", GOOD);
    run(f);
    assert_true(f->result.ok);
}

static void test_damaged_cache(void **state)
{
    struct fixture *f = need_nvcc(state);
    compile_text(f, GOOD);
    char path[600];
    snprintf(path, sizeof path, "%s/compile/%.2s/%s.entry", f->cache, f->result.key, f->result.key);
    struct text entry;
    text_init(&entry);
    assert_int_equal(file_read(path, 1 << 20, &entry, NULL), 0);
    for (size_t length = 0; length < entry.length; length += entry.length / 5 + 1) {
        assert_int_equal(file_write(path, text_str(&entry), length, NULL), 0);
        f->spec.limit_ns = 1; /* a miss would have to compile: enough to see that it is one */
        run(f);
        assert_false(f->result.cached && f->result.ok && length < 60);
    }
    f->spec.limit_ns = 60 * SECOND_NS;
    assert_int_equal(file_write(path, text_str(&entry), entry.length, NULL), 0);
    run(f);
    assert_true(f->result.ok && f->result.cached);
    unlink(f->result.library);
    run(f);
    assert_true(f->result.ok);
    assert_false(f->result.cached);
    assert_true(file_exists(f->result.library));
    text_release(&entry);
}

static void *compile_thread(void *argument)
{
    struct fixture *f = argument;
    struct err e = {""};
    return compile(&f->toolkit, &f->spec, &f->arena, &f->result, &e) == 0 ? NULL : f;
}

static void test_side_by_side(void **state)
{
    struct fixture *f = need_nvcc(state);
    put(f, "a.cu", GOOD);
    enum { JUDGES = 3 };
    struct fixture copies[JUDGES];
    pthread_t threads[JUDGES];
    for (int i = 0; i < JUDGES; i++) {
        copies[i] = *f;
        arena_init(&copies[i].arena);
        assert_int_equal(pthread_create(&threads[i], NULL, compile_thread, &copies[i]), 0);
    }
    for (int i = 0; i < JUDGES; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_true(copies[i].result.ok);
        assert_true(file_exists(copies[i].result.library));
        arena_release(&copies[i].arena);
    }
}

static void test_programs(void **state)
{
    struct fixture *f = need_nvcc(state);
    f->spec.entry = f->spec.prototype = NULL;
    f->spec.program = f->spec.in_place = true;
    put(f, "common.cuh", "#define STATUS 3\n");
    put(f, "main.cu", "#include \"common.cuh\"\nint main() { return STATUS; }\n");
    run(f);
    if (!f->result.ok)
        fail_msg("%s", f->result.log);
    char command[600];
    snprintf(command, sizeof command, "LD_LIBRARY_PATH=%s/lib64 %s", f->toolkit.home,
             f->result.library);
    assert_int_equal(WEXITSTATUS(system(command)), 3);
    run(f);
    assert_true(f->result.cached);
    put(f, "common.cuh", "#define STATUS 4\n");
    put(f, "main.cu", "#include \"common.cuh\"\nint main() { return STATUS; }\n");
    run(f);
    assert_false(f->result.cached);
    put(f, "main.cu", "#include \"later.cuh\"\nint main() { return y }\n");
    run(f);
    assert_false(f->result.ok);
    expect(f, "main.cu:1:10: fatal error: later.cuh");
    put(f, "later.cuh", "int y;\n");
    put(f, "main.cu", "#include \"later.cuh\"\nint main() { return y }\n");
    run(f); /* the failure was not kept */
    expect(f, "main.cu(2): error: expected a \";\"");
    expect_clean_log(f);
}

/* As a problem's checker is: nothing of where it lies but what is handed in. */
static void test_programs_in_a_box(void **state)
{
    struct fixture *f = need_nvcc(state);
    const char *beside[] = {arena_printf(&f->arena, "%s/common.cuh", f->folder), NULL};
    f->spec.entry = f->spec.prototype = NULL;
    f->spec.program = true;
    f->spec.beside = beside;
    for (int status = 3; status < 5; status++) {
        char header[100], command[600];
        snprintf(header, sizeof header, "#pragma once\n#define STATUS %d\n", status);
        put(f, "common.cuh", header);
        put(f, "main.cu",
            "#include <common.cuh>\n#include \"common.cuh\"\nint main() { return STATUS; }\n");
        run(f);
        if (!f->result.ok)
            fail_msg("%s", f->result.log);
        assert_false(f->result.cached);
        /* It is not executed from here, so it need not be executable. */
        snprintf(command, sizeof command, "LD_LIBRARY_PATH=%s/lib64 /lib64/ld-linux-x86-64.so.2 %s",
                 f->toolkit.home, f->result.library);
        assert_int_equal(WEXITSTATUS(system(command)), status);
        run(f);
        assert_true(f->result.cached);
    }
    put(f, "other.cuh", "#define STATUS 3\n");
    put(f, "main.cu", "#include \"other.cuh\"\nint main() { return STATUS; }\n");
    run(f);
    assert_false(f->result.ok);
    expect(f, "main.cu:1:10: fatal error: other.cuh");
    beside[0] = arena_printf(&f->arena, "%s/gone.cuh", f->folder);
    struct err e;
    assert_int_equal(compile(&f->toolkit, &f->spec, &f->arena, &f->result, &e), -1);
    assert_non_null(strstr(e.text, "gone.cuh"));
}

static void test_toolkit(void **state)
{
    struct fixture *f = need_nvcc(state);
    assert_true(file_exists(f->toolkit.nvcc));
    assert_int_equal(f->toolkit.nvcc[0], '/');
    assert_true(strchr(f->toolkit.version, '.') != NULL);
    char path[600];
    snprintf(path, sizeof path, "%s/include/cuda_runtime.h", f->toolkit.home);
    assert_true(file_exists(path));

    /* A toolkit that tells its version slowly is asked once. */
    char bin[400], nvcc[512], old_path[4096];
    snprintf(bin, sizeof bin, "%s/bin", f->folder);
    snprintf(nvcc, sizeof nvcc, "%s/nvcc", bin);
    assert_int_equal(file_make_dirs(bin, NULL), 0);
    const char *script = "#!/bin/sh\necho \"$1\" >>\"$0.asked\"\n"
                         "echo 'Cuda compilation tools, release 14.2, V14.2.7'\n";
    assert_int_equal(file_write(nvcc, script, strlen(script), NULL), 0);
    assert_int_equal(chmod(nvcc, 0755), 0);
    snprintf(old_path, sizeof old_path, "%s", getenv("PATH"));
    setenv("PATH", bin, 1);
    struct err e = {""};
    struct toolkit t;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(toolkit_find(f->cache, &f->arena, &t, &e), 0);
        assert_string_equal(t.version, "14.2.7");
        assert_string_equal(t.nvcc, nvcc);
        assert_string_equal(t.home, f->folder);
    }
    struct text asked;
    text_init(&asked);
    snprintf(path, sizeof path, "%s.asked", nvcc);
    assert_int_equal(file_read(path, 100, &asked, NULL), 0);
    assert_string_equal(text_str(&asked), "--version\n-dryrun\n");
    text_release(&asked);

    /* A script that starts an nvcc elsewhere: the toolkit is there. */
    char wrapper[700];
    snprintf(wrapper, sizeof wrapper, "#!/bin/sh\nexec %s \"$@\"\n", f->toolkit.nvcc);
    assert_int_equal(file_write(nvcc, wrapper, strlen(wrapper), NULL), 0);
    assert_int_equal(chmod(nvcc, 0755), 0);
    assert_int_equal(toolkit_find(f->cache, &f->arena, &t, &e), 0);
    assert_string_equal(t.version, f->toolkit.version);
    assert_string_equal(t.home, f->toolkit.home);

    const char *broken = "#!/bin/sh\necho nothing of use\n";
    assert_int_equal(file_write(nvcc, broken, strlen(broken), NULL), 0);
    assert_int_equal(chmod(nvcc, 0755), 0);
    assert_int_equal(toolkit_find(f->cache, &f->arena, &t, &e), -1);
    assert_non_null(strstr(e.text, "does not tell a version"));
    setenv("PATH", old_path, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* `brief`: what takes nvcc a few compilations only. */
int main(int argc, char **argv)
{
    const struct CMUnitTest brief[] = {
        TEST(test_toolkit),
        TEST(test_compiles_and_caches),
        TEST(test_key_covers_what_decides),
        TEST(test_names_that_clash),
        TEST(test_warnings_are_kept),
        TEST(test_failures_are_cached),
        TEST(test_limits),
        TEST(test_damaged_cache),
    };
    const struct CMUnitTest more[] = {
        TEST(test_abandoned),       TEST(test_signatures),
        TEST(test_diagnostics),     TEST(test_bombs_end_in_time),
        TEST(test_headers_outside), TEST(test_forbidden_headers),
        TEST(test_rules),           TEST(test_keeps_out),
        TEST(test_awkward_names),   TEST(test_side_by_side),
        TEST(test_programs),        TEST(test_programs_in_a_box),
    };
    int failed = cmocka_run_group_tests(brief, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "brief") == 0)
        return failed;
    return failed + cmocka_run_group_tests(more, NULL, NULL);
}
