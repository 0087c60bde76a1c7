/* The parts of judge/compile that need no nvcc: symbols of a library, headers, messages. */
#include "base/file.h"
#include "judge/compile/diagnostics.h"
#include "judge/compile/elf.h"
#include "judge/compile/headers.h"
#include "judge/compile/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- elf ---- */

/* This program exports nothing, but it imports: the C library is the one at hand that defines. */
static const char *c_library(char path[512])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    char line[600];
    path[0] = '\0';
    while (fgets(line, sizeof line, maps)) {
        const char *slash = strchr(line, '/');
        if (slash && strstr(slash, "/libc.so.6"))
            sscanf(slash, "%511s", path);
    }
    fclose(maps);
    return path;
}

static void test_symbols(void **state)
{
    (void)state;
    char path[512];
    struct err e = {""};
    enum elf_found found;
    assert_int_equal(elf_find(c_library(path), "qsort", &found, &e), 0);
    assert_int_equal(found, ELF_DEFINED);
    assert_int_equal(elf_find(path, "memcpy", &found, &e), 0); /* an indirect function */
    assert_int_equal(found, ELF_DEFINED);
    assert_int_equal(elf_find(path, "environ", &found, &e), 0);
    assert_int_equal(found, ELF_NOT_A_FUNCTION);
    assert_int_equal(elf_find(path, "exclusive_scan", &found, &e), 0);
    assert_int_equal(found, ELF_MISSING);
    assert_int_equal(elf_find("/etc/passwd", "qsort", &found, &e), -1);
    assert_non_null(strstr(e.text, "not a 64-bit shared library"));
    assert_int_equal(elf_find("/no/such/file", "qsort", &found, &e), -1);
}

static void test_interposed(void **state)
{
    (void)state;
    char path[512], name[ELF_NAME_BYTES];
    struct err e = {""};
    assert_int_equal(elf_interposes(c_library(path), name, &e), 0); /* the one who may */
    assert_true(name[0]);
    assert_int_equal(elf_interposes(BUILD_ROOT "/lib/libcudart.so.13", name, &e), 0);
    assert_int_equal(strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0, 1);
    assert_int_equal(elf_interposes("/proc/self/exe", name, &e), 0);
    assert_string_equal(name, ""); /* it calls many of them and defines none */
    assert_int_equal(elf_interposes("/etc/passwd", name, &e), -1);
}

/* Every prefix of a library, and one with each of its header's bytes changed, is read without harm.
 */
static void test_damaged_libraries(void **state)
{
    (void)state;
    char path[512], folder[256], damaged[300];
    struct text library;
    struct err e;
    enum elf_found found;
    text_init(&library);
    assert_int_equal(file_make_temp_dir(folder, sizeof folder, "sj-elf", &e), 0);
    snprintf(damaged, sizeof damaged, "%s/lib.so", folder);
    assert_int_equal(file_read(c_library(path), 1 << 28, &library, &e), 0);
    for (size_t length = 0; length < library.length; length += library.length / 23 + 1) {
        assert_int_equal(file_write(damaged, library.data, length, &e), 0);
        assert_int_equal(elf_find(damaged, "qsort", &found, &e), -1);
    }
    for (size_t i = 0; i < 64; i++) {
        char kept = library.data[i];
        library.data[i] = (char)~kept;
        assert_int_equal(file_write(damaged, library.data, library.length, &e), 0);
        elf_find(damaged, "qsort", &found, &e);
        library.data[i] = kept;
    }
    text_release(&library);
    file_remove_tree(folder, NULL);
}

/* ---- headers ---- */

static const struct toolkit TOOLKIT = {"/cuda/bin/nvcc", "/cuda", "13.0"};

