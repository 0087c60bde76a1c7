/* helper: a thread of ours, started when first needed. It runs host functions, and what is queued
 * when the program has made no call for a while. Call with the runtime's lock held. */
#ifndef CPU_CUDART_HELPER_H
#define CPU_CUDART_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* Has the thread call job(number), with the lock held, after the jobs before it. false: there can
 * be no thread. */
bool helper_do(void (*job)(uint32_t number), uint32_t number);
/* From now on, while step() says that there is more, an idle program gets it done a step at a time.
 */
void helper_watch(bool (*step)(void));

#endif
