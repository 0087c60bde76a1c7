/* arena, text, file, pages, names, rng, hash. */
#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/names.h"
#include "base/pages.h"
#include "base/rng.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        unsigned char *p = arena_alloc(&a, bytes);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, bytes);
    }
    memset(arena_alloc(&a, 1 << 20), 1, 1 << 20); /* larger than a chunk */
    assert_string_equal(arena_printf(&a, "%d-%s", 42, "x"), "42-x");
    assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
    arena_release(&a);
    assert_null(a.chunks);
}

static void text_grows(void **state)
{
    (void)state;
    struct text t;
    text_init(&t);
    assert_string_equal(text_str(&t), "");
    for (int i = 0; i < 1000; i++)
        text_addf(&t, "%d,", i);
    assert_int_equal(t.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(t.data, "0,1,2,", 6);
    text_clear(&t);
    text_addc(&t, 'a');
    text_addn(&t, "\0b", 2);
    assert_int_equal(t.length, 3);
    text_release(&t);
}

static void words_for_a_shell(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"n=1025", "n=1025"},   {"", "''"},         {"a b", "'a b'"},
        {"it's", "'it'\\''s'"}, {"$(x)", "'$(x)'"}, {"~a", "'~a'"},
    };
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text_clear(&t);
        text_add_shell_word(&t, rows[i][0]);
        assert_string_equal(text_str(&t), rows[i][1]);
    }
    text_release(&t);
}