static void test_dependencies(void **state)
{
    (void)state;
    struct arena arena;
    struct headers h, again;
    struct err e = {""};
    char folder[256], path[300];
    arena_init(&arena);
    assert_int_equal(file_make_temp_dir(folder, sizeof folder, "sj-headers", &e), 0);
    snprintf(path, sizeof path, "%s/a b.cuh", folder);
    assert_int_equal(file_write(path, "1", 1, &e), 0);
    const char *own[] = {"a.cu", ".wrapper.cu", NULL};
    const char *text =
        "it : .wrapper.cu \\\n    a.cu \\\n    /cuda/bin/../targets/./include/cub/cub.cuh \\\n"
        "    /usr/include/stdio.h \\\n    a\\ b.cuh \\\n    /no/such//header.h\n";
    assert_int_equal(headers_parse(text, folder, own, &TOOLKIT, NULL, &arena, &h, &e), 0);
    assert_int_equal(h.count, 4);
    assert_int_equal(h.items[0].kind, HEADER_TOOLKIT);
    assert_string_equal(h.items[0].path, "/cuda/targets/include/cub/cub.cuh");
    assert_int_equal(h.items[1].kind, HEADER_SYSTEM);
    assert_int_equal(h.items[2].kind, HEADER_LOCAL);
    assert_string_equal(h.items[2].path, path);
    assert_string_equal(h.items[3].path, "/no/such/header.h");
    assert_false(headers_unchanged(&h, &arena)); /* a header that has gone */
    h.count = 3;
    assert_true(headers_unchanged(&h, &arena));

    struct text saved;
    text_init(&saved);
    headers_save(&h, &saved);
    assert_true(headers_load(text_str(&saved), &arena, &again));
    assert_int_equal(again.count, 3);
    assert_string_equal(again.items[2].path, path); /* the space in its name survives */
    assert_true(headers_unchanged(&again, &arena));
    assert_int_equal(file_write(path, "2", 1, &e), 0);
    assert_false(headers_unchanged(&again, &arena));
    saved.data[saved.length - 1] = ' '; /* cut short */
    assert_false(headers_load(text_str(&saved), &arena, &again));
    assert_false(headers_load("X y z\n", &arena, &again));
    assert_false(headers_load("T \n", &arena, &again));
    assert_int_equal(headers_parse("nothing", folder, own, &TOOLKIT, NULL, &arena, &h, &e), -1);
    text_release(&saved);
    file_remove_tree(folder, NULL);
    arena_release(&arena);
}

static void test_where_headers_come_from(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum header_kind kind;
    } ROWS[] = {
        {"/cuda/include/a.h", HEADER_TOOLKIT},   {"/cudaX/include/a.h", HEADER_LOCAL},
        {"/usr/include/a.h", HEADER_SYSTEM},     {"/usr/../etc/passwd", HEADER_LOCAL},
        {"/home/me/gcc/lib/a.h", HEADER_SYSTEM}, {"/home/me/a.h", HEADER_LOCAL},
        {"/proc/self/environ", HEADER_LOCAL},    {"/dev/null", HEADER_LOCAL},
    };
    struct arena arena;
    arena_init(&arena);
    const char *own[] = {NULL};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct headers h;
        struct err e;
        const char *text = arena_printf(&arena, "it : %s\n", ROWS[i].path);
        assert_int_equal(
            headers_parse(text, "/", own, &TOOLKIT, "/home/me/gcc/bin/gcc", &arena, &h, &e), 0);
        assert_int_equal(h.count, 1);
        if (h.items[0].kind != ROWS[i].kind)
            fail_msg("%s is %c", ROWS[i].path, (char)h.items[0].kind);
    }
    arena_release(&arena);
}

