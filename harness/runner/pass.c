/* How it works: a buffer lies on the device as it does in the outputs memfd: guard, `misalign`
 * bytes, payload, guard. Poison goes there from one small chunk that repeats with the pattern's
 * period, inputs straight from their memfd, and everything comes back straight into the other one:
 * each byte is copied once in either direction. A large buffer of our own device lies in the
 * outputs memfd from the start, and nothing has to come back.
 *
 * The entry may return while its work is queued. What it promises is that its results are there
 * when the stream it was given is done: so the runner waits for that stream alone, copies the
 * outputs back in that stream, and only then waits for the rest, to leave nothing to the next pass.
 * The stream is a non-blocking one, which nothing orders with the default stream. An entry that is
 * given no stream has the whole device waited for. */
#include "runner/pass.h"

#include "base/clock.h"
#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Fits the second-level cache, and is a whole number of periods. */
enum { CHUNK_BYTES = 64 * WIRE_POISON_PERIOD_BYTES };

void pass_init(struct pass_state *s, struct device *device, call_entry entry)
{
    *s = (struct pass_state){.device = device, .entry = entry};
    s->chunk = malloc(CHUNK_BYTES);
    if (!s->chunk)
        BUG("out of memory");
}

/* ---- what the judge sent ---- */

static int check_param(const struct wire_request *q, const struct wire_param *p, struct err *e)
{
    if (p->kind > WIRE_PARAM_STREAM || p->type >= WIRE_TYPE_COUNT || p->role > WIRE_WORKSPACE ||
        !memchr(p->name, '\0', sizeof p->name))
        return err_set(e, "a parameter of the request is not well-formed");
    if (p->kind != WIRE_PARAM_BUFFER)
        return 0;
    bool has_contents = p->role == WIRE_INPUT || p->role == WIRE_INOUT;
    if (p->bytes > q->out_bytes || p->misalign > WIRE_GUARD_BYTES ||
        wire_buffer_bytes(p) > q->out_bytes ||
        p->out_offset > q->out_bytes - wire_buffer_bytes(p) ||
        (has_contents && (p->bytes > q->in_bytes || p->in_offset > q->in_bytes - p->bytes)))
        return err_set(e, "the buffer %s lies outside of the memory that came with it", p->name);
    return 0;
}

static int region_map(struct region *r, int fd, uint64_t size, int protection, struct err *e)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_set(e, "the request came without its memory");
    if ((uint64_t)st.st_size < size)
        return err_set(e, "the request's memory is smaller than it says");
    if (r->bytes && r->device == st.st_dev && r->inode == st.st_ino && r->size >= size)
        return 0;
    if (r->bytes)
        munmap(r->bytes, r->size);
    *r = (struct region){0};
    if (size == 0)
        return 0;
    size = (uint64_t)st.st_size; /* all of it: a mapping that ends within a huge page has none */
    void *bytes = pages_map(fd, size, protection);
    if (!bytes)
        return err_set_errno(e, "cannot map the request's memory");
    *r = (struct region){st.st_dev, st.st_ino, bytes, size};
    return 0;
}

static bool lies_within(const struct wire_request *q, uint64_t offset, uint64_t bytes)
{
    return bytes <= q->out_bytes && offset <= q->out_bytes - bytes && offset % 64 == 0;
}

int pass_accept(struct pass_state *s, const struct wire_request *q, const int fds[2], struct err *e)
{
    if (q->magic != WIRE_MAGIC || q->param_count > WIRE_PARAMS_MAX)
        return err_set(e, "the request is not one of this version");
    for (unsigned i = 0; i < q->param_count; i++)
        if (check_param(q, &q->params[i], e) != 0)
            return -1;
    if (!lies_within(q, q->profile_offset, q->profile_bytes) ||
        !lies_within(q, q->trace_offset, q->trace_bytes))
        return err_set(e, "a note lies outside of the memory that came with the request");
    if (region_map(&s->inputs, fds[0], q->in_bytes, PROT_READ, e) != 0)
        return -1;
    if (q->action != WIRE_RUN && !q->keeps_outputs)
        return 0; /* what is only timed sends nothing back */
    return region_map(&s->outputs, fds[1], q->out_bytes, PROT_READ | PROT_WRITE, e);
}

