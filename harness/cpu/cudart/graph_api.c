/* Graphs as wholes: making, asking, changing edges, instances, updating and launching them. */
#include "cpu/cudart/capture.h"
#include "cpu/cudart/event.h"
#include "cpu/cudart/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cudaError_t find_graph(cudaGraph_t handle, struct graph **g)
{
    cudaError_t error = rt_enter();
    *g = error == cudaSuccess ? graph_find(handle) : NULL;
    return error == cudaSuccess && !*g ? cudaErrorInvalidValue : error;
}

static cudaError_t find_exec(cudaGraphExec_t handle, struct graph_exec **x)
{
    cudaError_t error = rt_enter();
    *x = error == cudaSuccess ? graph_find_exec(handle) : NULL;
    return error == cudaSuccess && !*x ? cudaErrorInvalidValue : error;
}

static cudaError_t find_node(cudaGraphNode_t handle, struct graph_node **n)
{
    cudaError_t error = rt_enter();
    *n = error == cudaSuccess ? graph_find_node(handle) : NULL;
    return error == cudaSuccess && !*n ? cudaErrorInvalidValue : error;
}

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!out || flags != 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *out = (cudaGraph_t)(void *)graph_new();
    return rt_leave(error);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    struct graph *g;
    cudaError_t error = find_graph(graph, &g);
    if (error == cudaSuccess && (g->owner || g->capturing))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        graph_free(g);
    return rt_leave(error);
}

/* Graphs with memory nodes can neither be cloned nor lose nodes. */
static bool has_memory(const struct graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->type == cudaGraphNodeTypeMemAlloc ||
            g->nodes[i]->type == cudaGraphNodeTypeMemFree)
            return true;
    return false;
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
    struct graph *g;
    cudaError_t error = find_graph(graph, &g);
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && has_memory(g))
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        *out = (cudaGraph_t)(void *)graph_clone(g);
    return rt_leave(error);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original,
                                     cudaGraph_t clone)
{
    struct graph_node *n;
    cudaError_t error = find_node(original, &n);
    struct graph *g = error == cudaSuccess ? graph_find(clone) : NULL;
    struct graph_node *found = g && g != n->graph ? graph_counterpart(g, n) : NULL;
    if (error == cudaSuccess && (!out || !found))
        error = cudaErrorInvalidValue;
    if (out)
        *out = error == cudaSuccess ? graph_node_handle(found) : NULL;
    return rt_leave(error);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    struct graph_node *n;
    cudaError_t error = find_node(node, &n);
    if (error == cudaSuccess && has_memory(n->graph))
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        graph_remove(n);
    return rt_leave(error);
}

/* ---- questions ---- */

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    struct graph_node *n;
    cudaError_t error = find_node(node, &n);
    if (error == cudaSuccess && !type)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *type = n->type;
    return rt_leave(error);
}

/* A list that the program asked for: without `out` its length, with `out` at most *count entries,
 * the rest of which become null. */
struct answer {
    cudaGraphNode_t *out, *second; /* of edges: from and to */
    size_t room, found;
};

static void give(struct answer *a, struct graph_node *node, struct graph_node *second)
{
    if (a->out && a->found < a->room) {
        a->out[a->found] = graph_node_handle(node);
        if (a->second)
            a->second[a->found] = graph_node_handle(second);
    }
    a->found++;
}

