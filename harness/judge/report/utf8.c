#include "judge/report/utf8.h"

unsigned utf8_read(const char *s, uint32_t *character)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t smallest;
    } FORMS[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    unsigned char first = (unsigned char)s[0];
    for (unsigned more = 0; more < 4; more++) {
        if ((first & FORMS[more].mask) != FORMS[more].lead)
            continue;
        uint32_t c = first & (unsigned char)~FORMS[more].mask;
        for (unsigned i = 1; i <= more; i++) {
            unsigned char next = (unsigned char)s[i]; /* the NUL at the end is no continuation */
            if ((next & 0xc0) != 0x80)
                return 0;
            c = c << 6 | (next & 0x3f);
        }
        if (c < FORMS[more].smallest || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
            return 0;
        *character = c;
        return more + 1;
    }
    return 0;
}

void utf8_add_valid(struct text *out, const char *s)
{
    while (*s) {
        uint32_t c;
        unsigned length = utf8_read(s, &c);
        if (length)
            text_addn(out, s, length);
        else
            text_add(out, "\xef\xbf\xbd");
        s += length ? length : 1;
    }
}

/* Blocks whose characters are two columns wide (Unicode 15, East Asian Width W and F, the ones that
 * people write texts in). */
static unsigned columns_of(uint32_t c)
{
    static const struct {
        uint32_t low, high;
    } WIDE[] = {{0x1100, 0x115f},  {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf},
                {0x4e00, 0x9fff},  {0xa000, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
                {0xfe30, 0xfe6f},  {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff},
                {0x20000, 0x3fffd}};
    for (size_t i = 0; i < sizeof WIDE / sizeof WIDE[0]; i++)
        if (c >= WIDE[i].low && c <= WIDE[i].high)
            return 2;
    return 1;
}

unsigned utf8_columns(const char *s)
{
    unsigned columns = 0;
    while (*s) {
        uint32_t c;
        unsigned length = utf8_read(s, &c);
        columns += length ? columns_of(c) : 1;
        s += length ? length : 1;
    }
    return columns;
}

bool utf8_is_invisible(uint32_t c)
{
    static const struct {
        uint32_t low, high;
    } RANGES[] = {
        {0x80, 0x9f},     /* C1 controls: terminals take them for escape sequences */
        {0x200b, 0x200f}, /* zero width, marks of direction */
        {0x2028, 0x202e}, /* separators, overrides of direction */
        {0x2060, 0x2069}, /* isolates */
        {0xfeff, 0xfeff}, /* byte order mark */
        {0xfffe, 0xffff}, /* no characters; XML knows none of them */
    };
    for (size_t i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++)
        if (c >= RANGES[i].low && c <= RANGES[i].high)
            return true;
    return false;
}
