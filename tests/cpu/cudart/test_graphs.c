/* Graphs: captured and built by hand, replayed, changed, and run in every order of streams. What
 * calls answer when they are wrong is compared with a card in programs/stream_answers.cu.
 * Long because every kind of node has its own small program. */
#include "expect.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 64, BYTES = 4 * N };

static const dim3 one = {1, 1, 1};
static const dim3 block = {N, 1, 1};

static void configure(enum wire_stream_order order, uint64_t seed)
{
    struct wire_device_config config = {
        .checks = WIRE_CHECK_DEFAULT, .stream_order = order, .schedule_seed = seed};
    scanjudge_device_hooks()->configure(&config);
    cudaGetLastError();
}

static int setup(void **state)
{
    struct device_program *p = calloc(1, sizeof *p);
    program_from_file(p, "scale.zstd.fatbin");
    *state = p;
    configure(WIRE_STREAMS_LATE, 0);
    return 0;
}

static int teardown(void **state)
{
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    program_end(*state);
    free(*state);
    return 0;
}

static int *device_ints(int value)
{
    int *p = NULL, host[N];
    for (int i = 0; i < N; i++)
        host[i] = value;
    assert_int_equal(cudaMalloc((void **)&p, BYTES), cudaSuccess);
    assert_int_equal(cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice), cudaSuccess);
    return p;
}

static int first_of(const int *device)
{
    int value;
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
}

static cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t s = NULL;
    assert_int_equal(cudaStreamCreateWithFlags(&s, flags), cudaSuccess);
    return s;
}

/* scale() multiplies n ints by 3. */
static void scale(int *device, cudaStream_t s)
{
    int n = N;
    void *args[] = {&device, &n};
    assert_int_equal(cudaLaunchKernel(&scale_stub, one, block, args, 0, s), cudaSuccess);
}

static cudaGraphExec_t instance(cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    return exec;
}

/* ---- capture ---- */

static void captured_work_runs_at_each_launch(void **state)
{
    (void)state;
    int *a = device_ints(1);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    scale(a, s);
    scale(a, s);
    assert_int_equal(cudaStreamEndCapture(s, &graph), cudaSuccess);
    assert_int_equal(first_of(a), 1);
    cudaGraphExec_t exec = instance(graph);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int expected = 9, round = 0; round < 3; round++, expected *= 9) {
        assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
        assert_int_equal(first_of(a), expected);
    }
    /* What is queued lives on. */
    assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    assert_int_equal(first_of(a), 9 * 9 * 9 * 9 * 9);
    cudaStreamDestroy(s);
    cudaFree(a);
}

/* Fork and join: b = 3a and c = 3a in two streams, then d = b. */
static cudaGraph_t capture_fork(int *a, int *b, int *c, int *d)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(d, 0, BYTES, s), cudaSuccess);
    scale(a, s);
    assert_int_equal(cudaEventRecord(fork, s), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(t, fork, 0), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(c, a, BYTES, cudaMemcpyDeviceToDevice, t), cudaSuccess);
    scale(c, t);
    scale(c, t);
    assert_int_equal(cudaEventRecord(join, t), cudaSuccess);
    scale(b, s);
    assert_int_equal(cudaStreamWaitEvent(s, join, 0), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(d, c, BYTES, cudaMemcpyDeviceToDevice, s), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(s, &graph), cudaSuccess);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    return graph;
}