/* false: there was not room for all of it. */
static bool finish(struct answer *a, cudaGraphEdgeData *edges, size_t *count)
{
    bool enough = !a->out || a->found <= a->room;
    for (size_t i = a->found; a->out && i < a->room; i++) {
        a->out[i] = NULL;
        if (a->second)
            a->second[i] = NULL;
    }
    size_t given = a->out && a->found > a->room ? a->room : a->found;
    if (edges && a->out)
        memset(edges, 0, given * sizeof *edges);
    *count = given;
    return enough;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count)
{
    struct graph *g;
    cudaError_t error = find_graph(graph, &g);
    if (error == cudaSuccess && !count)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct answer a = {.out = out, .room = *count};
    for (size_t i = 0; i < g->count; i++)
        give(&a, g->nodes[i], NULL);
    finish(&a, NULL, count);
    return rt_leave(cudaSuccess);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count)
{
    struct graph *g;
    cudaError_t error = find_graph(graph, &g);
    if (error == cudaSuccess && !count)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct answer a = {.out = out, .room = *count};
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->after_count == 0)
            give(&a, g->nodes[i], NULL);
    finish(&a, NULL, count);
    return rt_leave(cudaSuccess);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edges, size_t *count)
{
    struct graph *g;
    cudaError_t error = find_graph(graph, &g);
    if (error == cudaSuccess && (!count || !from != !to))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct answer a = {.out = from, .second = to, .room = *count};
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->nodes[i]->after_count; k++)
            give(&a, g->nodes[i]->after[k], g->nodes[i]);
    finish(&a, edges, count);
    return rt_leave(cudaSuccess);
}

static cudaError_t find_to_count(cudaGraphNode_t node, const size_t *count, struct graph_node **n)
{
    cudaError_t error = find_node(node, n);
    return error == cudaSuccess && !count ? cudaErrorInvalidValue : error;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out,
                                         cudaGraphEdgeData *edges, size_t *count)
{
    struct graph_node *n;
    cudaError_t error = find_to_count(node, count, &n);
    if (error != cudaSuccess)
        return rt_leave(error);
    struct answer a = {.out = out, .room = *count};
    for (size_t k = 0; k < n->after_count; k++)
        give(&a, n->after[k], NULL);
    finish(&a, edges, count);
    return rt_leave(cudaSuccess);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out,
                                           cudaGraphEdgeData *edges, size_t *count)
{
    struct graph_node *n;
    cudaError_t error = find_to_count(node, count, &n);
    if (error != cudaSuccess)
        return rt_leave(error);
    struct answer a = {.out = out, .room = *count};
    for (size_t i = 0; i < n->graph->count; i++)
        if (graph_has_edge(n, n->graph->nodes[i]))
            give(&a, n->graph->nodes[i], NULL);
    finish(&a, edges, count);
    return rt_leave(cudaSuccess);
}

/* ---- edges ---- */

/* All or none. */
static cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, size_t count, bool add)
{
    struct graph *g;
    cudaError_t error = find_graph(graph, &g);
    if (error == cudaSuccess && count > 0 && (!from || !to))
        error = cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        struct graph_node *a = graph_find_node(from[i]), *b = graph_find_node(to[i]);
        if (!a || !b || a->graph != g || b->graph != g || a == b || graph_has_edge(a, b) == add)
            error = cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        struct graph_node *a = graph_find_node(from[i]), *b = graph_find_node(to[i]);
        if (add)
            graph_add_edge(a, b);
        else
            graph_remove_edge(a, b);
    }
    return rt_leave(error);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                     size_t count)
{
    (void)edges;
    return change_edges(graph, from, to, count, true);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                        size_t count)
{
    (void)edges;
    return change_edges(graph, from, to, count, false);
}

/* ---- instances ---- */

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    const unsigned long long known =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    struct graph *g = graph_find(graph);
    if (!out || !g || (flags & ~known) || g->capturing)
        return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return rt_refuse(cudaErrorNotSupported,
                         "cudaGraphInstantiateFlagDeviceLaunch: kernels of the CPU device cannot "
                         "launch graphs; launch this one from the host");
    struct graph_exec *x = graph_exec_new(g, flags);
    if (!x)
        return rt_refuse(
            cudaErrorInvalidValue,
            "cudaGraphInstantiate: nodes of the graph wait for each other in a circle");
    *out = (cudaGraphExec_t)(void *)x;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                          unsigned long long flags)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = instantiate(out, graph, flags);
    return rt_leave(error);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(out, graph, flags);
}

