/* Profiled code: what a kernel is lowered to when costs are asked for line by line. Behind every
 * block head, and behind the guard of an instruction that adds data, stands a point that counts how
 * often and by how many lanes it was passed; watch_profile.c multiplies that with what the
 * instructions are. Code that nobody profiles has no points. */
#include "cpu/vm/lower.h"
#include "cpu/vm/watch.h"

#include <stdlib.h>

static void add_point(struct lower *l, const struct profile_point *point)
{
    if (l->point_count == l->point_capacity) {
        l->point_capacity = l->point_capacity ? 2 * l->point_capacity : 64;
        l->points = realloc(l->points, l->point_capacity * sizeof *l->points);
        if (!l->points)
            BUG("out of memory for %u points", l->point_capacity);
    }
    lower_emit(l, &l->main, VM_OP_profile)->x = l->point_count;
    l->points[l->point_count++] = *point;
}

void lower_block_point(struct lower *l)
{
    if (!l->profiled)
        return;
    uint32_t last = l->index + 1;
    while (!l->leader[last])
        last++;
    add_point(l, &(struct profile_point){.first = l->in,
                                         .count = last - l->index,
                                         .additions = l->additions + l->index});
}

void lower_guard_point(struct lower *l)
{
    if (l->profiled)
        add_point(l, &(struct profile_point){.first = l->in, .additions = l->additions + l->index});
}

void lower_finish_points(struct lower *l)
{
    struct vm_code *c = l->code;
    c->point_count = l->point_count;
    c->points = arena_array(&c->arena, l->point_count + 1, sizeof *c->points);
    for (uint32_t k = 0; k < l->point_count; k++)
        c->points[k] = l->points[k];
    free(l->points);
}
