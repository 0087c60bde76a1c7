// Cooperative groups: tiles of 1 to 32 lanes, coalesced, labelled and binary partitions, reductions
// and scans over them, memcpy_async, and grids that synchronise.
#include "common.cuh"

#include <algorithm>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

enum { BLOCK = 128 };

// What every thread of a tile should see, computed from the input alone. Whole groups leave early
// when their part of the input is over.
template <int SIZE>
__global__ void tiles(const int *in, int *sums, int *inclusive, int *exclusive, int *shuffled,
                      int n)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<SIZE>(block);
    int i = static_cast<int>(block.group_index().x * BLOCK + block.thread_rank());
    if (i - static_cast<int>(tile.thread_rank()) >= n)
        return;
    int v = i < n ? in[i] : 0;
    int sum = cg::reduce(tile, v, cg::plus<int>());
    int up = cg::inclusive_scan(tile, v, cg::plus<int>());
    int before = cg::exclusive_scan(tile, v, cg::plus<int>());
    int turned = tile.shfl_xor(v, SIZE / 2);
    if (tile.any(v > 900) && tile.thread_rank() == 0)
        sum += 1;
    tile.sync();
    if (i < n) {
        sums[i] = sum;
        inclusive[i] = up;
        exclusive[i] = before;
        shuffled[i] = turned;
    }
}

template <int SIZE> static void test_tiles(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> sums(n), inclusive(n), exclusive(n), shuffled(n);
    for (int first = 0; first < n; first += SIZE) {
        int sum = 0, more = 0;
        for (int i = first; i < first + SIZE && i < n; ++i) {
            exclusive[i] = sum;
            inclusive[i] = sum += in[i];
            more |= in[i] > 900;
            int other = first + ((i - first) ^ SIZE / 2);
            shuffled[i] = other < n ? in[other] : 0;
        }
        for (int i = first; i < first + SIZE && i < n; ++i)
            sums[i] = sum + (i == first ? more : 0);
    }
    device_buffer<int> d_in(in), d_sums(n), d_up(n), d_before(n), d_turned(n);
    const std::string name = "tiled_partition<" + std::to_string(SIZE) + ">";
    kernel_call<int>(name.c_str(), n, [&] {
        if (n)
            tiles<SIZE><<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in.data, d_sums.data, d_up.data,
                                                            d_before.data, d_turned.data, n);
    });
    expect(sums, d_sums, "reduce");
    expect(inclusive, d_up, "inclusive_scan");
    expect(exclusive, d_before, "exclusive_scan");
    expect(shuffled, d_turned, "shfl_xor");
}

// Structs travel in pieces. (These scans apply their operator with swapped operands, so it has to
// commute.)
__global__ void tile_of_items(const item *in, item *out, int n)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    item v = i < n ? in[i] : item{0, 0, 0};
    item up = cg::inclusive_scan(tile, v, max_op{});
    if (i < n)
        out[i] = up;
}

static void test_items(int n)
{
    const std::vector<item> in = random_values<item>(n);
    std::vector<item> expected(in);
    for (int i = 0; i < n; ++i)
        if (i % 32)
            expected[i] = max_op{}(expected[i - 1], in[i]);
    device_buffer<item> d_in(in), d_out(n);
    kernel_call<item>("cg::inclusive_scan of structs", n, [&] {
        if (n)
            tile_of_items<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in.data, d_out.data, n);
    });
    expect(expected, d_out);
}

// In divergent code: the lanes that are here count themselves and take places together.
__global__ void select_odd(const int *in, int *out, int *count, int n)
{
    int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    if (i < n && (in[i] & 1)) {
        cg::coalesced_group here = cg::coalesced_threads();
        int first = 0;
        if (here.thread_rank() == 0)
            first = atomicAdd(count, static_cast<int>(here.num_threads()));
        first = here.shfl(first, 0);
        out[first + here.thread_rank()] = in[i];
    }
}

// Groups by label and by predicate: everybody learns the size of its group and the sum in it.
__global__ void partitions(const int *in, int *by_label, int *by_sign, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    int v = i < n ? in[i] : -5;
    auto same = cg::labeled_partition(warp, v & 3);
    int sum = cg::reduce(same, v, cg::plus<int>());
    auto sign = cg::binary_partition(warp, v < 0);
    int smallest = cg::reduce(sign, v, cg::less<int>());
    if (i < n) {
        by_label[i] = sum + static_cast<int>(same.num_threads());
        by_sign[i] = smallest;
    }
}

