/* leak: memory, streams and events that the program makes in every call of its entry and never
 * gives back. */
#ifndef CPU_CUDART_LEAK_H
#define CPU_CUDART_LEAK_H

/* Once per call of the entry, when that has ended: warnings when any of them pile up from call to
 * call. What is made once and kept is none. */
void leak_report(void);

#endif
