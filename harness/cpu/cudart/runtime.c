/* The lock, the device's birth, and the way errors take: a fault is reported as CUDA reports it, by
 * the next call that looks after the kernel ran. What each call returns, here and in the other
 * files, was compared with CUDA 13.0 on an H200. */
#include "cpu/cudart/runtime.h"

#include "base/file.h"
#include "cpu/cudart/environment.h"
#include "cpu/cudart/queue.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

struct runtime rt;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static _Thread_local cudaError_t last_error;
static _Thread_local bool in_callback;
static bool lost; /* the device was reset after a fault: gone for the rest of the process */

void rt_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rt_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void rt_sleep(unsigned ms)
{
    enum { NS_PER_S = 1000000000 };
    struct timespec until;
    if (ms == 0) {
        pthread_cond_wait(&wake, &lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until); /* what pthread_cond_timedwait() takes */
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    pthread_cond_timedwait(&wake, &lock, &until);
}

void rt_wake(void)
{
    pthread_cond_broadcast(&wake);
}

static cudaError_t make_device(void)
{
    static bool failed;
    if (rt.vm)
        return cudaSuccess;
    if (failed)
        return cudaErrorInitializationError;
    struct err e;
    rt.limits = vm_limits_default;
    rt_raise_capability(&rt.limits);
    rt.vm = vm_new(&rt.limits, &e);
    if (!rt.vm) {
        failed = true;
        fprintf(stderr, "scanjudge: the CPU device cannot start: %s\n", e.text);
        return cudaErrorInitializationError;
    }
    struct wire_device_config config;
    environment_read(&config);
    vm_configure(rt.vm, &config);
    environment_start_report();
    return cudaSuccess;
}

cudaError_t rt_fault(void)
{
    if (!rt.vm)
        return cudaSuccess;
    if (lost)
        return cudaErrorDevicesUnavailable;
    switch (vm_sticky_status(rt.vm)) {
    case VM_OK:
        return cudaSuccess;
    case VM_ILLEGAL_ADDRESS:
        return cudaErrorIllegalAddress;
    case VM_MISALIGNED:
        return cudaErrorMisalignedAddress;
    case VM_ASSERT:
        return cudaErrorAssert;
    case VM_TRAP:
        return cudaErrorLaunchFailure;
    case VM_DEADLOCK: /* a GPU that also drives a display kills such a kernel, others hang */
    case VM_STEP_LIMIT:
        return cudaErrorLaunchTimeout;
    case VM_STACK_OVERFLOW:
        return cudaErrorHardwareStackError;
    }
    BUG("the machine reports status %d", (int)vm_sticky_status(rt.vm));
}

cudaError_t rt_enter_even_if_faulty(void)
{
    rt_lock();
    rt.calls++;
    return in_callback ? cudaErrorNotPermitted : make_device();
}

cudaError_t rt_enter(void)
{
    cudaError_t error = rt_enter_even_if_faulty();
    return error != cudaSuccess ? error : rt_fault();
}

cudaError_t rt_leave(cudaError_t error)
{
    rt_unlock();
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

void rt_set_in_callback(bool inside)
{
    in_callback = inside;
}

void rt_lose_device(void)
{
    last_error = rt_fault();
    lost = true;
}

void rt_configure(const struct wire_device_config *config)
{
    queue_wait_all();
    queue_restart_draws();
    vm_configure(rt.vm, config);
    vm_reset(rt.vm);
    lost = false;
    last_error = cudaSuccess;
}

static void report(enum finding_kind kind, enum wire_severity severity, const char *kernel,
                   const char *format, va_list args)
{
    struct wire_finding f;
    wire_finding_vset(&f, kind, severity, format, args);
    if (kernel)
        snprintf(f.kernel, sizeof f.kernel, "%s", kernel);
    vm_add_finding(rt.vm, &f);
}

void rt_report(enum finding_kind kind, enum wire_severity severity, const char *kernel,
               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(kind, severity, kernel, format, args);
    va_end(args);
}

cudaError_t rt_refuse(cudaError_t error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(FINDING_cuda_error, WIRE_WARNING, NULL, format, args);
    va_end(args);
    return error;
}

/* ---- errors, as the API gives them ---- */

/* These look at what calls of this thread returned, not at the device: after a fault they stay
 * silent until some other call has noticed it. */
cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *sentence;
} errors[] = {
#define ERROR(id, sentence) {id, #id, sentence},
#include "cpu/cudart/errors.def"
#undef ERROR
};

enum { ERROR_COUNT = sizeof errors / sizeof *errors };

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].sentence;
    return "unrecognized error code";
}
