// target: 90
// The fastest rung of the ordered compaction: what the judge, which compiles that exercise for 7.5,
// never runs. Few blocks, so that the ring goes round several times; any alignment; two streams; a
// graph; items of 8 bytes.
#include "common.cuh"

#include "../../../reference/ordered-compaction/look_back_bulk.cu"

struct NotSeven {
    using Item = long long;
    static constexpr Item kNotKept = 7;

    static __device__ __host__ bool keeps(Item item)
    {
        return item != 7;
    }
};

static bool keeps(float item)
{
    return item > 0.0f;
}

static bool keeps(long long item)
{
    return NotSeven::keeps(item);
}

static void fill(std::vector<float> &items, int percent, std::mt19937 &random)
{
    for (float &item : items)
        item = (random() % 100 < unsigned(percent) ? 1.0f : -1.0f) * float(1 + random() % 1000);
}

static void fill(std::vector<long long> &items, int percent, std::mt19937 &random)
{
    for (long long &item : items)
        item = random() % 100 < unsigned(percent) ? 8 + (long long)random() : 7;
}

enum class By { kDispatcher, kRing };

// One array, `shift` items after an aligned address, and its answer.
template <class Keep, class Count> struct Case {
    using Item = typename Keep::Item;
    std::vector<Item> in, want;
    int shift;
    Item *device_in, *device_out;
    Count *device_count;
    void *workspace;

    Case(int n, int shift_, int percent, unsigned seed) : in(n), shift(shift_)
    {
        std::mt19937 random(seed);
        fill(in, percent, random);
        for (Item item : in)
            if (keeps(item))
                want.push_back(item);
        CUDA_CHECK(cudaMalloc(&device_in, (n + shift) * sizeof(Item) + 1));
        CUDA_CHECK(cudaMalloc(&device_out, (n + shift) * sizeof(Item) + 1));
        CUDA_CHECK(cudaMalloc(&device_count, sizeof(Count)));
        CUDA_CHECK(cudaMalloc(&workspace, n / 512 * 8 + 1024));
        if (n > 0)
            CUDA_CHECK(
                cudaMemcpy(device_in + shift, in.data(), n * sizeof(Item), cudaMemcpyHostToDevice));
        poison();
    }
    ~Case()
    {
        cudaFree(device_in);
        cudaFree(device_out);
        cudaFree(device_count);
        cudaFree(workspace);
    }
    void poison()
    {
        CUDA_CHECK(cudaMemset(device_out, 0x5a, (in.size() + shift) * sizeof(Item) + 1));
        CUDA_CHECK(cudaMemset(device_count, 0x5a, sizeof(Count)));
        CUDA_CHECK(cudaMemset(workspace, 0x01, in.size() / 512 * 8 + 1024));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    void call(By by, int blocks, cudaStream_t stream)
    {
        const Item *from = device_in + shift;
        Item *to = device_out + shift;
        const long long n = (long long)in.size();
        if (by == By::kDispatcher) {
            compact<Keep>(from, to, device_count, n, workspace, stream);
            return;
        }
        const Positions<Item> positions(from, n);
        CUDA_CHECK(cudaFuncSetAttribute(compact_ring<Keep, Count>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        int(sizeof(Ring<Item>))));
        launch_cooperatively(compact_ring<Keep, Count>, blocks, kRingThreads, sizeof(Ring<Item>),
                             stream, positions, to, device_count,
                             ceil_div(positions.end, Ring<Item>::kTile),
                             blocks % 2 ? kStages : kFewStages,
                             TileCounts{static_cast<unsigned *>(workspace)});
    }
    // After the device is done: the count, the kept items, and nothing else written.
    bool right() const
    {
        std::vector<Item> out(in.size() + shift);
        Count count;
        CUDA_CHECK(cudaMemcpy(&count, device_count, sizeof count, cudaMemcpyDeviceToHost));
        CUDA_CHECK(
            cudaMemcpy(out.data(), device_out, out.size() * sizeof(Item), cudaMemcpyDeviceToHost));
        Item untouched;
        memset(&untouched, 0x5a, sizeof untouched);
        std::vector<Item> all(shift, untouched);
        all.insert(all.end(), want.begin(), want.end());
        all.resize(out.size(), untouched);
        return count == Count(want.size()) &&
               memcmp(all.data(), out.data(), out.size() * sizeof(Item)) == 0;
    }
};

static int failures = 0;

static void expect(bool right, const char *what, int n, int shift, int percent)
{
    if (right)
        return;
    std::printf("FAIL %s: n=%d shift=%d kept=%d%%\n", what, n, shift, percent);
    failures++;
}

template <class Keep, class Count>
static void try_one(By by, int blocks, int n, int shift, int percent)
{
    Case<Keep, Count> c(n, shift, percent, unsigned(n + shift));
    c.call(by, blocks, 0);
    CUDA_CHECK_LAST();
    expect(c.right(), by == By::kRing ? "ring" : "dispatcher", n, shift, percent);
}

// Two arrays on two streams, and each twice from a graph.
static void try_together(int n)
{
    Case<Positive, int> a(n, 1, 60, 1), b(n + 5, 2, 30, 2);
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams)
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    a.call(By::kDispatcher, 0, streams[0]);
    b.call(By::kDispatcher, 0, streams[1]);
    CUDA_CHECK_LAST();
    expect(a.right(), "first of two streams", n, 1, 60);
    expect(b.right(), "second of two streams", n + 5, 2, 30);

    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA_CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    a.call(By::kDispatcher, 0, streams[0]);
    CUDA_CHECK(cudaStreamEndCapture(streams[0], &graph));
    CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    for (int k = 0; k < 2; k++) {
        a.poison();
        CUDA_CHECK(cudaGraphLaunch(replay, streams[1]));
        CUDA_CHECK_LAST();
        expect(a.right(), "graph", n, 1, 60);
    }
    CUDA_CHECK(cudaGraphExecDestroy(replay));
    CUDA_CHECK(cudaGraphDestroy(graph));
    for (cudaStream_t stream : streams)
        CUDA_CHECK(cudaStreamDestroy(stream));
}

int main()
{
    for (int n : {1, 3, 4, 5, 4091, 4092, 4096, 4097, 12288, 55555, 130001})
        for (int shift = 0; shift < 4; shift++)
            try_one<Positive, int>(By::kRing, n % 2 ? 3 : 1, n, shift, (n + 33 * shift) % 101);
    for (int percent : {0, 1, 100})
        try_one<Positive, int>(By::kRing, 2, 100000, 1, percent);
    for (int n : {1, 2, 2047, 2048, 2049, 70001})
        for (int shift = 0; shift < 2; shift++)
            try_one<NotSeven, long long>(By::kRing, 3, n, shift, 50);
    for (int n : {0, 1, 2048, 2049, 100000, 1000001})
        try_one<Positive, int>(By::kDispatcher, 0, n, 3, 50);
    try_one<NotSeven, long long>(By::kDispatcher, 0, 1000001, 1, 50);
    try_together(800000);
    if (failures == 0)
        std::printf("PASS\n");
    return failures != 0;
}
