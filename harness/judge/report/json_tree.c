#include "judge/report/json_tree.h"

#include "base/err.h"
#include "judge/report/utf8.h"

#include <math.h>
#include <stdlib.h>

/* Every jansson call here fails only for want of memory or for a string that is not UTF-8. */
static json_t *checked(json_t *value)
{
    if (!value)
        BUG("json: a value could not be made");
    return value;
}

json_t *tree_object(void)
{
    return checked(json_object());
}

json_t *tree_array(void)
{
    return checked(json_array());
}

json_t *tree_string(const char *s)
{
    struct text valid;
    text_init(&valid);
    utf8_add_valid(&valid, s ? s : "");
    json_t *value = checked(json_string(text_str(&valid)));
    text_release(&valid);
    return value;
}

json_t *tree_number(double x)
{
    return checked(isfinite(x) ? json_real(x) : json_null());
}

json_t *tree_milliseconds(double ms)
{
    bool sane = isfinite(ms) && ms > 0 && ms < 1e12;
    return checked(json_real(sane ? (double)(uint64_t)(ms * 1000 + 0.5) / 1000 : 0.0));
}

void tree_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, checked(value)) != 0)
        BUG("json: cannot set '%s'", key);
}

void tree_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, checked(value)) != 0)
        BUG("json: cannot append");
}

void tree_set_text(json_t *object, const char *key, const char *s)
{
    if (s && s[0])
        tree_set(object, key, tree_string(s));
}

/* jansson leaves DEL, C1 controls and overrides of direction as they are; somebody will look at the
 * file on a terminal. They stand in strings only, where an escape means the same. */
void tree_write(json_t *value, enum tree_layout layout, struct text *out)
{
    size_t flags = layout == TREE_ONE_LINE ? JSON_COMPACT : JSON_INDENT(2);
    char *dump = json_dumps(value, flags | JSON_REAL_PRECISION(12));
    if (!dump)
        BUG("json: out of memory");
    for (const char *at = dump; *at;) {
        uint32_t c;
        unsigned length = utf8_read(at, &c);
        if (length == 0)
            BUG("json: the output is not UTF-8");
        if (c == 0x7f || utf8_is_invisible(c))
            text_addf(out, "\\u%04x", c);
        else
            text_addn(out, at, length);
        at += length;
    }
    text_addc(out, '\n');
    free(dump);
    json_decref(value);
}
