/* markdown: a statement for a terminal. Only what statements use is known: headings, emphasis,
 * code, links, lists, tables, blocks. */
#ifndef CLI_MARKDOWN_H
#define CLI_MARKDOWN_H

#include "base/text.h"

#include <stdbool.h>

struct markdown_style {
    bool colour;      /* with the codes of a terminal: bold, coloured */
    unsigned columns; /* lines are broken before they get longer; 0 = as they are */
};

/* `markdown` must be escaped already (report_add_escaped): what is in it is shown as it is. */
void markdown_render(struct text *out, const char *markdown, const struct markdown_style *style);

/* Adds one line, broken between words so that each part fits; all but the first begin with `indent`
 * blanks more than the line has. Codes of a terminal take no room; between two Chinese characters a
 * line may end. */
void markdown_wrap(struct text *out, const char *line, unsigned columns, unsigned indent);

#endif
