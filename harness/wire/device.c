/* How people name what the CPU device is told: tables, read both ways. */
#include "wire/wire.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>

/* ---- checks ---- */

static const struct {
    const char *name;
    uint32_t bits;
} CHECKS[] = {
#define CHECK(name, bits, text) {name, bits},
#include "wire/checks.def"
#undef CHECK
};
enum { CHECK_COUNT = sizeof CHECKS / sizeof CHECKS[0] };

bool wire_checks_parse(const char *names, uint32_t *checks)
{
    uint32_t bits = WIRE_CHECK_BOUNDS;
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ","), k = names_find(NAMES(CHECKS, name), at, length);
        if (k == CHECK_COUNT)
            return false;
        bits |= CHECKS[k].bits;
        at += length;
        if (!*at)
            break;
    }
    *checks = bits;
    return true;
}

const char *wire_checks_allowed(void)
{
    static const char NAMES[] =
#define CHECK(name, bits, text) ", " name
#include "wire/checks.def"
#undef CHECK
        ;
    return NAMES + 2;
}

void wire_checks_print(uint32_t checks, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t k = CHECK_COUNT; k-- > 0;)
        if (CHECKS[k].bits == checks) {
            snprintf(out, out_bytes, "%s", CHECKS[k].name);
            return;
        }
    for (size_t k = 0; k < CHECK_COUNT && used < out_bytes; k++) {
        bool single = (CHECKS[k].bits & (CHECKS[k].bits - 1)) == 0;
        if (single && checks & CHECKS[k].bits)
            used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", used ? "," : "",
                                     CHECKS[k].name);
    }
}

/* ---- schedules and the order of streams ---- */

static const struct {
    const char *key, *people;
} SCHEDULES[WIRE_SCHEDULE_COUNT] = {
#define SCHEDULE(id, key, people) [id] = {key, people},
#include "wire/schedules.def"
#undef SCHEDULE
};

static const struct {
    const char *key;
} STREAM_ORDERS[WIRE_STREAM_ORDER_COUNT] = {
#define STREAM_ORDER(id, key) [id] = {key},
#include "wire/stream_orders.def"
#undef STREAM_ORDER
};

const char *wire_schedule_name(enum wire_schedule s)
{
    return SCHEDULES[s].people;
}

const char *wire_schedule_key(enum wire_schedule s)
{
    return SCHEDULES[s].key;
}

enum wire_schedule wire_schedule_find(const char *key, size_t length)
{
    return (enum wire_schedule)names_find(NAMES(SCHEDULES, key), key, length);
}

const char *wire_schedules_allowed(void)
{
    static const char NAMES[] =
#define SCHEDULE(id, key, people) ", " key
#include "wire/schedules.def"
#undef SCHEDULE
        ;
    return NAMES + 2;
}

const char *wire_stream_order_key(enum wire_stream_order o)
{
    return STREAM_ORDERS[o].key;
}

enum wire_stream_order wire_stream_order_find(const char *key)
{
    return (enum wire_stream_order)names_find(NAMES(STREAM_ORDERS, key), key, strlen(key));
}

const char *wire_stream_orders_allowed(void)
{
    static const char NAMES[] =
#define STREAM_ORDER(id, key) ", " key
#include "wire/stream_orders.def"
#undef STREAM_ORDER
        ;
    return NAMES + 2;
}
