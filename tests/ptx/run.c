/* Runs one case. The case's body becomes a kernel:
 *
 *   load %a0, %a1, ... (from memory, from parameters, or as immediates)
 *   [@masked bra OUT]
 *   { body }
 *   store %d0, %d1, ...
 *   OUT: ret
 *
 * Rows in memory: eight bytes per thread, row after row, MAX_VALUES threads to a row. */
#include "case.h"
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>

enum source { FROM_MEMORY, FROM_PARAMETERS, AS_IMMEDIATES };
enum { SLOT_BYTES = 8, ROW_BYTES = MAX_VALUES * SLOT_BYTES, BUFFER_BYTES = MAX_ROWS * ROW_BYTES };
enum { POISON = 0xa5, MASK_MODULO = 3, STEP_LIMIT = 200000 };

struct way { /* one way of running a case */
    enum source source;
    bool masked;
    uint32_t threads;
    uint32_t lane; /* of parameters and immediates: whose values every thread gets */
    enum wire_schedule schedule;
};

struct parameters {
    uint64_t in, out, memory, values[MAX_ROWS];
};

static uint64_t value_bits(const struct row *row, uint32_t thread)
{
    return row->values[thread % row->count].bits;
}

/* ---- the kernel's text ---- */

static void add_registers(struct text *t, const struct ptx_case *c)
{
    text_add(t, ".reg .b64 %in, %out, %mem, %io_d; .reg .b32 %thread, %io_r; .reg .pred %io_p;\n");
    for (int i = 0; i < MAX_ROWS; i++) {
        if (c->in[i].used)
            text_addf(t, ".reg .%s %%a%d;\n", register_type(c->in[i].type), i);
        if (c->out[i].used)
            text_addf(t, ".reg .%s %%d%d;\n", register_type(c->out[i].type), i);
    }
}

/* The type that ld and st use for a row's type: the 16-bit floats and pairs move as bits. */
static const char *move_type(enum ptx_type t)
{
    switch ((int)t) {
    case PTX_PRED:
        return "u32";
    case PTX_F16:
    case PTX_BF16:
        return "b16";
    case PTX_F16X2:
    case PTX_BF16X2:
        return "b32";
    default:
        return type_name(t);
    }
}

static void add_input(struct text *t, const struct row *row, int i, const struct way *way)
{
    char target[16];
    bool pred = row->type == PTX_PRED;
    snprintf(target, sizeof target, pred ? "%%io_r" : "%%a%d", i);
    if (way->source == FROM_MEMORY) {
        text_addf(t, "ld.global.%s %s, [%%in+%d];\n", move_type(row->type), target, i * ROW_BYTES);
    } else if (way->source == FROM_PARAMETERS) {
        text_addf(t, "ld.param.%s %s, [v%d];\n", move_type(row->type), target, i);
    } else {
        uint64_t bits = value_bits(row, way->lane);
        const char *reg = register_type(row->type);
        if (memory_bytes(row->type) == 1 && ptx_type_is_signed(row->type))
            bits = (uint64_t)(int64_t)(int8_t)bits & 0xffffffff;
        if (pred)
            text_addf(t, "mov.u32 %s, %llu;\n", target, (unsigned long long)bits);
        else if (row->type == PTX_F32)
            text_addf(t, "mov.f32 %s, 0f%08llX;\n", target, (unsigned long long)bits);
        else if (row->type == PTX_F64)
            text_addf(t, "mov.f64 %s, 0d%016llX;\n", target, (unsigned long long)bits);
        else
            text_addf(t, "mov.%s %s, 0x%llx;\n", reg, target, (unsigned long long)bits);
    }
    if (pred)
        text_addf(t, "setp.ne.u32 %%a%d, %%io_r, 0;\n", i);
}

static void add_output(struct text *t, const struct row *row, int i)
{
    if (row->type == PTX_PRED)
        text_addf(t, "selp.u32 %%io_r, 1, 0, %%d%d;\nst.global.u32 [%%out+%d], %%io_r;\n", i,
                  i * ROW_BYTES);
    else
        text_addf(t, "st.global.%s [%%out+%d], %%d%d;\n", move_type(row->type), i * ROW_BYTES, i);
}

