/* The loader: every malformed spec under bad/ gives the message in its first comment, the example
 * of the design loads and means what it says, and hostile files are refused quickly. */
#include "base/clock.h"
#include "base/file.h"
#include "judge/problem/problem.h"
#include "judge/problem/suggest.h"
#include "judge/problem/tree.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char EXPECT[] = "# expect ";

/* `line:column: ...` from the comment. */
static char *expected_message(const char *text)
{
    const char *at = strstr(text, EXPECT);
    assert_non_null(at);
    at += strlen(EXPECT);
    return strndup(at, strcspn(at, "\n"));
}

/* `expected` may end in "...": lists of what a table has grow. */
static bool is_as_expected(const char *got, const char *expected)
{
    size_t length = strlen(expected);
    if (length > 3 && strcmp(expected + length - 3, "...") == 0)
        return strncmp(got, expected, length - 3) == 0;
    return strcmp(got, expected) == 0;
}

static void bad_specs_give_their_message(void **state)
{
    (void)state;
    DIR *dir = opendir(TEST_FOLDER "/bad");
    assert_non_null(dir);
    unsigned count = 0, wrong = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (!strstr(entry->d_name, ".yaml"))
            continue;
        char path[1024];
        snprintf(path, sizeof path, TEST_FOLDER "/bad/%s", entry->d_name);
        struct text text;
        text_init(&text);
        struct err e = {{0}};
        assert_int_equal(file_read(path, 1 << 20, &text, &e), 0);
        char *expected = expected_message(text_str(&text));
        struct arena arena;
        arena_init(&arena);
        struct problem p;
        int status = problem_parse("spec", text_str(&text), text.length, &arena, &p, &e);
        if (status != -1 || strncmp(e.text, "spec:", 5) != 0 ||
            !is_as_expected(e.text + 5, expected)) {
            print_error("%s:\n  expected spec:%s\n  got      %s\n", entry->d_name, expected,
                        status ? e.text : "a problem");
            wrong++;
        }
        count++;
        free(expected);
        arena_release(&arena);
        text_release(&text);
    }
    closedir(dir);
    assert_int_equal(wrong, 0);
    assert_true(count >= 100);
}

static void load_text(const char *text, struct arena *arena, struct problem *p)
{
    struct err e = {{0}};
    if (problem_parse("problems/x/problem.yaml", text, strlen(text), arena, p, &e) != 0)
        fail_msg("%s", e.text);
}

static void the_design_example_means_what_it_says(void **state)
{
    (void)state;
    struct text text;
    text_init(&text);
    struct err e;
    assert_int_equal(file_read(TEST_FOLDER "/good/example.yaml", 1 << 16, &text, &e), 0);
    struct arena arena;
    arena_init(&arena);
    struct problem p;
    load_text(text_str(&text), &arena, &p);
    text_release(&text); /* nothing may point into it */
    assert_string_equal(p.id, "x");
    assert_string_equal(p.folder, "problems/x");
    assert_string_equal(p.title.en, "Multi-block exclusive prefix sum");
    assert_string_equal(p.title.zh, "多 block 前缀和");
    assert_int_equal(p.difficulty, DIFFICULTY_HARD);
    assert_int_equal(p.tag_count, 2);
    assert_string_equal(p.tags[1], "multi-block");
    assert_int_equal(p.after_count, 1);
    assert_string_equal(p.after[0], "block-scan");
    assert_string_equal(problem_prototype(&p, &arena),
                        "extern \"C\" void exclusive_scan(const int *in, int *out, int n, void "
                        "*workspace, size_t workspace_bytes, cudaStream_t stream)");
    assert_int_equal(p.check_count, 1);
    assert_int_equal(p.checks[0].param, 1);
    assert_int_equal(p.checks[0].compare, COMPARE_exact);
    assert_int_equal(p.case_count, 15);
    assert_string_equal(p.cases[0].name, "worked example");
    assert_true(p.cases[0].is_public);
    assert_string_equal(p.cases[2].name, "n=1");
    assert_string_equal(p.cases[12].name, "n=2049");
    assert_false(p.cases[12].is_public);
    assert_int_equal(p.cases[12].values[0], 2049);
    assert_int_equal(p.benchmark_count, 4);
    assert_int_equal(p.benchmark[3][0], 268435456);
    assert_non_null(p.benchmark_bytes);
    assert_int_equal(p.cost_count, 1);
    assert_string_equal(p.costs[0].case_name, "many blocks");
    assert_string_equal(p.costs[0].counter, "global_bytes_per_item");
    assert_true(p.costs[0].max == 18);
    assert_int_equal(p.limits.time_ns, 10000000000);
    assert_int_equal(p.limits.memory_bytes, (uint64_t)2 << 30);
    assert_int_equal(p.limits.compile_ns, 60000000000);
    assert_int_equal(p.limits.output_bytes, 1 << 20);
    assert_int_equal(p.rules.forbid_header_count, 2);
    assert_string_equal(p.rules.forbid_headers[0], "cub/");
    assert_int_equal(p.rules.forbid_kernel_count, 2);
    assert_string_equal(p.rules.forbid_kernels[1], "thrust::");
    assert_int_equal(p.hint_count, 1);
    assert_string_equal(
        p.hints[0].text.en,
        "Scan each tile on its own first. What must be added to a tile afterwards?");
    assert_string_equal(p.hints[0].text.zh, "...");
    assert_string_equal(p.reference, "fastest.cu");
    assert_int_equal(strlen(p.version), 64);

    struct case_data data;
    assert_int_equal(problem_case_sizes(&p, &p.cases[12], 1, &arena, &data, &e), 0);
    assert_int_equal(data.buffers[0].count, 2049);
    assert_int_equal(data.buffers[1].bytes, 4 * 2049);
    assert_int_equal(data.buffers[3].bytes, 4 * 9 + 1024);
    assert_int_equal(data.scalars[2], 2049);
    assert_int_equal(data.scalars[4], 4 * 9 + 1024);
    arena_release(&arena);
}

