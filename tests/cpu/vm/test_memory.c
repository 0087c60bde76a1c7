/* Device memory: addresses, red zones, quarantine, definedness, host mappings. */
#include "cpu/vm/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vm *new_vm(void)
{
    struct err e;
    struct vm *vm = vm_new(&vm_limits_default, &e);
    assert_non_null(vm);
    return vm;
}

static void addresses_are_aligned_and_never_reused(void **state)
{
    (void)state;
    struct vm *vm = new_vm();
    uint64_t a = vm_malloc(vm, 100), b = vm_malloc(vm, 1 << 20);
    assert_true(a && b && a % 256 == 0 && b % 256 == 0);
    assert_true(b - a >= 64 << 10); /* a red zone between them */
    assert_int_equal(vm_memory_used(vm), 100 + (1 << 20));
    assert_true(vm_free_memory(vm, a));
    assert_false(vm_free_memory(vm, a)); /* twice */
    assert_false(vm_free_memory(vm, b + 8));
    uint64_t c = vm_malloc(vm, 100);
    assert_true(c > b);
    assert_null(vm_bytes(vm, a, 1));
    struct vm_memory_info info;
    vm_memory_info(vm, a + 5, &info);
    assert_true(info.freed);
    assert_int_equal(info.base, a);
    assert_int_equal(vm_memory_peak(vm), 100 + (1 << 20));
    assert_int_equal(vm_malloc(vm, 1ull << 40), 0); /* more than the device has */
    vm_free(vm);
}

static void an_access_that_leaves_the_allocation_has_no_bytes(void **state)
{
    (void)state;
    struct vm *vm = new_vm();
    uint64_t a = vm_malloc(vm, 1000);
    assert_non_null(vm_bytes(vm, a, 1000));
    assert_non_null(vm_bytes(vm, a + 999, 1));
    assert_non_null(vm_bytes(vm, a + 1000, 0));
    assert_null(vm_bytes(vm, a + 999, 2));
    assert_null(vm_bytes(vm, a - 1, 1));
    assert_null(vm_bytes(vm, a, UINT64_MAX));
    assert_null(vm_bytes(vm, 16, 1));
    vm_free(vm);
}

static void lent_memory_is_taken_once_and_left_alone(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    static uint8_t lent[BYTES + 64];
    struct vm *vm = new_vm();
    vm_lend(vm, lent, BYTES);
    uint64_t other = vm_malloc(vm, BYTES - 1), a = vm_malloc(vm, BYTES), b = vm_malloc(vm, BYTES);
    assert_ptr_equal(vm_bytes(vm, a, BYTES), lent);
    assert_ptr_not_equal(vm_bytes(vm, other, 1), lent);
    assert_ptr_not_equal(vm_bytes(vm, b, 1), lent);
    assert_false(vm_bits_all(vm_find_allocation(vm, a)->defined, 0, 1));
    lent[7] = 42;
    assert_true(vm_copy(vm, b, a, 8));
    assert_int_equal(vm_bytes(vm, b, 8)[7], 42);
    assert_int_equal(vm_memory_used(vm), 3 * BYTES - 1);
    assert_true(vm_free_memory(vm, a));
    assert_null(vm_bytes(vm, a, 1));
    lent[7]++; /* still the lender's */
    uint64_t c = vm_malloc(vm, BYTES);
    assert_ptr_not_equal(vm_bytes(vm, c, 1), lent);
    vm_lend(vm, lent, BYTES);
    vm_lend(vm, NULL, 0);
    assert_ptr_not_equal(vm_bytes(vm, vm_malloc(vm, BYTES), 1), lent);
    vm_free(vm);
}

