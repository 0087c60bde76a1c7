/* judge grade DIR: a whole class. Results go into a folder beside DIR, so that the next call judges
 * only what is new; the tables are printed, and written there as CSV and JSON lines. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "judge/grade/grade.h"
#include "judge/grade/slurm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SBATCH_WORDS_MAX = 32, JOBS_MAX = 256, WORDS_MAX = 32 };
static const unsigned SECONDS_BETWEEN_LINES = 30;

struct grade_options {
    struct judge_options judge;
    struct cli_device device;
    const char *results, *format, *only, *seed;
    uint32_t jobs, chunk;
    bool merge, slurm, require_accepted;
    const char *sbatch[SBATCH_WORDS_MAX + 1];
    unsigned sbatch_count;
};

static int take_option(struct cli *cli, int option, struct grade_options *o)
{
    switch (option) {
    case OPTION_grade_jobs:
        return cli_parse_number(cli, "jobs", optarg, 1, JOBS_MAX, &o->jobs);
    case OPTION_grade_results:
        o->results = optarg;
        return optarg[0] ? STATUS_DONE : cli_usage(cli, "--results wants the name of a folder.");
    case OPTION_grade_format:
        o->format = optarg;
        return report_find(optarg) ? STATUS_DONE
                                   : cli_usage(cli, "there is no format '%s'; there are: %s.",
                                               optarg, report_formats());
    case OPTION_grade_seed:
        o->seed = optarg;
        return cli_parse_seed(cli, optarg, &o->judge.seed);
    case OPTION_grade_device:
        o->device.name = optarg;
        return STATUS_DONE;
    case OPTION_grade_gpu:
        o->device.gpu = optarg;
        return STATUS_DONE;
    case OPTION_grade_no_timing:
        o->judge.no_timing = true;
        return STATUS_DONE;
    case OPTION_grade_all_cases:
        o->judge.all_cases = true;
        return STATUS_DONE;
    case OPTION_grade_only:
        o->only = optarg;
        return STATUS_DONE;
    case OPTION_grade_merge:
        o->merge = true;
        return STATUS_DONE;
    case OPTION_grade_require_accepted:
        o->require_accepted = true;
        return STATUS_DONE;
    case OPTION_grade_slurm:
        o->slurm = true;
        return STATUS_DONE;
    case OPTION_grade_chunk:
        return cli_parse_number(cli, "chunk", optarg, 1, 1000000, &o->chunk);
    case OPTION_grade_sbatch:
        if (o->sbatch_count == SBATCH_WORDS_MAX)
            return cli_usage(cli, "--sbatch may be given %d times.", SBATCH_WORDS_MAX);
        o->sbatch[o->sbatch_count++] = optarg;
        return STATUS_DONE;
    default:
        return STATUS_USAGE;
    }
}

static int parse(struct cli *cli, int argc, char **argv, struct grade_options *o)
{
    int option, status = STATUS_DONE;
    while (status == STATUS_DONE && (option = cli_option(cli, argc, argv, false)) != OPTION_END)
        status = take_option(cli, option, o);
    if (status != STATUS_DONE)
        return status;
    if (argc - optind != 1)
        return cli_usage(cli, "grade wants one folder (or manifest), and got %d argument%s.",
                         argc - optind, argc - optind == 1 ? "" : "s");
    if (o->slurm && (o->merge || o->only))
        return cli_usage(cli, "--slurm does not go with --%s.", o->merge ? "merge" : "only");
    if (!o->slurm && (o->chunk || o->sbatch_count))
        return cli_usage(cli, "--%s is for --slurm.", o->chunk ? "chunk" : "sbatch");
    return STATUS_DONE;
}

/* ---- where ---- */

