/* Every record in every format against expected/<format>/<record>.<extension>; and a property that
 * holds for whatever is in a record: no control character gets out. usage: golden_reports
 * [--update] */
#include "base/file.h"
#include "judge/report/utf8.h"
#include "records.h"

#include <stdio.h>
#include <string.h>

/* Escape sequences of our own are colours only: ESC [ digits ; digits m. */
static bool is_colour(const char *s)
{
    if (s[0] != '\x1b' || s[1] != '[')
        return false;
    return s[2 + strspn(s + 2, "0123456789;")] == 'm';
}

static bool is_clean(const char *s, bool colour)
{
    while (*s) {
        uint32_t c;
        unsigned length = utf8_read(s, &c);
        bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        if (length == 0 || (c >= 0x202a && c <= 0x202e))
            return false;
        if (control && *s != '\n' && *s != '\t' && !(colour && is_colour(s)))
            return false;
        s += length;
    }
    return true;
}

/* The first line that differs, for the message. */
static void show_difference(const char *expected, const char *got)
{
    unsigned line = 1;
    while (*expected && *got) {
        size_t a = strcspn(expected, "\n"), b = strcspn(got, "\n");
        if (a != b || memcmp(expected, got, a) != 0)
            break;
        expected += a + (expected[a] == '\n');
        got += b + (got[b] == '\n');
        line++;
    }
    printf("  line %u\n  expected: %.*s\n  got:      %.*s\n", line, (int)strcspn(expected, "\n"),
           expected, (int)strcspn(got, "\n"), got);
}

static bool try(const struct result *const *results, unsigned count, const struct record *r,
                const struct report_format *format, bool update)
{
    char path[4096];
    struct text got, expected;
    struct err e = {{0}};
    bool ok = true;
    text_init(&got);
    text_init(&expected);
    format->write(results, count, &r->options, &got);
    snprintf(path, sizeof path, "%s/%s/%s.%s", GOLDEN_FOLDER, format->name, r->name,
             format->extension);
    if (!is_clean(text_str(&got), r->options.colour && strcmp(format->name, "text") == 0)) {
        printf("%s: a control character got out\n", path);
        ok = false;
    }
    if (update) {
        ok = file_write(path, text_str(&got), got.length, &e) == 0 && ok;
    } else if (file_read(path, (size_t)1 << 20, &expected, &e) != 0 ||
               strcmp(text_str(&expected), text_str(&got)) != 0) {
        printf("%s: %s\n", path, e.text[0] ? e.text : "the report is another one");
        show_difference(text_str(&expected), text_str(&got));
        ok = false;
    }
    text_release(&got);
    text_release(&expected);
    return ok;
}

/* All records in one document, where the format has such. */
static bool try_all(const struct report_format *format, bool update)
{
    const struct result *results[64];
    struct record all = {"all", {0}, {0}};
    if (!format->takes_many)
        return true;
    for (unsigned i = 0; i < RECORD_COUNT; i++)
        results[i] = &RECORDS[i].result;
    /* One of them once more: whoever tells tests apart by name must not take it for the first. */
    results[RECORD_COUNT] = &RECORDS[0].result;
    return try(results, RECORD_COUNT + 1, &all, format, update);
}

/* What is written as JSON and read again is the same result: so is all that is made of it. */
static bool try_reading(const struct record *r)
{
    struct arena arena;
    struct text written, again;
    struct err e;
    struct result read, plain = r->result;
    const struct result *before = &plain, *after = &read;
    const struct report_format *json = report_find("json");
    arena_init(&arena);
    text_init(&written);
    text_init(&again);
    /* Profiles stay behind. */
    plain.cases = arena_array(&arena, plain.case_count, sizeof *plain.cases);
    for (unsigned i = 0; i < plain.case_count; i++) {
        plain.cases[i] = r->result.cases[i];
        plain.cases[i].profile = NULL;
    }
    json->write(&before, 1, &r->options, &written);
    bool ok = report_read(r->name, text_str(&written), &arena, &read, &e) == 0;
    if (!ok)
        printf("%s: cannot be read again: %s\n", r->name, e.text);
    if (ok) {
        json->write(&after, 1, &r->options, &again);
        ok = strcmp(text_str(&written), text_str(&again)) == 0;
        if (!ok) {
            printf("%s: is another result when it is read again\n", r->name);
            show_difference(text_str(&written), text_str(&again));
        }
    }
    text_release(&again);
    text_release(&written);
    arena_release(&arena);
    return ok;
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0, ok = true;
    for (unsigned i = 0; i < RECORD_COUNT; i++) {
        const struct result *r = &RECORDS[i].result;
        ok = try_reading(&RECORDS[i]) && ok;
        for (unsigned f = 0; report_format_at(f); f++)
            ok = try(&r, 1, &RECORDS[i], report_format_at(f), update) && ok;
    }
    for (unsigned f = 0; report_format_at(f); f++)
        ok = try_all(report_format_at(f), update) && ok;
    printf("%u records, %s\n", RECORD_COUNT, ok ? "all as expected" : "some differ");
    return ok ? 0 : 1;
}