#define HEAD                                                                                       \
    "format: 1\ntitle: T\ndifficulty: easy\nentry: f\nvariables: {n: {min: -9, max: 99}, m: {}}\n"
static const char WIDE[] =
    HEAD "parameters:\n"
         "  - {name: a, type: float16*, role: inout, shape: [n, m], misalign: 2}\n"
         "  - {name: b, type: int64 *, role: input, shape: [max(n, m) - 1]}\n"
         "  - {name: groups, type: uint32*, role: output, shape: [1]}\n"
         "  - {name: length, type: int32*, role: output, shape: [1]}\n"
         "  - {name: scale, type: float32, value: 2 * m}\n"
         "  - {name: small, type: int8, value: -n}\n"
         "  - {name: w, type: uint64*, role: workspace, bytes: \"8 * (n == 3)\"}\n"
         "check: {a: any_order_within(groups), groups: prefix(length), length: exact}\n"
         "reference: best_1.cu\n"
         "cases:\n"
         "  - {name: \"{n} by {m}\", n: [3, 4], m: [5, range(7, 11, 2)], a: uniform(-1.5, 1.5), b: "
         "arange(n, -m)}\n"
         "  - {name: literal, n: 1, m: 2,\n"
         "     a: [nan,\n"
         "         -inf],\n"
         "     b: [-9223372036854775808]}\n";

static void products_misalignment_and_types(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct problem p;
    load_text(WIDE, &arena, &p);
    assert_string_equal(problem_prototype(&p, &arena),
                        "extern \"C\" void f(__half *a, const long long *b, unsigned int *groups, "
                        "int *length, float scale, signed char small, unsigned long long *w)");
    assert_int_equal(p.case_count, 9);
    static const char *const NAMES[] = {"3 by 5", "3 by 7", "3 by 9",  "3 by 11", "4 by 5",
                                        "4 by 7", "4 by 9", "4 by 11", "literal"};
    for (unsigned i = 0; i < 9; i++)
        assert_string_equal(p.cases[i].name, NAMES[i]);
    assert_int_equal(p.checks[0].compare, COMPARE_any_order_within);
    assert_int_equal(p.checks[0].group_param, 2);
    assert_int_equal(p.checks[0].count_param, -1);
    assert_int_equal(p.checks[1].compare, COMPARE_prefix);
    assert_int_equal(p.checks[1].count_param, 3);
    struct case_data data;
    struct err e;
    assert_int_equal(problem_case_sizes(&p, &p.cases[3], 1, &arena, &data, &e), 0);
    assert_int_equal(data.buffers[0].count, 33);
    assert_int_equal(data.buffers[0].bytes, 66);
    assert_int_equal(data.buffers[0].misalign, 2);
    assert_int_equal(data.buffers[1].count, 10);
    assert_int_equal(data.scalars[4], 0x41b00000); /* 22.0f */
    assert_int_equal(data.scalars[5], 0xfd);       /* -3 in 8 bits */
    assert_int_equal(data.buffers[6].bytes, 8);
    assert_int_equal(problem_case_sizes(&p, &p.cases[7], 1, &arena, &data, &e), 0);
    assert_int_equal(data.buffers[6].bytes, 0);
    arena_release(&arena);
}

