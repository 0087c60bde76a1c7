/* How it works: the name is what stands before the first '('; the arguments are cut at commas that
 * are in no further parentheses; the last ')' must end the text. What an argument means is left to
 * whoever asked. */
#include "judge/problem/call.h"

#include <stdbool.h>
#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static const char *add_argument(struct call *call, struct arena *arena, const char *text,
                                size_t from, size_t to)
{
    while (from < to && blank(text[from]))
        from++;
    while (to > from && blank(text[to - 1]))
        to--;
    if (from == to)
        return "an empty argument";
    if (call->arg_count == CALL_ARGS_MAX)
        return "more than 4 arguments";
    call->args[call->arg_count] = arena_strndup(arena, text + from, to - from);
    call->offsets[call->arg_count++] = from;
    return NULL;
}

const char *call_parse(const char *text, struct arena *arena, struct call *call)
{
    *call = (struct call){0};
    size_t length = strlen(text);
    while (length && blank(text[length - 1]))
        length--;
    const char *open = memchr(text, '(', length);
    size_t name_length = open ? (size_t)(open - text) : length;
    while (name_length && blank(text[name_length - 1]))
        name_length--;
    call->name = arena_strndup(arena, text, name_length);
    if (!open)
        return NULL;
    size_t from = (size_t)(open - text) + 1;
    int depth = 1;
    for (size_t i = from; i < length; i++) {
        if (text[i] == '(')
            depth++;
        if (text[i] == ')')
            depth--;
        bool end = text[i] == ')' && depth == 0;
        if (end && i + 1 < length)
            return "text after the closing parenthesis";
        if (end && call->arg_count == 0) { /* `name()` */
            size_t j = from;
            while (j < i && blank(text[j]))
                j++;
            if (j == i)
                return NULL;
        }
        if (end || (text[i] == ',' && depth == 1)) {
            const char *wrong = add_argument(call, arena, text, from, i);
            if (wrong || end)
                return wrong;
            from = i + 1;
        }
    }
    return "an unclosed parenthesis";
}
