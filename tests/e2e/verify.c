/* `judge verify PROBLEM` is green. What it says is passed on.
 * usage: e2e_verify PROBLEM [option of verify ...] */
#include "e2e.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *arguments[E2E_ARGUMENTS_MAX] = {"verify"};
    struct e2e_run run;
    struct text why;
    if (argc < 2 || argc > E2E_ARGUMENTS_MAX - 2) {
        fprintf(stderr, "usage: %s PROBLEM [option of verify ...]\n", argv[0]);
        return EXIT_FAILURE;
    }
    e2e_need_nvcc();
    for (int i = 1; i < argc; i++)
        arguments[i] = argv[i];
    e2e_run(&(struct e2e_call){.argv = arguments, .minutes = 20}, &run);
    fputs(text_str(&run.out), stdout);
    text_init(&why);
    if (run.status != 0)
        text_addf(&why, "exit status %d (%s)\n%.2000s", run.status, run.how, text_str(&run.errors));
    e2e_check(argv[1], text_str(&why));
    text_release(&why);
    e2e_run_release(&run);
    return e2e_done();
}
