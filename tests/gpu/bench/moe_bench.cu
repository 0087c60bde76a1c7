// MoE counts and offsets: the fastest rung against CUB's histogram + scan, against the plain
// shared-memory histogram + scan (rung 1), against the same with blocks that fill the card (rung 2,
// without a goal), and against a kernel that only reads the ids.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 moe_bench.cu -o moe_bench
//   moe_bench             all of the following
//   moe_bench checks      lengths, experts, alignments, streams, graphs, ids past 2^31
//   moe_bench table       every size, with the goal of each row, and what a call costs its thread
//   moe_bench sanitize    few and small checks, for compute-sanitizer
//
// Goals, against the better of CUB and plain, in one run: 2.2 times at 2^24 ids, and one launch
// that is not slower at 2^13, for 8, 64, 256 and 1024 experts. Another rung:
// -DMOE_SOURCE='"../../../reference/moe-counts-offsets/one_launch.cu"'.
#include "common.cuh"

#include <chrono>
#include <memory>

#include <cooperative_groups.h>
#include <cub/cub.cuh>

#ifndef MOE_SOURCE
#define MOE_SOURCE "../../../reference/moe-counts-offsets/cooperative.cu"
#endif
namespace ours
{
#define moe_counts_offsets moe_ours
#include MOE_SOURCE
#undef moe_counts_offsets
} // namespace ours
namespace plain
{
#define moe_counts_offsets moe_plain
#include "../../../reference/moe-counts-offsets/plain_histogram.cu"
#undef moe_counts_offsets
} // namespace plain
namespace filled
{
#define moe_counts_offsets moe_filled
#include "../../../reference/moe-counts-offsets/shared_histogram.cu"
#undef moe_counts_offsets
} // namespace filled

using bench::device_array;

static cudaStream_t stream;
static bench::tally tally;

constexpr int kPoison = 0x5a; // of every byte
constexpr int kRounds = 31;

// ---- ids, and expected answers by other means than the contestants' ----------------------------

enum load { UNIFORM, SKEWED, ELSEWHERE, LOADS };
static const char *const load_names[] = {"uniform", "90% to one", "half elsewhere"};

// Id i of a load.
struct id_of {
    uint32_t seed;
    int experts;
    load to;
    __device__ int operator()(size_t i) const
    {
        const int strangers[] = {-1, experts, INT_MIN, INT_MAX};
        const uint32_t percent = bench::hash_of(i, seed + 1) % 100;
        if (to == SKEWED && percent < 90)
            return experts * 2 / 3;
        if (to == ELSEWHERE && percent < 50)
            return strangers[percent % 4];
        return static_cast<int>(bench::hash_of(i, seed) % static_cast<uint32_t>(experts));
    }
};

__global__ void expect_counts(const int *ids, size_t n, int experts, int *counts)
{
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
         i += size_t{gridDim.x} * blockDim.x)
        if (ids[i] >= 0 && ids[i] < experts)
            atomicAdd(&counts[ids[i]], 1); // with every other thread
}

__global__ void expect_offsets(const int *counts, int experts, int *offsets)
{
    int sum = 0;
    for (int expert = 0; expert < experts; expert++) {
        offsets[expert] = sum;
        sum += counts[expert];
    }
}

// One call's input, and what must come out of it.
struct input {
    const int *ids;
    int tokens, top_k, experts;
    device_array<int> counts, offsets;

    size_t id_count() const
    {
        return size_t(tokens) * size_t(top_k);
    }

    // The ids go to `memory`, which is the caller's.
    input(int *memory, int tokens_, int top_k_, int experts_, load to, uint32_t seed)
        : ids(memory), tokens(tokens_), top_k(top_k_), experts(experts_), counts(size_t(experts_)),
          offsets(size_t(experts_))
    {
        bench::fill(memory, id_count(), id_of{seed, experts, to});
        CHECK(cudaMemset(counts.data, 0, counts.bytes()));
        expect_counts<<<1024, 256>>>(ids, id_count(), experts, counts.data);
        expect_offsets<<<1, 1>>>(counts.data, experts, offsets.data);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
};

// counts and offsets with a gap behind each that must stay as it is. The gap is odd, so that the
// arrays are aligned to 4 bytes and no more.
struct output {
    static constexpr int kGap = 5;
    device_array<int> memory;
    int experts;