static void check_fork(void)
{
    int *a = device_ints(1), *b = device_ints(0), *c = device_ints(0), *d = device_ints(0);
    cudaGraph_t graph = capture_fork(a, b, c, d);
    cudaGraphExec_t exec = instance(graph);
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int product = 1;
    for (int round = 0; round < 4; round++, product *= 3)
        assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(first_of(a), product);
    assert_int_equal(first_of(b), product * 3);
    assert_int_equal(first_of(c), product * 9);
    assert_int_equal(first_of(d), product * 9);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(s);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

static void branches_join_in_every_order(void **state)
{
    (void)state;
    configure(WIRE_STREAMS_EAGER, 0);
    check_fork();
    configure(WIRE_STREAMS_LATE, 0);
    check_fork();
    for (uint64_t seed = 0; seed < 30; seed++) {
        configure(WIRE_STREAMS_RANDOM, seed);
        check_fork();
    }
}

static void an_invalid_capture_leaves_nothing(void **state)
{
    (void)state;
    int *a = device_ints(1);
    void *more;
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    scale(a, s);
    expect_error(cudaMalloc(&more, 4), cudaErrorStreamCaptureUnsupported);
    expect_finding(FINDING_cuda_error, "no call may allocate");
    expect_error(cudaMemsetAsync(a, 0, 4, s), cudaErrorStreamCaptureInvalidated);
    expect_error(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    assert_int_equal(cudaMalloc(&more, 4), cudaSuccess);
    scale(a, s);
    assert_int_equal(first_of(a), 3);
    cudaStreamDestroy(s);
    cudaFree(a);
    cudaFree(more);
}

static void memory_can_be_captured(void **state)
{
    (void)state;
    int *a = device_ints(5), *b = device_ints(0), *temporary = NULL;
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(cudaMallocAsync((void **)&temporary, BYTES, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(temporary, a, BYTES, cudaMemcpyDeviceToDevice, s), 0);
    scale(temporary, s);
    assert_int_equal(cudaMemcpyAsync(b, temporary, BYTES, cudaMemcpyDeviceToDevice, s), 0);
    assert_int_equal(cudaFreeAsync(temporary, s), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(s, &graph), cudaSuccess);
    cudaGraphExec_t exec = instance(graph);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
        assert_int_equal(first_of(b), 15);
        assert_int_equal(cudaMemset(b, 0, BYTES), cudaSuccess);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess); /* s does not wait for it */
    }
    /* Not allocated between the launches. */
    expect_error(cudaFree(temporary), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    expect_error(cudaMemset(temporary, 0, 4), cudaErrorInvalidValue);
    cudaStreamDestroy(s);
    cudaFree(a);
    cudaFree(b);
}

/* ---- by hand ---- */

static void count_call(void *argument)
{
    ++*(int *)argument;
}

static struct cudaKernelNodeParams scale_node(void **args)
{
    return (struct cudaKernelNodeParams){
        .func = &scale_stub, .gridDim = one, .blockDim = block, .kernelParams = args};
}

static void every_kind_of_node_does_its_work(void **state)
{
    (void)state;
    int *a = device_ints(0), *b = device_ints(0), calls = 0, n = N, host[2] = {0, 0}, factor = 5;
    void *args[] = {&a, &n};
    struct cudaKernelNodeParams kernel = scale_node(args);
    struct cudaMemsetParams fill = {
        .dst = a, .value = 7, .elementSize = 4, .width = N, .height = 1};
    struct cudaHostNodeParams call = {count_call, &calls};
    cudaGraph_t graph, child, seen;
    cudaGraphNode_t filled, scaled, copied, called, back, set, nested, inner;
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphCreate(&child, 0), cudaSuccess);
    assert_int_equal(cudaGraphAddMemsetNode(&filled, graph, NULL, 0, &fill), cudaSuccess);
    assert_int_equal(cudaGraphAddMemcpyNodeToSymbol(&set, graph, NULL, 0, &factor_host, &factor, 4,
                                                    0, cudaMemcpyHostToDevice),
                     cudaSuccess);
    const cudaGraphNode_t both[] = {filled, set};
    assert_int_equal(cudaGraphAddKernelNode(&scaled, graph, both, 2, &kernel), cudaSuccess);
    assert_int_equal(
        cudaGraphAddMemcpyNode1D(&copied, graph, &scaled, 1, b, a, BYTES, cudaMemcpyDeviceToDevice),
        cudaSuccess);
    assert_int_equal(cudaGraphAddHostNode(&called, child, NULL, 0, &call), cudaSuccess);
    assert_int_equal(cudaGraphAddEmptyNode(&inner, child, &called, 1), cudaSuccess);
    assert_int_equal(cudaGraphAddChildGraphNode(&nested, graph, &copied, 1, child), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(child), cudaSuccess);
    assert_int_equal(
        cudaGraphAddMemcpyNode1D(&back, graph, &nested, 1, host, b, 8, cudaMemcpyDeviceToHost),
        cudaSuccess);
    assert_int_equal(cudaGraphChildGraphNodeGetGraph(nested, &seen), cudaSuccess);
    size_t count = 0;
    assert_int_equal(cudaGraphGetNodes(seen, NULL, &count), cudaSuccess);
    assert_int_equal(count, 2);

    cudaGraphExec_t exec = instance(graph);
    assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
    assert_int_equal(calls, 0);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(calls, 1);
    assert_int_equal(host[0], 35);
    assert_int_equal(host[1], 35);
    factor = 3;
    assert_int_equal(cudaMemcpyToSymbol(&factor_host, &factor, 4, 0, cudaMemcpyHostToDevice),
                     cudaSuccess);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(s);
    cudaFree(a);
    cudaFree(b);
}

/* Three replays of one instance, each with other parameters. */
static void parameters_change_between_launches(void **state)
{
    (void)state;
    int *a = device_ints(2), *b = device_ints(5), n = N, half = N / 2;
    void *args_a[] = {&a, &n}, *args_b[] = {&b, &n}, *args_half[] = {&b, &half};
    struct cudaKernelNodeParams kernel = scale_node(args_a);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel), cudaSuccess);
    cudaGraphExec_t exec = instance(graph);
    assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
    kernel.kernelParams = args_b;
    assert_int_equal(cudaGraphExecKernelNodeSetParams(exec, node, &kernel), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
    kernel.kernelParams = args_half;
    assert_int_equal(cudaGraphExecKernelNodeSetParams(exec, node, &kernel), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
    assert_int_equal(first_of(a), 6);
    assert_int_equal(first_of(b), 45);
    assert_int_equal(first_of(b + half), 15);

    /* The graph itself is as it was, and an update brings the instance back to it. */
    struct cudaKernelNodeParams seen;
    assert_int_equal(cudaGraphKernelNodeGetParams(node, &seen), cudaSuccess);
    assert_ptr_equal(*(int **)seen.kernelParams[0], a);
    assert_int_equal(*(int *)seen.kernelParams[1], N);
    cudaGraphExecUpdateResultInfo info;
    assert_int_equal(cudaGraphExecUpdate(exec, graph, &info), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
    assert_int_equal(first_of(a), 18);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(a);
    cudaFree(b);
}

static void nodes_can_be_switched_off(void **state)
{
    (void)state;
    int *a = device_ints(1), n = N;
    void *args[] = {&a, &n};
    struct cudaKernelNodeParams kernel = scale_node(args);
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphAddKernelNode(&first, graph, NULL, 0, &kernel), cudaSuccess);
    assert_int_equal(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel), cudaSuccess);
    cudaGraphExec_t exec = instance(graph);
    assert_int_equal(cudaGraphNodeSetEnabled(exec, first, 0), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
    assert_int_equal(first_of(a), 3);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(a);
}

static void events_tie_graphs_to_streams(void **state)
{
    (void)state;
    int *a = device_ints(1), *b = device_ints(2), *c = device_ints(3);
    cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready, copied;
    cudaGraph_t graph;
    cudaGraphNode_t wait, copy, record;
    cudaEventCreate(&ready);
    cudaEventCreate(&copied);
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, ready), cudaSuccess);
    assert_int_equal(
        cudaGraphAddMemcpyNode1D(&copy, graph, &wait, 1, b, a, BYTES, cudaMemcpyDeviceToDevice),
        cudaSuccess);
    assert_int_equal(cudaGraphAddEventRecordNode(&record, graph, &copy, 1, copied), cudaSuccess);
    cudaGraphExec_t exec = instance(graph);
    scale(a, s);
    assert_int_equal(cudaEventRecord(ready, s), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, t), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(s, copied, 0), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(c, b, BYTES, cudaMemcpyDeviceToDevice, s), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(cudaEventQuery(copied), cudaSuccess);
    assert_int_equal(first_of(c), 3);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(ready);
    cudaEventDestroy(copied);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(a), cudaFree(b), cudaFree(c);
}

