/* judge watch PROBLEM [FILE.cu]: judges the file whenever it is saved. Each judging is a `judge
 * run` of its own, so that a save in the middle of one can end it. The case that failed last time
 * comes first, with the same data; when it is right, all cases follow. */
#include "cli/cli.h"
#include "cli/saves.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/text.h"
#include "judge/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { WORDS_MAX = 24, REPORT_BYTES_MAX = 16 << 20, GENTLE_MS = 2000 };

enum stage {
    IDLE,
    FAILED_BEFORE, /* the one case */
    ALL_CASES,
};

struct watching {
    struct cli *cli;
    const char *id, *file;
    char absolute[PATH_MAX];
    char exe[PATH_MAX];
    const char *words[WORDS_MAX]; /* of the device and of isolation, for every `judge run` */
    unsigned word_count;
    struct saves saves;
    enum stage stage;
    struct proc judging;
    int judging_fd; /* readable when it has ended */
    struct text out, errors;
    int status; /* of the last whole judging */
};

static int interrupt_pipe[2];

static void note_interrupt(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    if (write(interrupt_pipe[1], &byte, 1) != 1)
        _exit(128 + number);
    errno = saved;
}

/* ---- one judging ---- */

static const char **environment_of(const struct watching *w)
{
    size_t count = 0;
    while (environ[count])
        count++;
    const char **list = arena_array(&w->cli->arena, count + 2, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = environ[i];
    if (cli_use_colour(STDOUT_FILENO)) /* it sees a pipe, we show it */
        list[count] = "CLICOLOR_FORCE=1";
    return list;
}

static int start_stage(struct watching *w, enum stage stage, const struct cli_memory *m)
{
    struct arena *a = &w->cli->arena;
    const char *argv[WORDS_MAX + 16] = {w->exe, "run"};
    unsigned count = 2;
    for (unsigned i = 0; i < w->word_count; i++)
        argv[count++] = w->words[i];
    if (stage == FAILED_BEFORE) {
        argv[count++] = "--case";
        argv[count++] = m->failing;
        argv[count++] = "--seed";
        argv[count++] = arena_printf(a, "%" PRIu64, m->seed);
    }
    argv[count++] = "--";
    argv[count++] = w->id;
    argv[count++] = w->file;
    struct proc_spec spec = {.argv = argv, .environment = environment_of(w), .keep_fd = -1};
    struct err e;
    text_clear(&w->out);
    text_clear(&w->errors);
    if (proc_start(&spec, &w->judging, &e) != 0)
        return cli_failed(w->cli, "%s", e.text);
    w->judging_fd = proc_watch(&w->judging, &e);
    if (w->judging_fd < 0) {
        proc_kill(&w->judging);
        return cli_failed(w->cli, "%s", e.text);
    }
    w->stage = stage;
    progress_show(NULL, arena_printf(a, "judging %s", w->file), 0, 1);
    return STATUS_DONE;
}

static int start_judging(struct watching *w)
{
    struct cli_memory m;
    cli_recall(w->cli, w->id, &m);
    bool same = m.failing && m.file && strcmp(m.file, w->absolute) == 0;
    return start_stage(w, same ? FAILED_BEFORE : ALL_CASES, &m);
}

static void end_judging(struct watching *w, struct proc_end *end)
{
    close(w->judging_fd);
    w->judging_fd = -1;
    proc_finish(&w->judging, end);
    w->stage = IDLE;
    progress_clear();
}

/* A judge that is asked to end leaves nothing half compiled behind. */
static void cancel_judging(struct watching *w)
{
    struct proc_end unused = {0};
    if (w->stage == IDLE)
        return;
    kill(w->judging.pid, SIGTERM);
    struct pollfd ended = {.fd = w->judging_fd, .events = POLLIN};
    while (poll(&ended, 1, GENTLE_MS) < 0 && errno == EINTR)
        continue;
    end_judging(w, &unused);
}

static int show(struct watching *w, const struct proc_end *end)
{
    char clock[16] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    struct text head;
    text_init(&head);
    text_addf(&head, "== %s  ", clock);
    report_add_escaped(&head, w->file);
    text_add(&head, "\n");
    int status = cli_print(w->cli, text_str(&head));
    text_release(&head);
    if (status == STATUS_DONE)
        status = cli_print(w->cli, text_str(&w->out)); /* escaped where it was written */
    fputs(text_str(&w->errors), stderr);
    if (end->how == PROC_EXITED)
        w->status = end->code;
    else
        w->status = cli_failed(w->cli, "the judging ended by signal %d (%s)", end->code,
                               strsignal(end->code));
    if (status == STATUS_DONE && cli_is_terminal(STDOUT_FILENO))
        status = cli_print(w->cli, "\nwaiting for the next save; Ctrl-C ends\n");
    return status;
}

/* The judging has ended by itself. */
static int finish_judging(struct watching *w)
{
    struct proc_end end = {0};
    enum stage stage = w->stage;
    proc_read(&w->judging.stdout_fd, &w->out, REPORT_BYTES_MAX);
    proc_read(&w->judging.stderr_fd, &w->errors, REPORT_BYTES_MAX);
    end_judging(w, &end);
    /* Right now, or no case any more: either way all of them say. */
    if (stage == FAILED_BEFORE && end.how == PROC_EXITED &&
        (end.code == STATUS_DONE || end.code == STATUS_USAGE))
        return start_stage(w, ALL_CASES, NULL);
    return show(w, &end);
}

/* ---- the loop ---- */

static int look_at_file(struct watching *w, bool woken)
{
    if (!saves_look(&w->saves, woken))
        return STATUS_DONE;
    cancel_judging(w);
    return start_judging(w);
}

/* The number of the signal that ended it, or 0 and `status` is a failure of ours. */
static int watch(struct watching *w, int *status)
{
    *status = start_judging(w);
    while (*status == STATUS_DONE) {
        bool works = w->stage != IDLE;
        struct pollfd fds[] = {{.fd = interrupt_pipe[0], .events = POLLIN},
                               {.fd = w->saves.fd, .events = POLLIN},
                               {.fd = works ? w->judging_fd : -1, .events = POLLIN},
                               {.fd = works ? w->judging.stdout_fd : -1, .events = POLLIN},
                               {.fd = works ? w->judging.stderr_fd : -1, .events = POLLIN}};
        int ready = poll(fds, sizeof fds / sizeof fds[0], w->saves.wait_ms);
        if (ready < 0 && errno != EINTR)
            *status = cli_failed(w->cli, "cannot wait for %s: %s", w->file, strerror(errno));
        if (ready < 0)
            continue;
        unsigned char number;
        if (fds[0].revents && read(interrupt_pipe[0], &number, 1) == 1)
            return number;
        if (fds[1].revents || ready == 0) {
            *status = look_at_file(w, ready > 0);
            continue; /* the judging may be another one now */
        }
        if (fds[3].revents)
            proc_read(&w->judging.stdout_fd, &w->out, REPORT_BYTES_MAX);
        if (fds[4].revents)
            proc_read(&w->judging.stderr_fd, &w->errors, REPORT_BYTES_MAX);
        if (fds[2].revents)
            *status = finish_judging(w);
    }
    return 0;
}

static int take_interrupts(struct watching *w)
{
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
    if (pipe2(interrupt_pipe, O_CLOEXEC) != 0)
        return cli_failed(w->cli, "no pipe for signals: %s", strerror(errno));
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART}, before;
        if (sigaction(SIGNALS[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(SIGNALS[i], &action, NULL);
    }
    return STATUS_DONE;
}

/* As people see it from here: "scan.cu" for what is below the folder we are in. */
static const char *from_here(const char *absolute)
{
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length > 1 && strncmp(absolute, here, length) == 0 && absolute[length] == '/';
    return below ? absolute + length + 1 : absolute;
}

/* The one that was named, else that of `new` and of the last time, else <problem>.cu here. */
static int find_file(struct watching *w, const char *named)
{
    struct cli *cli = w->cli;
    struct cli_memory m;
    struct err e;
    cli_recall(cli, w->id, &m);
    w->file = named ? named : m.file && file_exists(m.file) ? from_here(m.file) : NULL;
    if (!w->file)
        w->file = arena_printf(&cli->arena, "%s.cu", w->id);
    if (!file_exists(w->file))
        return cli_wrong(cli, "there is no file %s. The starter goes there with: %s new %s %s",
                         w->file, cli->command, w->id, cli_quoted(cli, w->file));
    if (compile_check_source(w->file, &e) != 0)
        return cli_wrong(cli, "%s", e.text);
    if (!realpath(w->file, w->absolute))
        return cli_wrong(cli, "cannot resolve %s: %s", w->file, strerror(errno));
    if (!m.file || strcmp(m.file, w->absolute) != 0)
        m.failing = NULL; /* of another file */
    m.file = w->absolute;
    if (!cli_comes_along(cli, w->absolute))
        cli_store(cli, w->id, &m);
    return STATUS_DONE;
}

static void add_word(struct watching *w, const char *word)
{
    if (word && w->word_count < WORDS_MAX)
        w->words[w->word_count++] = word;
}

static int take_options(struct watching *w, int argc, char **argv, struct cli_device *device)
{
    int option;
    while ((option = cli_option(w->cli, argc, argv, false)) != OPTION_END) {
        if (option == OPTION_watch_device)
            device->name = optarg;
        else if (option == OPTION_watch_gpu)
            device->gpu = optarg;
        else
            return STATUS_USAGE;
    }
    if (argc - optind < 1 || argc - optind > 2)
        return cli_usage(w->cli, "watch wants a problem, and perhaps a .cu file.");
    int status = cli_choose_device(w->cli, device);
    if (status != STATUS_DONE)
        return status;
    add_word(w, "--device");
    add_word(w, device->on_gpu ? "gpu" : "cpu");
    add_word(w, device->on_gpu ? "--no-timing" : NULL);
    add_word(w, device->gpu ? "--gpu" : NULL);
    add_word(w, device->gpu);
    return STATUS_DONE;
}

int command_watch(struct cli *cli, int argc, char **argv)
{
    struct cli_device device = {0};
    struct watching w = {
        .cli = cli, .status = STATUS_NOT_ACCEPTED, .judging_fd = -1, .judging = {.pid = -1}};
    int status = take_options(&w, argc, argv, &device);
    if (status != STATUS_DONE)
        return status;
    w.id = argv[optind];
    if (!cli_known_problem(cli, w.id))
        return STATUS_USAGE;
    status = find_file(&w, argc - optind == 2 ? argv[optind + 1] : NULL);
    if (status != STATUS_DONE)
        return status;
    ssize_t length = readlink("/proc/self/exe", w.exe, sizeof w.exe - 1);
    if (length <= 0)
        return cli_failed(cli, "cannot find out where the judge itself is: %s", strerror(errno));
    status = take_interrupts(&w);
    if (status != STATUS_DONE)
        return status;
    text_init(&w.out);
    text_init(&w.errors);
    saves_init(&w.saves, w.file);
    int number = watch(&w, &status);
    cancel_judging(&w);
    saves_release(&w.saves);
    text_release(&w.out);
    text_release(&w.errors);
    if (number == SIGINT)
        return w.status;
    if (number) { /* our parent sees what ended us */
        signal(number, SIG_DFL);
        raise(number);
    }
    return status;
}
