/* judge exec PROGRAM.cu: compiles a program that has its own main and runs it with our device in
 * the place of NVIDIA's. It is the caller's own program, run as the caller, with the caller's
 * terminal: nothing is captured and nothing is limited. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/proc.h"
#include "judge/compile/compile.h"
#include "judge/problem/target.h"
#include "judge/report/profile.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { RESIDENT_MAX = 1 << 30, THREADS_MAX = 1024 };

/* Our environment with the variables that the drop-in library looks at. */
static const char **environment_for(struct cli *cli, const char *source, const char *libraries)
{
    struct arena *a = &cli->arena;
    static const char *const OURS[] = {
        "LD_LIBRARY_PATH=", "SCANJUDGE_REPORT=", "SCANJUDGE_SOURCE="};
    size_t count = 0;
    while (environ[count])
        count++;
    const char **list = arena_array(a, count + 4, sizeof *list);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (size_t k = 0; k < sizeof OURS / sizeof OURS[0]; k++)
            replaced |= strncmp(environ[i], OURS[k], strlen(OURS[k])) == 0;
        if (!replaced)
            list[used++] = environ[i];
    }
    const char *before = getenv("LD_LIBRARY_PATH");
    list[used++] = arena_printf(a, "LD_LIBRARY_PATH=%s%s%s", libraries,
                                before && before[0] ? ":" : "", before ? before : "");
    list[used++] = "SCANJUDGE_REPORT=1";
    list[used++] = arena_printf(a, "SCANJUDGE_SOURCE=%s", file_base_name(source));
    return list;
}

/* 0 and `program` is it, `libraries` the folder of the libcudart to run it with; else a message and
 * an exit status. */