    explicit output(int experts_) : memory(2 * size_t(experts_ + kGap)), experts(experts_)
    {
    }
    int *counts() const
    {
        return memory.data;
    }
    int *offsets() const
    {
        return memory.data + experts + kGap;
    }
    void poison() const
    {
        CHECK(cudaMemsetAsync(memory.data, kPoison, memory.bytes(), stream));
    }

    bool is_right(const input &in) const
    {
        if (bench::differences(counts(), in.counts.data, size_t(experts)) ||
            bench::differences(offsets(), in.offsets.data, size_t(experts)))
            return false;
        constexpr size_t kBytes = kGap * sizeof(int);
        unsigned char gaps[2 * kBytes];
        CHECK(cudaMemcpy2D(gaps, kBytes, counts() + experts, sizeof(int) * size_t(experts + kGap),
                           kBytes, 2, cudaMemcpyDeviceToHost));
        return std::all_of(gaps, gaps + 2 * kBytes, [](int byte) { return byte == kPoison; });
    }
};

// ---- contestants -------------------------------------------------------------------------------

static void call_ours(const input &in, const output &out, cudaStream_t on)
{
    ours::moe_ours(in.ids, out.counts(), out.offsets(), in.tokens, in.top_k, in.experts, on);
}

static void call_plain(const input &in, const output &out, cudaStream_t on)
{
    plain::moe_plain(in.ids, out.counts(), out.offsets(), in.tokens, in.top_k, in.experts, on);
}

static void call_filled(const input &in, const output &out, cudaStream_t on)
{
    filled::moe_filled(in.ids, out.counts(), out.offsets(), in.tokens, in.top_k, in.experts, on);
}

// Its memory is made once, and a 32-bit number of ids is passed: as a caller in a hurry would.
static void call_cub(const input &in, const output &out, cudaStream_t on)
{
    static device_array<char> temporary(size_t{64} << 20);
    size_t bytes = temporary.count;
    CHECK(cub::DeviceHistogram::HistogramEven(temporary.data, bytes, in.ids, out.counts(),
                                              in.experts + 1, 0, in.experts,
                                              static_cast<int>(in.id_count()), on));
    CHECK(cub::DeviceScan::ExclusiveSum(temporary.data, bytes, out.counts(), out.offsets(),
                                        in.experts, on));
}

// A floor, not a contestant. Whole vectors only.
__global__ void __launch_bounds__(512) read_ids(const int4 *ids, size_t n, int *sink)
{
    constexpr int kLoads = 4;
    const size_t stride = size_t{gridDim.x} * 512;
    int sum = 0;
    for (size_t i = blockIdx.x * size_t{512} + threadIdx.x; i < n; i += kLoads * stride) {
        int4 v[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; k++)
            v[k] = i + k * stride < n ? ids[i + k * stride] : int4{0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < kLoads; k++)
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    if (sum == 0x12345678) // or the loads would be dropped
        *sink = sum;
}

static void call_read(const input &in, const output &out, cudaStream_t on)
{
    const size_t n = in.id_count() / 4;
    read_ids<<<static_cast<unsigned>(std::min<size_t>(n / 512 + 1, 528)), 512, 0, on>>>(
        reinterpret_cast<const int4 *>(in.ids), n, out.counts());
}

struct contestant {
    const char *name;
    void (*call)(const input &, const output &, cudaStream_t);
    bool answers;
};
static const contestant contestants[] = {
    {"ours", call_ours, true},
    {"CUB", call_cub, true},
    {"plain", call_plain, true},
    {"filled", call_filled, true},
    {"read", call_read, false},
};
enum { OURS, CUB, PLAIN, FILLED, READ };

// ---- timing ------------------------------------------------------------------------------------

// Kernels and memsets that one call of ours puts on the stream.
static int launches_of(const input &in, const output &out)
{
    cudaGraph_t graph;
    size_t count = 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    call_ours(in, out, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(cudaGraphDestroy(graph));
    return static_cast<int>(count);
}

// A buffer of ids that comes too soon again would be met in a cache that the flush did not clear of
// it: the contestants, whose number has no divisor in common with kInputs, go round.
constexpr int kInputs = 3;
static_assert(std::size(contestants) % kInputs != 0, "each would always get the same ids");

static void time_row(int log_n, int experts, load to, int *(&memory)[kInputs])
{
    std::vector<std::unique_ptr<input>> inputs;
    for (int k = 0; k < kInputs; k++)
        inputs.push_back(
            std::make_unique<input>(memory[k], 1 << (log_n - 3), 8, experts, to, uint32_t(k)));
    const output out(experts);
    std::vector<bench::contender> contenders;
    int turn = 0;
    for (const contestant &c : contestants)
        contenders.push_back(
            {c.name, [&] { out.poison(); },
             [&, call = c.call] { call(*inputs[size_t(++turn % kInputs)], out, stream); },
             [&, answers = c.answers] {
                 return !answers || out.is_right(*inputs[size_t(turn % kInputs)]);
             }});
    const std::vector<bench::timing> t = bench::time_in_turns(contenders, stream, kRounds);

    const double mine = t[OURS].median_ms, best = std::min(t[CUB].median_ms, t[PLAIN].median_ms);
    const int launches = launches_of(*inputs[0], out);
    std::printf("2^%-3d %7d  %-14s %8d", log_n, experts, load_names[to], launches);
    for (size_t c = 0; c < std::size(contestants); c++)
        std::printf(" %8.4f", t[c].median_ms);
    for (int c : {CUB, PLAIN, FILLED, READ})
        std::printf(" %8.2f", t[c].median_ms / mine);
    const double goal = experts > 1024 ? 0 : log_n == 24 ? 2.2 : log_n == 13 ? 1.0 : 0;
    if (goal > 0)
        std::printf("  >= %.1f %s", goal, tally.goal(launches == 1 ? best / mine : 0, goal));
    for (size_t c = 0; c < std::size(contestants); c++) {
        tally.wrong += t[c].wrong;
        if (t[c].wrong)
            std::printf(", %s WRONG %d times", contestants[c].name, t[c].wrong);
    }
    std::printf("\n");
    std::fflush(stdout);
}

static void time_table()
{
    constexpr int kLogMax = 24;
    device_array<int> ids(size_t{kInputs} << kLogMax);
    int *memory[kInputs];
    for (int k = 0; k < kInputs; k++)
        memory[k] = ids.data + (size_t(k) << kLogMax);
    std::printf("\nMedians of %d, in ms; launches: kernels and memsets of one call of ours; goals: "
                "against the better of CUB and plain.\n",
                kRounds);
    std::printf("%-5s %7s  %-14s %8s", "ids", "experts", "they go", "launches");
    for (const contestant &c : contestants)
        std::printf(" %8s", c.name);
    std::printf(" %8s %8s %8s %8s\n", "CUB/ours", "plain/o.", "filled/o", "read/o.");
    for (int log_n : {10, 12, 13, 14, 16, 18, 20, 22, kLogMax})
        for (int experts : {8, 64, 256, 1024, 4096})
            for (load to : {UNIFORM, SKEWED})
                time_row(log_n, experts, to, memory);
    std::printf("\n");
}

// What a call costs the thread that makes it, while the card has other things to do.
static void time_host()
{
    constexpr int kCalls = 20;
    device_array<int> memory(size_t{1} << 20);
    for (int ids : {1 << 10, 1 << 20}) {
        const input in(memory.data, ids, 1, 256, UNIFORM, 7);
        const output out(in.experts);
        std::printf("host time of a call, %d ids:", ids);
        for (int c : {OURS, CUB, PLAIN, FILLED}) {
            std::vector<double> us;
            for (int round = 0; round < kRounds; round++) {
                CHECK(cudaStreamSynchronize(stream));
                bench::flush_cache(stream);
                const auto began = std::chrono::steady_clock::now();
                for (int i = 0; i < kCalls; i++)
                    contestants[c].call(in, out, stream);
                const std::chrono::duration<double, std::micro> spent =
                    std::chrono::steady_clock::now() - began;
                us.push_back(spent.count() / kCalls);
            }
            std::sort(us.begin(), us.end());
            std::printf(" %s %.2f us", contestants[c].name, us[us.size() / 2]);
        }
        std::printf("\n");
    }
    CHECK(cudaStreamSynchronize(stream));
}

// ---- checks ------------------------------------------------------------------------------------

static bool one_call_is_right(const input &in)
{
    const output out(in.experts);
    out.poison();
    call_ours(in, out, stream);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    return out.is_right(in);
}

static void check_lengths(const std::vector<int> &lengths, const std::vector<int> &experts)
{
    device_array<int> memory(size_t(*std::max_element(lengths.begin(), lengths.end())) + 3);
    int cases = 0, wrong = 0;
    for (int length : lengths)
        for (int e : experts) {
            const load to = load(cases % LOADS);
            const int shift = cases % 4; // every alignment
            cases++;
            if (one_call_is_right(input(memory.data + shift, length, 1, e, to, uint32_t(cases))))
                continue;
            wrong++;
            tally.check(false, "%d ids, %d experts, %s", length, e, load_names[to]);
        }
    tally.check(wrong == 0, "%d lengths, each with %d numbers of experts", int(lengths.size()),
                int(experts.size()));
}

// Many calls under way on two streams.
static void check_streams(int calls)
{
    device_array<int> a(size_t{1} << 20), b(size_t{3} << 20);
    const input inputs[2] = {{a.data + 1, (1 << 20) - 8, 1, 256, UNIFORM, 3},
                             {b.data + 2, (3 << 20) - 9, 1, 777, SKEWED, 4}};
    cudaStream_t streams[2];
    std::vector<std::unique_ptr<output>> outputs[2];
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        for (int i = 0; i < calls; i++) {
            outputs[s].push_back(std::make_unique<output>(inputs[s].experts));
            outputs[s].back()->poison();
        }
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < calls; i++)
        for (int s = 0; s < 2; s++)
            call_ours(inputs[s], *outputs[s][size_t(i)], streams[s]);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int s = 0; s < 2; s++) {
        for (const auto &out : outputs[s])
            wrong += !out->is_right(inputs[s]);
        CHECK(cudaStreamDestroy(streams[s]));
    }
    tally.check(wrong == 0, "two streams at once, %d calls on each", calls);
}

static void check_graph(int replays)
{
    device_array<int> memory(size_t{1} << 20);
    const input in(memory.data + 3, (1 << 20) - 3, 1, 300, ELSEWHERE, 5);
    const output out(in.experts);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    call_ours(in, out, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    int wrong = 0;
    for (int i = 0; i < replays; i++) {
        out.poison();
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        wrong += !out.is_right(in);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    tally.check(wrong == 0, "a graph, launched %d times", replays);
}

// Half of the ids are elsewhere, or the offsets would not fit into an int.
static void check_past_int()
{
    const int tokens = (1 << 28) + 1543, top_k = 8;
    const size_t bytes = sizeof(int) * size_t(tokens) * size_t(top_k);
    size_t free_bytes = 0, all_bytes = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (free_bytes < bytes + (size_t{1} << 30)) {
        std::printf("skipped: more than 2^31 ids take %zu MB of the card's memory, %zu are free\n",
                    bytes >> 20, free_bytes >> 20);
        return;
    }
    device_array<int> memory(bytes / sizeof(int) + 1);
    tally.check(one_call_is_right(input(memory.data + 1, tokens, top_k, 1000, ELSEWHERE, 6)),
                "%zu ids, more than 2^31", bytes / sizeof(int));
}

static void run_checks()
{
    check_lengths({0,     1,      2,      3,      4,       5,       31,      33,      1023,
                   4096,  4097,   8192,   16383,  16384,   16385,   20480,   20481,   65537,
                   99991, 540671, 540672, 540673, 1 << 20, 2162689, 2166785, 10000007},
                  {1,   2,   3,    8,    31,   33,   64,   100,  256,  511,
                   512, 513, 1024, 1025, 1800, 1817, 2048, 3000, 4095, 4096});
    check_streams(200);
    check_graph(100);
    check_past_int();
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc > 1 && what != "checks" && what != "table" && what != "sanitize") {
        std::fprintf(stderr, "usage: moe_bench [checks|table|sanitize]\n");
        return 3;
    }
    bench::need_card();
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::printf("%s, CUB %d.%d.%d\n", MOE_SOURCE, CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
                CUB_SUBMINOR_VERSION);
    if (what == "" || what == "checks")
        run_checks();
    if (what == "" || what == "table") {
        time_table();
        time_host();
    }
    if (what == "sanitize") {
        check_lengths({0, 1, 7, 1000, 16384, 16385, 40001}, {1, 8, 257, 4096});
        check_streams(2);
        check_graph(2);
    }
    return tally.finish();
}
