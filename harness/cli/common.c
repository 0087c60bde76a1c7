/* What the subcommands share: messages, paths, options, languages. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "judge/problem/suggest.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names and messages may come from a student's file: escaped like everything else. */
static void complain(const char *format, va_list args)
{
    char sentence[4096];
    vsnprintf(sentence, sizeof sentence, format, args);
    struct text line;
    text_init(&line);
    text_add(&line, "judge: ");
    report_add_escaped(&line, sentence);
    text_addc(&line, '\n');
    progress_clear();
    fputs(text_str(&line), stderr);
    text_release(&line);
}

int cli_usage(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    if (cli->subcommand)
        fprintf(stderr, "try: %s help %s\n", cli->command, cli->subcommand);
    return STATUS_USAGE;
}

int cli_wrong(const struct cli *cli, const char *format, ...)
{
    (void)cli;
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return STATUS_USAGE;
}

int cli_failed(const struct cli *cli, const char *format, ...)
{
    (void)cli;
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return STATUS_JUDGE;
}

int cli_print(const struct cli *cli, const char *s)
{
    progress_clear();
    if (fputs(s, stdout) < 0 || fflush(stdout) != 0)
        return cli_failed(cli, "cannot write to stdout: %s", strerror(errno));
    return STATUS_DONE;
}

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

int cli_find_paths(struct cli *cli, struct err *e)
{
    char exe[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (length <= 0)
        return err_set_errno(e, "cannot find out where the judge itself is");
    exe[length] = '\0';
    *strrchr(exe, '/') = '\0';
    struct arena *a = &cli->arena;
    const char *root = from_environment("SCANJUDGE_ROOT");
    const char *cache = from_environment("SCANJUDGE_CACHE");
    const char *xdg = from_environment("XDG_CACHE_HOME"), *home = from_environment("HOME");
    cli->paths.root = root ? root : SJ_SOURCE_ROOT;
    cli->paths.runner = arena_printf(a, "%s/runner", exe);
    cli->build_lib = arena_printf(a, "%.*s/lib", (int)(strrchr(exe, '/') - exe), exe);
    cli->paths.meter = arena_printf(a, "%s/libsj_meter.so", cli->build_lib);
    cli->paths.cudart = arena_printf(a, "%s/libcudart.so.13", cli->build_lib);
    cli->paths.cache = cache  ? cache
                       : xdg  ? arena_printf(a, "%s/scanjudge", xdg)
                       : home ? arena_printf(a, "%s/.cache/scanjudge", home)
                              : arena_printf(a, "/tmp/scanjudge-%u", (unsigned)getuid());
    /* For tests without a card: a driver, a runtime and tools of theirs. */
    cli->nvml = cli->paths.nvml = from_environment("SCANJUDGE_NVML");
    cli->paths.gpu_cudart = from_environment("SCANJUDGE_GPU_CUDART");
    cli->paths.locks = from_environment("SCANJUDGE_LOCKS");
    return 0;
}

const char *cli_nearest(struct cli *cli, const char *name, const char *const *names, size_t count)
{
    const char *near = suggest(name, names, count);
    return near ? arena_printf(&cli->arena, " Did you mean '%s'?", near) : "";
}

bool cli_known_problem(struct cli *cli, const char *id)
{
    const char **ids;
    struct err e;
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0) {
        cli_wrong(cli, "%s", e.text);
        return false;
    }
    size_t count = 0;
    for (; ids[count]; count++)
        if (strcmp(ids[count], id) == 0)
            return true;
    const char *near = cli_nearest(cli, id, ids, count);
    cli_wrong(cli, "there is no problem '%s'.%s", id,
              near[0] ? near : arena_printf(&cli->arena, " '%s list' shows them.", cli->command));
    return false;
}

int cli_load_problem(struct cli *cli, const char *id, struct problem *p)
{
    struct err e;
    if (!cli_known_problem(cli, id))
        return STATUS_USAGE;
    if (problem_load(cli->paths.root, id, &cli->arena, p, &e) != 0)
        return cli_wrong(cli, "%s", e.text);
    return STATUS_DONE;
}

bool cli_prefers_chinese(void)
{
    const char *lang = from_environment("LC_ALL");
    if (!lang)
        lang = from_environment("LC_MESSAGES");
    if (!lang)
        lang = from_environment("LANG");
    return lang && strncmp(lang, "zh", 2) == 0;
}

bool cli_is_terminal(int fd)
{
    const char *term = from_environment("TERM");
    return term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool cli_use_colour(int fd)
{
    const char *force = from_environment("CLICOLOR_FORCE");
    if (from_environment("NO_COLOR"))
        return false;
    return cli_is_terminal(fd) || (force && strcmp(force, "0") != 0);
}
