// Exclusive scan: the fastest rung of reference/multi-block-scan against CUB's DeviceScan and
// cudaMemcpyAsync, and what its contract promises checked on the card. Another rung:
// -DSCAN_SOURCE='"../../../reference/multi-block-scan/look_back.cu"' -DSCAN_RUNG_ONLY.
//
//   scan_bench [time] [check]    both without an argument
#include "common.cuh"

#ifndef SCAN_SOURCE
#define SCAN_SOURCE "../../../reference/multi-block-scan/look_back_bulk.cu"
#endif
#include SCAN_SOURCE

#include <cub/device/device_scan.cuh>

#include <cstring>

namespace
{

constexpr int kRounds = 31; // timed calls; the median of small ones moves by 2% with 21

struct cub_sum {
    bench::device_array<char> temporary;
    size_t bytes;

    static size_t bytes_for(size_t n)
    {
        size_t bytes = 0;
        CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<int *>(nullptr),
                                            static_cast<int *>(nullptr), static_cast<int64_t>(n)));
        return bytes;
    }

    explicit cub_sum(size_t n) : temporary(bytes_for(n)), bytes(temporary.count)
    {
    }

    // As most callers have it: a 32-bit number of items where it fits.
    void operator()(const int *in, int *out, size_t n, cudaStream_t stream)
    {
        if (n <= INT32_MAX)
            CHECK(cub::DeviceScan::ExclusiveSum(temporary.data, bytes, in, out, static_cast<int>(n),
                                                stream));
        else
            CHECK(cub::DeviceScan::ExclusiveSum(temporary.data, bytes, in, out,
                                                static_cast<int64_t>(n), stream));
    }
};

// What problem.yaml gives.
size_t workspace_bytes(size_t n)
{
    return (4 * ((n + 255) / 256) + 1024 + 255) / 256 * 256;
}

void poison(void *data, size_t bytes, cudaStream_t stream)
{
    CHECK(cudaMemsetAsync(data, 0xa5, bytes, stream));
}

// ---- timing ------------------------------------------------------------------------------------

// What the reference promises at a length: a share of the copy's speed, and of CUB's.
double copy_goal(size_t n)
{
    return n == size_t{1} << 28 ? 1.00 : n == size_t{1} << 26 ? 0.97 : 0;
}

constexpr double kCubGoal = 1.10;

void time_length(size_t n, cudaStream_t stream, bench::tally &tally)
{
    // Two inputs in turns: no call finds what the one before has read.
    bench::device_array<int> in[2] = {bench::device_array<int>(n), bench::device_array<int>(n)};
    bench::device_array<int> expected[2] = {bench::device_array<int>(n),
                                            bench::device_array<int>(n)};
    bench::device_array<int> out(n);
    bench::device_array<char> workspace(workspace_bytes(n));
    cub_sum cub(n);
    for (uint32_t k = 0; k < 2; k++) {
        bench::fill(in[k].data, n, bench::random_bits<int>{k + 1}, stream);
        cub(in[k].data, expected[k].data, n, stream);
    }
    CHECK(cudaDeviceSynchronize());

    size_t call = 0;
    const auto poison_both = [&] {
        call++;
        poison(out.data, out.bytes(), stream);
        poison(workspace.data, workspace.bytes(), stream);
    };
    const auto correct = [&] {
        return bench::differences(out.data, expected[call % 2].data, n) == 0;
    };
    const std::vector<bench::contender> contenders = {
        {"copy", poison_both,
         [&] {
             CHECK(cudaMemcpyAsync(out.data, in[call % 2].data, n * sizeof(int),
                                   cudaMemcpyDeviceToDevice, stream));
         },
         [&] { return bench::differences(out.data, in[call % 2].data, n) == 0; }},
        {"CUB", poison_both, [&] { cub(in[call % 2].data, out.data, n, stream); }, correct},
        {"ours", poison_both,
         [&] {
             exclusive_scan(in[call % 2].data, out.data, static_cast<int>(n), workspace.data,
                            workspace.count, stream);
         },
         correct},
    };
    const std::vector<bench::timing> t = bench::time_in_turns(contenders, stream, kRounds);
    const double copy = t[0].median_ms, library = t[1].median_ms, ours = t[2].median_ms;
    std::printf("| %zu | %.4f | %.4f | %.4f | %.3f | %.2f | >= %.2f of CUB: %s", n, copy, library,
                ours, copy / ours, library / ours, kCubGoal, tally.goal(library / ours, kCubGoal));
    if (copy_goal(n) > 0)
        std::printf(", >= %.2f of copy: %s", copy_goal(n), tally.goal(copy / ours, copy_goal(n)));
    for (size_t c = 0; c < t.size(); c++)
        if (t[c].wrong) {
            std::printf(", %s WRONG %d times", contenders[c].name, t[c].wrong);
            tally.wrong++;
        }
    std::printf(" |\n");
    std::fflush(stdout);
}