/* ---- to the device ---- */

static void free_buffers(const struct device *d, void **buffers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i])
            d->cudaFree(buffers[i]);
        buffers[i] = NULL;
    }
}

/* A bare buffer ends where its payload ends; it still begins where its address is to begin. */
static uint64_t payload_offset(const struct wire_request *q, const struct wire_param *p)
{
    return q->bare ? p->misalign : pass_payload_offset(p);
}

static uint64_t whole_bytes(const struct wire_request *q, const struct wire_param *p)
{
    if (!q->bare)
        return wire_buffer_bytes(p);
    return p->misalign + p->bytes ? p->misalign + p->bytes : 1;
}

/* Where the large buffer `p` may lie in the outputs memfd, else NULL. Only where work is done at
 * once: what a later stream does must not be among what the entry's own stream left. */
static void *place_in_outputs(const struct pass_state *s, const struct wire_request *q,
                              const struct wire_param *p)
{
    const uint64_t large = (uint64_t)1 << 20, readable = 64; /* beyond the end, see vm_lend() */
    const struct wire_device_hooks *hooks = s->device->hooks;
    uint64_t whole = wire_buffer_bytes(p);
    if (!hooks || !hooks->lend || q->action != WIRE_RUN || q->bare ||
        q->device.stream_order != WIRE_STREAMS_EAGER || whole < large ||
        s->outputs.size < whole + readable || p->out_offset > s->outputs.size - whole - readable)
        return NULL;
    return s->outputs.bytes + p->out_offset;
}

static cudaError_t allocate_buffer(const struct pass_state *s, const struct wire_request *q,
                                   const struct wire_param *p, void **buffer)
{
    const struct device *d = s->device;
    uint64_t bytes = whole_bytes(q, p);
    void *place = d->hooks ? place_in_outputs(s, q, p) : NULL;
    if (place)
        d->hooks->lend(place, bytes);
    cudaError_t error = d->cudaMalloc(buffer, bytes);
    if (place && error != cudaSuccess)
        d->hooks->lend(NULL, 0);
    return error;
}

static cudaError_t allocate(const struct pass_state *s, const struct wire_request *q,
                            void **buffers)
{
    const struct device *d = s->device;
    for (unsigned i = 0; i < q->param_count; i++) {
        if (q->params[i].kind != WIRE_PARAM_BUFFER)
            continue;
        cudaError_t error = allocate_buffer(s, q, &q->params[i], &buffers[i]);
        if (error != cudaSuccess) {
            buffers[i] = NULL;
            free_buffers(d, buffers, i);
            d->cudaGetLastError(); /* ours, not the submission's */
            return error;
        }
    }
    return cudaSuccess;
}

/* New buffers while the old ones are still there; the other way round only if both do not fit. */
static int replace_buffers(struct pass_state *s, const struct wire_request *q, struct err *e)
{
    const struct device *d = s->device;
    void *fresh[WIRE_PARAMS_MAX] = {NULL};
    cudaError_t error = allocate(s, q, fresh);
    free_buffers(d, s->buffers, s->buffer_count);
    if (error != cudaSuccess)
        error = allocate(s, q, fresh);
    if (error != cudaSuccess) {
        char why[256];
        device_explain(d, error, "allocating the buffers of a case", why, sizeof why);
        return err_set(e, "%s", why);
    }
    memcpy(s->buffers, fresh, sizeof fresh);
    s->buffer_count = q->param_count;
    return 0;
}

