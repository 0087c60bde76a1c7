/* json_tree: building JSON for reports. A call here cannot fail: strings are made valid UTF-8
 * first, numbers that JSON does not have become null, and to be out of memory is a BUG(). */
#ifndef JUDGE_REPORT_JSON_TREE_H
#define JUDGE_REPORT_JSON_TREE_H

#include "base/text.h"
#include "judge/report/result.h"

#include <jansson.h>

json_t *tree_object(void);
json_t *tree_array(void);
json_t *tree_string(const char *s); /* NULL is "" */
json_t *tree_number(double x);
json_t *tree_milliseconds(double ms); /* as fine as a wall clock is worth; never negative */

/* Each takes `value` over. */
void tree_set(json_t *object, const char *key, json_t *value);
void tree_append(json_t *array, json_t *value);
/* Left out when there is nothing to say. */
void tree_set_text(json_t *object, const char *key, const char *s);

/* The object of result.schema.json. */
json_t *tree_result(const struct result *r);

enum tree_layout { TREE_INDENTED, TREE_ONE_LINE };

/* Writes the value and a newline, and releases it. */
void tree_write(json_t *value, enum tree_layout layout, struct text *out);

#endif
