/* Nodes of graphs, one kind after the other. Whether a node is added, changed, or changed in an
 * instance, its parameters make the same piece of work (work.h), which put() then stores.
 * Long because each kind of node has six functions of the API. */
#include "cpu/cudart/event.h"
#include "cpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

/* Where a node's work goes. */
struct place {
    /* A new node of `graph`, if `out` is not NULL. */
    cudaGraphNode_t *out;
    cudaGraph_t graph;
    const cudaGraphNode_t *after;
    size_t after_count;
    /* Else `node`, or with `in_exec` its counterpart there. */
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    bool in_exec;
};

static struct place added(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
                          size_t count)
{
    return (struct place){.out = out, .graph = graph, .after = after, .after_count = count};
}

static struct place of_node(cudaGraphNode_t node)
{
    return (struct place){.node = node};
}

static struct place of_exec(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    return (struct place){.node = node, .exec = exec, .in_exec = true};
}

/* The node that `p` names, of this type. */
static cudaError_t resolve(const struct place *p, enum cudaGraphNodeType type,
                           struct graph_node **out)
{
    struct graph_node *n = graph_find_node(p->node);
    struct graph_exec *x = p->in_exec ? graph_find_exec(p->exec) : NULL;
    if (n && p->in_exec)
        n = x ? graph_counterpart(x->graph, n) : NULL;
    *out = n;
    return n && n->type == type ? cudaSuccess : cudaErrorInvalidValue;
}

/* Stores `work`, which is taken over, also on an error; *out is the node. */
static cudaError_t put(const struct place *p, enum cudaGraphNodeType type, struct rt_work *work,
                       struct graph_node **out)
{
    struct graph_node **after = NULL;
    struct graph *g = NULL;
    cudaError_t error = cudaSuccess;
    if (p->out) {
        g = graph_find(p->graph);
        error = g ? graph_find_set(g, p->after, p->after_count, &after) : cudaErrorInvalidValue;
        if (error == cudaSuccess) {
            *out = graph_add(g, type, work, after, p->after_count);
            *p->out = graph_node_handle(*out);
        }
    } else {
        error = resolve(p, type, out);
        if (error == cudaSuccess)
            graph_set_work(*out, work);
    }
    if (error != cudaSuccess)
        work_release(work);
    free(after);
    return error;
}

/* ---- kernels ---- */

/* The arguments in the form of one buffer, {1, buffer, 2, &bytes, NULL}, as pointers to each. */
static void **from_extra(const struct rt_function *f, void **extra)
{
    enum { END = 0, BUFFER = 1 };
    const struct vm_kernel_info *info = &f->info;
    char *buffer = NULL;
    for (size_t i = 0; (uintptr_t)extra[i] != END; i += 2)
        if ((uintptr_t)extra[i] == BUFFER)
            buffer = extra[i + 1];
    void **args = calloc(info->param_count + 1, sizeof(void *));
    if (!args)
        BUG("out of memory for a graph");
    for (uint32_t i = 0; i < info->param_count && buffer; i++)
        args[i] = buffer + info->param_offsets[i];
    return args;
}

/* Makes the work of a node from what the call says of it. */
typedef cudaError_t maker(struct rt_work *work, const void *params);

static cudaError_t put_made(struct place p, enum cudaGraphNodeType type, maker *make,
                            const void *params)
{
    struct rt_work work;
    struct graph_node *n;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = params ? make(&work, params) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = put(&p, type, &work, &n);
    return rt_leave(error);
}

static cudaError_t kernel_work(struct rt_work *work, const void *params)
{
    const struct cudaKernelNodeParams *p = params;
    struct rt_function *f = NULL;
    cudaError_t error = rt_find_function(p->func, &f);
    if (error != cudaSuccess)
        return error;
    struct rt_launch shape = {p->gridDim, p->blockDim, p->sharedMemBytes, false};
    void **args = !p->kernelParams && p->extra ? from_extra(f, p->extra) : NULL;
    error = work_make_kernel(work, "a kernel node", p->func, &shape, args ? args : p->kernelParams);
    free(args);
    return error;
}

static cudaError_t put_kernel(struct place p, const struct cudaKernelNodeParams *params)
{
    return put_made(p, cudaGraphNodeTypeKernel, kernel_work, params);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *params)
{
    return put_kernel(added(out, graph, after, count), params);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *params)
{
    return put_kernel(of_node(node), params);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params)
{
    return put_kernel(of_exec(exec, node), params);
}

