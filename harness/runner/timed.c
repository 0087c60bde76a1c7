/* How it works: what takes time and may do so happens in WIRE_TIME_LOAD and WIRE_TIME_ARM, outside
 * of the judge's window. WIRE_TIME_GO puts everything into one stream at once, while the card is
 * still busy with the first of it:
 *
 *   overwrite L2 | patches | event | what the entry launches | event | copy of the outputs | event
 *
 * So a call is timed from cold caches and as the card sees it: launching takes the host several
 * microseconds each time, and no two times are the same, but by then the card has not got so far.
 * Nothing can be computed ahead, on whatever stream: the inputs are not complete before the patches
 * are there. Outputs are copied in the call's own stream: what somebody adds to them after the
 * entry's stream is done comes too late.
 *
 * An output buffer is filled with poison from one period of it, which doubles until the buffer is
 * full. */
#include "runner/timed.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * WIRE_POISON_PERIOD_BYTES, STAGED_BYTES = 64 * 1024 };
/* Below this a pageable copy is as fast. */
static const uint64_t REGISTER_BYTES = (uint64_t)4 << 20;
static const uint64_t PLACES_BYTES = (uint64_t)256 << 20; /* of memory on the card, for places */
static const uint64_t FLUSH_BYTES_UNKNOWN = (uint64_t)128 << 20; /* when L2's size is not known */

void timed_init(struct timed_state *t, struct pass_state *pass)
{
    *t = (struct timed_state){.pass = pass};
    t->chunk = malloc(CHUNK_BYTES);
    if (!t->chunk)
        BUG("out of memory");
}

static bool is_buffer(const struct wire_param *p)
{
    return p->kind == WIRE_PARAM_BUFFER;
}

static bool has_contents(const struct wire_param *p)
{
    return is_buffer(p) && (p->role == WIRE_INPUT || p->role == WIRE_INOUT);
}

static bool is_written(const struct wire_param *p)
{
    return is_buffer(p) && (p->role == WIRE_OUTPUT || p->role == WIRE_INOUT);
}

/* ---- loading ---- */

/* What cudaFreeAsync gives back would go back to the driver at every synchronisation, which takes
 * 0.08 ms after the call: as long as something that was left to be done behind the judge's back. */
static void keep_pool(struct timed_state *t)
{
    int card = 0;
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    if (t->api.cudaGetDevice(&card) == cudaSuccess &&
        t->api.cudaDeviceGetDefaultMemPool(&pool, card) == cudaSuccess)
        t->api.cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
    t->pass->device->cudaGetLastError(); /* a card without pools refuses */
}

