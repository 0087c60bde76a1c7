/* What crosses the seam: the tables, the poison, messages with descriptors, text from outside. */
#include "wire/wire.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void test_names_lead_back(void **state)
{
    (void)state;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        assert_int_equal(verdict_find(verdict_name((enum verdict)v)), v);
        assert_true(verdict_for_people((enum verdict)v)[0]);
        assert_in_range(verdict_exit_status((enum verdict)v), 0, 3);
    }
    assert_int_equal(verdict_find("no such verdict"), VERDICT_COUNT);
    for (int k = 0; k < FINDING_COUNT; k++)
        assert_int_equal(finding_find(finding_name((enum finding_kind)k)), k);
    assert_int_equal(finding_find(""), FINDING_COUNT);
    for (int t = 0; t < WIRE_TYPE_COUNT; t++) {
        const char *name = wire_type_name((enum wire_type)t);
        assert_int_equal(wire_type_find(name, strlen(name)), t);
        assert_in_range(wire_type_bytes((enum wire_type)t), 1, 8);
        assert_non_null(strchr("suf", wire_type_kind((enum wire_type)t)));
    }
    assert_int_equal(wire_type_find("int32x", 5), WIRE_int32); /* only so many characters */
    assert_int_equal(wire_type_find("int32x", 6), WIRE_TYPE_COUNT);
}

static void test_buffer_bytes(void **state)
{
    (void)state;
    for (uint64_t bytes = 0; bytes < 300; bytes += 13) {
        for (uint32_t misalign = 0; misalign < 20; misalign += 4) {
            struct wire_param p = {.bytes = bytes, .misalign = misalign};
            uint64_t whole = wire_buffer_bytes(&p), least = 2 * WIRE_GUARD_BYTES + misalign + bytes;
            assert_true(whole >= least && whole < least + 64);
            assert_int_equal(whole % 64, 0);
        }
    }
}

/* Any part, filled alone, is that part of the whole, across the period's ends too. */
static void test_poison_depends_on_the_position(void **state)
{
    (void)state;
    enum { ALL = 3 * WIRE_POISON_PERIOD_BYTES + 100 };
    uint8_t *all = malloc(ALL), *part = malloc(ALL);
    wire_poison(all, 0, ALL, 5, 2);
    for (uint64_t from = 0; from < ALL; from += 997) {
        for (uint64_t bytes = 0; from + bytes <= ALL; bytes += 4001) {
            memset(part, 0, bytes);
            wire_poison(part, from, bytes, 5, 2);
            assert_memory_equal(part, all + from, bytes);
            assert_int_equal(wire_poison_find_change(part, from, bytes, 5, 2), bytes);
        }
    }
    assert_memory_equal(all, all + WIRE_POISON_PERIOD_BYTES, WIRE_POISON_PERIOD_BYTES);
    assert_memory_not_equal(all, all + 8, 64);
    wire_poison(part, 0, ALL, 6, 2);
    assert_memory_not_equal(part, all, 64);
    wire_poison(part, 0, ALL, 5, 3);
    assert_memory_not_equal(part, all, 64);
    free(all);
    free(part);
}

static void test_every_changed_byte_is_found(void **state)
{
    (void)state;
    enum { ALL = WIRE_POISON_PERIOD_BYTES + 50, FROM = WIRE_POISON_PERIOD_BYTES - 20 };
    uint8_t all[ALL];
    wire_poison(all, FROM, ALL, 5, 2);
    for (uint64_t i = 0; i < ALL; i++) {
        all[i] ^= 1;
        assert_int_equal(wire_poison_find_change(all, FROM, ALL, 5, 2), i);
        all[i] ^= 1;
    }
}

