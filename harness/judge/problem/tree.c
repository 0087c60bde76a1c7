/* How it works: libyaml's event API feeds a stack of open collections; each event either opens one,
 * adds a scalar to the innermost, or closes it. The depth is checked when a collection opens, so
 * a file of brackets is left after seventeen of them: libyaml's time for nested brackets grows with
 * the square of the depth (100 kB of '[' take it 14 s), but it looks ahead by at most 1,024
 * characters.
 *
 * YAML ends a plain scalar at a comma inside [ ] and { }. There, a scalar whose parentheses are
 * open is joined with what follows: the next item of a list, the next key without a value of
 * a mapping. The blanks between the parts are kept, so that columns inside the text stay true. */
#include "judge/problem/tree.h"

#include "judge/problem/problem.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
    MAPPING_KEYS_MAX = 512, /* keys are compared pairwise */
    LABEL_BYTES = 60,
    JOINED_BYTES = 2000, /* each part joined copies what is there */
};

struct frame { /* an open collection */
    struct node *node;
    struct node *key;              /* MAPPING: the key that waits for its value */
    bool flow;                     /* [ ] or { } */
    bool open;                     /* its last scalar has an open parenthesis */
    unsigned end_line, end_column; /* where that scalar ended */
};

struct builder {
    const char *file;
    struct arena *arena;
    struct err *e;
    struct frame stack[PROBLEM_DEPTH_MAX];
    unsigned depth;
    struct node *root;
};

static int fail_at(struct builder *b, yaml_mark_t at, const char *what)
{
    return err_set(b->e, "%s:%zu:%zu: spec: %s", b->file, at.line + 1, at.column + 1, what);
}

static struct node *node_new(struct builder *b, enum node_kind kind, yaml_mark_t at)
{
    struct node *n = arena_alloc(b->arena, sizeof *n);
    n->kind = kind;
    n->line = (unsigned)at.line + 1;
    n->column = (unsigned)at.column + 1;
    return n;
}

static void node_push(struct arena *arena, struct node *to, struct node *key, struct node *item)
{
    if (to->count == to->capacity) {
        unsigned capacity = to->capacity ? to->capacity * 2 : 4;
        struct node **items = arena_array(arena, capacity, sizeof(struct node *));
        struct node **keys = arena_array(arena, capacity, sizeof(struct node *));
        if (to->count) {
            memcpy(items, to->items, to->count * sizeof(struct node *));
            memcpy(keys, to->keys, to->count * sizeof(struct node *));
        }
        to->items = items;
        to->keys = keys;
        to->capacity = capacity;
    }
    to->keys[to->count] = key;
    to->items[to->count++] = item;
}

static bool parenthesis_open(const char *s)
{
    int open = 0;
    for (; *s; s++)
        open += (*s == '(') - (*s == ')');
    return open > 0;
}

/* Appends `more` to the last item of `f`, with the comma and the blanks that were between. */
static int join(struct builder *b, struct frame *f, const struct node *more)
{
    struct node *last = f->node->items[f->node->count - 1];
    if (strlen(last->text) + strlen(more->text) > JOINED_BYTES)
        return err_set(b->e, "%s:%u:%u: spec: found a parenthesis that stays open; allowed: ')'",
                       b->file, last->line, last->column);
    unsigned gap = 1;
    if (more->line == f->end_line && more->column > f->end_column + 1)
        gap = more->column - f->end_column - 1;
    last->text = arena_printf(b->arena, "%s,%*s%s", last->text, (int)gap, "", more->text);
    return 0;
}

