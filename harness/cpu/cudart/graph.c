/* Launching: an instance is laid out over timelines (order.h) in one pass over its sorted nodes. A
 * node goes on in the timeline of one of those that it comes after, the first root in the stream's
 * own, and every further branch takes a timeline of its own, which the next launch can have back.
 * The stream goes on behind a node that joins them all. */
#include "cpu/cudart/graph.h"

#include "cpu/cudart/capture.h"

#include <stdlib.h>
#include <string.h>

static struct map graphs, nodes, execs;
static uint64_t ids;

struct graph *graph_find(cudaGraph_t handle)
{
    return map_get(&graphs, handle);
}

struct graph_node *graph_find_node(cudaGraphNode_t handle)
{
    return map_get(&nodes, handle);
}

struct graph_exec *graph_find_exec(cudaGraphExec_t handle)
{
    return map_get(&execs, handle);
}

cudaError_t graph_find_set(const struct graph *g, const cudaGraphNode_t *handles, size_t count,
                           struct graph_node ***out)
{
    *out = NULL;
    if (count > 0 && (!handles || count > g->count))
        return cudaErrorInvalidValue;
    struct graph_node **set = malloc((count + 1) * sizeof(struct graph_node *));
    if (!set)
        BUG("out of memory for a graph");
    for (size_t i = 0; i < count; i++) {
        set[i] = graph_find_node(handles[i]);
        bool right = set[i] && set[i]->graph == g;
        for (size_t k = 0; k < i && right; k++)
            right = set[k] != set[i];
        if (!right) {
            free(set);
            return cudaErrorInvalidValue;
        }
    }
    *out = set;
    return cudaSuccess;
}

static void *new_thing(size_t bytes)
{
    void *thing = calloc(1, bytes ? bytes : 1);
    if (!thing)
        BUG("out of memory for a graph");
    return thing;
}

/* Makes room for one more pointer. */
static void *room(void *list, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity ? 2 * *capacity : 4;
    void *more = realloc(list, *capacity * sizeof(void *));
    if (!more)
        BUG("out of memory for a graph");
    return more;
}

/* ---- structure ---- */

struct graph *graph_new(void)
{
    struct graph *g = new_thing(sizeof *g);
    map_put(&graphs, g, g);
    return g;
}

static void free_node(struct graph_node *n)
{
    map_remove(&nodes, n);
    if (n->child)
        graph_free(n->child);
    if (n->event)
        event_drop(n->event);
    if (n->alloc.dptr)
        rt_drop_graph_memory(n->alloc.dptr);
    work_release(&n->work);
    stamp_release(&n->done);
    free(n->args);
    free(n->after);
    free(n);
}

void graph_free(struct graph *g)
{
    map_remove(&graphs, g);
    for (size_t i = 0; i < g->count; i++)
        free_node(g->nodes[i]);
    user_objects_release(g);
    free(g->nodes);
    free(g);
}

void graph_add_edge(struct graph_node *from, struct graph_node *to)
{
    to->after = room(to->after, to->after_count, &to->after_capacity);
    to->after[to->after_count++] = from;
}

static struct graph_node *add_node(struct graph *g, enum cudaGraphNodeType type)
{
    struct graph_node *n = new_thing(sizeof *n);
    n->graph = g;
    n->id = n->origin = ++ids;
    n->type = type;
    g->nodes = room(g->nodes, g->count, &g->capacity);
    g->nodes[g->count++] = n;
    map_put(&nodes, n, n);
    return n;
}

struct graph_node *graph_add(struct graph *g, enum cudaGraphNodeType type, struct rt_work *work,
                             struct graph_node *const *after, size_t count)
{
    struct graph_node *n = add_node(g, type);
    graph_set_work(n, work);
    for (size_t i = 0; i < count; i++)
        if (!graph_has_edge(after[i], n))
            graph_add_edge(after[i], n);
    return n;
}

bool graph_has_edge(const struct graph_node *from, const struct graph_node *to)
{
    for (size_t i = 0; i < to->after_count; i++)
        if (to->after[i] == from)
            return true;
    return false;
}

bool graph_remove_edge(struct graph_node *from, struct graph_node *to)
{
    for (size_t i = 0; i < to->after_count; i++) {
        if (to->after[i] == from) {
            to->after_count--;
            memmove(to->after + i, to->after + i + 1,
                    (to->after_count - i) * sizeof(struct graph_node *));
            return true;
        }
    }
    return false;
}

void graph_remove(struct graph_node *node)
{
    struct graph *g = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (g->nodes[i] == node)
            continue;
        graph_remove_edge(node, g->nodes[i]);
        g->nodes[kept++] = g->nodes[i];
    }
    g->count = kept;
    free_node(node);
}