static void fresh_memory_is_undefined_and_copies_carry_definedness(void **state)
{
    (void)state;
    struct vm *vm = new_vm();
    uint64_t a = vm_malloc(vm, 4096), b = vm_malloc(vm, 4096);
    struct vm_allocation *x = vm_find_allocation(vm, a), *y = vm_find_allocation(vm, b);
    assert_false(vm_bits_all(x->defined, 0, 1));
    vm_mark_defined(vm, a + 3, 130);
    assert_true(vm_bits_all(x->defined, 3, 130));
    assert_false(vm_bits_all(x->defined, 2, 131));
    assert_false(vm_bits_all(x->defined, 3, 131));
    vm_mark_defined(vm, b, 4096);
    assert_true(vm_copy(vm, b + 64, a, 256)); /* the holes come along */
    assert_true(vm_bits_all(y->defined, 67, 130));
    assert_false(vm_bits_all(y->defined, 66, 1));
    assert_false(vm_bits_all(y->defined, 67 + 130, 1));
    assert_true(vm_bits_all(y->defined, 64 + 256, 4096 - 64 - 256));
    assert_true(vm_copy(vm, b + 7, a, 200)); /* not word-aligned */
    assert_true(vm_bits_all(y->defined, 10, 130));
    assert_false(vm_bits_all(y->defined, 9, 1));
    vm_mark_undefined(vm, b + 100, 1);
    assert_false(vm_bits_all(y->defined, 100, 1));
    assert_false(vm_copy(vm, b, a, 5000));
    vm_free(vm);
}

static void overlapping_copies_move_bits_as_memmove_does(void **state)
{
    (void)state;
    struct vm *vm = new_vm();
    uint64_t a = vm_malloc(vm, 512);
    struct vm_allocation *x = vm_find_allocation(vm, a);
    vm_mark_defined(vm, a, 10);
    assert_true(vm_copy(vm, a + 5, a, 20));
    assert_true(vm_bits_all(x->defined, 0, 15));
    assert_false(vm_bits_all(x->defined, 15, 1));
    vm_free(vm);
}

static void narrowing_leaves_a_named_part(void **state)
{
    (void)state;
    struct vm *vm = new_vm();
    uint64_t a = vm_malloc(vm, 2048);
    vm_narrow(vm, a + 512, 1000, "in");
    struct vm_allocation *x = vm_find_allocation(vm, a + 600);
    assert_int_equal(x->low, a + 512);
    assert_int_equal(x->high, a + 1512);
    assert_string_equal(x->name, "in");
    char text[256];
    vm_explain_host_address(vm, (void *)(uintptr_t)(a + 600), text, sizeof text);
    assert_non_null(strstr(text, "`in`"));
    vm_explain_host_address(vm, text, text, sizeof text);
    assert_string_equal(text, "");
    vm_free(vm);
}

static void host_memory_is_reachable_while_mapped(void **state)
{
    (void)state;
    struct vm *vm = new_vm();
    char *p = malloc(1000);
    assert_true(vm_map_host(vm, p, 1000, true));
    assert_false(vm_map_host(vm, p + 10, 10, true)); /* overlaps */
    assert_ptr_equal(vm_bytes(vm, (uint64_t)(uintptr_t)p + 5, 10), p + 5);
    struct vm_memory_info info;
    vm_memory_info(vm, (uint64_t)(uintptr_t)p, &info);
    assert_int_equal(info.kind, VM_MEMORY_HOST);
    assert_true(vm_unmap_host(vm, p));
    assert_false(vm_unmap_host(vm, p));
    assert_null(vm_bytes(vm, (uint64_t)(uintptr_t)p, 1));
    vm_free(vm);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_aligned_and_never_reused),
        cmocka_unit_test(an_access_that_leaves_the_allocation_has_no_bytes),
        cmocka_unit_test(fresh_memory_is_undefined_and_copies_carry_definedness),
        cmocka_unit_test(overlapping_copies_move_bits_as_memmove_does),
        cmocka_unit_test(narrowing_leaves_a_named_part),
        cmocka_unit_test(lent_memory_is_taken_once_and_left_alone),
        cmocka_unit_test(host_memory_is_reachable_while_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
