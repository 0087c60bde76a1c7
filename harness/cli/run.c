/* judge run PROBLEM FILE.cu: one submission, one report. */
#include "cli/cli.h"

#include "base/rng.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCHEDULES_MAX = 1000000 };

struct run_call {
    struct judge_options judge;
    struct cli_device device;
    const char *format, *output, *trace;
    bool verbose;
};

int cli_parse_number(const struct cli *cli, const char *option, const char *s, uint32_t least,
                     uint32_t most, uint32_t *number)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(s, &end, 10);
    if (s[0] < '0' || s[0] > '9' || errno || *end || value < least || value > most)
        return cli_usage(cli, "--%s takes a whole number from %u to %u, not '%s'.", option, least,
                         most, s);
    *number = (uint32_t)value;
    return STATUS_DONE;
}

int cli_parse_checks(const struct cli *cli, const char *s, uint32_t *checks)
{
    if (wire_checks_parse(s, checks))
        return STATUS_DONE;
    return cli_usage(cli, "--check takes names with commas between them, not '%s'. There are: %s.",
                     s, wire_checks_allowed());
}

int cli_parse_schedule(const struct cli *cli, const char *s, struct pass_choice *choice)
{
    if (pass_choice_parse(s, choice) && choice->seed <= RNG_SEED_MAX)
        return STATUS_DONE;
    return cli_usage(cli,
                     "--schedule takes a name, or a name and a seed as in interleaved:17, not "
                     "'%s'. There are: %s.",
                     s, wire_schedules_allowed());
}

int cli_parse_seed(const struct cli *cli, const char *s, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(s, &end, 10);
    if (s[0] < '0' || s[0] > '9' || errno || *end || *seed == 0 || *seed > RNG_SEED_MAX)
        return cli_usage(cli, "--seed takes a whole number from 1 to 2^53 - 1, not '%s'.", s);
    return STATUS_DONE;
}

static int parse(struct cli *cli, int argc, char **argv, struct run_call *call)
{
    int option, status = STATUS_DONE;
    while (status == STATUS_DONE && (option = cli_option(cli, argc, argv, false)) != OPTION_END)
        switch (option) {
        case OPTION_run_case:
            call->judge.case_name = optarg;
            break;
        case OPTION_run_seed:
            status = cli_parse_seed(cli, optarg, &call->judge.seed);
            break;
        case OPTION_run_format:
            call->format = optarg;
            if (!report_find(optarg))
                status = cli_usage(cli, "there is no format '%s'; there are: %s.", optarg,
                                   report_formats());
            break;
        case OPTION_run_output:
            call->output = optarg;
            if (!optarg[0])
                status = cli_usage(cli, "--output wants the name of a file, and got an empty one.");
            break;
        case OPTION_run_device:
            call->device.name = optarg;
            break;
        case OPTION_run_gpu:
            call->device.gpu = optarg;
            break;
        case OPTION_run_share_card:
            call->judge.share_card = true;
            call->device.gpu_only = "--share-card";
            break;
        case OPTION_run_first_failure:
            call->judge.first_failure = true;
            break;
        case OPTION_run_all_cases:
            call->judge.all_cases = true;
            break;
        case OPTION_run_sanitize:
            call->judge.sanitize = true;
            call->device.gpu_only = "--sanitize";
            break;
        case OPTION_run_no_timing:
            call->judge.no_timing = true;
            call->device.gpu_only = "--no-timing";
            break;
        case OPTION_run_check:
            call->device.cpu_only = "--check";
            status = cli_parse_checks(cli, optarg, &call->judge.checks);
            break;
        case OPTION_run_schedules:
            call->device.cpu_only = "--schedules";
            status = cli_parse_number(cli, "schedules", optarg, 1, SCHEDULES_MAX,
                                      &call->judge.schedules);
            break;
        case OPTION_run_schedule:
            call->device.cpu_only = "--schedule";
            status = cli_parse_schedule(cli, optarg, &call->judge.only);
            break;
        case OPTION_run_profile:
            call->judge.profile = true;
            break;
        case OPTION_run_trace:
            call->trace = optarg;
            call->device.cpu_only = "--trace";
            call->judge.trace = true;
            break;
        case OPTION_run_verbose:
            call->verbose = true;
            break;
        default:
            return STATUS_USAGE;
        }
    if (status == STATUS_DONE && argc - optind != 2)
        return cli_usage(cli, "run wants a problem and a .cu file, and got %d argument%s.",
                         argc - optind, argc - optind == 1 ? "" : "s");
    return status;
}

