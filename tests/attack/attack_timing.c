/* attack_timing [--problem NAME] FILE.cu...: each is judged and timed on the CPU device, and must
 * get the verdict of its label. With an expected finding some time must be in doubt for that
 * reason; without one no time may be in doubt at all (where the machine's load did not make them
 * too noisy to tell). A file in a folder `card` is judged on a card, and skipped without one. */
#include "e2e.h"
#include "judge/verify/label.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

/* Of a processor's times a busy machine can make anything; three times in a row it does not. */
enum { ATTEMPTS = 3 };

static bool needs_card(const char *path)
{
    return strstr(path, "/card/") != NULL;
}

/* Is a time in doubt for this reason (NULL: for any)? */
static const char *doubt(const json_t *result, const char *kind)
{
    size_t i, k;
    json_t *timing, *finding;
    json_array_foreach(json_object_get(result, "timing"), i, timing)
    {
        json_array_foreach(json_object_get(timing, "findings"), k, finding)
        {
            const char *found = e2e_string(finding, "kind");
            if (!kind || strcmp(found, kind) == 0)
                return found;
        }
    }
    return NULL;
}

static const char *compare(const struct label *label, const struct e2e_run *run,
                           struct arena *arena)
{
    const char *verdict = run->json ? e2e_string(run->json, "verdict") : "none";
    if (strcmp(verdict, label->verdict) != 0)
        return arena_printf(arena, "%s instead of %s\n%s%s", verdict, label->verdict,
                            text_str(&run->out), text_str(&run->errors));
    if (label->finding && !doubt(run->json, label->finding))
        return arena_printf(arena, "no time is in doubt for %s\n%s", label->finding,
                            text_str(&run->out));
    if (!label->finding && doubt(run->json, NULL))
        return arena_printf(arena, "an honest time is in doubt: %s\n%s", doubt(run->json, NULL),
                            text_str(&run->out));
    if (strcmp(verdict, "accepted") == 0 &&
        json_array_size(json_object_get(run->json, "timing")) == 0)
        return "nothing was timed";
    return NULL;
}

static void attack(const char *problem, const char *path)
{
    struct arena arena;
    struct label label;
    struct err e;
    struct e2e_run run;
    arena_init(&arena);
    if (label_read(path, &arena, &label, &e) != 0) {
        e2e_check(file_base_name(path), e.text);
    } else {
        struct text command;
        text_init(&command);
        if (needs_card(path))
            text_addf(&command,
                      E2E_BUILD "/bin/judge run multi-block-scan '%s' --device gpu --format json",
                      path);
        else
            text_addf(&command, E2E_BUILD "/bin/judge_timing %s '%s' --json", problem, path);
        const char *why = NULL;
        unsigned most = needs_card(path) ? 1 : ATTEMPTS;
        for (unsigned i = 0; i < most && (i == 0 || why); i++) {
            e2e_run(&(struct e2e_call){.shell = text_str(&command)}, &run);
            why = compare(&label, &run, &arena);
            e2e_run_release(&run);
        }
        e2e_check(file_base_name(path), why);
        text_release(&command);
    }
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    bool named = argc > 2 && strcmp(argv[1], "--problem") == 0;
    const char *problem = named ? argv[2] : "small-scan";
    e2e_need_nvcc();
    for (int i = named ? 3 : 1; i < argc; i++) {
        if (needs_card(argv[i]) && !file_exists("/dev/nvidia0")) {
            printf("1..0 # skipped: %s needs an NVIDIA card, and there is no /dev/nvidia0\n",
                   file_base_name(argv[i]));
            return E2E_SKIPPED;
        }
        attack(problem, argv[i]);
    }
    return e2e_done();
}
