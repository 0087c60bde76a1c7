#include "judge/run/validate.h"

#include <signal.h>
#include <string.h>

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

/* Escape sequences must not reach a terminal, nor broken UTF-8 a JSON writer. */
static bool clean_string(char *string, size_t capacity)
{
    const char *nul = memchr(string, '\0', capacity);
    if (!nul)
        return false;
    unsigned char *s = (unsigned char *)string;
    const unsigned char *end = (const unsigned char *)nul;
    while (s < end) {
        size_t length = utf8_length(s, end);
        if (length == 0 && *s != '\n')
            *s = '?';
        s += length ? length : 1;
    }
    return true;
}

static bool validate_finding(struct wire_finding *f)
{
    if (f->kind >= FINDING_COUNT || f->severity > WIRE_ERROR)
        return false;
    for (int i = 0; i < 3; i++)
        if (f->block[i] < -1 || f->thread[i] < -1)
            return false;
    return clean_string(f->file, sizeof f->file) && clean_string(f->kernel, sizeof f->kernel) &&
           clean_string(f->message, sizeof f->message);
}

/* Whether the answer is one to the question that was asked. */
static bool status_fits(uint32_t status, bool loading)
{
    switch ((enum wire_status)status) {
    case WIRE_READY:
    case WIRE_LOAD_FAILED:
        return loading;
    case WIRE_DONE:
    case WIRE_CUDA_ERROR:
    case WIRE_BAD_REQUEST:
        return !loading;
    case WIRE_CRASHED:
        return true;
    }
    return false;
}

bool validate_reply(struct wire_reply *reply, bool loading)
{
    if (reply->magic != WIRE_MAGIC || !status_fits(reply->status, loading))
        return false;
    if (reply->signal < 0 || reply->signal >= NSIG)
        return false;
    if ((reply->status == WIRE_CRASHED) != (reply->signal != 0))
        return false;
    if (reply->finding_count > WIRE_FINDINGS_MAX)
        return false;
    for (uint32_t i = 0; i < reply->finding_count; i++)
        if (!validate_finding(&reply->findings[i]))
            return false;
    return clean_string(reply->message, sizeof reply->message);
}
