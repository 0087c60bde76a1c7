/* Goes over the lines once; a table is measured first, a paragraph is wrapped once its marks are
 * gone. */
#include "cli/markdown.h"

#include "judge/report/utf8.h"

#include <string.h>

enum { TABLE_COLUMNS_MAX = 8 };

/* Codes of a terminal. */
#define BOLD        "\033[1m"
#define CODE        "\033[36m"
#define PLAIN_AGAIN "\033[0m"

static const struct markdown_style NO_CODES = {0};

/* A star that opens or closes emphasis touches a word on one side only; `a * b` and `a*b` stay. */
static bool is_emphasis(const char *line, size_t length, size_t i)
{
    bool before = i > 0 && line[i - 1] != ' ', after = i + 1 < length && line[i + 1] != ' ';
    return before != after;
}

static void add_code(struct text *out, const struct markdown_style *style, const char *code)
{
    if (style->colour)
        text_add(out, code);
}

/* One line outside of code blocks without its marks: **bold**, `code`, [text](link). */
static void add_plain(struct text *out, const struct markdown_style *style, const char *line,
                      size_t length)
{
    bool in_code = false, in_bold = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '`') {
            in_code = !in_code;
            add_code(out, style, in_code ? CODE : in_bold ? PLAIN_AGAIN BOLD : PLAIN_AGAIN);
            continue;
        }
        if (!in_code && line[i] == '\\' && i + 1 < length && strchr("*_`[]<>#|\\", line[i + 1])) {
            text_addc(out, line[++i]);
            continue;
        }
        if (!in_code && line[i] == '*') {
            bool is_double = i + 1 < length && line[i + 1] == '*';
            if (is_double || is_emphasis(line, length, i)) {
                i += is_double;
                in_bold = !in_bold;
                add_code(out, style, in_bold ? BOLD : PLAIN_AGAIN);
                continue;
            }
        }
        const char *middle =
            in_code || line[i] != '[' ? NULL : memmem(line + i, length - i, "](", 2);
        const char *end = middle ? memchr(middle, ')', length - (size_t)(middle - line)) : NULL;
        if (end) {
            text_addn(out, line + i + 1, (size_t)(middle - line) - i - 1);
            i = (size_t)(end - line);
            continue;
        }
        text_addc(out, line[i]);
    }
    if (in_code || in_bold) /* a mark without its other half ends with the line */
        add_code(out, style, PLAIN_AGAIN);
}

static void add_heading(struct text *out, const struct markdown_style *style, const char *line,
                        size_t length)
{
    size_t level = strspn(line, "#"), from = level + strspn(line + level, " ");
    add_code(out, style, BOLD);
    size_t before = out->length;
    add_plain(out, &NO_CODES, line + from, length - from);
    unsigned columns = out->length > before ? utf8_columns(out->data + before) : 0;
    text_addc(out, '\n');
    for (unsigned i = 0; level <= 2 && i < columns; i++)
        text_addc(out, level == 1 ? '=' : '-');
    if (level <= 2)
        text_addc(out, '\n');
    add_code(out, style, PLAIN_AGAIN);
}

/* ---- tables: cells lose their marks, so the columns are measured anew ---- */

/* The next cell of a row: from after a '|' to the next one, blanks trimmed. NULL after the last. */
static const char *next_cell(const char **at, const char *end, size_t *length)
{
    const char *from = *at;
    if (from >= end)
        return NULL;
    const char *to = from;
    bool in_code = false;
    for (; to < end && (*to != '|' || in_code || (to > from && to[-1] == '\\')); to++)
        in_code ^= *to == '`';
    *at = to + 1;
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    *length = (size_t)(to - from);
    return from;
}

static bool is_rule(const char *line, size_t length)
{
    return length > 1 && strspn(line, "|-: ") >= length && memchr(line, '-', length);
}

/* Goes over one row; with `out` NULL it only measures. */
static void table_row(struct text *out, const char *line, size_t length,
                      unsigned width[TABLE_COLUMNS_MAX])
{
    const char *at = line + 1, *end = line + length, *cell;
    size_t bytes;
    if (is_rule(line, length)) {
        for (unsigned k = 0; out && k < TABLE_COLUMNS_MAX && width[k]; k++)
            for (unsigned i = 0; i < width[k] + 2; i++)
                text_addc(out, '-');
        if (out)
            text_addc(out, '\n');
        return;
    }
    for (unsigned k = 0; k < TABLE_COLUMNS_MAX && (cell = next_cell(&at, end, &bytes)); k++) {
        struct text plain;
        text_init(&plain);
        add_plain(&plain, &NO_CODES, cell, bytes);
        unsigned columns = utf8_columns(text_str(&plain));
        width[k] = columns > width[k] ? columns : width[k];
        if (out)
            text_add(out, text_str(&plain));
        for (unsigned i = columns; out && at < end && i < width[k] + 2; i++)
            text_addc(out, ' ');
        text_release(&plain);
    }
    if (out)
        text_addc(out, '\n');
}

