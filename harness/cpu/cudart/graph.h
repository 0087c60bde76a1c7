/* graph: nodes of work and what each comes after; instances of it that run in streams.
 *
 * A graph owns its nodes, a node the graph of a child node. An instance is a clone: changing the
 * graph later changes nothing for it. Nodes are found in a clone by the identity that they share
 * with the node they were cloned from. Under the runtime's lock. */
#ifndef CPU_CUDART_GRAPH_H
#define CPU_CUDART_GRAPH_H

#include "cpu/cudart/queue.h"

struct graph;

struct graph_node {
    struct graph *graph;
    uint64_t id, origin; /* origin: the id of the node it was cloned from, else its own */
    enum cudaGraphNodeType type;
    struct rt_work work;       /* of kernel, copy, fill, host and memory nodes */
    struct graph *child;       /* owned; of a child graph node */
    struct rt_event *event;    /* a reference; of event nodes */
    bool disabled;             /* in an instance: only its place counts */
    struct graph_node **after; /* what it comes after */
    size_t after_count, after_capacity;
    void **args; /* of a kernel node: pointers into work.kernel.params, for GetParams */
    struct cudaMemAllocNodeParams alloc; /* of a memory allocation node */
    /* While its graph is sorted or launched. */
    size_t waits;
    bool continued;
    uint32_t timeline;
    struct stamp done;
};

struct graph_user_object { /* what a graph keeps alive */
    struct user_object *object;
    unsigned count;
};

struct graph {
    struct graph_node **nodes; /* as they were added */
    size_t count, capacity;
    struct graph_node *owner; /* the child graph node that this is the graph of, or NULL */
    struct graph_user_object *objects;
    size_t object_count;
    bool capturing; /* a capture adds to it */
};

struct graph_exec {
    struct graph *graph;
    unsigned long long flags;
    struct stamp last; /* of its last launch: it never runs beside itself */
};

/* ---- handles; NULL = no live one ---- */

struct graph *graph_find(cudaGraph_t handle);
struct graph_node *graph_find_node(cudaGraphNode_t handle);
struct graph_exec *graph_find_exec(cudaGraphExec_t handle);

/* `count` nodes of `g`, each named once; the caller frees the list (NULL with an error). */
cudaError_t graph_find_set(const struct graph *g, const cudaGraphNode_t *handles, size_t count,
                           struct graph_node ***out);

static inline cudaGraphNode_t graph_node_handle(struct graph_node *node)
{
    return (cudaGraphNode_t)(void *)node;
}

/* ---- structure ---- */

struct graph *graph_new(void);
void graph_free(struct graph *g);
/* Takes over `work`. The dependencies are nodes of `g`, each named once. */
struct graph_node *graph_add(struct graph *g, enum cudaGraphNodeType type, struct rt_work *work,
                             struct graph_node *const *after, size_t count);
void graph_remove(struct graph_node *node);
bool graph_has_edge(const struct graph_node *from, const struct graph_node *to);
void graph_add_edge(struct graph_node *from, struct graph_node *to);
bool graph_remove_edge(struct graph_node *from, struct graph_node *to);
/* Is there a way from `from` to `to`? */
bool graph_reaches(const struct graph_node *from, const struct graph_node *to);
struct graph *graph_clone(const struct graph *g);
/* The node of `g` or of its child graphs that is, or was cloned from, the same node as `node`. */
struct graph_node *graph_counterpart(const struct graph *g, const struct graph_node *node);
/* All nodes, each behind those that it comes after, `count` of them; NULL: there is a circle. The
 * caller frees it. Among nodes that are free to go, `random` draws instead of keeping their order.
 */
struct graph_node **graph_sort(const struct graph *g, bool random);
/* The kind of node that `work` makes. */
enum cudaGraphNodeType graph_type_of(const struct rt_work *work);
/* Replaces what a node does. Takes over `work`. */
void graph_set_work(struct graph_node *node, struct rt_work *work);

/* ---- instances ---- */

struct graph_exec *graph_exec_new(const struct graph *g, unsigned long long flags);
void graph_exec_free(struct graph_exec *x);
/* Queues all of it behind the stream. */
cudaError_t graph_launch(struct graph_exec *x, struct rt_stream *s);
void graph_release_all(void); /* cudaDeviceReset */

/* ---- user objects (user_object.c) ---- */

void user_objects_clone(struct graph *to, const struct graph *from);
void user_objects_release(struct graph *g);

#endif
