// Whole solutions in the ways that students write them, with nothing wrong.
#include "../faults.cuh"

#include <cstdint>

// ---- scans ----

__device__ __forceinline__ int warp_scan(int v)
{
    int lane = threadIdx.x % 32;
    for (int o = 1; o < 32; o *= 2) {
        int x = __shfl_up_sync(FULL, v, o);
        if (lane >= o)
            v += x;
    }
    return v;
}

// Totals and bases share an array, with the barriers that this takes.
__device__ int block_scan(int v, int &total)
{
    __shared__ int totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int inclusive = warp_scan(v);
    if (lane == 31)
        totals[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        int t = lane < warps ? totals[lane] : 0;
        t = warp_scan(t);
        if (lane < warps)
            totals[lane] = t;
    }
    __syncthreads();
    total = totals[warps - 1];
    int result = inclusive - v + (warp ? totals[warp - 1] : 0);
    __syncthreads(); // the array is used again
    return result;
}

// case three_kernels: clean
__global__ void scan_tiles(const int *in, int *out, int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, total;
    int before = block_scan(i < n ? in[i] : 0, total);
    if (i < n)
        out[i] = before;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}
__global__ void scan_sums(int *sums, int blocks)
{
    int carry = 0;
    for (int start = 0; start < blocks; start += blockDim.x) {
        int b = start + threadIdx.x, total;
        int before = block_scan(b < blocks ? sums[b] : 0, total);
        if (b < blocks)
            sums[b] = carry + before;
        carry += total;
    }
}
__global__ void three_kernels(int *out, const int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}
CASE(three_kernels)
{
    const int n = 9001, blocks = (n + 127) / 128;
    int *out = fresh<int>(n), *sums = fresh<int>(blocks);
    scan_tiles<<<blocks, 128>>>(input(n), out, sums, n);
    scan_sums<<<1, 64>>>(sums, blocks);
    three_kernels<<<blocks, 128>>>(out, sums, n);
    expect(out, n, [](size_t i) { return input_sum(i); });
}

// The state of a tile: 2 bits of status beside 62 of value, looked back at by a whole warp.
// case look_back_by_a_warp: clean
__global__ void look_back_by_a_warp(const int *in, int *out, unsigned long long *states,
                                    unsigned *ticket, int n)
{
    __shared__ unsigned tile_of_block;
    __shared__ int base;
    int t = threadIdx.x, total;
    if (t == 0)
        tile_of_block = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = tile_of_block, i = tile * blockDim.x + t;
    int before = block_scan(i < n ? in[i] : 0, total);
    if (t < 32) {
        volatile unsigned long long *s = states;
        if (t == 0)
            s[tile] = (tile ? 1ull : 2ull) << 62 | static_cast<unsigned>(total);
        int sum = 0;
        for (int last = tile - 1; last >= 0; last -= 32) {
            int k = last - t;
            unsigned long long state = 2ull << 62;
            do {
                if (k >= 0)
                    state = s[k];
            } while (__any_sync(FULL, state >> 62 == 0));
            unsigned complete = __ballot_sync(FULL, state >> 62 == 2);
            int first = complete ? __ffs(complete) - 1 : 31;
            int v = t <= first ? static_cast<int>(state) : 0;
            for (int o = 16; o; o /= 2)
                v += __shfl_down_sync(FULL, v, o);
            sum += __shfl_sync(FULL, v, 0);
            if (complete)
                break;
        }
        if (t == 0) {
            if (tile)
                s[tile] = 2ull << 62 | static_cast<unsigned>(sum + total);
            base = sum;
        }
    }
    __syncthreads();
    if (i < n)
        out[i] = base + before;
}
CASE(look_back_by_a_warp)
{
    const int n = 10000, tiles = (n + 63) / 64;
    int *out = fresh<int>(n);
    look_back_by_a_warp<<<tiles, 64>>>(input(n), out, zeros<unsigned long long>(tiles),
                                       zeros<unsigned>(1), n);
    expect(out, n, [](size_t i) { return input_sum(i); });
}

