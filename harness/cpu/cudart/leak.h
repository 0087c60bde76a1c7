/* leak: memory that the program allocates in every call of its entry and never frees. */
#ifndef CPU_CUDART_LEAK_H
#define CPU_CUDART_LEAK_H

/* Once per call of the entry, when that has ended: a warning when allocations pile up from call to
 * call. What is allocated once and kept is none. */
void leak_report(void);

#endif
