/* module: freeing a module without touching device memory. The rest is in vm.h and machine.h. */
#ifndef CPU_VM_MODULE_H
#define CPU_VM_MODULE_H

#include "cpu/vm/machine.h"

void vm_module_release(struct vm_module *module);

#endif
