/* capture: streams whose work goes into a graph instead of their queue.
 *
 * A capture begins in one stream; another stream joins it when it waits for an event that was
 * recorded in it. A call that a capture forbids fails and makes the capture invalid, which
 * cudaStreamEndCapture() then reports. Which calls those are depends on the mode and was compared
 * with CUDA 13.0 on an H200 (tests/cpu/cudart/programs/stream_answers.cu). */
#ifndef CPU_CUDART_CAPTURE_H
#define CPU_CUDART_CAPTURE_H

#include "cpu/cudart/event.h"
#include "cpu/cudart/graph.h"
#include "cpu/cudart/queue.h"

/* Adds a node for `work` (taken over) behind what the stream captured last. */
cudaError_t capture_add(struct rt_stream *s, struct rt_work *work);

/* The error of a call that a capture in progress forbids, or cudaSuccess: */
cudaError_t capture_check_unsafe(void);                      /* cudaMalloc and its like */
cudaError_t capture_check_device(void);                      /* cudaDeviceSynchronize */
cudaError_t capture_check_wait(struct rt_stream *s);         /* looks at a stream, or waits */
cudaError_t capture_check_event(struct rt_event *v);         /* looks at an event, or waits */
cudaError_t capture_check_legacy(const struct rt_stream *s); /* work for this stream */
/* The capturing stream cannot capture this kind of work. */
cudaError_t capture_refuse(struct rt_stream *s, const char *why);

/* cudaEventRecord() in a capturing stream. */
cudaError_t capture_record_event(struct rt_stream *s, struct rt_event *v, bool external);
/* cudaStreamWaitEvent() where the stream or the event's last record is captured. */
cudaError_t capture_wait_event(struct rt_stream *s, struct rt_event *v, bool external);
/* The stream vanishes. */
void capture_abandon(struct rt_stream *s);

#endif
