/* judge_timing PROBLEM FILE.cu [--json]: a judging that times on the CPU device as it would on a
 * card: the same plan, protocol, checks and report, with times that mean nothing. PROBLEM is one of
 * root/problems, whose sizes are small. Ends like `judge run`. */
#include "base/arena.h"
#include "judge/judge.h"
#include "judge/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: judge_timing PROBLEM FILE.cu [--json]\n");
        return 2;
    }
    struct arena arena;
    struct result result;
    struct err e;
    arena_init(&arena);
    const char *cache = getenv("SCANJUDGE_CACHE");
    struct judge_paths paths = {.root = TEST_ROOT,
                                .runner = BUILD_ROOT "/bin/runner",
                                .cudart = BUILD_ROOT "/lib/libcudart.so.13",
                                .cache = cache ? cache : BUILD_ROOT "/cache"};
    struct judge_options options = {.timing = {.without_card = true,
                                               .flush_bytes = 1 << 20,
                                               .budget_ns = 200000000,
                                               .answer_elements = 5000}};
    struct report_options report = {.verbose = true};
    int status = 2;
    if (judge_submission(&paths, argv[1], argv[2], &options, &arena, &result, &e) != 0) {
        fprintf(stderr, "judge_timing: %s\n", e.text);
    } else {
        struct text out;
        text_init(&out);
        const struct result *one = &result;
        const char *format = argc > 3 && strcmp(argv[3], "--json") == 0 ? "json" : "text";
        report_find(format)->write(&one, 1, &report, &out);
        fputs(text_str(&out), stdout);
        text_release(&out);
        status = verdict_exit_status(result.verdict);
    }
    arena_release(&arena);
    return status;
}