/* Nodes mostly come in an order that will do. */
static bool is_sorted(const struct graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->waits = i;
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->nodes[i]->after_count; k++)
            if (g->nodes[i]->after[k]->waits >= i)
                return false;
    return true;
}

struct graph_node **graph_sort(const struct graph *g, bool random)
{
    struct graph_node **sorted = new_thing(g->count * sizeof(struct graph_node *));
    if (!random && is_sorted(g)) {
        if (g->count > 0)
            memcpy(sorted, g->nodes, g->count * sizeof(struct graph_node *));
        return sorted;
    }
    size_t done = 0;
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->waits = g->nodes[i]->after_count;
    while (done < g->count) {
        struct graph_node *next = NULL;
        uint64_t candidates = 0;
        for (size_t i = 0; i < g->count && (random || !next); i++) {
            struct graph_node *n = g->nodes[i];
            if (n->waits == 0 && (++candidates == 1 || queue_draw(candidates) == 0))
                next = n;
        }
        if (!next) {
            free(sorted);
            return NULL;
        }
        next->waits = SIZE_MAX; /* taken */
        sorted[done++] = next;
        for (size_t i = 0; i < g->count; i++)
            if (graph_has_edge(next, g->nodes[i]))
                g->nodes[i]->waits--;
    }
    return sorted;
}

bool graph_reaches(const struct graph_node *from, const struct graph_node *to)
{
    const struct graph *g = from->graph;
    bool grew = true;
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->waits = g->nodes[i] == from; /* 1: there is a way to it */
    while (grew && !to->waits) {
        grew = false;
        for (size_t i = 0; i < g->count; i++) {
            struct graph_node *n = g->nodes[i];
            for (size_t k = 0; k < n->after_count && !n->waits; k++) {
                n->waits = n->after[k]->waits;
                grew |= n->waits != 0;
            }
        }
    }
    return to->waits != 0;
}

struct graph_node *graph_counterpart(const struct graph *g, const struct graph_node *node)
{
    for (size_t i = 0; i < g->count; i++) {
        struct graph_node *n = g->nodes[i];
        if (n->origin == node->origin)
            return n;
        n = n->child ? graph_counterpart(n->child, node) : NULL;
        if (n)
            return n;
    }
    return NULL;
}

struct graph *graph_clone(const struct graph *from)
{
    struct graph *g = graph_new();
    for (size_t i = 0; i < from->count; i++) {
        const struct graph_node *old = from->nodes[i];
        struct graph_node *n = add_node(g, old->type);
        struct rt_work work;
        work_clone(&work, &old->work);
        graph_set_work(n, &work);
        n->origin = old->origin;
        n->disabled = old->disabled;
        n->alloc = old->alloc;
        if (n->alloc.dptr)
            rt_keep_graph_memory(n->alloc.dptr);
        n->event = old->event;
        if (n->event)
            event_keep(n->event);
        if (old->child) {
            n->child = graph_clone(old->child);
            n->child->owner = n;
        }
    }
    for (size_t i = 0; i < from->count; i++)
        for (size_t k = 0; k < from->nodes[i]->after_count; k++)
            graph_add_edge(graph_counterpart(g, from->nodes[i]->after[k]), g->nodes[i]);
    user_objects_clone(g, from);
    return g;
}

enum cudaGraphNodeType graph_type_of(const struct rt_work *work)
{
    static const enum cudaGraphNodeType types[] = {
        [WORK_NOTHING] = cudaGraphNodeTypeEmpty,      [WORK_KERNEL] = cudaGraphNodeTypeKernel,
        [WORK_COPY] = cudaGraphNodeTypeMemcpy,        [WORK_FILL] = cudaGraphNodeTypeMemset,
        [WORK_HOST] = cudaGraphNodeTypeHost,          [WORK_CALLBACK] = cudaGraphNodeTypeHost,
        [WORK_ALLOCATE] = cudaGraphNodeTypeMemAlloc,  [WORK_FREE] = cudaGraphNodeTypeMemFree,
        [WORK_RECORD] = cudaGraphNodeTypeEventRecord,
    };
    return types[work->kind];
}

void graph_set_work(struct graph_node *n, struct rt_work *work)
{
    work_release(&n->work);
    free(n->args);
    n->args = NULL;
    n->work = *work;
    if (work->kind != WORK_KERNEL)
        return;
    const struct vm_kernel_info *info = &work->kernel.function->info;
    n->args = new_thing((info->param_count + 1) * sizeof(void *));
    for (uint32_t i = 0; i < info->param_count; i++)
        n->args[i] = n->work.kernel.params + info->param_offsets[i];
}

