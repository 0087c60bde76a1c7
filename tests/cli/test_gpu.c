/* Which device a call gets, and what is said when it cannot have it. The cards are those of a fake
 * driver; nothing is compiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/proc.h"

#include <stdio.h>
#include <string.h>

#define TWO    "GPU-1111-a;NVIDIA Old;7.5;16000|GPU-1122-b;NVIDIA H200;9.0;143000"
#define ANY    "run", "multi-block-scan", "/nonexistent.cu"
#define PASSED "cannot read /nonexistent.cu" /* the device was no hindrance */

enum { WORDS_MAX = 8 };

static const struct call {
    const char *cards;    /* $FAKE_NVML; NULL = there is no driver */
    const char *variable; /* "NAME=value" besides, NULL = none */
    const char *words[WORDS_MAX];
    int status;
    const char *says;
} CALLS[] = {
    {NULL, NULL, {ANY}, 2, PASSED},
    {NULL, NULL, {ANY, "--device", "cpu"}, 2, PASSED},
    {NULL, NULL, {ANY, "--device", "gpu"}, 3, "there is no NVIDIA driver here"},
    {NULL, NULL, {ANY, "--device", "gpu"}, 3, "Say --device cpu"},
    {NULL, NULL, {ANY, "--gpu", "0"}, 3, "there is no NVIDIA driver here"},
    {NULL, NULL, {ANY, "--share-card"}, 3, "Leave --share-card out"},
    {NULL, "SCANJUDGE_DEVICE=gpu", {ANY}, 3, "there is no NVIDIA driver here"},
    {NULL, "SCANJUDGE_DEVICE=gpu", {ANY}, 3, "SCANJUDGE_DEVICE=cpu"},
    {NULL, NULL, {ANY, "--gpu", "0"}, 3, "Leave --gpu out"},
    {NULL, "SCANJUDGE_DEVICE=gpu", {ANY, "--device", "cpu"}, 2, PASSED},
    {NULL, "SCANJUDGE_DEVICE=tpu", {ANY}, 2, "SCANJUDGE_DEVICE"},
    {NULL, NULL, {ANY, "--device", "tpu"}, 2, "auto, cpu and gpu"},
    {"", NULL, {ANY, "--device", "gpu"}, 3, "sees no card"},
    {"broken", NULL, {ANY, "--device", "gpu"}, 3, "does not answer"},
    {"GPU-1;GTX 1080;6.1;8000", NULL, {ANY, "--device", "gpu"}, 3, "compute capability 6.1"},
    {"GPU-1;GTX 1080;6.1;8000", NULL, {ANY}, 2, PASSED}, /* auto: the CPU device */
    {TWO, NULL, {ANY, "--device", "gpu"}, 2, PASSED},
    {TWO, NULL, {ANY, "--gpu", "1,0"}, 2, PASSED},
    {TWO, NULL, {ANY, "--gpu", "2"}, 2, "--gpu: '2' names no card. The cards here: 0 (NVIDIA Old"},
    {TWO, NULL, {ANY, "--gpu", "0", "--device", "cpu"}, 2, "--gpu is for a card"},
    {TWO, NULL, {ANY, "--gpu", "0", "--trace", "t"}, 2, "--trace is for the CPU device"},
    {TWO, NULL, {ANY, "--device", "gpu", "--schedules", "3"}, 2, "--schedules is for the CPU"},
    {TWO, NULL, {ANY, "--check", "bounds"}, 2, PASSED}, /* auto: the device that has it */
    {TWO, "CUDA_VISIBLE_DEVICES=1", {ANY, "--gpu", "0"}, 2, "The cards here: 1 (NVIDIA H200"},
    {TWO, "CUDA_VISIBLE_DEVICES=", {ANY, "--device", "gpu"}, 3, "leaves no card"},
    {TWO, NULL, {"exec", "--gpu", "7", "a.cu"}, 2, "names no card"},
    {TWO, NULL, {"exec", "--gpu", "0", "--trace", "t", "a.cu"}, 2, "--trace is for the CPU"},
    {NULL, NULL, {ANY, "--sanitize"}, 3, "Leave --sanitize out"},
    {TWO, NULL, {ANY, "--sanitize", "--device", "cpu"}, 2, "--sanitize is for a card"},
    {TWO, NULL, {ANY, "--sanitize", "--trace", "t"}, 2, "--trace is for the CPU device"},
    {NULL, NULL, {ANY, "--profile"}, 2, PASSED},
    {NULL, NULL, {"bench", "multi-block-scan"}, 3, "bench times on a card"},
    {TWO, NULL, {"bench", "multi-block-scan", "--gpu", "5"}, 2, "names no card"},
    {NULL, NULL, {"exec", "--device", "gpu", "a.cu"}, 3, "there is no NVIDIA driver here"},
};

static void try_call(const struct call *c)
{
    const char *argv[WORDS_MAX + 2] = {JUDGE};
    char cards[512];
    for (int i = 0; i < WORDS_MAX && c->words[i]; i++)
        argv[i + 1] = c->words[i];
    snprintf(cards, sizeof cards, "FAKE_NVML=%s", c->cards ? c->cards : "");
    const char *environment[] = {"SCANJUDGE_ROOT=" SOURCE_ROOT,
                                 "SCANJUDGE_CACHE=/nonexistent/cache",
                                 "PATH=/usr/bin:/bin",
                                 cards,
                                 c->cards ? "SCANJUDGE_NVML=" FAKE_NVML
                                          : "SCANJUDGE_NVML=/nonexistent/libnvidia-ml.so.1",
                                 c->variable,
                                 NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct proc_end end;
    struct text out, errors;
    struct err e;
    text_init(&out);
    text_init(&errors);
    if (proc_run(&spec, 30000000000u, 1 << 20, &out, &errors, &end, &e) != 0)
        fail_msg("%s", e.text);
    if (end.how != PROC_EXITED || end.code != c->status || out.length)
        fail_msg("%s: status %d instead of %d: %s%s", c->says, end.code, c->status,
                 text_str(&errors), text_str(&out));
    if (!strstr(text_str(&errors), c->says))
        fail_msg("instead of '%s': %s", c->says, text_str(&errors));
    text_release(&out);
    text_release(&errors);
}

static void calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        try_call(&CALLS[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
