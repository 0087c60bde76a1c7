/* One instruction set's handlers in one table, and the loop that starts them. */
#include "cpu/vm/exec.h"
#include "cpu/vm/exec_columns.h"

static void settle(struct vm_engine *e)
{
    columns_write(e);
#if defined(__AVX__)
    _mm256_zeroupper();
#endif
}

static void run(struct warp *w)
{
    w->halt = false;
    vm_columns_forget(w->engine);
#if VM_THREADED
    const struct insn *i = w->resume;
    i->run(i, w->frame, w->bank, w->mask, w);
#else
    while (!w->halt)
        w->resume->run(w->resume, w->frame, w->bank, w->mask, w);
#endif
    vm_columns_settle(w->engine);
#if defined(__AVX__)
    _mm256_zeroupper();
#endif
}

const struct vm_exec VM_NAME(exec) = {
    .handlers =
        {
#define VM_BIN(name, D, A, B, expr)  VM_NAME(name), VM_NAME(name##_vs), VM_NAME(name##_sv),
#define VM_BINC(name, D, A, B, expr) VM_NAME(name), VM_NAME(name##_vs),
#define VM_UN(name, D, A, expr)      VM_NAME(name),
#define VM_TER(name, D, A, B, C, expr)                                                             \
    VM_NAME(name), VM_NAME(name##_vvs), VM_NAME(name##_vsv), VM_NAME(name##_vss),
#define VM_SETP(name, T, op)                                                                       \
    VM_NAME(name), VM_NAME(name##_vs), VM_NAME(name##_bra), VM_NAME(name##_vs_bra),
#define VM_SPECIAL(name) VM_NAME(name),
#include "cpu/vm/exec_ops.def"
        },
    .warp_op = VM_NAME(warp_op),
    .run = run,
    .settle = settle,
    .threaded = VM_THREADED,
};
