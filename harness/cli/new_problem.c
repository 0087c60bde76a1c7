/* judge new-problem ID: the folders of a problem with everything but the kernel. Options describe
 * it; without any, questions are asked on stdin, and an empty line takes what stands in brackets.
 */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "judge/problem/scaffold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int add_after(struct cli *cli, struct scaffold *s, const char *id)
{
    if (!cli_known_problem(cli, id))
        return STATUS_USAGE;
    if (s->after_count == SCAFFOLD_AFTER_MAX)
        return cli_usage(cli, "--after: more than %d problems.", SCAFFOLD_AFTER_MAX);
    s->after[s->after_count++] = id;
    return STATUS_DONE;
}

static int add_buffer(struct cli *cli, struct scaffold *s, const char *words, bool is_output)
{
    struct err e;
    if (scaffold_add_buffer(s, words, is_output, &cli->arena, &e) != 0)
        return cli_usage(cli, "%s.", e.text);
    return STATUS_DONE;
}

static int take_option(struct cli *cli, struct scaffold *s, int option, const char *value)
{
    switch (option) {
    case OPTION_new_problem_title:
        s->title = value;
        return STATUS_DONE;
    case OPTION_new_problem_title_zh:
        s->title_zh = value;
        return STATUS_DONE;
    case OPTION_new_problem_difficulty:
        s->difficulty = value;
        return STATUS_DONE;
    case OPTION_new_problem_entry:
        s->entry = value;
        return STATUS_DONE;
    case OPTION_new_problem_input:
    case OPTION_new_problem_output:
        return add_buffer(cli, s, value, option == OPTION_new_problem_output);
    case OPTION_new_problem_after:
        return add_after(cli, s, value);
    default:
        return STATUS_USAGE;
    }
}

/* ---- what stands in for an answer that was not given ---- */

/* "int64-scan": 'I' instead of 'i' and blanks, or an identifier. */
static const char *from_id(struct arena *arena, const char *id, bool is_title)
{
    char *s = arena_strdup(arena, id);
    for (char *c = s; *c; c++)
        if (*c == '-')
            *c = is_title ? ' ' : '_';
    if (is_title && *s >= 'a' && *s <= 'z')
        *s = (char)(*s - 'a' + 'A');
    return s;
}

static int fill_defaults(struct cli *cli, struct scaffold *s)
{
    unsigned outputs = 0;
    for (unsigned i = 0; i < s->buffer_count; i++)
        outputs += s->buffers[i].is_output;
    s->title = s->title ? s->title : from_id(&cli->arena, s->id, true);
    s->entry = s->entry ? s->entry : from_id(&cli->arena, s->id, false);
    s->difficulty = s->difficulty ? s->difficulty : "medium";
    int status = STATUS_DONE;
    if (outputs == s->buffer_count)
        status = add_buffer(cli, s, "in:int32:n", false);
    if (status == STATUS_DONE && outputs == 0)
        status = add_buffer(cli, s, "out:int32:n", true);
    return status;
}

/* ---- the dialogue ---- */

/* The answer without blanks at both ends; NULL if it is empty, or at the end of stdin. */
static char *ask(struct cli *cli, const char *question, const char *otherwise)
{
    char *line = NULL;
    size_t capacity = 0;
    cli_print(cli, arena_printf(&cli->arena, "%s [%s]: ", question, otherwise));
    ssize_t length = getline(&line, &capacity, stdin);
    char *answer = NULL;
    if (length > 0) {
        size_t from = strspn(line, " \t\r\n"), to = (size_t)length;
        while (to > from && strchr(" \t\r\n", line[to - 1]))
            to--;
        answer = to > from ? arena_strndup(&cli->arena, line + from, to - from) : NULL;
    }
    free(line);
    return answer;
}

