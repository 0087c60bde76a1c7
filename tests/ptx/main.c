/* ptx_cases FILE...: runs every case of the files; 0 if all hold. A crash names its case.
 * ptx_cases --text NUMBER FILE: prints the PTX of the file's NUMBER-th case (from 1), for ptxas. */
#include "case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *volatile current = "";

static void on_crash(int signal_number)
{
    static const char text[] = "crashed in the case: ";
    ssize_t ignored = write(2, text, sizeof text - 1);
    ignored += write(2, current, strlen(current));
    ignored += write(2, "\n", 1);
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static int run_file(const char *path, unsigned *count, unsigned *failed)
{
    struct arena arena;
    struct err e;
    struct ptx_case *cases = NULL;
    struct vm *vm = NULL;
    int result = -1;
    arena_init(&arena);
    if (cases_read(path, &arena, &cases, &e))
        fprintf(stderr, "%s\n", e.text);
    else if (!cases)
        fprintf(stderr, "%s: there are no cases\n", path);
    else if (!(vm = vm_new(&vm_limits_default, &e)))
        fprintf(stderr, "%s\n", e.text);
    else
        result = 0;
    for (const struct ptx_case *c = cases; result == 0 && c; c = c->next) {
        current = c->name;
        *count += 1;
        *failed += case_run(vm, path, c) > 0;
    }
    if (vm)
        vm_free(vm);
    cases_release(cases);
    arena_release(&arena);
    return result;
}

static int print_case(const char *path, unsigned long number)
{
    struct arena arena;
    struct err e;
    struct text text;
    struct ptx_case *cases = NULL;
    arena_init(&arena);
    text_init(&text);
    int result = cases_read(path, &arena, &cases, &e);
    if (result)
        fprintf(stderr, "%s\n", e.text);
    const struct ptx_case *c = cases;
    for (; c && number > 1; number--)
        c = c->next;
    if (c && result == 0)
        case_text(c, &text);
    printf("%s", text_str(&text));
    text_release(&text);
    cases_release(cases);
    arena_release(&arena);
    return c && result == 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--text") == 0)
        return print_case(argv[3], strtoul(argv[2], NULL, 10));
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    unsigned count = 0, failed = 0;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], on_crash);
    for (int i = 1; i < argc; i++) {
        if (run_file(argv[i], &count, &failed))
            return 2;
    }
    printf("%u cases, %u failed\n", count, failed);
    return failed || !count ? 1 : 0;
}
