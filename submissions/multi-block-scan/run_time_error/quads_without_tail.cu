// expect: run_time_error
// expect-finding: out_of_bounds_read
// Looks whether both pointers are aligned before it moves four elements at a time, but moves the
// last four even where there are fewer.
#include <cstddef>
#include <cstdint>

constexpr int kThreads = 256;
constexpr int kItems = 4;

struct Quad {
    int v[kItems];
};

__device__ Quad load(const int *in, int begin, int n, bool aligned)
{
    Quad q = {};
    if (aligned && begin < n) {
        int4 all = *reinterpret_cast<const int4 *>(in + begin); // <-- out_of_bounds_read
        q = {{all.x, all.y, all.z, all.w}};
    } else {
        for (int k = 0; k < kItems && begin + k < n; ++k)
            q.v[k] = in[begin + k];
    }
    return q;
}

// One block: every thread has four neighbours of each step.
__global__ void scan(const int *in, int *out, int n, bool aligned)
{
    __shared__ int sums[kThreads];
    int carry = 0;
    for (int step = 0; step < n; step += kThreads * kItems) {
        const int begin = step + threadIdx.x * kItems;
        const Quad q = load(in, begin, n, aligned);
        const int own = q.v[0] + q.v[1] + q.v[2] + q.v[3];
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int d = 1; d < kThreads; d *= 2) {
            const int left = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
            __syncthreads();
            sums[threadIdx.x] += left;
            __syncthreads();
        }
        int running = carry + sums[threadIdx.x] - own;
        for (int k = 0; k < kItems && begin + k < n; ++k) {
            out[begin + k] = running;
            running += q.v[k];
        }
        carry += sums[kThreads - 1];
        __syncthreads();
        if (n - step <= kThreads * kItems)
            break;
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    const bool aligned = reinterpret_cast<uintptr_t>(in) % sizeof(int4) == 0;
    if (n > 0)
        scan<<<1, kThreads, 0, stream>>>(in, out, n, aligned);
}
