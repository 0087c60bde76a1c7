/* The table of formats: formats.def gives the rows, report_<name>() in <name>.c the functions. */
#include "judge/report/report.h"

#include <string.h>

#define FORMAT(name, extension, many, reader) report_function report_##name;
#include "judge/report/formats.def"
#undef FORMAT

static const struct report_format FORMATS[] = {
#define FORMAT(name, extension, many, reader) {#name, extension, reader, many, report_##name},
#include "judge/report/formats.def"
#undef FORMAT
};

const struct report_format *report_format_at(unsigned index)
{
    return index < sizeof FORMATS / sizeof FORMATS[0] ? &FORMATS[index] : NULL;
}

const struct report_format *report_find(const char *name)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
        if (strcmp(FORMATS[i].name, name) == 0)
            return &FORMATS[i];
    return NULL;
}

const char *report_formats(void)
{
    /* "text, json": every name with a separator, which the pointer then skips. */
    return &(
#define FORMAT(name, extension, many, reader) ", " #name
#include "judge/report/formats.def"
#undef FORMAT
        "")[2];
}
