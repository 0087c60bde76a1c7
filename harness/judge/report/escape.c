/* What a submission printed, and what it is named, may hold anything: escape sequences that rewrite
 * the terminal's title, bidirectional overrides that turn lines around, broken UTF-8. */
#include "judge/report/report.h"

#include "judge/report/utf8.h"

/* Characters that change how the text around them is shown. */
static bool is_invisible(uint32_t c)
{
    static const struct {
        uint32_t low, high;
    } RANGES[] = {
        {0x80, 0x9f},     /* C1 controls: terminals take them for escape sequences */
        {0x200b, 0x200f}, /* zero width, marks of direction */
        {0x2028, 0x202e}, /* separators, overrides of direction */
        {0x2060, 0x2069}, /* isolates */
        {0xfeff, 0xfeff}, /* byte order mark */
    };
    for (size_t i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++)
        if (c >= RANGES[i].low && c <= RANGES[i].high)
            return true;
    return false;
}

void report_add_escaped(struct text *out, const char *s)
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
        else if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
            text_addf(out, "\\x%02x", c);
        else if (is_invisible(c))
            text_addf(out, "\\u%04x", c);
        else
            text_addn(out, s, length);
        s += length;
    }
}
