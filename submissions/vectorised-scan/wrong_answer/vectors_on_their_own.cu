// expect: wrong_answer
// Adds what stands before the thread to the last item of its vector only.
constexpr int kTile = 4096;
constexpr int kThreads = 1024;

// Four neighbours from i on; those past the end are the neutral 0. i is a multiple of 4.
__device__ int4 load_four(const int *in, int i, int n)
{
    if (i + 4 <= n)
        return *reinterpret_cast<const int4 *>(in + i);
    int4 v = make_int4(0, 0, 0, 0);
    if (i < n)
        v.x = in[i];
    if (i + 1 < n)
        v.y = in[i + 1];
    if (i + 2 < n)
        v.z = in[i + 2];
    return v;
}

__device__ void store_four(int *out, int i, int n, int4 v)
{
    if (i + 4 <= n) {
        *reinterpret_cast<int4 *>(out + i) = v;
        return;
    }
    if (i < n)
        out[i] = v.x;
    if (i + 1 < n)
        out[i + 1] = v.y;
    if (i + 2 < n)
        out[i + 2] = v.z;
}

__device__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    return v;
}

__global__ void scan_tile(const int *in, int *out, int n)
{
    __shared__ int sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = blockIdx.x * kTile + 4 * threadIdx.x;
    int4 v = load_four(in, i, n);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const int inclusive = warp_inclusive_scan(v.w);
    if (lane == 31)
        sums[warp] = inclusive;
    __syncthreads();
    if (warp == 0)
        sums[lane] = warp_inclusive_scan(sums[lane]);
    __syncthreads();
    const int before = (warp > 0 ? sums[warp - 1] : 0) + inclusive - v.w;
    v.w += before;
    store_four(out, i, n, v);
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
}
