/* judge bench PROBLEM FILE.cu...: a table of times; a curve through gnuplot; or two earlier benches
 * side by side. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/proc.h"
#include "judge/bench.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RIVALS_MAX = 16, JSON_BYTES = 16 << 20 };

struct bench_words {
    struct bench_call call;
    struct judge_options judge;
    struct cli_device device;
    const char *rivals[RIVALS_MAX];
    const char *output, *plot, *terminal;
    bool json, compare;
};

/* "curve.svg" -> "svg"; NULL for anything else. */
static const char *terminal_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return !dot ? NULL : strcmp(dot, ".svg") == 0 ? "svg" : strcmp(dot, ".png") == 0 ? "png" : NULL;
}

static int take_option(const struct cli *cli, int option, struct bench_words *w)
{
    switch (option) {
    case OPTION_bench_gpu:
        w->device.gpu = optarg;
        return STATUS_DONE;
    case OPTION_bench_seed:
        return cli_parse_seed(cli, optarg, &w->judge.seed);
    case OPTION_bench_format:
        w->json = strcmp(optarg, "json") == 0;
        if (w->json || strcmp(optarg, "text") == 0)
            return STATUS_DONE;
        return cli_usage(cli, "bench has the formats text and json, and not '%s'.", optarg);
    case OPTION_bench_output:
        w->output = optarg;
        return optarg[0] ? STATUS_DONE : cli_usage(cli, "--output wants the name of a file.");
    case OPTION_bench_plot:
        w->plot = optarg;
        w->terminal = terminal_of(optarg);
        if (w->terminal)
            return STATUS_DONE;
        return cli_usage(cli, "--plot takes a name that ends in .svg or .png, not '%s'.", optarg);
    case OPTION_bench_compare:
        w->compare = true;
        return STATUS_DONE;
    case OPTION_bench_all_rungs:
        w->call.all_rungs = true;
        return STATUS_DONE;
    case OPTION_bench_with:
        if (w->call.rival_count == RIVALS_MAX)
            return cli_usage(cli, "--with may be given %d times at most.", RIVALS_MAX);
        w->rivals[w->call.rival_count++] = optarg;
        return STATUS_DONE;
    default:
        return STATUS_USAGE;
    }
}

/* ---- two earlier ones ---- */

static int load(struct cli *cli, const char *path, struct bench *b)
{
    struct text json;
    struct err e;
    text_init(&json);
    int status = file_read(path, JSON_BYTES, &json, &e);
    if (status == 0)
        status = report_bench_read(path, text_str(&json), &cli->arena, b, &e);
    text_release(&json);
    return status == 0 ? STATUS_DONE : cli_wrong(cli, "%s", e.text);
}

static int compare(struct cli *cli, int argc, char **argv)
{
    struct bench before, after;
    struct text out;
    if (argc - optind != 2)
        return cli_usage(cli, "--compare wants two files that bench --format json wrote.");
    int status = load(cli, argv[optind], &before);
    if (status == STATUS_DONE)
        status = load(cli, argv[optind + 1], &after);
    if (status != STATUS_DONE)
        return status;
    text_init(&out);
    report_bench_compare(&before, &after, &out);
    status = cli_print(cli, text_str(&out));
    text_release(&out);
    return status;
}

/* ---- a curve ---- */

static int run_gnuplot(struct cli *cli, const char *script, const char *file)
{
    const char *argv[] = {"gnuplot", script, NULL};
    const char *environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", "HOME=/tmp", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct proc_end end;
    struct text out, errors;
    struct err e;
    text_init(&out);
    text_init(&errors);
    int status = STATUS_DONE;
    if (proc_run(&spec, 60000000000u, 1 << 16, &out, &errors, &end, &e) != 0)
        status = cli_failed(cli,
                            "--plot needs gnuplot, and %s. On Debian: apt-get install "
                            "gnuplot-nox. The table above is complete without it.",
                            e.text);
    else if (end.how != PROC_EXITED || end.code != 0 || !file_exists(file))
        status = cli_failed(cli, "gnuplot did not draw %s: %.600s", file, text_str(&errors));
    text_release(&out);
    text_release(&errors);
    return status;
}

