// expect: wrong_answer
// One recurrence over all items, whatever their keys.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

// y -> a y + b: what one item, or a stretch of items, makes of what comes behind it.
struct Step {
    float a, b;
};

// `first` is applied first: it lies behind `then` in the arrays.
__device__ __forceinline__ Step combine(Step first, Step then)
{
    return {then.a * first.a, then.a * first.b + then.b};
}

// Item r from the back. The last item of a segment forgets what comes behind it.
__device__ __forceinline__ Step load_step(const int *keys, const float *x, const float *decay,
                                          int n, unsigned r)
{
    if (r >= unsigned(n))
        return {1, 0}; // changes nothing
    const int i = n - 1 - int(r);
    const bool goes_on = i + 1 < n;
    return {goes_on ? decay[i] : 0.0f, x[i]};
}

// The first time `tile_steps` gets the map of each tile, and `behind` is null; the second time
// behind[tile] is what y is behind the tile.
__global__ void scan_tiles(const int *keys, const float *x, const float *decay, float *y, int n,
                           Step *tile_steps, const float *behind)
{
    __shared__ Step steps[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const unsigned r = blockIdx.x * unsigned{kThreads} + t; // the last tile may reach past 2^31
    int from = 0;
    steps[from][t] = load_step(keys, x, decay, n, r);
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        Step step = steps[from][t];
        if (t >= distance)
            step = combine(steps[from][t - distance], step);
        from = 1 - from;
        steps[from][t] = step;
        __syncthreads();
    }
    if (!behind) {
        if (t == kThreads - 1)
            tile_steps[blockIdx.x] = steps[from][t];
    } else if (r < unsigned(n)) {
        y[n - 1 - int(r)] = steps[from][t].a * behind[blockIdx.x] + steps[from][t].b;
    }
}

__global__ void scan_tile_steps(const Step *tile_steps, float *behind, int tile_count)
{
    float y = 0;
    for (int tile = 0; tile < tile_count; tile++) {
        behind[tile] = y;
        y = tile_steps[tile].a * y + tile_steps[tile].b;
    }
}

extern "C" void linear_recurrence(const int *keys, const float *x, const float *decay, float *y,
                                  int n, void *workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kThreads + 1;
    Step *tile_steps = static_cast<Step *>(workspace);
    float *behind = reinterpret_cast<float *>(tile_steps + tile_count);
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(keys, x, decay, y, n, tile_steps, nullptr);
    cudaGetLastError();
    scan_tile_steps<<<1, 1, 0, stream>>>(tile_steps, behind, tile_count);
    cudaGetLastError();
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(keys, x, decay, y, n, tile_steps, behind);
    cudaGetLastError();
}