/* Poison from byte `from` of buffer `index` up to `to`. */
static cudaError_t put_poison(struct pass_state *s, const struct wire_request *q, unsigned index,
                              uint64_t from, uint64_t to)
{
    uint8_t *base = s->buffers[index];
    for (uint64_t at = from; at < to; at += CHUNK_BYTES) {
        uint64_t bytes = to - at < CHUNK_BYTES ? to - at : CHUNK_BYTES;
        if (at == from)
            wire_poison(s->chunk, from, bytes, q->poison_seed, index);
        cudaError_t error =
            s->device->cudaMemcpy(base + at, s->chunk, bytes, cudaMemcpyHostToDevice);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

static cudaError_t fill_buffer(struct pass_state *s, const struct wire_request *q, unsigned index)
{
    const struct wire_param *p = &q->params[index];
    uint64_t whole = whole_bytes(q, p), start = payload_offset(q, p), end = start + p->bytes;
    if (q->bare && (p->role == WIRE_OUTPUT || p->role == WIRE_WORKSPACE))
        return cudaSuccess;
    if (p->role == WIRE_OUTPUT || p->role == WIRE_WORKSPACE)
        return put_poison(s, q, index, 0, whole);
    cudaError_t error = q->bare ? cudaSuccess : put_poison(s, q, index, 0, start);
    if (error == cudaSuccess && p->bytes)
        error =
            s->device->cudaMemcpy((uint8_t *)s->buffers[index] + start,
                                  s->inputs.bytes + p->in_offset, p->bytes, cudaMemcpyHostToDevice);
    return error == cudaSuccess && !q->bare ? put_poison(s, q, index, end, whole) : error;
}

/* Everything on the device as the entry is to find it. */
static int prepare(struct pass_state *s, const struct wire_request *q, struct err *e)
{
    const struct device *d = s->device;
    /* Before the copies: what the device keeps about memory depends on the checks. */
    if (d->hooks)
        d->hooks->configure(&q->device);
    if (replace_buffers(s, q, e) != 0)
        return -1;
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < q->param_count && error == cudaSuccess; i++) {
        const struct wire_param *p = &q->params[i];
        if (p->kind != WIRE_PARAM_BUFFER)
            continue;
        error = fill_buffer(s, q, i);
        if (!d->hooks)
            continue;
        uint8_t *payload = (uint8_t *)s->buffers[i] + payload_offset(q, p);
        d->hooks->narrow(payload, p->bytes, p->name);
        if (p->role == WIRE_OUTPUT || p->role == WIRE_WORKSPACE)
            d->hooks->forget(payload, p->bytes);
        if (p->role == WIRE_INPUT && d->hooks->protect)
            d->hooks->protect(payload);
    }
    /* A copy from pageable memory may still be on its way, and the stream does not wait for it. */
    if (error == cudaSuccess)
        error = d->cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        char why[256];
        device_explain(d, error, "filling the buffers of a case", why, sizeof why);
        return err_set(e, "%s", why);
    }
    /* Once more: findings, counters and the peak start with the call. */
    if (d->hooks)
        d->hooks->configure(&q->device);
    return 0;
}

/* ---- back from the device ---- */

/* The entry's errors and what it left in its stream, and who else was still at work. */
static cudaError_t wait_for_entry(const struct device *d, const struct wire_request *q,
                                  const char **when)
{
    bool given = false;
    for (unsigned i = 0; i < q->param_count; i++)
        given |= q->params[i].kind == WIRE_PARAM_STREAM;
    cudaError_t error = d->cudaGetLastError();
    *when = "returned by a launch or a call of the entry point";
    if (error != cudaSuccess)
        return error;
    error = given ? d->cudaStreamSynchronize(d->stream) : d->cudaDeviceSynchronize();
    *when = "while the kernels ran";
    if (error == cudaSuccess && d->hooks)
        d->hooks->left_behind(RUNNER_STREAM);
    return error;
}

static cudaError_t copy_back(struct pass_state *s, const struct wire_request *q)
{
    const struct device *d = s->device;
    for (unsigned i = 0; i < q->param_count; i++) {
        const struct wire_param *p = &q->params[i];
        if (p->kind != WIRE_PARAM_BUFFER)
            continue;
        uint64_t whole = wire_buffer_bytes(p);
        if (d->hooks)
            d->hooks->narrow(s->buffers[i], whole, p->name); /* the guards are ours to read */
        /* What is there already is asked for all the same: it may have been freed. */
        uint64_t bytes = place_in_outputs(s, q, p) ? WIRE_GUARD_BYTES : whole;
        cudaError_t error = d->cudaMemcpyAsync(s->outputs.bytes + p->out_offset, s->buffers[i],
                                               bytes, cudaMemcpyDeviceToHost, d->stream);
        if (error != cudaSuccess)
            return error;
    }
    return d->cudaStreamSynchronize(d->stream);
}

