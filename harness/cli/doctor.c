/* judge doctor: component, wanted, got, why. A probe each; a missing component that judging needs
 * makes the exit status 3, everything else is news. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/text.h"
#include "judge/compile/compile.h"
#include "judge/gpu/lock.h"
#include "judge/gpu/tools.h"
#include "judge/run/run.h"
#include "sandbox/sandbox.h"
#include "wire/wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum probe_result { FOUND, MISSING };

/* Writes what was found, or what is missing, into `got`. */
typedef enum probe_result probe_function(struct cli *cli, struct text *got);

static enum probe_result probe_nvcc(struct cli *cli, struct text *got)
{
    struct toolkit t;
    struct err e;
    if (toolkit_find(cli->paths.cache, &cli->arena, &t, &e) != 0) {
        text_add(got, e.text);
        return MISSING;
    }
    text_addf(got, "%s, %s", t.version, t.nvcc);
    return FOUND;
}

static enum probe_result probe_host_compiler(struct cli *cli, struct text *got)
{
    (void)cli;
    const char *argv[] = {"g++", "-dumpfullversion", NULL};
    const char *environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct proc_end end;
    struct text out, errors;
    struct err e = {{0}};
    text_init(&out);
    text_init(&errors);
    int status = proc_run(&spec, 10000000000u, 4096, &out, &errors, &end, &e);
    bool ok = status == 0 && end.how == PROC_EXITED && end.code == 0;
    text_addf(got, ok ? "g++ %.*s" : "%.*s", (int)strcspn(text_str(&out), "\n"),
              ok ? text_str(&out) : "none");
    text_release(&out);
    text_release(&errors);
    return ok ? FOUND : MISSING;
}

/* Loaded the way the runner does it; the file is ours, so that it may be loaded here. */
static enum probe_result probe_device(struct cli *cli, struct text *got)
{
    void *library = dlopen(cli->paths.cudart, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        text_add(got, dlerror());
        return MISSING;
    }
    void *symbol = dlsym(library, WIRE_HOOKS_SYMBOL);
    wire_hooks_function hooks;
    memcpy(&hooks, &symbol, sizeof hooks);
    bool ok = symbol && hooks()->version == WIRE_HOOKS_VERSION;
    text_add(got, ok ? cli->paths.cudart : "not the library of this build");
    dlclose(library);
    return ok ? FOUND : MISSING;
}

static enum probe_result probe_runner(struct cli *cli, struct text *got)
{
    bool ok = access(cli->paths.runner, X_OK) == 0;
    text_addf(got, "%s%s", cli->paths.runner, ok ? "" : " is missing");
    return ok ? FOUND : MISSING;
}

static enum probe_result probe_vector(struct cli *cli, struct text *got)
{
    (void)cli;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    text_add(got, v4 ? "AVX-512" : __builtin_cpu_supports("avx2") ? "AVX2" : "SSE2");
    return v4 ? FOUND : MISSING;
#else
    text_add(got, "the portable build");
    return MISSING;
#endif
}

static enum probe_result probe_cores(struct cli *cli, struct text *got)
{
    (void)cli;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30;
    text_addf(got, "%ld cores, %.1f GiB", cores, gib);
    return cores >= 2 && gib >= 4 ? FOUND : MISSING;
}

static enum probe_result probe_memfd(struct cli *cli, struct text *got)
{
    (void)cli;
    struct run_region region;
    struct utsname kernel;
    struct err e;
    uname(&kernel);
    if (run_region_init(&region, 4096, false, &e) != 0) {
        text_addf(got, "Linux %s: %s", kernel.release, e.text);
        return MISSING;
    }
    run_region_release(&region);
    text_addf(got, "Linux %s", kernel.release);
    return FOUND;
}

static enum probe_result probe_pidfd(struct cli *cli, struct text *got)
{
    (void)cli;
    long fd = syscall(SYS_pidfd_open, getpid(), 0);
    text_add(got, fd >= 0 ? "yes" : strerror(errno));
    if (fd >= 0)
        close((int)fd);
    return fd >= 0 ? FOUND : MISSING;
}

/* Found out by trying, as a judging does. */
static enum probe_result probe_isolation(struct cli *cli, struct text *got)
{
    (void)cli;
    struct err e;
    if (sandbox_setup(&e) != 0) {
        text_add(got, e.text);
        return MISSING;
    }
    text_add(got, sandbox_isolation()->name);
    return FOUND;
}

static enum probe_result probe_cache(struct cli *cli, struct text *got)
{
    struct err e;
    bool ok = file_make_dirs(cli->paths.cache, &e) == 0 && access(cli->paths.cache, W_OK) == 0;
    text_addf(got, "%s%s", cli->paths.cache, ok ? "" : " cannot be written");
    return ok ? FOUND : MISSING;
}

static enum probe_result probe_problems(struct cli *cli, struct text *got)
{
    const char **ids;
    struct err e;
    if (problem_list(cli->paths.root, &cli->arena, &ids, &e) != 0) {
        text_add(got, e.text);
        return MISSING;
    }
    size_t count = 0;
    while (ids[count])
        count++;
    text_addf(got, "%zu in %s/problems", count, cli->paths.root);
    return count ? FOUND : MISSING;
}

