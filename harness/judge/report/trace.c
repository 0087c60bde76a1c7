/* Written by hand instead of with jansson: a trace has a hundred thousand small arrays. Only names
 * need escaping, and those have been made printable when the trace was validated. */
#include "judge/report/trace.h"

#include "judge/report/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_string(struct text *out, const char *s)
{
    struct text valid;
    text_init(&valid);
    utf8_add_valid(&valid, s);
    text_addc(out, '"');
    for (const char *at = text_str(&valid); *at;) {
        uint32_t c;
        unsigned length = utf8_read(at, &c);
        if (c < 0x20 || c == 0x7f || utf8_is_invisible(c))
            text_addf(out, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            text_addf(out, "\\%c", (int)c);
        else
            text_addn(out, at, length);
        at += length;
    }
    text_addc(out, '"');
    text_release(&valid);
}

static void add_triple(struct text *out, const uint32_t v[3])
{
    text_addf(out, "[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", v[0], v[1], v[2]);
}

static void add_head(struct text *out, const struct wire_trace *t, const char *source)
{
    text_add(out, "{\"format\":\"scanjudge-trace\",\"version\":1,\"source\":");
    add_string(out, source);
    text_add(out, "}\n");
    for (uint32_t k = 0; k < t->kernel_count; k++) {
        text_addf(out, "{\"kernel\":%" PRIu32 ",\"name\":", k);
        add_string(out, t->kernels[k]);
        text_add(out, "}\n");
    }
    for (uint32_t k = 0; k < t->buffer_count; k++) {
        const struct wire_trace_buffer *b = &t->buffers[k];
        text_addf(out, "{\"buffer\":%" PRIu32 ",\"space\":\"%s\",\"name\":", k,
                  b->shared ? "shared" : "global");
        add_string(out, b->name);
        text_addf(out, ",\"bytes\":%" PRIu64, b->bytes);
        if (b->shared)
            text_addf(out, ",\"of_kernel\":%" PRIu32, b->kernel);
        text_add(out, "}\n");
    }
    for (uint32_t k = 0; k < t->site_count; k++) {
        text_addf(out, "{\"site\":%" PRIu32 ",\"file\":", k);
        add_string(out, t->files[t->sites[k].file]);
        text_addf(out, ",\"line\":%" PRIu32 "}\n", t->sites[k].line);
    }
    for (uint32_t k = 0; k < t->launch_count; k++) {
        text_addf(out, "{\"launch\":%" PRIu32 ",\"of_kernel\":%" PRIu32 ",\"grid\":", k,
                  t->launches[k].kernel);
        add_triple(out, t->launches[k].grid);
        text_add(out, ",\"block_shape\":");
        add_triple(out, t->launches[k].block);
        text_add(out, "}\n");
    }
}

/* Integers are signed, as `int` is; what a double cannot hold exactly, and what JSON cannot say,
 * is a string. */
static void add_value(struct text *out, const struct wire_trace_record *r, uint64_t bits)
{
    const int64_t exact = (int64_t)1 << 53;
    if (r->is_float && r->bytes >= 4) {
        double x;
        if (r->bytes == 4) {
            float narrow;
            uint32_t low = (uint32_t)bits;
            memcpy(&narrow, &low, sizeof narrow);
            x = (double)narrow;
        } else {
            memcpy(&x, &bits, sizeof x);
        }
        if (isfinite(x))
            text_addf(out, r->bytes == 4 ? "%.9g" : "%.17g", x);
        else
            text_add(out, x != x ? "\"nan\"" : x > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    unsigned shift = 64 - 8u * r->bytes;
    int64_t v = (int64_t)(bits << shift) >> shift;
    bool fits = v >= -exact && v <= exact;
    text_addf(out, fits ? "%" PRId64 : "\"%" PRId64 "\"", v);
}

static void add_list(struct text *out, const char *key, const struct wire_trace_record *r,
                     uint64_t count, int what)
{
    text_addf(out, ",\"%s\":[", key);
    for (uint64_t k = 0; k < count; k++) {
        if (k)
            text_addc(out, ',');
        switch (what) {
        case 0:
            text_addf(out, "%u", r[k].lane);
            break;
        case 1:
            text_addf(out, "%" PRIu64, r[k].offset);
            break;
        case 2:
            add_value(out, &r[k], r[k].value);
            break;
        default:
            add_value(out, &r[k], r[k].old);
            break;
        }
    }
    text_addc(out, ']');
}

static bool together(const struct wire_trace_record *a, const struct wire_trace_record *b)
{
    return a->request == b->request && a->launch == b->launch && a->block == b->block &&
           a->phase == b->phase && a->warp == b->warp && a->site == b->site &&
           a->buffer == b->buffer && a->kind == b->kind && a->bytes == b->bytes &&
           a->is_float == b->is_float && a->has_old == b->has_old;
}

void report_trace(const struct wire_trace *t, const char *source, struct text *out)
{
    static const char *const KINDS[WIRE_TRACE_KINDS] = {"read", "write", "atomic"};
    add_head(out, t, source);
    for (uint64_t at = 0, count; at < t->record_count; at += count) {
        const struct wire_trace_record *r = &t->records[at];
        count = 1;
        while (at + count < t->record_count && together(r, &r[count]))
            count++;
        text_addf(out,
                  "{\"access\":\"%s\",\"launch\":%" PRIu32 ",\"block\":%" PRIu32
                  ",\"phase\":%" PRIu32 ",\"warp\":%u,\"site\":%u,\"buffer\":%u,\"size\":%u",
                  KINDS[r->kind], r->launch, r->block, r->phase, r->warp, r->site, r->buffer,
                  r->bytes);
        add_list(out, "lanes", r, count, 0);
        add_list(out, "at", r, count, 1);
        add_list(out, "values", r, count, 2);
        if (r->has_old)
            add_list(out, "old", r, count, 3);
        text_add(out, "}\n");
    }
}

const char *report_trace_lack(const struct wire_trace *t, char *out, size_t out_bytes)
{
    if (t->lost == 0)
        return NULL;
    snprintf(out, out_bytes,
             "the run makes %" PRIu64 " accesses, and a trace holds at most %d in %d launches of "
             "%d kernels: take a smaller case",
             t->record_count + t->lost, WIRE_TRACE_RECORDS, WIRE_TRACE_LAUNCHES,
             WIRE_TRACE_KERNELS);
    return out;
}
