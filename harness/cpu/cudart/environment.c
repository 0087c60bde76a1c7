/* Reading is a table of names. The report is written at the very end of the process (a destructor
 * runs after the program's own atexit functions) or, when host code crashes, from a signal handler
 * on a stack of its own. The handler only formats into its stack and writes; it looks at the
 * findings without the lock, since the thread that holds it may be the one that crashed. */
#include "cpu/cudart/environment.h"

#include "base/file.h"
#include "cpu/cudart/queue.h"
#include "wire/profile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool report_wanted, reported;
static const char *profile_path, *trace_path; /* NULL = not wanted */

/* ---- reading ---- */

static void complain(const char *variable, const char *value, const char *allowed)
{
    fprintf(stderr, "scanjudge: %s: \"%s\" is ignored; allowed: %s\n", variable, value, allowed);
}

static void read_schedule(struct wire_device_config *config)
{
    const char *value = getenv("SCANJUDGE_SCHEDULE");
    if (!value)
        return;
    enum wire_schedule schedule = wire_schedule_find(value, strlen(value));
    if (schedule == WIRE_SCHEDULE_COUNT)
        complain("SCANJUDGE_SCHEDULE", value, wire_schedules_allowed());
    else
        config->schedule = schedule;
}

static void read_stream_order(struct wire_device_config *config)
{
    const char *value = getenv("SCANJUDGE_STREAM_ORDER");
    if (!value)
        return;
    enum wire_stream_order order = wire_stream_order_find(value);
    if (order == WIRE_STREAM_ORDER_COUNT)
        complain("SCANJUDGE_STREAM_ORDER", value, wire_stream_orders_allowed());
    else
        config->stream_order = order;
}

static void read_number(const char *variable, uint64_t *out)
{
    const char *value = getenv(variable);
    if (!value)
        return;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (errno || end == value || *end || *value == '-')
        complain(variable, value, "a number");
    else
        *out = number;
}

/* The same for a field of 32 bits, up to `most`. */
static void read_small_number(const char *variable, uint32_t most, uint32_t *out)
{
    uint64_t number = *out;
    read_number(variable, &number);
    if (number > most)
        fprintf(stderr, "scanjudge: %s: %llu is ignored; at most %u\n", variable,
                (unsigned long long)number, most);
    else
        *out = (uint32_t)number;
}

static void read_checks(struct wire_device_config *config)
{
    const char *value = getenv("SCANJUDGE_CHECKS");
    if (value && !wire_checks_parse(value, &config->checks))
        complain("SCANJUDGE_CHECKS", value, wire_checks_allowed());
}

void environment_read(struct wire_device_config *config)
{
    *config = (struct wire_device_config){.checks = WIRE_CHECK_DEFAULT};
    read_schedule(config);
    read_number("SCANJUDGE_SEED", &config->schedule_seed);
    read_number("SCANJUDGE_STEP_LIMIT", &config->step_limit);
    read_small_number("SCANJUDGE_RESIDENT", UINT32_MAX, &config->resident_blocks);
    read_small_number("SCANJUDGE_DELAY_STORES", 1, &config->delay_stores);
    read_small_number("SCANJUDGE_THREADS", 1024, &config->host_threads);
    read_stream_order(config);
    read_checks(config);
    const char *source = getenv("SCANJUDGE_SOURCE");
    if (source)
        snprintf(config->source_file, sizeof config->source_file, "%s", source);
    profile_path = getenv("SCANJUDGE_PROFILE");
    if (profile_path)
        config->checks |= WIRE_CHECK_PROFILE;
    trace_path = getenv("SCANJUDGE_TRACE");
    if (trace_path)
        config->checks |= WIRE_CHECK_TRACE;
    const char *wanted = getenv("SCANJUDGE_REPORT");
    report_wanted = wanted && strcmp(wanted, "1") == 0;
}

/* ---- reporting ---- */

