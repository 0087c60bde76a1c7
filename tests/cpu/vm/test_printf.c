/* Device printf: packing of arguments, every conversion, bad input. */
#include "cpu/vm/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool read_memory(void *context, uint64_t address, void *to, uint64_t bytes)
{
    (void)context;
    if (address < 4096)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

/* What vm_printf writes to stdout, in `out`. */
static int printed(const char *format, const void *arguments, char *out, size_t out_bytes)
{
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    int count =
        vm_printf(read_memory, NULL, (uint64_t)(uintptr_t)format, (uint64_t)(uintptr_t)arguments);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(ends[1]);
    ssize_t got = read(ends[0], out, out_bytes - 1);
    out[got < 0 ? 0 : got] = '\0';
    close(ends[0]);
    return count;
}

static void arguments_are_naturally_aligned(void **state)
{
    (void)state;
    struct {
        int a;
        double b;
        int c;
        long long d;
        const char *e;
    } arguments = {-7, 2.5, 'x', 1ll << 40, "text"};
    char out[256];
    int count = printed("%d %.2f %c %lld %s 100%%\n", &arguments, out, sizeof out);
    assert_string_equal(out, "-7 2.50 x 1099511627776 text 100%\n");
    assert_int_equal(count, 5);
}

static void unsigned_values_are_not_sign_extended(void **state)
{
    (void)state;
    struct {
        unsigned a, b;
        int c;
    } arguments = {0xffffffffu, 0xabcu, 255};
    char out[256];
    printed("%u %08X %#o", &arguments, out, sizeof out);
    assert_string_equal(out, "4294967295 00000ABC 0377");
}

static void stars_take_an_argument(void **state)
{
    (void)state;
    struct {
        int width, value;
    } arguments = {6, 42};
    char out[64];
    assert_int_equal(printed("[%*d]", &arguments, out, sizeof out), 2);
    assert_string_equal(out, "[    42]");
}

static void a_bad_string_pointer_is_a_fault(void **state)
{
    (void)state;
    const char *bad = (const char *)8;
    char out[64];
    assert_int_equal(printed("%s", &bad, out, sizeof out), -1);
}

static void a_lone_percent_ends_quietly(void **state)
{
    (void)state;
    char out[64];
    int none = 0;
    assert_int_equal(printed("50%", &none, out, sizeof out), 0);
    assert_string_equal(out, "50");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_naturally_aligned),
        cmocka_unit_test(unsigned_values_are_not_sign_extended),
        cmocka_unit_test(stars_take_an_argument),
        cmocka_unit_test(a_bad_string_pointer_is_a_fault),
        cmocka_unit_test(a_lone_percent_ends_quietly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
