/* judge show PROBLEM: the statement, in the user's language, made readable on a terminal. */
#include "cli/cli.h"
#include "cli/markdown.h"

#include "base/file.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STATEMENT_BYTES_MAX = 256 * 1024, COLUMNS_MAX = 100 };

/* As wide as the terminal, and no wider than one likes to read; into a file, lines stay whole. */
static struct markdown_style style_for(int fd)
{
    struct markdown_style style = {.colour = cli_use_colour(fd)};
    struct winsize size;
    if (cli_is_terminal(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        style.columns = size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
    return style;
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
    /* Escaped first: the codes of a terminal that come later are ours. */
    report_add_escaped(&escaped, text_str(&markdown));
    struct markdown_style style = style_for(STDOUT_FILENO);
    markdown_render(&out, text_str(&escaped), &style);
    text_addf(&out, "\n%s\n\n", problem_prototype(&p, &cli->arena));
    text_addf(&out,
              chinese ? "起始代码: %s new %s\n判题: %s watch %s\n"
                      : "start from: %s new %s\njudge it: %s watch %s\n",
              cli->command, id, cli->command, id);
    status = cli_print(cli, text_str(&out));
out:
    text_release(&markdown);
    text_release(&out);
    text_release(&escaped);
    return status;
}
