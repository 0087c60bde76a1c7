/* The element-wise handlers: every VM_BIN, VM_BINC, VM_UN and VM_TER row of exec_ops.def, once per
 * operand form. The loops have 32 trips and no branch; the compiler makes vectors of them. */
#include "cpu/vm/exec.h"

#define RESULT(D)                                                                                  \
    D *const d = ROW(D, i->d);                                                                     \
    D *const o = m == VM_FULL ? d : (D *)(void *)w->temp

#define FINISH                                                                                     \
    if (__builtin_expect(m != VM_FULL, 0))                                                         \
        BLEND(d, o, m);                                                                            \
    NEXT

#define BODY2(D, A, B, a_of_lane, b_of_lane, expr)                                                 \
    RESULT(D);                                                                                     \
    EACH_LANE(l)                                                                                   \
    {                                                                                              \
        const A a = a_of_lane;                                                                     \
        const B b = b_of_lane;                                                                     \
        o[l] = (D)(expr);                                                                          \
    }                                                                                              \
    FINISH

#define FORM_VV(name, D, A, B, expr)                                                               \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const A *ra = ROW(A, i->a);                                                                \
        const B *rb = ROW(B, i->b);                                                                \
        BODY2(D, A, B, ra[l], rb[l], expr);                                                        \
    }
#define FORM_VS(name, D, A, B, expr)                                                               \
    HANDLER(name##_vs)                                                                             \
    {                                                                                              \
        const A *ra = ROW(A, i->a);                                                                \
        const B sb = SLOT(B, i->b);                                                                \
        BODY2(D, A, B, ra[l], sb, expr);                                                           \
    }
#define FORM_SV(name, D, A, B, expr)                                                               \
    HANDLER(name##_sv)                                                                             \
    {                                                                                              \
        const A sa = SLOT(A, i->a);                                                                \
        const B *rb = ROW(B, i->b);                                                                \
        BODY2(D, A, B, sa, rb[l], expr);                                                           \
    }

#define VM_BIN(name, D, A, B, expr)                                                                \
    FORM_VV(name, D, A, B, expr)                                                                   \
    FORM_VS(name, D, A, B, expr)                                                                   \
    FORM_SV(name, D, A, B, expr)
#define VM_BINC(name, D, A, B, expr)                                                               \
    FORM_VV(name, D, A, B, expr)                                                                   \
    FORM_VS(name, D, A, B, expr)

#define VM_UN(name, D, A, expr)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const A *ra = ROW(A, i->a);                                                                \
        RESULT(D);                                                                                 \
        EACH_LANE(l)                                                                               \
        {                                                                                          \
            const A a = ra[l];                                                                     \
            o[l] = (D)(expr);                                                                      \
        }                                                                                          \
        FINISH;                                                                                    \
    }

#define FORM3(name, D, A, B, C, b_source, b_of_lane, c_source, c_of_lane, expr)                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const A *ra = ROW(A, i->a);                                                                \
        b_source;                                                                                  \
        c_source;                                                                                  \
        RESULT(D);                                                                                 \
        EACH_LANE(l)                                                                               \
        {                                                                                          \
            const A a = ra[l];                                                                     \
            const B b = b_of_lane;                                                                 \
            const C c = c_of_lane;                                                                 \
            o[l] = (D)(expr);                                                                      \
        }                                                                                          \
        FINISH;                                                                                    \
    }
#define VM_TER(name, D, A, B, C, expr)                                                             \
    FORM3(name, D, A, B, C, const B *rb = ROW(B, i->b), rb[l], const C *rc = ROW(C, i->c), rc[l],  \
          expr)                                                                                    \
    FORM3(name##_vvs, D, A, B, C, const B *rb = ROW(B, i->b), rb[l], const C sc = SLOT(C, i->c),   \
          sc, expr)                                                                                \
    FORM3(name##_vsv, D, A, B, C, const B sb = SLOT(B, i->b), sb, const C *rc = ROW(C, i->c),      \
          rc[l], expr)                                                                             \
    FORM3(name##_vss, D, A, B, C, const B sb = SLOT(B, i->b), sb, const C sc = SLOT(C, i->c), sc,  \
          expr)

#define VM_SETP(name, T, op)
#define VM_SPECIAL(name)
#include "cpu/vm/exec_ops.def"
