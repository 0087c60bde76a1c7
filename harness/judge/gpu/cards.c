#include "judge/gpu/cards.h"

#include "base/text.h"
#include "judge/gpu/nvml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER_BYTES = 96 };

/* false: this card does not tell what has to be known. */
static bool read_card(const struct nvml *n, unsigned number, struct card *card)
{
    nvml_device device;
    struct nvml_memory memory;
    int major = 0, minor = 0;
    *card = (struct card){.number = number};
    if (n->nvmlDeviceGetHandleByIndex_v2(number, &device) != 0 ||
        n->nvmlDeviceGetUUID(device, card->uuid, sizeof card->uuid) != 0 ||
        n->nvmlDeviceGetCudaComputeCapability(device, &major, &minor) != 0 || major < 1 ||
        minor < 0)
        return false;
    if (n->nvmlDeviceGetName(device, card->name, sizeof card->name) != 0)
        snprintf(card->name, sizeof card->name, "a card without a name");
    if (n->nvmlDeviceGetMemoryInfo(device, &memory) == 0)
        card->memory_bytes = memory.total;
    card->capability = (unsigned)major * 10 + (unsigned)minor;
    return true;
}

/* A box sees those of the system, and its loader looks there. */
static const char *unless_system(const char *folder)
{
    static const char *const SYSTEM[] = {"/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib64"};
    for (size_t i = 0; folder && i < sizeof SYSTEM / sizeof SYSTEM[0]; i++) {
        size_t length = strlen(SYSTEM[i]);
        if (strncmp(folder, SYSTEM[i], length) == 0 && (!folder[length] || folder[length] == '/'))
            return NULL;
    }
    return folder && folder[0] == '/' ? folder : NULL;
}

void cards_find(const char *nvml, struct arena *arena, struct cards *cards)
{
    struct nvml n;
    struct err e;
    char driver[DRIVER_BYTES] = "";
    unsigned count = 0;
    *cards = (struct cards){.driver = ""};
    if (nvml_open(nvml, &n, &e) != 0) {
        cards->why_none = arena_strdup(arena, e.text);
        return;
    }
    if (n.nvmlSystemGetDriverVersion(driver, sizeof driver) == 0)
        cards->driver = arena_strdup(arena, driver);
    if (n.nvmlDeviceGetCount_v2(&count) != 0)
        count = 0;
    struct card *items = arena_array(arena, count, sizeof *items);
    for (unsigned i = 0; i < count; i++)
        cards->count += read_card(&n, i, &items[cards->count]);
    for (unsigned i = 0; i < cards->count; i++)
        items[i].libraries = unless_system(nvml_folder(&n, arena));
    cards->items = items;
    nvml_close(&n);
    if (!cards->count)
        cards->why_none =
            count ? "the NVIDIA driver does not tell what its cards are: does nvidia-smi work?"
                  : "the NVIDIA driver here sees no card: does nvidia-smi show one?";
}

/* The card that one word of a list means; NULL if there is none, or more than one. */
static const struct card *find_card(const struct cards *all, const char *word, size_t length)
{
    const struct card *found = NULL;
    if (length && strspn(word, "0123456789") >= length) {
        char *end;
        errno = 0;
        unsigned long number = strtoul(word, &end, 10);
        for (unsigned i = 0; i < all->count && !errno; i++)
            if (all->items[i].number == number)
                found = &all->items[i];
        return found;
    }
    if (length < 5 || strncmp(word, "GPU-", 4) != 0)
        return NULL;
    for (unsigned i = 0; i < all->count; i++) {
        if (strncmp(all->items[i].uuid, word, length) != 0)
            continue;
        if (found)
            return NULL;
        found = &all->items[i];
    }
    return found;
}

static bool holds(const struct card *items, unsigned count, const struct card *card)
{
    for (unsigned i = 0; i < count; i++)
        if (items[i].number == card->number)
            return true;
    return false;
}

static int complain(const struct cards *all, const char *what, const char *word, size_t length,
                    struct err *e)
{
    struct text list;
    text_init(&list);
    for (unsigned i = 0; i < all->count; i++)
        text_addf(&list, "%s%u (%s, %s)", i ? ", " : "", all->items[i].number, all->items[i].name,
                  all->items[i].uuid);
    err_set(e, "'%.*s' %s. The cards here: %s.", (int)length, word, what,
            all->count ? text_str(&list) : "none");
    text_release(&list);
    return -1;
}

int cards_choose(const struct cards *all, const char *list, struct arena *arena,
                 struct cards *chosen, struct err *e)
{
    struct card *items = arena_array(arena, all->count, sizeof *items);
    *chosen = (struct cards){.items = items, .driver = all->driver};
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        const struct card *card = find_card(all, at, length);
        if (!card)
            return complain(all, "names no card", at, length, e);
        if (holds(items, chosen->count, card))
            return complain(all, "names a card a second time", at, length, e);
        items[chosen->count++] = *card;
        at += length;
        if (!*at)
            return 0;
    }
}

void cards_visible(const struct cards *all, const char *list, struct arena *arena,
                   struct cards *visible)
{
    *visible = *all;
    if (!list)
        return;
    struct card *items = arena_array(arena, all->count, sizeof *items);
    visible->items = items;
    visible->count = 0;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        const struct card *card = find_card(all, at, length);
        if (!card || holds(items, visible->count, card))
            break;
        items[visible->count++] = *card;
        at += length;
        if (!*at)
            break;
    }
    if (!visible->count && all->count)
        visible->why_none =
            arena_printf(arena, "CUDA_VISIBLE_DEVICES is '%s', which leaves no card", list);
}

unsigned cards_capability(const struct cards *cards)
{
    unsigned least = 0;
    for (unsigned i = 0; i < cards->count; i++)
        if (!least || cards->items[i].capability < least)
            least = cards->items[i].capability;
    return least;
}