void time_all(cudaStream_t stream, bench::tally &tally)
{
    std::vector<size_t> lengths;
    for (int k = 10; k <= 28; k++)
        lengths.push_back(size_t{1} << k);
    // Odd lengths, none a multiple of 4, about 1.9 times apart; two at what was once a weak spot.
    for (size_t n : {1027u,    1999u,    3001u,     5003u,     9973u,     17389u,    33333u,
                     65537u,   123457u,  262147u,   500009u,   999983u,   1500007u,  2162689u,
                     2796202u, 4500001u, 10000007u, 23456789u, 50000017u, 150000001u})
        lengths.push_back(n);
    std::printf("| n | copy ms | CUB ms | ours ms | of copy | vs CUB | goals |\n"
                "|---|---|---|---|---|---|---|\n");
    for (size_t n : lengths)
        time_length(n, stream, tally);
}

// ---- correctness -------------------------------------------------------------------------------

// `length` elements with a distance of 0..3 elements from a 16-byte boundary, and guards around the
// output.
bool scans_right(size_t n, size_t in_past, size_t out_past, uint32_t seed, cudaStream_t stream)
{
    constexpr size_t kGuard = 64;
    bench::device_array<int> in(n + in_past), out(n + out_past + 2 * kGuard), expected(n);
    bench::device_array<char> workspace(workspace_bytes(n));
    cub_sum cub(n);
    bench::fill(in.data, in.count, bench::random_bits<int>{seed}, stream);
    poison(out.data, out.bytes(), stream);
    poison(workspace.data, workspace.bytes(), stream);
    int *result = out.data + kGuard + out_past;
    exclusive_scan(in.data + in_past, result, static_cast<int>(n), workspace.data, workspace.count,
                   stream);
    cub(in.data + in_past, expected.data, n, stream);
    CHECK(cudaDeviceSynchronize());
    int guards[2 * kGuard];
    CHECK(cudaMemcpy(guards, result - kGuard, kGuard * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(guards + kGuard, result + n, kGuard * sizeof(int), cudaMemcpyDeviceToHost));
    bool intact = true;
    for (int guard : guards)
        intact = intact && static_cast<unsigned>(guard) == 0xa5a5a5a5u;
    return intact && bench::differences(result, expected.data, n) == 0;
}

void check_lengths(cudaStream_t stream, bench::tally &tally)
{
    constexpr int kLengths = 600;
    int wrong = 0;
    for (int k = 0; k < kLengths; k++) {
        // From 1 to 2^23, evenly on a logarithmic scale, with any low bits.
        const uint32_t bits = bench::hash_of(static_cast<uint64_t>(k), 7) % 24;
        const size_t n =
            (size_t{1} << bits) + bench::hash_of(static_cast<uint64_t>(k), 8) % (size_t{1} << bits);
        wrong += !scans_right(std::min(n, size_t{1} << 23), k % 4, k / 4 % 4,
                              static_cast<uint32_t>(k), stream);
    }
    tally.check(wrong == 0, "%d of %d lengths up to 2^23 with misaligned pointers",
                kLengths - wrong, kLengths);
    wrong = 0;
    for (size_t past = 0; past < 16; past++)
        wrong += !scans_right(40000003, past % 4, past / 4, 5, stream);
    tally.check(wrong == 0, "%d of 16 alignments of 40000003 elements", 16 - wrong);
}

void check_streams(bench::tally &tally)
{
    constexpr int kStreams = 2, kCalls = 400;
    constexpr size_t kLengths[] = {3000001, 70001, 9000005, 1000};
    cudaStream_t stream[kStreams];
    std::vector<bench::device_array<int> *> in, out, expected;
    std::vector<bench::device_array<char> *> workspace;
    const size_t most = 9000005;
    cub_sum cub(most);
    for (int s = 0; s < kStreams; s++) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        in.push_back(new bench::device_array<int>(most));
        out.push_back(new bench::device_array<int>(most));
        expected.push_back(new bench::device_array<int>(most));
        workspace.push_back(new bench::device_array<char>(workspace_bytes(most)));
        bench::fill(in[s]->data, most, bench::random_bits<int>{static_cast<uint32_t>(s)});
        cub(in[s]->data, expected[s]->data, most, nullptr);
        CHECK(cudaDeviceSynchronize());
    }
    int wrong = 0;
    for (int call = 0; call < kCalls; call++)
        for (int s = 0; s < kStreams; s++) {
            const size_t n = kLengths[(call + s) % 4];
            exclusive_scan(in[s]->data, out[s]->data, static_cast<int>(n), workspace[s]->data,
                           workspace[s]->count, stream[s]);
            if (call % 50 >= 46) {
                CHECK(cudaStreamSynchronize(stream[s]));
                wrong += bench::differences(out[s]->data, expected[s]->data, n) != 0;
            }
        }
    CHECK(cudaDeviceSynchronize());
    tally.check(wrong == 0, "%d calls on each of %d streams at once", kCalls, kStreams);
    for (int s = 0; s < kStreams; s++) {
        delete in[s];
        delete out[s];
        delete expected[s];
        delete workspace[s];
        CHECK(cudaStreamDestroy(stream[s]));
    }
}

