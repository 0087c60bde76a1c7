/* What a submission printed, and what it is named, may hold anything: escape sequences that rewrite
 * the terminal's title, bidirectional overrides that turn lines around, broken UTF-8. */
#include "judge/report/report.h"

#include "judge/report/utf8.h"

static void add_visible(struct text *out, const char *s, bool one_line)
{
    while (*s) {
        uint32_t c;
        unsigned length = utf8_read(s, &c);
        if (length == 0) {
            text_addf(out, "\\x%02x", (unsigned char)*s);
            s++;
            continue;
        }
        if (c == '\r')
            text_add(out, "\\r");
        else if (one_line && (c == '\n' || c == '\t'))
            text_add(out, c == '\n' ? "\\n" : "\\t");
        else if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
            text_addf(out, "\\x%02x", c);
        else if (utf8_is_invisible(c))
            text_addf(out, "\\u%04x", c);
        else
            text_addn(out, s, length);
        s += length;
    }
}

void report_add_escaped(struct text *out, const char *s)
{
    add_visible(out, s, false);
}

void report_add_name(struct text *out, const char *s)
{
    add_visible(out, s, true);
}