static void open_pair(int ends[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void test_messages_carry_descriptors(void **state)
{
    (void)state;
    int ends[2], pipe_fds[2], got[2];
    char message[16] = "0123456789abcde", copy[16] = "";
    struct err e = {""};
    open_pair(ends);
    assert_int_equal(pipe(pipe_fds), 0);
    const int sent[2] = {pipe_fds[1], -1};
    assert_int_equal(wire_send(ends[0], message, sizeof message, sent, &e), 0);
    assert_int_equal(wire_receive(ends[1], copy, sizeof copy, got, &e), 1);
    assert_string_equal(copy, message);
    assert_true(got[0] >= 0 && got[0] != pipe_fds[1]);
    assert_int_equal(got[1], -1);
    assert_int_equal(fcntl(got[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(write(got[0], "x", 1), 1); /* it is the pipe's end */
    assert_int_equal(read(pipe_fds[0], copy, 1), 1);

    assert_int_equal(wire_send(ends[0], message, sizeof message, pipe_fds, &e), 0);
    int ignored = dup(0); /* what the next free number is */
    close(ignored);
    assert_int_equal(wire_receive(ends[1], copy, sizeof copy, NULL, &e), 1);
    int after = dup(0); /* nobody wanted them: closed, not leaked */
    assert_int_equal(after, ignored);
    close(after);
    close(got[0]);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    close(ends[0]);
    close(ends[1]);
}

static void test_other_sizes_and_the_end(void **state)
{
    (void)state;
    int ends[2], got[2];
    char message[16] = "", copy[16];
    struct err e = {""};
    open_pair(ends);
    for (size_t bytes = 1; bytes <= 15; bytes += 7) {
        const int sent[2] = {0, 0};
        assert_int_equal(wire_send(ends[0], message, bytes, sent, &e), 0);
        assert_int_equal(wire_receive(ends[1], copy, sizeof copy, got, &e), -1);
        assert_int_equal(got[0], -1);
    }
    assert_int_equal(wire_send(ends[0], message, 16, NULL, &e), 0);
    assert_int_equal(wire_receive(ends[1], copy, 15, got, &e), -1); /* longer than expected */
    close(ends[0]);
    assert_int_equal(wire_receive(ends[1], copy, sizeof copy, got, &e), 0);
    assert_int_equal(wire_send(ends[1], message, sizeof message, NULL, &e), -1);
    assert_non_null(strstr(e.text, "cannot send"));
    close(ends[1]);
}

static void test_text_from_outside(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } ROWS[] = {
        {"plain\ttext\n", "plain\ttext\n"},
        {"\033[2J\a\r\x7f", "?[2J???"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc3", "?"},                /* cut off */
        {"\xc0\xaf", "??"},           /* overlong */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
        {"\xe2\x82z\x80", "??z?"},    /* broken off in the middle */
        {"\xff\xfe", "??"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", ROWS[i].in);
        wire_clean_text(text, strlen(text));
        assert_string_equal(text, ROWS[i].out);
    }
}

static void test_checks(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        uint32_t bits; /* 0: refused */
        const char *printed;
    } ROWS[] = {
        {"bounds", WIRE_CHECK_BOUNDS, "bounds"},
        {"races", WIRE_CHECK_BOUNDS | WIRE_CHECK_RACES, "bounds,races"},
        {"races,sync,races", WIRE_CHECK_BOUNDS | WIRE_CHECK_RACES | WIRE_CHECK_SYNC,
         "bounds,races,sync"},
        {"default", WIRE_CHECK_DEFAULT, "default"},
        {"bounds,uninitialized,races,sync,global-races", WIRE_CHECK_DEFAULT, "default"},
        {"default,counters", WIRE_CHECK_DEFAULT | WIRE_CHECK_COUNTERS, "all"},
        {"all", WIRE_CHECK_DEFAULT | WIRE_CHECK_COUNTERS, "all"},
        {"", 0, NULL},
        {"races,", 0, NULL},
        {",races", 0, NULL},
        {"race", 0, NULL},
        {"racess", 0, NULL},
        {"bounds races", 0, NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        uint32_t bits = 0;
        char printed[128];
        assert_int_equal(wire_checks_parse(ROWS[i].names, &bits), ROWS[i].bits != 0);
        assert_int_equal(bits, ROWS[i].bits);
        if (!bits)
            continue;
        wire_checks_print(bits, printed, sizeof printed);
        assert_string_equal(printed, ROWS[i].printed);
    }
    assert_non_null(strstr(wire_checks_allowed(), "bounds, uninitialized, races"));
}

static void test_schedules(void **state)
{
    (void)state;
    for (int s = 0; s < WIRE_SCHEDULE_COUNT; s++) {
        const char *key = wire_schedule_key((enum wire_schedule)s);
        assert_int_equal(wire_schedule_find(key, strlen(key)), s);
        assert_non_null(strstr(wire_schedules_allowed(), key));
        assert_true(wire_schedule_name((enum wire_schedule)s)[0] != '\0');
    }
    assert_int_equal(wire_schedule_find("randomly", 8), WIRE_SCHEDULE_COUNT);
    assert_int_equal(wire_schedule_find("rando", 5), WIRE_SCHEDULE_COUNT);
    for (int o = 0; o < WIRE_STREAM_ORDER_COUNT; o++)
        assert_int_equal(wire_stream_order_find(wire_stream_order_key((enum wire_stream_order)o)),
                         o);
    assert_int_equal(wire_stream_order_find(""), WIRE_STREAM_ORDER_COUNT);
    assert_string_equal(wire_stream_orders_allowed(), "eager, late, random");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_names_lead_back),
        cmocka_unit_test(test_buffer_bytes),
        cmocka_unit_test(test_poison_depends_on_the_position),
        cmocka_unit_test(test_every_changed_byte_is_found),
        cmocka_unit_test(test_messages_carry_descriptors),
        cmocka_unit_test(test_other_sizes_and_the_end),
        cmocka_unit_test(test_text_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
