/* What a student has done so far: a file per problem, one line, "solved" or "tried" and the file
 * that was judged. Nothing depends on it but what `list` shows; so where it cannot be written,
 * nothing is said. */
#include "cli/cli.h"

#include "base/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_BYTES_MAX = 16384 };

const char *cli_state_folder(struct cli *cli)
{
    const char *own = getenv("SCANJUDGE_STATE"), *xdg = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (own && own[0])
        return own;
    if (xdg && xdg[0] == '/')
        return arena_printf(&cli->arena, "%s/scanjudge", xdg);
    return home && home[0] ? arena_printf(&cli->arena, "%s/.local/state/scanjudge", home) : NULL;
}

static const char *state_file(struct cli *cli, const char *id)
{
    const char *folder = cli_state_folder(cli);
    return folder ? arena_printf(&cli->arena, "%s/problems/%s", folder, id) : NULL;
}

enum cli_progress cli_recall(struct cli *cli, const char *id)
{
    const char *path = state_file(cli, id);
    struct text line;
    struct err e;
    enum cli_progress found = PROGRESS_NONE;
    text_init(&line);
    if (path && file_read(path, STATE_BYTES_MAX, &line, &e) == 0)
        found = strncmp(text_str(&line), "solved ", 7) == 0  ? PROGRESS_SOLVED
                : strncmp(text_str(&line), "tried ", 6) == 0 ? PROGRESS_TRIED
                                                             : PROGRESS_NONE;
    text_release(&line);
    return found;
}

/* Ours: judging the solutions that come along solves nothing. */
static bool comes_along(const struct cli *cli, const char *absolute)
{
    static const char *const FOLDERS[] = {"problems", "reference", "submissions"};
    char root[PATH_MAX];
    if (!realpath(cli->paths.root, root))
        return false;
    size_t length = strlen(root);
    if (strncmp(absolute, root, length) != 0 || absolute[length] != '/')
        return false;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
        size_t n = strlen(FOLDERS[i]);
        if (strncmp(absolute + length + 1, FOLDERS[i], n) == 0 && absolute[length + 1 + n] == '/')
            return true;
    }
    return false;
}

void cli_remember(struct cli *cli, const char *id, const char *source, bool solved)
{
    const char *path = state_file(cli, id);
    char absolute[PATH_MAX];
    struct err e;
    if (!path || !realpath(source, absolute) || comes_along(cli, absolute) ||
        (!solved && cli_recall(cli, id) == PROGRESS_SOLVED))
        return;
    const char *folder = arena_strndup(&cli->arena, path, (size_t)(strrchr(path, '/') - path));
    const char *line = arena_printf(&cli->arena, "%s %s\n", solved ? "solved" : "tried", absolute);
    if (file_make_dirs(folder, &e) == 0)
        (void)file_write(path, line, strlen(line), &e);
}
