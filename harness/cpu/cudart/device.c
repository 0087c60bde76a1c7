/* The device itself: there is one, number 0. What it claims to be stands in the machine's limits
 * and in attributes.def; a card of compute capability 9.0, since PTX for anything up to that (the
 * judge compiles for 7.5) then runs on it as on a real newer card. */
#include "cpu/cudart/capture.h"
#include "cpu/cudart/event.h"
#include "cpu/cudart/queue.h"

#include <stdio.h>
#include <string.h>

enum {
    CLOCK_KHZ = 1500000,
    MEMORY_KHZ = 1600000,
    BUS_BITS = 1024,
    L2_BYTES = 16 << 20,
    RESERVED_SHARED = 1024,
};

static const char pci_bus_id[] = "0000:00:00.0";

static cudaError_t check_device(int device)
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/* For calls about a device that work in spite of a fault. */
static cudaError_t enter_for(int device, bool argument_right)
{
    cudaError_t error = rt_enter_even_if_faulty();
    if (error == cudaSuccess && !argument_right)
        error = cudaErrorInvalidValue;
    return error == cudaSuccess ? check_device(device) : error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = enter_for(0, count);
    if (error == cudaSuccess)
        *count = 1;
    return rt_leave(error);
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = enter_for(0, device);
    if (error == cudaSuccess)
        *device = 0;
    return rt_leave(error);
}

cudaError_t cudaSetDevice(int device)
{
    return rt_leave(enter_for(device, true));
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    cudaError_t error = enter_for(0, count == 0 || devices);
    for (int i = 0; i < count && error == cudaSuccess; i++)
        error = check_device(devices[i]);
    return rt_leave(error);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    cudaError_t error = enter_for(0, (flags & ~(unsigned)cudaDeviceMask) == 0);
    if (error == cudaSuccess)
        rt.device_flags = flags;
    return rt_leave(error);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    cudaError_t error = enter_for(0, flags);
    if (error == cudaSuccess)
        *flags = rt.device_flags | cudaDeviceMapHost;
    return rt_leave(error);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
    cudaError_t error = enter_for(0, device && properties);
    if (error == cudaSuccess)
        *device = 0;
    return rt_leave(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = capture_check_device();
    if (error == cudaSuccess) {
        queue_wait_all();
        error = rt_fault();
    }
    return rt_leave(error);
}

cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = rt_enter_even_if_faulty();
    if (error != cudaSuccess)
        return rt_leave(error);
    queue_release();
    graph_release_all();
    if (rt_fault() != cudaSuccess)
        rt_lose_device();
    rt_unload_modules();
    rt_free_everything();
    event_release_all();
    rt_pools_release();
    return rt_leave(cudaSuccess);
}

/* ---- what it is ---- */

static const struct {
    enum cudaDeviceAttr id;
    const char *name;
} attributes[] = {
#define ATTRIBUTE(id, value) {id, #id},
#include "cpu/cudart/attributes.def"
#undef ATTRIBUTE
};

static int attribute_value(size_t index)
{
#define L rt.limits
    const long long values[] = {
#define ATTRIBUTE(id, value) (long long)(value),
#include "cpu/cudart/attributes.def"
#undef ATTRIBUTE
    };
#undef L
    return (int)values[index];
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr id, int device)
{
    cudaError_t error = enter_for(device, value);
    if (error != cudaSuccess)
        return rt_leave(error);
    error = cudaErrorInvalidValue;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].id == id) {
            *value = attribute_value(i);
            error = cudaSuccess;
            break;
        }
    }
    return rt_leave(error);
}

/* What a property shares with an attribute; the rest is zero or set below. */
static void fill_properties(struct cudaDeviceProp *p)
{
    const struct vm_limits *l = &rt.limits;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "scanjudge CPU device");
    memcpy(p->uuid.bytes, "scanjudge-cpu-00", sizeof p->uuid.bytes);
    p->totalGlobalMem = l->memory_bytes;
    p->sharedMemPerBlock = l->shared_per_block;
    p->regsPerBlock = p->regsPerMultiprocessor = (int)l->regs_per_block;
    p->warpSize = RT_WARP_SIZE;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = (int)l->max_threads_per_block;
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = (int)l->max_block[i];
        p->maxGridSize[i] = (int)l->max_grid[i];
    }
    p->totalConstMem = l->constant_bytes;
    p->major = (int)l->compute_major;
    p->minor = (int)l->compute_minor;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = (int)l->sm_count;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->asyncEngineCount = 2;
    p->memoryBusWidth = BUS_BITS;
    p->l2CacheSize = L2_BYTES;
    p->maxThreadsPerMultiProcessor = (int)l->max_threads_per_sm;
    p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = l->shared_per_sm;
    p->managedMemory = p->hostNativeAtomicSupported = p->concurrentManagedAccess = 1;
    p->computePreemptionSupported = p->canUseHostPointerForRegisteredMem = 1;
    p->cooperativeLaunch = p->directManagedMemAccessFromHost = 1;
    p->sharedMemPerBlockOptin = l->shared_per_block_optin;
    p->maxBlocksPerMultiProcessor = (int)l->max_blocks_per_sm;
    p->reservedSharedMemPerBlock = RESERVED_SHARED;
    p->hostRegisterSupported = p->hostRegisterReadOnlySupported = p->memoryPoolsSupported = 1;
    p->deviceNumaId = p->hostNumaId = -1;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = enter_for(device, properties);
    if (error == cudaSuccess)
        fill_properties(properties);
    return rt_leave(error);
}

