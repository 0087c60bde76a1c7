/* queue: the streams' queues, and when what is in them runs.
 *
 * Each stream has a timeline (order.h): a list of operations, done in order. An operation is
 * submitted with a stamp of all that comes before it: its stream, events that the stream waited
 * for, the default stream's rules, what the host has waited for. It may run as soon as all of that
 * is done; when it does run says wire_device_config.stream_order:
 *
 *   WIRE_STREAMS_EAGER   at its submission
 *   WIRE_STREAMS_LATE    when somebody waits for it, or for something behind it
 *   WIRE_STREAMS_RANDOM  some of what is queued at each submission, drawn with the seed
 *
 * All three are what a device may do. A program that is idle for a second while work is queued
 * (it spins on memory that a kernel writes) gets its work done by a thread of ours; host functions
 * run in that thread, too, as CUDA's do in one of CUDA's. Under the runtime's lock, which is given
 * back while a host function runs. */
#ifndef CPU_CUDART_QUEUE_H
#define CPU_CUDART_QUEUE_H

#include "cpu/cudart/order.h"
#include "cpu/cudart/work.h"

struct capture;
struct graph_node;

struct rt_stream {
    cudaStream_t handle; /* what the program knows it by */
    unsigned flags;
    int priority;
    unsigned long long id;
    char name[72]; /* "stream 3", for messages */
    bool blocking; /* ordered with the legacy default stream */
    uint32_t timeline;
    struct stamp stamp; /* what the next operation comes after: all of the stream, waited events */
    /* While it captures, else NULL: the sequence, and what its next node comes after. */
    struct capture *capture;
    struct graph_node **captured;
    size_t captured_count;
};

/* ---- streams as queues ---- */

struct rt_stream *queue_stream_new(unsigned flags, int priority);
/* Work that it still has goes on. */
void queue_stream_free(struct rt_stream *s);
/* The stream of a handle, the three default ones included; NULL = there is none. */
struct rt_stream *queue_find(cudaStream_t stream);

/* ---- work ---- */

/* Puts `work` (taken over) at the end of the stream, or into the graph that the stream captures.
 * Later waits of the host and events see it. */
cudaError_t queue_submit(struct rt_stream *s, struct rt_work *work);
/* The same behind `before` as well, in a timeline of the caller's (a graph's branch). `after` gets
 * the operation's stamp. */
void queue_submit_at(uint32_t timeline, const char *stream_name, const struct stamp *before,
                     struct rt_work *work, struct stamp *after);
/* What the next operation of the stream comes after, the default stream's rules included. */
void queue_stamp(const struct rt_stream *s, struct stamp *out);
/* A timeline that nobody uses and whose work comes before `start` or what the host waited for. */
uint32_t queue_take_timeline(const struct stamp *start);
void queue_give_timeline(uint32_t timeline);

/* Something that the host does itself to device memory, ordered behind all that it waited for. */
void queue_host_operation(const char *what);

/* ---- waiting ---- */

bool queue_done(const struct stamp *stamp);
/* Does what the stamp covers; from then on it comes before everything new. */
void queue_wait(const struct stamp *stamp);
void queue_wait_stream(const struct rt_stream *s);
void queue_wait_all(void);
/* The host has seen, without waiting, that it is done. */
void queue_seen(const struct stamp *stamp);
/* Somebody asked and was told "not ready": now and then a little of it gets done. */
void queue_nudge(const struct stamp *stamp);

/* Random numbers of the order of streams, from the configuration's seed. */
uint64_t queue_draw(uint64_t below);
void queue_restart_draws(void); /* a new configuration: the same seed gives the same order */

/* Does what is queued, for the memory that it gives back; nothing is ordered by that. */
void queue_make_room(void);

/* Drops what is queued of a module's kernels, which are about to vanish. */
void queue_forget_module(const struct rt_module *module);
/* Reports work that no wait of the host has covered (wire_device_hooks.left_behind). */
void queue_report_left_behind(const char *stream_name);
/* Names what is still queued, or "" (when the program ends). Signal-safe enough: no lock. */
void queue_describe_pending(char *out, size_t out_bytes);
void queue_release(
    void); /* cudaDeviceReset: everything is done, all streams but the default's go */

#endif