static enum probe_result probe_gpu(struct cli *cli, struct text *got)
{
    struct cards cards;
    cli_find_cards(cli, &cards);
    for (unsigned i = 0; i < cards.count; i++)
        text_addf(got, "%s%u: %s, %.1f, driver %s", i ? "; " : "", cards.items[i].number,
                  cards.items[i].name, cards.items[i].capability / 10.0, cards.driver);
    if (!cards.count) /* what the loader says of the library is for those who ask for a card */
        text_addf(got, "%.*s", (int)strcspn(cards.why_none, "("), cards.why_none);
    return cards.count ? FOUND : MISSING;
}

static enum probe_result probe_tool(struct cli *cli, const char *name, struct text *got)
{
    struct toolkit t;
    const char *home = toolkit_find(cli->paths.cache, &cli->arena, &t, NULL) == 0 ? t.home : NULL;
    const char *path = tool_find(name, home, &cli->arena);
    text_add(got, path ? path : "none");
    return path ? FOUND : MISSING;
}

static enum probe_result probe_sanitizer(struct cli *cli, struct text *got)
{
    return probe_tool(cli, "compute-sanitizer", got);
}

static enum probe_result probe_ncu(struct cli *cli, struct text *got)
{
    return probe_tool(cli, "ncu", got);
}

static enum probe_result probe_gnuplot(struct cli *cli, struct text *got)
{
    return probe_tool(cli, "gnuplot", got);
}

static enum probe_result probe_lock(struct cli *cli, struct text *got)
{
    const char *folder = cli->paths.locks ? cli->paths.locks : card_lock_folder();
    text_add(got, folder ? folder : "none (/run/lock, /tmp)");
    return folder ? FOUND : MISSING;
}

static const struct component {
    const char *name, *wanted;
    bool required;
    probe_function *probe;
    const char *why;
} COMPONENTS[] = {
    {"nvcc", "13.0 or later", true, probe_nvcc, "compiles submissions and references"},
    {"host compiler", "g++", true, probe_host_compiler, "nvcc calls it"},
    {"CPU device", "libcudart.so.13", true, probe_device, "takes the place of NVIDIA's runtime"},
    {"runner", "beside the judge", true, probe_runner, "the process that loads a submission"},
    {"sealed memory", "Linux 5.1", true, probe_memfd, "inputs that a submission cannot change"},
    {"pidfd", "Linux 5.3", true, probe_pidfd, "limits that hold when a process does not end"},
    {"cache", "writable", true, probe_cache, "a file is compiled once"},
    {"problems", "at least one", true, probe_problems, "what can be judged"},
    {"vector unit", "AVX-512", false, probe_vector, "speed of the CPU device, nothing else"},
    {"machine", "2 cores, 4 GiB", false, probe_cores, "cases are made while nvcc runs"},
    {"isolation", "namespaces", true, probe_isolation, "submissions and the compiler are shut in"},
    {"GPU", "capability 7.5", false, probe_gpu, "for --device gpu; the CPU device needs none"},
    {"lock folder", "for all users", false, probe_lock, "one judging at a time on a card"},
    {"sanitizer", "of the toolkit", false, probe_sanitizer, "run --sanitize, on a card"},
    {"ncu", "of the toolkit", false, probe_ncu, "run --profile, on a card"},
    {"gnuplot", "any", false, probe_gnuplot, "bench --plot"},
};

static void add_row(struct text *out, const char *mark, const char *name, const char *wanted,
                    const char *got, const char *why)
{
    text_addf(out, "%-7s %-16s %-17s ", mark, name, wanted);
    size_t before = out->length;
    report_add_escaped(out, got);
    while (out->length - before < 42)
        text_addc(out, ' ');
    text_addf(out, " %s\n", why);
}

/* What a box is held by; each stands alone, so that people see what they could add. */
static void add_layers(struct text *out)
{
    const struct sandbox_isolation *isolation = sandbox_isolation();
    for (unsigned i = 0; isolation && i < isolation->layer_count; i++) {
        const struct sandbox_layer *l = &isolation->layers[i];
        char name[32];
        snprintf(name, sizeof name, "- %s", l->key);
        add_row(out, l->in_use && !l->weaker ? "ok" : "-", name, l->wanted, l->got, l->why);
    }
}

int command_doctor(struct cli *cli, int argc, char **argv)
{
    if (cli_option(cli, argc, argv, false) != OPTION_END)
        return STATUS_USAGE;
    if (optind != argc)
        return cli_usage(cli, "doctor takes no arguments.");
    struct text out, got;
    text_init(&out);
    text_init(&got);
    unsigned missing = 0;
    text_addf(&out, "        %-16s %-17s %-42s %s\n", "component", "wanted", "got", "why");
    for (size_t i = 0; i < sizeof COMPONENTS / sizeof COMPONENTS[0]; i++) {
        const struct component *c = &COMPONENTS[i];
        text_clear(&got);
        bool ok = c->probe(cli, &got) == FOUND;
        missing += !ok && c->required;
        add_row(&out,
                ok            ? "ok"
                : c->required ? "MISSING"
                              : "-",
                c->name, c->wanted, text_str(&got), c->why);
        if (c->probe == probe_isolation)
            add_layers(&out);
    }
    text_addf(&out,
              missing ? "%u component%s that judging needs %s missing\n"
                      : "everything that judging needs is here\n",
              missing, missing == 1 ? "" : "s", missing == 1 ? "is" : "are");
    int status = cli_print(cli, text_str(&out));
    text_release(&out);
    text_release(&got);
    return missing ? STATUS_JUDGE : status;
}
