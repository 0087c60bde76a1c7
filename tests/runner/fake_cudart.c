/* A CUDA runtime without a device, for tests of the runner. "Device" memory is mapped twice: at the
 * address that cudaMalloc returns it can be neither read nor written, as on a real device, and
 * fake_host() gives the readable twin to what stands in for a kernel. Nothing is ever reused.
 * With WITH_HOOKS it has the hooks of our CPU device; without, it looks like NVIDIA's library. */
#include "wire/wire.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA_BYTES = 1 << 30, BLOCKS_MAX = 4096 };

struct block {
    char *device;
    size_t bytes;
    char *own; /* what narrow() left */
    size_t own_bytes;
    char name[64];
    int freed;
};

static char *device_arena, *host_arena;
static size_t used;
static struct block blocks[BLOCKS_MAX];
static int block_count;
static cudaError_t last_error, sync_error;
static uint64_t in_use, peak;
static struct wire_finding finding;
static size_t finding_count;
static struct wire_device_config current;
static size_t forgotten_bytes;

static void open_arena(void)
{
    if (device_arena)
        return;
    int fd = memfd_create("fake-device", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, ARENA_BYTES) != 0)
        abort();
    device_arena = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_SHARED, fd, 0);
    host_arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static struct block *find(const void *pointer)
{
    for (int i = 0; i < block_count; i++)
        if ((const char *)pointer >= blocks[i].device &&
            (const char *)pointer < blocks[i].device + blocks[i].bytes)
            return &blocks[i];
    return NULL;
}

/* ---- for the fake submissions ---- */

void *fake_host(const void *device)
{
    return host_arena + ((const char *)device - device_arena);
}

void fake_fail(int last, int at_sync)
{
    last_error = (cudaError_t)last;
    sync_error = (cudaError_t)at_sync;
}

void fake_report(int kind, const char *message)
{
    finding = (struct wire_finding){.kind = (uint16_t)kind,
                                    .severity = WIRE_ERROR,
                                    .line = 7,
                                    .block = {1, 2, 3},
                                    .thread = {-1, -1, -1},
                                    .count = 1};
    snprintf(finding.file, sizeof finding.file, "%s", current.source_file);
    snprintf(finding.message, sizeof finding.message, "%s", message);
    finding_count++;
}

/* Work on another stream than the caller's: this int gets this value once the whole device is
 * waited for, and not before. */
static int *left_at, left_value;

void fake_leave(int *device, int value)
{
    left_at = fake_host(device);
    left_value = value;
}

/* Of the allocation that holds this address. */
size_t fake_size(const void *device)
{
    for (int i = 0; i < block_count; i++)
        if ((const char *)device >= blocks[i].device &&
            (const char *)device < blocks[i].device + blocks[i].bytes)
            return blocks[i].bytes;
    return 0;
}

size_t fake_forgotten(void)
{
    return forgotten_bytes;
}

/* ---- the API ---- */

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    open_arena();
    size_t rounded = (bytes + 255) & ~(size_t)255;
    if (used + rounded > ARENA_BYTES || block_count == BLOCKS_MAX)
        return last_error = cudaErrorMemoryAllocation;
    struct block *b = &blocks[block_count++];
    *b = (struct block){.device = device_arena + used, .bytes = bytes};
    b->own = b->device;
    b->own_bytes = bytes;
    used += rounded;
    in_use += bytes;
    if (in_use > peak)
        peak = in_use;
    *pointer = b->device;
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    struct block *b = find(pointer);
    if (!b || b->freed || b->device != pointer)
        return last_error = cudaErrorInvalidValue;
    b->freed = 1;
    in_use -= b->bytes;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const void *device = kind == cudaMemcpyHostToDevice ? to : from;
    struct block *b = find(device);
    if (!b || b->freed || (const char *)device < b->own ||
        (const char *)device + bytes > b->own + b->own_bytes)
        return last_error = cudaErrorInvalidValue;
    if (kind == cudaMemcpyHostToDevice)
        memcpy(fake_host(to), from, bytes);
    else
        memcpy(to, fake_host(from), bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    if (flags != cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    *stream = (cudaStream_t)(uintptr_t)0x5717;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return sync_error;
}

cudaError_t cudaDeviceSynchronize(void)
{
    if (left_at)
        *left_at = left_value;
    left_at = NULL;
    return sync_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorFake";
}

const char *cudaGetErrorString(cudaError_t error)
{
    (void)error;
    return "something the fake was told to say";
}

#ifdef WITH_HOOKS
static void configure(const struct wire_device_config *config)
{
    current = *config;
    finding_count = 0;
    peak = in_use;
}

static void narrow(const void *pointer, size_t bytes, const char *name)
{
    struct block *b = find(pointer);
    if (!b || (const char *)pointer + bytes > b->device + b->bytes)
        abort();
    b->own = (char *)(uintptr_t)pointer;
    b->own_bytes = bytes;
    snprintf(b->name, sizeof b->name, "%s", name);
}

static void forget(const void *pointer, size_t bytes)
{
    (void)pointer;
    forgotten_bytes += bytes;
}

static size_t findings(struct wire_finding *out, size_t capacity)
{
    for (size_t i = 0; i < finding_count && i < capacity; i++)
        out[i] = finding;
    return finding_count;
}

static void counters(struct wire_counters *out)
{
    memset(out, 0, sizeof *out);
    out->value[COUNTER_kernel_launches] = 3;
}

static void explain_host_address(const void *address, char *out, size_t out_bytes)
{
    out[0] = '\0';
    if (current.schedule_seed == 666) /* a device that waits for its own lock */
        for (;;)
            pause();
    struct block *b = find(address);
    if (b)
        snprintf(out, out_bytes, "host code dereferences the device pointer of `%s`", b->name);
}

static uint64_t peak_bytes(void)
{
    return peak;
}

static void name_stream(const void *stream, const char *name)
{
    (void)stream, (void)name;
}

static void left_behind(const char *stream_name)
{
    if (left_at)
        fake_report(FINDING_leak, stream_name);
}

static size_t profile(void *out, size_t bytes)
{
    if (bytes)
        memset(out, 0x5a, bytes);
    return bytes;
}

const struct wire_device_hooks *scanjudge_device_hooks(void)
{
    static const struct wire_device_hooks HOOKS = {
        .version = WIRE_HOOKS_VERSION,
        .configure = configure,
        .narrow = narrow,
        .forget = forget,
        .findings = findings,
        .counters = counters,
        .explain_host_address = explain_host_address,
        .peak_bytes = peak_bytes,
        .name_stream = name_stream,
        .left_behind = left_behind,
        .profile = profile,
        .trace = profile,
    };
    return &HOOKS;
}
#endif