/* The absolute path, NULL after a message. */
static const char *absolute_path(struct cli *cli, const char *path)
{
    char *resolved = realpath(path, NULL);
    if (!resolved) {
        cli_wrong(cli, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    const char *copy = arena_strdup(&cli->arena, resolved);
    free(resolved);
    return copy;
}

/* Beside DIR: what is below it is students'. A folder that is not there yet keeps its last name. */
static const char *results_folder(struct cli *cli, const struct grade_options *o, const char *from)
{
    struct arena *a = &cli->arena;
    if (!o->results)
        return arena_printf(a, "%s-results", strcmp(from, "/") == 0 ? "/class" : from);
    char *resolved = realpath(o->results, NULL);
    if (resolved) {
        const char *copy = arena_strdup(a, resolved);
        free(resolved);
        return copy;
    }
    if (o->results[0] == '/')
        return o->results;
    char folder[PATH_MAX];
    return getcwd(folder, sizeof folder) ? arena_printf(a, "%s/%s", folder, o->results)
                                         : o->results;
}

/* ---- while it works ---- */

static void in_child(void *context)
{
    (void)context;
    cli_watch_interrupts(); /* its own: what it compiles is its own */
}

static void say_left(char *left, size_t bytes, unsigned seconds)
{
    if (seconds == 0)
        left[0] = '\0';
    else if (seconds < 90)
        snprintf(left, bytes, "%u s", seconds);
    else if (seconds < 5400)
        snprintf(left, bytes, "%u min", (seconds + 30) / 60);
    else
        snprintf(left, bytes, "%.1f h", seconds / 3600.0);
}

/* A line on a terminal; elsewhere, a log say, a line every half minute. */
static void show(void *context, unsigned done, unsigned total, unsigned seconds_left)
{
    time_t *last = context, now = time(NULL);
    char left[32];
    say_left(left, sizeof left, seconds_left);
    if (cli_is_terminal(STDERR_FILENO)) {
        progress_left(left);
        progress_show(NULL, "grading", done, total);
        return;
    }
    if (*last == 0)
        *last = now;
    if (now - *last < SECONDS_BETWEEN_LINES)
        return;
    *last = now;
    fprintf(stderr, "judge: %u of %u judged%s%s%s\n", done, total, left[0] ? ", " : "", left,
            left[0] ? " left" : "");
}

/* ---- reports ---- */

static const struct report_options PLAIN;

/* A name of a file for a name of anybody's: no '/', nothing hidden, no control characters, and not
 * longer than file systems allow. */
static const char *file_name_for(struct arena *arena, const char *name)
{
    enum { MOST = 180 };
    struct text safe;
    text_init(&safe);
    for (const char *p = name; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 || c == 0x7f || c == '/' || c == '%' || (c == '.' && p == name))
            text_addf(&safe, "%%%02X", c);
        else
            text_addc(&safe, *p);
    }
    const char *result = text_str(&safe);
    if (safe.length > MOST) {
        char hex[HASH_HEX_BYTES];
        struct hash h;
        hash_init(&h);
        hash_str(&h, name);
        hash_hex(&h, hex);
        result = arena_printf(arena, "%.*s-%.16s", MOST, result, hex);
    }
    result = arena_strdup(arena, result);
    text_release(&safe);
    return result;
}

/* reports/<format>/<student>/<what stands behind it in the file's name>.<extension> */
static int write_one_report(const struct grade *g, const struct sheet_row *row,
                            const struct report_format *format, const struct result *result,
                            struct arena *arena, struct err *e)
{
    const char *file = row->file;
    size_t length = strlen(row->student);
    if (strncmp(file, row->student, length) == 0 && file[length] == '/')
        file += length + 1;
    const char *folder = arena_printf(arena, "%s/reports/%s/%s", g->store.folder, format->name,
                                      file_name_for(arena, row->student));
    const char *path =
        arena_printf(arena, "%s/%s.%s", folder, file_name_for(arena, file), format->extension);
    struct text out;
    text_init(&out);
    format->write(&result, 1, &PLAIN, &out);
    int status = file_make_dirs(folder, e);
    if (status == 0)
        status = file_write(path, text_str(&out), out.length, e);
    text_release(&out);
    return status;
}

static int read_result(const struct grade *g, const struct sheet_row *row, struct arena *arena,
                       struct result *result, struct err *e)
{
    json_t *value = grade_result(g, row, e);
    char *dump = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    int status = dump ? report_read(g->store.path, dump, arena, result, e) : -1;
    free(dump);
    json_decref(value);
    return status;
}

/* A document about all of them, or a file for each. */
static int write_reports(const struct grade *g, const struct sheet *sheet,
                         const struct report_format *format, struct err *e)
{
    struct arena arena;
    unsigned count = 0;
    int status = 0;
    arena_init(&arena);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    const struct result **all = arena_array(&arena, sheet->row_count, sizeof all[0]);
    for (unsigned i = 0; i < sheet->row_count && status == 0; i++) {
        struct arena own;
        struct result *result = arena_alloc(&arena, sizeof *result);
        if (!sheet->rows[i].is_judged)
            continue;
        arena_init(&own);
        status = read_result(g, &sheet->rows[i], format->takes_many ? &arena : &own, result, e);
        if (status == 0 && !format->takes_many)
            status = write_one_report(g, &sheet->rows[i], format, result, &own, e);
        else
            all[count++] = result;
        arena_release(&own);
    }
    if (status == 0 && format->takes_many) {
        const char *path = arena_printf(&arena, "%s/report.%s", g->store.folder, format->extension);
        struct text out;
        text_init(&out);
        format->write(all, count, &PLAIN, &out);
        status = file_write(path, text_str(&out), out.length, e);
        text_release(&out);
    }
    arena_release(&arena);
    return status;
}

static int write_sheet(const struct grade *g, const struct sheet *sheet, const char *name,
                       void (*write)(const struct sheet *s, struct text *out), struct err *e)
{
    struct text out;
    struct arena arena;
    text_init(&out);
    arena_init(&arena);
    write(sheet, &out);
    int status = file_write(arena_printf(&arena, "%s/%s", g->store.folder, name), text_str(&out),
                            out.length, e);
    arena_release(&arena);
    text_release(&out);
    return status;
}

/* Files first: who reads the table finds them there. */
static int deliver(struct cli *cli, const struct grade_options *o, struct grade *g)
{
    struct sheet sheet;
    struct sheet_counts counts;
    struct text out;
    struct err e;
    grade_sheet(g, &sheet);
    sheet_count(&sheet, &counts);
    if (write_sheet(g, &sheet, "grades.csv", report_sheet_csv, &e) != 0 ||
        write_sheet(g, &sheet, "grades.jsonl", report_sheet_jsonl, &e) != 0 ||
        (o->format && write_reports(g, &sheet, report_find(o->format), &e) != 0))
        return cli_failed(cli, "%s", e.text);
    text_init(&out);
    report_sheet_text(&sheet, &out);
    text_add(&out, "results: ");
    report_add_escaped(&out, g->store.folder);
    text_add(&out, "/ (grades.csv, grades.jsonl)\n");
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    if (status != STATUS_DONE)
        return status;
    if (counts.judge_errors || counts.not_judged)
        return STATUS_JUDGE;
    for (unsigned i = 0; o->require_accepted && i < sheet.row_count; i++)
        if (sheet.rows[i].is_best && sheet.rows[i].verdict != VERDICT_accepted)
            return STATUS_NOT_ACCEPTED;
    return STATUS_DONE;
}

static void tell_notes(struct cli *cli, struct grade *g)
{
    for (const char *at = text_str(&g->notes); *at;) {
        size_t length = strcspn(at, "\n");
        cli_failed(cli, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
    }
    text_clear(&g->notes);
}

/* ---- a cluster ---- */

/* What each task has to be told again. */
static const char **words_for_tasks(struct cli *cli, const struct grade_options *o)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    const char **words = arena_array(&cli->arena, WORDS_MAX, sizeof words[0]);
    unsigned n = 0;
    words[n++] = "--device";
    words[n++] = o->judge.on_gpu ? "gpu" : "cpu";
    if (o->seed) {
        words[n++] = "--seed";
        words[n++] = o->seed;
    }
    if (o->judge.all_cases)
        words[n++] = "--all-cases";
    if (o->judge.on_gpu && o->judge.no_timing)
        words[n++] = "--no-timing";
    cli_isolation_words(words + n);
    return words;
}

static int submit(struct cli *cli, const struct grade_options *o, const struct grade *g)
{
    char *judge = realpath("/proc/self/exe", NULL);
    const struct slurm_call call = {.judge = judge ? judge : "judge",
                                    .from = g->call.from,
                                    .results = g->call.results,
                                    .words = words_for_tasks(cli, o),
                                    .sbatch = o->sbatch,
                                    .chunk = o->chunk,
                                    .workers = o->jobs ? o->jobs : 2,
                                    .on_gpu = o->judge.on_gpu};
    struct slurm_outcome outcome;
    struct err e;
    struct text out;
    int status = STATUS_DONE;
    text_init(&out);
    if (slurm_submit(g, &call, &cli->arena, &outcome, &e) != 0)
        status = cli_failed(cli, "%s", e.text);
    else if (outcome.submitted)
        text_addf(&out,
                  "%u judging%s in %u task%s of job %s, on %s; job %s gathers what they have\n",
                  outcome.submitted, outcome.submitted == 1 ? "" : "s", outcome.tasks,
                  outcome.tasks == 1 ? "" : "s", outcome.array,
                  o->judge.on_gpu ? "a card each" : "the CPU device", outcome.merge);
    else if (!outcome.under_way)
        text_add(&out, "nothing is missing\n");
    if (status == STATUS_DONE && outcome.under_way)
        text_addf(&out, "%u more in tasks that are in the queue or run\n", outcome.under_way);
    if (status == STATUS_DONE)
        status = cli_print(cli, text_str(&out));
    text_release(&out);
    free(judge);
    return status;
}

/* ---- */

/* As many judgings as processors: what one waits for, another one uses. On cards two for each:
 * while one has the card, the other compiles. Each may take a gigabyte. */
static unsigned default_jobs(const struct grade_options *o)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    long gigabytes = pages > 0 ? pages / ((1 << 30) / sysconf(_SC_PAGESIZE)) : 1;
    long jobs = o->judge.on_gpu ? 2 * (long)o->device.cards.count : processors;
    if (jobs > processors)
        jobs = processors;
    if (jobs > gigabytes / 2)
        jobs = gigabytes / 2;
    return jobs < 1 ? 1 : jobs > JOBS_MAX ? JOBS_MAX : (unsigned)jobs;
}

