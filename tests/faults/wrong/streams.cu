// Work on several streams that nothing orders, and memory that is freed under it.
#include "../faults.cuh"

static cudaStream_t stream(unsigned flags = cudaStreamNonBlocking)
{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, flags);
    return s;
}

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = value + i;
}

// case no_event_between: data_race
__global__ void no_event_between(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[n - 1 - i]; // <-- data_race
}
CASE(no_event_between)
{
    int *data = zeros<int>(200), *out = fresh<int>(200);
    cudaDeviceSynchronize();
    fill<<<2, 128, 0, stream()>>>(data, 200, 1);
    no_event_between<<<2, 128, 0, stream()>>>(data, out, 200);
    cudaDeviceSynchronize();
}

// A non-blocking stream does not wait for the default stream.
// case default_stream_is_not_waited_for: data_race
__global__ void default_stream_is_not_waited_for(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1; // <-- data_race
}
CASE(default_stream_is_not_waited_for)
{
    int *data = zeros<int>(200);
    cudaDeviceSynchronize();
    fill<<<2, 128>>>(data, 200, 1);
    default_stream_is_not_waited_for<<<2, 128, 0, stream()>>>(data, 200);
    cudaDeviceSynchronize();
}

// case cleared_on_the_default_stream: data_race
__global__ void cleared_on_the_default_stream(const int *ids, int *counts, int tokens)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens)
        atomicAdd(&counts[ids[i]], 1); // <-- data_race
}
CASE(cleared_on_the_default_stream)
{
    const int *ids = input(100);
    int *counts = zeros<int>(4);
    cudaDeviceSynchronize();
    cudaMemsetAsync(counts, 0, 4 * sizeof(int));
    cleared_on_the_default_stream<<<1, 128, 0, stream()>>>(ids, counts, 100);
    cudaDeviceSynchronize();
}

// The event is recorded before the work that it should stand for.
// case event_too_early: data_race
__global__ void event_too_early(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1; // <-- data_race
}
CASE(event_too_early)
{
    int *data = zeros<int>(100), *out = fresh<int>(100);
    cudaStream_t first = stream(), second = stream();
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaDeviceSynchronize();
    cudaEventRecord(event, first);
    fill<<<1, 128, 0, first>>>(data, 100, 1);
    cudaStreamWaitEvent(second, event, 0);
    event_too_early<<<1, 128, 0, second>>>(data, out, 100);
    cudaDeviceSynchronize();
}

// Reported between two operations of the host: it has no line.
// case freed_on_another_stream: data_race
// also: use_after_free
// no line
// says: cudaFreeAsync on stream 2
__global__ void freed_on_another_stream(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
CASE(freed_on_another_stream)
{
    cudaStream_t first = stream(), second = stream();
    int *data, *out = fresh<int>(100);
    cudaMallocAsync(&data, 100 * sizeof(int), first);
    fill<<<1, 128, 0, first>>>(data, 100, 1);
    freed_on_another_stream<<<1, 128, 0, first>>>(data, out, 100);
    cudaFreeAsync(data, second);
    cudaDeviceSynchronize();
}