static bool is_circular(const struct graph *g)
{
    struct graph_node **sorted = g ? graph_sort(g, false) : NULL;
    free(sorted);
    return g && !sorted;
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !params)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    error = instantiate(out, graph, params->flags);
    params->errNode_out = NULL;
    params->result_out = error == cudaSuccess             ? cudaGraphInstantiateSuccess
                         : is_circular(graph_find(graph)) ? cudaGraphInstantiateInvalidStructure
                                                          : cudaGraphInstantiateError;
    return rt_leave(error);
}
RT_PTSZ(cudaGraphInstantiateWithParams,
        (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams *params),
        (out, graph, params))

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    struct graph_exec *x;
    cudaError_t error = find_exec(exec, &x);
    if (error == cudaSuccess && !flags)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *flags = x->flags;
    return rt_leave(error);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    struct graph_exec *x;
    cudaError_t error = find_exec(exec, &x);
    if (error == cudaSuccess)
        graph_exec_free(x);
    return rt_leave(error);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct graph_exec *x;
    struct rt_stream *s = NULL;
    cudaError_t error = find_exec(exec, &x);
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = graph_launch(x, s);
    return rt_leave(error);
}
RT_PTSZ(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, rt_own(stream)))

/* There is nothing to bring to the device ahead of a launch. */
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct graph_exec *x;
    struct rt_stream *s = NULL;
    cudaError_t error = find_exec(exec, &x);
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    return rt_leave(error);
}
RT_PTSZ(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, rt_own(stream)))

/* ---- changing an instance ---- */

/* The node of an instance for a node of its graph that can be switched off. */
static cudaError_t find_switchable(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   struct graph_node **n)
{
    struct graph_exec *x;
    cudaError_t error = find_exec(exec, &x);
    if (error != cudaSuccess)
        return error;
    struct graph_node *original = graph_find_node(node);
    *n = original ? graph_counterpart(x->graph, original) : NULL;
    bool right =
        *n && ((*n)->type == cudaGraphNodeTypeKernel || (*n)->type == cudaGraphNodeTypeMemcpy ||
               (*n)->type == cudaGraphNodeTypeMemset);
    return right ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
    struct graph_node *n;
    cudaError_t error = find_switchable(exec, node, &n);
    if (error == cudaSuccess)
        n->disabled = !enabled;
    return rt_leave(error);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
    struct graph_node *n;
    cudaError_t error = find_switchable(exec, node, &n);
    if (error == cudaSuccess && !enabled)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *enabled = !n->disabled;
    return rt_leave(error);
}

/* Nodes from the roots on, each when the last one that it comes after has had its turn: by place in
 * the graph, not by when they were added. NULL: there is a circle. The caller frees it. */
static struct graph_node **by_place(const struct graph *g)
{
    struct graph_node **order = calloc(g->count + 1, sizeof(struct graph_node *));
    size_t found = 0;
    if (!order)
        BUG("out of memory for a graph");
    for (size_t i = 0; i < g->count; i++) {
        g->nodes[i]->waits = g->nodes[i]->after_count;
        if (g->nodes[i]->waits == 0)
            order[found++] = g->nodes[i];
    }
    for (size_t k = 0; k < found; k++)
        for (size_t i = 0; i < g->count; i++)
            if (graph_has_edge(order[k], g->nodes[i]) && --g->nodes[i]->waits == 0)
                order[found++] = g->nodes[i];
    if (found < g->count) {
        free(order);
        return NULL;
    }
    return order;
}

static bool same_edges(struct graph_node *const *x, struct graph_node *const *g, size_t count,
                       size_t node)
{
    if (x[node]->after_count != g[node]->after_count)
        return false;
    for (size_t k = 0; k < count; k++)
        if (graph_has_edge(x[k], x[node]) != graph_has_edge(g[k], g[node]))
            return false;
    return true;
}

/* Can a node of an instance take over what another one does? Child graphs are compared apart. */
static enum cudaGraphExecUpdateResult compare_nodes(const struct graph_node *old,
                                                    const struct graph_node *n)
{
    bool memory = n->type == cudaGraphNodeTypeMemAlloc || n->type == cudaGraphNodeTypeMemFree;
    if (old->type != n->type)
        return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (memory && old->work.memory.base != n->work.memory.base)
        return cudaGraphExecUpdateErrorNotSupported;
    return cudaGraphExecUpdateSuccess;
}