// An associative operator that does not commute: affine maps, the earlier one on the left.
// case affine_maps: clean
struct affine {
    int a, b; // x -> a x + b
};
__device__ affine then(affine first, affine second)
{
    return {first.a * second.a, second.a * first.b + second.b};
}
__global__ void affine_maps(const affine *in, affine *out)
{
    __shared__ affine s[2][64];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int o = 1; o < 64; o *= 2, from ^= 1) {
        s[from ^ 1][t] = t >= o ? then(s[from][t - o], s[from][t]) : s[from][t];
        __syncthreads();
    }
    out[t] = s[from][t];
}
CASE(affine_maps)
{
    std::vector<affine> maps(64), sums(64);
    for (int i = 0; i < 64; ++i)
        maps[i] = {i % 3 - 1, i};
    for (int i = 0; i < 64; ++i)
        sums[i] = i ? affine{sums[i - 1].a * maps[i].a, maps[i].a * sums[i - 1].b + maps[i].b}
                    : maps[0];
    affine *in = fresh<affine>(64), *out = fresh<affine>(64);
    cudaMemcpy(in, maps.data(), 64 * sizeof(affine), cudaMemcpyHostToDevice);
    affine_maps<<<1, 64>>>(in, out);
    affine back[64];
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        faults::failed |= back[i].a != sums[i].a || back[i].b != sums[i].b;
}

// A table of sums over two dimensions: rows, then columns.
// case summed_area_table: clean
__global__ void rows_of_the_table(const int *in, int *out, int width)
{
    int carry = 0, row = blockIdx.x * width, t = threadIdx.x;
    for (int x = 0; x < width; x += 32) {
        int v = x + t < width ? in[row + x + t] : 0;
        v = warp_scan(v);
        if (x + t < width)
            out[row + x + t] = carry + v;
        carry += __shfl_sync(FULL, v, 31);
    }
}
__global__ void summed_area_table(int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = 1; x < width && y < height; ++y)
        out[y * width + x] += out[(y - 1) * width + x];
}
CASE(summed_area_table)
{
    const int width = 37, height = 33;
    int *out = fresh<int>(width * height);
    rows_of_the_table<<<height, 32>>>(made<int>(width * height, [](size_t) { return 1; }), out,
                                      width);
    summed_area_table<<<2, 32>>>(out, width, height);
    expect(out, width * height, [](size_t i) { return (i % 37 + 1) * (i / 37 + 1); });
}

// ---- compaction ----

// case compaction_by_ballots: clean
__global__ void counts_of_blocks(const float *in, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int kept = __syncthreads_count(i < n && in[i] > 0);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = kept;
}
__global__ void bases_of_blocks(int *counts, int blocks, int *total)
{
    int run = 0;
    for (int b = 0; b < blocks; ++b) {
        int v = counts[b];
        counts[b] = run;
        run += v;
    }
    *total = run;
}
__global__ void compaction_by_ballots(const float *in, float *out, const int *bases, int n)
{
    __shared__ int warps[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float v = i < n ? in[i] : 0;
    unsigned kept = __ballot_sync(FULL, v > 0);
    if (lane == 0)
        warps[warp] = __popc(kept);
    __syncthreads();
    int to = bases[blockIdx.x] + __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w)
        to += warps[w];
    if (v > 0)
        out[to] = v;
}
CASE(compaction_by_ballots)
{
    const int n = 1000, blocks = 8;
    float *in = made<float>(n, [](size_t i) { return i % 3 ? static_cast<float>(i) : -1.0f; });
    float *out = fresh<float>(666);
    int *bases = fresh<int>(blocks), *total = fresh<int>(1);
    counts_of_blocks<<<blocks, 128>>>(in, bases, n);
    bases_of_blocks<<<1, 1>>>(bases, blocks, total);
    compaction_by_ballots<<<blocks, 128>>>(in, out, bases, n);
    expect(total, 1, [](size_t) { return 666; });
    expect(out, 666, [](size_t i) { return i / 2 * 3 + i % 2 + 1; });
}

