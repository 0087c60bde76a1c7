#include "base/text.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_init(struct text *t)
{
    *t = (struct text){0};
}

void text_release(struct text *t)
{
    free(t->data);
    text_init(t);
}

void text_clear(struct text *t)
{
    t->length = 0;
    if (t->data)
        t->data[0] = '\0';
}

static void reserve(struct text *t, size_t more)
{
    size_t need = t->length + more + 1;
    if (need <= t->capacity)
        return;
    size_t capacity = t->capacity ? t->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(t->data, capacity);
    if (!data)
        BUG("text: out of memory for %zu bytes", capacity);
    t->data = data;
    t->capacity = capacity;
}

void text_addn(struct text *t, const void *bytes, size_t count)
{
    reserve(t, count);
    if (count)
        memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *s)
{
    text_addn(t, s, strlen(s));
}

void text_addc(struct text *t, char c)
{
    text_addn(t, &c, 1);
}

void text_addf(struct text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        BUG("text_addf: bad format '%s'", format);
    reserve(t, (size_t)length);
    vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    va_end(again);
    t->length += (size_t)length;
}

const char *text_str(const struct text *t)
{
    return t->data ? t->data : "";
}

void text_add_shell_word(struct text *t, const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    if (word[0] && word[strspn(word, PLAIN)] == '\0') {
        text_add(t, word);
        return;
    }
    text_addc(t, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            text_add(t, "'\\''");
        else
            text_addc(t, *word);
    }
    text_addc(t, '\'');
}