static void take_over(struct graph_node *old, const struct graph_node *n)
{
    struct rt_work work;
    work_clone(&work, &n->work);
    graph_set_work(old, &work);
    if (n->event) {
        event_keep(n->event);
        event_drop(old->event);
        old->event = n->event;
    }
}

/* Whether `g` can take the place of `x`, and if not, at which node; with `change` it does. */
static enum cudaGraphExecUpdateResult update(struct graph *x, const struct graph *g, bool change,
                                             struct graph_node **culprit)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    struct graph_node **old = by_place(x), **new = by_place(g);
    *culprit = NULL;
    if (!old || !new || x->count != g->count)
        result = cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < g->count && result == cudaGraphExecUpdateSuccess; i++) {
        *culprit = new[i];
        if (!same_edges(old, new, g->count, i))
            result = cudaGraphExecUpdateErrorTopologyChanged;
    }
    for (size_t i = 0; i < g->count && result == cudaGraphExecUpdateSuccess; i++) {
        *culprit = new[i];
        result = compare_nodes(old[i], new[i]);
        if (result == cudaGraphExecUpdateSuccess && new[i]->child)
            result = update(old[i]->child, new[i]->child, change, culprit);
        if (result == cudaGraphExecUpdateSuccess && change)
            take_over(old[i], new[i]);
    }
    free(old);
    free(new);
    return result;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    struct graph_exec *x;
    cudaError_t error = find_exec(exec, &x);
    struct graph *g = error == cudaSuccess ? graph_find(graph) : NULL;
    if (error == cudaSuccess && (!g || !info))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct graph_node *culprit = NULL;
    *info = (cudaGraphExecUpdateResultInfo){.result = update(x->graph, g, false, &culprit)};
    if (info->result == cudaGraphExecUpdateSuccess) {
        update(x->graph, g, true, &culprit);
        return rt_leave(cudaSuccess);
    }
    info->errorNode = graph_node_handle(culprit);
    return rt_leave(cudaErrorGraphExecUpdateFailure);
}

/* ---- drawing ---- */

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    (void)flags;
    struct graph *g;
    char what[256];
    cudaError_t error = find_graph(graph, &g);
    FILE *file = error == cudaSuccess && path ? fopen(path, "w") : NULL;
    if (error == cudaSuccess && !file)
        error = path ? cudaErrorOperatingSystem : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    fprintf(file, "digraph dot {\n");
    for (size_t i = 0; i < g->count; i++) {
        const struct graph_node *n = g->nodes[i];
        work_describe(&n->work, "the graph", what, sizeof what);
        fprintf(file, "    n%llu [label=\"%llu: %s\"];\n", (unsigned long long)n->id,
                (unsigned long long)n->id, n->child ? "a child graph" : what);
        for (size_t k = 0; k < n->after_count; k++)
            fprintf(file, "    n%llu -> n%llu;\n", (unsigned long long)n->after[k]->id,
                    (unsigned long long)n->id);
    }
    fprintf(file, "}\n");
    if (fclose(file) != 0)
        error = cudaErrorOperatingSystem;
    return rt_leave(error);
}

/* ---- memory of graphs ---- */

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    uint64_t bytes = 0;
    size_t position = 0;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!value || (unsigned)attribute > cudaGraphMemAttrReservedMemHigh))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && device != 0)
        error = cudaErrorInvalidDevice;
    if (error != cudaSuccess)
        return rt_leave(error);
    for (const struct rt_allocation *a; (a = map_next(&rt.allocations, &position));)
        if (a->graph_nodes > 0 &&
            (a->graph_live || attribute >= cudaGraphMemAttrReservedMemCurrent))
            bytes += a->bytes;
    memcpy(value, &bytes, sizeof bytes);
    return rt_leave(cudaSuccess);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!value || (attribute != cudaGraphMemAttrUsedMemHigh &&
                                            attribute != cudaGraphMemAttrReservedMemHigh)))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && device != 0)
        error = cudaErrorInvalidDevice;
    return rt_leave(error);
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && device != 0)
        error = cudaErrorInvalidDevice;
    return rt_leave(error);
}