// Flags in bytes, positions in halfwords, several elements per thread.
// case compaction_in_one_block: clean
__global__ void compaction_in_one_block(const float *in, float *out, int *count, int n)
{
    __shared__ uint8_t flags[256];
    __shared__ uint16_t positions[256];
    int base = 0;
    for (int b = 0; b < n; b += 256) {
        for (int k = threadIdx.x; k < 256; k += blockDim.x)
            flags[k] = b + k < n && in[b + k] > 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            int run = 0;
            for (int k = 0; k < 256; ++k) {
                positions[k] = static_cast<uint16_t>(run);
                run += flags[k];
            }
        }
        __syncthreads();
        for (int k = threadIdx.x; k < 256; k += blockDim.x)
            if (flags[k])
                out[base + positions[k]] = in[b + k];
        base += positions[255] + flags[255];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *count = base;
}
CASE(compaction_in_one_block)
{
    float *in = made<float>(600, [](size_t i) { return i % 2 ? 1.0f + i : 0.0f; });
    float *out = fresh<float>(300);
    int *count = fresh<int>(1);
    compaction_in_one_block<<<1, 64>>>(in, out, count, 600);
    expect(count, 1, [](size_t) { return 300; });
    expect(out, 300, [](size_t i) { return 2.0f * i + 2.0f; });
}

// ---- mixture of experts ----

// Any number of experts: blocks of threads stride over them; ids that are none are left out.
// case histogram_of_experts: clean
__global__ void histogram_of_experts(const int *ids, int *counts, int tokens, int experts)
{
    extern __shared__ int local[];
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        local[e] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens; i += gridDim.x * blockDim.x) {
        int e = ids[i];
        if (e >= 0 && e < experts)
            atomicAdd(&local[e], 1);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        if (local[e])
            atomicAdd(&counts[e], local[e]);
}
CASE(histogram_of_experts)
{
    for (int experts : {1, 31, 33, 256, 1025, 2048}) {
        int tokens = 3 * experts + 1;
        auto id = [=](size_t i) { return i == 0 ? -1 : static_cast<int>((i - 1) % experts); };
        int *counts = zeros<int>(experts);
        histogram_of_experts<<<3, 128, experts * sizeof(int)>>>(made<int>(tokens, id), counts,
                                                                tokens, experts);
        expect(counts, experts, [](size_t) { return 3; });
    }
}

// One copy per warp, merged behind a barrier.
// case histogram_per_warp: clean
__global__ void histogram_per_warp(const int *ids, int *counts, int tokens)
{
    __shared__ int local[4][16];
    int t = threadIdx.x, warp = t / 32;
    for (int k = t % 32; k < 16; k += 32)
        local[warp][k] = 0;
    __syncwarp();
    for (int i = t; i < tokens; i += blockDim.x)
        atomicAdd(&local[warp][ids[i]], 1);
    __syncthreads();
    if (t < 16)
        counts[t] = local[0][t] + local[1][t] + local[2][t] + local[3][t];
}
CASE(histogram_per_warp)
{
    int *counts = fresh<int>(16);
    histogram_per_warp<<<1, 128>>>(made<int>(800, [](size_t i) { return i % 16; }), counts, 800);
    expect(counts, 16, [](size_t) { return 50; });
}

