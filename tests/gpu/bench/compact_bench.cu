// The fastest rung of the ordered compaction against cub::DeviceSelect::If and a plain copy.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 compact_bench.cu -o compact_bench
//   compact_bench                      all of the following
//   compact_bench checks               lengths, alignments, streams, graphs, n past 2^31
//   compact_bench table                every size and share kept, with the goal of each row
//   compact_bench against FILE.so ...  some rows for other libraries with the same entry (link this
//                                      program with -cudart shared then)
//
// Goals, as ratios of one run: 1.45 times CUB at 2^26 and 2^28 for 1, 50 and 99% kept, 1.30 for all
// kept; 1.15 everywhere from 2^16 on.
#include "common.cuh"

#include <cub/device/device_select.cuh>
#include <dlfcn.h>
#include <memory>

#include "../../../reference/ordered-compaction/look_back_bulk.cu"

using bench::device_array;

static cudaStream_t stream;
static bench::tally tally;

constexpr uint32_t kPoison = 0x5a5a5a5a;

// Item i, kept with a chance of percent %: finite, infinite and subnormal ones, and of those that
// go NaN, both zeros and negative ones.
struct item_bits {
    uint32_t seed, percent;
    __host__ __device__ uint32_t operator()(size_t i) const
    {
        const uint32_t h = bench::hash_of(i, seed);
        const uint32_t kind = h >> 27; // 0..31
        const uint32_t finite = (h & 0x00ffffff) | 0x3f000000;
        if (bench::hash_of(i, seed + 1) % 100 < percent)
            return kind == 0 ? 0x7f800000 : kind == 1 ? (h & 0x3fffff) + 1 : finite;
        return kind == 0   ? 0x7fc00000
               : kind == 1 ? 0x00000000
               : kind == 2 ? 0x80000000
               : kind == 3 ? 0xff800000
                           : finite | 0x80000000;
    }
};

struct constant_bits {
    uint32_t value;
    __host__ __device__ uint32_t operator()(size_t) const
    {
        return value;
    }
};

struct is_positive {
    __device__ bool operator()(float x) const
    {
        return x > 0.0f;
    }
};

static size_t workspace_bytes_of(long long n)
{
    return size_t((4 * ((n + 255) / 256) + 1024 + 255) / 256 * 256);
}

// An input, the right output beside it, and memory to answer in. `in` and `out` lie `shift_in` and
// `shift_out` items after aligned addresses; outputs are bits, since NaN differs from itself.
template <class Count> struct array_case {
    long long n;
    device_array<uint32_t> in_memory, out_memory, want;
    device_array<Count> count;
    device_array<unsigned char> workspace;
    const float *in;
    float *out;
    Count want_count = 0;
    device_array<unsigned char> cub_memory;
    size_t cub_bytes = 0;

    static size_t cub_needs(long long n)
    {
        size_t bytes = 0;
        CHECK(cub::DeviceSelect::If(nullptr, bytes, (const float *)nullptr, (float *)nullptr,
                                    (Count *)nullptr, Count(n), is_positive{}));
        return bytes;
    }

    array_case(long long n_, unsigned percent, unsigned seed, int shift_in = 0, int shift_out = 0)
        : n(n_), in_memory(n + 4), out_memory(n + 8), want(n + 8), count(1),
          workspace(workspace_bytes_of(n)),
          in(reinterpret_cast<const float *>(in_memory.data + shift_in)),
          out(reinterpret_cast<float *>(out_memory.data + shift_out)), cub_memory(cub_needs(n)),
          cub_bytes(cub_memory.count)
    {
        bench::fill(in_memory.data + shift_in, n, item_bits{seed, percent}, stream);
        poison();
        by_cub();
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&want_count, count.data, sizeof want_count, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpyAsync(want.data, out_memory.data, want.bytes(), cudaMemcpyDeviceToDevice,
                              stream));
        poison();
        CHECK(cudaStreamSynchronize(stream));
    }
    // The host's own answer, for small n.
    bool cub_is_right(int shift_in, int shift_out) const
    {
        std::vector<uint32_t> host(size_t(n) + 4), right(want.count, kPoison), got(want.count);
        CHECK(cudaMemcpy(host.data(), in_memory.data, host.size() * 4, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(got.data(), want.data, want.bytes(), cudaMemcpyDeviceToHost));
        Count kept = 0;
        for (long long i = 0; i < n; i++) {
            float x;
            memcpy(&x, &host[size_t(shift_in + i)], 4);
            if (x > 0.0f)
                right[size_t(shift_out + kept++)] = host[size_t(shift_in + i)];
        }
        return kept == want_count && right == got;
    }
    void poison()
    {
        bench::fill(out_memory.data, out_memory.count, constant_bits{kPoison}, stream);
        CHECK(cudaMemsetAsync(count.data, 0x5a, sizeof(Count), stream));
    }
    void by_cub()
    {
        CHECK(cub::DeviceSelect::If(cub_memory.data, cub_bytes, in, out, count.data, Count(n),
                                    is_positive{}, stream));
    }
    void by_us(cudaStream_t on)
    {
        compact<Positive>(in, out, count.data, n, workspace.data, on);
    }
    void by_copy()
    {
        CHECK(cudaMemcpyAsync(out, in, size_t(n) * 4, cudaMemcpyDeviceToDevice, stream));
    }
    bool right()
    {
        Count got;
        CHECK(cudaMemcpy(&got, count.data, sizeof got, cudaMemcpyDeviceToHost));
        return got == want_count && bench::differences(out_memory.data, want.data, want.count) == 0;
    }
};

