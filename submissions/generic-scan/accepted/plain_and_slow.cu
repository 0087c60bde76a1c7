// expect: accepted
// One block. Thread t walks over the t-th piece of the array, one thread puts the pieces in order,
// and everybody walks again.

#include <climits>
#include <cuda_runtime.h>

constexpr int kThreads = 512;

struct Max {
    using Value = int;
    static __device__ Value identity()
    {
        return INT_MIN;
    }
    static __device__ Value combine(Value earlier, Value later)
    {
        return earlier > later ? earlier : later;
    }
};

struct Map {
    unsigned scale, shift;
};

struct Compose {
    using Value = Map;
    static __device__ Value identity()
    {
        return {1, 0};
    }
    static __device__ Value combine(Value earlier, Value later)
    {
        return {later.scale * earlier.scale, later.scale * earlier.shift + later.shift};
    }
};

// Where values come from and where they go: one array, or two side by side.
struct MaxArrays {
    const int *in;
    int *out;
    __device__ int load(int i) const
    {
        return in[i];
    }
    __device__ void store(int i, int value) const
    {
        out[i] = value;
    }
};

struct MapArrays {
    const unsigned *scale, *shift;
    unsigned *composed_scale, *composed_shift;
    __device__ Map load(int i) const
    {
        return {scale[i], shift[i]};
    }
    __device__ void store(int i, Map map) const
    {
        composed_scale[i] = map.scale;
        composed_shift[i] = map.shift;
    }
};

template <class Op, class Arrays> __global__ void scan_in_pieces(Arrays arrays, int n)
{
    __shared__ typename Op::Value pieces[kThreads];
    const int length = n / kThreads + 1;
    const int t = threadIdx.x;
    const int begin = min((long long)t * length, (long long)n), end = min(begin + length, n);
    typename Op::Value total = Op::identity();
    for (int i = begin; i < end; i++)
        total = Op::combine(total, arrays.load(i));
    pieces[t] = total;
    __syncthreads();
    if (t == 0) {
        typename Op::Value running = Op::identity();
        for (int p = 0; p < kThreads; p++) {
            const typename Op::Value piece = pieces[p];
            pieces[p] = running;
            running = Op::combine(running, piece);
        }
    }
    __syncthreads();
    typename Op::Value running = pieces[t];
    for (int i = begin; i < end; i++) {
        const typename Op::Value value = arrays.load(i);
        arrays.store(i, running);
        running = Op::combine(running, value);
    }
}

extern "C" void generic_scan(const int *values, int *max_before, const unsigned *scale,
                             const unsigned *shift, unsigned *composed_scale,
                             unsigned *composed_shift, int n, void *workspace,
                             size_t workspace_bytes, cudaStream_t stream)
{
    scan_in_pieces<Max><<<1, kThreads, 0, stream>>>(MaxArrays{values, max_before}, n);
    scan_in_pieces<Compose>
        <<<1, kThreads, 0, stream>>>(MapArrays{scale, shift, composed_scale, composed_shift}, n);
}
