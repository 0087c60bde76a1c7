/* What programs that nobody trusts have printed must not send escape sequences to a terminal, nor
 * broken UTF-8 to a JSON writer. */
#include "wire/wire.h"

/* Bytes of the well-formed UTF-8 character at `s` (before `end`), 0 if there is none. */
static size_t utf8_length(const unsigned char *s, const unsigned char *end)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high, bytes;
    } ROWS[] = {
        /* Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above 10FFFF */
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7f;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        if (s[0] < ROWS[i].first_low || s[0] > ROWS[i].first_high)
            continue;
        if (end - s < ROWS[i].bytes || s[1] < ROWS[i].second_low || s[1] > ROWS[i].second_high)
            return 0;
        for (unsigned k = 2; k < ROWS[i].bytes; k++)
            if (s[k] < 0x80 || s[k] > 0xbf)
                return 0;
        return ROWS[i].bytes;
    }
    return 0;
}

void wire_clean_text(char *text, size_t length)
{
    unsigned char *s = (unsigned char *)text;
    const unsigned char *end = s + length;
    while (s < end) {
        size_t bytes = utf8_length(s, end);
        if (bytes == 0 && *s != '\n' && *s != '\t')
            *s = '?';
        s += bytes ? bytes : 1;
    }
}
