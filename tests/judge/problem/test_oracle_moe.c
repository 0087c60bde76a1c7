/* The oracles of oracle_moe.c called directly: ids from elsewhere, experts without a slot, whole
 * blocks and none, tails, dropped places, and nothing written past what the shapes say. */
#include "judge/problem/oracle.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct oracle_operand input(enum wire_type type, const void *bytes, uint64_t count)
{
    return (struct oracle_operand){.type = type, .in = bytes, .count = count};
}

static struct oracle_operand output(enum wire_type type, void *bytes, uint64_t count)
{
    return (struct oracle_operand){.type = type, .out = bytes, .count = count};
}

static struct oracle_operand number(int64_t value)
{
    return (struct oracle_operand){.type = WIRE_int32, .count = 1, .value = value};
}

static void experts_are_padded_to_blocks(void **state)
{
    (void)state;
    /* Expert 0: a whole block; 1: nothing; 2: a block and one more; 3 is not ours. */
    const int32_t ids[] = {2, 0, -1, 2, 0, 2, 3, INT_MIN};
    const int32_t offsets[] = {0, 2, 2, 6, 77}, owners[] = {0, 2, 2, -1, -1, -1, 77};
    const int32_t slots[] = {1, 4, 0, 3, 5, 8, 8, 8, 8, 8, 8, 77};
    int32_t got_offsets[5], got_slots[12], got_owners[7];
    got_offsets[4] = got_slots[11] = got_owners[6] = 77;
    struct oracle_operand o[] = {input(WIRE_int32, ids, 8), output(WIRE_int32, got_offsets, 4),
                                 output(WIRE_int32, got_slots, 11),
                                 output(WIRE_int32, got_owners, 6), number(2)};
    oracle_moe_align_block_size(o);
    assert_memory_equal(got_offsets, offsets, sizeof offsets);
    assert_memory_equal(got_slots, slots, sizeof slots);
    assert_memory_equal(got_owners, owners, sizeof owners);
}

static void no_slot_is_all_padding(void **state)
{
    (void)state;
    const int32_t offsets[] = {0, 0, 0}, slots[] = {0, 0, 0, 0}, owners[] = {-1, -1};
    int32_t got_offsets[3], got_slots[4], got_owners[2];
    struct oracle_operand o[] = {input(WIRE_int32, NULL, 0), output(WIRE_int32, got_offsets, 3),
                                 output(WIRE_int32, got_slots, 4),
                                 output(WIRE_int32, got_owners, 2), number(3)};
    oracle_moe_align_block_size(o);
    assert_memory_equal(got_offsets, offsets, sizeof offsets);
    assert_memory_equal(got_slots, slots, sizeof slots);
    assert_memory_equal(got_owners, owners, sizeof owners);
}

static void slots_without_room_are_left_out(void **state)
{
    (void)state;
    const int32_t ids[] = {0, 0, 0, 1};
    int32_t offsets[3], slots[3] = {0, 0, 77}, owners[2] = {0, 77};
    struct oracle_operand o[] = {input(WIRE_int32, ids, 4), output(WIRE_int32, offsets, 3),
                                 output(WIRE_int32, slots, 2), output(WIRE_int32, owners, 1),
                                 number(2)};
    oracle_moe_align_block_size(o);
    assert_int_equal(slots[1], 1);
    assert_int_equal(slots[2], 77);
    assert_int_equal(owners[1], 77);
    o[1].count = 0; /* not even the 0 at the start */
    oracle_moe_align_block_size(o);
    oracle_moe_scatter(o);
}

static void slots_by_expert(void **state)
{
    (void)state;
    const int32_t ids[] = {1, 0, -1, 1, 2, 0};
    const int32_t offsets[] = {0, 2, 4}, slots[] = {1, 5, 0, 3, -1, -1};
    int32_t got_offsets[3], got_slots[6];
    struct oracle_operand o[] = {input(WIRE_int32, ids, 6), output(WIRE_int32, got_offsets, 3),
                                 output(WIRE_int32, got_slots, 6)};
    oracle_moe_scatter(o);
    assert_memory_equal(got_offsets, offsets, sizeof offsets);
    assert_memory_equal(got_slots, slots, sizeof slots);
}

static void rows_are_weighed_and_added(void **state)
{
    (void)state;
    const float rows[] = {1, 2, 10, 20, -5, 0}, weights[] = {2, 0.5f, NAN, 1, NAN, NAN};
    const int32_t places[] = {2, 1, -1, 0, 3, INT_MIN};
    const float right[] = {-5, 10, 1, 2, 0, 0, 77};
    float out[7] = {[6] = 77};
    struct oracle_operand o[] = {input(WIRE_float32, rows, 6),
                                 input(WIRE_int32, places, 6),
                                 input(WIRE_float32, weights, 6),
                                 output(WIRE_float32, out, 6),
                                 number(2),
                                 number(2)};
    oracle_moe_gather_combine(o);
    assert_memory_equal(out, right, sizeof right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts_are_padded_to_blocks),    cmocka_unit_test(no_slot_is_all_padding),
        cmocka_unit_test(slots_without_room_are_left_out), cmocka_unit_test(slots_by_expert),
        cmocka_unit_test(rows_are_weighed_and_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