/* A cluster's cards need not be where the call is made. */
static int choose_device(struct cli *cli, struct grade_options *o)
{
    if (o->judge.no_timing && !(o->slurm || o->merge))
        o->device.gpu_only = "--no-timing";
    if ((o->slurm || o->merge) && o->device.name && strcmp(o->device.name, "gpu") == 0) {
        o->judge.on_gpu = true;
        return STATUS_DONE;
    }
    int status = cli_choose_device(cli, &o->device);
    o->judge.on_gpu = o->device.on_gpu;
    o->judge.cards = &o->device.cards;
    return status;
}

int command_grade(struct cli *cli, int argc, char **argv)
{
    struct grade_options o = {0};
    int status = parse(cli, argc, argv, &o);
    if (status == STATUS_DONE)
        status = choose_device(cli, &o);
    if (status != STATUS_DONE)
        return status;
    const char *from = absolute_path(cli, argv[optind]);
    if (!from)
        return STATUS_USAGE;
    o.judge.command = cli->command;
    o.judge.count = true;
    time_t last_line = 0;
    struct grade_call call = {.from = from,
                              .results = results_folder(cli, &o, from),
                              .only = o.only,
                              .paths = &cli->paths,
                              .options = &o.judge,
                              .workers = o.jobs ? o.jobs : default_jobs(&o),
                              .waiting = o.merge,
                              .in_child = in_child,
                              .progress = show,
                              .context = &last_line};
    struct grade grade;
    struct err e;
    enum grade_status got = grade_open(&call, &grade, &e);
    tell_notes(cli, &grade);
    if (got == GRADE_DONE && o.slurm) {
        status = submit(cli, &o, &grade);
    } else {
        if (got == GRADE_DONE && !o.merge)
            got = grade_judge(&grade, &e);
        progress_clear();
        if (got == GRADE_DONE)
            status = deliver(cli, &o, &grade);
    }
    if (got != GRADE_DONE)
        status = got == GRADE_WRONG ? cli_wrong(cli, "%s", e.text) : cli_failed(cli, "%s", e.text);
    grade_close(&grade);
    return status;
}
