/* judge new PROBLEM [PATH]: the starter as a file of the student's. What is there is never touched:
 * the file is opened so that only a new one can be. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STARTER_BYTES_MAX = 1 << 20 };

/* <problem>.cu here, or in the folder that PATH is; else PATH. */
static const char *target_of(struct cli *cli, const char *id, const char *path)
{
    if (!path)
        return arena_printf(&cli->arena, "%s.cu", id);
    size_t length = strlen(path);
    if (!file_is_dir(path) && (length == 0 || path[length - 1] != '/'))
        return path;
    return arena_printf(&cli->arena, "%s%s%s.cu", path,
                        length && path[length - 1] == '/' ? "" : "/", id);
}

static int write_starter(struct cli *cli, const char *id, const char *path, const struct text *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return cli_wrong(cli,
                         "%s is already there, and stays as it is.\n"
                         "  go on with it:     %s watch %s %s\n"
                         "  begin another one: %s new %s %s",
                         path, cli->command, id, cli_quoted(cli, path), cli->command, id,
                         cli_quoted(cli, cli_free_name(cli, path)));
    if (fd < 0 && errno == ENOENT)
        return cli_wrong(cli, "%s cannot be written: its folder is not there. Make it: mkdir -p %s",
                         path,
                         cli_quoted(cli, arena_strndup(&cli->arena, path,
                                                       (size_t)(file_base_name(path) - path))));
    if (fd < 0)
        return cli_wrong(cli, "%s cannot be written: %s. Name another place: %s new %s PATH", path,
                         strerror(errno), cli->command, id);
    const char *bytes = text_str(text);
    size_t left = text->length;
    while (left) {
        ssize_t put = write(fd, bytes, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            break;
        bytes += put;
        left -= (size_t)put;
    }
    int error = left ? errno : 0;
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error)
        return STATUS_DONE;
    unlink(path); /* it is ours, and not whole */
    return cli_failed(cli, "%s cannot be written: %s", path, strerror(error));
}

const char *cli_free_name(struct cli *cli, const char *path)
{
    size_t length = strlen(path);
    size_t stem = length > 3 && strcmp(path + length - 3, ".cu") == 0 ? length - 3 : length;
    const char *name = path;
    for (int number = 2; access(name, F_OK) == 0 && number < INT_MAX; number++)
        name = arena_printf(&cli->arena, "%.*s-%d.cu", (int)stem, path, number);
    return name;
}

int command_new(struct cli *cli, int argc, char **argv)
{
    if (cli_option(cli, argc, argv, false) != OPTION_END)
        return STATUS_USAGE;
    int operands = argc - optind;
    if (operands < 1 || operands > 2)
        return cli_usage(cli, "new wants a problem, and perhaps where its file goes.");
    const char *id = argv[optind];
    if (!cli_known_problem(cli, id))
        return STATUS_USAGE;
    const char *path = target_of(cli, id, operands == 2 ? argv[optind + 1] : NULL);
    size_t length = strlen(path);
    if (length < 4 || strcmp(path + length - 3, ".cu") != 0)
        return cli_usage(cli, "the name of a submission ends in .cu, and not as '%s' does.", path);
    const char *starter =
        arena_printf(&cli->arena, "%s/problems/%s/starter.cu", cli->paths.root, id);
    struct text text;
    struct err e;
    text_init(&text);
    int status = file_read(starter, STARTER_BYTES_MAX, &text, &e) == 0
                     ? write_starter(cli, id, path, &text)
                     : cli_wrong(cli, "%s", e.text);
    text_release(&text);
    if (status != STATUS_DONE)
        return status;
    char absolute[PATH_MAX];
    struct cli_memory m;
    cli_recall(cli, id, &m);
    m.file = realpath(path, absolute) ? absolute : NULL;
    m.failing = NULL; /* of another file */
    cli_store(cli, id, &m);
    const char *word = cli_quoted(cli, path);
    return cli_print(cli, arena_printf(&cli->arena,
                                       "wrote %s\n"
                                       "the task:   %s show %s\n"
                                       "judge it:   %s watch %s   (whenever you save it)\n"
                                       "      or:   %s run %s %s\n",
                                       word, cli->command, id, cli->command, id, cli->command, id,
                                       word));
}
