/* What a student has done so far: a file per problem, a line per fact.
 *   solved /home/s/scan.cu     or "tried": the file that was judged last, or "new": only begun
 *   failing 17 n=1025          the seed, and the case that failed first
 *   hints 2
 * Nobody's verdict depends on it; so where it cannot be written nothing is said, and a line that is
 * none of these is no fact. */
#include "cli/cli.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATE_BYTES_MAX = 16384, HINTS_SEEN_MAX = 1000 };

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

static const char *const PROGRESS[] = {"new", "tried", "solved"};

static void read_line(char *line, struct cli_memory *m)
{
    char *value = strchr(line, ' ');
    if (!value)
        return;
    *value++ = '\0';
    for (int i = 0; i < 3; i++)
        if (strcmp(line, PROGRESS[i]) == 0) {
            m->progress = (enum cli_progress)i;
            m->file = value[0] ? value : NULL;
        }
    if (strcmp(line, "failing") == 0) {
        char *name;
        m->seed = strtoull(value, &name, 10);
        m->failing = m->seed && name[0] == ' ' && name[1] ? name + 1 : NULL;
    }
    if (strcmp(line, "hints") == 0) {
        unsigned long hints = strtoul(value, NULL, 10);
        m->hints = hints < HINTS_SEEN_MAX ? (unsigned)hints : HINTS_SEEN_MAX;
    }
}

void cli_recall(struct cli *cli, const char *id, struct cli_memory *m)
{
    const char *path = state_file(cli, id);
    struct text bytes;
    struct err e;
    *m = (struct cli_memory){0};
    text_init(&bytes);
    if (path && file_read(path, STATE_BYTES_MAX, &bytes, &e) == 0) {
        char *rest = arena_strdup(&cli->arena, text_str(&bytes));
        for (char *line; (line = strsep(&rest, "\n")) != NULL;)
            read_line(line, m);
    }
    text_release(&bytes);
}

/* A name with a newline would be two lines: it is not remembered. */
static bool is_line(const char *s)
{
    return s && !strchr(s, '\n');
}

void cli_store(struct cli *cli, const char *id, const struct cli_memory *m)
{
    const char *path = state_file(cli, id);
    struct text lines;
    struct err e;
    if (!path)
        return;
    text_init(&lines);
    text_addf(&lines, "%s %s\n", PROGRESS[m->progress], is_line(m->file) ? m->file : "");
    if (m->seed && is_line(m->failing))
        text_addf(&lines, "failing %" PRIu64 " %s\n", m->seed, m->failing);
    if (m->hints)
        text_addf(&lines, "hints %u\n", m->hints);
    const char *folder = arena_strndup(&cli->arena, path, (size_t)(strrchr(path, '/') - path));
    if (file_make_dirs(folder, &e) == 0)
        (void)file_write(path, text_str(&lines), lines.length, &e);
    text_release(&lines);
}

int cli_forget(struct cli *cli, const char *id, struct err *e)
{
    const char *path = state_file(cli, id);
    if (!path || unlink(path) == 0)
        return path != NULL;
    return errno == ENOENT || errno == ENOTDIR ? 0 : err_set_errno(e, "cannot remove %s", path);
}

/* Ours: judging the solutions that come along solves nothing. */
bool cli_comes_along(const struct cli *cli, const char *absolute)
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

void cli_remember(struct cli *cli, const char *id, const char *source, const struct result *result)
{
    char absolute[PATH_MAX];
    struct cli_memory m;
    if (!realpath(source, absolute) || cli_comes_along(cli, absolute))
        return;
    cli_recall(cli, id, &m);
    m.file = absolute;
    if (result->verdict == VERDICT_accepted)
        m.progress = PROGRESS_SOLVED;
    else if (m.progress != PROGRESS_SOLVED)
        m.progress = PROGRESS_TRIED;
    /* A file that does not compile says nothing of the cases. */
    if (result->verdict != VERDICT_compile_error)
        m.failing = NULL;
    for (unsigned i = 0; i < result->case_count && !m.failing; i++)
        if (result->cases[i].verdict != VERDICT_accepted) {
            m.failing = result->cases[i].name;
            m.seed = result->seed;
        }
    cli_store(cli, id, &m);
}
