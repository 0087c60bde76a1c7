/* Device memory. An address is a number inside one large range that is mapped without access; the
 * bytes live in ordinary memory elsewhere (`host`), so host code that dereferences a device pointer
 * faults instead of reading it. Addresses only ever grow: freed memory is never handed out again,
 * which is a quarantine without end, and its backing is given back at once. Between two allocations
 * lies a red zone as large as the allocation itself (within limits). Definedness is one bit a byte.
 */
#include "cpu/vm/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 256, SLACK = 64, MAP_FROM_BYTES = 64 * 1024, HUGE_FROM_BYTES = 4 << 20 };
#define RED_ZONE_LEAST (64ull << 10)
#define RED_ZONE_MOST  (16ull << 20)
#define SPARE_MOST     (256ull << 20) /* larger mappings are given back at once */
#define WINDOW_HINT    ((void *)0x200000000000)

int vm_memory_init(struct vm *vm, struct err *e)
{
    void *p = MAP_FAILED;
#if !defined(__SANITIZE_THREAD__) /* that has a place of its own for everything */
    p = mmap(WINDOW_HINT, VM_WINDOW_BYTES, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
#endif
    if (p != MAP_FAILED && p != WINDOW_HINT) { /* a kernel that does not know the flag */
        munmap(p, VM_WINDOW_BYTES);
        p = MAP_FAILED;
    }
    if (p == MAP_FAILED)
        p = mmap(NULL, VM_WINDOW_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                 0);
    if (p == MAP_FAILED)
        return err_set_errno(e, "cannot reserve %llu bytes of addresses for the device",
                             VM_WINDOW_BYTES);
    vm->window = (uint64_t)(uintptr_t)p;
    vm->heap_next = vm->window + VM_HEAP_OFFSET + RED_ZONE_LEAST;
    return 0;
}

static uint64_t backing_bytes(const struct vm_allocation *a)
{
    return (a->bytes + SLACK + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Keeps the mapping for a later allocation, in place of the smallest that is kept if there are
 * many. */
static void release_backing(struct vm *vm, struct vm_allocation *a)
{
    if (a->on_host || !a->host)
        return;
    if (a->lent) {
        a->host = NULL;
        return;
    }
    if (!a->mapped) {
        free(a->host);
        a->host = NULL;
        return;
    }
    struct vm_spare *worst = &vm->spares[0], given = {.bytes = a->host, .mapped = a->mapped};
    for (int k = 1; k < VM_SPARES; k++)
        if (vm->spares[k].mapped < worst->mapped)
            worst = &vm->spares[k];
    if (given.mapped > worst->mapped && given.mapped <= SPARE_MOST) {
        struct vm_spare swap = *worst;
        *worst = given;
        given = swap;
    }
    if (given.mapped)
        munmap(given.bytes, given.mapped);
    a->host = NULL;
}

/* In front of the bits stands the word of vm_bits_touch(), in a line of its own. */
enum { BITS_HEADER = 8 };

static uint64_t *new_bits(uint64_t bytes)
{
    uint64_t *p = calloc((size_t)(bytes / 64 + 3 + BITS_HEADER), sizeof(uint64_t));
    return p ? p + BITS_HEADER : NULL;
}

static void free_bits(uint64_t *bits)
{
    if (bits)
        free(bits - BITS_HEADER);
}

static void release_bits(struct vm_allocation *a)
{
    for (uint32_t k = 0; a->own && k < VM_CREW_MOST; k++)
        free_bits(a->own[k]);
    free(a->own);
    free_bits(a->defined);
    a->own = NULL;
    a->defined = NULL;
}

/* A mapping of at least `bytes`: the smallest spare one that fits and is not far too large, or
 * fresh zero pages. */
static uint8_t *map_backing(struct vm *vm, uint64_t bytes, uint64_t *mapped)
{
    struct vm_spare *best = NULL;
    for (int k = 0; k < VM_SPARES; k++) {
        struct vm_spare *s = &vm->spares[k];
        if (s->mapped >= bytes && s->mapped <= 2 * bytes && (!best || s->mapped < best->mapped))
            best = s;
    }
    if (best) {
        uint8_t *p = best->bytes;
        *mapped = best->mapped;
        *best = (struct vm_spare){0};
        return p;
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_FROM_BYTES)
        madvise(p, bytes, MADV_HUGEPAGE); /* a page fault per 2 MB instead of per 4 kB */
    *mapped = bytes;
    return p;
}

void vm_memory_release(struct vm *vm)
{
    for (size_t i = 0; i < vm->device_count; i++) {
        release_backing(vm, vm->device[i]);
        release_bits(vm->device[i]);
        free(vm->device[i]);
    }
    for (size_t i = 0; i < vm->host_count; i++) {
        free(vm->host[i]);
    }
    for (struct vm_allocation *a = vm->unmapped, *next; a; a = next) {
        next = a->next_unmapped;
        free(a);
    }
    for (int k = 0; k < VM_SPARES; k++)
        if (vm->spares[k].mapped)
            munmap(vm->spares[k].bytes, vm->spares[k].mapped);
    free(vm->device);
    free(vm->host);
    if (vm->window)
        munmap((void *)(uintptr_t)vm->window, VM_WINDOW_BYTES);
}

/* Index of the first allocation whose base is above `address`. */
static size_t upper_bound(struct vm_allocation *const *list, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct vm_allocation ***list, size_t *count, size_t *capacity,
                   struct vm_allocation *a)
{
    if (*count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 64;
        struct vm_allocation **grown = realloc(*list, *capacity * sizeof(struct vm_allocation *));
        if (!grown)
            BUG("out of memory for %zu allocations", *capacity);
        *list = grown;
    }
    size_t at = upper_bound(*list, *count, a->base);
    memmove(*list + at + 1, *list + at, (*count - at) * sizeof(struct vm_allocation *));
    (*list)[at] = a;
    ++*count;
}

void vm_lend(struct vm *vm, uint8_t *memory, uint64_t bytes)
{
    vm->lent = (struct vm_spare){memory, memory ? bytes : 0};
}

static void find_backing(struct vm *vm, struct vm_allocation *a)
{
    if (vm->lent.bytes && vm->lent.mapped == a->bytes) {
        a->host = vm->lent.bytes;
        a->lent = true;
        vm->lent = (struct vm_spare){0};
    } else if (a->bytes >= MAP_FROM_BYTES) {
        a->host = map_backing(vm, backing_bytes(a), &a->mapped);
    } else {
        a->host = aligned_alloc(ALIGN, backing_bytes(a));
    }
}

uint64_t vm_malloc(struct vm *vm, uint64_t bytes)
{
    if (bytes == 0 || bytes > vm->limits.memory_bytes ||
        vm->used_bytes > vm->limits.memory_bytes - bytes)
        return 0;
    uint64_t red_zone = bytes < RED_ZONE_LEAST  ? RED_ZONE_LEAST
                        : bytes > RED_ZONE_MOST ? RED_ZONE_MOST
                                                : bytes;
    uint64_t whole = ((bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1)) + red_zone;
    whole = (whole + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    if (vm->heap_next + whole > vm->window + VM_WINDOW_BYTES)
        return 0;
    struct vm_allocation *a = calloc(1, sizeof *a);
    if (!a)
        return 0;
    a->base = a->low = vm->heap_next;
    a->bytes = bytes;
    a->high = a->base + bytes;
    a->defined = new_bits(bytes);
    find_backing(vm, a);
    if (!a->defined || !a->host) {
        free_bits(a->defined);
        release_backing(vm, a);
        free(a);
        return 0;
    }
    /* Fresh memory must not read as zeros, or a kernel that relies on them looks right. Where reads
     * of undefined bytes are reported anyway, the cost of touching it is saved. */
    if (bytes < MAP_FROM_BYTES || !(vm->config.checks & WIRE_CHECK_UNINITIALIZED))
        memset(a->host, 0xCD, bytes);
    vm->heap_next += whole;
    insert(&vm->device, &vm->device_count, &vm->device_capacity, a);
    vm->used_bytes += bytes;
    if (vm->used_bytes > vm->peak_bytes)
        vm->peak_bytes = vm->used_bytes;
    return a->base;
}

static bool in_window(const struct vm *vm, uint64_t address)
{
    return address - vm->window < VM_WINDOW_BYTES;
}

struct vm_allocation *vm_find_allocation(const struct vm *vm, uint64_t address)
{
    if (in_window(vm, address)) {
        size_t next = upper_bound(vm->device, vm->device_count, address);
        return next && address < vm->heap_next ? vm->device[next - 1] : NULL;
    }
    size_t next = upper_bound(vm->host, vm->host_count, address);
    if (!next)
        return NULL;
    struct vm_allocation *a = vm->host[next - 1];
    return address - a->base < a->bytes ? a : NULL;
}

bool vm_free_memory(struct vm *vm, uint64_t address)
{
    struct vm_allocation *a = vm_find_allocation(vm, address);
    if (!a || a->base != address || a->freed || a->on_host)
        return false;
    a->freed = true;
    a->low = a->high = 0; /* every bounds compare fails from now on */
    release_backing(vm, a);
    vm_race_forget(vm, a);
    release_bits(a);
    vm->used_bytes -= a->bytes;
    return true;
}

bool vm_map_host(struct vm *vm, void *host, uint64_t bytes, bool defined)
{
    uint64_t base = (uint64_t)(uintptr_t)host;
    if (!host || !bytes || in_window(vm, base) || vm_find_allocation(vm, base) ||
        vm_find_allocation(vm, base + bytes - 1))
        return false;
    struct vm_allocation *a = calloc(1, sizeof *a);
    if (!a)
        return false;
    a->base = a->low = base;
    a->bytes = bytes;
    a->high = base + bytes;
    a->host = host;
    a->on_host = true;
    /* Host code writes here unseen, so nothing can be said about definedness later on. */
    (void)defined;
    insert(&vm->host, &vm->host_count, &vm->host_capacity, a);
    return true;
}

bool vm_unmap_host(struct vm *vm, void *host)
{
    uint64_t base = (uint64_t)(uintptr_t)host;
    size_t next = upper_bound(vm->host, vm->host_count, base);
    if (!next || vm->host[next - 1]->base != base)
        return false;
    struct vm_allocation *a = vm->host[next - 1];
    memmove(vm->host + next - 1, vm->host + next,
            (vm->host_count - next) * sizeof(struct vm_allocation *));
    vm->host_count--;
    vm_race_forget(vm, a);
    a->freed = true;
    a->low = a->high = 0;
    a->next_unmapped = vm->unmapped; /* instruction caches may still point at it */
    vm->unmapped = a;
    return true;
}

void vm_memory_info(const struct vm *vm, uint64_t address, struct vm_memory_info *info)
{
    *info = (struct vm_memory_info){0};
    const struct vm_allocation *a = vm_find_allocation(vm, address);
    if (!a || address - a->base >= a->bytes)
        return;
    info->kind = a->on_host ? VM_MEMORY_HOST : VM_MEMORY_DEVICE;
    info->base = a->base;
    info->bytes = a->bytes;
    info->freed = a->freed;
    info->is_input = a->is_input;
    info->name = a->name[0] ? a->name : NULL;
}

/* The live allocation that holds all of [address, address + bytes), or NULL. */
static struct vm_allocation *holding(const struct vm *vm, uint64_t address, uint64_t bytes)
{
    struct vm_allocation *a = vm_find_allocation(vm, address);
    if (!a || a->freed || address - a->base > a->bytes || bytes > a->bytes - (address - a->base))
        return NULL;
    return a;
}

uint8_t *vm_bytes(struct vm *vm, uint64_t address, uint64_t bytes)
{
    struct vm_allocation *a = holding(vm, address, bytes);
    return a ? a->host + (address - a->base) : NULL;
}

void vm_mark_defined(struct vm *vm, uint64_t address, uint64_t bytes)
{
    struct vm_allocation *a = holding(vm, address, bytes);
    if (a && a->defined)
        vm_bits_set(a->defined, address - a->base, bytes);
}

/* Says with bits what a->whole says. */
static void settle(struct vm_allocation *a)
{
    if (a->whole)
        vm_bits_set(a->defined, 0, a->bytes);
    a->whole = false;
}

void vm_mark_undefined(struct vm *vm, uint64_t address, uint64_t bytes)
{
    struct vm_allocation *a = holding(vm, address, bytes);
    if (!a || !a->defined)
        return;
    settle(a);
    vm_bits_clear(a->defined, address - a->base, bytes);
}

bool vm_copy(struct vm *vm, uint64_t to, uint64_t from, uint64_t bytes)
{
    struct vm_allocation *target = holding(vm, to, bytes), *source = holding(vm, from, bytes);
    if (!target || !source)
        return false;
    uint64_t to_offset = to - target->base, from_offset = from - source->base;
    memmove(target->host + to_offset, source->host + from_offset, bytes);
    if (target->defined && (!source->defined || source->whole)) {
        vm_bits_set(target->defined, to_offset, bytes);
    } else if (target->defined) {
        settle(target);
        bool up = target == source && to_offset > from_offset; /* overlap: as memmove does */
        for (uint64_t i = 0; i < bytes; i++) {
            uint64_t k = up ? bytes - 1 - i : i, bit = from_offset + k, at = to_offset + k;
            /* Whole words at once where both sides are aligned, which is nearly always. */
            if (!up && bytes - k >= 64 && ((bit | at) & 63) == 0) {
                target->defined[at / 64] = source->defined[bit / 64];
                i += 63;
                continue;
            }
            if (source->defined[bit / 64] >> (bit & 63) & 1)
                target->defined[at / 64] |= 1ull << (at & 63);
            else
                target->defined[at / 64] &= ~(1ull << (at & 63));
        }
    }
    return true;
}

void vm_narrow(struct vm *vm, uint64_t address, uint64_t bytes, const char *name)
{
    struct vm_allocation *a = holding(vm, address, bytes);
    if (!a)
        return;
    a->low = address;
    a->high = address + bytes;
    if (name)
        snprintf(a->name, sizeof a->name, "%s", name);
}

void vm_protect(struct vm *vm, uint64_t address)
{
    struct vm_allocation *a = vm_find_allocation(vm, address);
    if (a)
        a->is_input = true;
}

uint64_t vm_memory_used(const struct vm *vm)
{
    return vm->used_bytes;
}

uint64_t vm_memory_peak(const struct vm *vm)
{
    return vm->peak_bytes;
}

static size_t count_writable(struct vm_allocation *const *all, size_t count)
{
    size_t writable = 0;
    for (size_t i = 0; i < count; i++)
        writable += !all[i]->freed && !all[i]->read_only;
    return writable;
}

size_t vm_memory_count(const struct vm *vm)
{
    return count_writable(vm->device, vm->device_count) + count_writable(vm->host, vm->host_count);
}

void vm_explain_host_address(const struct vm *vm, const void *address, char *out, size_t out_bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (out_bytes)
        out[0] = '\0';
    if (!in_window(vm, at))
        return;
    const struct vm_allocation *a = vm_find_allocation(vm, at);
    if (a && a->name[0])
        snprintf(out, out_bytes,
                 "host code dereferences the device pointer `%s`: only kernels can reach device "
                 "memory; copy it with cudaMemcpy first",
                 a->name);
    else
        snprintf(out, out_bytes,
                 "host code dereferences a device pointer (%p): only kernels can reach device "
                 "memory; copy it with cudaMemcpy first",
                 address);
}

/* ---- definedness on several host threads ---- */

uint64_t *vm_own_bits(struct vm *vm, struct vm_allocation *a, uint32_t worker)
{
    if (worker == 0 || !a->defined)
        return a->defined;
    pthread_mutex_lock(&vm->lock);
    if (!a->own) {
        uint64_t **own = calloc(VM_CREW_MOST, sizeof *own);
        if (!own)
            BUG("out of memory for the bits of host threads");
        __atomic_store_n(&a->own, own, __ATOMIC_RELEASE);
    }
    if (!a->own[worker]) {
        uint64_t *bits = new_bits(a->bytes);
        if (!bits)
            BUG("out of memory for the bits of host threads");
        __atomic_store_n(&a->own[worker], bits, __ATOMIC_RELEASE);
    }
    vm->bits_to_merge = true;
    pthread_mutex_unlock(&vm->lock);
    return a->own[worker];
}

uint64_t vm_defined_word(const struct vm_allocation *a, uint64_t word)
{
    uint64_t bits = __atomic_load_n(&a->defined[word], __ATOMIC_RELAXED);
    uint64_t **own = __atomic_load_n(&a->own, __ATOMIC_ACQUIRE);
    for (uint32_t k = 1; own && k < VM_CREW_MOST; k++) {
        const uint64_t *of = __atomic_load_n(&own[k], __ATOMIC_ACQUIRE);
        if (of)
            bits |= __atomic_load_n(&of[word], __ATOMIC_RELAXED);
    }
    return bits;
}

void vm_merge_bits(struct vm *vm)
{
    if (!vm->bits_to_merge)
        return;
    vm->bits_to_merge = false;
    for (size_t i = 0; i < vm->device_count; i++) {
        struct vm_allocation *a = vm->device[i];
        for (uint32_t k = 1; a->own && k < VM_CREW_MOST; k++) {
            uint64_t *from = a->own[k];
            if (!from || !vm_bits_touched(from))
                continue;
            from[-1] = 0;
            for (uint64_t word = 0; word < a->bytes / 64 + 1; word++) {
                if (!from[word])
                    continue;
                a->defined[word] |= from[word];
                from[word] = 0;
            }
        }
    }
}

/* ---- bits ---- */

void vm_bits_set(uint64_t *bits, uint64_t from, uint64_t count)
{
    if (!count)
        return;
    uint64_t first = from / 64, last = (from + count - 1) / 64;
    uint64_t head = ~0ull << (from & 63), tail = ~0ull >> (63 - ((from + count - 1) & 63));
    if (first == last) {
        bits[first] |= head & tail;
        return;
    }
    bits[first] |= head;
    if (last > first + 1)
        memset(bits + first + 1, 0xff, (size_t)(last - first - 1) * 8);
    bits[last] |= tail;
}

void vm_bits_clear(uint64_t *bits, uint64_t from, uint64_t count)
{
    if (!count)
        return;
    uint64_t first = from / 64, last = (from + count - 1) / 64;
    uint64_t head = ~0ull << (from & 63), tail = ~0ull >> (63 - ((from + count - 1) & 63));
    if (first == last) {
        bits[first] &= ~(head & tail);
        return;
    }
    bits[first] &= ~head;
    if (last > first + 1)
        memset(bits + first + 1, 0, (size_t)(last - first - 1) * 8);
    bits[last] &= ~tail;
}

bool vm_bits_all(const uint64_t *bits, uint64_t from, uint64_t count)
{
    if (!count)
        return true;
    uint64_t first = from / 64, last = (from + count - 1) / 64;
    uint64_t head = ~0ull << (from & 63), tail = ~0ull >> (63 - ((from + count - 1) & 63));
    if (first == last)
        return (bits[first] & head & tail) == (head & tail);
    if ((bits[first] & head) != head || (bits[last] & tail) != tail)
        return false;
    for (uint64_t i = first + 1; i < last; i++)
        if (bits[i] != ~0ull)
            return false;
    return true;
}