// ---- checks ------------------------------------------------------------------------------------

static void check_lengths()
{
    int wrong = 0, host_wrong = 0, lengths = 0;
    for (; lengths < 600; lengths++) {
        const uint32_t h = bench::hash_of(lengths, 17);
        const int bits = lengths % 24;
        const long long n = lengths < 20 ? lengths : (1ll << bits) + h % (1u << bits);
        array_case<int> c(n, h / 64 % 101, h, h & 3, h >> 2 & 3);
        if (n < 1 << 16)
            host_wrong += !c.cub_is_right(h & 3, h >> 2 & 3);
        bench::fill(c.workspace.data, c.workspace.count, constant_bits{h}, stream);
        c.by_us(stream);
        CHECK(cudaStreamSynchronize(stream));
        wrong += !c.right();
    }
    tally.check(host_wrong == 0, "what we compare with, against the host: %d wrong", host_wrong);
    tally.check(wrong == 0, "%d lengths from 0 to 2^24 - 1, any alignment: %d wrong", lengths,
                wrong);
}

// The ring below the sizes that the dispatcher gives it.
static void check_ring()
{
    int wrong = 0, lengths = 0;
    for (; lengths < 200; lengths++) {
        const uint32_t h = bench::hash_of(lengths, 18);
        const long long n = 1 + h % (1u << (2 + lengths % 20));
        array_case<int> c(n, h / 64 % 101, h, h & 3, h >> 2 & 3);
        compact<Positive>(c.in, c.out, c.count.data, 0, c.workspace.data, stream); // sets it up
        const Positions<float> positions(c.in, n);
        launch_cooperatively(compact_ring<Positive, int>, 1 + h % 100, kRingThreads,
                             sizeof(Ring<float>), stream, positions, c.out, c.count.data,
                             ceil_div(positions.end, Ring<float>::kTile),
                             h & 1 ? kStages : kFewStages,
                             TileCounts{reinterpret_cast<unsigned *>(c.workspace.data)});
        CHECK(cudaStreamSynchronize(stream));
        wrong += !c.right();
    }
    tally.check(wrong == 0, "ring of 1 to 100 blocks, %d lengths: %d wrong", lengths, wrong);
}

static void check_streams(long long n)
{
    cudaStream_t streams[2];
    for (cudaStream_t &s : streams)
        CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    array_case<int> a(n, 50, 1, 1, 2), b(n + 12345, 70, 2, 3, 0);
    int wrong = 0;
    for (int round = 0; round < 20; round++) {
        a.poison();
        b.poison();
        CHECK(cudaDeviceSynchronize());
        for (int call = 0; call < 20; call++) {
            a.by_us(streams[0]);
            b.by_us(streams[1]);
        }
        CHECK(cudaDeviceSynchronize());
        wrong += !a.right() + !b.right();
    }
    for (cudaStream_t s : streams)
        CHECK(cudaStreamDestroy(s));
    tally.check(wrong == 0, "two streams at once, n = %lld: %d wrong", n, wrong);
}

static void check_graph(long long n)
{
    array_case<int> c(n, 50, 5, 1, 3);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    c.by_us(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&replay, graph, 0));
    int wrong = 0;
    for (int round = 0; round < 100; round++) {
        c.poison();
        CHECK(cudaGraphLaunch(replay, stream));
        CHECK(cudaStreamSynchronize(stream));
        wrong += !c.right();
    }
    CHECK(cudaGraphExecDestroy(replay));
    CHECK(cudaGraphDestroy(graph));
    tally.check(wrong == 0, "100 replays of a graph, n = %lld: %d wrong", n, wrong);
}

static void check_past_2_31(unsigned percent)
{
    const long long n = (1ll << 31) + 100;
    array_case<long long> c(n, percent, 9, 1, 1);
    c.by_us(stream);
    CHECK(cudaStreamSynchronize(stream));
    tally.check(c.right(), "n = 2^31 + 100, %u%% kept: count %lld", percent,
                (long long)c.want_count);
}

static void run_checks()
{
    check_lengths();
    if (plan_of_current_device<Positive, int>().ring_blocks > 0)
        check_ring();
    else
        std::printf("skipped: this card, or the code it was compiled to, has no bulk copies\n");
    for (long long n : {1ll << 16, 1ll << 20, 3000000ll, 1ll << 23})
        check_streams(n);
    for (long long n : {1ll << 16, 1ll << 20, 1ll << 23})
        check_graph(n);
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    if (available < size_t(30) << 30)
        std::printf("skipped: n = 2^31 + 100 needs 30 GB of device memory\n");
    else
        for (unsigned percent : {50u, 100u})
            check_past_2_31(percent);
}

// ---- timing ------------------------------------------------------------------------------------