void check_repeated(cudaStream_t stream, bench::tally &tally)
{
    for (size_t n : {size_t{100003}, size_t{5000011}}) {
        bench::device_array<int> in(n), out(n), expected(n);
        bench::device_array<char> workspace(workspace_bytes(n));
        cub_sum cub(n);
        bench::fill(in.data, n, bench::random_bits<int>{3}, stream);
        cub(in.data, expected.data, n, stream);
        const auto call = [&] {
            exclusive_scan(in.data, out.data, static_cast<int>(n), workspace.data, workspace.count,
                           stream);
        };

        constexpr int kCalls = 3000;
        for (int k = 0; k < kCalls; k++)
            call();
        CHECK(cudaDeviceSynchronize());
        tally.check(bench::differences(out.data, expected.data, n) == 0,
                    "the last of %d calls one after the other, n=%zu", kCalls, n);

        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        call();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        int wrong = 0;
        for (int k = 0; k < 100; k++) {
            poison(out.data, out.bytes(), stream);
            poison(workspace.data, workspace.bytes(), stream);
            CHECK(cudaGraphLaunch(executable, stream));
            CHECK(cudaStreamSynchronize(stream));
            wrong += bench::differences(out.data, expected.data, n) != 0;
        }
        tally.check(wrong == 0, "%d of 100 replays of a graph, n=%zu", 100 - wrong, n);
        CHECK(cudaGraphExecDestroy(executable));
        CHECK(cudaGraphDestroy(graph));
    }
}

#ifndef SCAN_RUNG_ONLY // what only the template behind the entry can do

template <class T> struct small_value {
    uint32_t seed;
    __device__ T operator()(size_t i) const
    {
        return static_cast<T>(bench::hash_of(i, seed) % 2);
    }
};

