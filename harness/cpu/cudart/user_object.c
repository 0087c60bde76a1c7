/* User objects: things that live as long as graphs that hold them. The last reference calls the
 * program's function, in the place where it is dropped: CUDA only promises that it is called. */
#include "cpu/cudart/graph.h"

#include <stdlib.h>

struct user_object {
    unsigned count;
    void *pointer;
    cudaHostFn_t destroy;
};

static struct map objects;

static void drop(struct user_object *o, unsigned count)
{
    o->count -= count < o->count ? count : o->count;
    if (o->count > 0)
        return;
    map_remove(&objects, o);
    rt_unlock();
    rt_set_in_callback(true);
    o->destroy(o->pointer);
    rt_set_in_callback(false);
    rt_lock();
    free(o);
}

/* The entry of `o` in a graph, made if `make`. */
static struct graph_user_object *entry(struct graph *g, struct user_object *o, bool make)
{
    for (size_t i = 0; i < g->object_count; i++)
        if (g->objects[i].object == o)
            return &g->objects[i];
    if (!make)
        return NULL;
    g->objects = realloc(g->objects, (g->object_count + 1) * sizeof *g->objects);
    if (!g->objects)
        BUG("out of memory for a graph");
    g->objects[g->object_count] = (struct graph_user_object){o, 0};
    return &g->objects[g->object_count++];
}

void user_objects_clone(struct graph *to, const struct graph *from)
{
    for (size_t i = 0; i < from->object_count; i++) {
        from->objects[i].object->count += from->objects[i].count;
        entry(to, from->objects[i].object, true)->count += from->objects[i].count;
    }
}

void user_objects_release(struct graph *g)
{
    for (size_t i = 0; i < g->object_count; i++)
        if (g->objects[i].count > 0)
            drop(g->objects[i].object, g->objects[i].count);
    free(g->objects);
    g->objects = NULL;
    g->object_count = 0;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *pointer, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess &&
        (!out || !destroy || count == 0 || flags != cudaUserObjectNoDestructorSync))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct user_object *o = malloc(sizeof *o);
    if (!o)
        return rt_leave(cudaErrorMemoryAllocation);
    *o = (struct user_object){count, pointer, destroy};
    map_put(&objects, o, o);
    *out = (cudaUserObject_t)(void *)o;
    return rt_leave(cudaSuccess);
}

/* Begins a call about an object. */
static cudaError_t find(cudaUserObject_t handle, unsigned count, struct user_object **o)
{
    cudaError_t error = rt_enter();
    *o = error == cudaSuccess ? map_get(&objects, handle) : NULL;
    if (error == cudaSuccess && (!*o || count == 0))
        error = cudaErrorInvalidValue;
    return error;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count)
{
    struct user_object *o;
    cudaError_t error = find(handle, count, &o);
    if (error == cudaSuccess)
        o->count += count;
    return rt_leave(error);
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count)
{
    struct user_object *o;
    cudaError_t error = find(handle, count, &o);
    if (error == cudaSuccess)
        drop(o, count);
    return rt_leave(error);
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count,
                                      unsigned flags)
{
    struct user_object *o;
    cudaError_t error = find(handle, count, &o);
    struct graph *g = error == cudaSuccess ? graph_find(graph) : NULL;
    if (error == cudaSuccess && (!g || flags > cudaGraphUserObjectMove))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        entry(g, o, true)->count += count;
        o->count += flags == cudaGraphUserObjectMove ? 0 : count;
    }
    return rt_leave(error);
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count)
{
    struct user_object *o;
    cudaError_t error = find(handle, count, &o);
    struct graph *g = error == cudaSuccess ? graph_find(graph) : NULL;
    struct graph_user_object *held = g ? entry(g, o, false) : NULL;
    if (error == cudaSuccess && (!held || held->count < count))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        held->count -= count;
        drop(o, count);
    }
    return rt_leave(error);
}
