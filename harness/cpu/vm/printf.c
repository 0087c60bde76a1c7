/* Device printf. nvcc packs the arguments of printf into a buffer, each at its natural alignment
 * (char and short promoted to int, float to double), and calls vprintf(format, buffer). The format
 * is taken apart here and each conversion handed to the host's printf with one argument. */
#include "cpu/vm/machine.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { STRING_MOST = 65536, SPEC_MOST = 64 };

struct reader {
    vm_read_function *read;
    void *context;
    uint64_t at; /* next argument */
    bool failed;
};

static uint64_t next_argument(struct reader *r, uint64_t bytes)
{
    uint64_t value = 0;
    r->at = (r->at + bytes - 1) & ~(bytes - 1);
    if (!r->read(r->context, r->at, &value, bytes))
        r->failed = true;
    r->at += bytes;
    return value;
}

static bool read_string(struct reader *r, uint64_t address, struct text *out)
{
    for (uint64_t i = 0; i < STRING_MOST; i++) {
        char c;
        if (!r->read(r->context, address + i, &c, 1))
            return false;
        if (!c)
            return true;
        text_addc(out, c);
    }
    return true;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* one conversion, checked above */

static void add_int(struct text *out, char *spec, size_t length, char kind, uint64_t value)
{
    char wide[SPEC_MOST + 4]; /* flags, width, precision, then "ll" and the conversion */
    snprintf(wide, sizeof wide, "%.*sll%c", (int)length, spec, kind);
    text_addf(out, wide, (long long)value);
}

static void convert(struct reader *r, struct text *out, char *spec, size_t length, char kind,
                    unsigned bytes)
{
    char whole[SPEC_MOST + 2];
    snprintf(whole, sizeof whole, "%.*s%c", (int)length, spec, kind);
    if (strchr("di", kind)) {
        uint64_t v = next_argument(r, bytes);
        add_int(out, spec, length, kind, bytes == 4 ? (uint64_t)(int64_t)(int32_t)v : v);
    } else if (strchr("uoxX", kind)) {
        add_int(out, spec, length, kind, next_argument(r, bytes));
    } else if (kind == 'c') {
        text_addf(out, whole, (int)next_argument(r, 4));
    } else if (strchr("fFeEgGaA", kind)) {
        uint64_t bits = next_argument(r, 8);
        double v;
        memcpy(&v, &bits, 8);
        text_addf(out, whole, v);
    } else if (kind == 'p') {
        text_addf(out, whole, (void *)(uintptr_t)next_argument(r, 8));
    } else if (kind == 's') {
        struct text s;
        text_init(&s);
        if (!read_string(r, next_argument(r, 8), &s))
            r->failed = true;
        text_addf(out, whole, text_str(&s));
        text_release(&s);
    } else {
        text_add(out, whole); /* an unknown conversion is printed as it stands, as on a GPU */
    }
}

#pragma GCC diagnostic pop

/* Takes one conversion apart from `p` (after the '%'); returns the character after it. */
static const char *conversion(struct reader *r, struct text *out, const char *p, int *count)
{
    char spec[SPEC_MOST] = "%";
    size_t length = 1;
    unsigned bytes = 4;
    while (*p && strchr("-+ #0123456789.*", *p)) {
        if (*p == '*') {
            char number[16];
            int n = snprintf(number, sizeof number, "%d", (int)next_argument(r, 4));
            if (length + (size_t)n + 4 < sizeof spec) {
                memcpy(spec + length, number, (size_t)n);
                length += (size_t)n;
            }
            ++*count;
        } else if (length + 4 < sizeof spec) {
            spec[length++] = *p;
        }
        p++;
    }
    for (; *p && strchr("hlLqjzt", *p); p++)
        if (*p != 'h')
            bytes = 8;
    if (!*p)
        return p;
    ++*count;
    convert(r, out, spec, length, *p, bytes);
    return p + 1;
}

int vm_printf(vm_read_function *read, void *context, uint64_t format, uint64_t arguments)
{
    struct reader r = {.read = read, .context = context, .at = arguments};
    struct text form, out;
    text_init(&form);
    text_init(&out);
    int count = -1;
    if (!read_string(&r, format, &form))
        goto out;
    count = 0;
    for (const char *p = text_str(&form); *p && !r.failed;) {
        if (*p != '%') {
            text_addc(&out, *p++);
        } else if (p[1] == '%') {
            text_addc(&out, '%');
            p += 2;
        } else {
            p = conversion(&r, &out, p + 1, &count);
        }
    }
    fwrite(text_str(&out), 1, out.length, stdout);
    if (r.failed)
        count = -1;
out:
    text_release(&form);
    text_release(&out);
    return count;
}