static void test_divergent(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> odd, by_label(n), by_sign(n);
    for (int v : in)
        if (v & 1)
            odd.push_back(v);
    for (int first = 0; first < n; first += 32)
        for (int i = first; i < first + 32 && i < n; ++i) {
            int sum = 0, size = 0, smallest = 1 << 30;
            for (int k = first; k < first + 32; ++k) {
                int v = k < n ? in[k] : -5;
                if ((v & 3) == (in[i] & 3)) {
                    sum += v;
                    ++size;
                }
                if ((v < 0) == (in[i] < 0))
                    smallest = v < smallest ? v : smallest;
            }
            by_label[i] = sum + size;
            by_sign[i] = smallest;
        }
    device_buffer<int> d_in(in), d_out(n), d_count(std::vector<int>{0}), d_label(n), d_sign(n);
    const int blocks = (n + BLOCK - 1) / BLOCK;
    kernel_call<int>("coalesced_threads", n, [&] {
        if (n)
            select_odd<<<blocks, BLOCK>>>(d_in.data, d_out.data, d_count.data, n);
    });
    expect_one(static_cast<int>(odd.size()), d_count, "count");
    std::vector<int> got = d_out.read(odd.size()); // the order of warps is anybody's
    std::sort(got.begin(), got.end());
    std::sort(odd.begin(), odd.end());
    expect(odd, got);
    kernel_call<int>("labeled_partition, binary_partition", n, [&] {
        if (n)
            partitions<<<blocks, BLOCK>>>(d_in.data, d_label.data, d_sign.data, n);
    });
    expect(by_label, d_label, "labeled");
    expect(by_sign, d_sign, "binary");
}

// A tile is copied to shared memory, reversed, and written back.
__global__ void reverse_tiles(const int *in, int *out, int n)
{
    __shared__ __align__(16) int tile[BLOCK];
    cg::thread_block block = cg::this_thread_block();
    int first = static_cast<int>(blockIdx.x) * BLOCK, count = min(BLOCK, n - first);
    cg::memcpy_async(block, tile, in + first, sizeof(int) * count);
    cg::wait(block);
    int t = static_cast<int>(block.thread_rank());
    if (t < count)
        out[first + t] = tile[count - 1 - t];
}

// Three phases separated by grid.sync(): sums of slices, their scan by one thread, the outputs.
__global__ void grid_scan(const int *in, int *out, int *sums, int n)
{
    cg::grid_group grid = cg::this_grid();
    int threads = static_cast<int>(grid.num_threads()), me = static_cast<int>(grid.thread_rank());
    int each = (n + threads - 1) / threads, sum = 0;
    int first = min(me * each, n), last = min(first + each, n);
    for (int i = first; i < last; ++i)
        sum += in[i];
    sums[me] = sum;
    grid.sync();
    if (me == 0)
        for (int t = 0, running = 0; t < threads; ++t) {
            int mine = sums[t];
            sums[t] = running;
            running += mine;
        }
    grid.sync();
    sum = sums[me];
    for (int i = first; i < last; ++i)
        out[i] = sum += in[i];
}

static void test_block_and_grid(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> reversed(n), scanned(n);
    for (int i = 0, sum = 0; i < n; ++i) {
        int first = i / BLOCK * BLOCK, count = std::min(BLOCK + 0, n - first);
        reversed[i] = in[first + count - 1 - (i - first)];
        scanned[i] = sum += in[i];
    }
    const int blocks = n < 2000 ? 3 : 8;
    device_buffer<int> d_in(in), d_out(n), d_sums(blocks * BLOCK);
    kernel_call<int>("cg::memcpy_async", n, [&] {
        if (n)
            reverse_tiles<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in.data, d_out.data, n);
    });
    expect(reversed, d_out);
    kernel_call<int>("grid.sync", n, [&] {
        int count = n;
        void *arguments[] = {&d_in.data, &d_out.data, &d_sums.data, &count};
        check(cudaLaunchCooperativeKernel(grid_scan, dim3(blocks), dim3(BLOCK), arguments, 0, 0),
              "cudaLaunchCooperativeKernel");
    });
    expect(scanned, d_out);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_tiles<1>(n);
        test_tiles<2>(n);
        test_tiles<4>(n);
        test_tiles<8>(n);
        test_tiles<16>(n);
        test_tiles<32>(n);
        test_items(n);
        test_divergent(n);
        test_block_and_grid(n);
    }
    return finish();
}