// Two 32-bit counters in one atomic of 64 bits, read as 32-bit halves behind a barrier.
// case packed_counters: clean
__global__ void packed_counters(const int *ids, int *counts, int tokens)
{
    __shared__ unsigned long long pairs[8];
    int t = threadIdx.x;
    if (t < 8)
        pairs[t] = 0;
    __syncthreads();
    for (int i = t; i < tokens; i += blockDim.x)
        atomicAdd(&pairs[ids[i] / 2], ids[i] % 2 ? 1ull << 32 : 1ull);
    __syncthreads();
    if (t < 16)
        counts[t] = reinterpret_cast<int *>(pairs)[t];
}
CASE(packed_counters)
{
    int *counts = fresh<int>(16);
    packed_counters<<<1, 64>>>(made<int>(160, [](size_t i) { return i % 16; }), counts, 160);
    expect(counts, 16, [](size_t) { return 10; });
}

// Scatters by rank: the place of each token comes from an atomic, the order within an expert is free.
// case tokens_by_expert: clean
__global__ void tokens_by_expert(const int *ids, int *next, int *tokens_of, int tokens)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens)
        tokens_of[atomicAdd(&next[ids[i]], 1)] = ids[i];
}
CASE(tokens_by_expert)
{
    int *next = made<int>(4, [](size_t i) { return 50 * i; }), *tokens_of = fresh<int>(200);
    tokens_by_expert<<<2, 128>>>(made<int>(200, [](size_t i) { return i % 4; }), next, tokens_of,
                                 200);
    expect(next, 4, [](size_t i) { return 50 * (i + 1); });
    expect(tokens_of, 200, [](size_t i) { return i / 50; });
}

// ---- others ----

// Recursion, a table of functions, virtual functions, memory from the device's heap.
// case language_features: clean
struct shape {
    __device__ virtual int size(int n) const = 0;
};
struct square : shape {
    __device__ int size(int n) const override
    {
        return n * n;
    }
};
struct line : shape {
    __device__ int size(int n) const override
    {
        return n;
    }
};
__device__ __noinline__ int sum_of(const int *p, int low, int high)
{
    if (high - low == 1)
        return p[low];
    int middle = (low + high) / 2;
    return sum_of(p, low, middle) + sum_of(p, middle, high);
}
__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int negated(int x)
{
    return -x;
}
__device__ int (*const operations[2])(int) = {twice, negated};
__global__ void language_features(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    square s;
    line l;
    const shape *shapes[2] = {&s, &l};
    int *heap = new int[4];
    for (int k = 0; k < 4; ++k)
        heap[k] = shapes[(t + k) % 2]->size(t);
    out[t] = operations[t % 2](sum_of(in, 0, n)) + heap[0] + heap[1];
    delete[] heap;
}
CASE(language_features)
{
    int *out = fresh<int>(32);
    language_features<<<1, 32>>>(input(9), out, 9);
    expect(out, 32, [](size_t i) {
        int t = static_cast<int>(i);
        return (t % 2 ? -18 : 36) + t * t + t;
    });
}

// A block of three dimensions whose last warp is not full.
// case block_of_three_dimensions: clean
__global__ void block_of_three_dimensions(const int *in, int *out)
{
    __shared__ int s[5][3][7];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    s[z][y][x] = in[(z * 3 + y) * 7 + x];
    __syncthreads();
    out[(z * 3 + y) * 7 + x] = s[4 - z][2 - y][6 - x];
}
CASE(block_of_three_dimensions)
{
    int *out = fresh<int>(105);
    block_of_three_dimensions<<<1, dim3(7, 3, 5)>>>(made<int>(105, [](size_t i) { return i; }), out);
    expect(out, 105, [](size_t i) { return 104 - i; });
}

// A captured graph of two kernels, run three times.
// case graph_of_kernels: clean
__global__ void graph_of_kernels(int *data, int n, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += step;
}
CASE(graph_of_kernels)
{
    int *data = zeros<int>(100);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    graph_of_kernels<<<1, 128, 0, stream>>>(data, 100, 1);
    graph_of_kernels<<<1, 128, 0, stream>>>(data, 100, 10);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    for (int k = 0; k < 3; ++k)
        cudaGraphLaunch(run, stream);
    cudaStreamSynchronize(stream);
    expect(data, 100, [](size_t) { return 33; });
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
