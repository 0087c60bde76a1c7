#include "wire/trace.h"

#include <string.h>

static bool clean_string(char *string, size_t capacity)
{
    if (!memchr(string, '\0', capacity))
        return false;
    wire_clean_text(string, strlen(string));
    return true;
}

static bool tables_are_sound(struct wire_trace *t)
{
    for (uint32_t i = 0; i < t->kernel_count; i++)
        if (!clean_string(t->kernels[i], sizeof t->kernels[i]))
            return false;
    for (uint32_t i = 0; i < t->file_count; i++)
        if (!clean_string(t->files[i], sizeof t->files[i]))
            return false;
    for (uint32_t i = 0; i < t->site_count; i++)
        if (t->sites[i].file >= t->file_count || t->sites[i].line > INT32_MAX)
            return false;
    for (uint32_t i = 0; i < t->buffer_count; i++) {
        struct wire_trace_buffer *b = &t->buffers[i];
        if (!clean_string(b->name, sizeof b->name) || b->shared > 1 || b->bytes > INT64_MAX ||
            (b->shared && b->kernel >= t->kernel_count))
            return false;
    }
    for (uint32_t i = 0; i < t->launch_count; i++)
        if (t->launches[i].kernel >= t->kernel_count)
            return false;
    return true;
}

static bool record_is_sound(const struct wire_trace *t, const struct wire_trace_record *r)
{
    bool size = r->bytes == 1 || r->bytes == 2 || r->bytes == 4 || r->bytes == 8;
    return size && r->launch < t->launch_count && r->site < t->site_count &&
           r->buffer < t->buffer_count && r->lane < 32 && r->kind < WIRE_TRACE_KINDS &&
           r->is_float <= 1 && r->has_old <= 1 && r->offset <= INT64_MAX;
}

bool wire_trace_validate(struct wire_trace *t, size_t bytes)
{
    if (bytes < sizeof *t || t->magic != WIRE_TRACE_MAGIC || t->kernel_count > WIRE_TRACE_KERNELS ||
        t->file_count > WIRE_TRACE_FILES || t->site_count > WIRE_TRACE_SITES ||
        t->buffer_count > WIRE_TRACE_BUFFERS || t->launch_count > WIRE_TRACE_LAUNCHES ||
        t->record_count > WIRE_TRACE_RECORDS ||
        bytes != sizeof *t + t->record_count * sizeof t->records[0] || !tables_are_sound(t))
        return false;
    for (uint64_t i = 0; i < t->record_count; i++)
        if (!record_is_sound(t, &t->records[i]))
            return false;
    return true;
}
