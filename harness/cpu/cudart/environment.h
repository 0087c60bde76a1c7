/* environment: how the device is set up, and findings shown, in a program that runs without our
 * runner (judge exec): by SCANJUDGE_... variables.
 *
 *   SCANJUDGE_SCHEDULE  a name of wire/schedules.def
 *   SCANJUDGE_SEED      a number: for random and interleaved, and what else is drawn
 *   SCANJUDGE_DELAY_STORES  1: plain stores reach other threads late
 *   SCANJUDGE_RESIDENT  how many blocks are resident at first; 0: as many as fit
 *   SCANJUDGE_STREAM_ORDER  a name of wire/stream_orders.def
 *   SCANJUDGE_THREADS   host threads that run blocks; 0: one per processor
 *   SCANJUDGE_CHECKS    names of wire/checks.def with commas between them
 *   SCANJUDGE_SOURCE    base name of the source file whose lines findings prefer
 *   SCANJUDGE_REPORT    1: findings go to stderr when the program ends or crashes
 *   SCANJUDGE_PROFILE   a file that gets a struct wire_profile when the program ends
 *   SCANJUDGE_TRACE     the same with a struct wire_trace
 *   SCANJUDGE_STEP_LIMIT  most warp instructions of one launch
 *
 * A value that is none of these is named on stderr and ignored. */
#ifndef CPU_CUDART_ENVIRONMENT_H
#define CPU_CUDART_ENVIRONMENT_H

#include "wire/wire.h"

/* Fills `config`, with defaults where nothing is set. */
void environment_read(struct wire_device_config *config);

/* Installs what SCANJUDGE_REPORT asks for. Called once, with the device made. */
void environment_start_report(void);

#endif