/* Puts a finished node into the innermost collection. */
static int attach(struct builder *b, struct node *n, const yaml_event_t *event)
{
    if (b->depth == 0) {
        b->root = n;
        return 0;
    }
    struct frame *f = &b->stack[b->depth - 1];
    bool plain = n->kind == NODE_SCALAR && !n->quoted;
    if (f->node->kind == NODE_LIST) {
        if (!f->open || !plain)
            node_push(b->arena, f->node, NULL, n);
        else if (join(b, f, n) != 0)
            return -1;
    } else if (!f->key) {
        if (n->kind != NODE_SCALAR)
            return fail_at(b, event->start_mark,
                           "found a list or mapping as a key; allowed: a plain word");
        f->key = n;
        return 0;
    } else if (f->open && plain && n->text[0] == '\0') {
        /* `9)` of `in: uniform(-9, 9)` came as a key without a value. */
        if (join(b, f, f->key) != 0)
            return -1;
        n = f->key;
        f->key = NULL;
    } else {
        for (unsigned i = 0; i < f->node->count; i++)
            if (strcmp(f->node->keys[i]->text, f->key->text) == 0)
                return err_set(b->e,
                               "%s:%u:%u: %s: found a second time (first in line %u); "
                               "allowed: each key once",
                               b->file, f->key->line, f->key->column,
                               node_label(f->key->text, b->arena), f->node->keys[i]->line);
        if (f->node->count == MAPPING_KEYS_MAX)
            return fail_at(b, event->start_mark,
                           "found too many keys in one mapping; allowed: 512");
        node_push(b->arena, f->node, f->key, n);
        f->key = NULL;
    }
    f->open = f->flow && plain && parenthesis_open(f->node->items[f->node->count - 1]->text);
    if (f->open) {
        f->end_line = n->line;
        f->end_column = n->column + (unsigned)strlen(n->text);
    }
    return 0;
}

static int open_collection(struct builder *b, enum node_kind kind, bool flow,
                           const yaml_event_t *event)
{
    if (b->depth == PROBLEM_DEPTH_MAX)
        return fail_at(b, event->start_mark, "found a 17th level of nesting; allowed: 16");
    struct node *n = node_new(b, kind, event->start_mark);
    if (attach(b, n, event) != 0)
        return -1;
    b->stack[b->depth++] = (struct frame){.node = n, .flow = flow};
    return 0;
}

static int add_scalar(struct builder *b, const yaml_event_t *event)
{
    struct node *n = node_new(b, NODE_SCALAR, event->start_mark);
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            return fail_at(b, event->start_mark,
                           "found a control character; allowed: text, line breaks and tabs");
    }
    n->text = arena_strndup(b->arena, value, length);
    n->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return attach(b, n, event);
}

/* Anchors and tags are refused wherever they may stand. */
static int refuse_decoration(struct builder *b, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return fail_at(b, event->start_mark, "found an anchor (&name); allowed: plain values");
    if (tag)
        return fail_at(b, event->start_mark, "found a tag (!name); allowed: plain values");
    return 0;
}

/* 0 go on, 1 the stream ended, -1 refused. */
static int take_event(struct builder *b, const yaml_event_t *event)
{
    if (refuse_decoration(b, event) != 0)
        return -1;
    int type = (int)event->type;
    if (type == YAML_STREAM_END_EVENT)
        return 1;
    if (type == YAML_DOCUMENT_START_EVENT) {
        if (b->root)
            return fail_at(b, event->start_mark, "found a second document; allowed: one");
        if (event->data.document_start.version_directive ||
            event->data.document_start.tag_directives.start !=
                event->data.document_start.tag_directives.end)
            return fail_at(b, event->start_mark, "found a % directive; allowed: none");
    } else if (type == YAML_ALIAS_EVENT) {
        return fail_at(b, event->start_mark, "found an alias (*name); allowed: plain values");
    } else if (type == YAML_SCALAR_EVENT) {
        return add_scalar(b, event);
    } else if (type == YAML_SEQUENCE_START_EVENT) {
        return open_collection(b, NODE_LIST,
                               event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE, event);
    } else if (type == YAML_MAPPING_START_EVENT) {
        return open_collection(b, NODE_MAPPING,
                               event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE, event);
    } else if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) {
        b->depth--;
    }
    return 0;
}

