/* The judged path stands in `submission`, and inside of commands and messages; its last part alone
 * in findings and in what the compiler said. A name counts where no longer one contains it. */
#include "judge/grade/rename.h"

#include "base/file.h"
#include "judge/report/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct renaming {
    const char *old_path, *new_path, *old_name, *new_name;
};

void rename_valid(const char *name, struct text *out)
{
    utf8_add_valid(out, name);
}

static bool is_part_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

static void replace(struct text *s, const char *old, const char *new)
{
    struct text out;
    size_t length = strlen(old);
    const char *start = text_str(s), *at = start;
    if (!length || strcmp(old, new) == 0 || !strstr(start, old))
        return;
    text_init(&out);
    for (const char *hit; (hit = strstr(at, old)) != NULL; at = hit + length) {
        bool inside = (hit > start && is_part_of_name(hit[-1])) || is_part_of_name(hit[length]);
        text_addn(&out, at, (size_t)(hit - at));
        text_add(&out, inside ? old : new);
    }
    text_add(&out, at);
    text_release(s);
    *s = out;
}

static void rename_string(json_t *value, const struct renaming *r)
{
    struct text s;
    text_init(&s);
    text_add(&s, json_string_value(value));
    replace(&s, r->old_path, r->new_path);
    replace(&s, r->old_name, r->new_name);
    if (strcmp(text_str(&s), json_string_value(value)) != 0)
        json_string_set(value, text_str(&s));
    text_release(&s);
}

static void walk(json_t *value, const struct renaming *r)
{
    const char *key;
    json_t *child;
    size_t i;
    if (json_is_string(value)) {
        rename_string(value, r);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, child) walk(child, r);
    } else if (json_is_object(value)) {
        json_object_foreach(value, key, child) if (strcmp(key, "stdout") != 0 &&
                                                   strcmp(key, "stderr") != 0) walk(child, r);
    }
}

void rename_result(json_t *result, const char *path, const char *shown)
{
    struct text old, new;
    const char *judged = json_string_value(json_object_get(result, "submission"));
    text_init(&old);
    text_init(&new);
    text_add(&old, judged ? judged : "");
    utf8_add_valid(&new, path);
    struct renaming r = {.old_path = text_str(&old),
                         .new_path = text_str(&new),
                         .old_name = file_base_name(text_str(&old)),
                         .new_name = file_base_name(text_str(&new))};
    walk(result, &r);
    struct text name;
    text_init(&name);
    utf8_add_valid(&name, shown);
    json_object_set_new(result, "submission", json_string(text_str(&name)));
    text_release(&name);
    text_release(&old);
    text_release(&new);
}
