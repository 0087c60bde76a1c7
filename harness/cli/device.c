/* Which device a call means: --device, --gpu, $SCANJUDGE_DEVICE, CUDA_VISIBLE_DEVICES, and what is
 * here. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_CAPABILITY = 75 }; /* what nvcc 13 compiles for */

/* Cards that are too old for the toolkit are as good as none. */
static void drop_old_cards(struct cli *cli, struct cards *cards)
{
    struct card *kept = arena_array(&cli->arena, cards->count, sizeof *kept);
    unsigned count = 0;
    for (unsigned i = 0; i < cards->count; i++)
        if (cards->items[i].capability >= LEAST_CAPABILITY)
            kept[count++] = cards->items[i];
    if (!count && cards->count)
        cards->why_none = arena_printf(&cli->arena,
                                       "the card here (%s) has compute capability %.1f; the CUDA "
                                       "Toolkit 13 compiles for %.1f and up",
                                       cards->items[0].name, cards->items[0].capability / 10.0,
                                       LEAST_CAPABILITY / 10.0);
    cards->items = kept;
    cards->count = count;
}

void cli_find_cards(struct cli *cli, struct cards *cards)
{
    struct cards all;
    cards_find(cli->nvml, &cli->arena, &all);
    cards_visible(&all, getenv("CUDA_VISIBLE_DEVICES"), &cli->arena, cards);
    drop_old_cards(cli, cards);
}

/* The name of the device that is asked for, NULL after a message. */
static const char *wanted_device(const struct cli *cli, const struct cli_device *d)
{
    static const char *const NAMES[] = {"auto", "cpu", "gpu"};
    const char *variable = getenv("SCANJUDGE_DEVICE");
    bool given = d->name || !variable || !variable[0];
    const char *name = d->name ? d->name : given ? "auto" : variable;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(NAMES[i], name) == 0)
            return d->gpu && !d->name ? "gpu" : NAMES[i];
    cli_usage(cli, "there is no device '%s'%s; auto, cpu and gpu are.", name,
              given ? "" : " (the variable SCANJUDGE_DEVICE names it)");
    return NULL;
}

int cli_choose_device(struct cli *cli, struct cli_device *d)
{
    const char *name = wanted_device(cli, d);
    struct err e;
    if (!name)
        return STATUS_USAGE;
    bool must = strcmp(name, "gpu") == 0 || d->gpu || d->gpu_only;
    if (strcmp(name, "cpu") == 0 && (d->gpu || d->gpu_only))
        return cli_usage(cli, "%s is for a card, and --device cpu asks for none.",
                         d->gpu ? "--gpu" : d->gpu_only);
    if (must && d->cpu_only)
        return cli_usage(cli, "%s is for the CPU device: a card does not know it.", d->cpu_only);
    if (strcmp(name, "cpu") == 0 || d->cpu_only)
        return STATUS_DONE;
    cli_find_cards(cli, &d->cards);
    if (!d->cards.count && must && d->advice)
        return cli_failed(cli, "%s. %s", d->cards.why_none, d->advice);
    if (!d->cards.count && must)
        return cli_failed(cli, "%s. %s: the CPU device needs no card.", d->cards.why_none,
                          d->gpu_only ? arena_printf(&cli->arena, "Leave %s out", d->gpu_only)
                          : d->gpu    ? "Leave --gpu out"
                                      : "Say --device cpu, or SCANJUDGE_DEVICE=cpu");
    if (d->gpu) {
        struct cards all = d->cards;
        if (cards_choose(&all, d->gpu, &cli->arena, &d->cards, &e) != 0)
            return cli_usage(cli, "--gpu: %s", e.text);
    }
    d->on_gpu = d->cards.count > 0;
    return STATUS_DONE;
}