/* libyaml does not say that it met a tab, only what it makes of the rest. Up to the line where it
 * stopped: the first one whose indentation has a tab. 0 = there is none. */
static size_t line_with_tab(const char *text, size_t length, size_t last_line, size_t *column)
{
    const char *end = text + length;
    for (size_t line = 1; line <= last_line; line++) {
        const char *at = text;
        while (at < end && *at == ' ')
            at++;
        if (at < end && *at == '\t') {
            *column = (size_t)(at - text) + 1;
            return line;
        }
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next)
            break;
        text = next + 1;
    }
    return 0;
}

/* What libyaml did not like. Its reader (bad UTF-8) gives an offset instead of a mark. */
static int fail_parser(struct builder *b, const yaml_parser_t *parser, const char *text,
                       size_t length)
{
    size_t line = parser->problem_mark.line + 1, column = parser->problem_mark.column + 1;
    if (parser->error == YAML_READER_ERROR) {
        line = column = 1;
        for (size_t i = 0; i < parser->problem_offset; i++, column++)
            if (text[i] == '\n') {
                line++;
                column = 0;
            }
    }
    size_t tab_column = 0, tab_line = line_with_tab(text, length, line, &tab_column);
    if (tab_line)
        return err_set(b->e,
                       "%s:%zu:%zu: spec: found a tab; allowed: blanks before a key or an item",
                       b->file, tab_line, tab_column);
    return err_set(b->e, "%s:%zu:%zu: spec: found no YAML: %s%s%s; allowed: YAML in UTF-8", b->file,
                   line, column, parser->problem ? parser->problem : "out of memory",
                   parser->context ? " " : "", parser->context ? parser->context : "");
}

int tree_parse(const char *file, const char *text, size_t length, struct arena *arena,
               struct node **root, struct err *e)
{
    if (length > PROBLEM_FILE_MAX)
        return err_set(e, "%s:1:1: spec: found %zu bytes; allowed: %d", file, length,
                       PROBLEM_FILE_MAX);
    static const char MARK[] = "\xef\xbb\xbf"; /* some editors start UTF-8 with it */
    if (length >= sizeof MARK - 1 && memcmp(text, MARK, sizeof MARK - 1) == 0) {
        text += sizeof MARK - 1;
        length -= sizeof MARK - 1;
    }
    struct builder b = {.file = file, .arena = arena, .e = e};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        BUG("libyaml: out of memory");
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int status = 0;
    while (status == 0) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_parser(&b, &parser, text, length);
            break;
        }
        status = take_event(&b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (status < 0)
        return -1;
    if (!b.root)
        return err_set(e, "%s:1:1: spec: found an empty file; allowed: a mapping", file);
    *root = b.root;
    return 0;
}

struct node *node_get(const struct node *mapping, const char *key, struct node **key_node)
{
    for (unsigned i = 0; i < mapping->count; i++) {
        if (strcmp(mapping->keys[i]->text, key) == 0) {
            if (key_node)
                *key_node = mapping->keys[i];
            return mapping->items[i];
        }
    }
    return NULL;
}

const char *node_label(const char *text, struct arena *arena)
{
    size_t length = strlen(text), cut = length;
    if (length > LABEL_BYTES) /* between characters */
        for (cut = LABEL_BYTES; ((unsigned char)text[cut] & 0xc0) == 0x80; cut--)
            ;
    char *label = arena_printf(arena, "%.*s%s", (int)cut, text, cut < length ? "..." : "");
    for (char *c = label; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    return label;
}

const char *node_describe(const struct node *n, struct arena *arena)
{
    if (n->kind == NODE_LIST)
        return "a list";
    if (n->kind == NODE_MAPPING)
        return "a mapping";
    if (n->text[0] == '\0')
        return n->quoted ? "an empty text" : "nothing";
    return arena_printf(arena, "'%s'", node_label(n->text, arena));
}
