/* judge show PROBLEM: the statement, its Markdown made plain for a terminal. Only what statements
 * use is known: headings, emphasis, code, links, tables as they are. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { STATEMENT_BYTES_MAX = 256 * 1024 };

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
        if (!in_code && line[i] == '*' && i + 1 < length && line[i + 1] == '*') {
            i++;
            continue;
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
    text_addc(out, '\n');
}

static void add_heading(struct text *out, const char *line, size_t length)
{
    size_t level = strspn(line, "#"), from = level + strspn(line + level, " ");
    size_t before = out->length;
    add_plain(out, line + from, length - from);
    /* Underlined by bytes would be too long for Chinese: one dash per two bytes of those. */
    size_t columns = 0;
    for (size_t i = before; i + 1 < out->length; i++)
        if ((out->data[i] & 0xc0) != 0x80)
            columns += (unsigned char)out->data[i] >= 0xe3 ? 2 : 1;
    for (size_t i = 0; level <= 2 && i < columns; i++)
        text_addc(out, level == 1 ? '=' : '-');
    if (level <= 2)
        text_addc(out, '\n');
}

static void add_statement(struct text *out, const char *markdown)
{
    bool in_block = false;
    for (const char *line = markdown; *line;) {
        size_t length = strcspn(line, "\n");
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
    if (!cli_known_problem(cli, id))
        return STATUS_USAGE;
    struct problem p;
    struct err e;
    if (problem_load(cli->paths.root, id, &cli->arena, &p, &e) != 0)
        return cli_usage(cli, "%s", e.text);
    struct text markdown, out, escaped;
    text_init(&markdown);
    text_init(&out);
    text_init(&escaped);
    const char *path =
        arena_printf(&cli->arena, "%s/problems/%s/statement.zh.md", cli->paths.root, id);
    if (!chinese || !file_exists(path))
        path = arena_printf(&cli->arena, "%s/problems/%s/statement.md", cli->paths.root, id);
    if (file_read(path, STATEMENT_BYTES_MAX, &markdown, &e) != 0) {
        status = cli_usage(cli, "%s", e.text);
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