/* Two branches that nobody orders: some order of streams shows it. */
static void a_missing_edge_shows(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        configure(WIRE_STREAMS_RANDOM, seed);
        int *a = device_ints(1), *b = device_ints(0);
        struct cudaMemsetParams fill = {
            .dst = a, .value = 9, .elementSize = 4, .width = 1, .height = 1};
        cudaGraph_t graph;
        cudaGraphNode_t filled, copied;
        cudaGraphCreate(&graph, 0);
        cudaGraphAddMemsetNode(&filled, graph, NULL, 0, &fill);
        cudaGraphAddMemcpyNode1D(&copied, graph, NULL, 0, b, a, 4, cudaMemcpyDeviceToDevice);
        cudaGraphExec_t exec = instance(graph);
        assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
        seen |= first_of(b) == 9 ? 1 : 2;
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
        cudaFree(a);
        cudaFree(b);
    }
    assert_int_equal(seen, 3);
}

static void a_graph_can_be_drawn(void **state)
{
    (void)state;
    char path[] = "/tmp/scanjudge-dot-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    int *a = device_ints(1), *b = device_ints(1), *c = device_ints(1), *d = device_ints(1);
    cudaGraph_t graph = capture_fork(a, b, c, d);
    struct text text;
    struct err e;
    text_init(&text);
    assert_int_equal(cudaGraphDebugDotPrint(graph, path, 0), cudaSuccess);
    assert_int_equal(file_read(path, 1 << 20, &text, &e), 0);
    assert_non_null(strstr(text_str(&text), "digraph"));
    assert_non_null(strstr(text_str(&text), "kernel `scale`"));
    assert_non_null(strstr(text_str(&text), " -> "));
    text_release(&text);
    unlink(path);
    cudaGraphDestroy(graph);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

static void graphs_keep_user_objects_alive(void **state)
{
    (void)state;
    int destroyed = 0;
    cudaUserObject_t object;
    cudaGraph_t graph;
    assert_int_equal(
        cudaUserObjectCreate(&object, &destroyed, count_call, 1, cudaUserObjectNoDestructorSync),
        cudaSuccess);
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove),
                     cudaSuccess);
    cudaGraphExec_t exec = instance(graph);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(destroyed, 0);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    assert_int_equal(destroyed, 1);
}