static void write_kernel(struct text *t, const struct ptx_case *c, const struct way *way)
{
    text_addf(t, ".version 9.0\n.target sm_90\n.address_size 64\n%s", text_str(&c->module));
    text_add(t, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 memory");
    for (int i = 0; i < MAX_ROWS; i++)
        text_addf(t, ", .param .b64 v%d", i);
    text_add(t, ")\n{\n");
    add_registers(t, c);
    text_add(t, "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nld.param.u64 %mem, [memory];\n"
                "mov.u32 %thread, %ctaid.x;\nmov.u32 %io_r, %ntid.x;\n"
                "mul.lo.u32 %thread, %thread, %io_r;\nmov.u32 %io_r, %tid.x;\n"
                "add.u32 %thread, %thread, %io_r;\n"
                "mul.wide.u32 %io_d, %thread, 8;\nadd.u64 %in, %in, %io_d;\n"
                "add.u64 %out, %out, %io_d;\n");
    for (int i = 0; i < MAX_ROWS; i++) {
        if (c->in[i].used)
            add_input(t, &c->in[i], i, way);
    }
    if (way->masked)
        text_addf(t,
                  "rem.u32 %%io_r, %%thread, %d;\nsetp.eq.u32 %%io_p, %%io_r, 1;\n"
                  "@%%io_p bra END_OF_CASE;\n",
                  MASK_MODULO);
    text_addf(t, "{\n%s}\n", text_str(&c->body));
    for (int i = 0; i < MAX_ROWS; i++) {
        if (c->out[i].used)
            add_output(t, &c->out[i], i);
    }
    text_add(t, "END_OF_CASE:\nret;\n}\n");
}

void case_text(const struct ptx_case *c, struct text *out)
{
    write_kernel(out, c, &(struct way){.threads = c->threads});
}

/* ---- one run ---- */

static const char *describe(const struct way *way, char *out, size_t bytes)
{
    static const char *const sources[] = {"", ", inputs as parameters of lane ",
                                          ", inputs as immediates of lane "};
    char lane[16] = "";
    if (way->source != FROM_MEMORY)
        snprintf(lane, sizeof lane, "%u", way->lane);
    snprintf(out, bytes, "%u threads, %s%s%s%s", way->threads, wire_schedule_name(way->schedule),
             way->masked ? ", every third lane masked" : "", sources[way->source], lane);
    return out;
}

struct run {
    struct vm *vm;
    const char *file;
    const struct ptx_case *c;
    const struct way *way;
    uint64_t in, out, memory; /* device addresses */
    unsigned complaints;
};

static void complain(struct run *r, const char *what)
{
    char way[160];
    if (r->complaints++ < 4 && !r->c->known)
        printf("%s:%u: %s (%s): %s\n", r->file, r->c->line, r->c->name,
               describe(r->way, way, sizeof way), what);
}

static void fill_inputs(struct run *r, struct parameters *params)
{
    uint8_t *in = vm_bytes(r->vm, r->in, BUFFER_BYTES);
    memset(in, 0, BUFFER_BYTES);
    memset(vm_bytes(r->vm, r->out, BUFFER_BYTES), POISON, BUFFER_BYTES);
    uint8_t *memory = vm_bytes(r->vm, r->memory, MEMORY_BYTES);
    memset(memory, 0, MEMORY_BYTES);
    *params = (struct parameters){.in = r->in, .out = r->out, .memory = r->memory};
    for (uint32_t i = 0; i < MAX_ROWS; i++) {
        const struct row *row = &r->c->in[i];
        if (!row->used)
            continue;
        for (uint32_t t = 0; t < MAX_VALUES; t++) {
            uint64_t bits = value_bits(row, t);
            memcpy(in + (size_t)i * ROW_BYTES + (size_t)t * SLOT_BYTES, &bits, sizeof bits);
        }
        params->values[i] = value_bits(row, r->way->lane);
    }
    unsigned bytes = r->c->memory.used ? memory_bytes(r->c->memory.type) : 0;
    for (uint32_t i = 0; i < r->c->memory.count; i++)
        memcpy(memory + (size_t)i * bytes, &r->c->memory.values[i].bits, bytes);
    vm_mark_defined(r->vm, r->in, BUFFER_BYTES);
    vm_mark_defined(r->vm, r->memory, MEMORY_BYTES);
    vm_mark_defined(r->vm, r->out, BUFFER_BYTES);
}

static void complain_value(struct run *r, const char *where, uint32_t index,
                           const struct value *expected, uint64_t got, enum ptx_type type)
{
    char want[64], have[64], text[256];
    value_print(expected->bits, type, want, sizeof want);
    value_print(got, type, have, sizeof have);
    snprintf(text, sizeof text, "%s[%u]: got %s, expected %s%s", where, index, have,
             expected->match == MATCH_NAN ? "any NaN, not bits of " : "", want);
    complain(r, text);
}

/* As a multiset: each value got is struck from the expected ones. */
static void compare_sorted(struct run *r, const struct row *row, const char *where,
                           const uint64_t *got, uint32_t count)
{
    bool struck[MAX_VALUES] = {false};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = 0;
        while (j < count && (struck[j] || value_bits(row, j) != got[i]))
            j++;
        if (j == count) {
            char text[128];
            snprintf(text, sizeof text,
                     "%s[%u]: %llu is not among the expected values, or too often", where, i,
                     (unsigned long long)got[i]);
            complain(r, text);
            return;
        }
        struck[j] = true;
    }
}