/* Each word of an answer is the value of an option. */
static int take_words(struct cli *cli, struct scaffold *s, int option, char *answer)
{
    char *state;
    int status = STATUS_DONE;
    for (char *word = answer ? strtok_r(answer, " \t", &state) : NULL;
         word && status == STATUS_DONE; word = strtok_r(NULL, " \t", &state))
        status = take_option(cli, s, option, word);
    return status;
}

static int ask_everything(struct cli *cli, struct scaffold *s)
{
    struct arena *a = &cli->arena;
    s->title = ask(cli, "Title", from_id(a, s->id, true));
    s->title_zh = ask(cli, "Title in Chinese", "none");
    s->difficulty = ask(cli, "Difficulty: easy, medium or hard", "medium");
    s->entry = ask(cli, "Name of the function", from_id(a, s->id, false));
    int status = take_words(cli, s, OPTION_new_problem_input,
                            ask(cli, "Inputs, name:type:shape, with blanks between", "in:int32:n"));
    if (status == STATUS_DONE)
        status =
            take_words(cli, s, OPTION_new_problem_output,
                       ask(cli, "Outputs, name:type:shape, with blanks between", "out:int32:n"));
    if (status == STATUS_DONE)
        status = take_words(cli, s, OPTION_new_problem_after,
                            ask(cli, "Problems to solve first", "none"));
    return status;
}

/* ---- writing ---- */

static bool is_id(const char *id)
{
    size_t length = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return length > 0 && length < 64 && !id[length] && id[0] != '-' && id[length - 1] != '-';
}

static int refuse_to_overwrite(struct cli *cli, const char *id)
{
    static const char *const FOLDERS[] = {"problems", "reference", "submissions"};
    for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
        const char *path = arena_printf(&cli->arena, "%s/%s/%s", cli->paths.root, FOLDERS[i], id);
        struct stat st;
        if (lstat(path, &st) == 0)
            return cli_wrong(cli, "%s is already there; choose another id, or remove it", path);
    }
    return STATUS_DONE;
}

static int write_files(struct cli *cli, const struct scaffold *s)
{
    struct scaffold_file files[SCAFFOLD_FILES_MAX];
    unsigned count;
    struct err e;
    struct arena *a = &cli->arena;
    if (scaffold_files(s, a, files, &count, &e) != 0)
        return cli_wrong(cli, "%s", e.text);
    for (unsigned i = 0; i < count; i++) {
        const char *path = arena_printf(a, "%s/%s", cli->paths.root, files[i].path);
        const char *folder = arena_strndup(a, path, (size_t)(strrchr(path, '/') - path));
        if (file_make_dirs(folder, &e) != 0 ||
            file_write(path, files[i].text, strlen(files[i].text), &e) != 0)
            return cli_failed(cli, "%s", e.text);
        cli_print(cli, arena_printf(a, "wrote %s\n", files[i].path));
    }
    return cli_print(cli, arena_printf(a,
                                       "next: fill in the kernel of reference/%s/serial.cu, then\n"
                                       "  %s verify %s\nproblems/README.md has the rest.\n",
                                       s->id, cli->command, s->id));
}

int command_new_problem(struct cli *cli, int argc, char **argv)
{
    struct scaffold s = {0};
    bool described = false;
    int option, status = STATUS_DONE;
    while ((option = cli_option(cli, argc, argv, false)) != OPTION_END) {
        status = take_option(cli, &s, option, optarg);
        if (status != STATUS_DONE)
            return status;
        described = true;
    }
    if (argc - optind != 1)
        return cli_usage(cli, "new-problem wants the id of the problem, such as strided-scan.");
    s.id = argv[optind];
    if (!is_id(s.id))
        return cli_usage(
            cli, "'%s' cannot be an id: small letters, digits, and hyphens between them.", s.id);
    status = refuse_to_overwrite(cli, s.id);
    if (status == STATUS_DONE && !described)
        status = ask_everything(cli, &s);
    if (status == STATUS_DONE)
        status = fill_defaults(cli, &s);
    return status == STATUS_DONE ? write_files(cli, &s) : status;
}
