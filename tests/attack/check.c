#include "check.h"

#include <string.h>

static const json_t *cases_of(const json_t *result)
{
    return json_object_get(result, "cases");
}

static bool has_finding(const json_t *result, const char *kind)
{
    size_t i, k;
    const json_t *c, *f;
    json_array_foreach(cases_of(result), i, c)
    {
        json_array_foreach(json_object_get(c, "findings"), k, f)
        {
            if (strcmp(e2e_string(f, "kind"), kind) == 0)
                return true;
        }
    }
    return false;
}

static void check_case(const struct attack *attack, const json_t *c, struct text *why)
{
    static const char *const STREAMS[] = {"stdout", "stderr"};
    const char *name = e2e_string(c, "name"), *verdict = e2e_string(c, "verdict");
    double ms = json_number_value(json_object_get(c, "ms"));
    for (size_t k = 0; k < sizeof STREAMS / sizeof STREAMS[0]; k++) {
        const char *breach = strstr(e2e_string(c, STREAMS[k]), "BREACH");
        if (breach)
            text_addf(why, "case %s: %.*s\n", name, (int)strcspn(breach, "\n"), breach);
    }
    if (ms > attack->case_ms_max)
        text_addf(why, "case %s: it took %.0f ms\n", name, ms);
    if (strcmp(verdict, "accepted") == 0)
        return;
    if (attack->failing && strncmp(name, attack->failing, strlen(attack->failing)) != 0)
        text_addf(why, "case %s fails: %s\n", name, verdict);
    if (attack->others && strcmp(verdict, attack->label.verdict) != 0)
        text_addf(why, "case %s: %s\n", name, verdict);
}

/* A hidden case is shown again by its own command. */
static void check_reproduction(const struct ring *ring, const struct attack *attack,
                               const json_t *failed, struct text *why)
{
    struct e2e_run run;
    struct text command;
    text_init(&command);
    text_addf(&command, "%s --format json", e2e_string(failed, "reproduce"));
    e2e_run(&(struct e2e_call){.shell = text_str(&command),
                               .before = ring->before,
                               .root = ring->places.root,
                               .cache = ring->places.cache},
            &run);
    const json_t *again = json_array_get(cases_of(run.json), 0);
    if (json_array_size(cases_of(run.json)) != 1 ||
        !json_equal(json_object_get(again, "mismatch"), json_object_get(failed, "mismatch")) ||
        strcmp(e2e_string(again, "name"), e2e_string(failed, "name")) != 0)
        text_addf(why, "%s shows something else: %.300s%.300s\n", text_str(&command),
                  text_str(&run.out), text_str(&run.errors));
    if (!strstr(e2e_string(failed, "name"), attack->failing))
        text_addf(why, "case %s is named otherwise\n", e2e_string(failed, "name"));
    e2e_run_release(&run);
    text_release(&command);
}

void check_report(const struct ring *ring, const struct attack *attack, const struct e2e_run *run,
                  struct text *why)
{
    const char *verdict = e2e_string(run->json, "verdict");
    const struct label *label = &attack->label;
    size_t i, failing = 0, accepted = 0;
    const json_t *c;
    if (!source_one_of(label->verdict, verdict))
        text_addf(why, "%s instead of %s (exit status %d, %s)\n%.1500s%.500s\n", verdict,
                  label->verdict, run->status, run->how, text_str(&run->out),
                  text_str(&run->errors));
    if (label->finding && !has_finding(run->json, label->finding))
        text_addf(why, "no finding %s\n", label->finding);
    if (attack->says && !strstr(text_str(&run->out), attack->says))
        text_addf(why, "the report does not say '%s'\n", attack->says);
    if (attack->never && strstr(text_str(&run->out), attack->never))
        text_addf(why, "the report says '%s'\n", attack->never);
    json_array_foreach(cases_of(run->json), i, c)
    {
        bool fails = strcmp(e2e_string(c, "verdict"), "accepted") != 0;
        check_case(attack, c, why);
        if (fails && failing++ == 0 && attack->failing)
            check_reproduction(ring, attack, c, why);
        accepted += !fails;
    }
    if ((attack->failing && !failing) || (attack->others && (!accepted || failing != 1)))
        text_addf(why, "%zu cases fail and %zu do not\n", failing, accepted);
}
