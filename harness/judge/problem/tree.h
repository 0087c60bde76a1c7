/* tree: a YAML file as a small tree of nodes that know their line and column.
 *
 * Only what a spec needs: plain mappings, lists and scalars of one document. Refused, each with
 * its place: more than PROBLEM_FILE_MAX bytes, nesting deeper than PROBLEM_DEPTH_MAX, anchors,
 * aliases, tags, directives, several documents, keys that are not scalars, keys given twice,
 * control characters. One addition to YAML: in [ ] and { } a comma inside parentheses belongs to
 * the scalar, so that `{in: uniform(-9, 9)}` means what it says.
 * Nodes live in the caller's arena. */
#ifndef JUDGE_PROBLEM_TREE_H
#define JUDGE_PROBLEM_TREE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum node_kind { NODE_SCALAR = 1, NODE_LIST = 2, NODE_MAPPING = 4 }; /* bits: fields.def ors them */

struct node {
    enum node_kind kind;
    unsigned line, column; /* from 1; of the first character, a quote included */
    bool quoted;
    const char *text;    /* SCALAR, NUL-terminated, no NUL inside */
    struct node **keys;  /* MAPPING */
    struct node **items; /* LIST, MAPPING: values */
    unsigned count, capacity;
};

/* -1 with `file:line:column: ...`. An empty file is an error. */
int tree_parse(const char *file, const char *text, size_t length, struct arena *arena,
               struct node **root, struct err *e);

/* The value of a key, NULL if absent; *key_node (may be NULL) gets the key itself. */
struct node *node_get(const struct node *mapping, const char *key, struct node **key_node);

/* "a list", "a mapping", "'abc'" or "nothing": what was found, for messages. */
const char *node_describe(const struct node *n, struct arena *arena);
/* The text on one short line, without quotes: a key in front of a message. */
const char *node_label(const char *text, struct arena *arena);

#endif