/* What `text` is refused with, within a time that a quadratic parser would not keep. */
static void assert_refused_quickly(const char *text, size_t length, const char *part)
{
    struct arena arena;
    arena_init(&arena);
    struct node *root;
    struct err e = {{0}};
    uint64_t start = clock_now_ns();
    int status = tree_parse("x", text, length, &arena, &root, &e);
    uint64_t spent = clock_now_ns() - start;
    if (part) {
        assert_int_equal(status, -1);
        assert_non_null(strstr(e.text, part));
    }
    assert_true(spent < 2000000000);
    arena_release(&arena);
}

static void hostile_files_are_refused_quickly(void **state)
{
    (void)state;
    static char text[PROBLEM_FILE_MAX + 1];
    memset(text, '[', sizeof text);
    assert_refused_quickly(text, sizeof text, "x:1:1: spec: found 65537 bytes; allowed: 65536");
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "17th level");
    for (size_t i = 1; i < sizeof text; i += 2)
        text[i] = '\n';
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "17th level");
    memset(text, '{', sizeof text);
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "spec: ");
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "- "[i & 1];
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "17th level");
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "? "[i & 1];
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "spec: ");
    for (size_t i = 0; i < sizeof text; i++) /* one long flow list, every item a possible key */
        text[i] = i == 0 ? '[' : ",a"[i & 1];
    assert_refused_quickly(text, PROBLEM_FILE_MAX, NULL);
    for (size_t i = 0; i < sizeof text; i++) /* parentheses that never close join for ever */
        text[i] = i == 0 ? '[' : ",("[i & 1];
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "stays open");
    for (size_t i = 0; i < sizeof text; i++) /* many keys */
        text[i] = "aaaa:\n"[i % 6] == 'a' ? (char)('a' + (i / 6 >> (4 * (i % 6))) % 16)
                                          : "aaaa:\n"[i % 6];
    assert_refused_quickly(text, PROBLEM_FILE_MAX, "too many keys");
}

/* Editors on Windows start a file with a mark; places do not count it. */
static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    static const char SPEC[] = "\xef\xbb\xbftitel: x\n";
    struct arena arena;
    struct problem p;
    struct err e = {{0}};
    arena_init(&arena);
    assert_int_equal(problem_parse("x", SPEC, strlen(SPEC), &arena, &p, &e), -1);
    assert_non_null(strstr(e.text, "x:1:1: titel"));
    arena_release(&arena);
}

/* However long the root is, a message names the file below it; a large one is never read. */
static void messages_name_the_file_below_the_root(void **state)
{
    (void)state;
    char root[256], folder[300], file[400];
    struct arena arena;
    struct problem p;
    struct err e = {{0}};
    arena_init(&arena);
    assert_int_equal(file_make_temp_dir(root, sizeof root, "test-load", &e), 0);
    snprintf(folder, sizeof folder, "%s/problems/large", root);
    snprintf(file, sizeof file, "%s/problem.yaml", folder);
    assert_int_equal(file_make_dirs(folder, &e), 0);
    assert_int_equal(file_write(file, "titel: x\n", 9, &e), 0);
    assert_int_equal(problem_load(root, "large", &arena, &p, &e), -1);
    assert_int_equal(strncmp(e.text, "problems/large/problem.yaml:1:1: titel", 38), 0);
    assert_int_equal(truncate(file, 70000), 0);
    assert_int_equal(problem_load(root, "large", &arena, &p, &e), -1);
    assert_string_equal(e.text, "problems/large/problem.yaml:1:1: spec: found 70000 bytes; "
                                "allowed: 65536");
    assert_int_equal(file_remove_tree(root, &e), 0);
    arena_release(&arena);
}

