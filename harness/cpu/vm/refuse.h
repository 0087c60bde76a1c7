/* refuse: why an instruction is not there, in words for the person who wrote the kernel. */
#ifndef CPU_VM_REFUSE_H
#define CPU_VM_REFUSE_H

/* For an opcode with all suffixes, or the statement of one that the parser does not know. NULL:
 * nothing is known about it. */
const char *vm_refusal(const char *text);

#endif
