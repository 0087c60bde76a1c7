/* The file of results: what is added is found again, whole and torn lines, judge errors, parts. */
#include "judge/grade/store.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "aaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const char ACCEPTED[] =
    "{\"verdict\":\"accepted\",\"seed\":5,\"ms\":12.5,\"cases\":[{\"verdict\":\"accepted\"},"
    "{\"verdict\":\"wrong_answer\"}],\"not_judged\":[\"n=9\"]}";
static const char FAILED[] = "{\"verdict\":\"judge_error\",\"cases\":[]}";

static char folder[256];
static struct text notes;
static struct store store;

static int set_up(void **state)
{
    (void)state;
    text_init(&notes);
    return file_make_temp_dir(folder, sizeof folder, "store", NULL);
}

static int tear_down(void **state)
{
    (void)state;
    text_release(&notes);
    return file_remove_tree(folder, NULL);
}

static void reopen(void)
{
    struct err e;
    if (store.fd > 0)
        store_close(&store);
    text_clear(&notes);
    if (store_open(folder, false, &store, &notes, &e) != 0)
        fail_msg("%s", e.text);
}

static void add(const char *key, const char *result)
{
    struct err e;
    if (store_add(&store, key, "a\"\n.cu", "case 'n=1'", result, &e) != 0)
        fail_msg("%s", e.text);
}

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void what_is_added_is_found_again(void **state)
{
    (void)state;
    reopen();
    add(KEY_A, ACCEPTED);
    add(KEY_B, ACCEPTED);
    reopen();
    assert_string_equal(text_str(&notes), "");
    const struct stored *r = store_find(&store, KEY_B);
    assert_non_null(r);
    assert_int_equal(r->verdict, VERDICT_accepted);
    assert_string_equal(r->file, "a\"\n.cu");
    assert_int_equal(r->seed, 5);
    assert_int_equal(r->passed, 1);
    assert_int_equal(r->cases, 3);
    json_t *result = store_read(&store, r, NULL);
    assert_int_equal(json_integer_value(json_object_get(result, "seed")), 5);
    json_decref(result);
    assert_true(store_is_final(&store, KEY_A));
    assert_null(store_find(&store, "0" KEY_A));
    store_close(&store);
}

static void a_judge_error_is_not_final(void **state)
{
    (void)state;
    reopen();
    add(KEY_A, FAILED);
    assert_non_null(store_find(&store, KEY_A));
    assert_false(store_is_final(&store, KEY_A));
    add(KEY_A, ACCEPTED);
    assert_true(store_is_final(&store, KEY_A));
    reopen();
    assert_true(store_is_final(&store, KEY_A));
    assert_int_equal(store.count, 1);
    store_close(&store);
}

/* Wherever the writer was ended: what stands before that line is kept, and the file goes on. */
static void a_torn_line_is_cut_off(void **state)
{
    (void)state;
    struct text whole;
    text_init(&whole);
    reopen();
    add(KEY_A, ACCEPTED);
    add(KEY_B, ACCEPTED);
    store_close(&store);
    assert_int_equal(file_read(path_of("results.jsonl"), 1 << 20, &whole, NULL), 0);
    const char *first = strchr(text_str(&whole), '\n'), *second = strchr(first + 1, '\n');
    size_t keep = (size_t)(second - text_str(&whole)) + 1;
    for (size_t length = keep + 1; length < whole.length; length += 7) {
        assert_int_equal(truncate(path_of("results.jsonl"), (off_t)length), 0);
        reopen();
        assert_non_null(strstr(text_str(&notes), "torn"));
        assert_true(store_is_final(&store, KEY_A));
        assert_null(store_find(&store, KEY_B));
        add(KEY_B, ACCEPTED);
        reopen();
        assert_string_equal(text_str(&notes), "");
        assert_true(store_is_final(&store, KEY_B));
        store_close(&store);
    }
    text_release(&whole);
}

static void lines_that_are_none_are_told(void **state)
{
    (void)state;
    reopen();
    add(KEY_A, ACCEPTED);
    FILE *file = fopen(path_of("results.jsonl"), "a");
    fputs("{\"key\": \"short\"}\nnot json\n", file);
    fclose(file);
    reopen();
    assert_non_null(strstr(text_str(&notes), ":3: this line is no record, and there are more"));
    assert_true(store_is_final(&store, KEY_A));
    add(KEY_B, ACCEPTED);
    reopen();
    assert_true(store_is_final(&store, KEY_B));
    store_close(&store);
}

static void another_file_is_not_touched(void **state)
{
    (void)state;
    struct err e;
    struct text after;
    text_init(&after);
    assert_int_equal(file_write(path_of("results.jsonl"), "my notes\nmore", 13, &e), 0);
    assert_int_equal(store_open(folder, false, &store, &notes, &e), -1);
    assert_non_null(strstr(e.text, "not a file of results"));
    assert_int_equal(file_read(path_of("results.jsonl"), 100, &after, NULL), 0);
    assert_string_equal(text_str(&after), "my notes\nmore");
    text_release(&after);
}

static void two_at_once_are_refused(void **state)
{
    (void)state;
    struct store other;
    struct err e;
    reopen();
    assert_int_equal(store_open(folder, false, &other, &notes, &e), -1);
    assert_non_null(strstr(e.text, "another `grade`"));
    store_close(&store);
    reopen();
    store_close(&store);
}

static void seeds_come_from_the_secret(void **state)
{
    (void)state;
    reopen();
    uint64_t a = store_seed(&store, KEY_A), b = store_seed(&store, KEY_B);
    assert_true(a != b && a > 0 && a < (uint64_t)1 << 53);
    reopen();
    assert_true(a == store_seed(&store, KEY_A));
    store_close(&store);
    unlink(path_of("results.jsonl"));
    reopen();
    assert_true(a != store_seed(&store, KEY_A));
    store_close(&store);
}

static void parts_are_gathered_once(void **state)
{
    (void)state;
    struct store part;
    struct err e;
    unsigned count;
    char other[512];
    snprintf(other, sizeof other, "%s", path_of("part"));
    reopen();
    add(KEY_A, ACCEPTED);
    uint64_t seed = store_seed(&store, KEY_B);
    assert_int_equal(store_make_part(&store, other, &e), 0);
    assert_int_equal(store_make_part(&store, other, &e), 0);
    assert_int_equal(store_open(other, false, &part, &notes, &e), 0);
    assert_true(store_seed(&part, KEY_B) == seed);
    assert_int_equal(store_add(&part, KEY_A, "x", "", FAILED, &e), 0);
    assert_int_equal(store_add(&part, KEY_B, "y", "", ACCEPTED, &e), 0);
    store_close(&part);
    assert_int_equal(store_gather(&store, other, &count, &notes, &e), 0);
    assert_int_equal(count, 1);
    assert_true(store_is_final(&store, KEY_A) && store_is_final(&store, KEY_B));
    assert_int_equal(store_gather(&store, other, &count, &notes, &e), 0);
    assert_int_equal(count, 0);
    assert_int_equal(store_gather(&store, path_of("none"), &count, &notes, &e), 0);
    reopen();
    assert_int_equal(store.count, 2);
    assert_string_equal(text_str(&notes), "");
    store_close(&store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_added_is_found_again), TEST(a_judge_error_is_not_final),
        TEST(a_torn_line_is_cut_off),       TEST(lines_that_are_none_are_told),
        TEST(another_file_is_not_touched),  TEST(two_at_once_are_refused),
        TEST(seeds_come_from_the_secret),   TEST(parts_are_gathered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