cudaError_t cudaDeviceGetPCIBusId(char *out, int length, int device)
{
    cudaError_t error = enter_for(device, out && length > (int)strlen(pci_bus_id));
    if (error == cudaSuccess)
        snprintf(out, (size_t)length, "%s", pci_bus_id);
    return rt_leave(error);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    cudaError_t error = enter_for(0, device && id);
    if (error == cudaSuccess && strcmp(id, pci_bus_id) != 0)
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess)
        *device = 0;
    return rt_leave(error);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    *version = RT_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

/* ---- settings ---- */

/* Where a limit is not set, what a card starts with. */
static const size_t limit_defaults[] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 0,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 0,
};
enum { LIMIT_COUNT = sizeof limit_defaults / sizeof *limit_defaults };

static cudaError_t check_limit(enum cudaLimit limit)
{
    if ((unsigned)limit >= LIMIT_COUNT)
        return cudaErrorInvalidValue;
    return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = check_limit(limit);
    if (error == cudaSuccess)
        rt.device_limits[limit] = value;
    return rt_leave(error);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !value)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = check_limit(limit);
    if (error == cudaSuccess)
        *value = rt.device_limits[limit] ? rt.device_limits[limit] : limit_defaults[limit];
    return rt_leave(error);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (unsigned)config > cudaFuncCachePreferEqual)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        rt.cache_config = config;
    return rt_leave(error);
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    cudaError_t error = enter_for(0, config);
    if (error == cudaSuccess)
        *config = rt.cache_config;
    return rt_leave(error);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return rt_leave(enter_for(0, (unsigned)config <= cudaSharedMemBankSizeEightByte));
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    cudaError_t error = enter_for(0, config);
    if (error == cudaSuccess)
        *config = cudaSharedMemBankSizeFourByte;
    return rt_leave(error);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return rt_leave(rt_enter());
}

cudaError_t cudaProfilerStart(void)
{
    return rt_leave(rt_enter());
}

cudaError_t cudaProfilerStop(void)
{
    return rt_leave(rt_enter());
}

/* ---- neighbours: there are none ---- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudaError_t error = enter_for(device, can);
    if (error == cudaSuccess)
        error = check_device(peer);
    if (error == cudaSuccess)
        *can = 0;
    return rt_leave(error);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    cudaError_t error = enter_for(peer, true);
    return rt_leave(error == cudaSuccess ? cudaErrorPeerAccessUnsupported : error);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    cudaError_t error = enter_for(peer, true);
    return rt_leave(error == cudaSuccess ? cudaErrorPeerAccessNotEnabled : error);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int from, int to)
{
    (void)attr; /* there is no other device for it to be about */
    cudaError_t error = enter_for(from, value);
    if (error == cudaSuccess)
        error = check_device(to);
    return rt_leave(error == cudaSuccess ? cudaErrorInvalidDevice : error);
}

/* ---- the driver: there is none behind this library ---- */

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result)
{
    (void)version, (void)flags;
    cudaError_t error = enter_for(0, symbol && out);
    if (error != cudaSuccess)
        return rt_leave(error);
    *out = NULL;
    rt_refuse(cudaSuccess,
              "cudaGetDriverEntryPoint: there is no %s, since there is no driver behind the CPU "
              "device; use the runtime API",
              symbol);
    if (result) {
        *result = cudaDriverEntryPointSymbolNotFound;
        return rt_leave(cudaSuccess);
    }
    return rt_leave(cudaErrorSymbolNotFound);
}
RT_PTSZ(cudaGetDriverEntryPointByVersion,
        (const char *symbol, void **out, unsigned version, unsigned long long flags,
         enum cudaDriverEntryPointQueryResult *result),
        (symbol, out, version, flags, result))

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(symbol, out, RT_VERSION, flags, result);
}
RT_PTSZ(cudaGetDriverEntryPoint,
        (const char *symbol, void **out, unsigned long long flags,
         enum cudaDriverEntryPointQueryResult *result),
        (symbol, out, flags, result))

/* ---- plain data ---- */

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