/* All rows from `line` on; returns what follows the table. */
static const char *add_table(struct text *out, const char *table)
{
    unsigned width[TABLE_COLUMNS_MAX] = {0};
    const char *line = table;
    for (int pass = 0; pass < 2; pass++)
        for (line = table; line[0] == '|';) {
            size_t length = strcspn(line, "\n");
            table_row(pass ? out : NULL, line, length, width);
            line += length + (line[length] == '\n');
        }
    return line;
}

/* ---- lines that are too long ---- */

/* Bytes of the code of a terminal at `s`, 0 if there is none. */
static size_t code_length(const char *s)
{
    if (s[0] != '\033' || s[1] != '[')
        return 0;
    size_t n = 2 + strspn(s + 2, "0123456789;");
    return s[n] ? n + 1 : n;
}

/* How far the next piece goes that stays together: a word with the blanks before it, or one wide
 * character. */
static size_t piece_length(const char *s, unsigned *columns)
{
    size_t blanks = strspn(s, " "), i = blanks;
    *columns = (unsigned)blanks;
    while (s[i] && s[i] != ' ') {
        size_t code = code_length(s + i);
        if (code) {
            i += code;
            continue;
        }
        uint32_t character;
        unsigned n = utf8_read(s + i, &character);
        char one[8] = {0};
        n = n ? n : 1;
        memcpy(one, s + i, n);
        unsigned wide = utf8_columns(one);
        if (wide > 1 && *columns > blanks)
            break; /* the next piece begins here */
        i += n;
        *columns += wide;
        if (wide > 1)
            break;
    }
    return i;
}

void markdown_wrap(struct text *out, const char *line, unsigned columns, unsigned indent)
{
    unsigned used = 0;
    bool is_first = true;
    indent += (unsigned)strspn(line, " ");
    while (*line) {
        unsigned piece;
        size_t length = piece_length(line, &piece);
        if (columns && !is_first && used + piece > columns) {
            size_t blanks = strspn(line, " ");
            text_addc(out, '\n');
            for (unsigned i = 0; i < indent; i++)
                text_addc(out, ' ');
            used = indent + piece - (unsigned)blanks;
            line += blanks;
            length -= blanks;
        } else {
            used += piece;
        }
        text_addn(out, line, length);
        line += length;
        is_first = false;
    }
    text_addc(out, '\n');
}

static void add_paragraph(struct text *out, const struct markdown_style *style, const char *line,
                          size_t length)
{
    struct text plain;
    text_init(&plain);
    size_t mark = strspn(line, " ");
    size_t digits = strspn(line + mark, "0123456789");
    bool is_item = mark + 1 < length && strchr("-*", line[mark]) && line[mark + 1] == ' ';
    bool is_number = digits > 0 && mark + digits + 1 < length && line[mark + digits] == '.';
    unsigned indent = is_item ? 2 : is_number ? (unsigned)digits + 2 : 0;
    add_plain(&plain, style, line, length);
    markdown_wrap(out, text_str(&plain), style->columns, indent);
    text_release(&plain);
}

/* ---- all of it ---- */

/* Blocks stand apart, also from one another. */
static void part_from_above(struct text *out)
{
    if (out->length > 1 && strcmp(out->data + out->length - 2, "\n\n") != 0)
        text_addc(out, '\n');
}

void markdown_render(struct text *out, const char *markdown, const struct markdown_style *style)
{
    bool in_block = false;
    for (const char *line = markdown; *line;) {
        size_t length = strcspn(line, "\n");
        if (!in_block && line[0] == '|') {
            line = add_table(out, line);
            continue;
        }
        if (strncmp(line, "```", 3) == 0) {
            in_block = !in_block;
            if (in_block)
                part_from_above(out);
        } else if (in_block) {
            text_add(out, "    ");
            add_code(out, style, CODE);
            text_addn(out, line, length);
            add_code(out, style, PLAIN_AGAIN);
            text_addc(out, '\n');
        } else if (line[0] == '#') {
            add_heading(out, style, line, length);
        } else {
            add_paragraph(out, style, line, length);
        }
        line += length + (line[length] == '\n');
    }
}
