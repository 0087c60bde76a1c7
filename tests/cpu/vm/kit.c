#include "kit.h"

#include "base/file.h"
#include "cpu/vm/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kit_open(struct kit *k, const char *ptx)
{
    struct err e;
    struct arena arena;
    struct ptx_module module;
    arena_init(&arena);
    k->vm = vm_new(&vm_limits_default, &e);
    if (!k->vm || ptx_parse(ptx, strlen(ptx), &arena, &module, &e) != 0 ||
        !(k->module = vm_module_load(k->vm, &module, &arena, &e))) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    const char *isa = getenv("VM_TEST_ISA");
#if defined(__x86_64__)
    if (isa && strcmp(isa, "v2") == 0)
        vm_use_exec(k->vm, &vm_exec_v2);
    if (isa && strcmp(isa, "v3") == 0)
        vm_use_exec(k->vm, &vm_exec_v3);
#else
    (void)isa;
#endif
}

void kit_open_file(struct kit *k, const char *name)
{
    char path[512];
    struct text text;
    struct err e;
    snprintf(path, sizeof path, "%s/%s", TEST_FOLDER, name);
    text_init(&text);
    if (file_read(path, 1 << 24, &text, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    kit_open(k, text_str(&text));
    text_release(&text);
}

void kit_open_body(struct kit *k, const char *body)
{
    struct text t;
    text_init(&t);
    text_addf(&t,
              ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
              ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n"
              "{\n.reg .pred %%p<32>;\n.reg .b16 %%h<32>;\n.reg .b32 %%r<64>;\n"
              ".reg .b64 %%q<64>;\n.reg .f32 %%f<32>;\n.reg .f64 %%d<32>;\n"
              ".shared .align 16 .b8 s[1024];\n%s\n}\n",
              body);
    kit_open(k, text_str(&t));
    text_release(&t);
}

void kit_close(struct kit *k)
{
    vm_free(k->vm);
    *k = (struct kit){0};
}

void kit_configure(struct kit *k, enum wire_schedule schedule, uint32_t checks, uint64_t seed)
{
    struct wire_device_config c = {
        .schedule = schedule, .checks = checks, .schedule_seed = seed, .step_limit = 200000000};
    snprintf(c.source_file, sizeof c.source_file, "k.cu");
    vm_configure(k->vm, &c);
}

uint64_t kit_buffer(struct kit *k, const void *contents, size_t bytes, const char *name)
{
    uint64_t address = vm_malloc(k->vm, bytes);
    if (!address) {
        fprintf(stderr, "no device memory for %zu bytes\n", bytes);
        exit(1);
    }
    if (contents) {
        memcpy(vm_bytes(k->vm, address, bytes), contents, bytes);
        vm_mark_defined(k->vm, address, bytes);
    }
    if (name)
        vm_narrow(k->vm, address, bytes, name);
    return address;
}

void *kit_bytes(struct kit *k, uint64_t address, size_t bytes)
{
    return vm_bytes(k->vm, address, bytes);
}

enum vm_status kit_launch(struct kit *k, const char *kernel, uint32_t grid, uint32_t block,
                          const uint64_t *args, size_t count)
{
    struct vm_kernel *function = vm_module_kernel(k->module, kernel);
    if (!function) {
        fprintf(stderr, "no kernel %s\n", kernel);
        exit(1);
    }
    struct vm_kernel_info info;
    uint8_t block_of_params[512] = {0};
    vm_kernel_info(function, &info);
    for (size_t i = 0; i < count && i < info.param_count; i++)
        memcpy(block_of_params + info.param_offsets[i], &args[i], info.param_sizes[i]);
    struct vm_launch launch = {
        .grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = block_of_params};
    return vm_launch(k->vm, function, &launch);
}

size_t kit_count(struct kit *k, enum finding_kind kind)
{
    struct wire_finding list[64];
    size_t n = vm_findings(k->vm, list, 64), count = 0;
    for (size_t i = 0; i < n && i < 64; i++)
        count += list[i].kind == kind;
    return count;
}

bool kit_find(struct kit *k, enum finding_kind kind, struct wire_finding *out)
{
    struct wire_finding list[64];
    size_t n = vm_findings(k->vm, list, 64);
    for (size_t i = 0; i < n && i < 64; i++)
        if (list[i].kind == kind) {
            *out = list[i];
            return true;
        }
    return false;
}

void kit_print(struct kit *k)
{
    struct wire_finding list[64];
    size_t n = vm_findings(k->vm, list, 64);
    for (size_t i = 0; i < n && i < 64; i++)
        fprintf(stderr, "%s %s:%u block (%d,%d,%d) thread (%d,%d,%d) x%u: %s\n",
                finding_name(list[i].kind), list[i].file, list[i].line, list[i].block[0],
                list[i].block[1], list[i].block[2], list[i].thread[0], list[i].thread[1],
                list[i].thread[2], list[i].count, list[i].message);
}