static int find_api(struct timed_state *t, struct err *e)
{
    if (t->has_api)
        return 0;
#define TIMING(name)                                                                               \
    {                                                                                              \
        void *address = dlsym(t->pass->device->library, #name);                                    \
        if (!address)                                                                              \
            return err_set(e, "the CUDA runtime has no function %s", #name);                       \
        memcpy(&t->api.name, &address, sizeof address);                                            \
    }
#include "runner/timing.def"
#undef TIMING
    cudaError_t error = t->api.cudaEventCreate(&t->before);
    if (error == cudaSuccess)
        error = t->api.cudaEventCreate(&t->after);
    if (error == cudaSuccess)
        error = t->api.cudaEventCreate(&t->aside);
    if (error == cudaSuccess)
        error = t->api.cudaHostAlloc((void **)&t->staged, STAGED_BYTES, cudaHostAllocDefault);
    if (error != cudaSuccess)
        return err_set(e, "no events or no pinned memory for timing: error %d", (int)error);
    keep_pool(t);
    /* A fresh context has some of L2 set aside; from here on it is the submission that did. */
    t->api.cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    t->pass->device->cudaGetLastError();
    t->has_api = true;
    return 0;
}

static void free_places(struct timed_state *t)
{
    for (unsigned k = 0; k < TIMED_PLACES_MAX; k++)
        for (unsigned i = 0; i < WIRE_PARAMS_MAX; i++)
            if (t->places[k][i])
                t->pass->device->cudaFree(t->places[k][i]);
    memset(t->places, 0, sizeof t->places);
    t->place_count = 0;
}

static void unload(struct timed_state *t)
{
    const struct device *d = t->pass->device;
    free_places(t);
    for (unsigned i = 0; i < WIRE_PARAMS_MAX; i++) {
        for (unsigned k = 0; k < WIRE_SETS_MAX; k++)
            if (t->inputs[k][i])
                d->cudaFree(t->inputs[k][i]);
        for (unsigned k = 0; k < 2; k++)
            if (t->outputs[k][i])
                d->cudaFree(t->outputs[k][i]);
    }
    if (t->flush)
        d->cudaFree(t->flush);
    memset(t->inputs, 0, sizeof t->inputs);
    memset(t->outputs, 0, sizeof t->outputs);
    t->flush = NULL;
    if (t->is_registered)
        t->api.cudaHostUnregister(t->pass->outputs.bytes);
    t->is_registered = t->is_loaded = false;
}

/* Buffer by buffer, so that those of one place lie apart. Without the memory for it there are none.
 */
static void allocate_places(struct timed_state *t, const struct wire_request *q)
{
    const struct device *d = t->pass->device;
    uint64_t bytes = 1;
    for (unsigned i = 0; i < q->param_count; i++)
        bytes += is_buffer(&q->params[i]) ? wire_buffer_bytes(&q->params[i]) : 0;
    uint64_t wanted = PLACES_BYTES / bytes;
    t->place_count = wanted < 2                  ? 0
                     : wanted < TIMED_PLACES_MAX ? (unsigned)wanted
                                                 : TIMED_PLACES_MAX;
    for (unsigned i = 0; i < q->param_count; i++)
        for (unsigned k = 0; is_buffer(&q->params[i]) && k < t->place_count; k++)
            if (d->cudaMalloc(&t->places[k][i], wire_buffer_bytes(&q->params[i])) != cudaSuccess) {
                d->cudaGetLastError();
                free_places(t);
                return;
            }
}

static cudaError_t allocate(struct timed_state *t, const struct wire_request *q)
{
    const struct device *d = t->pass->device;
    cudaError_t error = d->cudaMalloc(&t->flush, t->flush_bytes);
    if (error == cudaSuccess)
        allocate_places(t, q);
    for (unsigned i = 0; i < q->param_count && error == cudaSuccess; i++) {
        const struct wire_param *p = &q->params[i];
        if (!is_buffer(p))
            continue;
        uint64_t bytes = wire_buffer_bytes(p);
        for (unsigned k = 0; k < q->set_count && has_contents(p) && error == cudaSuccess; k++)
            error = d->cudaMalloc(&t->inputs[k][i], bytes);
        if (p->role != WIRE_INPUT && t->place_count == 0 && error == cudaSuccess)
            error = d->cudaMalloc(&t->outputs[0][i], bytes);
        if (is_written(p) && q->keeps_outputs && error == cudaSuccess)
            error = d->cudaMalloc(&t->outputs[1][i], bytes);
    }
    return error;
}

/* Guards of an input: the pattern, as in a pass. */
static cudaError_t put_guard(struct timed_state *t, uint8_t *base, uint64_t from, uint64_t to,
                             uint64_t seed, unsigned buffer)
{
    wire_poison(t->chunk, from, to - from, seed, buffer);
    return t->pass->device->cudaMemcpy(base + from, t->chunk, to - from, cudaMemcpyHostToDevice);
}

static cudaError_t upload(struct timed_state *t, const struct wire_request *q, unsigned set,
                          unsigned i)
{
    const struct wire_param *p = &q->params[i];
    uint8_t *base = t->inputs[set][i];
    uint64_t start = pass_payload_offset(p), end = start + p->bytes;
    cudaError_t error = put_guard(t, base, 0, start, q->poison_seed, i);
    if (error == cudaSuccess && p->bytes)
        error = t->pass->device->cudaMemcpy(
            base + start, t->pass->inputs.bytes + set * q->set_bytes + p->in_offset, p->bytes,
            cudaMemcpyHostToDevice);
    return error == cudaSuccess ? put_guard(t, base, end, wire_buffer_bytes(p), q->poison_seed, i)
                                : error;
}

static void choose_flush(struct timed_state *t, const struct wire_request *q)
{
    int card = 0, l2 = 0;
    t->flush_bytes = q->flush_bytes ? q->flush_bytes : FLUSH_BYTES_UNKNOWN;
    if (!q->flush_bytes && t->api.cudaGetDevice(&card) == cudaSuccess &&
        t->api.cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, card) == cudaSuccess && l2 > 0)
        t->flush_bytes = 2 * (uint64_t)l2;
}

static int check_sets(const struct wire_request *q, struct err *e)
{
    if (q->set_count == 0 || q->set_count > WIRE_SETS_MAX)
        return err_set(e, "%u sets of inputs", q->set_count);
    uint64_t most = q->in_bytes / q->set_count;
    for (unsigned i = 0; i < q->param_count; i++) {
        const struct wire_param *p = &q->params[i];
        if (has_contents(p) && (q->set_bytes > most || p->bytes > q->set_bytes ||
                                p->in_offset > q->set_bytes - p->bytes))
            return err_set(e, "the sets of %s lie outside of the memory that came", p->name);
    }
    return 0;
}

/* Where the next call finds everything: at the next place, or, without places, the set itself and
 * the other one of two outputs: what the last call wrote is what was copied aside, or not needed.
 */
static void choose_place(struct timed_state *t, unsigned set)
{
    /* Two turns at each place: who takes a pointer for its contents is found out in the second. */
    unsigned twice = 2 * t->place_count, place = twice ? t->turns % twice / 2 : 0;
    t->turns++;
    if (t->size.keeps_outputs)
        t->live ^= 1;
    for (unsigned i = 0; i < t->size.param_count; i++) {
        const struct wire_param *p = &t->size.params[i];
        if (t->place_count) {
            t->at[i] = t->places[place][i];
            t->kept[i] = t->outputs[1][i];
        } else {
            t->at[i] = p->role == WIRE_INPUT ? t->inputs[set][i]
                                             : t->outputs[is_written(p) ? t->live : 0][i];
            t->kept[i] = t->outputs[t->live ^ 1][i];
        }
    }
}

/* What a card has no room for is an answer to the question, and no fault. */
static int fail_allocation(struct timed_state *t, cudaError_t error, struct wire_reply *reply,
                           struct err *e)
{
    char why[256];
    device_explain(t->pass->device, error, "making buffers for timing", why, sizeof why);
    t->pass->device->cudaGetLastError();
    unload(t);
    reply->cuda_error = (int32_t)error;
    return err_set(e, "%s", why);
}

static int load(struct timed_state *t, const struct wire_request *q, const int fds[2],
                struct wire_reply *reply, struct err *e)
{
    const struct device *d = t->pass->device;
    if (find_api(t, e) != 0)
        return -1;
    unload(t);
    if (pass_accept(t->pass, q, fds, e) != 0 || check_sets(q, e) != 0)
        return -1;
    if (d->hooks)
        d->hooks->configure(&q->device);
    t->size = *q;
    t->live = t->turns = 0;
    choose_flush(t, q);
    cudaError_t error = allocate(t, q);
    for (unsigned i = 0; i < q->param_count && error == cudaSuccess; i++)
        for (unsigned k = 0; k < q->set_count && error == cudaSuccess; k++)
            if (has_contents(&q->params[i]))
                error = upload(t, q, k, i);
    if (error == cudaSuccess)
        error = d->cudaDeviceSynchronize();
    if (error != cudaSuccess)
        return fail_allocation(t, error, reply, e);
    /* Fetched again and again: pinned memory is five times as fast. A wish. */
    if (q->keeps_outputs && q->out_bytes >= REGISTER_BYTES && !d->hooks) {
        t->is_registered = t->api.cudaHostRegister(t->pass->outputs.bytes, q->out_bytes,
                                                   cudaHostRegisterDefault) == cudaSuccess;
        d->cudaGetLastError();
    }
    choose_place(t, 0);
    t->is_loaded = true;
    return 0;
}

/* ---- before a call ---- */

static cudaError_t put_poison(struct timed_state *t, uint8_t *base, uint64_t bytes, unsigned buffer)
{
    const struct device *d = t->pass->device;
    uint64_t done = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
    wire_poison(t->chunk, 0, done, t->poison_seed, buffer);
    cudaError_t error = d->cudaMemcpyAsync(base, t->chunk, done, cudaMemcpyHostToDevice, d->stream);
    if (error == cudaSuccess)
        error = d->cudaStreamSynchronize(d->stream); /* the chunk is needed again */
    while (done < bytes && error == cudaSuccess) {
        uint64_t count = bytes - done < done ? bytes - done : done;
        error = d->cudaMemcpyAsync(base + done, base, count, cudaMemcpyDeviceToDevice, d->stream);
        done += count;
    }
    return error;
}

/* What buffer i holds when the call begins, patches excepted. */
static cudaError_t fill(struct timed_state *t, unsigned set, unsigned i)
{
    const struct device *d = t->pass->device;
    const struct wire_param *p = &t->size.params[i];
    uint64_t bytes = wire_buffer_bytes(p), start = pass_payload_offset(p);
    if (p->role == WIRE_INPUT)
        return t->at[i] == t->inputs[set][i]
                   ? cudaSuccess
                   : d->cudaMemcpyAsync(t->at[i], t->inputs[set][i], bytes,
                                        cudaMemcpyDeviceToDevice, d->stream);
    cudaError_t error = put_poison(t, t->at[i], bytes, i);
    if (error != cudaSuccess || p->role != WIRE_INOUT || p->bytes == 0)
        return error;
    return d->cudaMemcpyAsync(t->at[i] + start, (uint8_t *)t->inputs[set][i] + start, p->bytes,
                              cudaMemcpyDeviceToDevice, d->stream);
}

/* What a process set aside in L2 for itself is taken back before every call. */
static void reset_persisting(struct timed_state *t, struct wire_reply *reply)
{
    size_t bytes = 0;
    if (t->api.cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize) == cudaSuccess)
        reply->persisting_bytes = bytes;
    t->api.cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    t->api.cudaCtxResetPersistingL2Cache();
    t->pass->device->cudaGetLastError(); /* a card without it refuses */
}