/* Begins a question about a node of a type. */
static cudaError_t ask(cudaGraphNode_t node, enum cudaGraphNodeType type, const void *out,
                       struct graph_node **n)
{
    struct place p = of_node(node);
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = out ? resolve(&p, type, n) : cudaErrorInvalidValue;
    return error;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeKernel, params, &n);
    if (error == cudaSuccess)
        *params = (struct cudaKernelNodeParams){
            .func = (void *)(uintptr_t)n->work.kernel.function->host,
            .gridDim = n->work.kernel.shape.grid,
            .blockDim = n->work.kernel.shape.block,
            .sharedMemBytes = (unsigned)n->work.kernel.shape.dynamic_shared,
            .kernelParams = n->args,
        };
    return rt_leave(error);
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue *value)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeKernel, value, &n);
    if (error == cudaSuccess && id == cudaLaunchAttributeCooperative)
        n->work.kernel.shape.cooperative = value->cooperative != 0;
    if (error == cudaSuccess && id == cudaLaunchAttributeClusterDimension)
        error = rt_refuse(cudaErrorInvalidClusterSize,
                          "cudaGraphKernelNodeSetAttribute: the CPU device has no clusters");
    return rt_leave(error);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue *value)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeKernel, value, &n);
    if (error == cudaSuccess) {
        memset(value, 0, sizeof *value);
        if (id == cudaLaunchAttributeCooperative)
            value->cooperative = n->work.kernel.shape.cooperative;
    }
    return rt_leave(error);
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    struct graph_node *target, *source;
    struct place other = of_node(from);
    cudaError_t error = ask(to, cudaGraphNodeTypeKernel, &target, &target);
    if (error == cudaSuccess)
        error = resolve(&other, cudaGraphNodeTypeKernel, &source);
    if (error == cudaSuccess)
        target->work.kernel.shape.cooperative = source->work.kernel.shape.cooperative;
    return rt_leave(error);
}

/* ---- copies ---- */

static cudaError_t copy_work(struct rt_work *work, const void *params)
{
    const struct cudaMemcpy3DParms *p = params;
    if (p->srcArray || p->dstArray)
        return rt_refuse(cudaErrorNotSupported, "a memcpy node: the CPU device has no CUDA arrays");
    struct rt_pitched to = rt_pitched_at(p->dstPtr, p->dstPos);
    struct rt_pitched from = rt_pitched_at(p->srcPtr, p->srcPos);
    struct rt_box box = {p->extent.width, p->extent.height, p->extent.depth};
    if (box.height * box.depth > 1 && (to.pitch < box.width || from.pitch < box.width))
        return cudaErrorInvalidValue;
    return work_make_copy(work, "a memcpy node", to, from, box, p->kind);
}

static cudaError_t flat_work(struct rt_work *work, void *to, const void *from, size_t bytes,
                             enum cudaMemcpyKind kind)
{
    return work_make_copy(work, "a memcpy node", (struct rt_pitched){to, bytes, bytes},
                          (struct rt_pitched){(void *)(uintptr_t)from, bytes, bytes},
                          (struct rt_box){bytes, 1, 1}, kind);
}

static cudaError_t put_copy(struct place p, const struct cudaMemcpy3DParms *params)
{
    return put_made(p, cudaGraphNodeTypeMemcpy, copy_work, params);
}

static cudaError_t put_flat(struct place p, void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind)
{
    struct rt_work work;
    struct graph_node *n;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = flat_work(&work, to, from, bytes, kind);
    if (error == cudaSuccess)
        error = put(&p, cudaGraphNodeTypeMemcpy, &work, &n);
    return rt_leave(error);
}

