/* Source lines. `.loc F L C, function_name X, inlined_at F2 L2 C2` says that this code was inlined
 * at a call site which is given by its position only; the frame meant is the latest .loc of this
 * function with that position, because the compiler prints a chain from the outside in.
 *
 * Two hash keys per loc share one table: the full one (position and caller), so that each distinct
 * frame exists once, and the position alone within the current function, for `inlined_at`. */
#include "cpu/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

struct loc_slot {
    bool used, is_position;
    uint32_t file, line, column;
    int32_t extra;  /* full key: inlined_at; position key: the function's serial number */
    uint32_t index; /* into locs */
};

static uint32_t hash_slot(const struct loc_slot *s)
{
    uint64_t h = s->file * 0x9e3779b97f4a7c15ull;
    h = (h ^ s->line) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 32) ^ s->column) * 0xc4ceb9fe1a85ec53ull;
    h = (h ^ (h >> 32) ^ (uint32_t)s->extra ^ ((uint64_t)s->is_position << 40)) *
        0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 32);
}

static struct loc_slot *find_slot(struct parser *p, const struct loc_slot *key)
{
    uint32_t i = hash_slot(key) & p->loc_mask;
    for (struct loc_slot *s; (s = &p->loc_table[i])->used; i = (i + 1) & p->loc_mask) {
        if (s->file == key->file && s->line == key->line && s->column == key->column &&
            s->extra == key->extra && s->is_position == key->is_position)
            break;
    }
    return &p->loc_table[i];
}

static void grow(struct parser *p)
{
    struct loc_slot *old = p->loc_table;
    uint32_t old_count = old ? p->loc_mask + 1 : 0, count = old ? old_count * 2 : 256;
    p->loc_table = calloc(count, sizeof *p->loc_table);
    if (!p->loc_table)
        BUG("out of memory for %u source lines", count);
    p->loc_mask = count - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i].used)
            *find_slot(p, &old[i]) = old[i];
    }
    free(old);
}

/* The slot of a key, made if it is not there (then !used until the caller fills it). */
static struct loc_slot *claim(struct parser *p, const struct loc_slot *key)
{
    if (!p->loc_table || p->loc_used * 2 > p->loc_mask)
        grow(p);
    return find_slot(p, key);
}

static void fill(struct parser *p, struct loc_slot *slot, const struct loc_slot *key,
                 uint32_t index)
{
    p->loc_used += !slot->used;
    *slot = *key;
    slot->used = true;
    slot->index = index;
}

void locs_init(struct parser *p)
{
    vec_push(&p->locs, sizeof(struct ptx_loc)); /* 0 = unknown */
    ((struct ptx_loc *)p->locs.data)->inlined_at = -1;
    vec_push(&p->loc_depths, sizeof(uint32_t));
}

void locs_release(struct parser *p)
{
    free(p->loc_table);
    p->loc_table = NULL;
    vec_release(&p->locs);
    vec_release(&p->loc_depths);
    vec_release(&p->files);
}

void locs_start_function(struct parser *p)
{
    p->loc = 0;
}

/* The loc with this position and caller (-1 = none); the latest of its position from now on. */
static uint32_t make_loc(struct parser *p, uint32_t file, uint32_t line, uint32_t column,
                         int32_t inlined_at)
{
    struct loc_slot full = {.file = file, .line = line, .column = column, .extra = inlined_at};
    struct loc_slot position = full;
    position.is_position = true;
    position.extra = p->function;
    struct loc_slot *slot = claim(p, &full);
    if (!slot->used) {
        uint32_t depth = 0;
        if (inlined_at >= 0)
            depth = ((uint32_t *)p->loc_depths.data)[inlined_at] + 1;
        struct ptx_loc *loc = vec_push(&p->locs, sizeof *loc);
        *loc = (struct ptx_loc){file, line, column, inlined_at};
        *(uint32_t *)vec_push(&p->loc_depths, sizeof depth) = depth;
        fill(p, slot, &full, (uint32_t)p->locs.count - 1);
    }
    uint32_t index = slot->index;
    fill(p, claim(p, &position), &position, index);
    return index;
}

static int read_position(struct parser *p, uint32_t out[3])
{
    static const char *const what[] = {"a file number", "a line number", "a column number"};
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (read_unsigned(p, i == 0 ? MAX_FILES : INT32_MAX, what[i], &value))
            return -1;
        out[i] = (uint32_t)value;
    }
    return 0;
}

/* The loc that `inlined_at` means for an inlined position `inner`. */
static uint32_t call_site(struct parser *p, const uint32_t at[3])
{
    struct loc_slot position = {
        .is_position = true, .file = at[0], .line = at[1], .column = at[2], .extra = p->function};
    struct loc_slot *slot = claim(p, &position);
    if (!slot->used)
        return make_loc(p, at[0], at[1], at[2], -1);
    uint32_t index = slot->index;
    /* A chain that would go round (a function inlined into itself at one place) stops growing. */
    if (((uint32_t *)p->loc_depths.data)[index] >= MAX_CHAIN)
        index = (uint32_t)((struct ptx_loc *)p->locs.data)[index].inlined_at;
    return index;
}

int read_loc(struct parser *p)
{
    uint32_t here[3], at[3];
    if (read_position(p, here))
        return -1;
    int32_t inlined_at = -1;
    while (accept(p, ',')) {
        const char *word;
        size_t length = read_word(p, &word);
        if (word_is(word, length, "function_name")) {
            struct number n;
            if (!read_word(p, &word))
                return fail_found(p, "a label behind function_name");
            if (next_char(p) == '+' && read_number(p, &n))
                return fail_found(p, "a number");
        } else if (word_is(word, length, "inlined_at")) {
            if (read_position(p, at))
                return -1;
            inlined_at = (int32_t)call_site(p, at);
        } else {
            return fail(p, "'%.*s' was found in .loc; expected function_name or inlined_at",
                        (int)(length < 60 ? length : 60), word);
        }
    }
    if (inlined_at >= 0 && memcmp(here, at, sizeof here) == 0 &&
        ((struct ptx_loc *)p->locs.data)[inlined_at].inlined_at >= 0)
        p->loc = (uint32_t)inlined_at; /* inlined into itself, once more */
    else
        p->loc = make_loc(p, here[0], here[1], here[2], inlined_at);
    return 0;
}

int read_file(struct parser *p)
{
    uint64_t number, ignored;
    const char *name;
    if (read_unsigned(p, MAX_FILES - 1, "a file number", &number) || read_string(p, &name))
        return -1;
    while (accept(p, ',')) {
        if (read_unsigned(p, UINT64_MAX, "a time stamp or size", &ignored))
            return -1;
    }
    while (p->files.count <= number)
        vec_push(&p->files, sizeof name);
    ((const char **)p->files.data)[number] = name;
    return 0;
}

void locs_finish(struct parser *p)
{
    struct ptx_module *m = p->module;
    m->file_count = p->files.count ? (uint32_t)p->files.count : 1;
    m->files = arena_array(p->arena, m->file_count, sizeof *m->files);
    for (uint32_t i = 0; i < m->file_count; i++) {
        const char *name = p->files.count ? ((const char **)p->files.data)[i] : NULL;
        m->files[i] = name && i > 0 ? name : "";
    }
    m->loc_count = (uint32_t)p->locs.count;
    m->locs = arena_array(p->arena, m->loc_count, sizeof *m->locs);
    memcpy(m->locs, p->locs.data, m->loc_count * sizeof *m->locs);
    for (uint32_t i = 0; i < m->loc_count; i++) {
        if (m->locs[i].file >= m->file_count)
            m->locs[i].file = 0;
    }
}