/* ---- instances ---- */

struct graph_exec *graph_exec_new(const struct graph *g, unsigned long long flags)
{
    struct graph_node **sorted = graph_sort(g, false);
    if (!sorted)
        return NULL;
    free(sorted);
    struct graph_exec *x = new_thing(sizeof *x);
    x->graph = graph_clone(g);
    map_remove(&graphs, x->graph); /* it has no handle */
    x->flags = flags;
    map_put(&execs, x, x);
    return x;
}

void graph_exec_free(struct graph_exec *x)
{
    map_remove(&execs, x);
    graph_free(x->graph);
    stamp_release(&x->last);
    free(x);
}

/* The timeline in which a node runs: of one that it comes after and that nobody continues yet. */
static uint32_t place(struct graph_node *n, uint32_t own, bool *own_taken,
                      const struct stamp *start)
{
    for (size_t i = 0; i < n->after_count; i++) {
        if (!n->after[i]->continued) {
            n->after[i]->continued = true;
            return n->after[i]->timeline;
        }
    }
    if (!*own_taken) {
        *own_taken = true;
        return own;
    }
    return queue_take_timeline(start);
}

static void launch_into(struct graph *g, uint32_t own, const char *name, const struct stamp *start,
                        struct stamp *end);

static void launch_node(struct graph_node *n, const char *name, struct stamp *before)
{
    struct rt_work work;
    if (n->type == cudaGraphNodeTypeWaitEvent)
        stamp_join(before, &n->event->stamp);
    if (n->child && !n->disabled) {
        launch_into(n->child, n->timeline, name, before, &n->done);
        return;
    }
    if (n->disabled || n->type == cudaGraphNodeTypeWaitEvent)
        work = (struct rt_work){.kind = WORK_NOTHING};
    else if (n->type == cudaGraphNodeTypeEventRecord)
        event_prepare_record(n->event, &work);
    else
        work_clone(&work, &n->work);
    queue_submit_at(n->timeline, name, before, &work, &n->done);
    if (n->type == cudaGraphNodeTypeEventRecord && !n->disabled)
        stamp_copy(&n->event->stamp, &n->done);
}

/* All nodes behind `start`; `end` gets what comes after all of them. */
static void launch_into(struct graph *g, uint32_t own, const char *name, const struct stamp *start,
                        struct stamp *end)
{
    bool random = vm_config(rt.vm)->stream_order == WIRE_STREAMS_RANDOM;
    struct graph_node **sorted = graph_sort(g, random);
    struct stamp before = {0}, all = {0};
    bool own_taken = false;
    stamp_copy(&all, start);
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->continued = false;
    for (size_t i = 0; sorted && i < g->count; i++) {
        struct graph_node *n = sorted[i];
        if (!n)
            BUG("a sorted graph lacks nodes");
        stamp_copy(&before, start);
        for (size_t k = 0; k < n->after_count; k++)
            stamp_join(&before, &n->after[k]->done);
        n->timeline = place(n, own, &own_taken, start);
        launch_node(n, name, &before);
        stamp_join(&all, &n->done);
    }
    for (size_t i = 0; i < g->count; i++)
        if (!g->nodes[i]->continued && g->nodes[i]->timeline != own)
            queue_give_timeline(g->nodes[i]->timeline);
    struct rt_work join = {.kind = WORK_NOTHING};
    queue_submit_at(own, name, &all, &join, end);
    stamp_release(&before);
    stamp_release(&all);
    free(sorted);
}

cudaError_t graph_launch(struct graph_exec *x, struct rt_stream *s)
{
    struct stamp start = {0};
    if (s->capture)
        return capture_refuse(s,
                              "a graph cannot be launched into a capture: add it to the captured "
                              "graph as a child graph node");
    cudaError_t error = capture_check_legacy(s);
    if (error != cudaSuccess)
        return error;
    queue_stamp(s, &start);
    stamp_join(&start, &x->last);
    launch_into(x->graph, s->timeline, s->name, &start, &s->stamp);
    stamp_copy(&x->last, &s->stamp);
    stamp_release(&start);
    return cudaSuccess;
}

void graph_release_all(void)
{
    size_t position = 0;
    for (struct graph_exec *x; (x = map_next(&execs, &position));)
        graph_exec_free(x);
    for (struct graph *g; position = 0, (g = map_next(&graphs, &position));) {
        while (g->owner)
            g = g->owner->graph;
        graph_free(g);
    }
}