// Sums of 0 and 1, exact even in a float up to 2^24, so any order gives the same.
template <class T, class Op, class CubOp>
bool type_is_right(size_t n, size_t past, Op op, CubOp cub_op, T first, cudaStream_t stream)
{
    bench::device_array<T> in(n + past), out(n + past), expected(n);
    bench::device_array<char> workspace(4 * workspace_bytes(n));
    bench::fill(in.data, n + past, small_value<T>{9}, stream);
    poison(out.data, out.bytes(), stream);
    poison(workspace.data, workspace.bytes(), stream);
    exclusive_scan_of(in.data + past, out.data + past, static_cast<long long>(n), workspace.data,
                      stream, op);
    size_t bytes = 0;
    CHECK(cub::DeviceScan::ExclusiveScan(nullptr, bytes, in.data + past, expected.data, cub_op,
                                         first, static_cast<int>(n), stream));
    bench::device_array<char> temporary(bytes);
    CHECK(cub::DeviceScan::ExclusiveScan(temporary.data, bytes, in.data + past, expected.data,
                                         cub_op, first, static_cast<int>(n), stream));
    CHECK(cudaDeviceSynchronize());
    return bench::differences(out.data + past, expected.data, n) == 0;
}

template <class T> struct cub_plus {
    __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

template <class T> struct cub_maximum {
    __device__ T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};

template <class T, class Op, class CubOp>
void check_type(const char *name, Op op, CubOp cub_op, cudaStream_t stream, bench::tally &tally)
{
    const T first = Op::identity;
    int wrong = 0, count = 0;
    for (size_t n : {1u, 777u, 4099u, 100003u, 1000003u, 9000001u})
        for (size_t past : {0u, 1u}) {
            wrong += !type_is_right<T>(n, past, op, cub_op, first, stream);
            count++;
        }
    tally.check(wrong == 0, "%d of %d scans of %s", count - wrong, count, name);
}

void check_templates(cudaStream_t stream, bench::tally &tally)
{
    check_type<long long>("64-bit sums", plus<long long>{}, cub_plus<long long>{}, stream, tally);
    check_type<float>("float sums", plus<float>{}, cub_plus<float>{}, stream, tally);
    check_type<int>("maxima of int", maximum<int>{}, cub_maximum<int>{}, stream, tally);
    check_type<float>("maxima of float", maximum<float>{}, cub_maximum<float>{}, stream, tally);

    const size_t n = (size_t{1} << 31) + 100;
    bench::device_array<int> in(n), out(n), expected(n);
    bench::device_array<char> workspace(workspace_bytes(n));
    cub_sum cub(n);
    bench::fill(in.data, n, bench::random_bits<int>{4}, stream);
    cub(in.data, expected.data, n, stream);
    exclusive_scan_of(reinterpret_cast<const unsigned *>(in.data),
                      reinterpret_cast<unsigned *>(out.data), static_cast<long long>(n),
                      workspace.data, stream, plus<unsigned>{});
    CHECK(cudaDeviceSynchronize());
    tally.check(bench::differences(out.data, expected.data, n) == 0, "2^31 + 100 elements");
}

#endif

} // namespace

int main(int argc, char **argv)
{
    bool want_time = argc == 1, want_check = argc == 1;
    for (int k = 1; k < argc; k++) {
        want_time = want_time || !std::strcmp(argv[k], "time");
        want_check = want_check || !std::strcmp(argv[k], "check");
    }
    if (!want_time && !want_check) {
        std::fprintf(stderr, "usage: scan_bench [time] [check]\n");
        return 3;
    }
    bench::need_card();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    bench::tally tally;
    if (want_time)
        time_all(stream, tally);
    if (want_check) {
        check_lengths(stream, tally);
        check_streams(tally);
        check_repeated(stream, tally);
#ifndef SCAN_RUNG_ONLY
        check_templates(stream, tally);
#endif
    }
    return tally.finish();
}