static int build_program(struct cli *cli, const char *source, const char *target, bool on_gpu,
                         const char **program, const char **libraries)
{
    struct toolkit toolkit;
    struct compile_result result;
    struct err e;
    if (compile_check_source(source, &e) != 0)
        return cli_wrong(cli, "%s", e.text);
    if (toolkit_find(cli->paths.cache, &cli->arena, &toolkit, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    const char *cudart = on_gpu ? toolkit_cudart(&toolkit, &cli->arena) : cli->paths.cudart;
    if (!cudart)
        return cli_failed(cli, "the CUDA Toolkit in %s has no libcudart.so.13", toolkit.home);
    *libraries = arena_strndup(&cli->arena, cudart, (size_t)(file_base_name(cudart) - cudart) - 1);
    const char *slash = strrchr(source, '/');
    const char *folder =
        slash ? arena_strndup(&cli->arena, source, slash == source ? 1 : (size_t)(slash - source))
              : ".";
    char *absolute = realpath(folder, NULL); /* nvcc runs in a folder of its own */
    const char *include_folders[] = {absolute ? absolute : folder, NULL};
    struct compile_spec spec = {
        .source = source,
        .target = target,
        .cache_folder = cli->paths.cache,
        .include_folders = include_folders,
        .limit_ns = 600000000000u,
        .log_bytes = (uint64_t)256 << 10,
        .program = true,
        .in_place = true,
    };
    progress_show(NULL, "compiling", 0, 1);
    int status = compile(&toolkit, &spec, &cli->arena, &result, &e);
    progress_clear();
    free(absolute);
    if (status != 0)
        return cli_failed(cli, "%s", e.text);
    if (result.log && result.log[0]) {
        struct text log;
        text_init(&log);
        report_add_escaped(&log, result.log);
        fprintf(stderr, "%s%s", text_str(&log), log.data[log.length - 1] == '\n' ? "" : "\n");
        text_release(&log);
    }
    if (!result.ok) {
        fprintf(stderr, "judge: %s\n",
                result.timed_out ? "the compiler was not done after ten minutes"
                                 : "the program does not compile");
        if (result.log && strstr(result.log, "undefined reference to `main'"))
            cli_wrong(cli, "there is no main() in %s; to judge a submission: %s run PROBLEM %s",
                      file_base_name(source), cli->command, source);
        return STATUS_NOT_ACCEPTED;
    }
    *program = result.library;
    return STATUS_DONE;
}

/* Sets a variable that the device looks at; the program inherits it. */
static int pass_on(struct cli *cli, const char *variable, const char *value)
{
    if (setenv(variable, value, 1) != 0)
        return cli_failed(cli, "%s cannot be set: %s", variable, strerror(errno));
    return STATUS_DONE;
}

static int pass_on_schedule(struct cli *cli, const char *text)
{
    struct pass_choice choice;
    int status = cli_parse_schedule(cli, text, &choice);
    if (status == STATUS_DONE)
        status = pass_on(cli, "SCANJUDGE_SCHEDULE", wire_schedule_key(choice.schedule));
    if (status == STATUS_DONE && choice.has_seed)
        status = pass_on(cli, "SCANJUDGE_SEED", strchr(text, ':') + 1);
    return status;
}

static int pass_on_number(struct cli *cli, const char *option, const char *variable, uint32_t most)
{
    uint32_t number;
    int status = cli_parse_number(cli, option, optarg, 0, most, &number);
    return status == STATUS_DONE ? pass_on(cli, variable, optarg) : status;
}

/* What the call asks for besides what the device is told. */
struct exec_call {
    struct cli_device device;
    bool profile;
    const char *target, *trace; /* trace: where it goes, NULL = nowhere */
    char folder[PATH_MAX];      /* where the device leaves what it noted; "" = none */
};

/* "--trace" for an option that only the CPU device has, else what was there before. */
static const char *cpu_only_after(struct cli *cli, int option, const char *before)
{
    if (option == OPTION_WRONG || option == OPTION_exec_device || option == OPTION_exec_gpu ||
        option == OPTION_exec_target)
        return before;
    return arena_printf(&cli->arena, "--%s", OPTION_ROWS[option].name);
}

static int take_option(struct cli *cli, int option, struct exec_call *call)
{
    uint32_t checks;
    int status;
    call->device.cpu_only = cpu_only_after(cli, option, call->device.cpu_only);
    switch (option) {
    case OPTION_exec_device:
        call->device.name = optarg;
        return STATUS_DONE;
    case OPTION_exec_gpu:
        call->device.gpu = optarg;
        return STATUS_DONE;
    case OPTION_exec_check:
        status = cli_parse_checks(cli, optarg, &checks);
        return status == STATUS_DONE ? pass_on(cli, "SCANJUDGE_CHECKS", optarg) : status;
    case OPTION_exec_schedule:
        return pass_on_schedule(cli, optarg);
    case OPTION_exec_delay_stores:
        return pass_on(cli, "SCANJUDGE_DELAY_STORES", "1");
    case OPTION_exec_resident:
        return pass_on_number(cli, "resident", "SCANJUDGE_RESIDENT", RESIDENT_MAX);
    case OPTION_exec_threads:
        return pass_on_number(cli, "threads", "SCANJUDGE_THREADS", THREADS_MAX);
    case OPTION_exec_target:
        call->target = target_find(optarg);
        return call->target ? STATUS_DONE
                            : cli_usage(cli, "--target takes one of %s, not '%s'.",
                                        targets_allowed(), optarg);
    case OPTION_exec_profile:
        call->profile = true;
        return STATUS_DONE;
    case OPTION_exec_trace:
        call->trace = optarg;
        return cli_check_output(cli, "trace", optarg, NULL);
    case OPTION_exec_stream_order:
        if (wire_stream_order_find(optarg) == WIRE_STREAM_ORDER_COUNT)
            return cli_usage(cli, "--stream-order takes one of %s, not '%s'.",
                             wire_stream_orders_allowed(), optarg);
        return pass_on(cli, "SCANJUDGE_STREAM_ORDER", optarg);
    default:
        return STATUS_USAGE;
    }
}

/* A folder for what the device notes, and the variable that tells it. */
static int ask_for_notes(struct cli *cli, struct exec_call *call)
{
    struct err e;
    if (!call->profile && !call->trace)
        return STATUS_DONE;
    if (file_make_temp_dir(call->folder, sizeof call->folder, "scanjudge-exec", &e) != 0)
        return cli_failed(cli, "%s", e.text);
    const char *folder = call->folder;
    int status = STATUS_DONE;
    if (call->profile)
        status = pass_on(cli, "SCANJUDGE_PROFILE", arena_printf(&cli->arena, "%s/profile", folder));
    if (status == STATUS_DONE && call->trace)
        status = pass_on(cli, "SCANJUDGE_TRACE", arena_printf(&cli->arena, "%s/trace", folder));
    return status;
}

static int take_trace(struct cli *cli, const struct exec_call *call, const char *source)
{
    struct text bytes;
    struct err e;
    text_init(&bytes);
    const char *path = arena_printf(&cli->arena, "%s/trace", call->folder);
    int status;
    if (!file_exists(path)) {
        status = cli_failed(cli, "there is no trace: the program ended early, or did not use the "
                                 "device");
    } else if (file_read(path, WIRE_TRACE_BYTES, &bytes, &e) != 0) {
        status = cli_failed(cli, "%s", e.text);
    } else {
        struct wire_trace *trace = arena_alloc(&cli->arena, bytes.length + sizeof *trace);
        memcpy(trace, bytes.data, bytes.length);
        status = wire_trace_validate(trace, bytes.length)
                     ? cli_write_trace(cli, call->trace, trace, source)
                     : cli_failed(cli, "the trace that the program left is none");
    }
    text_release(&bytes);
    return status;
}

/* A program may have written anything there. */
static int show_profile(struct cli *cli, const struct exec_call *call, const char *source)
{
    enum { SOURCE_MOST = 1 << 20 };
    static struct wire_profile profile;
    struct text bytes, code, out;
    struct err e;
    text_init(&bytes);
    text_init(&code);
    text_init(&out);
    const char *path = arena_printf(&cli->arena, "%s/profile", call->folder);
    int status = STATUS_DONE;
    if (!file_exists(path)) {
        status = cli_failed(cli, "there is no profile: the program ended early, or did not use the "
                                 "device");
    } else if (file_read(path, sizeof profile, &bytes, &e) != 0 ||
               file_read(source, SOURCE_MOST, &code, &e) != 0) {
        status = cli_failed(cli, "%s", e.text);
    } else {
        memcpy(&profile, bytes.data, bytes.length);
        if (bytes.length != sizeof profile || !wire_profile_validate(&profile)) {
            status = cli_failed(cli, "the profile that the program left is none");
        } else {
            text_addf(&out, "profile\n");
            report_profile(&profile, file_base_name(source), text_str(&code), &out);
            fputs(text_str(&out), stderr);
        }
    }
    text_release(&bytes);
    text_release(&code);
    text_release(&out);
    return status;
}

static int run_program(struct cli *cli, const char *source, const char *libraries, char **argv)
{
    struct proc_spec spec = {.argv = (const char *const *)argv,
                             .environment = environment_for(cli, source, libraries),
                             .keep_fd = -1,
                             .pass_output = true};
    struct proc p;
    struct proc_end end = {0};
    struct err e;
    if (proc_start(&spec, &p, &e) != 0)
        return cli_failed(cli, "%s", e.text);
    int watch_fd = proc_watch(&p, &e);
    if (watch_fd < 0) {
        proc_kill(&p);
        return cli_failed(cli, "%s", e.text);
    }
    struct pollfd ended = {.fd = watch_fd, .events = POLLIN};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR)
        continue;
    close(watch_fd);
    proc_finish(&p, &end);
    if (end.how == PROC_SIGNALLED)
        fprintf(stderr, "judge: %s was killed by signal %d (%s)\n", file_base_name(source),
                end.code, strsignal(end.code));
    else if (end.how == PROC_EXITED && end.code != 0)
        fprintf(stderr, "judge: the program returned %d\n", end.code);
    return end.how == PROC_EXITED && end.code == 0 ? STATUS_DONE : STATUS_NOT_ACCEPTED;
}

static const char *uuids_of(struct cli *cli, const struct cards *cards)
{
    const char *list = "";
    for (unsigned i = 0; i < cards->count; i++)
        list = arena_printf(&cli->arena, "%s%s%s", list, i ? "," : "", cards->items[i].uuid);
    return list;
}

/* The card and what to compile for. It is not locked: whoever runs a program of their own times it,
 * or not, as they like. */
static int choose_device(struct cli *cli, struct exec_call *call)
{
    int status = cli_choose_device(cli, &call->device);
    const struct cards *cards = &call->device.cards;
    if (status == STATUS_DONE && call->device.on_gpu) {
        if (!call->target)
            call->target = target_for_card(target_default(), cards_capability(cards));
        if (call->device.gpu)
            status = pass_on(cli, "CUDA_VISIBLE_DEVICES", uuids_of(cli, cards));
    }
    if (!call->target)
        call->target = target_default();
    return status;
}

int command_exec(struct cli *cli, int argc, char **argv)
{
    int option;
    struct exec_call call = {0};
    while ((option = cli_option(cli, argc, argv, true)) != OPTION_END) {
        int status = take_option(cli, option, &call);
        if (status != STATUS_DONE)
            return status;
    }
    if (optind >= argc)
        return cli_usage(cli, "exec wants a .cu file.");
    int chosen = choose_device(cli, &call);
    if (chosen != STATUS_DONE)
        return chosen;
    const char *source = argv[optind], *program = NULL, *libraries = NULL;
    int status = build_program(cli, source, call.target, call.device.on_gpu, &program, &libraries);
    if (status == STATUS_DONE)
        status = ask_for_notes(cli, &call);
    if (status != STATUS_DONE)
        return status;
    argv[optind] = (char *)(uintptr_t)program; /* argv[0] of the program; the rest follows */
    status = run_program(cli, source, libraries, argv + optind);
    if (call.profile) {
        int shown = show_profile(cli, &call, source);
        status = status == STATUS_DONE ? shown : status;
    }
    if (call.trace) {
        int taken = take_trace(cli, &call, source);
        status = status == STATUS_DONE ? taken : status;
    }
    if (call.folder[0])
        file_remove_tree(call.folder, NULL);
    return status;
}
