// cub::BlockLoad and cub::BlockStore with all their algorithms, cub::BlockExchange,
// BlockDiscontinuity, BlockAdjacentDifference and BlockShuffle.
#include "block.cuh"

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>

enum { THREADS = 64, ITEMS = 4, TILE = THREADS * ITEMS };

template <typename T, cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE>
__global__ void move_tiles(const T *in, T *out, int n)
{
    using load = cub::BlockLoad<T, THREADS, ITEMS, LOAD>;
    using store = cub::BlockStore<T, THREADS, ITEMS, STORE>;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
    } storage;
    int first = static_cast<int>(blockIdx.x) * TILE, count = n - first;
    T items[ITEMS];
    if (count >= TILE) {
        load(storage.load).Load(in + first, items);
        __syncthreads();
        store(storage.store).Store(out + first, items);
    } else {
        load(storage.load).Load(in + first, items, count);
        __syncthreads();
        store(storage.store).Store(out + first, items, count);
    }
}

template <typename T, cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE>
static void test_move(const char *name, const std::vector<T> &in, const device_buffer<T> &d_in)
{
    const int n = static_cast<int>(in.size());
    device_buffer<T> d_out(n);
    kernel_call<T>(name, n, [&] {
        if (n)
            move_tiles<T, LOAD, STORE><<<tiles_of(n, TILE), THREADS>>>(d_in.data, d_out.data, n);
    });
    expect(in, d_out);
}

// Reversed within each tile by scattering, then back to a striped arrangement and forth.
template <typename T> __global__ void exchange_tiles(const T *in, T *out, int n)
{
    using exchange = cub::BlockExchange<T, THREADS, ITEMS>;
    __shared__ typename exchange::TempStorage storage;
    int first = static_cast<int>(blockIdx.x) * TILE, t = static_cast<int>(threadIdx.x);
    T items[ITEMS];
    int ranks[ITEMS];
    for (int k = 0; k < ITEMS; ++k) {
        items[k] = first + k * THREADS + t < n ? in[first + k * THREADS + t] : T{};
        ranks[k] = TILE - 1 - (t * ITEMS + k);
    }
    exchange(storage).StripedToBlocked(items, items);
    __syncthreads();
    exchange(storage).ScatterToBlocked(items, items, ranks);
    __syncthreads();
    exchange(storage).BlockedToWarpStriped(items, items);
    __syncthreads();
    exchange(storage).WarpStripedToBlocked(items, items);
    __syncthreads();
    exchange(storage).BlockedToStriped(items, items);
    for (int k = 0; k < ITEMS; ++k)
        out[first + k * THREADS + t] = items[k];
}

template <typename T>
__global__ void neighbours(const T *in, int *heads, int *tails, T *differences, int n)
{
    using discontinuity = cub::BlockDiscontinuity<T, THREADS>;
    using difference = cub::BlockAdjacentDifference<T, THREADS>;
    using shuffle = cub::BlockShuffle<int, THREADS>;
    __shared__ union {
        typename discontinuity::TempStorage discontinuity;
        typename difference::TempStorage difference;
        typename shuffle::TempStorage shuffle;
    } storage;
    int first = static_cast<int>(blockIdx.x) * TILE, t = static_cast<int>(threadIdx.x);
    T items[ITEMS], left[ITEMS];
    int head[ITEMS], tail[ITEMS];
    for (int k = 0; k < ITEMS; ++k) {
        int i = first + t * ITEMS + k;
        items[k] = in[i < n ? i : n - 1];
    }
    discontinuity(storage.discontinuity).FlagHeadsAndTails(head, tail, items, [](T a, T b) {
        return a != b;
    });
    __syncthreads();
    difference(storage.difference).SubtractLeft(items, left, plus_op{});
    __syncthreads();
    int up = 0;
    shuffle(storage.shuffle).Offset(t, up, -1);
    for (int k = 0; k < ITEMS; ++k) {
        int i = first + t * ITEMS + k;
        if (i < n) {
            heads[i] = head[k] + (t > 0 && up != t - 1 ? 100 : 0);
            tails[i] = tail[k];
            differences[i] = left[k];
        }
    }
}

template <typename T> static void test_neighbours(int n)
{
    const int tiles = tiles_of(n, TILE);
    const std::vector<T> in = values_in_runs<T>(n, 4);
    std::vector<T> reversed(tiles * TILE), differences(n);
    std::vector<int> heads(n), tails(n);
    for (int i = 0; i < n; ++i) {
        reversed[i / TILE * TILE + TILE - 1 - i % TILE] = in[i];
        heads[i] = i % TILE == 0 || in[i] != in[i - 1];
        tails[i] = i % TILE == TILE - 1 || (i + 1 < n && in[i] != in[i + 1]);
        differences[i] = i % TILE ? in[i] + in[i - 1] : in[i];
    }
    device_buffer<T> d_in(in), d_out(tiles * TILE), d_differences(n);
    device_buffer<int> d_heads(n), d_tails(n);
    kernel_call<T>("BlockExchange", n, [&] {
        if (n)
            exchange_tiles<<<tiles, THREADS>>>(d_in.data, d_out.data, n);
    });
    expect(reversed, d_out);
    kernel_call<T>("BlockDiscontinuity, BlockAdjacentDifference, BlockShuffle", n, [&] {
        if (n)
            neighbours<<<tiles, THREADS>>>(d_in.data, d_heads.data, d_tails.data,
                                           d_differences.data, n);
    });
    expect(heads, d_heads, "heads");
    expect(tails, d_tails, "tails");
    expect(differences, d_differences, "differences");
}

template <typename T> static void test_type()
{
    for (int n : block_sizes()) {
        const std::vector<T> in = random_values<T>(n);
        device_buffer<T> d_in(in);
        test_move<T, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>("direct", in, d_in);
        test_move<T, cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>("striped", in, d_in);
        test_move<T, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>("vectors", in, d_in);
        test_move<T, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>("transposed", in, d_in);
        test_move<T, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(
            "transposed by warps", in, d_in);
        test_move<T, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
                  cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>("transposed warp after warp", in,
                                                              d_in);
        test_neighbours<T>(n);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    test_type<int>();
    test_type<int64>();
    test_type<float>();
    test_type<item>();
    return finish();
}