static void compare_output(struct run *r, uint32_t index, uint32_t threads)
{
    const struct row *row = &r->c->out[index];
    const uint8_t *from = vm_bytes(r->vm, r->out + (uint64_t)index * ROW_BYTES, ROW_BYTES);
    unsigned bytes = memory_bytes(row->type);
    uint64_t got[MAX_VALUES] = {0}, untouched;
    char where[8];
    snprintf(where, sizeof where, "d%u", index);
    memset(&untouched, POISON, sizeof untouched);
    for (uint32_t t = 0; t < threads; t++) {
        memcpy(&got[t], from + (size_t)t * SLOT_BYTES, bytes);
        uint32_t source = r->way->source == FROM_MEMORY ? t : r->way->lane;
        const struct value *expected = &row->values[source % row->count];
        if (r->way->masked && t % MASK_MODULO == 1) {
            if (memcmp(from + (size_t)t * SLOT_BYTES, &untouched, bytes) != 0)
                complain(r, "a lane that was masked off stored its output");
        } else if (!row->sorted && !value_matches(expected, got[t], row->type)) {
            complain_value(r, where, t, expected, got[t], row->type);
        }
    }
    if (row->sorted)
        compare_sorted(r, row, where, got, threads);
}

static void compare_memory(struct run *r)
{
    const struct row *row = &r->c->memory_after;
    const uint8_t *memory = vm_bytes(r->vm, r->memory, MEMORY_BYTES);
    unsigned bytes = row->used ? memory_bytes(row->type) : 0;
    for (uint32_t i = 0; i < row->count; i++) {
        uint64_t got = 0;
        memcpy(&got, memory + (size_t)i * bytes, bytes);
        if (!value_matches(&row->values[i], got, row->type))
            complain_value(r, "mem_after", i, &row->values[i], got, row->type);
    }
}