static double goal_of(long long n, unsigned percent)
{
    if (n != 1 << 26 && n != 1 << 28)
        return 1.15;
    return percent == 100 ? 1.30 : percent == 1 || percent == 50 || percent == 99 ? 1.45 : 1.15;
}

// The same in every call: kInputs arrays in turns, so that no call finds in L2 what the calls
// before it read; the flush alone does not see to that.
struct rotation {
    static constexpr unsigned kInputs = 4;
    std::vector<std::unique_ptr<array_case<int>>> cases;
    unsigned turn = 0;

    rotation(long long n, unsigned percent)
    {
        for (unsigned k = 0; k < kInputs; k++)
            cases.push_back(std::make_unique<array_case<int>>(n, percent, 1 + 2 * k));
    }
    array_case<int> &now()
    {
        return *cases[turn % kInputs];
    }
    bench::contender contender(const char *name, std::function<void(array_case<int> &)> call,
                               bool compare = true)
    {
        std::function<bool()> right;
        if (compare)
            right = [this] { return now().right(); };
        return {name, [this] { turn++, now().poison(); }, [this, call] { call(now()); }, right};
    }
};

static void time_row(long long n, unsigned percent)
{
    rotation r(n, percent);
    const auto t = bench::time_in_turns(
        {
            r.contender("ours", [](array_case<int> &c) { c.by_us(stream); }),
            r.contender("CUB", [](array_case<int> &c) { c.by_cub(); }),
            r.contender(
                "copy", [](array_case<int> &c) { c.by_copy(); }, false),
        },
        stream, n <= 1 << 24 ? 41 : 21);
    const double ratio = t[1].median_ms / t[0].median_ms;
    tally.wrong += t[0].wrong + t[1].wrong;
    std::printf("%10lld %4u%% %9.4f %9.4f %9.4f %7.3f %7.3f %6.2f %s%s\n", n, percent,
                t[2].median_ms, t[1].median_ms, t[0].median_ms, t[2].median_ms / t[0].median_ms,
                ratio, goal_of(n, percent), tally.goal(ratio, goal_of(n, percent)),
                t[0].wrong + t[1].wrong ? " WRONG" : "");
    std::fflush(stdout);
}

static void run_table()
{
    std::printf("%10s %5s %9s %9s %9s %7s %7s %6s\n", "n", "kept", "copy ms", "CUB ms", "ours ms",
                "of copy", "vs CUB", "goal");
    for (int bits = 16; bits <= 28; bits++)
        for (unsigned percent : {0u, 1u, 10u, 50u, 90u, 99u, 100u})
            time_row(1ll << bits, percent);
    for (long long n :
         {100003ll, 777777ll, 1500001ll, 2796202ll, 6000011ll, 10000007ll, 100000007ll})
        time_row(n, 50);
}

using entry = void (*)(const float *, float *, int *, int, void *, size_t, cudaStream_t);

static void run_against(char **files, int file_count)
{
    std::vector<entry> entries;
    for (int k = 0; k < file_count; k++) {
        void *library = dlopen(files[k], RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "compact_positive") : nullptr;
        if (!symbol) {
            std::fprintf(stderr, "%s\n", dlerror());
            std::exit(3);
        }
        entries.push_back(reinterpret_cast<entry>(symbol));
    }
    std::printf("%10s %5s %9s %9s   times CUB:", "n", "kept", "copy ms", "CUB ms");
    for (int k = 0; k < file_count; k++)
        std::printf(" %s", files[k]);
    std::printf("\n");
    for (int bits = 16; bits <= 28; bits++)
        for (unsigned percent : {1u, 50u, 99u, 100u}) {
            if (percent != 50 && (bits < 22 || bits == 27))
                continue;
            rotation r(1ll << bits, percent);
            std::vector<bench::contender> contenders = {
                r.contender("CUB", [](array_case<int> &c) { c.by_cub(); }),
                r.contender(
                    "copy", [](array_case<int> &c) { c.by_copy(); }, false),
            };
            for (entry e : entries)
                contenders.push_back(r.contender("", [e](array_case<int> &c) {
                    e(c.in, c.out, c.count.data, int(c.n), c.workspace.data, c.workspace.count,
                      stream);
                }));
            const auto t = bench::time_in_turns(contenders, stream, bits <= 24 ? 31 : 15);
            std::printf("%10lld %4u%% %9.4f %9.4f  ", 1ll << bits, percent, t[1].median_ms,
                        t[0].median_ms);
            for (size_t k = 2; k < t.size(); k++)
                std::printf(" %6.3f%s", t[0].median_ms / t[k].median_ms, t[k].wrong ? "WRONG" : "");
            std::printf("\n");
            std::fflush(stdout);
        }
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc > 1 && what != "checks" && what != "table" && what != "against") {
        std::fprintf(stderr, "usage: compact_bench [checks|table|against FILE.so ...]\n");
        return 3;
    }
    bench::need_card();
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (what == "against") {
        run_against(argv + 2, argc - 2);
        return 0;
    }
    if (what != "table")
        run_checks();
    if (what != "checks")
        run_table();
    return tally.finish();
}
