// Kernels whose counters can be worked out by hand; test_counters.c says what they come to.
// counters.ptx is this file, made by
//   nvcc -arch=compute_75 -ptx -lineinfo -o counters.ptx counters.cu
// and kept, so that the test does not depend on a compiler.

extern "C" __global__ void copy(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

extern "C" __global__ void stride(const int *in, int *out, long step)
{
    out[threadIdx.x] = in[threadIdx.x * step];
}

extern "C" __global__ void shifted(const int *in, int *out, long by)
{
    out[threadIdx.x] = in[threadIdx.x + by];
}

extern "C" __global__ void copy_vectors(const int4 *in, int4 *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

// One store and one load of shared memory with this step, nothing else.
template <typename T> __device__ void touch_shared(T *s, T *out, int step)
{
    volatile T *v = s;
    v[threadIdx.x * step] = 1;
    __syncthreads();
    out[0] = v[threadIdx.x * step];
}

extern "C" __global__ void shared_words(int *out, int step)
{
    extern __shared__ int words[];
    touch_shared(words, out, step);
}

extern "C" __global__ void shared_doubles(long long *out, int step)
{
    extern __shared__ long long doubles[];
    touch_shared(doubles, out, step);
}

extern "C" __global__ void shared_vectors(int4 *out, int step)
{
    extern __shared__ int4 vectors[];
    vectors[threadIdx.x * step] = make_int4(1, 2, 3, 4);
    __syncthreads();
    int4 v = vectors[threadIdx.x * step];
    asm volatile("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w));
    if (step == 0)
        *out = v;
}

extern "C" __global__ void atomics(int *sum, int *old)
{
    __shared__ int s[4];
    if (threadIdx.x < 4)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x % 4], 2);
    old[threadIdx.x] = atomicAdd(sum, 1);
}

extern "C" __global__ void branches(int *even, int *odd)
{
    if (threadIdx.x % 2)
        odd[threadIdx.x] = 1;
    else
        even[threadIdx.x] = 2;
    if (threadIdx.x < 32)
        odd[threadIdx.x + 1024] = 3;
}

extern "C" __global__ void barriers(int times)
{
#pragma unroll 1
    for (int k = 0; k < times; k++)
        __syncthreads();
    __syncwarp();
}

extern "C" __global__ void hillis_steele(const int *in, int *out)
{
    __shared__ int s[2][256];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[t];
    __syncthreads();
#pragma unroll 1
    for (int d = 1; d < 256; d *= 2, from ^= 1) {
        int x = s[from][t];
        if (t >= d)
            x += s[from][t - d];
        s[from ^ 1][t] = x;
        __syncthreads();
    }
    out[t] = s[from][t];
}

// One warp, 64 values: exclusive.
template <int PAD> __device__ void blelloch(const int *in, int *out)
{
    __shared__ int s[64 + 2];
    auto at = [](int k) { return k + (PAD ? k / 32 : 0); };
    int t = threadIdx.x;
    s[at(t)] = in[t];
    s[at(t + 32)] = in[t + 32];
    __syncthreads();
#pragma unroll 1
    for (int d = 1; d < 64; d *= 2) {
        int a = d * (2 * t + 1) - 1, b = a + d;
        if (b < 64)
            s[at(b)] += s[at(a)];
        __syncthreads();
    }
    if (t == 0)
        s[at(63)] = 0;
    __syncthreads();
#pragma unroll 1
    for (int d = 32; d > 0; d /= 2) {
        int a = d * (2 * t + 1) - 1, b = a + d;
        if (b < 64) {
            int left = s[at(a)];
            s[at(a)] = s[at(b)];
            s[at(b)] += left;
        }
        __syncthreads();
    }
    out[t] = s[at(t)];
    out[t + 32] = s[at(t + 32)];
}

extern "C" __global__ void blelloch_plain(const int *in, int *out)
{
    blelloch<0>(in, out);
}

extern "C" __global__ void blelloch_padded(const int *in, int *out)
{
    blelloch<1>(in, out);
}

// Sums of 32 floats, for whole warps.
extern "C" __global__ void shuffles(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? in[i] : 0.0f;
    for (int d = 1; d < 32; d *= 2)
        x += __shfl_xor_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = x;
}

// Counts and sums what is positive; nvcc makes selections of both.
extern "C" __global__ void guarded(const int *in, int *out, int n)
{
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        int x = in[k * blockDim.x + threadIdx.x];
        if (x > 0)
            sum++;
        if (x > 1)
            sum += x;
    }
    out[threadIdx.x] = sum;
}

__constant__ int table[64] = {1, 2, 3};

// One constant for all, and one for each thread.
extern "C" __global__ void constants(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] + table[3] + table[threadIdx.x % 64];
}