static cudaError_t arm(struct timed_state *t, const struct wire_request *q,
                       struct wire_reply *reply)
{
    const struct device *d = t->pass->device;
    t->poison_seed = q->poison_seed;
    choose_place(t, q->set);
    reset_persisting(t, reply);
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < t->size.param_count && error == cudaSuccess; i++) {
        if (is_buffer(&t->size.params[i]))
            error = fill(t, q->set, i);
    }
    return error == cudaSuccess ? d->cudaDeviceSynchronize() : error;
}

/* ---- the call ---- */

static cudaError_t put_patch(struct timed_state *t, unsigned set, const struct wire_patch *patch,
                             const uint8_t *from)
{
    const struct device *d = t->pass->device;
    const struct wire_param *p = &t->size.params[patch->param];
    uint64_t at = pass_payload_offset(p) + patch->offset;
    cudaError_t error = d->cudaMemcpyAsync((uint8_t *)t->inputs[set][patch->param] + at, from,
                                           patch->bytes, cudaMemcpyHostToDevice, d->stream);
    if (error == cudaSuccess && t->at[patch->param] != t->inputs[set][patch->param])
        error = d->cudaMemcpyAsync(t->at[patch->param] + at, from, patch->bytes,
                                   cudaMemcpyHostToDevice, d->stream);
    return error;
}

