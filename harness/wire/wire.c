#include "wire/wire.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>

struct verdict_row {
    const char *name, *people;
    int exit_status;
};
static const struct verdict_row VERDICTS[VERDICT_COUNT] = {
#define VERDICT(id, status, order, text) {#id, text, status},
#include "wire/verdicts.def"
#undef VERDICT
};

struct finding_row {
    const char *name, *people;
    bool fatal;
};
static const struct finding_row FINDINGS[FINDING_COUNT] = {
#define FINDING(id, is_fatal, text) {#id, text, is_fatal},
#include "wire/findings.def"
#undef FINDING
};

struct counter_row {
    const char *name, *cost, *people;
};
static const struct counter_row COUNTERS[COUNTER_COUNT] = {
#define COUNTER(id, cost, text) {#id, cost, text},
#include "wire/counters.def"
#undef COUNTER
};

struct type_row {
    const char *name, *c_name;
    unsigned bytes;
    char kind;
};
static const struct type_row TYPES[WIRE_TYPE_COUNT] = {
#define TYPE(id, size, c, k) {#id, c, size, k},
#include "wire/types.def"
#undef TYPE
};

const char *verdict_name(enum verdict v)
{
    return VERDICTS[v].name;
}

const char *verdict_for_people(enum verdict v)
{
    return VERDICTS[v].people;
}

int verdict_exit_status(enum verdict v)
{
    return VERDICTS[v].exit_status;
}

const char *finding_name(enum finding_kind k)
{
    return FINDINGS[k].name;
}

const char *finding_for_people(enum finding_kind k)
{
    return FINDINGS[k].people;
}

bool finding_is_fatal(enum finding_kind k)
{
    return FINDINGS[k].fatal;
}

const char *counter_name(enum counter c)
{
    return COUNTERS[c].name;
}

const char *counter_cost(enum counter c)
{
    return COUNTERS[c].cost;
}

const char *counter_for_people(enum counter c)
{
    return COUNTERS[c].people;
}

const char *wire_type_name(enum wire_type t)
{
    return TYPES[t].name;
}

const char *wire_type_c_name(enum wire_type t)
{
    return TYPES[t].c_name;
}

unsigned wire_type_bytes(enum wire_type t)
{
    return TYPES[t].bytes;
}

char wire_type_kind(enum wire_type t)
{
    return TYPES[t].kind;
}

enum wire_type wire_type_find(const char *name, size_t length)
{
    return (enum wire_type)names_find(NAMES(TYPES, name), name, length);
}

enum verdict verdict_find(const char *name)
{
    return (enum verdict)names_find(NAMES(VERDICTS, name), name, strlen(name));
}

enum finding_kind finding_find(const char *name)
{
    return (enum finding_kind)names_find(NAMES(FINDINGS, name), name, strlen(name));
}

void wire_finding_vset(struct wire_finding *f, enum finding_kind kind, enum wire_severity severity,
                       const char *format, va_list args)
{
    *f = (struct wire_finding){.kind = (uint16_t)kind,
                               .severity = (uint16_t)severity,
                               .block = {-1, -1, -1},
                               .thread = {-1, -1, -1},
                               .count = 1};
    vsnprintf(f->message, sizeof f->message, format, args);
}

void wire_finding_set(struct wire_finding *f, enum finding_kind kind, enum wire_severity severity,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wire_finding_vset(f, kind, severity, format, args);
    va_end(args);
}
