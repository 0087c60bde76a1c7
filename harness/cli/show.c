/* judge show PROBLEM: the statement, its Markdown made plain for a terminal. Only what statements
 * use is known: headings, emphasis, code, links, tables. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "judge/report/utf8.h"

#include <stdio.h>
#include <string.h>

enum { STATEMENT_BYTES_MAX = 256 * 1024, TABLE_COLUMNS_MAX = 8 };

/* A star that opens or closes emphasis touches a word on one side only; `a * b` and `a*b` stay. */
static bool is_emphasis(const char *line, size_t length, size_t i)
{
    bool before = i > 0 && line[i - 1] != ' ', after = i + 1 < length && line[i + 1] != ' ';
    return before != after;
}

/* One line outside of code blocks without its marks: **bold**, `code`, [text](link). */
static void add_plain(struct text *out, const char *line, size_t length)
{
    bool in_code = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '`') {
            in_code = !in_code;
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
}

static void add_heading(struct text *out, const char *line, size_t length)
{
    size_t level = strspn(line, "#"), from = level + strspn(line + level, " ");
    size_t before = out->length;
    add_plain(out, line + from, length - from);
    unsigned columns = out->length > before ? utf8_columns(out->data + before) : 0;
    text_addc(out, '\n');
    for (unsigned i = 0; level <= 2 && i < columns; i++)
        text_addc(out, level == 1 ? '=' : '-');
    if (level <= 2)
        text_addc(out, '\n');
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
        add_plain(&plain, cell, bytes);
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

static void add_statement(struct text *out, const char *markdown)
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
        } else if (in_block) {
            text_add(out, "    ");
            text_addn(out, line, length);
            text_addc(out, '\n');
        } else if (line[0] == '#') {
            add_heading(out, line, length);
        } else {
            add_plain(out, line, length);
            text_addc(out, '\n');
        }
        line += length + (line[length] == '\n');
    }
}

int command_show(struct cli *cli, int argc, char **argv)
{
    bool chinese;
    int status = cli_parse_language(cli, argc, argv, &chinese);
    if (status != STATUS_DONE)
        return status;
    if (argc - optind != 1)
        return cli_usage(cli, "show wants one problem.");
    const char *id = argv[optind];
    struct problem p;
    struct err e;
    status = cli_load_problem(cli, id, &p);
    if (status != STATUS_DONE)
        return status;
    struct text markdown, out, escaped;
    text_init(&markdown);
    text_init(&out);
    text_init(&escaped);
    const char *path =
        arena_printf(&cli->arena, "%s/problems/%s/statement.zh.md", cli->paths.root, id);
    if (!chinese || !file_exists(path))
        path = arena_printf(&cli->arena, "%s/problems/%s/statement.md", cli->paths.root, id);
    if (file_read(path, STATEMENT_BYTES_MAX, &markdown, &e) != 0) {
        status = cli_wrong(cli, "%s", e.text);
        goto out;
    }
    add_statement(&out, text_str(&markdown));
    report_add_escaped(&escaped, text_str(&out));
    text_addf(&escaped, "\n%s\n\n", problem_prototype(&p, &cli->arena));
    text_addf(&escaped,
              chinese ? "起始代码: %s/problems/%s/starter.cu\n判题: %s run %s FILE.cu\n"
                      : "start from: %s/problems/%s/starter.cu\njudge it: %s run %s FILE.cu\n",
              cli->paths.root, id, cli->command, id);
    status = cli_print(cli, text_str(&escaped));
out:
    text_release(&markdown);
    text_release(&out);
    text_release(&escaped);
    return status;
}
