/* capture: streams whose work goes into a graph. */
#ifndef CPU_CUDART_CAPTURE_H
#define CPU_CUDART_CAPTURE_H

#include "cpu/cudart/event.h"
#include "cpu/cudart/queue.h"

/* Adds a node for `work` (taken over) behind what the stream captured last. */
cudaError_t capture_add(struct rt_stream *s, struct rt_work *work);
/* For calls that a capture in progress forbids, such as cudaMalloc: the error, or cudaSuccess. */
cudaError_t capture_check_unsafe(void);
/* For calls that look at a stream or wait for it. */
cudaError_t capture_check_wait(struct rt_stream *s);
/* For calls that look at an event or wait for it. */
cudaError_t capture_check_event(struct rt_event *v);
/* The stream cannot capture this kind of work: the capture becomes invalid. */
cudaError_t capture_refuse(struct rt_stream *s);
/* cudaEventRecord() in a capturing stream. */
cudaError_t capture_record_event(struct rt_stream *s, struct rt_event *v);
/* cudaStreamWaitEvent() where the stream or the event's last record is captured. */
cudaError_t capture_wait_event(struct rt_stream *s, struct rt_event *v);
/* The stream vanishes. */
void capture_abandon(struct rt_stream *s);

#endif