/* Small ones from pinned memory, behind the overwriting of L2; a large one (a whole input, where
 * parts cannot change alone) comes before it, for want of pinned memory. */
static cudaError_t put_patches(struct timed_state *t, const struct wire_request *q, bool large)
{
    uint64_t used = 0;
    cudaError_t error = cudaSuccess;
    for (unsigned k = 0; k < q->patch_count && error == cudaSuccess; k++) {
        const struct wire_patch *patch = &q->patches[k];
        const struct wire_param *p = &t->size.params[patch->param];
        const uint8_t *from =
            t->pass->inputs.bytes + q->set * t->size.set_bytes + p->in_offset + patch->offset;
        bool fits = patch->bytes <= STAGED_BYTES / WIRE_PATCHES_MAX;
        if (fits == large)
            continue;
        if (fits) {
            memcpy(t->staged + used, from, patch->bytes);
            from = t->staged + used;
            used += patch->bytes;
        }
        error = put_patch(t, q->set, patch, from);
    }
    return error;
}

/* Without a submission: the second buffer becomes a copy of the first. */
static int copy_entry(const struct wire_request *size, const struct device *d,
                      void *const *pointers)
{
    return d->cudaMemcpyAsync(pointers[1], pointers[0], size->params[1].bytes,
                              cudaMemcpyDeviceToDevice, d->stream) == cudaSuccess
               ? 0
               : -1;
}

