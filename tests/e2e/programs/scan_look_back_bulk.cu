// target: 90
// The rung that uses bulk copies, compiled so that it has them: problem.yaml's target has not. What
// the entry cannot reach: 64-bit items, floats, maxima; two streams; a graph.
#include "../../../reference/multi-block-scan/look_back_bulk.cu"

#include "common.cuh"

#include <vector>

// Small whole numbers: their sums are exact in every type, in any order.
static int value_of(size_t i)
{
    return static_cast<int>((i * 2654435761u >> 7) % 17) - 8;
}

template <class T> static T *device_copy(const std::vector<T> &host)
{
    T *data;
    CUDA_CHECK(cudaMalloc(&data, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return data;
}

template <class T> struct job {
    std::vector<T> expected;
    T *in, *out;
    void *workspace;
    size_t in_past, out_past, n;

    template <class Combine>
    job(size_t n, size_t in_past, size_t out_past, T identity, Combine combine)
        : in_past(in_past), out_past(out_past), n(n)
    {
        std::vector<T> values(n + in_past);
        T running = identity;
        for (size_t i = 0; i < n; i++) {
            expected.push_back(running);
            values[in_past + i] = static_cast<T>(value_of(i));
            running = combine(running, values[in_past + i]);
        }
        in = device_copy(values);
        CUDA_CHECK(cudaMalloc(&out, (n + out_past) * sizeof(T)));
        const size_t bytes = sizeof(T) * (n / 256 + 1) + 1024;
        CUDA_CHECK(cudaMalloc(&workspace, bytes));
        CUDA_CHECK(cudaMemset(workspace, 0xff, bytes)); // no memory is as a fresh page
        CUDA_CHECK(cudaDeviceSynchronize());            // the streams below do not wait for it
    }

    template <class Op> void start(Op op, cudaStream_t stream)
    {
        exclusive_scan_of(in + in_past, out + out_past, static_cast<long long>(n), workspace,
                          stream, op);
    }

    bool is_right()
    {
        std::vector<T> found(n);
        CUDA_CHECK(cudaMemcpy(found.data(), out + out_past, n * sizeof(T), cudaMemcpyDeviceToHost));
        return found == expected;
    }

    ~job()
    {
        cudaFree(in);
        cudaFree(out);
        cudaFree(workspace);
    }
};

static bool passed = true;

static void report(bool right, const char *what, size_t n)
{
    if (!right)
        std::printf("FAIL: %s, n=%zu\n", what, n);
    passed = passed && right;
}

template <class T, class Op, class Combine>
static void check(const char *what, Op op, Combine combine)
{
    // One block; one tile for each block; the ring, with ragged ends.
    for (size_t n : {1000, 40001, 600007}) {
        job<T> j(n, n % 2, n % 3, Op::identity, combine);
        j.start(op, nullptr);
        report(j.is_right(), what, n);
    }
}

int main()
{
    check<unsigned>("sums", plus<unsigned>{}, [](unsigned a, unsigned b) { return a + b; });
    check<long long>("64-bit sums", plus<long long>{},
                     [](long long a, long long b) { return a + b; });
    check<float>("float sums", plus<float>{}, [](float a, float b) { return a + b; });
    check<int>("maxima", maximum<int>{}, [](int a, int b) { return a < b ? b : a; });
    check<float>("float maxima", maximum<float>{}, [](float a, float b) { return a < b ? b : a; });

    const auto add = [](unsigned a, unsigned b) { return a + b; };
    cudaStream_t first, second;
    CUDA_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    {
        job<unsigned> a(350003, 0, 0, 0, add), b(370007, 1, 1, 0, add);
        for (int k = 0; k < 2; k++) {
            a.start(plus<unsigned>{}, first);
            b.start(plus<unsigned>{}, second);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        report(a.is_right() && b.is_right(), "two streams", a.n);
    }
    {
        job<unsigned> j(330001, 0, 0, 0, add);
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CUDA_CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
        j.start(plus<unsigned>{}, first);
        CUDA_CHECK(cudaStreamEndCapture(first, &graph));
        CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
        for (int k = 0; k < 2; k++) {
            CUDA_CHECK(cudaMemsetAsync(j.out, 0xa5, j.n * sizeof(unsigned), first));
            CUDA_CHECK(cudaGraphLaunch(executable, first));
            CUDA_CHECK(cudaStreamSynchronize(first));
            report(j.is_right(), "a graph", j.n);
        }
        CUDA_CHECK(cudaGraphExecDestroy(executable));
        CUDA_CHECK(cudaGraphDestroy(graph));
    }
    if (passed)
        std::printf("PASS\n");
    return !passed;
}
