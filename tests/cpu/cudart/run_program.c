/* Builds one .cu file with nvcc as a student would, with -cudart shared, and runs it with the built
 * libcudart.so.13 in front of the loader's path. The file's first comments say what to expect:
 *
 *   // nvcc: flags            more arguments for nvcc
 *   // environment: A=b       for the program
 *   // stdout: line           these lines and no others, in this order; a file with the same name
 *                             that ends in .stdout says the same
 *   // stderr: text           each of these is somewhere in it
 *   // clean                  nothing goes to stderr
 *   // signal: N              it dies of this signal (otherwise it exits with 0)
 *
 * usage: run_program FILE.cu      exit status 77 = skipped, with the reason printed */
#include "base/file.h"
#include "base/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, ARGUMENTS_MOST = 32, LINE_MOST = 1024 };

struct expectations {
    struct text out;
    char errors[16][LINE_MOST];
    size_t error_count;
    char arguments[ARGUMENTS_MOST][LINE_MOST];
    size_t argument_count;
    char environment[8][LINE_MOST];
    size_t environment_count;
    bool clean;
    int signal;
};

static void note(struct expectations *x, const char *line)
{
    if (strncmp(line, "nvcc: ", 6) == 0) {
        char copy[LINE_MOST], *rest = copy;
        snprintf(copy, sizeof copy, "%s", line + 6);
        for (char *word; (word = strtok_r(rest, " ", &rest)) && x->argument_count < 16;)
            snprintf(x->arguments[x->argument_count++], LINE_MOST, "%s", word);
    } else if (strncmp(line, "environment: ", 13) == 0 && x->environment_count < 6) {
        snprintf(x->environment[x->environment_count++], LINE_MOST, "%s", line + 13);
    } else if (strncmp(line, "stdout: ", 8) == 0) {
        text_addf(&x->out, "%s\n", line + 8);
    } else if (strncmp(line, "stderr: ", 8) == 0 && x->error_count < 16) {
        snprintf(x->errors[x->error_count++], LINE_MOST, "%s", line + 8);
    } else if (strcmp(line, "clean") == 0) {
        x->clean = true;
    } else if (strncmp(line, "signal: ", 8) == 0) {
        x->signal = (int)strtol(line + 8, NULL, 10);
    }
}

static void must_read(const char *path, struct text *out)
{
    struct err e;
    if (file_read(path, 1 << 20, out, &e) != 0) {
        printf("%s\n", e.text);
        exit(1);
    }
}

static void read_expectations(const char *path, struct expectations *x)
{
    struct text file;
    char beside[600];
    text_init(&file);
    must_read(path, &file);
    char *rest = file.data;
    for (char *line; (line = strtok_r(rest, "\n", &rest)) && strncmp(line, "//", 2) == 0;)
        if (strncmp(line, "// ", 3) == 0)
            note(x, line + 3);
    text_release(&file);
    snprintf(beside, sizeof beside, "%.*s.stdout", (int)(strlen(path) - strlen(".cu")), path);
    if (file_exists(beside))
        must_read(beside, &x->out);
}

static const char *find_nvcc(char *path, size_t bytes)
{
    const char *home = getenv("CUDA_HOME");
    const char *const folders[] = {home ? home : "", "/usr/local/cuda", CUDA_INCLUDE "/.."};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, bytes, "%s/bin/nvcc", folders[i]);
        if (folders[i][0] && file_exists(path))
            return path;
    }
    printf("skipped: there is no nvcc in CUDA_HOME or /usr/local/cuda\n");
    exit(SKIPPED);
}

static int compile(const char *nvcc, const char *source, const char *program,
                   const struct expectations *x)
{
    const char *argv[ARGUMENTS_MOST] = {nvcc, "-cudart", "shared", "-std=c++17"};
    size_t count = 4;
    for (size_t i = 0; i < x->argument_count; i++)
        argv[count++] = x->arguments[i];
    argv[count++] = "-o";
    argv[count++] = program;
    argv[count++] = source;
    const char *environment[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct text out, errors;
    struct proc_end end;
    struct err e;
    text_init(&out);
    text_init(&errors);
    int failed = proc_run(&spec, 300ull * 1000000000, 1 << 20, &out, &errors, &end, &e);
    if (failed)
        printf("%s\n", e.text);
    else if (end.how != PROC_EXITED || end.code != 0)
        printf("nvcc fails on %s:\n%s%s\n", source, text_str(&out), text_str(&errors));
    failed |= failed == 0 && (end.how != PROC_EXITED || end.code != 0);
    text_release(&out);
    text_release(&errors);
    return failed;
}

static int compare(const struct expectations *x, const struct proc_end *end, const char *out,
                   const char *errors)
{
    int wrong = 0;
    bool ended = x->signal ? end->how == PROC_SIGNALLED && end->code == x->signal
                           : end->how == PROC_EXITED && end->code == 0;
    if (!ended) {
        printf("it ended with %s %d\n", end->how == PROC_EXITED ? "exit status" : "signal or limit",
               end->code);
        wrong = 1;
    }
    if (strcmp(out, text_str(&x->out)) != 0) {
        printf("stdout should be:\n%s", text_str(&x->out));
        wrong = 1;
    }
    for (size_t i = 0; i < x->error_count; i++) {
        if (!strstr(errors, x->errors[i])) {
            printf("stderr lacks: %s\n", x->errors[i]);
            wrong = 1;
        }
    }
    if (x->clean && errors[0]) {
        printf("stderr should be empty\n");
        wrong = 1;
    }
    if (wrong)
        printf("---- stdout\n%s---- stderr\n%s", out, errors);
    return wrong;
}

static int run(const char *program, const struct expectations *x)
{
    const char *argv[] = {program, NULL};
    const char *environment[12] = {"LD_LIBRARY_PATH=" CUDART_FOLDER};
    size_t count = 1;
#ifdef ASAN_RUNTIME
    environment[count++] = "LD_PRELOAD=" ASAN_RUNTIME;
    environment[count++] = "ASAN_OPTIONS=detect_leaks=0";
#endif
    for (size_t i = 0; i < x->environment_count; i++)
        environment[count++] = x->environment[i];
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct text out, errors;
    struct proc_end end;
    struct err e;
    text_init(&out);
    text_init(&errors);
    int wrong = proc_run(&spec, 120ull * 1000000000, 1 << 20, &out, &errors, &end, &e);
    if (wrong)
        printf("%s\n", e.text);
    else
        wrong = compare(x, &end, text_str(&out), text_str(&errors));
    text_release(&out);
    text_release(&errors);
    return wrong;
}

int main(int argc, char **argv)
{
    char nvcc[512], folder[512], program[600];
    static struct expectations x;
    struct err e;
    if (argc != 2) {
        printf("usage: run_program FILE.cu\n");
        return 2;
    }
    text_init(&x.out);
    read_expectations(argv[1], &x);
    find_nvcc(nvcc, sizeof nvcc);
    if (file_make_temp_dir(folder, sizeof folder, "cudart-e2e-", &e) != 0) {
        printf("%s\n", e.text);
        return 1;
    }
    snprintf(program, sizeof program, "%s/program", folder);
    int wrong = compile(nvcc, argv[1], program, &x) || run(program, &x);
    file_remove_tree(folder, NULL);
    text_release(&x.out);
    return wrong;
}