static void test_forbidden(void **state)
{
    (void)state;
    struct header items[] = {{HEADER_TOOLKIT, "/cuda/include/cccl/cuda/std/utility", ""},
                             {HEADER_TOOLKIT, "/cuda/include/cccl/cub/cub.cuh", ""}};
    const struct headers h = {items, 2};
    const char *name, *prefix;
    const char *const cub[] = {"thrust/", "cub/"}, *const part[] = {"ub/"}, *const empty[] = {""},
                      *const file[] = {"cub.cuh"};
    assert_ptr_equal(headers_forbidden(&h, cub, 2, &name, &prefix), &items[1]);
    assert_string_equal(name, "cub/cub.cuh");
    assert_string_equal(prefix, "cub/");
    assert_null(headers_forbidden(&h, part, 1, &name, &prefix)); /* only whole folder names */
    assert_null(headers_forbidden(&h, empty, 1, &name, &prefix));
    assert_null(headers_forbidden(&h, NULL, 0, &name, &prefix));
    assert_ptr_equal(headers_forbidden(&h, file, 1, &name, &prefix), &items[1]);
}

/* ---- kernels ---- */

static void test_kernel_names(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *name;
    } ROWS[] = {
        {"_Z6helperPi", "helper"},
        {"_ZN4mine3cub6detail11EmptyKernelIvEEvv", "mine::cub::detail::EmptyKernel"},
        {"_ZN36_GLOBAL__N__bfb23ac5_4_c_cu_a2efc8617helper2EPi",
         "_GLOBAL__N__bfb23ac5_4_c_cu_a2efc861::helper2"},
        {"plain", "plain"}, /* extern "C" */
        {"_Z", "_Z"},
        {"_ZN", "_ZN"},
        {"_Z99short", "_Z99short"},
        {"_ZN99999999999999999999999a", "_ZN99999999999999999999999a"},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        assert_string_equal(kernels_readable(ROWS[i].symbol, &arena), ROWS[i].name);
    arena_release(&arena);
}

static void test_forbidden_kernels(void **state)
{
    (void)state;
    static const char FILE_TEXT[] =
        "\177ELF\0.visible .entry _Z6helperPi(\n\0.entry\0 .weak .entry\n _ZN4mine3cub1kEv(";
    char folder[256], path[300];
    struct arena arena;
    struct err e;
    arena_init(&arena);
    assert_int_equal(file_make_temp_dir(folder, sizeof folder, "kernels", &e), 0);
    snprintf(path, sizeof path, "%s/library", folder);
    assert_int_equal(file_write(path, FILE_TEXT, sizeof FILE_TEXT - 1, &e), 0);
    const char *name, *prefix;
    const char *const both[] = {"thrust::", "cub::"}, *const helper[] = {"help"},
                      *const part[] = {"ub::"}, *const argument[] = {"Ev"};
    assert_int_equal(kernels_forbidden(path, both, 2, &arena, &name, &prefix, &e), 0);
    assert_string_equal(name, "cub::k");
    assert_string_equal(prefix, "cub::");
    assert_int_equal(kernels_forbidden(path, helper, 1, &arena, &name, &prefix, &e), 0);
    assert_string_equal(name, "helper");
    assert_int_equal(kernels_forbidden(path, part, 1, &arena, &name, &prefix, &e), 0);
    assert_null(name);
    assert_int_equal(kernels_forbidden(path, argument, 1, &arena, &name, &prefix, &e), 0);
    assert_null(name);
    assert_int_equal(kernels_forbidden("/nowhere", both, 2, &arena, &name, &prefix, &e), -1);
    assert_int_equal(kernels_forbidden("/nowhere", NULL, 0, &arena, &name, &prefix, &e), 0);
    assert_int_equal(file_remove_tree(folder, &e), 0);
    arena_release(&arena);
}

/* ---- diagnostics ---- */

static const struct diagnostics_context CONTEXT = {.source = "my scan.cu",
                                                   .compiled_name = "my scan.cu",
                                                   .wrapper = ".w.cu",
                                                   .end_line = 2,
                                                   .declaration_line = 9,
                                                   .work_folder = "/cache/work.Ab12",
                                                   .prototype = "extern \"C\" void f(int)"};