static int draw(struct cli *cli, const struct bench_words *w, const struct bench *b)
{
    char folder[PATH_MAX];
    struct text script;
    struct err e;
    if (file_make_temp_dir(folder, sizeof folder, "scanjudge-plot", &e) != 0)
        return cli_failed(cli, "%s", e.text);
    const char *path = arena_printf(&cli->arena, "%s/plot", folder);
    text_init(&script);
    report_bench_plot(b, w->terminal, w->plot, &script);
    int status = file_write(path, text_str(&script), script.length, &e) == 0
                     ? run_gnuplot(cli, path, w->plot)
                     : cli_failed(cli, "%s", e.text);
    text_release(&script);
    file_remove_tree(folder, NULL);
    return status;
}

/* ---- all together ---- */

static int deliver(struct cli *cli, const struct bench_words *w, const struct bench *b)
{
    struct text out;
    struct err e;
    int status = STATUS_DONE;
    text_init(&out);
    if (w->output) {
        w->json ? report_bench_json(b, &out) : report_bench_text(b, &out);
        if (cli_write_output(w->output, text_str(&out), out.length, &e) != 0)
            status = cli_failed(cli, "%s", e.text);
        text_clear(&out);
    }
    if (w->json && !w->output)
        report_bench_json(b, &out);
    else
        report_bench_text(b, &out);
    int printed = cli_print(cli, text_str(&out));
    text_release(&out);
    if (status == STATUS_DONE)
        status = printed;
    return status == STATUS_DONE && w->plot ? draw(cli, w, b) : status;
}

/* A submission that failed makes the status 1, as in a judging. */
static int status_of(const struct bench *b)
{
    for (unsigned i = 0; i < b->entrant_count; i++)
        if (b->entrants[i].failed && strcmp(b->entrants[i].role, "submission") == 0)
            return STATUS_NOT_ACCEPTED;
    return STATUS_DONE;
}

int command_bench(struct cli *cli, int argc, char **argv)
{
    struct bench_words w = {
        .device = {.name = "gpu",
                   .advice = "bench times on a card. What a kernel costs can be counted without "
                             "one: run with --verbose, or --profile"}};
    int option, status = STATUS_DONE;
    while (status == STATUS_DONE && (option = cli_option(cli, argc, argv, false)) != OPTION_END)
        status = take_option(cli, option, &w);
    if (status != STATUS_DONE)
        return status;
    if (cli_check_output(cli, "output", w.output, NULL) != STATUS_DONE ||
        cli_check_output(cli, "plot", w.plot, NULL) != STATUS_DONE)
        return STATUS_USAGE;
    if (w.compare)
        return compare(cli, argc, argv);
    if (argc - optind < 1)
        return cli_usage(cli,
                         "bench wants a problem, and .cu files to time beside its references.");
    w.call.problem = argv[optind];
    w.call.files = (const char *const *)argv + optind + 1;
    w.call.file_count = (unsigned)(argc - optind - 1);
    w.call.rivals = w.rivals;
    if (!cli_known_problem(cli, w.call.problem))
        return STATUS_USAGE;
    status = cli_choose_device(cli, &w.device);
    if (status != STATUS_DONE)
        return status;
    w.judge.on_gpu = true;
    w.judge.cards = &w.device.cards;
    w.judge.waiting = progress_wait;
    w.judge.progress = progress_show;
    struct bench bench;
    struct err e;
    bool is_call;
    if (bench_run(&cli->paths, &w.call, &w.judge, &cli->arena, &bench, &is_call, &e) != 0)
        return is_call ? cli_wrong(cli, "%s", e.text) : cli_failed(cli, "%s", e.text);
    status = deliver(cli, &w, &bench);
    return status == STATUS_DONE ? status_of(&bench) : status;
}
