/* The table of formats: formats.def gives the rows, report_<name>() in <name>.c the functions. */
#include "judge/report/report.h"

#include <string.h>

#define FORMAT(name, reader) report_function report_##name;
#include "judge/report/formats.def"
#undef FORMAT

static const struct format_row {
    const char *name;
    report_function *report;
} FORMATS[] = {
#define FORMAT(name, reader) {#name, report_##name},
#include "judge/report/formats.def"
#undef FORMAT
};

report_function *report_find(const char *format)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
        if (strcmp(FORMATS[i].name, format) == 0)
            return FORMATS[i].report;
    return NULL;
}

const char *report_formats(void)
{
    /* "text, json": every name with a separator, which the pointer then skips. */
    return &(
#define FORMAT(name, reader) ", " #name
#include "judge/report/formats.def"
#undef FORMAT
        "")[2];
}