static cudaError_t copy_aside(struct timed_state *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < t->size.param_count && error == cudaSuccess; i++)
        if (is_written(&t->size.params[i]) && t->size.keeps_outputs)
            error = t->pass->device->cudaMemcpyAsync(t->kept[i], t->at[i],
                                                     wire_buffer_bytes(&t->size.params[i]),
                                                     cudaMemcpyDeviceToDevice, stream);
    return error;
}

static uint64_t between(struct timed_state *t, cudaEvent_t from, cudaEvent_t to)
{
    float ms = 0;
    if (t->api.cudaEventElapsedTime(&ms, from, to) != cudaSuccess || !(ms > 0))
        return 0;
    return (uint64_t)((double)ms * 1e6);
}

static bool has_stream(const struct wire_request *size)
{
    for (unsigned i = 0; i < size->param_count; i++)
        if (size->params[i].kind == WIRE_PARAM_STREAM)
            return true;
    return false;
}

static void point(struct timed_state *t, void **pointers)
{
    unsigned named = 0;
    for (unsigned i = 0; i < t->size.param_count; i++) {
        const struct wire_param *p = &t->size.params[i];
        pointers[i] = p->kind == WIRE_PARAM_STREAM ? t->pass->device->stream : NULL;
        if (!is_buffer(p))
            continue;
        pointers[i] = t->at[i] + pass_payload_offset(p);
        t->pass->named[named++] = (struct crash_buffer){t->at[i], wire_buffer_bytes(p), p->name};
    }
    crash_name_buffers(t->pass->named, named);
}

static cudaError_t go(struct timed_state *t, const struct wire_request *q, struct wire_reply *reply,
                      const char **when)
{
    const struct device *d = t->pass->device;
    void *pointers[WIRE_PARAMS_MAX] = {NULL};
    point(t, pointers);
    cudaStream_t stream = !t->pass->entry || has_stream(&t->size) ? d->stream : NULL;
    *when = "while the inputs were put in place";
    cudaError_t error = put_patches(t, q, true);
    if (error == cudaSuccess)
        error = t->api.cudaMemsetAsync(t->flush, t->flush_value++, t->flush_bytes, d->stream);
    if (error == cudaSuccess)
        error = put_patches(t, q, false);
    /* The default stream, for an entry that is given none, waits for nobody. */
    if (error == cudaSuccess && stream != d->stream)
        error = d->cudaStreamSynchronize(d->stream);
    if (error != cudaSuccess)
        return error;
    *when = "returned by a launch or a call of the entry point";
    uint64_t start = clock_now_ns();
    t->api.cudaEventRecord(t->before, stream);
    int called = t->pass->entry
                     ? call(t->pass->entry, t->size.params, t->size.param_count, pointers, NULL)
                     : copy_entry(&t->size, d, pointers);
    t->api.cudaEventRecord(t->after, stream);
    error = d->cudaGetLastError();
    if (error == cudaSuccess && called == 0)
        error = copy_aside(t, stream);
    t->api.cudaEventRecord(t->aside, stream);
    if (error == cudaSuccess) {
        *when = "while the kernels ran";
        error = d->cudaDeviceSynchronize();
    }
    reply->elapsed_ns = clock_now_ns() - start;
    if (error != cudaSuccess)
        return error;
    reply->event_ns = between(t, t->before, t->after);
    reply->window_ns = between(t, t->before, t->aside);
    return cudaSuccess;
}

