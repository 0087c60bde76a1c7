/* The fat binary reader, on containers that nvcc 13.0 wrote (data/, made from data/scale.cu with
 * --compress-mode=none, default and speed) and on containers built by hand. */
#include "base/file.h"
#include "cpu/cudart/fatbin.h"
#include "fatbin_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static bool contains(const struct fatbin_image *image, const char *needle)
{
    return memmem(image->ptx, image->ptx_bytes, needle, strlen(needle)) != NULL;
}

static void expect_error(const void *bytes, size_t length, const char *part)
{
    struct fatbin_image image;
    struct err e = {""};
    assert_int_equal(fatbin_read(bytes, length, 90, &image, &e), -1);
    if (!strstr(e.text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, e.text);
    assert_null(image.owned);
}

static void read_file(const char *name, struct text *out)
{
    struct err e;
    char path[512];
    snprintf(path, sizeof path, "%s/data/%s", TEST_FOLDER, name);
    if (file_read(path, 1 << 20, out, &e) != 0)
        fail_msg("%s", e.text);
}

static void nvcc_made_files_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"scale.plain.fatbin", "scale.zstd.fatbin",
                                        "scale.lz4.fatbin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (unsigned wanted = 75; wanted <= 90; wanted += 15) {
            struct text bytes;
            struct fatbin_image image;
            struct err e;
            text_init(&bytes);
            read_file(names[i], &bytes);
            if (fatbin_read(bytes.data, bytes.length, wanted, &image, &e) != 0)
                fail_msg("%s: %s", names[i], e.text);
            assert_int_equal(image.target, wanted);
            assert_true(contains(&image, wanted == 75 ? ".target sm_75" : ".target sm_90"));
            assert_true(contains(&image, ".visible .entry scale("));
            assert_true(contains(&image, ".maxntid 128"));
            fatbin_release(&image);
            text_release(&bytes);
        }
    }
}

/* Every cut of every file is refused or, where only padding is missing, read; never more. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"scale.plain.fatbin", "scale.zstd.fatbin",
                                        "scale.lz4.fatbin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct text bytes;
        text_init(&bytes);
        read_file(names[i], &bytes);
        for (size_t length = 0; length < bytes.length; length++) {
            char *exact = malloc(length + 1); /* a sanitizer sees a read past it */
            assert_non_null(exact);
            memcpy(exact, bytes.data, length);
            struct fatbin_image image;
            assert_int_equal(fatbin_read(exact, length, 90, &image, NULL), -1);
            free(exact);
        }
        text_release(&bytes);
    }
}

static unsigned chosen(const unsigned *targets, size_t count, unsigned wanted)
{
    struct builder_entry entries[8];
    struct text bytes;
    struct fatbin_image image;
    text_init(&bytes);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct builder_entry){
            .kind = 1, .target = targets[i], .payload = "x", .payload_bytes = 1};
    builder_build(&bytes, entries, count);
    assert_int_equal(fatbin_read(bytes.data, bytes.length, wanted, &image, NULL), 0);
    text_release(&bytes);
    return image.target;
}

static void the_best_target_is_chosen(void **state)
{
    (void)state;
    assert_int_equal(chosen((const unsigned[]){75}, 1, 90), 75);
    assert_int_equal(chosen((const unsigned[]){75, 90, 80}, 3, 90), 90);
    assert_int_equal(chosen((const unsigned[]){100, 75, 120}, 3, 90), 75);
    assert_int_equal(chosen((const unsigned[]){120, 100}, 2, 90), 100);
}

static void no_ptx_names_the_flag(void **state)
{
    (void)state;
    struct builder_entry cubin = {
        .kind = 2, .target = 75, .payload = "\177ELF", .payload_bytes = 4};
    struct text bytes;
    text_init(&bytes);
    builder_build(&bytes, &cubin, 1);
    expect_error(bytes.data, bytes.length, "machine code only");
    expect_error(bytes.data, bytes.length, "-gencode arch=compute_75,code=compute_75");
    text_clear(&bytes);
    builder_build(&bytes, NULL, 0);
    expect_error(bytes.data, bytes.length, "no device code");
    text_release(&bytes);
}