/* The report goes to stdout, or into a file and then the text to stdout. */
static int deliver(struct cli *cli, const struct run_call *call, const struct result *result)
{
    struct report_options options;
    cli_report_options(cli, &options);
    options.verbose = call->verbose;
    return cli_deliver(cli, call->format, call->output, &options, &result, 1);
}

/* No card, and one was asked for. That was said; whoever reads reports gets one that says so, too.
 */
static void deliver_skipped(struct cli *cli, const struct run_call *call, const char *id,
                            const char *source)
{
    struct result result = {.problem = id,
                            .submission = source,
                            .device = "gpu",
                            .verdict = VERDICT_judge_error,
                            .skipped = call->device.cards.why_none,
                            .compile = {.log = ""}};
    if (call->output || strcmp(call->format, "text") != 0)
        deliver(cli, call, &result);
}

/* The trace of the one case that has one, into the file that was named. */
static int deliver_trace(struct cli *cli, const struct run_call *call, const struct result *result)
{
    const struct result_case *c = NULL;
    for (unsigned i = 0; i < result->case_count; i++)
        if (result->cases[i].trace || result->cases[i].trace_note)
            c = &result->cases[i];
    if (!c)
        return cli_wrong(cli, "--trace: nothing was run, so there is no trace");
    if (!c->trace)
        return cli_wrong(cli, "--trace: %s", c->trace_note);
    return cli_write_trace(cli, call->trace, c->trace, result->submission);
}

int command_run(struct cli *cli, int argc, char **argv)
{
    struct run_call call = {.format = "text"};
    int status = parse(cli, argc, argv, &call);
    if (status != STATUS_DONE)
        return status;
    const char *id = argv[optind], *source = argv[optind + 1];
    if (!cli_known_problem(cli, id))
        return STATUS_USAGE;
    if (cli_check_output(cli, "output", call.output, source) != STATUS_DONE ||
        cli_check_output(cli, "trace", call.trace, source) != STATUS_DONE)
        return STATUS_USAGE;
    status = cli_choose_device(cli, &call.device);
    if (status == STATUS_JUDGE && call.device.cards.why_none)
        deliver_skipped(cli, &call, id, source);
    if (status != STATUS_DONE)
        return status;
    call.judge.on_gpu = call.device.on_gpu;
    call.judge.cards = &call.device.cards;
    call.judge.waiting = progress_wait;
    call.judge.progress = progress_show;
    call.judge.command = cli->command;
    call.judge.count = call.verbose || strcmp(call.format, "text") != 0;
    struct result result;
    struct err e;
    if (judge_submission(&cli->paths, id, source, &call.judge, &cli->arena, &result, &e) != 0)
        return cli_wrong(cli, "%s", e.text);
    bool is_whole = !call.judge.case_name && !call.judge.only.is_set;
    if (is_whole && result.verdict != VERDICT_judge_error)
        cli_remember(cli, id, source, &result);
    status = deliver(cli, &call, &result);
    if (status == STATUS_DONE && call.trace)
        status = deliver_trace(cli, &call, &result);
    bool for_people = strcmp(call.format, "text") == 0 && !call.output && !call.trace;
    if (status == STATUS_DONE && for_people && (is_whole || result.verdict != VERDICT_accepted))
        status = cli_say_next(cli, &result);
    return status ? status : verdict_exit_status(result.verdict);
}
