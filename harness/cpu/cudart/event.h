/* event: a point in a stream that others can wait for. */
#ifndef CPU_CUDART_EVENT_H
#define CPU_CUDART_EVENT_H

#include "cpu/cudart/order.h"
#include "cpu/cudart/runtime.h"

struct graph_node;

struct rt_event {
    cudaEvent_t handle;
    unsigned flags;
    unsigned references; /* the program's, and one per queued record */
    uint64_t records;    /* how often it was recorded */
    uint64_t happened;   /* the last of them that is done */
    uint64_t at_ns;      /* when that was */
    struct stamp stamp;  /* what the last record comes after, itself included */
    /* Recorded in a capturing stream: the capture, and the nodes that it stands for. */
    unsigned long long capture_id; /* 0 = not captured */
    struct graph_node **nodes;     /* owned list */
    size_t node_count;
};

/* The live event of a handle, or the error that the call returns. */
cudaError_t event_find(cudaEvent_t event, struct rt_event **out);
void event_keep(struct rt_event *v);
void event_drop(struct rt_event *v); /* frees it with the last reference */
/* The work of its record number `record` has been reached. */
void event_happened(struct rt_event *v, uint64_t record);
/* Makes the work of one more record; the caller sets the stamp when it is queued. */
void event_prepare_record(struct rt_event *v, struct rt_work *work);
void event_release_all(void);

#endif