static void observe(const struct pass_state *s, const struct wire_request *q, uint64_t bytes_before,
                    struct wire_reply *reply)
{
    const struct device *d = s->device;
    if (d->meter)
        reply->device_bytes = d->meter->peak();
    if (!d->hooks)
        return;
    size_t all = d->hooks->findings(reply->findings, WIRE_FINDINGS_MAX);
    reply->finding_count = all < WIRE_FINDINGS_MAX ? (uint32_t)all : WIRE_FINDINGS_MAX;
    reply->findings_dropped = (uint32_t)(all - reply->finding_count);
    d->hooks->counters(&reply->counters);
    if (q->profile_bytes)
        reply->profile_used =
            d->hooks->profile(s->outputs.bytes + q->profile_offset, q->profile_bytes);
    if (q->trace_bytes)
        reply->trace_used = d->hooks->trace(s->outputs.bytes + q->trace_offset, q->trace_bytes);
    uint64_t peak = d->hooks->peak_bytes();
    if (!d->meter)
        reply->device_bytes = peak > bytes_before ? peak - bytes_before : 0;
}

static void fail(struct wire_reply *reply, const struct err *e)
{
    reply->status = WIRE_BAD_REQUEST;
    snprintf(reply->message, sizeof reply->message, "%.*s", (int)sizeof reply->message - 1,
             e->text);
}

/* What the entry is given, and the same for the explanation of a crash. */
static void point(struct pass_state *s, const struct wire_request *q, void **pointers)
{
    unsigned named = 0;
    for (unsigned i = 0; i < q->param_count; i++) {
        const struct wire_param *p = &q->params[i];
        pointers[i] = NULL;
        if (p->kind == WIRE_PARAM_STREAM)
            pointers[i] = s->device->stream;
        if (p->kind != WIRE_PARAM_BUFFER)
            continue;
        pointers[i] = (uint8_t *)s->buffers[i] + payload_offset(q, p);
        s->named[named++] = (struct crash_buffer){s->buffers[i], whole_bytes(q, p), p->name};
    }
    crash_name_buffers(s->named, named);
}

/* Is there nothing on the device but our buffers? */
static bool holds_nothing(const struct pass_state *s)
{
    const struct wire_device_hooks *hooks = s->device->hooks;
    size_t ours = 0;
    for (unsigned i = 0; i < s->buffer_count; i++)
        ours += s->buffers[i] != NULL;
    return hooks && hooks->allocations && hooks->allocations() == ours;
}

void pass_run(struct pass_state *s, const struct wire_request *q, const int fds[2],
              struct wire_reply *reply)
{
    const struct device *d = s->device;
    struct err e = {""};
    if (!s->entry) {
        err_set(&e, "a runner without a submission has no case to run");
        fail(reply, &e);
        return;
    }
    if (pass_accept(s, q, fds, &e) != 0 || prepare(s, q, &e) != 0) {
        fail(reply, &e);
        return;
    }
    void *pointers[WIRE_PARAMS_MAX];
    point(s, q, pointers);
    uint64_t bytes_before = d->hooks ? d->hooks->peak_bytes() : 0;
    if (d->meter)
        d->meter->begin(q->memory_limit);

    uint64_t start = clock_now_ns();
    if (call(s->entry, q->params, q->param_count, pointers, &e) != 0) {
        fail(reply, &e);
        return;
    }
    const char *when = NULL;
    cudaError_t error = wait_for_entry(d, q, &when);
    reply->elapsed_ns = clock_now_ns() - start;

    observe(s, q, bytes_before, reply);
    if (error == cudaSuccess && !q->bare) { /* parts of an output may be nobody's to write */
        error = copy_back(s, q);
        when = "copying the results back";
    }
    if (error == cudaSuccess) {
        error = d->cudaDeviceSynchronize();
        when = "in work that was left behind on another stream";
    }
    reply->status = error == cudaSuccess ? WIRE_DONE : WIRE_CUDA_ERROR;
    reply->cuda_error = (int32_t)error;
    if (error == cudaSuccess)
        return;
    device_explain(d, error, when, reply->message, sizeof reply->message);
    reply->holds_nothing = holds_nothing(s);
}