static void circles_are_not_instantiated(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    cudaGraphExec_t exec;
    cudaGraphInstantiateParams params = {.flags = 0};
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphAddEmptyNode(&a, graph, NULL, 0), cudaSuccess);
    assert_int_equal(cudaGraphAddEmptyNode(&b, graph, &a, 1), cudaSuccess);
    assert_int_equal(cudaGraphAddDependencies(graph, &b, &a, NULL, 1), cudaSuccess);
    expect_error(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
    assert_int_equal(params.result_out, cudaGraphInstantiateInvalidStructure);
    expect_finding(FINDING_cuda_error, "circle");
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
}

static void what_is_missing_says_so(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    struct cudaGraphNodeParams conditional = {.type = cudaGraphNodeTypeConditional};
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    expect_error(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &conditional),
                 cudaErrorNotSupported);
    expect_finding(FINDING_cuda_error, "conditional");
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
}

int main(void)
{
#define WITH_PROGRAM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_PROGRAM(captured_work_runs_at_each_launch),
        WITH_PROGRAM(branches_join_in_every_order),
        WITH_PROGRAM(an_invalid_capture_leaves_nothing),
        WITH_PROGRAM(memory_can_be_captured),
        WITH_PROGRAM(every_kind_of_node_does_its_work),
        WITH_PROGRAM(parameters_change_between_launches),
        WITH_PROGRAM(nodes_can_be_switched_off),
        WITH_PROGRAM(events_tie_graphs_to_streams),
        WITH_PROGRAM(a_missing_edge_shows),
        WITH_PROGRAM(a_graph_can_be_drawn),
        WITH_PROGRAM(graphs_keep_user_objects_alive),
        WITH_PROGRAM(circles_are_not_instantiated),
        WITH_PROGRAM(what_is_missing_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
