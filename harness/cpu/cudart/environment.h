/* environment: how the device is set up, and findings shown, in a program that runs without our
 * runner (judge exec): by SCANJUDGE_... variables.
 *
 *   SCANJUDGE_SCHEDULE  in-order | reversed | random | last-first | interleaved
 *   SCANJUDGE_SEED      a number, for random
 *   SCANJUDGE_CHECKS    bounds,uninitialized,races,sync,global-races,counters | default | all
 *   SCANJUDGE_SOURCE    base name of the source file whose lines findings prefer
 *   SCANJUDGE_REPORT    1: findings go to stderr when the program ends or crashes
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