static void files_are_written_whole_and_read_within_a_limit(void **state)
{
    (void)state;
    struct err e;
    char folder[256], path[512], deep[600];
    assert_int_equal(file_make_temp_dir(folder, sizeof folder, "sj-test", &e), 0);
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(file_write(path, "hello", 5, &e), 0);
    struct text t;
    text_init(&t);
    assert_int_equal(file_read(path, 5, &t, &e), 0);
    assert_string_equal(text_str(&t), "hello");
    assert_int_equal(file_read(path, 4, &t, &e), -1);
    assert_non_null(strstr(e.text, "larger than the 4 bytes"));
    assert_int_equal(file_read(folder, 100, &t, &e), -1);
    assert_non_null(strstr(e.text, "not a regular file"));
    assert_int_equal(file_read("/dev/zero", 100, &t, &e), -1);
    assert_int_equal(file_read("/nonexistent/x", 100, &t, &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent/x"));
    snprintf(deep, sizeof deep, "%s/b/c/d", folder);
    assert_int_equal(file_make_dirs(deep, &e), 0);
    assert_true(file_is_dir(deep));
    assert_int_equal(file_make_dirs(path, &e), -1); /* a file is in the way */
    snprintf(deep, sizeof deep, "%s/fifo", folder);
    assert_int_equal(mkfifo(deep, 0600), 0);
    assert_int_equal(file_read(deep, 100, &t, &e), -1); /* does not hang */
    assert_int_equal(file_remove_tree(folder, &e), 0);
    assert_false(file_exists(folder));
    assert_string_equal(file_base_name("/a/b.cu"), "b.cu");
    text_release(&t);
}

static void random_numbers_depend_on_key_and_counter_only(void **state)
{
    (void)state;
    uint64_t a = rng_key(1, 2), b = rng_key(1, 3);
    assert_int_not_equal(a, b);
    assert_int_equal(rng_at(a, 5), rng_at(a, 5));
    assert_int_not_equal(rng_at(a, 5), rng_at(a, 6));
    unsigned seen[10] = {0};
    for (uint64_t i = 0; i < 100000; i++)
        seen[rng_below(a, i, 10)]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 9600, 10400);
    double sum = 0;
    for (uint64_t i = 0; i < 100000; i++)
        sum += rng_unit(b, i);
    assert_in_range((uint64_t)sum, 49500, 50500);
    uint64_t secret = rng_secret_seed();
    assert_true(secret > 0 && secret < 1ull << 53);
    assert_int_not_equal(secret, rng_secret_seed());
}

static void hash_is_sha256_of_length_prefixed_parts(void **state)
{
    (void)state;
    struct hash h;
    char one[HASH_HEX_BYTES], two[HASH_HEX_BYTES], none[HASH_HEX_BYTES];
    hash_init(&h);
    hash_str(&h, "ab");
    hash_str(&h, "c");
    hash_hex(&h, one);
    hash_init(&h);
    hash_str(&h, "a");
    hash_str(&h, "bc");
    hash_hex(&h, two);
    assert_string_not_equal(one, two);
    hash_init(&h);
    hash_hex(&h, none);
    assert_string_equal(none, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void a_derived_seed_depends_on_all_of_it(void **state)
{
    (void)state;
    uint64_t seed = hash_seed(1, "a", 0);
    assert_int_equal(seed, hash_seed(1, "a", 0));
    assert_int_not_equal(seed, hash_seed(2, "a", 0));
    assert_int_not_equal(seed, hash_seed(1, "b", 0));
    assert_int_not_equal(seed, hash_seed(1, "a", 1));
    struct hash h;
    hash_init(&h);
    assert_true(hash_number(&h) == 0xe3b0c44298fc1c14u); /* as hash_hex() begins */
}

static void shared_pages_are_whole_and_zero(void **state)
{
    (void)state;
    const uint64_t MB = (uint64_t)1 << 20,
                   wanted[] = {1, 4096, 100 * 4096 + 1, MB / 2, 2 * MB, 2 * MB + 1, 5 * MB + 4097};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        /* As large as is good, and just what was asked for. */
        const uint64_t sizes[] = {pages_file_bytes(wanted[i]), wanted[i]};
        assert_true(sizes[0] >= wanted[i] && sizes[0] < wanted[i] + 2 * MB);
        for (int k = 0; k < 2; k++) {
            uint64_t bytes = sizes[k];
            int fd = memfd_create("pages", MFD_CLOEXEC);
            assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
            uint8_t *p = pages_make(fd, bytes), *q = pages_map(fd, bytes, PROT_READ);
            assert_non_null(p);
            assert_non_null(q);
            for (uint64_t at = 0; at < bytes; at++)
                if (p[at] != 0)
                    fail_msg("byte %llu is not zero", (unsigned long long)at);
            for (uint64_t at = 0; at < bytes; at++)
                p[at] = (uint8_t)(at * 7 + at / 4096);
            assert_memory_equal(p, q, bytes);
            assert_int_equal(munmap(p, bytes) | munmap(q, bytes) | close(fd), 0);
        }
    }
    assert_null(pages_map(-1, 5 * MB, PROT_READ));
    assert_int_equal(errno, EBADF);
    assert_null(pages_map(-1, 5, PROT_READ));
}

static void names_are_found_whole(void **state)
{
    (void)state;
    static const struct {
        int number;
        const char *word;
    } rows[] = {{1, "in"}, {2, "in-order"}, {3, NULL}, {4, ""}, {5, "late"}};
    assert_int_equal(names_find(NAMES(rows, word), "in-order,late", 8), 1);
    assert_int_equal(names_find(NAMES(rows, word), "in-order", 2), 0);
    assert_int_equal(names_find(NAMES(rows, word), "late", 4), 4);
    assert_int_equal(names_find(NAMES(rows, word), "late", 0), 3);
    assert_int_equal(names_find(NAMES(rows, word), "later", 5), 5);
    assert_int_equal(names_find(NAMES(rows, word), "in-orde", 7), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(words_for_a_shell),
        cmocka_unit_test(files_are_written_whole_and_read_within_a_limit),
        cmocka_unit_test(random_numbers_depend_on_key_and_counter_only),
        cmocka_unit_test(hash_is_sha256_of_length_prefixed_parts),
        cmocka_unit_test(a_derived_seed_depends_on_all_of_it),
        cmocka_unit_test(shared_pages_are_whole_and_zero),
        cmocka_unit_test(names_are_found_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