/* To a variable, or from one; the other side is `memory`. */
static cudaError_t put_symbol(struct place p, bool to_symbol, const void *symbol, void *memory,
                              size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    struct rt_work work;
    struct graph_node *n;
    uint64_t address = 0;
    size_t size = 0;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_variable(symbol, &address, &size);
    if (error == cudaSuccess && (offset > size || bytes > size - offset))
        error = cudaErrorInvalidValue;
    void *at = (void *)(uintptr_t)(address + offset);
    if (error == cudaSuccess)
        error = to_symbol ? flat_work(&work, at, memory, bytes, kind)
                          : flat_work(&work, memory, at, bytes, kind);
    if (error == cudaSuccess)
        error = put(&p, cudaGraphNodeTypeMemcpy, &work, &n);
    return rt_leave(error);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *params)
{
    return put_copy(added(out, graph, after, count), params);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms *params)
{
    return put_copy(of_node(node), params);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params)
{
    return put_copy(of_exec(exec, node), params);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return put_flat(added(out, graph, after, count), to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t bytes, enum cudaMemcpyKind kind)
{
    return put_flat(of_node(node), to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    return put_flat(of_exec(exec, node), to, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                           const cudaGraphNode_t *after, size_t count,
                                           const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    return put_symbol(added(out, graph, after, count), true, symbol, (void *)(uintptr_t)from, bytes,
                      offset, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t bytes, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    return put_symbol(of_node(node), true, symbol, (void *)(uintptr_t)from, bytes, offset, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    return put_symbol(of_exec(exec, node), true, symbol, (void *)(uintptr_t)from, bytes, offset,
                      kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                             const cudaGraphNode_t *after, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind)
{
    return put_symbol(added(out, graph, after, count), false, symbol, to, bytes, offset, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t bytes, size_t offset,
                                                   enum cudaMemcpyKind kind)
{
    return put_symbol(of_node(node), false, symbol, to, bytes, offset, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    return put_symbol(of_exec(exec, node), false, symbol, to, bytes, offset, kind);
}

static struct cudaPitchedPtr pitched_ptr(struct rt_pitched p, struct rt_box box)
{
    size_t pitch = p.pitch ? p.pitch : box.width;
    return (struct cudaPitchedPtr){p.at, pitch, box.width, p.slice ? p.slice / pitch : box.height};
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeMemcpy, params, &n);
    if (error == cudaSuccess) {
        struct rt_box box = n->work.copy.box;
        *params = (struct cudaMemcpy3DParms){
            .srcPtr = pitched_ptr(n->work.copy.from, box),
            .dstPtr = pitched_ptr(n->work.copy.to, box),
            .extent = {box.width, box.height, box.depth},
            .kind = n->work.copy.kind,
        };
    }
    return rt_leave(error);
}

/* ---- fills ---- */

static cudaError_t fill_work(struct rt_work *work, const void *params)
{
    const struct cudaMemsetParams *p = params;
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return cudaErrorInvalidValue;
    return work_make_fill(work, "a memset node", (struct rt_pitched){p->dst, p->pitch, 0},
                          (struct rt_box){p->width * p->elementSize, p->height, 1}, p->value,
                          p->elementSize);
}

static cudaError_t put_fill(struct place p, const struct cudaMemsetParams *params)
{
    return put_made(p, cudaGraphNodeTypeMemset, fill_work, params);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *params)
{
    return put_fill(added(out, graph, after, count), params);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemsetParams *params)
{
    return put_fill(of_node(node), params);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params)
{
    return put_fill(of_exec(exec, node), params);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeMemset, params, &n);
    if (error == cudaSuccess)
        *params = (struct cudaMemsetParams){
            .dst = n->work.fill.to.at,
            .pitch = n->work.fill.to.pitch,
            .value = n->work.fill.value,
            .elementSize = n->work.fill.element,
            .width = n->work.fill.box.width / n->work.fill.element,
            .height = n->work.fill.box.height,
        };
    return rt_leave(error);
}

/* ---- host functions ---- */

static cudaError_t host_work(struct rt_work *work, const void *params)
{
    const struct cudaHostNodeParams *p = params;
    if (!p->fn)
        return cudaErrorInvalidValue;
    *work = (struct rt_work){.kind = WORK_HOST, .call = "a host node"};
    work->host.function = p->fn;
    work->host.argument = p->userData;
    return cudaSuccess;
}

static cudaError_t put_host(struct place p, const struct cudaHostNodeParams *params)
{
    return put_made(p, cudaGraphNodeTypeHost, host_work, params);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *params)
{
    return put_host(added(out, graph, after, count), params);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const struct cudaHostNodeParams *params)
{
    return put_host(of_node(node), params);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *params)
{
    return put_host(of_exec(exec, node), params);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeHost, params, &n);
    if (error == cudaSuccess)
        *params = (struct cudaHostNodeParams){n->work.host.function, n->work.host.argument};
    return rt_leave(error);
}

/* ---- nodes without work of their own ---- */

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count)
{
    struct rt_work work = {.kind = WORK_NOTHING};
    struct graph_node *n;
    struct place p = added(out, graph, after, count);
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = put(&p, cudaGraphNodeTypeEmpty, &work, &n);
    return rt_leave(error);
}

/* The child is cloned: what becomes of it later changes nothing. */
static cudaError_t put_child(struct place p, cudaGraph_t graph)
{
    struct rt_work work = {.kind = WORK_NOTHING};
    struct graph_node *n;
    cudaError_t error = rt_enter();
    struct graph *g = error == cudaSuccess ? graph_find(graph) : NULL;
    if (error == cudaSuccess && (!g || (p.out && g == graph_find(p.graph))))
        error = cudaErrorInvalidValue;
    struct graph *child = error == cudaSuccess ? graph_clone(g) : NULL;
    if (error == cudaSuccess)
        error = put(&p, cudaGraphNodeTypeGraph, &work, &n);
    if (error == cudaSuccess) {
        if (n->child)
            graph_free(n->child);
        n->child = child;
        child->owner = n;
    } else if (child) {
        graph_free(child);
    }
    return rt_leave(error);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       cudaGraph_t child)
{
    return put_child(added(out, graph, after, count), child);
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child)
{
    return put_child(of_exec(exec, node), child);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeGraph, graph, &n);
    if (error == cudaSuccess)
        *graph = (cudaGraph_t)(void *)n->child;
    return rt_leave(error);
}

/* ---- events ---- */

static cudaError_t put_event(struct place p, enum cudaGraphNodeType type, cudaEvent_t event)
{
    struct rt_work work = {.kind = WORK_NOTHING};
    struct graph_node *n;
    struct rt_event *v;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = event_find(event, &v);
    if (error == cudaSuccess)
        error = put(&p, type, &work, &n);
    if (error == cudaSuccess) {
        event_keep(v);
        if (n->event)
            event_drop(n->event);
        n->event = v;
    }
    return rt_leave(error);
}

static cudaError_t get_event(cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t *event)
{
    struct graph_node *n;
    cudaError_t error = ask(node, type, event, &n);
    if (error == cudaSuccess)
        *event = n->event->handle;
    return rt_leave(error);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count,
                                        cudaEvent_t event)
{
    return put_event(added(out, graph, after, count), cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return put_event(of_node(node), cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event)
{
    return put_event(of_exec(exec, node), cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                      const cudaGraphNode_t *after, size_t count, cudaEvent_t event)
{
    return put_event(added(out, graph, after, count), cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return put_event(of_node(node), cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event)
{
    return put_event(of_exec(exec, node), cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(node, cudaGraphNodeTypeWaitEvent, event);
}

/* ---- memory ---- */

static cudaError_t put_allocation(struct place p, struct cudaMemAllocNodeParams *params)
{
    struct rt_work work = {.kind = WORK_ALLOCATE, .call = "a memory allocation node"};
    struct graph_node *n;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!params || params->bytesize == 0 ||
                                 params->poolProps.allocType != cudaMemAllocationTypePinned ||
                                 params->poolProps.location.type != cudaMemLocationTypeDevice ||
                                 params->poolProps.location.id != 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_allocate(&params->dptr, params->bytesize, NULL);
    if (error != cudaSuccess)
        return rt_leave(error);
    work.memory.base = params->dptr;
    work.memory.bytes = params->bytesize;
    rt_keep_graph_memory(params->dptr);
    error = put(&p, cudaGraphNodeTypeMemAlloc, &work, &n);
    if (error == cudaSuccess)
        n->alloc = *params;
    else
        rt_drop_graph_memory(params->dptr);
    return rt_leave(error);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count,
                                     struct cudaMemAllocNodeParams *params)
{
    return put_allocation(added(out, graph, after, count), params);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           struct cudaMemAllocNodeParams *params)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeMemAlloc, params, &n);
    if (error == cudaSuccess)
        *params = n->alloc;
    return rt_leave(error);
}

/* Is there a node of this graph that frees the memory already? */
static bool frees(const struct graph *g, const void *memory)
{
    for (size_t i = 0; g && i < g->count; i++)
        if (g->nodes[i]->type == cudaGraphNodeTypeMemFree &&
            g->nodes[i]->work.memory.base == memory)
            return true;
    return false;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                    const cudaGraphNode_t *after, size_t count, void *memory)
{
    struct rt_work work = {.kind = WORK_FREE, .call = "a memory free node"};
    struct graph_node *n;
    struct place p = added(out, graph, after, count);
    cudaError_t error = rt_enter();
    struct rt_allocation *a = error == cudaSuccess ? rt_allocation_at(memory) : NULL;
    if (error == cudaSuccess &&
        (!a || a->base != memory || a->graph_nodes == 0 || frees(graph_find(graph), memory)))
        error = rt_refuse(cudaErrorInvalidValue,
                          "cudaGraphAddMemFreeNode: %p is no memory of a graph's allocation node, "
                          "or it is freed already",
                          memory);
    if (error == cudaSuccess && a) {
        work.memory.base = memory;
        work.memory.bytes = a->bytes;
        error = put(&p, cudaGraphNodeTypeMemFree, &work, &n);
    }
    return rt_leave(error);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
    struct graph_node *n;
    cudaError_t error = ask(node, cudaGraphNodeTypeMemFree, out, &n);
    if (error == cudaSuccess)
        *(void **)out = n->work.memory.base;
    return rt_leave(error);
}

/* ---- any kind, by its type ---- */

static cudaError_t put_any(struct place p, struct cudaGraphNodeParams *params)
{
    if (!params) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    switch (params->type) {
    case cudaGraphNodeTypeKernel: {
        const struct cudaKernelNodeParamsV2 *k = &params->kernel;
        struct cudaKernelNodeParams kernel = {.func = k->func,
                                              .gridDim = k->gridDim,
                                              .blockDim = k->blockDim,
                                              .sharedMemBytes = k->sharedMemBytes,
                                              .kernelParams = k->kernelParams,
                                              .extra = k->extra};
        return put_kernel(p, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
        return put_copy(p, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
        const struct cudaMemsetParamsV2 *m = &params->memset;
        struct cudaMemsetParams fill = {.dst = m->dst,
                                        .pitch = m->pitch,
                                        .value = m->value,
                                        .elementSize = m->elementSize,
                                        .width = m->width,
                                        .height = m->height};
        return put_fill(p, &fill);
    }
    case cudaGraphNodeTypeHost: {
        struct cudaHostNodeParams host = {params->host.fn, params->host.userData};
        return put_host(p, &host);
    }
    case cudaGraphNodeTypeGraph:
        return put_child(p, params->graph.graph);
    case cudaGraphNodeTypeEmpty:
        if (p.out)
            return cudaGraphAddEmptyNode(p.out, p.graph, p.after, p.after_count);
        break;
    case cudaGraphNodeTypeWaitEvent:
        return put_event(p, cudaGraphNodeTypeWaitEvent, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return put_event(p, cudaGraphNodeTypeEventRecord, params->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: {
        struct cudaMemAllocNodeParams alloc = {.poolProps = params->alloc.poolProps,
                                               .accessDescs = params->alloc.accessDescs,
                                               .accessDescCount = params->alloc.accessDescCount,
                                               .bytesize = params->alloc.bytesize};
        cudaError_t error = p.out ? put_allocation(p, &alloc) : cudaErrorInvalidValue;
        params->alloc.dptr = alloc.dptr;
        return error;
    }
    case cudaGraphNodeTypeMemFree:
        if (p.out)
            return cudaGraphAddMemFreeNode(p.out, p.graph, p.after, p.after_count,
                                           params->free.dptr);
        break;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
    case cudaGraphNodeTypeConditional:
    case cudaGraphNodeTypeCount:
    default:
        break;
    }
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_refuse(cudaErrorNotSupported,
                          "a graph node of type %d: the CPU device has kernel, memcpy, memset, "
                          "host, empty, child graph, event and memory nodes; decide on the host, "
                          "or in a kernel, what a conditional node would decide",
                          (int)params->type);
    return rt_leave(error);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *edges, size_t count,
                             struct cudaGraphNodeParams *params)
{
    (void)edges;
    return put_any(added(out, graph, after, count), params);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    return put_any(of_node(node), params);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *params)
{
    return put_any(of_exec(exec, node), params);
}