static void compare_findings(struct run *r)
{
    struct wire_finding found[16];
    size_t count = vm_findings(r->vm, found, 16);
    char wanted[256], *save = NULL;
    bool seen[16] = {false};
    snprintf(wanted, sizeof wanted, "%s", r->c->finds);
    for (char *name = strtok_r(wanted, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        bool any = false;
        for (size_t i = 0; i < count && i < 16; i++) {
            bool same = strcmp(finding_name((enum finding_kind)found[i].kind), name) == 0;
            any |= same;
            seen[i] |= same;
        }
        if (!any) {
            char text[128];
            snprintf(text, sizeof text, "the finding '%.60s' is missing", name);
            complain(r, text);
        }
    }
    for (size_t i = 0; i < count && i < 16; i++) {
        if (!seen[i]) {
            char text[700];
            snprintf(text, sizeof text, "unexpected finding %s: %s",
                     finding_name((enum finding_kind)found[i].kind), found[i].message);
            complain(r, text);
        }
    }
}

static void launch(struct run *r, struct vm_module *module, const struct parameters *params)
{
    struct vm_kernel *kernel = vm_module_kernel(module, "k");
    struct vm_launch l = {
        .grid = {r->c->blocks, 1, 1}, .block = {r->way->threads, 1, 1}, .params = params};
    struct wire_device_config config = {.schedule = (uint32_t)r->way->schedule,
                                        .checks = WIRE_CHECK_DEFAULT,
                                        .schedule_seed = 7,
                                        .step_limit = STEP_LIMIT};
    char text[96];
    vm_configure(r->vm, &config);
    enum vm_status status = vm_launch(r->vm, kernel, &l);
    vm_reset(r->vm);
    compare_findings(r);
    if (status != r->c->status) {
        snprintf(text, sizeof text, "the launch ended with status %d, expected %d", (int)status,
                 (int)r->c->status);
        complain(r, text);
    }
    if (status != VM_OK || r->complaints)
        return;
    for (uint32_t i = 0; i < MAX_ROWS; i++) {
        if (r->c->out[i].used)
            compare_output(r, i, r->way->threads * r->c->blocks);
    }
    if (!r->way->masked && r->way->source == FROM_MEMORY)
        compare_memory(r);
}

static unsigned run_once(struct vm *vm, const char *file, const struct ptx_case *c,
                         const struct way *way)
{
    struct run r = {.vm = vm, .file = file, .c = c, .way = way};
    struct arena arena;
    struct ptx_module ptx;
    struct text text;
    struct err e = {""};
    struct parameters params;
    struct vm_module *module = NULL;
    arena_init(&arena);
    text_init(&text);
    write_kernel(&text, c, way);
    r.in = vm_malloc(vm, BUFFER_BYTES);
    r.out = vm_malloc(vm, BUFFER_BYTES);
    r.memory = vm_malloc(vm, MEMORY_BYTES);
    if (!r.in || !r.out || !r.memory)
        complain(&r, "out of device memory");
    else if (ptx_parse(text_str(&text), text.length, &arena, &ptx, &e) ||
             !(module = vm_module_load(vm, &ptx, &arena, &e)))
        complain(&r, e.text);
    if (module) {
        fill_inputs(&r, &params);
        launch(&r, module, &params);
        vm_module_unload(vm, module);
    }
    vm_free_memory(vm, r.in);
    vm_free_memory(vm, r.out);
    vm_free_memory(vm, r.memory);
    text_release(&text);
    arena_release(&arena);
    return r.complaints > 0;
}

static unsigned run_every_way(struct vm *vm, const char *file, const struct ptx_case *c)
{
    static const enum wire_schedule schedules[] = {WIRE_IN_ORDER, WIRE_REVERSED, WIRE_RANDOM,
                                                   WIRE_INTERLEAVED};
    unsigned failed = 0;
    for (int i = 0; i < 4; i++) {
        struct way way = {.threads = c->threads, .schedule = schedules[i]};
        /* It looks at answers; races are for the other schedules. Lanes need not run together. */
        if (way.schedule == WIRE_INTERLEAVED &&
            (strstr(c->finds, "data_race") || strstr(text_str(&c->body), "activemask")))
            continue;
        failed += run_once(vm, file, c, &way);
    }
    if (!c->lanewise || failed)
        return failed;
    struct way few = {.threads = 7}, masked = {.threads = c->threads, .masked = true};
    failed += run_once(vm, file, c, &few);
    failed += run_once(vm, file, c, &masked);
    for (uint32_t lane = 0; lane < c->threads && !failed; lane += 5) {
        struct way parameters = {.source = FROM_PARAMETERS, .threads = c->threads, .lane = lane};
        struct way immediates = {.source = AS_IMMEDIATES, .threads = c->threads, .lane = lane};
        failed += run_once(vm, file, c, &parameters);
        failed += run_once(vm, file, c, &immediates);
    }
    return failed;
}

unsigned case_run(struct vm *vm, const char *file, const struct ptx_case *c)
{
    unsigned failed = run_every_way(vm, file, c);
    if (!c->known)
        return failed;
    if (failed == 0)
        printf("%s:%u: %s: holds now; remove the line 'known: %s'\n", file, c->line, c->name,
               c->known);
    return failed == 0;
}