/* Beside an oracle the file is not needed for answers; whoever names it wants it all the same. */
static void a_reference_that_is_named_is_there(void **state)
{
    (void)state;
    char root[256], folder[300], file[400];
    struct arena arena;
    struct problem p;
    struct text spec;
    struct err e = {{0}};
    arena_init(&arena);
    text_init(&spec);
    assert_int_equal(file_read(SOURCE_ROOT "/problems/multi-block-scan/problem.yaml",
                               PROBLEM_FILE_MAX, &spec, &e),
                     0);
    assert_non_null(strstr(text_str(&spec), "\noracle: "));
    assert_non_null(strstr(text_str(&spec), "\nreference: look_back_bulk.cu"));
    assert_int_equal(file_make_temp_dir(root, sizeof root, "test-load", &e), 0);
    snprintf(folder, sizeof folder, "%s/problems/scan", root);
    snprintf(file, sizeof file, "%s/problem.yaml", folder);
    assert_int_equal(file_make_dirs(folder, &e), 0);
    assert_int_equal(file_write(file, text_str(&spec), spec.length, &e), 0);
    assert_int_equal(problem_load(root, "scan", &arena, &p, &e), -1);
    if (!strstr(e.text, "reference: found 'look_back_bulk.cu', but there is no file "
                        "reference/scan/look_back_bulk.cu; allowed: ") ||
        strncmp(e.text, "problems/scan/problem.yaml:", 27) != 0)
        fail_msg("%s", e.text);
    snprintf(folder, sizeof folder, "%s/reference/scan", root);
    snprintf(file, sizeof file, "%s/look_back_bulk.cu", folder);
    assert_int_equal(file_make_dirs(folder, &e), 0);
    assert_int_equal(file_write(file, "", 0, &e), 0);
    assert_int_equal(problem_load(root, "scan", &arena, &p, &e), 0);
    assert_int_equal(file_remove_tree(root, &e), 0);
    text_release(&spec);
    arena_release(&arena);
}

static void problems_are_found_by_id(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    const char **ids;
    struct err e = {{0}};
    assert_int_equal(problem_list(SOURCE_ROOT, &arena, &ids, &e), 0);
    unsigned count = 0;
    for (; ids[count]; count++)
        if (count)
            assert_true(strcmp(ids[count - 1], ids[count]) < 0);
    assert_true(count >= 3);
    struct problem p;
    assert_int_equal(problem_load(SOURCE_ROOT, "multi-block-scam", &arena, &p, &e), -1);
    assert_non_null(strstr(e.text, "did you mean 'multi-block-scan'?"));
    assert_int_equal(problem_load(SOURCE_ROOT, "../problems/multi-block-scan", &arena, &p, &e), -1);
    assert_int_equal(problem_load(SOURCE_ROOT, "", &arena, &p, &e), -1);
    assert_int_equal(problem_load("/nowhere", "multi-block-scan", &arena, &p, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere"));
    arena_release(&arena);
}

static void near_names_are_suggested(void **state)
{
    (void)state;
    const char *const names[] = {"title", "tags", NULL, "difficulty", "case"};
    assert_string_equal(suggest("titel", names, 5), "title");
    assert_string_equal(suggest("dificultie", names, 5), "difficulty");
    assert_string_equal(suggest("tag", names, 5), "tags");
    assert_null(suggest("colour", names, 5));
    assert_null(suggest("", names, 5));
}

static void cost_counters_are_computed(void **state)
{
    (void)state;
    struct problem_param params[] = {{.name = "in", .kind = PARAM_BUFFER, .role = WIRE_INPUT}};
    struct problem p = {.params = params, .param_count = 1};
    struct case_buffer buffers[] = {{.count = 4}};
    struct case_data data = {.problem = &p, .buffers = buffers};
    struct wire_counters counters = {{0}};
    counters.value[COUNTER_global_bytes_read] = 30;
    counters.value[COUNTER_global_bytes_written] = 10;
    counters.value[COUNTER_barriers] = 6;
    struct problem_cost cost = {.counter = "global_bytes_per_item"};
    assert_true(cost_value(&cost, &data, &counters) == 10);
    cost.counter = "global_bytes";
    assert_true(cost_value(&cost, &data, &counters) == 40);
    cost.counter = "barriers_per_item";
    assert_true(cost_value(&cost, &data, &counters) == 1.5);
    cost.counter = "global_sectors_per_request";
    assert_true(cost_value(&cost, &data, &counters) == 0); /* no request */
    counters.value[COUNTER_global_sectors] = 9;
    counters.value[COUNTER_global_requests] = 2;
    assert_true(cost_value(&cost, &data, &counters) == 4.5);
    assert_true(cost_counter_known("additions_per_item"));
    assert_true(cost_counter_known("global_sectors_per_item"));
    assert_false(cost_counter_known("sectors"));
    assert_false(cost_counter_known("_per_item"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_specs_give_their_message),
        cmocka_unit_test(the_design_example_means_what_it_says),
        cmocka_unit_test(products_misalignment_and_types),
        cmocka_unit_test(hostile_files_are_refused_quickly),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(messages_name_the_file_below_the_root),
        cmocka_unit_test(a_reference_that_is_named_is_there),
        cmocka_unit_test(problems_are_found_by_id),
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(cost_counters_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