static void test_messages(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *wanted;
    } ROWS[] = {
        {"", ""},
        {"my scan.cu(3): error: x\n  code\n  ^\n\n1 error detected in the compilation of "
         "\".w.cu\".\n",
         "my scan.cu(3): error: x\n  code\n  ^\n\n1 error detected in the compilation of \"my "
         "scan.cu\".\n"},
        /* the wrapper's own include is nobody's business, that of the author is */
        {"In file included from .w.cu:1:\nmy scan.cu:2:1: warning: a\n",
         "my scan.cu:2:1: warning: a\n"},
        {"In file included from h.cuh:7,\n                 from my scan.cu:2,\n"
         "                 from .w.cu:1:\nx.h:1:1: error: b\n",
         "In file included from h.cuh:7,\n                 from my scan.cu:2:\nx.h:1:1: error: "
         "b\n"},
        /* both passes say the same */
        {"a.h:1:2: warning: c\n  1 | x\nb.h:1:2: warning: d\na.h:1:2: warning: c\n  1 | x\n",
         "a.h:1:2: warning: c\n  1 | x\nb.h:1:2: warning: d\n"},
        {"/cache/work.Ab12/my scan.cu:4: y\nld: tmpxft_00a_0-6_.w.o: z\nptxas tmpxft_1-6_.w.ptx, "
         "line 2\n",
         "my scan.cu:4: y\nld: my scan.o: z\nptxas my scan.ptx, line 2\n"},
        {"Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n", ""},
        {".w.cu(2): error: expected a \";\"\n  namespace x {}\n  ^\n\n",
         "my scan.cu: at the end of the file: error: expected a \";\"\n\n"},
        {".w.cu(9): error: linkage specification is not allowed\n  extern\n\n"
         "At end of source: error: expected a \"}\"\n",
         "my scan.cu: at the end of the file: error: expected a \"}\"\n\n"},
        /* the signature comes first, whatever else there is, and once */
        {"my scan.cu(1): warning: w\n\n.w.cu(9): error: cannot overload functions distinguished by "
         "return type alone\n  extern\n  ^\n\n",
         "my scan.cu: error: the entry point does not have the expected signature\n"
         "  expected: extern \"C\" void f(int)\n  to change: it has to return void\n"
         "  the compiler says: cannot overload functions distinguished by return type alone\n\n"
         "my scan.cu(1): warning: w\n\n"},
        {"no newline at the end", "no newline at the end\n"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct text out;
        text_init(&out);
        diagnostics_rewrite(&CONTEXT, ROWS[i].raw, &out);
        assert_string_equal(text_str(&out), ROWS[i].wanted);
        text_release(&out);
    }
}

/* int64_t and long long look alike and are not. */
static void test_long_long(void **state)
{
    (void)state;
    struct diagnostics_context c = CONTEXT;
    struct text out;
    c.prototype = "extern \"C\" void f(const long long *)";
    text_init(&out);
    diagnostics_rewrite(&c,
                        ".w.cu(9): error: more than one instance of overloaded function \"f\" has "
                        "\"C\" linkage\n",
                        &out);
    assert_non_null(strstr(text_str(&out), "int64_t is `long` here"));
    text_clear(&out);
    diagnostics_rewrite(&CONTEXT,
                        ".w.cu(9): error: more than one instance of overloaded function \"f\" has "
                        "\"C\" linkage\n",
                        &out);
    assert_non_null(strstr(text_str(&out), "expected signature"));
    assert_null(strstr(text_str(&out), "int64_t"));
    text_release(&out);
}