static void expect_entry_error(struct builder_entry entry, const char *part)
{
    struct text bytes;
    text_init(&bytes);
    entry.kind = 1;
    builder_build(&bytes, &entry, 1);
    expect_error(bytes.data, bytes.length, part);
    text_release(&bytes);
}

static void damage_is_named(void **state)
{
    (void)state;
    const uint32_t zstd = 0xfd2fb528;
    expect_entry_error(
        (struct builder_entry){.payload = "abcd", .payload_bytes = 4, .compressed_bytes = 4},
        "unknown way");
    expect_entry_error(
        (struct builder_entry){
            .payload = &zstd, .payload_bytes = 4, .compressed_bytes = 4, .plain_bytes = 100},
        "damaged");
    expect_entry_error(
        (struct builder_entry){
            .payload = &zstd, .payload_bytes = 4, .compressed_bytes = 100, .plain_bytes = 100},
        "cut off");
    expect_entry_error(
        (struct builder_entry){
            .payload = &zstd, .payload_bytes = 4, .compressed_bytes = 4, .plain_bytes = 1ull << 40},
        "are possible");
    expect_error("", 0, "magic number");
    expect_error("not a container at all", 22, "magic number");
}

/* LZ4 sequences that reach outside: each field that can lie, once. */
static void lz4_lies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes;
        uint32_t length;
        uint64_t plain;
    } lies[] = {
        {"literals past the input", "\xf0\x05", 2, 20},
        {"literal length cut off", "\xf0", 1, 20},
        {"match before the start",
         "\x10"
         "a\x02\x00",
         4, 5},
        {"distance 0",
         "\x10"
         "a\x00\x00",
         4, 5},
        {"distance cut off",
         "\x10"
         "a\x01",
         3, 5},
        {"match past the output",
         "\x1f"
         "a\x01\x00\x05",
         5, 6},
        {"too short",
         "\x10"
         "a",
         2, 5},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        print_message("%s\n", lies[i].name);
        expect_entry_error((struct builder_entry){.payload = lies[i].bytes,
                                                  .payload_bytes = lies[i].length,
                                                  .compressed_bytes = lies[i].length,
                                                  .flags = 0x2000,
                                                  .plain_bytes = lies[i].plain},
                           "damaged");
    }
}

static void lz4_overlapping_match_repeats(void **state)
{
    (void)state;
    struct builder_entry entry = {.kind = 1,
                                  .target = 75,
                                  .payload = "\x13"
                                             "a\x01\x00\x10"
                                             "z",
                                  .payload_bytes = 6,
                                  .compressed_bytes = 6,
                                  .flags = 0x2000,
                                  .plain_bytes = 9};
    struct text bytes;
    struct fatbin_image image;
    text_init(&bytes);
    builder_build(&bytes, &entry, 1);
    assert_int_equal(fatbin_read(bytes.data, bytes.length, 90, &image, NULL), 0);
    assert_int_equal(image.ptx_bytes, 9);
    assert_memory_equal(image.ptx, "aaaaaaaaz", 9);
    fatbin_release(&image);
    text_release(&bytes);
}

static void wrappers_are_followed(void **state)
{
    (void)state;
    struct text bytes;
    struct fatbin_image image;
    struct err e;
    text_init(&bytes);
    builder_plain(&bytes, ".version 9.0");
    struct builder_wrapper wrapper = {0x466243b1, 1, bytes.data, NULL};
    assert_int_equal(fatbin_read_wrapper(&wrapper, 90, &image, &e), 0);
    assert_true(contains(&image, ".version 9.0"));
    wrapper.magic++;
    assert_int_equal(fatbin_read_wrapper(&wrapper, 90, &image, &e), -1);
    assert_int_equal(fatbin_read_wrapper(NULL, 90, &image, &e), -1);
    text_clear(&bytes);
    builder_build(&bytes, NULL, 0);
    wrapper = (struct builder_wrapper){0x466243b1, 2, bytes.data, NULL};
    assert_int_equal(fatbin_read_wrapper(&wrapper, 90, &image, &e), -1);
    assert_non_null(strstr(e.text, "-rdc=true"));
    text_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvcc_made_files_are_read),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(the_best_target_is_chosen),
        cmocka_unit_test(no_ptx_names_the_flag),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(lz4_lies_are_refused),
        cmocka_unit_test(lz4_overlapping_match_repeats),
        cmocka_unit_test(wrappers_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
