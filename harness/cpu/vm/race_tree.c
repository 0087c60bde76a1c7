/* What is known of other blocks: a radix tree by block index whose leaves say up to which time each
 * warp is known. Nodes never change, so that to publish knowledge is to keep a pointer, and to take
 * it over is to join two trees of which most is shared: equal pointers are not looked into, and a
 * join that adds nothing gives back the pointer it was given. A chain of blocks that each look at
 * the one before therefore costs a path per block. All of it lives as long as the launch.
 *
 * Words that every block passes, one after the other, each hold another time of every block that
 * ever was there. The same parts of such trees meet again and again, so the last joins are kept:
 * blocks that find the same two parts get the same third one, which they then share. */
#include "cpu/vm/race.h"

#include <string.h>

/* More than this for one launch, and the launch is no longer looked at. */
#define SPACE_MOST (384ull << 20)

enum { JOINTS_BITS = 15, JOINTS = 1 << JOINTS_BITS };
struct race_joint {
    const void *a, *b, *both;
};

void *race_space_alloc(struct race_space *s, size_t bytes)
{
    if (s->arena.total_bytes > SPACE_MOST)
        s->full = true;
    return arena_alloc(&s->arena, bytes);
}

bool race_known_covers(const struct race_known *k, uint32_t lane, uint32_t time)
{
    return time < k->all || (time < k->some && (k->lanes >> lane & 1)) ||
           (time == k->flag && time != 0);
}

/* Of two sets of lanes at different times the union at the later time: rather too much is known
 * than too little. */
void race_known_join(struct race_known *to, const struct race_known *more)
{
    uint32_t all = to->all > more->all ? to->all : more->all;
    uint32_t some = to->some > more->some ? to->some : more->some;
    uint32_t lanes = (to->some > all ? to->lanes : 0) | (more->some > all ? more->lanes : 0);
    to->all = all;
    to->some = lanes ? some : 0;
    to->lanes = lanes;
    to->flag = to->flag > more->flag ? to->flag : more->flag;
}

bool race_leaf_covers(const struct race_leaf *leaf, uint32_t warp, uint32_t lane, uint32_t time)
{
    if (time < leaf->base)
        return true;
    for (uint32_t k = 0; k < leaf->count; k++)
        if (leaf->warps[k].warp == warp)
            return race_known_covers(&leaf->warps[k].known, lane, time);
    return false;
}

static bool adds(const struct race_known *k, uint32_t base)
{
    return k->all > base || k->some > base || k->flag >= base;
}

static bool same_known(const struct race_known *a, const struct race_known *b)
{
    return a->all == b->all && a->some == b->some && a->lanes == b->lanes && a->flag == b->flag;
}

static bool same_leaf(const struct race_leaf *a, uint32_t base, const struct race_of_warp *warps,
                      uint32_t count)
{
    if (a->base != base || a->count != count)
        return false;
    for (uint32_t k = 0; k < count; k++)
        if (a->warps[k].warp != warps[k].warp || !same_known(&a->warps[k].known, &warps[k].known))
            return false;
    return true;
}

static const void *join_leaves(struct race_space *s, const struct race_leaf *a,
                               const struct race_leaf *b)
{
    struct race_of_warp warps[VM_WARPS_MOST];
    uint32_t base = a->base > b->base ? a->base : b->base, count = 0;
    for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) { /* both are sorted by warp */
        uint32_t x = i < a->count ? a->warps[i].warp : VM_WARPS_MOST;
        uint32_t y = j < b->count ? b->warps[j].warp : VM_WARPS_MOST;
        struct race_of_warp *next = &warps[count];
        *next = x <= y ? a->warps[i] : b->warps[j];
        if (x == y)
            race_known_join(&next->known, &b->warps[j].known);
        i += x <= y;
        j += y <= x;
        count += adds(&next->known, base);
    }
    if (same_leaf(a, base, warps, count))
        return a;
    if (same_leaf(b, base, warps, count))
        return b;
    struct race_leaf *leaf = race_space_alloc(s, sizeof *leaf + count * sizeof *warps);
    leaf->base = base;
    leaf->count = count;
    memcpy(leaf->warps, warps, count * sizeof *warps);
    return leaf;
}

static const void *join(struct race_space *s, const void *a, const void *b, uint32_t depth);

static const void *join_nodes(struct race_space *s, const void *a, const void *b, uint32_t depth)
{
    const struct race_node *x = a, *y = b;
    struct race_node joint;
    bool all_x = true, all_y = true;
    for (int k = 0; k < RACE_FAN; k++) {
        joint.kid[k] = join(s, x->kid[k], y->kid[k], depth - 1);
        all_x &= joint.kid[k] == x->kid[k];
        all_y &= joint.kid[k] == y->kid[k];
    }
    if (all_x || all_y)
        return all_x ? a : b;
    return memcpy(race_space_alloc(s, sizeof joint), &joint, sizeof joint);
}

/* The slot of a join. */
static struct race_joint *joint_of(struct race_space *s, const void *a, const void *b)
{
    if (!s->joints) {
        s->joints = race_space_alloc(s, JOINTS * sizeof *s->joints);
        memset(s->joints, 0, JOINTS * sizeof *s->joints);
    }
    uint64_t key = ((uintptr_t)a * 3 + (uintptr_t)b) >> 3;
    return &s->joints[key * 0x9e3779b97f4a7c15u >> (64 - JOINTS_BITS)];
}

static const void *join(struct race_space *s, const void *a, const void *b, uint32_t depth)
{
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (s->depth == 0)
        return join_leaves(s, a, b);
    struct race_joint *slot = joint_of(s, a, b);
    if (slot->a == a && slot->b == b)
        return slot->both;
    const void *both = depth ? join_nodes(s, a, b, depth) : join_leaves(s, a, b);
    *slot = (struct race_joint){.a = a, .b = b, .both = both};
    return both;
}

const void *race_tree_join(struct race_space *s, const void *a, const void *b)
{
    return join(s, a, b, s->depth);
}

static const void *add(struct race_space *s, const void *tree, uint64_t index,
                       const struct race_leaf *leaf, uint32_t depth)
{
    if (depth == 0)
        return tree ? join_leaves(s, tree, leaf) : leaf;
    const struct race_node *old = tree;
    uint64_t at = index >> (4 * (depth - 1)) & (RACE_FAN - 1);
    const void *kid = add(s, old ? old->kid[at] : NULL, index, leaf, depth - 1);
    if (old && kid == old->kid[at])
        return tree;
    struct race_node *node = race_space_alloc(s, sizeof *node);
    if (old)
        *node = *old;
    node->kid[at] = kid;
    return node;
}

const void *race_tree_add(struct race_space *s, const void *tree, uint64_t index,
                          const struct race_leaf *leaf)
{
    return add(s, tree, index, leaf, s->depth);
}

const struct race_leaf *race_tree_find(const struct race_space *s, const void *tree, uint64_t index)
{
    for (uint32_t depth = s->depth; depth && tree; depth--)
        tree = ((const struct race_node *)tree)->kid[index >> (4 * (depth - 1)) & (RACE_FAN - 1)];
    return tree;
}
