/* Every name is interned once per module; what it stands for hangs on it as a stack of bindings,
 * innermost scope first, so a lookup is one hash probe. A scope keeps its bindings in a list and
 * pops them when it ends.
 *
 * `.reg .b32 %r<936>` binds only the prefix. A register gets its number when it is first used:
 * a function has as many registers as it mentions, whatever its declarations say. */
#include "cpu/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_bytes(const char *s, size_t length)
{
    uint64_t h = length * 0x9e3779b97f4a7c15ull, word;
    for (; length >= 8; s += 8, length -= 8) {
        memcpy(&word, s, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, s, length);
    h = (h ^ word) * 0xff51afd7ed558ccdull;
    return (uint32_t)(h >> 32);
}

static struct name **find_slot(struct parser *p, const char *text, size_t length, uint32_t hash)
{
    uint32_t i = hash & p->table_mask;
    for (struct name *n; (n = p->table[i]); i = (i + 1) & p->table_mask) {
        if (n->hash == hash && n->length == length && memcmp(n->text, text, length) == 0)
            break;
    }
    return &p->table[i];
}

static void grow_table(struct parser *p)
{
    uint32_t old_count = p->table ? p->table_mask + 1 : 0;
    uint32_t count = old_count ? old_count * 2 : 1024;
    struct name **old = p->table;
    p->table = calloc(count, sizeof(void *));
    if (!p->table)
        BUG("out of memory for %u names", count);
    p->table_mask = count - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i])
            *find_slot(p, old[i]->text, old[i]->length, old[i]->hash) = old[i];
    }
    free(old);
}

struct name *intern(struct parser *p, const char *text, size_t length)
{
    uint32_t hash = hash_bytes(text, length);
    if (!p->table || p->name_count * 2 > p->table_mask)
        grow_table(p);
    struct name **slot = find_slot(p, text, length, hash);
    if (!*slot) {
        struct name *n = arena_alloc(&p->scratch, sizeof *n);
        n->text = arena_strndup(p->arena, text, length);
        n->length = (uint32_t)length;
        n->hash = hash;
        n->sreg = -2;
        *slot = n;
        p->name_count++;
    }
    return *slot;
}

struct name *read_name(struct parser *p)
{
    const char *word;
    size_t length = read_word(p, &word);
    return length ? intern(p, word, length) : NULL;
}

int open_scope(struct parser *p)
{
    if (p->depth == MAX_DEPTH)
        return fail(p, "blocks are nested more than %d deep", MAX_DEPTH);
    p->scopes[++p->depth] = (struct scope){0};
    return 0;
}

static void unbind(struct parser *p, struct binding *b)
{
    if (b->kind == BOUND_LABEL) {
        b->name->label = b->outer;
    } else if (b->kind == BOUND_RANGE) {
        b->name->range = b->outer;
        p->nested_ranges -= b->depth > 1;
    } else {
        b->name->bound = b->outer;
    }
}

int close_scope(struct parser *p)
{
    struct scope *scope = &p->scopes[p->depth];
    for (struct fixup *f = scope->fixups, *next; f; f = next) {
        next = f->next;
        struct binding *label = f->name->label;
        if (label && label->depth == p->depth) {
            f->operand->imm = label->index;
        } else if (p->depth > 1) {
            f->next = p->scopes[p->depth - 1].fixups;
            p->scopes[p->depth - 1].fixups = f;
        } else {
            return err_set(p->e,
                           "PTX line %u: the label '%.200s' is not defined; expected one of "
                           "this function",
                           f->line, f->name->text);
        }
    }
    for (struct binding *b = scope->bindings; b; b = b->next)
        unbind(p, b);
    p->depth--;
    return 0;
}

/* Pushes a binding that belongs to the scope at `depth`. */
static struct binding *push(struct parser *p, struct name *name, enum bound_kind kind,
                            int32_t index, uint32_t depth)
{
    struct binding **top = kind == BOUND_LABEL   ? &name->label
                           : kind == BOUND_RANGE ? &name->range
                                                 : &name->bound;
    struct binding *b = arena_alloc(&p->scratch, sizeof *b);
    *b = (struct binding){.name = name,
                          .outer = *top,
                          .kind = kind,
                          .index = index,
                          .depth = depth,
                          .next = p->scopes[depth].bindings};
    p->scopes[depth].bindings = b;
    *top = b;
    p->nested_ranges += kind == BOUND_RANGE && depth > 1;
    return b;
}

int bind(struct parser *p, struct name *name, enum bound_kind kind, int32_t index,
         struct binding **out)
{
    struct binding *top = kind == BOUND_LABEL   ? name->label
                          : kind == BOUND_RANGE ? name->range
                                                : name->bound;
    if (top && top->depth == p->depth)
        return fail(p, "'%.200s' is declared twice in one scope; expected a new name", name->text);
    struct binding *b = push(p, name, kind, index, p->depth);
    if (out)
        *out = b;
    return 0;
}

int32_t add_register(struct parser *p, const char *name, uint8_t type)
{
    struct ptx_reg *r = vec_push(&p->regs, sizeof *r);
    *r = (struct ptx_reg){.name = name, .type = type};
    return (int32_t)p->regs.count - 1;
}

/* The innermost range that holds `name`: %r12 is number 12 of %r<100>, or number 2 of %r1<10>. */
static struct binding *find_range(struct parser *p, const struct name *name)
{
    struct binding *best = NULL;
    uint64_t value = 0, power = 1;
    for (uint32_t length = name->length; length > 1 && name->length - length < 10;) {
        char c = name->text[--length];
        if (!is_class(c, CHAR_DIGIT))
            break;
        value += power * (uint64_t)(c - '0');
        power *= 10;
        if (c == '0' && name->length - length > 1)
            continue; /* %r<10> does not declare %r01 */
        const struct name *prefix =
            *find_slot(p, name->text, length, hash_bytes(name->text, length));
        struct binding *range = prefix ? prefix->range : NULL;
        while (range && value >= range->count)
            range = range->outer;
        if (range && (!best || range->depth > best->depth))
            best = range;
    }
    return best;
}

struct binding *lookup(struct parser *p, struct name *name)
{
    struct binding *b = name->bound;
    if (b && !p->nested_ranges)
        return b;
    struct binding *range = find_range(p, name);
    if (range && (!b || range->depth > b->depth))
        b = push(p, name, BOUND_REG, add_register(p, name->text, range->type), range->depth);
    return b;
}

void add_fixup(struct parser *p, struct ptx_operand *operand, struct name *name, uint32_t line)
{
    struct fixup *f = arena_alloc(&p->scratch, sizeof *f);
    struct scope *scope = &p->scopes[p->depth];
    *f = (struct fixup){.next = scope->fixups, .operand = operand, .name = name, .line = line};
    scope->fixups = f;
}