/* What a later card has: which one, and how to get it. */
static void test_needs(void **state)
{
    (void)state;
    static const struct {
        const char *target, *wrapper, *raw, *wanted; /* NULL: no hint */
    } ROWS[] = {
        {"75", NULL, "a.cu(1): error: identifier \"__reduce_add_sync\" is undefined\n",
         "__reduce_..._sync needs a card of compute capability 8.0; this was compiled for 7.5\n"
         "  compile for it: exec --target 80\n"},
        {"75", ".w.cu", "a.cu(1): error: identifier \"__reduce_add_sync\" is undefined\n",
         "this exercise compiles for 7.5 (`target: 80` in its problem.yaml would allow it)"},
        {"80", NULL, "a.cu(1): error: identifier \"__reduce_add_sync\" is undefined\n", NULL},
        {"80", NULL,
         "a.cu(2): error: namespace \"cooperative_groups\" has no member \"this_cluster\"\n",
         "a cluster of blocks needs a card of compute capability 9.0; this was compiled for 8.0"},
        {"75", NULL,
         "a.cu(1): error: __cluster_dims__ is not supported for this GPU architecture\n",
         "exec --target 90"},
        {"75", NULL,
         "ptxas a.ptx, line 28; error   : Feature 'cp.async' requires .target sm_80 or higher\n",
         "cp.async needs a card of compute capability 8.0"},
        {"75", NULL,
         "ptxas a.ptx, line 28; error   : Feature 'cp.async' requires .target sm_80 or higher\n"
         "ptxas a.ptx, line 31; error   : Feature 'mapa' requires .target sm_90 or higher\n",
         "mapa needs a card of compute capability 9.0"},
        {"75", NULL,
         "ptxas fatal   : Unresolved extern function "
         "'__cuda_ptx_cp_async_bulk_is_not_supported_before_SM_90__'\n",
         "cp_async_bulk needs a card of compute capability 9.0"},
        {"75", NULL,
         "wm.cu(4): error: incomplete type \"nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, "
         "16, "
         "16, __nv_bfloat16, nvcuda::wmma::row_major>\" is not allowed\n",
         "a matrix product of bfloat16 needs a card of compute capability 8.0"},
        {"75", NULL,
         "f2.cu(1): error: no instance of overloaded function \"atomicAdd\" matches the argument "
         "list\n            argument types are: (float2 *, float2)\n",
         "an atomic on float2 needs a card of compute capability 9.0"},
        {"75", NULL, "a.cu(1): error: identifier \"x\" is undefined\n", NULL},
        {"75", NULL, "a.cu(1): warning: \"__reduce_add_sync\" was declared\n", NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct diagnostics_context c = CONTEXT;
        struct text out;
        c.target = ROWS[i].target;
        c.wrapper = ROWS[i].wrapper;
        text_init(&out);
        diagnostics_rewrite(&c, ROWS[i].raw, &out);
        if (ROWS[i].wanted)
            assert_non_null(strstr(text_str(&out), ROWS[i].wanted));
        else
            assert_null(strstr(text_str(&out), "compute capability"));
        text_release(&out);
    }
}

static void test_cut(void **state)
{
    (void)state;
    struct text t;
    text_init(&t);
    for (int i = 0; i < 1000; i++)
        text_addf(&t, "line %03d\n", i);
    size_t before = t.length;
    diagnostics_cut(&t, before);
    assert_int_equal(t.length, before);
    diagnostics_cut(&t, 100);
    assert_true(t.length < 200);
    assert_non_null(strstr(text_str(&t), "line 000\n"));
    assert_non_null(strstr(text_str(&t), "line 999\n"));
    assert_non_null(strstr(text_str(&t), "(8910 bytes of the compiler's output left out here)"));
    text_clear(&t);
    for (int i = 0; i < 5000; i++)
        text_addc(&t, 'x'); /* one endless line */
    diagnostics_cut(&t, 100);
    assert_true(t.length < 200);
    text_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_interposed),
        cmocka_unit_test(test_damaged_libraries),
        cmocka_unit_test(test_dependencies),
        cmocka_unit_test(test_where_headers_come_from),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_kernel_names),
        cmocka_unit_test(test_forbidden_kernels),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_long_long),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
