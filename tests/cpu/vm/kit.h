/* kit: what the vm's tests share: a device with one module, buffers, launches. */
#ifndef TESTS_CPU_VM_KIT_H
#define TESTS_CPU_VM_KIT_H

#include "cpu/vm/vm.h"

struct kit {
    struct vm *vm;
    struct vm_module *module;
};

/* Loads PTX text; prints the error and exits if it cannot be read. */
void kit_open(struct kit *k, const char *ptx);
/* The same from TEST_FOLDER/<name>. */
void kit_open_file(struct kit *k, const char *name);
void kit_close(struct kit *k);

/* A kernel around `body`: `.visible .entry k(.param .u64 p0, ... u64 p3)`, with registers %p<32>,
 * %h<32> (16 bits), %r<64>, %q<64> (64 bits), %f<32>, %d<32> and 1 KB of shared memory `s`. */
void kit_open_body(struct kit *k, const char *body);

void kit_configure(struct kit *k, enum wire_schedule schedule, uint32_t checks, uint64_t seed);
/* Device memory with the given contents (NULL: undefined). */
uint64_t kit_buffer(struct kit *k, const void *contents, size_t bytes, const char *name);
void *kit_bytes(struct kit *k, uint64_t address, size_t bytes);
/* Every argument is passed as 8 bytes; kernels with narrower ones read the low part. */
enum vm_status kit_launch(struct kit *k, const char *kernel, uint32_t grid, uint32_t block,
                          const uint64_t *args, size_t count);

/* How many findings of a kind there are, and the first one's line. */
size_t kit_count(struct kit *k, enum finding_kind kind);
bool kit_find(struct kit *k, enum finding_kind kind, struct wire_finding *out);
void kit_print(struct kit *k);

#endif
