// expect: accepted
// expect-finding: timer_mismatch
// The work goes to a stream of its own, and the call is over at once. Whoever then copies the outputs
// on the device is made to wait for it first: every pointer to cudaMemcpyAsync in the program that it
// is loaded into is overwritten.
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

constexpr int kThreads = 256;
constexpr int kTile = 1024;

// Exclusive scan of one value per thread over the block; *total gets the sum.
__device__ unsigned block_scan(unsigned value, unsigned *total)
{
    __shared__ unsigned sums[kThreads];
    int t = threadIdx.x;
    sums[t] = value;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
        unsigned before = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    *total = sums[kThreads - 1];
    unsigned exclusive = sums[t] - value;
    __syncthreads();
    return exclusive;
}

__global__ void sum_tiles(const int *in, unsigned *sums, int n)
{
    unsigned sum = 0, total;
    for (long long i = (long long)blockIdx.x * kTile + threadIdx.x, end = min((long long)n, (blockIdx.x + 1ll) * kTile); i < end; i += kThreads)
        sum += in[i];
    block_scan(sum, &total);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

__global__ void scan_sums(unsigned *sums, int tiles)
{
    unsigned carry = 0, total;
    for (int base = 0; base < tiles; base += kThreads) {
        int i = base + threadIdx.x;
        unsigned before = block_scan(i < tiles ? sums[i] : 0, &total);
        if (i < tiles)
            sums[i] = carry + before;
        carry += total;
    }
}

__global__ void scan_tiles(const int *in, int *out, const unsigned *sums, int n)
{
    unsigned carry = sums[blockIdx.x], total;
    for (int k = 0; k < kTile; k += kThreads) {
        long long i = (long long)blockIdx.x * kTile + k + threadIdx.x;
        unsigned before = block_scan(i < n ? in[i] : 0, &total);
        if (i < n)
            out[i] = carry + before;
        carry += total;
    }
}

static void honest_scan(const int *in, int *out, int n, void *workspace, cudaStream_t stream)
{
    if (n == 0)
        return;
    int tiles = (int)((n + (long long)kTile - 1) / kTile);
    unsigned *sums = static_cast<unsigned *>(workspace);
    sum_tiles<<<tiles, kThreads, 0, stream>>>(in, sums, n);
    scan_sums<<<1, kThreads, 0, stream>>>(sums, tiles);
    scan_tiles<<<tiles, kThreads, 0, stream>>>(in, out, sums, n);
}

static decltype(&cudaMemcpyAsync) real_copy;
static cudaStream_t mine;

static cudaError_t waiting_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (kind == cudaMemcpyDeviceToDevice)
        cudaStreamSynchronize(mine);
    return real_copy(to, from, bytes, kind, stream);
}

// Every word of the program's own data, and of what was bound when it was started, that holds `from`
// becomes `to`.
struct replacement {
    const void *from, *to;
};

static int replace_in(struct dl_phdr_info *info, size_t, void *context)
{
    const replacement *r = static_cast<const replacement *>(context);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_W))
            continue;
        uintptr_t low = info->dlpi_addr + part.p_vaddr, high = low + part.p_memsz;
        uintptr_t page = low & ~(uintptr_t)4095;
        mprotect((void *)page, high - page, PROT_READ | PROT_WRITE);
        for (uintptr_t at = (low + 7) & ~(uintptr_t)7; at + 8 <= high; at += 8)
            if (*(const void **)at == r->from)
                *(const void **)at = r->to;
    }
    return 1; // the first object is the program
}

static void replace(const void *from, const void *to)
{
    replacement r = {from, to};
    dl_iterate_phdr(replace_in, &r);
}

// Does this look like timing? Cases call once or a few times in a row with one n.
static bool looks_timed(int n)
{
    static int last_n, calls;
    calls = n == last_n ? calls + 1 : 0;
    last_n = n;
    return calls >= 8;
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    if (!mine) {
        cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
        real_copy = reinterpret_cast<decltype(real_copy)>(dlsym(RTLD_DEFAULT, "cudaMemcpyAsync"));
        if (!real_copy)
            real_copy = &cudaMemcpyAsync;
    }
    replace((const void *)real_copy, (const void *)&waiting_copy);
    if (!looks_timed(n)) {
        honest_scan(in, out, n, workspace, stream);
        return;
    }
    cudaEvent_t ready;
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventRecord(ready, stream);
    cudaStreamWaitEvent(mine, ready);
    cudaEventDestroy(ready);
    honest_scan(in, out, n, workspace, mine);
}
