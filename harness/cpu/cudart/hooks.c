/* What the runner asks of this device beside the CUDA API (wire/wire.h). */
#include "cpu/cudart/hooks.h"

#include "cpu/cudart/leak.h"
#include "cpu/cudart/queue.h"

#include <stdio.h>

/* Every hook needs the device; a failure to make it has been printed. */
static bool enter(void)
{
    cudaError_t error = rt_enter_even_if_faulty();
    if (error == cudaSuccess)
        return true;
    rt_leave(error);
    return false;
}

static void configure(const struct wire_device_config *config)
{
    if (!enter())
        return;
    rt_configure(config);
    rt_unlock();
}

static void narrow(const void *pointer, size_t bytes, const char *name)
{
    if (!enter())
        return;
    vm_narrow(rt.vm, (uint64_t)(uintptr_t)pointer, bytes, name);
    rt_unlock();
}

static void protect(const void *pointer)
{
    if (!enter())
        return;
    vm_protect(rt.vm, (uint64_t)(uintptr_t)pointer);
    rt_unlock();
}

static void forget(const void *pointer, size_t bytes)
{
    if (!enter())
        return;
    vm_mark_undefined(rt.vm, (uint64_t)(uintptr_t)pointer, bytes);
    rt_unlock();
}

static size_t findings(struct wire_finding *out, size_t capacity)
{
    if (!enter())
        return 0;
    size_t count = vm_findings(rt.vm, out, capacity);
    rt_unlock();
    return count;
}

static void counters(struct wire_counters *out)
{
    *out = (struct wire_counters){0};
    if (!enter())
        return;
    vm_counters(rt.vm, out);
    rt_unlock();
}

/* Called from signal handlers: no lock, no device made. */
static void explain_host_address(const void *address, char *out, size_t out_bytes)
{
    if (out_bytes > 0)
        out[0] = '\0';
    if (rt.vm)
        vm_explain_host_address(rt.vm, address, out, out_bytes);
}

static uint64_t peak_bytes(void)
{
    if (!enter())
        return 0;
    uint64_t bytes = vm_memory_peak(rt.vm);
    rt_unlock();
    return bytes;
}

static size_t allocations(void)
{
    if (!enter())
        return 0;
    size_t count = vm_memory_count(rt.vm);
    rt_unlock();
    return count;
}

static void name_stream(const void *stream, const char *name)
{
    if (!enter())
        return;
    struct rt_stream *s = queue_find((cudaStream_t)(uintptr_t)stream);
    if (s)
        snprintf(s->name, sizeof s->name, "`%s`", name);
    rt_unlock();
}

static void left_behind(const char *stream_name)
{
    if (!enter())
        return;
    queue_report_left_behind(stream_name);
    leak_report();
    rt_unlock();
}

static size_t profile(void *out, size_t bytes)
{
    if (!enter())
        return 0;
    size_t used = vm_profile(rt.vm, out, bytes);
    rt_unlock();
    return used;
}

static size_t trace(void *out, size_t bytes)
{
    if (!enter())
        return 0;
    size_t used = vm_trace(rt.vm, out, bytes);
    rt_unlock();
    return used;
}

static void lend(void *memory, size_t bytes)
{
    if (!enter())
        return;
    vm_lend(rt.vm, memory, bytes);
    rt_unlock();
}

const struct wire_device_hooks *scanjudge_device_hooks(void)
{
    static const struct wire_device_hooks hooks = {
        .version = WIRE_HOOKS_VERSION,
        .configure = configure,
        .narrow = narrow,
        .protect = protect,
        .forget = forget,
        .findings = findings,
        .counters = counters,
        .explain_host_address = explain_host_address,
        .peak_bytes = peak_bytes,
        .allocations = allocations,
        .name_stream = name_stream,
        .left_behind = left_behind,
        .profile = profile,
        .trace = trace,
        .lend = lend,
    };
    return &hooks;
}
