/* memory: life cycle of a vm's device memory. The rest of its interface is in vm.h and machine.h.
 */
#ifndef CPU_VM_MEMORY_H
#define CPU_VM_MEMORY_H

#include "cpu/vm/machine.h"

int vm_memory_init(struct vm *vm, struct err *e);
void vm_memory_release(struct vm *vm);

#endif