static cudaError_t fetch(struct timed_state *t, const struct wire_request *q)
{
    const struct device *d = t->pass->device;
    for (unsigned i = 0; i < t->size.param_count; i++) {
        const struct wire_param *p = &t->size.params[i];
        if (!is_written(p))
            continue;
        cudaError_t error =
            d->cudaMemcpyAsync(t->pass->outputs.bytes + q->fetch_offset + p->out_offset, t->kept[i],
                               wire_buffer_bytes(p), cudaMemcpyDeviceToHost, d->stream);
        if (error != cudaSuccess)
            return error;
    }
    return d->cudaStreamSynchronize(d->stream);
}

/* ---- requests ---- */

static int check_step(const struct timed_state *t, const struct wire_request *q, struct err *e)
{
    const struct wire_request *size = &t->size;
    if (!t->is_loaded)
        return err_set(e, "nothing is loaded that could be timed");
    if (q->set >= size->set_count || q->patch_count > WIRE_PATCHES_MAX)
        return err_set(e, "there is no set %u of inputs, or %u patches are too many", q->set,
                       q->patch_count);
    for (unsigned k = 0; k < q->patch_count; k++) {
        const struct wire_patch *patch = &q->patches[k];
        if (patch->param >= size->param_count || !has_contents(&size->params[patch->param]) ||
            patch->bytes > size->params[patch->param].bytes ||
            patch->offset > size->params[patch->param].bytes - patch->bytes)
            return err_set(e, "patch %u lies outside of its input", k);
    }
    if (q->action != WIRE_TIME_FETCH)
        return 0;
    for (unsigned i = 0; i < size->param_count; i++)
        if (is_written(&size->params[i]) &&
            (!size->keeps_outputs || q->fetch_offset % 64 != 0 ||
             q->fetch_offset > size->out_bytes ||
             size->params[i].out_offset + wire_buffer_bytes(&size->params[i]) >
                 size->out_bytes - q->fetch_offset))
            return err_set(e, "the outputs lie outside of the memory that came, or were not kept");
    return 0;
}

void timed_run(struct timed_state *t, const struct wire_request *q, const int fds[2],
               struct wire_reply *reply)
{
    struct err e = {""};
    cudaError_t error = cudaSuccess;
    const char *when = "between timed calls";
    int status = q->magic != WIRE_MAGIC ? err_set(&e, "the request is not one of this version")
                 : q->action == WIRE_TIME_LOAD ? load(t, q, fds, reply, &e)
                                               : check_step(t, q, &e);
    if (status == 0) {
        switch (q->action) {
        case WIRE_TIME_LOAD:
            break;
        case WIRE_TIME_ARM:
            error = arm(t, q, reply);
            break;
        case WIRE_TIME_GO:
            error = go(t, q, reply, &when);
            break;
        case WIRE_TIME_FETCH:
            error = fetch(t, q);
            break;
        default:
            status = err_set(&e, "there is no action %u", q->action);
        }
    }
    if (status != 0) {
        reply->status = WIRE_BAD_REQUEST;
        memcpy(reply->message, e.text, sizeof reply->message - 1);
        return;
    }
    reply->status = error == cudaSuccess ? WIRE_DONE : WIRE_CUDA_ERROR;
    reply->cuda_error = (int32_t)error;
    if (error != cudaSuccess)
        device_explain(t->pass->device, error, when, reply->message, sizeof reply->message);
}
