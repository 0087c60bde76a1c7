// expect: accepted
// Decoupled look-back as in the paper's figures: a flag, an aggregate and an inclusive prefix per
// tile in separate words, published with a fence between value and flag, and one thread that walks
// back tile by tile. Tiles are numbered by an atomic ticket; the flags are cleared by a kernel.
#include <cstddef>

constexpr int kThreads = 512;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems; // 4096 elements share 12 bytes of state

enum { kEmpty = 0, kAggregate = 1, kPrefix = 2 };

struct Tiles {
    unsigned *ticket;
    volatile int *flag;
    volatile int *aggregate;
    volatile int *prefix;
};

__global__ void clear(Tiles tiles, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        tiles.flag[i] = kEmpty;
    if (i == 0)
        *tiles.ticket = 0;
}

__device__ int sum_before(const Tiles &tiles, int tile)
{
    int sum = 0;
    for (int j = tile - 1; j >= 0; --j) {
        int flag;
        do {
            flag = tiles.flag[j];
        } while (flag == kEmpty);
        __threadfence(); // the value is read after its flag
        if (flag == kPrefix)
            return sum + tiles.prefix[j];
        sum += tiles.aggregate[j];
    }
    return sum;
}

__global__ void scan(const int *in, int *out, int n, Tiles tiles)
{
    __shared__ int tile_index, tile_prefix;
    __shared__ int partial[2][kThreads];
    const int t = threadIdx.x;
    if (t == 0)
        tile_index = atomicAdd(tiles.ticket, 1u);
    __syncthreads();
    const int tile = tile_index;
    const int base = tile * kTile + t * kItems;

    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += items[k];
    }

    int from = 0; // Hillis-Steele over the thread sums, two buffers in turn
    partial[from][t] = sum;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int value = partial[from][t];
        if (t >= distance)
            value += partial[from][t - distance];
        partial[1 - from][t] = value;
        from = 1 - from;
        __syncthreads();
    }

    if (t == 0) {
        int total = partial[from][kThreads - 1];
        if (tile > 0) {
            tiles.aggregate[tile] = total;
            __threadfence(); // the flag is written after its value
            tiles.flag[tile] = kAggregate;
        }
        int before = sum_before(tiles, tile);
        tiles.prefix[tile] = before + total;
        __threadfence();
        tiles.flag[tile] = kPrefix;
        tile_prefix = before;
    }
    __syncthreads();

    int running = tile_prefix + partial[from][t] - sum;
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int count = (n - 1) / kTile + 1;
    int *words = static_cast<int *>(workspace);
    Tiles tiles;
    tiles.ticket = reinterpret_cast<unsigned *>(words);
    tiles.flag = words + 1;
    tiles.aggregate = words + 1 + count;
    tiles.prefix = words + 1 + 2 * count;
    clear<<<(count + 255) / 256, 256, 0, stream>>>(tiles, count);
    scan<<<count, kThreads, 0, stream>>>(in, out, n, tiles);
}
