/* What counts as handed in, what is left out and why, manifests, and results under another name. */
#include "judge/grade/plan.h"

#include "base/file.h"
#include "judge/grade/rename.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const IDS[] = {"block-scan", "warp-scan", NULL};

static char folder[256];
static struct arena arena;
static struct plan plan;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return file_make_temp_dir(folder, sizeof folder, "plan", NULL);
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return file_remove_tree(folder, NULL);
}

static const char *path_of(const char *name)
{
    return arena_printf(&arena, "%s/%s", folder, name);
}

static void put(const char *name, const char *content)
{
    struct err e;
    const char *path = path_of(name);
    const char *parent = arena_strndup(&arena, path, (size_t)(strrchr(path, '/') - path));
    if (file_make_dirs(parent, &e) != 0 || file_write(path, content, strlen(content), &e) != 0)
        fail_msg("%s", e.text);
}

static void make(void)
{
    struct err e;
    if (plan_make(folder, IDS, &arena, &plan, &e) != 0)
        fail_msg("%s", e.text);
}

static const struct handed_in *item(const char *shown)
{
    for (unsigned i = 0; i < plan.count; i++)
        if (strcmp(plan.items[i].shown, shown) == 0)
            return &plan.items[i];
    fail_msg("%s was not found", shown);
    return NULL;
}

static void left_out(const char *shown, const char *why)
{
    for (unsigned i = 0; i < plan.left_out_count; i++)
        if (strcmp(plan.left_out[i].shown, shown) == 0) {
            if (!strstr(plan.left_out[i].why, why))
                fail_msg("%s: %s", shown, plan.left_out[i].why);
            return;
        }
    fail_msg("%s was not left out", shown);
}

static void both_shapes(void **state)
{
    (void)state;
    put("anna/warp-scan.cu", "1");
    put("bob/warp-scan/first.cu", "1");
    put("bob/warp-scan/second.cu", "2");
    put("bob/warp-scan/helper.h", "3");
    put("bob/notes.txt", "");
    put(".git/warp-scan.cu", "");
    make();
    assert_int_equal(plan.count, 3);
    assert_int_equal(plan.left_out_count, 0);
    assert_string_equal(item("bob/warp-scan/first.cu")->student, "bob");
    assert_string_equal(item("bob/warp-scan/first.cu")->problem, "warp-scan");
    assert_string_equal(item("anna/warp-scan.cu")->content,
                        item("bob/warp-scan/first.cu")->content);
    assert_string_not_equal(item("bob/warp-scan/second.cu")->content,
                            item("bob/warp-scan/first.cu")->content);
}

static void names_of_students(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"-rf",      "a b",          "a\nb", ";reboot", "$(x)",
                                        "\xff\xfe", "\xe6\x9d\x8e", "=1+1", "%s%n"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        put(arena_printf(&arena, "%s/warp-scan.cu", NAMES[i]), "1");
    make();
    assert_int_equal(plan.count, sizeof NAMES / sizeof NAMES[0]);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        assert_string_equal(item(arena_printf(&arena, "%s/warp-scan.cu", NAMES[i]))->student,
                            NAMES[i]);
}

static void what_is_none_is_told(void **state)
{
    (void)state;
    put("warp-scan.cu", "1");
    put("anna/wrap-scan.cu", "1");
    put("anna/blok-scan/x.cu", "1");
    put("bob/warp-scan.cu/x", "1");
    put("secret", "x");
    assert_int_equal(symlink(path_of("secret"), path_of("anna/warp-scan.cu")), 0);
    assert_int_equal(symlink(folder, path_of("anna/block-scan")), 0);
    assert_int_equal(mkfifo(path_of("bob/block-scan.cu"), 0600), 0);
    make();
    assert_int_equal(plan.count, 0);
    left_out("warp-scan.cu", "in no student's folder");
    left_out("anna/wrap-scan.cu", "did you mean 'warp-scan'?");
    left_out("anna/blok-scan", "did you mean 'block-scan'?");
    left_out("anna/warp-scan.cu", "link");
    left_out("anna/block-scan", "link");
    left_out("bob/block-scan.cu", "no regular file");
    assert_int_equal(plan.left_out_count, 6);
}

static void large_files_differ(void **state)
{
    (void)state;
    put("anna/warp-scan.cu", "");
    put("bob/warp-scan.cu", "");
    assert_int_equal(truncate(path_of("anna/warp-scan.cu"), 3 << 20), 0);
    assert_int_equal(truncate(path_of("bob/warp-scan.cu"), 4 << 20), 0);
    make();
    assert_string_not_equal(plan.items[0].content, plan.items[1].content);
}

static void manifest(const char *content, const char *problem)
{
    struct err e;
    put("class/list.jsonl", content);
    if (plan_make(path_of("class/list.jsonl"), IDS, &arena, &plan, &e) == 0)
        assert_string_equal("", problem);
    else if (!problem[0] || !strstr(e.text, problem))
        fail_msg("%s", e.text);
}

static void manifests(void **state)
{
    (void)state;
    put("class/a.cu", "1");
    put("b.cu", "1");
    manifest(
        "{\"student\": \"x/..\", \"problem\": \"warp-scan\", \"file\": \"a.cu\", \"more\": 1}\n"
        "\n"
        "{\"student\": \"y\", \"problem\": \"block-scan\", \"file\": \"../b.cu\"}",
        "");
    assert_int_equal(plan.count, 2);
    assert_string_equal(item("a.cu")->student, "x/..");
    manifest("{\"student\": \"y\", \"problem\": \"warp-scan\", \"file\": \"none.cu\"}\n", "");
    left_out("none.cu", "cannot be opened");
    manifest("{}\n", "list.jsonl:1: student is missing");
    manifest("\n{\"student\": \"y\", \"problem\": \"warp-scan\"}\n",
             "list.jsonl:2: file is missing");
    manifest("{\"student\": \"y\", \"file\": \"warp-scan\"}\n", "problem is missing");
    manifest("student,problem\n", "list.jsonl:1: this line is no JSON");
}

/* Whoever handed in the same first is not told of. */
static void results_get_another_name(void **state)
{
    (void)state;
    json_t *result = json_loads(
        "{\"submission\": \"/class/anna/old.cu\","
        " \"compile\": {\"log\": \"old.cu(3): warning; bold.cu, old.cuh\"},"
        " \"cases\": [{\"reproduce\": \"./judge.sh run p /class/anna/old.cu --case 'n=1'\","
        "   \"findings\": [{\"file\": \"old.cu\"}], \"stdout\": \"old.cu\"}]}",
        0, NULL);
    rename_result(result, "/class/b\xff/new.cu", "b\xff/new.cu");
    char *dump = json_dumps(result, JSON_SORT_KEYS | JSON_COMPACT);
    assert_null(strstr(dump, "anna"));
    assert_non_null(strstr(dump, "run p /class/b\xef\xbf\xbd/new.cu --case 'n=1'"));
    assert_non_null(strstr(dump, "\"file\":\"new.cu\""));
    assert_non_null(strstr(dump, "new.cu(3): warning; bold.cu, old.cuh"));
    assert_non_null(strstr(dump, "\"stdout\":\"old.cu\""));
    assert_non_null(strstr(dump, "\"submission\":\"b\xef\xbf\xbd/new.cu\""));
    free(dump);
    json_decref(result);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(both_shapes),        TEST(names_of_students), TEST(what_is_none_is_told),
        TEST(large_files_differ), TEST(manifests),         TEST(results_get_another_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
