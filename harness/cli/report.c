/* judge report RESULT.json...: results that were kept (run --format json or jsonl) in another
 * format. So one judging serves whoever wants to read it. */
#include "cli/cli.h"
#include "cli/options.h"

#include "base/file.h"
#include "base/text.h"

enum { FILE_BYTES_MAX = 256 << 20, POINTS_MAX = 1000000 };

struct report_call {
    const char *format, *output;
    bool verbose;
    uint32_t points;
};

static int parse(struct cli *cli, int argc, char **argv, struct report_call *call)
{
    int option, status = STATUS_DONE;
    while (status == STATUS_DONE && (option = cli_option(cli, argc, argv, false)) != OPTION_END)
        switch (option) {
        case OPTION_report_format:
            call->format = optarg;
            if (!report_find(optarg))
                status = cli_usage(cli, "there is no format '%s'; there are: %s.", optarg,
                                   report_formats());
            break;
        case OPTION_report_output:
            call->output = optarg;
            if (!optarg[0])
                status = cli_usage(cli, "--output wants the name of a file, and got an empty one.");
            break;
        case OPTION_report_points:
            status = cli_parse_number(cli, "points", optarg, 1, POINTS_MAX, &call->points);
            break;
        case OPTION_report_verbose:
            call->verbose = true;
            break;
        default:
            return STATUS_USAGE;
        }
    if (status == STATUS_DONE && optind == argc)
        return cli_usage(cli, "report wants files that run --format json or jsonl wrote.");
    return status;
}

struct results {
    const struct result **items;
    unsigned count;
};

static int read_file(struct cli *cli, const char *path, struct results *all)
{
    struct text json;
    struct result *found = NULL;
    unsigned count = 0;
    struct err e;
    text_init(&json);
    bool ok =
        file_read(path, FILE_BYTES_MAX, &json, &e) == 0 &&
        report_read_all(path, text_str(&json), json.length, &cli->arena, &found, &count, &e) == 0;
    text_release(&json);
    if (!ok)
        return cli_wrong(cli, "%s", e.text);
    const struct result **items =
        arena_array(&cli->arena, (size_t)all->count + count, sizeof(void *));
    for (unsigned i = 0; i < all->count; i++)
        items[i] = all->items[i];
    for (unsigned i = 0; i < count; i++)
        items[all->count + i] = &found[i];
    all->items = items;
    all->count += count;
    return STATUS_DONE;
}

int command_report(struct cli *cli, int argc, char **argv)
{
    struct report_call call = {.format = "text"};
    struct results all = {0};
    int status = parse(cli, argc, argv, &call);
    for (int i = optind; status == STATUS_DONE && i < argc; i++) {
        status = cli_check_output(cli, "output", call.output, NULL);
        if (status == STATUS_DONE && call.output && cli_same_file(call.output, argv[i]))
            status = cli_usage(cli, "--output %s would overwrite what is read.", call.output);
        if (status == STATUS_DONE)
            status = read_file(cli, argv[i], &all);
    }
    if (status != STATUS_DONE)
        return status;
    if (!report_find(call.format)->takes_many && all.count != 1)
        return cli_usage(cli,
                         "the format %s tells of one submission, and here are %u results: call it "
                         "for each, with an --output of its own.",
                         call.format, all.count);
    struct report_options options;
    cli_report_options(cli, &options);
    options.verbose = call.verbose;
    options.points = call.points;
    return cli_deliver(cli, call.format, call.output, &options, all.items, all.count);
}