/* "a.cu:12: error: data_race: sentence (kernel k, block 0,0,0, thread 5,0,0)" and a newline. */
static size_t format_finding(const struct wire_finding *f, char *out, size_t out_bytes)
{
    char where[256] = "", who[384] = "", more[32] = "";
    if (f->file[0])
        snprintf(where, sizeof where, "%s:%u: ", f->file, f->line);
    if (f->kernel[0] && f->block[0] >= 0 && f->thread[0] >= 0)
        snprintf(who, sizeof who, " (kernel %s, block %d,%d,%d, thread %d,%d,%d)", f->kernel,
                 f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
    else if (f->kernel[0] && f->block[0] >= 0)
        snprintf(who, sizeof who, " (kernel %s, block %d,%d,%d)", f->kernel, f->block[0],
                 f->block[1], f->block[2]);
    else if (f->kernel[0])
        snprintf(who, sizeof who, " (kernel %s)", f->kernel);
    if (f->count > 1)
        snprintf(more, sizeof more, " [%u times]", f->count);
    snprintf(out, out_bytes, "%s%s: %s: %s%s%s\n", where,
             f->severity == WIRE_ERROR ? "error" : "warning",
             finding_name((enum finding_kind)f->kind), f->message, who, more);
    return strlen(out);
}

static void write_all(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t done = write(STDERR_FILENO, text, length);
        if (done <= 0)
            return;
        text += done;
        length -= (size_t)done;
    }
}

/* What nobody waited for: on a card, too, it ends with the process, done or not. */
static void report_pending(void)
{
    char what[256];
    queue_describe_pending(what, sizeof what);
    if (what[0])
        rt_report(FINDING_leak, WIRE_WARNING, NULL,
                  "the program ended while %s was still queued: nobody waited for it", what);
}

static void write_findings(void)
{
    enum { MOST = 64 };
    static struct wire_finding findings[MOST];
    static char line[2048];
    if (!report_wanted || reported || !rt.vm)
        return;
    reported = true;
    report_pending();
    size_t count = vm_findings(rt.vm, findings, MOST);
    for (size_t i = 0; i < count && i < MOST; i++)
        write_all(line, format_finding(&findings[i], line, sizeof line));
    if (count > MOST) {
        snprintf(line, sizeof line, "scanjudge: and %zu findings more\n", count - MOST);
        write_all(line, strlen(line));
    }
}

/* What the device noted, as it would go to a judge. */
static void write_note(const char *path, size_t (*note)(const struct vm *vm, void *, size_t))
{
    struct err e = {"a note of the device changed its size"};
    size_t bytes = path && rt.vm ? note(rt.vm, NULL, 0) : 0;
    void *copy = bytes ? malloc(bytes) : NULL;
    if (copy && (note(rt.vm, copy, bytes) != bytes || file_write(path, copy, bytes, &e) != 0))
        fprintf(stderr, "scanjudge: %s\n", e.text);
    free(copy);
}

__attribute__((destructor)) static void report_at_exit(void)
{
    write_note(profile_path, vm_profile);
    write_note(trace_path, vm_trace);
    if (!report_wanted)
        return;
    fflush(stdout);
    write_findings();
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    static char explanation[512], line[640];
    write_findings();
    if (number == SIGSEGV || number == SIGBUS)
        vm_explain_host_address(rt.vm, info->si_addr, explanation, sizeof explanation);
    if (explanation[0]) {
        snprintf(line, sizeof line, "error: %s: %s\n", finding_name(FINDING_device_pointer_on_host),
                 explanation);
        write_all(line, strlen(line));
    }
    /* The faulting instruction, or abort(), goes on, now with the default action. */
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(number, &normal, NULL);
}

void environment_start_report(void)
{
    enum { STACK_BYTES = 64 * 1024 };
    static char stack[STACK_BYTES];
    if (!report_wanted)
        return;
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    int failed = sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        failed |= sigaction(crashes[i], &action, NULL);
    if (failed)
        fprintf(stderr, "scanjudge: host crashes will not be explained: %s\n", strerror(errno));
}
