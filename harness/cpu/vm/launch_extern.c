/* What device code calls that has no body in PTX: printf, assert, malloc; and the clocks. */
#include "cpu/vm/check.h"
#include "cpu/vm/delay.h"

#include <stdio.h>
#include <string.h>

struct reader {
    struct warp *w;
    unsigned lane;
};

static bool read_bytes(void *context, uint64_t address, void *to, uint64_t bytes)
{
    struct reader *r = context;
    return check_peek(r->w, r->lane, address, to, bytes);
}

/* Argument k of one lane. */
static uint64_t argument(const struct warp *w, const struct extern_op *op, unsigned k,
                         unsigned lane)
{
    uint64_t v = 0;
    for (unsigned word = 0; word < op->arg_words[k] && word < 2; word++) {
        uint32_t part;
        memcpy(&part, vm_lane(w->frame, op->args[k] + word * VM_ROW32, lane, false), sizeof part);
        v |= (uint64_t)part << (32 * word);
    }
    return v;
}

static void give(struct warp *w, const struct extern_op *op, unsigned lane, uint64_t v)
{
    for (unsigned word = 0; word < op->result_words && word < 2; word++) {
        uint32_t part = (uint32_t)(v >> (32 * word));
        memcpy(vm_lane(w->frame, op->result + word * VM_ROW32, lane, false), &part, sizeof part);
    }
}

/* A string of the program, as far as it goes. */
static void read_string(struct warp *w, unsigned lane, uint64_t address, char *out, size_t room)
{
    size_t k = 0;
    while (k + 1 < room && check_peek(w, lane, address + k, out + k, 1) && out[k])
        k++;
    out[k] = '\0';
}

static void fail_assert(struct warp *w, const struct insn *i, const struct extern_op *op,
                        unsigned lane)
{
    char what[160], file[160], function[160];
    struct vm_site site;
    read_string(w, lane, argument(w, op, 0, lane), what, sizeof what);
    read_string(w, lane, argument(w, op, 1, lane), file, sizeof file);
    read_string(w, lane, argument(w, op, 3, lane), function, sizeof function);
    vm_site_of(w, vm_pc(w, i), (int)lane, &site);
    vm_report(w->engine->vm, FINDING_assertion, WIRE_ERROR, &site, "assertion `%s` failed in %s",
              what, function);
    /* As the real runtime prints it. */
    fprintf(stderr, "%s:%u: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.\n",
            file, (unsigned)argument(w, op, 2, lane), function, site.block[0], site.block[1],
            site.block[2], site.thread[0], site.thread[1], site.thread[2], what);
    vm_fault(w, VM_ASSERT);
}

static void unknown(struct warp *w, const struct insn *i, const struct extern_op *op, unsigned lane)
{
    struct vm_site site;
    vm_site_of(w, vm_pc(w, i), (int)lane, &site);
    vm_report(w->engine->vm, FINDING_unsupported, WIRE_ERROR, &site,
              "the CPU device does not have the function `%s`", op->name);
    vm_fault(w, VM_TRAP);
}

static uint64_t allocate(struct warp *w, uint64_t bytes)
{
    struct vm *vm = w->engine->vm;
    uint64_t address = vm_malloc(vm, bytes);
    if (address)
        vm_find_allocation(vm, address)->in_kernel = true;
    w->engine->version++;
    return address;
}

/* free() of what malloc() of device code did not give, or has taken back. */
static void refuse_free(struct warp *w, const struct insn *i, unsigned lane, uint64_t address,
                        const struct vm_allocation *a)
{
    struct vm_site site;
    vm_site_of(w, vm_pc(w, i), (int)lane, &site);
    bool again = a && a->freed && a->base == address;
    if (again)
        vm_report(w->engine->vm, FINDING_use_after_free, WIRE_ERROR, &site,
                  "gives 0x%llx back by free(), which was freed before",
                  (unsigned long long)address);
    else
        vm_report(w->engine->vm, FINDING_cuda_error, WIRE_ERROR, &site,
                  "gives 0x%llx to free(): that is %s (only what malloc() in a kernel returned may "
                  "be freed there)",
                  (unsigned long long)address,
                  a && a->in_kernel ? "not the beginning of what malloc() returned"
                  : a               ? "memory that the host allocated"
                                    : "no allocated memory");
    vm_fault(w, VM_ILLEGAL_ADDRESS);
}

static bool release(struct warp *w, const struct insn *i, unsigned lane, uint64_t address)
{
    struct vm_engine *e = w->engine;
    const struct vm_allocation *a = vm_find_allocation(e->vm, address);
    if (!address)
        return true;
    if (!a || !a->in_kernel || !vm_free_memory(e->vm, address)) {
        refuse_free(w, i, lane, address, a);
        return false;
    }
    if (e->code->mem_op_count)
        memset(e->caches, 0, e->code->mem_op_count * sizeof *e->caches);
    return true;
}

void vm_extern_call(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct extern_op *op = (const struct extern_op *)(uintptr_t)i->imm;
    delay_publish(w, m, DELAY_DEVICE); /* they read memory themselves */
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        struct reader reader = {.w = w, .lane = lane};
        switch ((enum vm_extern)op->kind) {
        case VM_EXTERN_PRINTF: {
            int n =
                vm_printf(read_bytes, &reader, argument(w, op, 0, lane), argument(w, op, 1, lane));
            give(w, op, lane, (uint64_t)(uint32_t)n);
            break;
        }
        case VM_EXTERN_ASSERT:
            fail_assert(w, i, op, lane);
            return;
        case VM_EXTERN_MALLOC:
            give(w, op, lane, allocate(w, argument(w, op, 0, lane)));
            break;
        case VM_EXTERN_MALLOC_ALIGNED:
            give(w, op, lane, allocate(w, argument(w, op, 0, lane)));
            break;
        case VM_EXTERN_FREE:
            if (!release(w, i, lane, argument(w, op, 0, lane)))
                return;
            break;
        case VM_EXTERN_UNKNOWN:
            unknown(w, i, op, lane);
            return;
        }
    }
}

uint64_t vm_read_clock(struct warp *w, const struct insn *i)
{
    struct vm_engine *e = w->engine;
    /* The head of the block took the whole block off the budget: give back what is still to come.
     */
    uint64_t turn = (uint64_t)((int64_t)w->turn - w->budget) - e->code->insns[i->b].a + i->a;
    /* A nanosecond per instruction of the device: it moves, and two runs agree. */
    uint64_t ns = e->start_ns + e->total_steps + e->steps + turn + e->time_offset;
    switch ((int)i->x) {
    case PTX_SREG_clock:
    case PTX_SREG_clock64:
        return w->warp_count + turn + e->time_offset;
    case PTX_SREG_clock_hi:
        return (w->warp_count + turn + e->time_offset) >> 32;
    case PTX_SREG_globaltimer_hi:
        return ns >> 32;
    default:
        return ns;
    }
}

void vm_nanosleep(struct warp *w)
{
    w->engine->time_offset += 100;
}
